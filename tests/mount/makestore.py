#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a Zarr v3 store for a test, and the text tree that a mount of it must show.

    makestore.py RECIPE OUT [ARGUMENTS]     makes OUT/store and OUT/expect

For what fixtures/ cannot hold: arrays that are large, that are there many times over, or whose chunks are broken. Needs
nothing but Python, and knows only types whose text Python spells by itself; what fixtures/ shows is not shown again here.

  many [COUNT]    COUNT directories a000, a001, ... with the same array of 20,000 records: each can be read for the first
                  time. Five chunks of 4,096, one of them missing.
  mixed [COUNT]   COUNT groups of small arrays of several ranks, chunkings and codecs, for readers at random
  big             one array of three chunks, each a megabyte of text
  pair            two arrays, each of four chunks of 20,000 records; one more that is damaged
  crowd           one array of 3,000 records in 1,500 chunks
  wide            one array with 40 fields in 8 chunks of 220 kB
  damaged         arrays with one bad chunk each, beside a good one (see damaged() below)
  bulk            arrays of some 190 MB in chunks of 4 MB: 89 fields, long strings, two fields; no OUT/expect
  huge            10^12 records in one dimension and 2^20 x 2^20, nearly nothing written; no OUT/expect, see huge.py
"""
import gzip
import itertools
import json
import os
import random
import struct
import sys

PACK = {"bool": "?", "int8": "b", "int16": "<h", "int32": "<i", "int64": "<q", "uint16": "<H", "float64": "<d"}


def v3_type(t):
    if isinstance(t, list):
        return {"name": "struct", "configuration": {"fields": [{"name": n, "data_type": v3_type(f)} for n, f in t]}}
    if t[0] == "U":
        return {"name": "fixed_length_utf32", "configuration": {"length_bytes": 4 * int(t[1:])}}
    return t


def pack(t, v):
    if isinstance(t, list):
        return b"".join(pack(f, v[n]) for n, f in t)
    if t[0] == "U":
        return v.encode("utf-32-le").ljust(4 * int(t[1:]), b"\0")
    return struct.pack(PACK[t], v)


def text(t, v):
    return str(int(v)) if t == "bool" else repr(v) if t == "float64" else str(v)


def jsonl(t, v, index):
    """Compact JSON; floats are spelled as repr() does, both by Python and by zarrfs."""
    body = json.dumps(v, separators=(",", ":"), ensure_ascii=False)
    if index is None or not isinstance(t, list):
        return body
    return '{"_index":' + json.dumps(index, separators=(",", ":")) + "," + body[1:]


def describe(where, t, shape, chunks, fill, codecs, dims=None):
    doc = {"zarr_format": 3, "node_type": "array", "shape": shape, "data_type": v3_type(t),
           "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
           "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
           "fill_value": fill, "codecs": codecs, "attributes": {}}
    if dims:
        doc["dimension_names"] = dims
    os.makedirs(where, exist_ok=True)
    with open(os.path.join(where, "zarr.json"), "w") as f:
        json.dump(doc, f, indent=1)


BYTES = [{"name": "bytes", "configuration": {"endian": "little"}}]
GZIP = BYTES + [{"name": "gzip", "configuration": {"level": 1}}]


def group(where):
    os.makedirs(where, exist_ok=True)
    with open(os.path.join(where, "zarr.json"), "w") as f:
        json.dump({"zarr_format": 3, "node_type": "group", "attributes": {}}, f)


def groups_above(store, path):
    group(store)
    parts = path.split("/")[:-1]
    for i in range(len(parts)):
        group(os.path.join(store, *parts[:i + 1]))


def positions(shape, chunks):
    return itertools.product(*[range(-(-s // c)) for s, c in zip(shape, chunks)])


def linear(shape, index):
    at = 0
    for s, i in zip(shape, index):
        at = at * s + i
    return at


def write_chunks_at(where, t, shape, chunks, value, fill, pos, codecs=BYTES):
    """The chunk at one position of the grid."""
    raw = []
    for inner in itertools.product(*map(range, chunks)):
        index = [p * c + i for p, c, i in zip(pos, chunks, inner)]
        raw.append(pack(t, value(linear(shape, index)) if all(map(int.__lt__, index, shape)) else fill))
    raw = b"".join(raw)
    key = os.path.join(where, "c", *map(str, pos))
    os.makedirs(os.path.dirname(key), exist_ok=True)
    with open(key, "wb") as f:
        f.write(gzip.compress(raw, 1, mtime=0) if codecs is GZIP else raw)


def write_texts(where, t, records, indices):
    """records: the values in C order; indices: their indices, or None."""
    os.makedirs(where, exist_ok=True)
    fields = t if isinstance(t, list) else [("values", t)]
    with open(os.path.join(where, "records.jsonl"), "w") as f:
        for v, i in zip(records, indices or itertools.repeat(None)):
            f.write(jsonl(t, v, i) + "\n")
    for name, ft in fields:
        column = [v[name] for v in records] if isinstance(t, list) else records
        if isinstance(ft, list):
            write_texts(os.path.join(where, name), ft, column, indices)
        else:
            with open(os.path.join(where, name), "w") as f:
                f.writelines(text(ft, v) + "\n" for v in column)


def array(out, path, t, shape, chunks, value, fill, missing=(), codecs=BYTES):
    """value(n): the record of number n in C order. missing: positions of chunks that are not written."""
    groups_above(os.path.join(out, "store"), path)
    where = os.path.join(out, "store", path)
    describe(where, t, shape, chunks, fill, codecs)
    for pos in positions(shape, chunks):
        if pos not in missing:
            write_chunks_at(where, t, shape, chunks, value, fill, pos, codecs)
    records, indices = [], []
    for index in itertools.product(*map(range, shape)):
        pos = tuple(i // c for i, c in zip(index, chunks))
        records.append(fill if pos in missing else value(linear(shape, index)))
        indices.append(list(index))
    write_texts(os.path.join(out, "expect", path), t, records, indices if len(shape) > 1 else None)


WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "x", ""]
TABLE = [("n", "int32"), ("x", "float64"), ("word", "U8"), ("flag", "bool"), ("pos", [("a", "int16"), ("b", "float64")])]


def table_row(i):
    return {"n": (i * 7919) % 100003 - 5000, "x": ((i * 2654435761) % 1000003) / 1024 - 300, "word": WORDS[i // 3 % 10],
            "flag": i % 3 == 0, "pos": {"a": i % 1000, "b": i / 8}}


TABLE_FILL = {"n": -1, "x": 0.5, "word": "fill", "flag": False, "pos": {"a": 7, "b": -0.25}}


def many(out, count="60"):
    array(out, "a000", TABLE, [20000], [4096], table_row, TABLE_FILL, {(2,)})
    for top, names in (("store", ("zarr.json", "c/0", "c/1", "c/3", "c/4")),
                       ("expect", ("n", "x", "word", "flag", "pos/a", "pos/b", "pos/records.jsonl", "records.jsonl"))):
        for i in range(1, int(count)):
            for name in names:
                copy = os.path.join(out, top, f"a{i:03}", name)
                os.makedirs(os.path.dirname(copy), exist_ok=True)
                os.link(os.path.join(out, top, "a000", name), copy)


def mixed(out, count="12"):
    for g in range(int(count)):
        array(out, f"g{g}/table", TABLE, [3000 + g], [256], lambda i: table_row(i + g), TABLE_FILL, {(3,), (4,), (9,)}, GZIP)
        array(out, f"g{g}/grid", [("i", "int64"), ("s", "U3")], [37, 61], [8, 16],
              lambda i: {"i": (i * 977 - 999999) * 10 ** 9 + g, "s": WORDS[i % 10][:3]}, {"i": 0, "s": "-"}, {(1, 1), (2, 0), (4, 3)})
        array(out, f"g{g}/deep/cube", "float64", [9, 11, 13], [4, 4, 4], lambda i: (i - 500) / 7, 1.0, {(1, 1, 1)}, GZIP)
        array(out, f"g{g}/deep/row", "int16", [20000], [5000], lambda i: i * 31 % 20011 - 9999, 0, {(1,)})
        array(out, f"g{g}/deep/never", [("a", "int8"), ("b", "bool")], [1000], [10], None, {"a": -5, "b": True},
              {(i,) for i in range(100)})


def big(out):
    """Chunks of 700 kB and more of text in every file, far beyond what the kernel reads ahead."""
    array(out, "big", [("n", "int64"), ("x", "float64")], [120000], [40000],
          lambda i: {"n": 10 ** 15 + i * 1001, "x": i / 3}, {"n": 0, "x": 0.0})


def pair(out):
    for name, k in (("left", 1), ("right", 3)):
        array(out, name, [("n", "int64"), ("x", "float64")], [80000], [20000],
              lambda i, k=k: {"n": i * i * k, "x": i / (k + 6)}, {"n": 0, "x": 0.0})
    array(out, "spoilt", "int32", [1000], [500], lambda i: i, 0)
    with open(os.path.join(out, "store/spoilt/c/1"), "r+b") as f:
        f.truncate(9)


def crowd(out):
    array(out, "crowd", [("n", "int32"), ("x", "float64")], [3000], [2],
          lambda i: {"n": i * 7919 % 10007, "x": i / 16}, {"n": 0, "x": 0.0})


def wide(out):
    fields = [(f"f{k:02}", ("int32", "float64", "int16", "bool")[k % 4]) for k in range(40)]
    array(out, "wide", fields, [12000], [1500],
          lambda i: {n: (i % 2 == 0) if t == "bool" else (i * (k + 1) % 30011) if t != "float64" else i * k / 16
                     for k, (n, t) in enumerate(fields)},
          {n: False if t == "bool" else 0.0 if t == "float64" else 0 for n, t in fields})


def damaged(out):
    """Arrays of 4 chunks of 10,000 records, chunk 1 of which cannot be read; fill is one digit wide. `expect` is of the
    sound one. pipe: a FIFO; folder: a directory; leaves: a link to a sound chunk outside; dangling: one to nothing."""
    def one(path, codecs=BYTES):
        array(out, path, [("n", "int32"), ("w", "U4")], [40000], [10000],
              lambda i: {"n": i * 13 % 90001, "w": WORDS[i % 10][:4]}, {"n": 0, "w": "f"}, (), codecs)
        return os.path.join(out, "store", path, "c", "1")
    one("good")
    with open(one("short"), "r+b") as f:
        f.truncate(9999)
    with open(one("long"), "ab") as f:
        f.write(b"x")
    with open(one("bits", GZIP), "r+b") as f:
        f.seek(-5000, 2)
        f.write(b"\xff" * 16)
    for name in ("pipe", "folder", "leaves", "dangling"):
        chunk = one(name)
        os.remove(chunk)
        if name == "pipe":
            os.mkfifo(chunk)
        elif name == "folder":
            os.mkdir(chunk)
        else:
            os.symlink("../../../outside" if name == "leaves" else "../nowhere", chunk)
    os.link(os.path.join(out, "store/good/c/1"), os.path.join(out, "outside"))      # what `leaves` leads to
    where = os.path.join(out, "store", "cut")
    describe(where, "int32", [10], [10], 0, BYTES)
    with open(os.path.join(where, "zarr.json"), "r+b") as f:
        f.truncate(100)


def bulk(out):
    """Each array has the same chunk again and again: what it is for is the memory that reading it takes."""
    rng = random.Random(5)

    def sparse(size, every):
        data = bytearray(size)
        data[::every] = rng.randbytes(-(-size // every))
        return data
    letters = "".join(rng.choices("abcdefgh ", k=4000 * 250)).encode("utf-32-le")
    for name, t, count, chunk, data in (
            ("wide", [(f"f{k:02}", "int64") for k in range(89)], 270000, 5000, sparse(5000 * 89 * 8, 8)),
            ("long", "U4000", 12000, 250, letters),
            ("thin", [("n", "int32"), ("word", "U15")], 50 << 16, 1 << 16, sparse(64 << 16, 64))):
        where = os.path.join(out, "store", name)
        groups_above(os.path.join(out, "store"), name)
        describe(where, t, [count], [chunk], {n: "" if u[0] == "U" else 0 for n, u in t} if isinstance(t, list) else "", BYTES)
        os.makedirs(os.path.join(where, "c"))
        with open(os.path.join(where, "c", "0"), "wb") as f:
            f.write(data)
        for i in range(1, count // chunk):
            os.link(os.path.join(where, "c", "0"), os.path.join(where, "c", str(i)))


def huge(out):
    import huge as arithmetic
    arithmetic.write(os.path.join(out, "store"))


RECIPES = {f.__name__: f for f in (many, mixed, big, pair, crowd, wide, damaged, bulk, huge)}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in RECIPES:
        sys.exit(__doc__)
    os.makedirs(sys.argv[2], exist_ok=True)
    RECIPES[sys.argv[1]](*sys.argv[2:])
