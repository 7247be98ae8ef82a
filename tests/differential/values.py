# SPDX-License-Identifier: MIT
"""Random values of every type, their fill values as JSON, and the NumPy types that stand in for them when writing.

All records here are packed and little-endian, as bytes. Deterministic: the same type, count and seed give the same bytes.
"""
import base64
import json
import string
import struct

import numpy as np

import reference as ref

PIECES = [*string.ascii_letters, *string.digits, " ", "-", "_", "/", "\\", "\"", "'", ",", ".", ";", "=", "%", "\t", "\n", "\r", "\0",
          "\x01", "\x1b", "\x7f", "\x80", "\x85", "\x9b", "\x9f", "\xa0", "\u00e9", "\u00b5", "\u0301", "\u4e2d", "\u2028", "\ufeff", "\ufffd",
          "\uffff", "\U0001f600", "\U0010ffff"]
PLAIN = string.ascii_letters + string.digits + " "


def random_text(rng, most):
    """A string of at most `most` characters; every third one has nothing awkward in it."""
    n = int(rng.integers(0, most + 1))
    pool = PIECES if rng.integers(3) else PLAIN
    return "".join(pool[int(i)] for i in rng.integers(0, len(pool), n))


# --- columns: n values of one scalar type, as an array of n rows of bytes -------------------------------------

def rows(array):
    return np.ascontiguousarray(array).view(np.uint8).reshape(len(array), -1)


def picked(rng, n, *sources):
    """n rows, each from one of the sources (arrays of n rows)."""
    which = rng.integers(0, len(sources), n)
    out = sources[0].copy()
    for i, s in enumerate(sources[1:], 1):
        out[which == i] = s[which == i]
    return out


def from_pool(rng, n, pool):
    return np.array([np.frombuffer(p, np.uint8) for p in pool]).reshape(len(pool), -1)[rng.integers(0, len(pool), n)]


def int_column(rng, n, leaf):
    if leaf.bits < 8:
        return rng.integers(0, 256, (n, 1), dtype=np.uint8)
    code = f"<{leaf.kind}{leaf.size}"
    lo, hi = np.iinfo(code).min, np.iinfo(code).max
    edges = np.array(sorted({lo, lo + 1, hi, hi - 1, 0, 1, 9, 10, 99, 100, *([-1, -9, -10] if lo else []), *(10 ** k for k in range(20) if 10 ** k <= hi),
                             *(10 ** k - 1 for k in range(20) if 10 ** k <= hi)}), code)
    wide = rng.integers(lo, hi, n, dtype=np.dtype(code).type, endpoint=True).astype(code)
    few = (wide >> np.array(rng.integers(0, 8 * leaf.size, n), code)).astype(code)         # numbers of every length
    return picked(rng, n, rows(wide), rows(few), rows(edges[rng.integers(0, len(edges), n)]), rows(np.arange(n).astype(code)))


FLOAT_EDGES = [0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 1e-5, 1e-4, 9.999e-5, 1e15, 1e16, 9999999999999998.0, 123456789.0, 16777216.0, 1e22, 1e23, 65504.0,
               float("inf"), float("-inf"), float("nan"), 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e-45, 3.4028235e38, 6e-8]


def float_column(rng, n, size, form, tame=False):
    anything = rng.integers(0, 256, (n, size), dtype=np.uint8)
    if form:
        return anything
    code = f"<f{size}"
    with np.errstate(all="ignore"):
        edges = np.array(FLOAT_EDGES).astype(code)[rng.integers(0, len(FLOAT_EDGES), n)]
        short = (rng.integers(-99999, 99999, n) / 10.0 ** rng.integers(0, 6, n)).astype(code)
        whole = (rng.integers(-2 ** 40, 2 ** 40, n) >> rng.integers(0, 40, n)).astype(code)
        if tame:
            return rows(short / 8 if size == 2 else short)
        near = (rng.uniform(-1, 1, n) * 10.0 ** rng.integers(-12, 20, n)).astype(code)
    return picked(rng, n, anything, rows(edges), rows(short), rows(whole), rows(near))


