#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes seeds for the fuzz targets out of the fixtures.

    seeds.py OUT        writes OUT/TARGET/...

What of them reaches code that nothing else reaches is kept in corpus/ (run.sh --merge). Needs nothing but Python.
"""
import base64
import bz2
import gzip
import hashlib
import itertools
import json
import lzma
import os
import struct
import sys
import zipfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "..", "fixtures")
MAX_STORE = 12000  # bytes of a seed that is a whole store
KINDS = ["bool", "int", "uint", "float", "complex", "utf32", "chars", "raw", "datetime", "timedelta", "struct", "string",
         "vbytes", "json"]


class Seeds:
    def __init__(self, out):
        self.out = out

    def add(self, target, data):
        folder = os.path.join(self.out, target)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, hashlib.sha1(data).hexdigest()[:12]), "wb") as f:
            f.write(data)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def compact(text):
    """The document without white space, if it is one that Python can read."""
    try:
        return json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    except ValueError:
        return text


def arrays(top):
    """(folder, names of the files below it) of each array, chunks first in order of their names."""
    for folder, _, names in sorted(os.walk(top)):
        if "zarr.json" not in names and ".zarray" not in names:
            continue
        below = [os.path.relpath(os.path.join(d, n), folder) for d, _, ns in os.walk(folder) for n in ns]
        yield folder, sorted(below)


def objects(items):
    return b"".join(key.encode() + b"\n" + struct.pack("<H", len(data)) + data for key, data in items if len(data) < 65536)


def store(folder, names):
    """All that fits of an array's directory."""
    items, total = [], 0
    for name in sorted(names, key=lambda n: (not n.split("/")[-1].startswith((".z", "zarr.json")), n)):
        path = os.path.join(folder, name)
        if len(name) > 60 or os.path.getsize(path) + total > MAX_STORE or len(items) == 20:
            continue
        data = read(path)
        items.append((name, compact(data) if name.endswith((".zarray", ".zattrs", "zarr.json")) else data))
        total += len(data)
    return objects(items)


def documents(seeds):
    for folder, names in arrays(FIXTURES):
        if "/expect/" in folder:
            continue
        if "zarr.json" in names:
            doc = compact(read(os.path.join(folder, "zarr.json")))
            seeds.add("meta_v3", doc)
            seeds.add("json", doc)
            try:
                seeds.add("dtype", json.dumps(json.loads(doc)["data_type"], separators=(",", ":")).encode())
            except (ValueError, KeyError, TypeError):
                pass
        else:
            array, attrs = (compact(read(os.path.join(folder, n))) if n in names else b"" for n in (".zarray", ".zattrs"))
            seeds.add("meta_v2", array + b"\0" + attrs + b"\0")
            try:
                dtype = json.loads(array)["dtype"]
                seeds.add("dtype", dtype.encode() if isinstance(dtype, str) else json.dumps(dtype).encode())
            except (ValueError, KeyError, TypeError):
                pass
        options = hashlib.sha1(folder.encode()).digest()[0] % 16
        seeds.add("store", bytes([options]) + store(folder, names))


def groups(seeds):
    """Whole small stores with groups in them."""
    for name in ("consolidated.v3", "v2.consolidated", "nwb.compound", "struct.names", "unreadable"):
        folder = os.path.join(FIXTURES, name, "store")
        below = [os.path.relpath(os.path.join(d, n), folder) for d, _, ns in os.walk(folder) for n in ns]
        seeds.add("store", b"\0" + store(folder, sorted(below)))
        seeds.add("store", b"\x10" + store(folder, sorted(below)))


