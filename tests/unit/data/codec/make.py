#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes vectors.txt, which test_codec_vectors.c reads: what numcodecs encodes, and for
the numeric codecs what it decodes. Needs numcodecs 0.17 and NumPy 2 on x86-64.

    data NAME HEX                        decoded bytes
    case SEAL CHAIN NAME HEX             the chain that encoded data NAME, what it gave

SEAL says what a flipped bit may do: "strict" must be an error, "sealed" an error or no
change, "loose" may change the result but not its size. CHAIN: codecs in the order of
encoding, joined by "/", parameters by ":". A hyphen is no bytes.
"""
import bz2
import gzip
import lzma
import sys
import warnings

import numcodecs
import numpy as np
from numcodecs import (BZ2, CRC32, CRC32C, LZ4, LZMA, Adler32, AsType, Base64, Blosc, Delta,
                       FixedScaleOffset, Fletcher32, GZip, JenkinsLookup3, PackBits,
                       Quantize, Shuffle, Zlib, Zstd)

warnings.simplefilter("ignore")
out = open(sys.argv[1] if len(sys.argv) > 1 else "vectors.txt", "w")
names = {}


def hexa(b):
    return bytes(b).hex() or "-"


def data(name, b):
    b = bytes(b)
    if b not in names:
        names[b] = name
        print("data", name, hexa(b), file=out)
    return names[b]


def case(seal, chain, name, b, enc):
    print("case", seal, chain, data(name, b), hexa(enc), file=out)


def encode(codecs, a):
    for c in codecs:
        a = c.encode(a)
    return bytes(a)


rng = np.random.default_rng(7)
ramp = (np.arange(700, dtype="<i4") * 3 + rng.integers(0, 2, 700)).astype("<i4")
noise = rng.integers(0, 256, 300, dtype="u1")
small = np.frombuffer(b"hello hello hello, zarr", "u1")
none = np.empty(0, "u1")

for cname in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
    for shuffle in (0, 1, 2):
        c = Blosc(cname=cname, clevel=5, shuffle=shuffle, blocksize=1024)
        case("loose", "blosc", "ramp", ramp, c.encode(ramp))
case("loose", "blosc", "ramp", ramp, Blosc(clevel=0).encode(ramp))
for b, n in ((noise, "noise"), (small, "small"), (none, "none")):
    case("loose", "blosc", n, b, Blosc(shuffle=1).encode(b))
rec = np.zeros(2, "S12")
case("loose", "blosc", "zero24", rec, Blosc().encode(rec))
rec = np.frombuffer(bytes(range(232)) * 6, "V232")
case("loose", "blosc", "rec232", rec, Blosc(cname="zstd", shuffle=2).encode(rec))

for b, n in ((ramp, "ramp"), (noise, "noise"), (small, "small"), (none, "none")):
    b = b.tobytes()
    case("loose", "zstd", n, b, Zstd(level=3).encode(b))
    case("sealed", "zstd", n, b, Zstd(level=3, checksum=True).encode(b))
    case("loose", "lz4", n, b, LZ4().encode(b))
    case("sealed", "gzip", n, b, gzip.compress(b, mtime=0))
    case("sealed", "zlib", n, b, Zlib().encode(b))
    case("sealed", "bz2", n, b, BZ2().encode(b))
    case("sealed", "lzma:1", n, b, LZMA(format=1, preset=0).encode(b))
    case("loose", "lzma:2", n, b, LZMA(format=2, preset=0).encode(b))
    case("loose", "base64", n, b, Base64().encode(b))

s = small.tobytes()
z, zs = Zstd(level=1), Zstd(level=1, checksum=True)
case("sealed", "zstd", "small2", s + s, zs.encode(s) + zs.encode(s))
case("sealed", "zstd", "small", s, bytes.fromhex("502a4d18 03000000 616263") + zs.encode(s)
     + bytes.fromhex("5f2a4d18 00000000"))
# Frames without content size, as a streaming writer makes them: numcodecs writes none.
# RFC 8878: magic, descriptor 00, window 1 KiB, last raw block of 5 bytes.
case("loose", "zstd", "hello", b"hello", bytes.fromhex("28b52ffd 00 00 290000") + b"hello")
case("loose", "zstd", "hello2", b"hellohello",
     (bytes.fromhex("28b52ffd 00 00 290000") + b"hello") * 2)
# The same with an RLE block: 100 times "z".
case("loose", "zstd", "z100", b"z" * 100, bytes.fromhex("28b52ffd 00 00 230300 7a"))
case("sealed", "gzip", "small2", s + s, gzip.compress(s, mtime=0) + gzip.compress(s, mtime=0))
case("sealed", "gzip", "small", s, gzip.compress(s, mtime=0) + bytes(9))
case("sealed", "bz2", "small2", s + s, bz2.compress(s) + bz2.compress(s))
x = lzma.compress(s, preset=0)
case("sealed", "lzma:1", "small2", s + s, x + x)
case("sealed", "lzma:1", "small2", s + s, x + bytes(8) + x + bytes(4))
x = lzma.compress(s, format=lzma.FORMAT_ALONE, preset=0)
case("loose", "lzma:2", "small2", s + s, x + x)
LZMA2, LZMA1, DELTA, X86 = 0x21, 0x4000000000000001, 3, 4
for chain, f in (
        ("lzma:3:33,preset=0", [{"id": LZMA2, "preset": 0}]),
        ("lzma:3:3,dist=4:33,preset=1", [{"id": DELTA, "dist": 4}, {"id": LZMA2, "preset": 1}]),
        ("lzma:3:33,dict=4096,lc=1,lp=2,pb=0",
         [{"id": LZMA2, "dict_size": 4096, "lc": 1, "lp": 2, "pb": 0}]),
        ("lzma:3:4:33,preset=0", [{"id": X86}, {"id": LZMA2, "preset": 0}]),
        ("lzma:3:4611686018427387905,preset=0", [{"id": LZMA1, "preset": 0}])):
    case("loose", chain, "ramp", ramp, LZMA(format=3, filters=f).encode(ramp.tobytes()))

bytes8 = np.arange(8, dtype="u1")
for n, b in (("bytes8", bytes8), ("noise", noise), ("ramp", ramp)):
    case("strict", "checksum:crc32:start", n, b, CRC32().encode(b))
    case("strict", "checksum:crc32:end", n, b, CRC32(location="end").encode(b))
    case("strict", "checksum:adler32:start", n, b, Adler32().encode(b))
    case("strict", "checksum:adler32:end", n, b, Adler32(location="end").encode(b))
    case("strict", "checksum:crc32c:end", n, b, CRC32C().encode(b))
    case("strict", "checksum:crc32c:start", n, b, CRC32C(location="start").encode(b))
    case("strict", "checksum:fletcher32:end", n, b, Fletcher32().encode(b))
    case("strict", "checksum:jenkins:end", n, b, JenkinsLookup3().encode(b))
for n in range(1, 27):
    b = noise[:n]
    case("strict", "checksum:fletcher32:end", f"noise{n}", b, Fletcher32().encode(b))
    case("strict", "checksum:jenkins:end", f"noise{n}", b, JenkinsLookup3().encode(b))
    case("strict", f"checksum:jenkins:end:{n}:{hexa(noise[100:100 + n])}", f"noise{n}", b,
         JenkinsLookup3(initval=n, prefix=noise[100:100 + n].tobytes()).encode(b))
case("strict", "checksum:crc32:start", "none", none, CRC32().encode(none))
case("strict", "checksum:jenkins:end", "none", none, JenkinsLookup3().encode(none))
ones = np.full(2003, 255, "u1")
case("strict", "checksum:fletcher32:end", "ones", ones, Fletcher32().encode(ones))

for size in (2, 4, 7, 8, 100):
    case("loose", f"shuffle:{size}", "ramp", ramp, Shuffle(size).encode(ramp.view("u1")))
case("loose", "shuffle:1", "noise", noise, Shuffle(1).encode(noise))
case("loose", "shuffle:0", "noise", noise, noise)
big = np.arange(30000, dtype="<u2")[::7].copy()
case("loose", "shuffle:2", "big", big, Shuffle(2).encode(big.view("u1")))
for n in range(0, 18):
    b = rng.integers(0, 2, n).astype(bool)
    case("loose", "packbits", f"bools{n}", b, PackBits().encode(b))

case("strict", "zstd/checksum:crc32c:end", "ramp", ramp,
     encode([Zstd(level=1), CRC32C()], ramp.tobytes()))
case("strict", "delta:<i4:<i4/shuffle:4/blosc/checksum:fletcher32:end", "ramp", ramp,
     encode([Delta("<i4"), Shuffle(4), Blosc(shuffle=0), Fletcher32()], ramp))
case("sealed", "delta:<i4:<i2/zlib/gzip", "ramp", ramp,
     encode([Delta("<i4", "<i2"), Zlib(), GZip()], ramp))
b = rng.integers(0, 2, 203).astype(bool)
case("strict", "packbits/lz4/base64/checksum:adler32:start", "bools203", b,
     encode([PackBits(), LZ4(), Base64(), Adler32()], b))
case("loose", "nothing/zstd", "small", small, Zstd().encode(small))

# Numeric codecs: these are decoded, the encoded bytes are made up.
INTS = ["|i1", "|u1", "<i2", ">u2", "<i4", ">u4", "<i8", ">i8", "<u8"]
FLOATS = ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]
TYPES = ["|b1"] + INTS + FLOATS


def edges(t):
    dt = np.dtype(t)
    if dt.kind == "b":
        return np.frombuffer(bytes([0, 1, 1, 0, 2, 255]), "?")
    if dt.kind in "iu":
        i = np.iinfo(dt)
        v = [0, 1, 2, 3, 100, 127, i.max, i.max - 1, i.min, i.min + 1, i.max // 3]
        v += [int(x) for x in (2**24 + 1, 2**25 + 3, 2**53 + 1, 2**54 + 3, 2**62 + 2**38 + 1,
                               2048 + 1, 4096 + 3) if x <= i.max]
        return np.array(v, dt)
    v = [0.0, -0.0, 1.0, -1.0, 1.5, -1.5, 0.1, -0.1, 2.5, 100.25, 127.9, -127.9, 1e-3]
    v += [-128.9, 255.9, 256.0, 32767.9, -32768.9, 65535.9, 65504, 65519.99, 65520, 1e5, 3e9,
          2147483647.0, 2147483648.0, -2147483648.9, -2147483649.0, 9e18, -9.2e18, 1e19, 1e25,
          2.0**63, 2.0**64, -2.0**63, -2.0**63 - 2048]
    v += [6e-8, 5.96e-8, 2.98e-8, 2.99e-8, 6.1e-5, 6.097e-5, 6.1035e-5, 1e-40, 1e-46, 3.4e38,
          3.5e38, 1e300, 2048.5, 2049, 2051, 1 + 2**-11, 1 + 2**-11 + 2**-40, 1 + 3 * 2**-11,
          1 + 2**-24, 1 + 2**-24 + 2**-50, 1 + 3 * 2**-24]
    v += [np.inf, -np.inf, np.nan, -np.nan]
    return np.array(v).astype(dt)


for s in TYPES:
    for d in TYPES:
        e = edges(s)
        if np.dtype(s).kind == "f" and np.dtype(d).kind == "u":
            # What NumPy makes of these depends on where in the array they stand.
            with np.errstate(all="ignore"):
                e = e[(e > -1) & (e < 2.0 ** (8 * np.dtype(d).itemsize))]
        r = AsType(encode_dtype=s, decode_dtype=d).decode(e.tobytes())
        case("loose", f"cast:{d}:{s}", f"cast{d}{s}", np.asarray(r).tobytes(), e.tobytes())

for s in TYPES:
    for d in ("|i1", "<i2", ">u4", "<i8", "<f2", "<f4", ">f8"):
        if np.dtype(s).kind == "f" and np.dtype(d).kind != "f":
            e = rng.integers(-9 if np.dtype(d).kind == "i" else 0, 10, 20).astype(s)
        elif np.dtype(s).kind == "f":
            e = np.append(np.array([-0.0, -0.0]), rng.normal(0, 10, 40)).astype(s)
        elif np.result_type(s, d) == "f8" and np.dtype(d).kind in "iu":
            # NumPy adds up 64-bit integers of both kinds as doubles; zarrfs does not.
            e = rng.integers(0, 100, 20).astype(s)
        else:
            e = np.append(rng.integers(0, 100, 20), edges(s)).astype(s)
        r = Delta(dtype=d, astype=s).decode(e.tobytes())
        case("loose", f"delta:{d}:{s}", f"delta{d}{s}", r.tobytes(), e.tobytes())
e = rng.integers(-100, 100, 1100).astype("i1")
for d in ("<i4", "<f2", "<f4"):
    r = Delta(dtype=d, astype="i1").decode(e.tobytes())
    case("loose", f"delta:{d}:|i1", f"long{d}", r.tobytes(), e.tobytes())

for s in TYPES:
    for d in ("|b1", "|u1", ">i2", "<i8", "<f2", ">f4", "<f8"):
        for offset, scale in ((1000, 10), (0.1, 3.7)):
            if np.dtype(d).kind == "f":
                e = edges(s)
            else:
                e = np.array([0, 1, 2, 3, 5, 40, 100]).astype(s)
                offset = 3
            r = FixedScaleOffset(offset=offset, scale=scale, dtype=d, astype=s)
            r = r.decode(e.tobytes()).tobytes()
            case("loose", f"scale:{offset}:{scale}:{d}:{s}", f"scale{d}{s}{scale}", r,
                 e.tobytes())
x = rng.normal(0, 1, 20)
q = Quantize(digits=2, dtype="<f8", astype="<f4")
e = q.encode(x)
case("loose", "cast:<f8:<f4", "quantize", np.asarray(q.decode(e.tobytes())).tobytes(), e.tobytes())
out.close()
