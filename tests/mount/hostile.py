#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stores that mean harm, each beside arrays that are sound.

    hostile.py RECIPE OUT       makes the store OUT/store

The root is a group; `good` in it is an array of the numbers 0 to 9999, `last` the same: the first and the last that a walk
meets (but for names that sort before or behind). Needs nothing but Python.

  bombs       chunks that decode to far more than the chunk has, or claim to
  stored      chunks whose stored bytes are far more than the chunk has
  strings     arrays of strings whose chunks are bombs: nothing says how long they may be
  shapes      shapes and chunks as large as numbers go
  documents   metadata that is deep, wide, long, or no metadata
  names       fields and nodes whose names are commands to a terminal or a shell
  files       links, pipes, devices and directories where documents and chunks should be
  crowd       a directory of chunks with 200,000 entries that are none
  shards      indexes that point at themselves and elsewhere
  flood       chunks that are damaged, very many of them
  cycles      groups that are links to groups above them
  farm        directories that are many and lead nowhere, by way of links
  zips        OUT/NAME.zip: archives with absurd sizes and overlapping members
"""
import bz2
import gzip
import json
import lzma
import os
import socket
import struct
import sys
import zipfile
import zlib

MIB = 1 << 20
BOMB = 400 * MIB        # what most bombs decode to
NUMBERS = struct.pack("<10000i", *range(10000))
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


def sparse(path, size, head=b""):
    write(path, head)
    os.truncate(path, size)


def array(**members):
    doc = {"zarr_format": 3, "node_type": "array", "shape": [10000], "data_type": "int32",
           "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2500]}},
           "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
           "fill_value": 0, "codecs": [BYTES], "attributes": {}}
    doc.update(members)
    return doc


def grid(*shape):
    return {"name": "regular", "configuration": {"chunk_shape": list(shape)}}


def put(folder, doc, chunks=()):
    write(os.path.join(folder, "zarr.json"), doc if isinstance(doc, bytes) else json.dumps(doc).encode())
    for key, data in dict(chunks).items():
        write(os.path.join(folder, key), data)


def begin(top):
    """The root, and the sound arrays."""
    put(top, {"zarr_format": 3, "node_type": "group", "attributes": {}})
    for name in ("good", "last"):
        put(os.path.join(top, name), array(), {f"c/{i}": NUMBERS[i * 10000:(i + 1) * 10000] for i in range(4)})


# --- streams that decode to a great many zeros ---------------------------------------------------------------------------


def deflated(size, wbits):
    c = zlib.compressobj(1, zlib.DEFLATED, wbits)
    out = [c.compress(bytes(MIB)) for _ in range(size // MIB)]
    return b"".join([*out, c.flush()])


def zstd_rle(size, claims=None):
    """One frame of blocks that repeat one byte. claims: the content size in its header; None: none."""
    head = b"\x28\xb5\x2f\xfd"
    # Without a size: a window of 1 MiB. With one: a single segment, 8 bytes of size.
    head += b"\x00\x50" if claims is None else b"\xe0" + struct.pack("<Q", claims)
    blocks = []
    while size > 0:
        n = min(size, 128 << 10)
        size -= n
        blocks.append(struct.pack("<I", (size == 0) | 1 << 1 | n << 3)[:3] + b"\0")
    return head + b"".join(blocks)


def blosc(nbytes, blocksize, body=b"", flags=0x01):
    return struct.pack("<BBBBIII", 2, 1, flags, 4, nbytes, blocksize, 16 + len(body)) + body


def bombs(top):
    begin(top)
    gz, raw_zlib = deflated(BOMB, 31), deflated(BOMB, 15)
    twice = gzip.compress(gz, 9)
    xz = lzma.LZMACompressor(preset=1)
    xz = b"".join([*(xz.compress(bytes(MIB)) for _ in range(BOMB // MIB)), xz.flush()])
    one = bz2.compress(bytes(45 * MIB), 9)      # a 900 kB block is 45 bytes or so: members behind one another
    chunks = {
        "gzip": ({"name": "gzip", "configuration": {"level": 9}}, gz),
        "gzip.members": ({"name": "gzip"}, deflated(MIB, 31) * 2000),
        "zlib": ({"name": "numcodecs.zlib"}, raw_zlib),
        "zstd": ({"name": "zstd"}, zstd_rle(BOMB)),
        "zstd.says": ({"name": "zstd"}, zstd_rle(BOMB, BOMB)),
        "zstd.lies": ({"name": "zstd"}, zstd_rle(10000, 1 << 62)),
        "zstd.small": ({"name": "zstd"}, zstd_rle(BOMB, 10000)),
        "zstd.window": ({"name": "zstd"}, b"\x28\xb5\x2f\xfd\x00\xf8" + b"\x01\0\0"),
        "blosc": ({"name": "blosc"}, blosc(0x7fffffef, 1 << 20)),
        "blosc.copied": ({"name": "blosc"}, blosc(0x7fffffef, 1 << 20, bytes(100), 0x03)),
        "blosc.blocks": ({"name": "blosc"}, blosc(10000, 1, struct.pack("<I", 16) * 100)),
        "lz4": ({"name": "numcodecs.lz4"}, struct.pack("<I", 0x7fffffff) + b"\x1f\0\1\0" + b"\xff" * 100000),
        "lz4.negative": ({"name": "numcodecs.lz4"}, b"\xff\xff\xff\xff" + bytes(100)),
        "bz2": ({"name": "numcodecs.bz2"}, one * (BOMB // (45 * MIB))),
        "lzma": ({"name": "numcodecs.lzma"}, xz),
        "lzma.dictionary": ({"name": "numcodecs.lzma", "configuration": {"format": 2}},
                            b"\x5d\xff\xff\xff\xff" + b"\xff" * 8 + bytes(32)),
    }
    for name, (codec, chunk) in chunks.items():
        put(os.path.join(top, name), array(codecs=[BYTES, codec]), {"c/0": chunk, "c/2": chunk})
    gzips = [{"name": "gzip"}] * 2
    put(os.path.join(top, "gzip.gzip"), array(codecs=[BYTES, *gzips]), {"c/0": twice})
    # Each of 15 codecs asks for eight times what the next one decodes to.
    wide = [{"name": "numcodecs.astype", "configuration": {"encode_dtype": "<f8", "decode_dtype": "<f8" if i else "|i1"}}
            for i in range(15)]
    put(os.path.join(top, "astype"), array(data_type="int8", codecs=[*wide, BYTES]), {"c/0": bytes(2500)})


def stored(top):
    begin(top)
    for i in range(8):
        folder = os.path.join(top, f"long{i}")
        put(folder, array(codecs=[BYTES, {"name": "gzip"}] if i % 2 else [BYTES]))
        sparse(os.path.join(folder, "c/0"), 2 << 30, b"\x1f\x8b\x08\0")         # as long as is ever read whole
        sparse(os.path.join(folder, "c/1"), 1 << 40)


def strings(top):
    """Items of a decoded chunk: their number, then their lengths and bytes."""
    begin(top)
    text = array(data_type="string", fill_value="", codecs=[{"name": "vlen-utf8"}, {"name": "gzip"}])
    # One item of 600 MiB and 2499 empty ones.
    c = zlib.compressobj(1, zlib.DEFLATED, 31)
    out = [c.compress(struct.pack("<II", 2500, BOMB))]
    out += [c.compress(bytes(MIB)) for _ in range(BOMB // MIB)]
    bomb = b"".join([*out, c.compress(bytes(4 * 2499)), c.flush()])
    for i in range(8):
        put(os.path.join(top, f"bomb{i}"), text, {"c/0": bomb, "c/1": bomb})
    put(os.path.join(top, "endless"), text, {"c/0": deflated(1100 * MIB, 31)})
    put(os.path.join(top, "count"), text, {"c/0": gzip.compress(b"\xff\xff\xff\xff" + bytes(100))})
    put(os.path.join(top, "length"), text, {"c/0": gzip.compress(struct.pack("<II", 2500, 0xffffffff) + bytes(100))})


def shapes(top):
    begin(top)
    zero = {f"a{i}": s for i, s in enumerate(((0,), (0, 2**62), (2**62, 0, 2**62)))}
    for name, shape in zero.items():
        put(os.path.join(top, name), array(shape=shape, chunk_grid=grid(*[max(1, min(n, 100)) for n in shape])))
    large = {"l1": [2**59], "l2": [2**30, 2**29], "l3": [3] * 31 + [1], "l4": [2**58], "l5": [1] * 31 + [2**59]}
    for name, shape in large.items():
        put(os.path.join(top, name), array(shape=shape, data_type="int8", chunk_grid=grid(*[min(n, 1000) for n in shape])))
    put(os.path.join(top, "l4/zarr.json").rsplit("/", 1)[0],
        array(shape=[2**58], data_type="int8", chunk_grid=grid(2**30)), {"c/0": b"short"})
    wrong = {"w1": [2**63], "w2": [2**64], "w3": [2**32, 2**32], "w4": [2**60 + 1], "w5": [1] * 33, "w6": [-1], "w7": [1e30],
             "w8": [2**20] * 32}
    for name, shape in wrong.items():
        put(os.path.join(top, name), array(shape=shape, chunk_grid=grid(*[1] * len(shape))))
    for name, chunk in {"c1": 2**30 + 1, "c2": 2**62, "c3": 0, "c4": 2**64}.items():
        put(os.path.join(top, name), array(data_type="int8", chunk_grid=grid(chunk)))
    put(os.path.join(top, "s1"), array(data_type={"name": "raw_bytes", "configuration": {"length_bytes": 2**40}}, fill_value=""))
    put(os.path.join(top, "s2"), array(data_type="r" + "9" * 30, fill_value=[]))


def documents(top):
    begin(top)
    deep = b"[" * 1000000 + b"]" * 1000000
    doc = json.dumps(array()).encode()
    chunks = {f"c/{i}": NUMBERS[i * 10000:(i + 1) * 10000] for i in range(4)}
    bad = {
        "deep": doc[:-1] + b',"x":' + deep + b"}",
        "deep.open": b"[" * 3000000,
        "deep.objects": b'{"a":' * 1000000,
        "fields": json.dumps(array(fill_value={}, data_type={"name": "struct", "configuration": {"fields": [
            {"name": f"f{i}", "data_type": "int8"} for i in range(100000)]}})).encode(),
        "long": doc[:-1] + b',"x":"' + b"x" * (9 * MIB) + b'"}',
        "empty": b"", "blank": b" " * 1000000, "list": b"[]", "string": b'"x"', "number": b"3", "nul": doc + b"\0",
        "latin": doc[:-1] + b',"x":"\xe9"}', "cut": doc[:-5], "twice": doc + doc, "binary": os.urandom(100000),
        "utf16": doc.decode().encode("utf-16"),
        "digits": doc.replace(b"[10000]", b"[" + b"9" * 1000000 + b"]"),
        "codecs": json.dumps(array(codecs=[BYTES] + [{"name": "crc32c"}] * 100000)).encode(),
        "shards": json.dumps(array()).encode().replace(
            json.dumps([BYTES]).encode(), b'[{"name":"sharding_indexed","configuration":{"chunk_shape":[1],"codecs":' * 40 +
            json.dumps([BYTES]).encode() + b"}}]" * 40),
        "pickle": b"",
    }
    for name, text in bad.items():
        put(os.path.join(top, name), text, chunks)
    os.remove(os.path.join(top, "pickle/zarr.json"))
    write(os.path.join(top, "pickle/.zarray"), json.dumps({
        "zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "|O", "compressor": None, "fill_value": None, "order": "C",
        "filters": [{"id": "pickle"}]}).encode())
    write(os.path.join(top, "pickle/0"), b"cos\nsystem\n(S'touch pickled'\ntR.")
    sparse(os.path.join(top, "gigabyte/zarr.json"), 1 << 30)
    # Attributes are handed on as they are, however deep.
    put(os.path.join(top, "attributes"), doc.replace(b'"attributes": {}', b'"attributes": {"x":' + deep + b"}"), chunks)
    put(os.path.join(top, "respelt"), doc[:-1] + b',"attributes":{"a":NaN},"attributes":{"b":[Infinity,1e999]}}', chunks)


NASTY = ["\x1b]0;owned\x07", "\x1b[2J\x1b[H", "a\nb: forged line", "\r\x1b[31m", "\u009b31m", "../../etc/passwd", "..", ".", "",
         "-rf", "--checkpoint-action=exec=sh", "a\0b", "\u202egnp.exe", "records.jsonl", "x" * 300, "%", "%2F", "\ufeff", " ",
         "$(touch owned)", "`touch owned`", "; touch owned", "*", "~"]


def names(top):
    begin(top)
    fields = [{"name": n, "data_type": "int8"} for n in NASTY]
    fill = {n: i for i, n in enumerate(NASTY)}
    put(os.path.join(top, "fields"), array(fill_value=fill, data_type={"name": "struct", "configuration": {"fields": fields}},
                                           shape=[3], chunk_grid=grid(3)))
    for i, n in enumerate(NASTY):       # named in the refusal
        kind = [{"data_type": n}, {"codecs": [BYTES, {"name": n}]}, {n: {"must_understand": True}}, {"chunk_grid": {"name": n}},
                {"data_type": {"name": "struct", "configuration": {"fields": [{"name": n, "data_type": "nonsense"}]}}}]
        for k, members in enumerate(kind):
            put(os.path.join(top, f"refused{i}.{k}"), array(**members))
    for n in NASTY:
        if n and n not in (".", "..") and "/" not in n and "\0" not in n and len(n.encode()) < 256:
            put(os.path.join(top, n), array(), {"c/0": b"short"})


def files(top):
    begin(top)
    sound = array()

    def special(name, make):
        folder = os.path.join(top, name)
        os.makedirs(folder)
        make(os.path.join(folder, "zarr.json"))
        put(os.path.join(top, name + ".chunk"), sound, {"c/1": NUMBERS[10000:20000]})
        make(os.path.join(top, name + ".chunk", "c/0"))

    special("fifo", os.mkfifo)
    special("self", lambda p: os.symlink(os.path.basename(p), p))
    special("absent", lambda p: os.symlink("nowhere", p))
    special("passwd", lambda p: os.symlink("/etc/passwd", p))
    special("up", lambda p: os.symlink("../" * 20 + "etc/passwd", p))
    special("proc", lambda p: os.symlink("/proc/self/environ", p))
    special("zero", lambda p: os.symlink("/dev/zero", p))
    special("directory", os.mkdir)
    special("empty", lambda p: write(p, b""))

    def sock(path):
        here = os.getcwd()
        os.chdir(os.path.dirname(path))         # the name of a socket is short
        socket.socket(socket.AF_UNIX).bind(os.path.basename(path))
        os.chdir(here)

    special("socket", sock)
    if os.geteuid() == 0:
        special("device", lambda p: os.mknod(p, 0o20666, os.makedev(1, 5)))
        special("block", lambda p: os.mknod(p, 0o60666, os.makedev(1, 250)))
    put(os.path.join(top, "loop"), sound)
    os.symlink("c", os.path.join(top, "loop", "c"))
    put(os.path.join(top, "pair"), sound)
    os.symlink("d", os.path.join(top, "pair", "c"))
    os.symlink("c", os.path.join(top, "pair", "d"))
    os.symlink("/", os.path.join(top, "root"))
    os.symlink("/proc", os.path.join(top, "procfs"))


def crowd(top):
    begin(top)
    folder = os.path.join(top, "odd")
    put(folder, array(), {"c/0": NUMBERS[:10000]})
    for i in range(100000):
        open(os.path.join(folder, "c", f"0{i}"), "w").close()           # a leading zero: no key
        open(os.path.join(folder, "c", f"x{i:08}" + "y" * 200), "w").close()
    # Names beside the arrays: each is looked at when the group is listed.
    for i in range(20000):
        os.mkdir(os.path.join(top, f"void{i}"))


def index(*pairs):
    return b"".join(struct.pack("<QQ", a % 2**64, n % 2**64) for a, n in pairs)


def shards(top):
    begin(top)

    def shard(inner, codecs, location="end", outer=()):
        return [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [inner], "codecs": codecs, "index_location": location, "index_codecs": [BYTES]}}, *outer]

    body = NUMBERS[:10000]
    plain = array(codecs=shard(1250, [BYTES]))
    cases = {
        "itself": body + index((10000, 32), (10000, 32)),
        "whole": body + index((0, 10032), (0, 10032)),
        "outside": body + index((10**15, 5000), (10000, 5000)),
        "wraps": body + index((-8, 5000), (5000, -1)),
        "ends": body + index((-1, 0), (0, -1)),
        "overlap": body + index((0, 5000), (1, 5000)),
        "short": index((0, 5000))[:20],
        "empty": b"",
    }
    for name, data in cases.items():
        put(os.path.join(top, name), plain, {"c/0": data, "c/1": data})
    # Shards in shards that are all the same bytes: each index points at all of its shard, itself included.
    loop = [BYTES]
    for inner in (1250, 1250, 1250, 2500):
        loop = shard(inner, loop, "start")
    put(os.path.join(top, "matryoshka"), array(codecs=loop), {"c/0": index((0, 16)), "c/1": index((0, 48), (0, 48))})
    # One compressed as a whole: nothing says how large it may be.
    bomb = deflated(BOMB, 31)
    for i in range(6):
        put(os.path.join(top, f"bomb{i}"), array(codecs=shard(1250, [BYTES], "end", [{"name": "gzip"}])),
            {"c/0": bomb, "c/1": bomb})
    # The same of strings; and one whose index says of each chunk that it is all of the shard.
    text = array(data_type="string", fill_value="", codecs=shard(1250, [{"name": "vlen-utf8"}], "end", [{"name": "gzip"}]))
    size = 64 * MIB
    c = zlib.compressobj(1, zlib.DEFLATED, 31)
    alias = b"".join([*(c.compress(bytes(MIB)) for _ in range(size // MIB)), c.compress(index(*[(0, size)] * 1024)), c.flush()])
    for i in range(3):
        put(os.path.join(top, f"text{i}"), text, {"c/0": bomb, "c/1": bomb})
        put(os.path.join(top, f"alias{i}"), array(shape=[size], data_type="int8", chunk_grid=grid(size), codecs=shard(
            size // 1024, ["bytes"], "end", [{"name": "gzip"}])), {"c/0": alias})
    # Of 4 million chunks, in a file of holes.
    put(os.path.join(top, "many"), array(shape=[4194304], data_type="int8", chunk_grid=grid(4194304),
                                         codecs=shard(1, ["bytes"])))
    sparse(os.path.join(top, "many/c/0"), 1 << 32)


def flood(top):
    begin(top)
    # 32,768 chunks that are damaged each by itself, in a file of 4 KiB: shards that are all the same one.
    inner = index(*[(0, 2)] * 128)
    outer = inner + index(*[(0, len(inner))] * 128)
    codecs = ["bytes"]
    for n in (1, 128):
        codecs = [{"name": "sharding_indexed", "configuration": {"chunk_shape": [n], "codecs": codecs, "index_codecs": [BYTES]}}]
    for name in ("bad", "worse"):
        put(os.path.join(top, name), array(shape=[16384], data_type="int8", chunk_grid=grid(16384), codecs=codecs), {"c/0": outer})


def cycles(top):
    begin(top)
    for name in ("a", "a/b"):
        put(os.path.join(top, name), {"zarr_format": 3, "node_type": "group"})
    os.symlink("..", os.path.join(top, "a/up"))
    os.symlink("../..", os.path.join(top, "a/b/top"))
    os.symlink(".", os.path.join(top, "a/b/here"))
    os.symlink("there", os.path.join(top, "a/b/there"))
    os.makedirs(os.path.join(top, "plain/x"))
    os.symlink("..", os.path.join(top, "plain/x/up"))
    os.symlink("../../good", os.path.join(top, "plain/x/good"))


def farm(top):
    begin(top)
    # Every directory of the first 31 axes has two entries, both itself; the last axis has none.
    put(os.path.join(top, "dims"), array(shape=[3] * 31 + [1], data_type="int8", chunk_grid=grid(*[1] * 32)))
    os.makedirs(os.path.join(top, "dims/c"))
    for n in ("1", "2"):
        os.symlink(".", os.path.join(top, "dims/c", n))
    # No node anywhere below, however one goes.
    os.makedirs(os.path.join(top, "void/x"))
    for n in range(100):
        os.symlink(".", os.path.join(top, "void/x", f"l{n}"))
    for n in range(2000):
        os.symlink("void/x", os.path.join(top, f"void{n}"))


def zips(top):
    """Archives of the sound arrays and one member that is not what it says."""
    out = os.path.dirname(top)
    begin(top)
    path = os.path.join(out, "plain.zip")
    with zipfile.ZipFile(path, "w") as z:
        for folder, _, names_ in os.walk(top):
            for n in sorted(names_):
                full = os.path.join(folder, n)
                z.write(full, os.path.relpath(full, top))
        doc = json.dumps(array(codecs=[BYTES])).encode()
        z.writestr("bad/zarr.json", doc)
        z.writestr("bad/c/0", NUMBERS[:10000], zipfile.ZIP_DEFLATED)
        z.writestr("bad/c/1", NUMBERS[10000:20000])
        # What no key can name.
        for n in ("../escape", "/etc/shadow", "a/../../b", "a//b", "./c", "c\\d", "\x1b[31mred/zarr.json"):
            z.writestr(n, b"{}")
    with open(path, "rb") as f:
        data = f.read()
    at = data.rindex(b"PK\x01\x02", 0, data.rindex(b"bad/c/0"))
    variants = {
        "size": (24, 2**32 - 2), "stored": (20, 2**32 - 2), "both": (20, 2**31, 24, 2**31), "offset": (42, 2**32 - 2),
        "overlap": (42, 0), "crc": (16, 0),
    }
    for name, fields in variants.items():
        changed = bytearray(data)
        for place, value in zip(fields[::2], fields[1::2]):
            struct.pack_into("<I", changed, at + place, value)
        write(os.path.join(out, name + ".zip"), bytes(changed))
    # A member that inflates to a gigabyte, as its directory says.
    path = os.path.join(out, "bomb.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for folder, _, names_ in os.walk(top):
            for n in sorted(names_):
                full = os.path.join(folder, n)
                z.write(full, os.path.relpath(full, top))
        z.writestr("bad/zarr.json", doc)
        for i in range(4):
            with z.open(f"bad/c/{i}", "w") as f:
                for _ in range(BOMB // MIB):
                    f.write(bytes(MIB))
        with z.open("doc/zarr.json", "w") as f:
            for _ in range(BOMB // MIB):
                f.write(b" " * MIB)
    # Its end says that there are 2^32 members.
    end = data.rindex(b"PK\x05\x06")
    many = (data[:end] + struct.pack("<IQHHIIQQQQ", 0x06064b50, 44, 45, 45, 0, 0, 2**32, 2**32, end, 0) +
            struct.pack("<IIQI", 0x07064b50, 0, end, 1) + struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, 65535, 65535, 2**32 - 1, 2**32 - 1, 0))
    write(os.path.join(out, "many.zip"), many)
    write(os.path.join(out, "cut.zip"), data[:len(data) // 2])


RECIPES = (bombs, stored, strings, shapes, documents, names, files, crowd, shards, flood, cycles, farm, zips)


if __name__ == "__main__":
    recipe = {r.__name__: r for r in RECIPES}.get(sys.argv[1]) if len(sys.argv) == 3 else None
    if not recipe:
        sys.exit(__doc__)
    recipe(os.path.join(sys.argv[2], "store"))