def codecs(seeds):
    data = struct.pack("<40i", *range(100, 140))
    size = struct.pack("<H", len(data))
    simple = {2: gzip.compress(data, mtime=0), 3: zlib.compress(data), 5: bz2.compress(data), 7: base64.b64encode(data),
              4: struct.pack("<I", 4) + b"\x40abcd", 15: data}
    for which, stored in simple.items():
        seeds.add("codec", bytes([1, which]) + size + stored)
    seeds.add("codec", bytes([1, 6, 0]) + size + lzma.compress(data))
    seeds.add("codec", bytes([1, 6, 1]) + size + lzma.compress(data, lzma.FORMAT_ALONE))
    raw = lzma.compress(data, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 4096}])
    seeds.add("codec", bytes([1, 6, 2, 0, 0]) + struct.pack("<HBIBBBB", 1, 6, 4096, 3, 0, 2, 0) + size + raw)
    for kind, at_start in itertools.product(range(4), range(2)):
        check = struct.pack("<I", [zlib.crc32(data), 0, zlib.adler32(data), 0][kind])
        stored = check + data if at_start else data + check
        seeds.add("codec", bytes([1, 8, kind, at_start]) + size + stored)
    seeds.add("codec", bytes([1, 9, 4]) + size + data)
    seeds.add("codec", bytes([1, 10]) + struct.pack("<H", 10) + b"\x06\x9c\xc0")
    for which, a, b in itertools.product((11, 12), range(12), range(12)):
        seeds.add("codec", bytes([1, which, a, b]) + size + data)
    seeds.add("codec", bytes([1, 13]) + struct.pack("<dd", 1000, 10) + bytes([8, 0]) + size + data)
    labels = bytes([3, 1]) + b"a" + bytes([5]) + "b\u00e9\U0001f600".encode()[:5] + bytes([0])
    for code, width in itertools.product((0, 2, 3, 4), (0, 4)):
        seeds.add("codec", bytes([1, 14, code, width]) + labels + b"\0" + struct.pack("<H", 16 * width) + bytes(range(4)) * 4)
    seeds.add("codec", bytes([3, 9, 4, 2, 8, 0, 0]) + size + gzip.compress(data, mtime=0) + b"\0\0\0\0")
    # Chunks of fixtures, by what they begin with.
    for folder, names in arrays(FIXTURES):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.getsize(path) > 3000 or "/expect/" in path:
                continue
            chunk = read(path)
            for which, magic in ((0, b"\x28\xb5\x2f\xfd"), (1, b"\x02\x01"), (2, b"\x1f\x8b"), (3, b"\x78")):
                if chunk.startswith(magic):
                    seeds.add("codec", bytes([1, which]) + size + chunk)


def index(places, big=False):
    return b"".join(struct.pack(">QQ" if big else "<QQ", *p) for p in places)


def shards(seeds):
    """8 x 8 bytes: in one shard of four chunks, in all variants of the index; and two levels of it."""
    chunk = bytes(range(16))
    none = (2**64 - 1, 2**64 - 1)
    for how in range(4):
        start = 64 if how & 2 else 0
        pairs = index([(start, 16), none, (start + 16, 16), (start, 16)], how & 1)
        body = pairs + chunk + chunk[::-1] if how & 2 else chunk + chunk[::-1] + pairs
        seeds.add("shard", bytes([0, 0, 0, 3, 0, how]) + objects([("a/c/0/0", body)]))
        seeds.add("shard", bytes([0, 0, 0, 3, 2, how]) + objects([("a/c/0/0", body)]))
        packed = gzip.compress(body, mtime=0)
        seeds.add("shard", bytes([0, 0, 2, 3, 0, how]) + objects([("a/c/0/0", packed)]))
    inner = bytes(4) + index([(0, 4), none, (0, 4), none])
    outer = inner + index([(0, len(inner)), none, none, (0, len(inner))])
    seeds.add("shard", bytes([1, 0, 0, 3, 0, 3, 0, 0, 0]) + objects([("a/c/0/0", outer)]))
    seeds.add("shard", bytes([1, 128, 0, 131, 0, 3, 0, 0, 0]) + objects([("a/c/0/0", outer)]))


def zips(seeds):
    for name in ("zip.v2", "zip.v3", "zip.v3.deflated"):
        seeds.add("zip", read(os.path.join(FIXTURES, name, "store.zip")))
    path = os.path.join(seeds.out, "made.zip")
    for method, names in ((0, ["a", "b/c", "b/d/e", "x/"]), (8, ["a", "a"]), (8, ["top/zarr.json", "top/c/0"])):
        with zipfile.ZipFile(path, "w", method) as z:
            for i, name in enumerate(names):
                info = zipfile.ZipInfo(name, (2024, 5, 5, 13, 32, 0))
                info.compress_type = method
                z.writestr(info, b"" if name.endswith("/") else b"hello %d " % i * 20)
        seeds.add("zip", read(path))
        seeds.add("zip", read(path)[:-22] + b"PK\x05\x06" + bytes(18))
    os.remove(path)


