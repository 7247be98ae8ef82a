#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the other forms of a mount by what reads them: NumPy, Python's json, and the store itself.

    forms.py npy MOUNT STORE        numpy.load() of every file in .npy, mapped and not, gives what numpy.fromfile() gives of .raw
    forms.py schema MOUNT STORE     schema.json tells the true names, and where in a packed record each field is
    forms.py chunks MOUNT STORE     chunks.tsv lists what is stored
    forms.py fixed FIXED MOUNT      text=fixed (a mount of the same store) is the plain text in columns of the documented width
    forms.py names OUT              writes a store, OUT/store, whose nodes and fields have awkward names
    forms.py nodes MOUNT            every node of that store is there once, under a name that leads back to it

One line for each difference; exit 0 if there is none and something was looked at. STORE is a directory.
"""
import itertools
import json
import os
import re
import sys

import numpy as np

seen = failures = 0


def check(where, ok, what):
    global seen, failures
    seen += 1
    if not ok:
        failures += 1
        print(f"{os.fsdecode(where)}: {what}".encode("utf-8", "backslashreplace").decode())


def content(*path):
    path = os.path.join(*map(os.fsencode, path))
    with open(path, "rb") as f:
        data = f.read()
    check(path, os.stat(path).st_size == len(data), "stat tells another size than is read")
    return data


def no_twins(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a member is there twice")
    return dict(pairs)


def schemas(mount):
    """(path of the array in the trees, its schema) of every array."""
    top = os.path.join(os.fsencode(mount), b".zarr")
    for where, dirs, files in os.walk(top):
        dirs.sort()
        if b"schema.json" in files:
            text = content(where, b"schema.json").decode("utf-8")
            yield os.path.relpath(where, top), json.loads(text, object_pairs_hook=no_twins)


def leaves(fields, above=(), path=b""):
    """(fields from the outermost on, path of the file, name in .npy) of every leaf."""
    for name, f in fields.items():
        where = os.path.join(path, name.encode())
        if "fields" in f:
            yield from leaves(f["fields"], (*above, f), where)
        else:
            yield (*above, f), where, os.path.join(path, f.get("npy", name + ".npy").encode())


# --- .npy ------------------------------------------------------------------------------------------------------

def fields_agree(record, where, fields, path, npy):
    """The fields of records.npy are what is in the files of their own."""
    for name, f in fields.items():
        inner = record[f["name"]]
        if "fields" in f:
            fields_agree(inner, os.path.join(where, name.encode()), f["fields"], path, npy)
        else:
            one = np.load(os.path.join(where, f.get("npy", name + ".npy").encode()))
            check(where, one.dtype == inner.dtype and one.shape == inner.shape and one.tobytes() == inner.tobytes(),
                  f"{name}: differs from its column in records.npy")


def padding_like(f):
    """NumPy takes an empty name of void bytes for padding, and renames others without one."""
    return not f["name"] or any(map(padding_like, f.get("fields", {}).values()))


def check_npy(mount, _):
    for path, s in schemas(mount):
        raw, npy = (os.path.join(os.fsencode(mount), t, path) for t in (b".raw", b".npy"))
        plain = [leaf for leaf in leaves(s["fields"]) if "size" in leaf[0][-1]]
        for chain, name, npy_name in plain:
            file = os.path.join(npy, npy_name)
            a, b = np.load(file), np.load(file, mmap_mode="r")
            check(file, isinstance(b, np.memmap) and a.dtype == b.dtype and a.shape == b.shape, "mapped it is another array")
            check(file, list(a.shape) == s["shape"] + [n for f in chain for n in f.get("shape", [])], f"shape {a.shape}")
            check(file, a.dtype.itemsize == chain[-1]["size"] and a.dtype.isnative, f"type {a.dtype}")
            flat = np.fromfile(os.path.join(raw, name), np.uint8)
            check(file, a.tobytes() == b.tobytes() == flat.tobytes(), "differs from .raw")
        if b"records" in os.listdir(raw):
            file = os.path.join(npy, b"records.npy")
            a = np.load(file, mmap_mode="r")
            check(file, list(a.shape) == s["shape"] and a.dtype.itemsize == s["record_size"], f"{a.shape} of {a.dtype}")
            check(file, a.tobytes() == content(raw, b"records"), "differs from .raw")
            if not any(map(padding_like, s["fields"].values())):
                fields_agree(np.load(file), npy, s["fields"], path, npy)


# --- schema.json -----------------------------------------------------------------------------------------------

def true_fields(doc):
    """[(name, the same of what is inside or None, shape)] out of the metadata; None: no struct."""
    def of_v3(t):
        if not isinstance(t, dict) or t["name"] not in ("struct", "structured"):
            return None
        pairs = [(f["name"], f["data_type"]) if isinstance(f, dict) else f for f in t["configuration"]["fields"]]
        return [(n, of_v3(f), []) for n, f in pairs]

    def of_v2(t):
        if isinstance(t, str):
            return None
        return [(e[0] if isinstance(e[0], str) else e[0][1], of_v2(e[1]), list(e[2]) if len(e) > 2 and isinstance(e[2], list) else e[2:])
                for e in t if not (e[0] == "" and isinstance(e[1], str) and "V" in e[1])]
    return of_v3(doc["data_type"]) if doc["zarr_format"] == 3 else of_v2(doc["dtype"])


def compare_fields(where, fields, true):
    check(where, [f["name"] for f in fields.values()] == [n for n, _, _ in true], "names or their order differ from the metadata")
    for (_, inner, shape), f in zip(true, fields.values()):
        check(where, f.get("shape", []) == shape, f"{f['name']!r}: shape")
        check(where, ("fields" in f) == (inner is not None), f"{f['name']!r}: is a struct or is not")
        if inner:
            compare_fields(where, f["fields"], inner)


def compare_listing(mount, path, s, fields, tree, top=True):
    """A directory of the mount holds what the schema says, and nothing else."""
    names = set()
    for name, f in fields.items():
        nested = "fields" in f
        if nested:
            compare_listing(mount, os.path.join(path, name.encode()), s, f["fields"], tree, False)
        elif "size" not in f and tree:
            continue
        names.add(f.get("npy", name + ".npy").encode() if tree == b".npy" and not nested else name.encode())
    is_struct = next(iter(s["fields"].values()))["name"] is not None
    if not tree or top and is_struct:
        names.add({b"": b"records.jsonl", b".raw": b"records", b".npy": b"records.npy"}[tree])
    got = set(os.listdir(os.path.join(os.fsencode(mount), tree, path)))
    if path == b"." and not tree:
        got -= {b".csv", b".raw", b".npy", b".zarr"}
    check(os.path.join(tree, path), got == names, f"holds {sorted(got - names)} too much and lacks {sorted(names - got)}")


def gathered(records, s, chain):
    """The bytes of a leaf out of packed records."""
    axes = [(n, stride) for f in chain for n, stride in zip(f.get("shape", []), strides(f))]
    size, at = chain[-1]["size"], chain[-1]["offset"]
    rows = np.frombuffer(records, np.uint8).reshape(-1, s["record_size"])
    parts = [rows[:, at + sum(i * stride for i, (_, stride) in zip(index, axes)):][:, :size]
             for index in itertools.product(*(range(n) for n, _ in axes))]
    return np.hstack(parts).tobytes() if parts else b""


def strides(f):
    out, stride = [], f["size"]
    for n in reversed(f.get("shape", [])):
        out.append(stride)
        stride *= n
    return out[::-1]


def check_order(where, doc, chain):
    f = chain[-1]
    if doc["zarr_format"] == 2:
        want = {"<": "little", ">": "big"}.get(f["type"][0])
    else:
        codecs = re.sub(r'"index_codecs": \[.*?\]', "", json.dumps(doc["codecs"]))
        want = "big" if '"endian": "big"' in codecs else "little"
        want = want if f.get("size", 1) > 1 and re.match(r"u?int|b?float|complex|fixed_length_utf32|numpy", f["type"]) else None
        if re.match(r"complex_float[864]", f["type"]) and f["size"] == 2:
            want = None
    check(where, f.get("byte_order") == want, f"{f['name']!r}: byte_order {f.get('byte_order')} instead of {want}")


def check_schema(mount, store):
    for path, s in schemas(mount):
        node = os.path.join(os.fsencode(store), os.fsencode(s["path"]))
        name = b"zarr.json" if s["zarr_format"] == 3 else b".zarray"
        shown = content(mount, b".zarr", path, name)
        doc = json.loads(shown)
        if os.path.exists(os.path.join(node, name)):        # else consolidated metadata have it
            with open(os.path.join(node, name), "rb") as f:
                check(path, shown == f.read(), "path leads to another node")
        check(path, s["shape"] == doc["shape"], "shape")
        true = true_fields(doc)
        if true is None:
            check(path, list(s["fields"]) == ["values"] and s["fields"]["values"]["name"] is None, "fields of what is no struct")
        else:
            compare_fields(path, s["fields"], true)
        for tree in (b"", b".raw", b".npy"):
            if tree and "record_size" not in s:
                continue
            compare_listing(mount, path, s, s["fields"], tree)
        for chain, file, _ in leaves(s["fields"]):
            check_order(path, doc, chain)
            if true is not None:
                want = gathered(content(mount, b".raw", path, b"records"), s, chain)
                check(path, content(mount, b".raw", path, file) == want, f"{file}: is elsewhere in the record")


# --- chunks.tsv ------------------------------------------------------------------------------------------------

KEY = re.compile(rb"(?:c[./])?((?:0|[1-9]\d*)(?:[./](?:0|[1-9]\d*))*)|c")


def stored_chunks(node, s, default_keys):
    """[(position, key, bytes)] of what lies below a node; of a chunk that is there as 0.0 and as 0/0 only the first, which is read."""
    grid = [-(-n // c) for n, c in zip(s["shape"], s.get("shard_shape", s["chunk_shape"]))]
    out = []
    for where, dirs, files in os.walk(node):
        if where != node and {b"zarr.json", b".zarray", b".zgroup"} & set(files):
            dirs.clear()
            continue
        for name in files:
            key = os.path.relpath(os.path.join(where, name), node)
            m = KEY.fullmatch(key)
            if not m or 0 in s["shape"] or default_keys != (key[:1] == b"c"):
                continue
            at = [] if not s["shape"] else [int(i) for i in re.split(rb"[./]", m[1] or b"")if i]
            if len(at) == len(grid) and all(i < n for i, n in zip(at, grid)):
                out.append((at, key, os.path.getsize(os.path.join(where, name))))
    first = {}
    for at, key, size in sorted(out):                       # "." sorts before "/"
        first.setdefault(tuple(at), (at, key, size))
    return list(first.values())


def check_chunks(mount, store):
    for path, s in schemas(mount):
        doc = json.loads(content(mount, b".zarr", path, b"zarr.json" if s["zarr_format"] == 3 else b".zarray"))
        default_keys = '"default"' in json.dumps(doc.get("chunk_key_encoding"))
        want = stored_chunks(os.path.join(os.fsencode(store), os.fsencode(s["path"])), s, default_keys)
        got = content(mount, b".zarr", path, b"chunks.tsv")
        check(path, got == b"".join(b"%s\t%d\n" % (k, n) for _, k, n in want), "chunks.tsv differs from what is stored")


# --- text=fixed ------------------------------------------------------------------------------------------------

NUMBERS = {"bool": 1, "int8": 4, "int16": 6, "int32": 11, "int64": 20, "uint8": 3, "uint16": 5, "uint32": 10, "uint64": 20,
           "float16": 11, "float32": 19, "float64": 24, "int2": 2, "int4": 2, "uint2": 2, "uint4": 2}
DATES = {"generic": 20, "Y": 20, "M": 22, "W": 25, "D": 24, "h": 26, "m": 27, "s": 28, "ms": 29, "us": 29, "ns": 29, "ps": 32,
         "fs": 35, "as": 38}
V2 = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex", "S": "null_terminated_bytes", "U": "fixed_length_utf32",
      "V": "raw_bytes", "M": "numpy.datetime64", "m": "numpy.timedelta64"}


def column(f):
    """Width of a value's cells, and whether text begins at their left."""
    kind, size = f["type"], f["size"]
    if kind[0] in "<>|":
        kind = V2[kind[1]] + (str(8 * size) if kind[1] in "iufc" else "")
    if kind.startswith("complex"):
        part = kind.split("_", 1)[1] if "_" in kind else f"float{4 * size}"
        return NUMBERS.get(part, 19), False
    if kind in ("fixed_length_utf32", "null_terminated_bytes", "raw_bytes"):
        return {"f": 1, "n": 4, "r": 2}[kind[0]] * size, True
    if kind == "numpy.datetime64":
        return DATES[f["unit"]] + (10 if f["scale"] > 1 and f["unit"] != "generic" else 0), False
    return (20 if kind == "numpy.timedelta64" else NUMBERS.get(kind, 19)), False