SPANS = {"Y": 12000, "M": 140000, "W": 600000, "D": 4200000, "h": 10 ** 8, "m": 6 * 10 ** 9, "s": 4 * 10 ** 11, "ms": 4 * 10 ** 14, "us": 4 * 10 ** 17}


def time_column(rng, n, leaf):
    """Counts around 1970, over all 64 bits, and NaT."""
    span = max(2, SPANS.get(leaf.unit, 2 ** 62) // leaf.scale)
    near = rng.integers(-span, span, n)
    edges = np.array([0, 1, -1, ref.NAT, ref.NAT + 1, 2 ** 63 - 1, 86399, 86400, -719528, -719529])[rng.integers(0, 10, n)]
    return picked(rng, n, rows(near), rows(near // 1000), rows(edges), rows(rng.integers(-2 ** 63, 2 ** 63 - 1, n)))


def text_pool(rng, leaf):
    if leaf.kind == "V":
        return [rng.bytes(leaf.size) for _ in range(12)] + [bytes(leaf.size)]
    if leaf.kind == "S":
        some = [random_text(rng, leaf.size).encode()[:leaf.size] for _ in range(9)] + [rng.bytes(leaf.size) for _ in range(3)]
        return [s.ljust(leaf.size, b"\0") for s in some]
    some = [random_text(rng, leaf.size // 4).encode("utf-32-le") for _ in range(10)]
    odd = [0xd800, 0xdfff, 0x110000, 0xffffffff, 0x41, 0]             # no Unicode scalars, most of them
    some += [struct.pack(f"<{leaf.size // 4}I", *[odd[int(i)] for i in rng.integers(0, len(odd), leaf.size // 4)])]
    return [s.ljust(leaf.size, b"\0") for s in some]


def column(rng, n, leaf, tame=False):
    if leaf.kind == "b":
        return rng.integers(0, 2, (n, 1), dtype=np.uint8)
    if leaf.kind in "iu":
        return int_column(rng, n, leaf)
    if leaf.kind == "f":
        return float_column(rng, n, leaf.size, leaf.form, tame)
    if leaf.kind == "c":
        half = leaf.size // 2
        return np.hstack([float_column(rng, n, half, leaf.form), float_column(rng, n, half, leaf.form)])
    if leaf.kind in "Mm":
        return time_column(rng, n, leaf)
    if leaf.size == 0:
        return np.zeros((n, 0), np.uint8)
    return from_pool(rng, n, text_pool(rng, leaf))


def held(rng, column):
    """The same values, or each for a run of records: what neighbours have in common is rendered once."""
    run = [1, 1, 13, 150, len(column)][rng.integers(5)]
    return column[np.arange(len(column)) // run * run]


def records(typ, n, seed, tame=False):
    """n records. tame: floats one can compute with."""
    out = np.zeros((n, typ.size), np.uint8)
    if n == 0:
        return b""
    for k, (at, leaf) in enumerate(ref.leaves(typ)):
        rng = np.random.default_rng([seed, k])
        out[:, at:at + leaf.size] = held(rng, column(rng, n, leaf, tame))
    return out.tobytes()


def random_json(rng, depth=0):
    kind = int(rng.integers(0, 9 if depth < 2 else 6))
    if kind < 3:
        return random_text(rng, 8)
    if kind == 3:
        return None
    if kind == 4:
        return bool(rng.integers(2))
    if kind == 5:
        return int(rng.integers(-2 ** 40, 2 ** 40)) if rng.integers(2) else float(rng.integers(-99, 99)) / 8
    if kind < 8:
        return [random_json(rng, depth + 1) for _ in range(rng.integers(0, 3))]
    return {random_text(rng, 3): random_json(rng, depth + 1) for _ in range(rng.integers(0, 3))}


def items(typ, n, seed):
    """n values of a variable-length type: str, bytes, or whatever JSON knows."""
    rng = np.random.default_rng([seed, 0])
    long = int(rng.integers(0, 80))                  # sometimes one line is longer than a request
    make = {"string": lambda: random_text(rng, 12 if rng.integers(8) else 300) if rng.integers(40) != long else random_text(rng, 150000), "bytes": lambda: rng.bytes(int(rng.integers(0, 9))),
            "json": lambda: random_json(rng)}[typ.kind]
    return [make() for _ in range(n)]


# --- fill values -------------------------------------------------------------------------------------------------

def tame_fill(typ, raw):
    """The record without what a fill value cannot say in every form: NaN payloads, no Unicode scalars, NULs at the end, bits that do not count."""
    out = bytearray(raw)
    for at, leaf in ref.leaves(typ):
        part = raw[at:at + leaf.size]
        if leaf.kind in "fc":
            half = leaf.size // (2 if leaf.kind == "c" else 1)
            for k in range(at, at + leaf.size, half):
                out[k:k + half] = tame_float(raw[k:k + half], leaf.form)
        elif leaf.kind == "U":
            text = ref.code_points(part).replace("\ufffd", "?").encode("utf-32-le")
            out[at:at + leaf.size] = text.ljust(leaf.size, b"\0")
        elif leaf.bits < 8 and leaf.kind in "iu":
            out[at:at + 1] = ref.int_of(leaf, part).to_bytes(1, "little", signed=leaf.kind == "i")
    return bytes(out)


def tame_float(raw, form):
    bits = int.from_bytes(raw, "little")
    if form:
        expbits, mantbits, _, style = ref.FORMATS[form]
        bits &= (1 << (expbits + mantbits + (style != "e8m0"))) - 1
        raw = bits.to_bytes(len(raw), "little")
    return ref.float_bits("NaN", len(raw), form) if ref.float_text(raw, form) == "nan" else raw


def float_json(raw, form, hexed):
    text = ref.float_text(raw, form)
    if hexed:
        return "0x" + raw[::-1].hex()
    if text in ("nan", "inf", "-inf"):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[text]
    return float(text)


def base64_of(raw):
    return base64.b64encode(raw).decode()


def fill_json(typ, raw, rng, v2=False, big=False, packed=False):
    """The JSON of a fill record; rng picks among the forms of scalars. packed: base64 of the record (always in v2)."""
    if isinstance(typ, ref.Struct):
        if v2 or packed:
            return base64_of(ref.little(typ, raw, None if v2 else big))
        return {n: fill_json(t, raw[o:o + t.size], rng) for n, t, o, _ in typ.fields}
    kind = typ.kind
    if kind == "b":
        return bool(raw[0]) if not v2 or rng.random() < .7 else raw[0]
    if kind in "iu":
        n = ref.int_of(typ, raw)
        return float(n) if abs(n) < 2 ** 50 and rng.random() < .1 else n
    if kind == "f":
        return float_json(raw, typ.form, not v2 and rng.random() < .2)
    if kind == "c":
        half = typ.size // 2
        return [float_json(raw[:half], typ.form, False), float_json(raw[half:], typ.form, False)]
    if kind in "Mm":
        n = ref.int_of(typ, raw)
        return "NaT" if n == ref.NAT and rng.random() < .7 else n
    if kind == "U":
        return ref.code_points(raw)
    if kind == "S":
        return base64_of(raw.rstrip(b"\0"))
    return list(raw) if typ.unit == "r" and rng.random() < .8 else base64_of(raw)


# --- the NumPy types that writers are given ------------------------------------------------------------------------

def standin(leaf, stored=False):
    """A NumPy type of the same bytes and the same order rule. stored: in the order on disk (v2)."""
    big = ">" if stored and leaf.big else "<"
    if leaf.kind == "c" and ref.no_numpy(leaf):
        half = f"{big}u{leaf.size // 2}"
        return [("re", half), ("im", half)]
    if ref.no_numpy(leaf):
        return f"{big}u{leaf.size}"
    code = ref.numpy_type(leaf)
    return big + code[1:] if code[0] == "<" else code


def writer_type(typ, stored=False):
    """The NumPy type; fields get plain names, f0, f1 and so on."""
    if isinstance(typ, ref.Struct):
        return [(f"f{i}", writer_type(t.base, stored), t.shape) if isinstance(t, ref.Sub) else (f"f{i}", writer_type(t, stored))
                for i, (_, t, _, _) in enumerate(typ.fields)]
    return standin(typ, stored)


def spelled(v):
    """JSON text with NaN tokens left as Python spells them."""
    return json.dumps(v, ensure_ascii=False)