def texts(seeds):
    strings = ["", "abc", "tab\t lf\n quote\" comma, back\\slash", "\u00e9\u4e2d\U0001f600", "\x7f\x80\x9f\x00", "a" * 40]
    for kind, name in enumerate(KINDS):
        for more in range(0, 32):
            head = bytes([kind, more])
            if name in ("datetime", "timedelta"):
                for n, scale in ((0, 0), (-2**63, 0), (2**63 - 1, 0), (1700000000, 0), (-1, 24), (10**17, 999)):
                    seeds.add("text", head + struct.pack("<I", scale) + b"\0" + struct.pack("<q", n))
            elif name in ("utf32", "chars", "raw", "string", "vbytes", "json"):
                for s in strings if more < 2 else []:
                    data = s.encode("utf-32-be" if more else "utf-32-le") if name == "utf32" else s.encode()
                    length = bytes([len(data) // 4 if name == "utf32" else len(data)])
                    seeds.add("text", head + (b"" if name in ("string", "vbytes", "json") else length) + b"\1\5\0" + data)
            elif name != "struct":
                for v in (b"", b"\1", b"\xff" * 16, struct.pack("<d", 0.1), struct.pack("<f", 1e16), struct.pack("<e", -0.0),
                          struct.pack("<dd", 1e-5, float("inf")), struct.pack(">f", float("nan"))):
                    seeds.add("text", head + b"\2\3\0\4\0" + v)
    seeds.add("text", bytes([13, 0, 0]) + b'{"a":[1,2.5,null,"x"]}')


def names(seeds):
    row = ["", "x", "a/b", "%", ".", "..", ".hidden", "-rf", "a\tb", "records", "records.jsonl", "zarr.json", "a.npy", ".npy",
           "n" * 251, "n" * 255, "n" * 256, "\u00e9" * 128, "x~0123456789abcdef", "\x80", "%41", "~", "a%2Fb"]
    for i, a in enumerate(row):
        for form in range(5):
            seeds.add("names", bytes([form]) + a.encode() + b"\n" + row[(i + form) % len(row)].encode())
    seeds.add("names", b"\0\xff\xc3\n\xed\xa0\x80")


def copies(seeds):
    for folder, _, names in sorted(os.walk(FIXTURES)):
        for name in names:
            if name in ("zarr.json", ".zmetadata") and "/expect" not in folder:
                text = compact(read(os.path.join(folder, name)))
                if b"metadata" in text and len(text) < 6000:
                    seeds.add("copies", bytes([name == ".zmetadata"]) + text)
    node = {"zarr_format": 3, "node_type": "group"}
    for paths in ([], [""], ["a", "a/b", "a-b", "a0", "a/b/c"], ["/a", "a/", "a//b", "..", "a/../b", "."], ["\u00e9", "x" * 300]):
        inner = {"kind": "inline", "must_understand": False, "metadata": {p: node for p in paths}}
        seeds.add("copies", b"\0" + json.dumps({"zarr_format": 3, "consolidated_metadata": inner}).encode())
        flat = {f"{p}/{n}" if p else n: node for p in paths for n in (".zgroup", ".zarray", ".zattrs")}
        seeds.add("copies", b"\1" + json.dumps({"zarr_consolidated_format": 1, "metadata": flat}).encode())
    for text in ('{"consolidated_metadata":null}', "{}", "[]", '{"consolidated_metadata":{"kind":"other"}}'):
        seeds.add("copies", b"\0" + text.encode())


def various(seeds):
    for text in ('{"a":1,"b":[true,false,null]}', "[NaN,Infinity,-Infinity,1e999,-0]", '"\\ud800\\u0000\\ud83d\\ude00"', "1" * 30,
                 '{"a":{"a":{"a":[]}},"attributes":{"x":1},"a":2}', "[" * 140 + "]" * 140, '\ufeff{"\\u0061":"\\u0001x41"}',
                 '{"\\u0000":1e-400}', '"\x7f\x80"', "[1,]", "{} x", ""):
        seeds.add("json", text.encode())
    for kind in range(3):
        for items in ([], [b""], [b"abc", b"", b"\xff"]):
            body = struct.pack("<I", len(items)) + b"".join(struct.pack("<I", len(i)) + i for i in items)
            seeds.add("items", bytes([kind]) + struct.pack("<H", len(items)) + body)
    for line in ("store\nmnt", "-f\nstore\nmnt\n-o\ncache=1G,allow_other", "-o\nmissing=error,nonfinite=string,text=fixed\ns\nm",
                 "s\nm\n-o\nview=raw,umask=022,uid=1,gid=2", "s\nm\n-o\nviews=csv\\,zarr,log=/dev/null,size_wait=5", "--help", "-V",
                 "s\nm\n-oro,noatime,_netdev,fsname=a\\,b,subtype=x,follow_symlinks,default_permissions", "-d\n--\ns\nm", "-x"):
        seeds.add("opts", line.encode())


def indexes(seeds):
    """Of 25 rows of 4 numbers, as fuzz_index.c has them; it fills in what must fit."""
    size = 72 + 8 * 3 + 8 + 8 * 4 * 26 + 8
    for how in range(16):
        seeds.add("index", bytes([how]) + bytes(i * 7 % 251 for i in range(size)))
    seeds.add("index", bytes([15]) + bytes(size - 1))


def main(out):
    seeds = Seeds(out)
    for make in (documents, groups, indexes, codecs, shards, zips, texts, names, copies, various):
        make(seeds)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