def check_fixed(fixed, mount):
    for path, s in schemas(mount):
        check(path, content(fixed, path, b"records.jsonl") == content(mount, path, b"records.jsonl"), "records.jsonl differs")
        for chain, file, _ in leaves(s["fields"]):
            got = os.path.join(os.fsencode(fixed), path, file)
            plain = content(mount, path, file).decode()
            if "size" in chain[-1]:
                width, left = column(chain[-1])
                put = str.ljust if left else str.rjust
                empty = any(0 in f.get("shape", []) for f in chain)
                plain = "".join("\t".join(put_bytes(c, 0 if empty else width, put) for c in line.split("\t")) + "\n"
                                for line in plain.split("\n")[:-1])
            check(got, content(got) == plain.encode(), "differs from the plain text in columns")


def put_bytes(cell, width, put):
    return put(cell, width - len(cell.encode()) + len(cell))


# --- a store of awkward names ----------------------------------------------------------------------------------

NODES = [b"a\nb", b"tab\t", b"\xff\xfe", b"\xed\xa0\x80", b"Case", b"case", b"CASE", b"-rf", b"--checkpoint=1", b".hidden", b"...",
         b"\x1b[31mred", b"\xc2\x9b31m", b"\x7f", b"x" * 255, b"\xc2\x9b" * 127, b"\xff" * 255, "\u00e9".encode() * 127, b"%41", b"%",
         b"records", b"records.npy", b"unreadable.txt", b"schema.json", b"x.npy", b"a~0123456789abcdef", b"a b", b"'\"\\$`", b"*", b"\xe4\xb8\xad"]
FIELDS = ["", "a/b", "..", "\0", "nul\0nul", "line\nfeed", "--x", "Case", "case", "y" * 300, "z" * 252, "y" * 299 + "z", "\ud800", "\udfff\ud800",
          "\x1b[0m", "\x9b", "records", "values", "x", "x.npy", "~", "\u4e2d" * 100, "quote\"'\\", "%41", "\U0001f600", "\ufeff", "\u2028"]


def write_names(out):
    top = os.path.join(os.fsencode(out), b"store")

    def node(path, **doc):
        os.makedirs(os.path.join(top, path, b"c"))
        with open(os.path.join(top, path, b"zarr.json"), "w") as f:
            json.dump({"zarr_format": 3, "node_type": "array", "shape": [2], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
                       "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes"}], "attributes": {}, **doc}, f)
    for i, name in enumerate(NODES):
        node(name, data_type="uint8", fill_value=0)
        with open(os.path.join(top, name, b"c", b"0"), "wb") as f:
            f.write(bytes([i, 255 - i]))
    inner = [{"name": n, "data_type": "int8"} for n in FIELDS]
    both = inner + [{"name": n, "data_type": {"name": "struct", "configuration": {"fields": inner}}} for n in ("nested.npy", "-nested")]
    node(b"fields", data_type={"name": "struct", "configuration": {"fields": both}}, fill_value="AAAA" * len(FIELDS))
    with open(os.path.join(top, b"fields", b"c", b"0"), "wb") as f:
        f.write(bytes(range(6 * len(FIELDS))))
    with open(os.path.join(top, b"zarr.json"), "w") as f:
        json.dump({"zarr_format": 3, "node_type": "group", "attributes": {}}, f)


def check_nodes(mount):
    found = []
    for path, s in schemas(mount):
        name = os.fsencode(s["path"])
        check(path, re.fullmatch(rb"[^\0-\x1f\x7f/.-][^\0-\x1f\x7f/]*", path) and len(path) <= 255, "is no name for everybody")
        check(path, path.decode().isprintable(), "is no printable UTF-8")
        if list(s["fields"]) == ["values"]:
            found.append(name)
            i = NODES.index(name)
            check(path, content(mount, path, b"values") == b"%d\n%d\n" % (i, 255 - i), "holds what is in another node")
    check(b"all", sorted(found) == sorted(NODES), f"nodes {sorted(set(NODES) - set(found))} are lacking")


if __name__ == "__main__":
    commands = {"npy": check_npy, "schema": check_schema, "chunks": check_chunks, "fixed": check_fixed, "names": write_names, "nodes": check_nodes}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
    if sys.argv[1] != "names":
        print(f"{seen} checks, {failures} failed")
        sys.exit(bool(failures) or not seen)
