#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reference model of a zarrfs mount: what every file must hold, byte for byte.

    reference.py dump STORE OUTDIR    write the expected tree of STORE (directory or .zip, v2 or v3)
    reference.py selftest             check the number, name and string rules against brute force

Simple and slow on purpose; it shares nothing with any implementation.
Every array is read twice where that is possible: by zarr-python, and by the small reader in part 2, which
also reads what zarr-python refuses. Both must give the same bytes; `dump` says on stderr which were used.

The tree has the text at its root and the other forms beside it, in .csv, .raw, .npy and .zarr; each of the five has the same
directories, one for each group and array. Some are empty.
schema.json and chunks.tsv are left out. unreadable.txt is written, its text is not to be compared.
The .npy headers and attributes.json are to be compared as values, not as bytes.
"""
import base64
import bisect
import functools
import json
import os
import re
import shutil
import struct
import sys
import warnings
import zipfile
from fractions import Fraction

import numpy as np

warnings.simplefilter("ignore")

MAIN, CSV, RAW, NPY, ZARR = TREES = b"", b".csv", b".raw", b".npy", b".zarr"
RESERVED = {b"records.jsonl", b"records.csv", b"records", b"records.npy", b"unreadable.txt",      # in every tree
            b"zarr.json", b"attributes.json", b"schema.json", b"chunks.tsv"}
NAME_MAX = 255
DISAGREE = []         # paths of arrays that zarr-python reads otherwise
ARRAYS = {}           # path of an array that can be read: its description
ROWS = {}             # path of an array: its records, packed and little-endian, or the list of its items
FIXED = [False]       # whether field files have columns of constant width (see the option text)
NONFINITE = {}        # how JSON says nan, inf and -inf: null where nothing is said (see the option nonfinite)
HOW = {}              # path of a node: how it was read, or why not


class Unreadable(Exception):
    """The array as a whole cannot be read; the text says why."""


# ---------------------------------------------------------------------------------------------------------
# Part 1. Types. A type is a tree; offsets and sizes are those of the packed record, as stored.
# ---------------------------------------------------------------------------------------------------------

class Scalar:
    def __init__(self, kind, size, unit="", scale=1, big=False, form="", bits=0):
        self.kind = kind          # b i u f c S U V M m, or "string" / "bytes" / "json" / "list" (variable length, size 0)
        self.size = size
        self.unit, self.scale = unit, scale
        self.big = big            # order on disk
        self.form = form          # f, c: a format of FORMATS that NumPy lacks; "" IEEE 754 of that size
        self.bits = bits or 8 * size      # i, u: the bits that count, the lower ones

    def swap_unit(self):          # how many bytes are reversed together
        return {"c": self.size // 2, "U": 4, "b": 1, "S": 1, "V": 1}.get(self.kind, self.size)


class Items(Scalar):
    """Of variable length: a list of numbers or times, packed and little-endian."""
    def __init__(self, item):
        super().__init__("list", 0)
        self.item = item

    def parts(self, raw):
        return [raw[i:i + self.item.size] for i in range(0, len(raw), self.item.size)]


class Struct:
    def __init__(self, fields):   # [(name, type, hidden)]
        self.fields = []
        at = 0
        for name, typ, hidden in fields:
            self.fields.append((name, typ, at, hidden))
            at += typ.size
        self.size = at

    def shown(self):
        return [(n, t, o) for n, t, o, hidden in self.fields if not hidden]


class Sub:                        # a subarray of a fixed shape (v2 only)
    def __init__(self, base, shape):
        self.base, self.shape = base, tuple(shape)
        self.count = int(np.prod(self.shape, dtype=np.int64))
        self.size = base.size * self.count


def leaves(typ, at=0):
    """(offset, scalar) of every leaf, elements of subarrays one by one."""
    if isinstance(typ, Scalar):
        yield at, typ
    elif isinstance(typ, Sub):
        for i in range(typ.count):
            yield from leaves(typ.base, at + i * typ.base.size)
    else:
        for _, t, off, _ in typ.fields:
            yield from leaves(t, at + off)


def is_vlen(typ):
    return isinstance(typ, Scalar) and typ.kind in ("string", "bytes", "json", "list")


def has_hidden(typ):
    if isinstance(typ, Struct):
        return any(h or has_hidden(t) for _, t, _, h in typ.fields)
    return isinstance(typ, Sub) and has_hidden(typ.base)


TYPESTR = re.compile(r"^([<>|=]?)([biufcSUVMmO])(\d*)(?:\[(\d*)(\w+)\])?$")
SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16), "M": (8,), "m": (8,)}


def type_v2(d):
    """The `dtype` member of .zarray."""
    if isinstance(d, str):
        m = TYPESTR.match(d)
        if not m:
            raise Unreadable(f"dtype {d!r} is not understood")
        order, kind, num, scale, unit = m.groups()
        if kind == "O":
            raise Unreadable("dtype |O inside a struct")
        size = int(num or 0)
        if kind in SIZES and size not in SIZES[kind]:
            raise Unreadable(f"dtype {d!r} is not supported")
        if kind == "U":
            size *= 4
        return Scalar(kind, size, unit or ("generic" if kind in "Mm" else ""), int(scale or 1), order == ">")
    if not isinstance(d, list) or not d:
        raise Unreadable("dtype is neither a string nor a list of fields")
    out = []
    for entry in d:
        name, typ = entry[0], type_v2(entry[1])
        if isinstance(name, list):            # [title, name]
            name = name[1]
        if len(entry) > 2 and entry[2] != []:
            shape = entry[2] if isinstance(entry[2], list) else [entry[2]]
            typ = Sub(typ, shape)
        hidden = name == "" and isinstance(entry[1], str) and "V" in entry[1]
        out.append((name, typ, hidden))
    return Struct(out)


CORE_V3 = {"bool": ("b", 1), "int8": ("i", 1), "int16": ("i", 2), "int32": ("i", 4), "int64": ("i", 8),
           "uint8": ("u", 1), "uint16": ("u", 2), "uint32": ("u", 4), "uint64": ("u", 8),
           "float16": ("f", 2), "float32": ("f", 4), "float64": ("f", 8),
           "complex64": ("c", 8), "complex128": ("c", 16),
           "complex_float16": ("c", 4), "complex_float32": ("c", 8), "complex_float64": ("c", 16)}
FORMATS = {"bfloat16": (8, 7, 127, "ieee"), "float8_e3m4": (3, 4, 3, "ieee"), "float8_e4m3": (4, 3, 7, "ieee"),       # bits of the exponent
           "float8_e5m2": (5, 2, 15, "ieee"), "float8_e4m3fn": (4, 3, 7, "fn"), "float8_e4m3b11fnuz": (4, 3, 11, "fnuz"),  # and the mantissa,
           "float8_e4m3fnuz": (4, 3, 8, "fnuz"), "float8_e5m2fnuz": (5, 2, 16, "fnuz"), "float8_e8m0fnu": (8, 0, 127, "e8m0"),  # bias, what is no number
           "float6_e2m3fn": (2, 3, 1, "finite"), "float6_e3m2fn": (3, 2, 3, "finite"), "float4_e2m1fn": (2, 1, 1, "finite")}
BITS_V3 = {"int2": ("i", 2), "int4": ("i", 4), "uint2": ("u", 2), "uint4": ("u", 4)}
BY_LENGTH_V3 = {"fixed_length_utf32": "U", "null_terminated_bytes": "S", "raw_bytes": "V"}
VLEN_V3 = {"string": "string", "bytes": "bytes", "variable_length_bytes": "bytes", "binary": "bytes"}


def type_v3(d, inside=False):
    """The `data_type` member of zarr.json, or a field's."""
    name, conf = (d, {}) if isinstance(d, str) else (d["name"], d.get("configuration", {}))
    if name in CORE_V3:
        return Scalar(*CORE_V3[name])
    if name in BITS_V3:
        return Scalar(BITS_V3[name][0], 1, bits=BITS_V3[name][1])
    if name.removeprefix("complex_") in FORMATS:
        form = name.removeprefix("complex_")
        size = 2 if form == "bfloat16" else 1
        return Scalar("f", size, form=form) if form == name else Scalar("c", 2 * size, form=form)
    if re.fullmatch(r"r[1-9]\d*", name) and int(name[1:]) % 8 == 0:
        return Scalar("V", int(name[1:]) // 8, unit="r")
    if name in BY_LENGTH_V3:
        return Scalar(BY_LENGTH_V3[name], int(conf["length_bytes"]))
    if name in ("numpy.datetime64", "numpy.timedelta64"):
        unit = "us" if conf["unit"] == "\u03bcs" else conf["unit"]
        return Scalar("M" if "date" in name else "m", 8, unit, int(conf["scale_factor"]))
    if name in VLEN_V3 and not inside:
        return Scalar(VLEN_V3[name], 0)
    if name in ("struct", "structured"):
        out, seen = [], set()
        for f in conf["fields"]:
            fname, ftype = (f["name"], f["data_type"]) if isinstance(f, dict) else f
            if fname in seen:
                raise Unreadable(f"field name {fname!r} is used twice")
            seen.add(fname)
            out.append((fname, type_v3(ftype, True), False))
        if not out:
            raise Unreadable("a struct without fields")
        return Struct(out)
    raise Unreadable(f"data type {name!r} is not supported")


# --- fill values: JSON to the bytes of one record, little-endian -------------------------------------------

def unbase64(text):
    return base64.b64decode(text, validate=True)


def float_bits(value, size, form=""):
    if form:
        return small_bits(value, size, form)
    code = {2: "<f2", 4: "<f4", 8: "<f8"}[size]
    if isinstance(value, str):
        if value.startswith("0x"):
            return int(value, 16).to_bytes(size, "little")
        if value == "NaN":
            return {2: 0x7e00, 4: 0x7fc00000, 8: 0x7ff8000000000000}[size].to_bytes(size, "little")
        value = {"Infinity": float("inf"), "-Infinity": float("-inf")}.get(value, value)
    return np.array(float(value), code).tobytes()


def fill_scalar(typ, v, v2):
    kind, size = typ.kind, typ.size
    if kind == "string":
        return "" if v is None or v == 0 else v
    if kind == "json":                    # false is no 0
        return json_row("" if v is None or v == 0 and v is not False else v)
    if kind == "list":
        if v not in (None, 0, ""):
            raise Unreadable("fill_value is no empty list")
        return b""
    if kind == "bytes":
        if v is None or v == 0:
            return b""
        return bytes(v) if isinstance(v, list) else unbase64(v)
    if v is None:                         # undefined: zero, but for a time that would be a date no one meant
        return (NAT).to_bytes(8, "little", signed=True) if kind in "Mm" else bytes(size)
    if kind == "b":
        return b"\1" if v else b"\0"
    if kind in "iu":
        if isinstance(v, float) and v != int(v):
            raise Unreadable("fill_value of an integer is not integral")
        v = int(v)
        if not -(kind == "i") * 2 ** (typ.bits - 1) <= v < 2 ** (typ.bits - (kind == "i")):
            raise Unreadable("fill_value is out of range")
        return v.to_bytes(size, "little", signed=kind == "i")
    if kind == "f":
        return float_bits(v, size, typ.form)
    if kind == "c":
        return float_bits(v[0], size // 2, typ.form) + float_bits(v[1], size // 2, typ.form)
    if kind in "Mm":
        return (-2 ** 63 if v == "NaT" else int(v)).to_bytes(8, "little", signed=True)
    if kind == "U":
        raw = b"".join(ord(c).to_bytes(4, "little") for c in ("" if v == 0 else v))
    elif isinstance(v, list):
        raw = bytes(v)
    else:
        raw = b"" if v == 0 else unbase64(v)
    if len(raw) > size:
        raise Unreadable("fill_value is longer than its type")
    return raw + bytes(size - len(raw))


def fill_record(typ, v, v2, big):
    """`big`: order of a base64 record under v3 (v2 keeps the order of each field)."""
    if isinstance(typ, Scalar):
        return fill_scalar(typ, v, v2)
    if isinstance(v, str):                # a record as base64; no scalar's own spelling has that length
        try:
            raw = unbase64(v)
        except ValueError:
            raw = b""
        if len(raw) == typ.size:
            return little(typ, raw, None if v2 else big)
    if v2 and type(v) is int and v == 0:  # before the next: a complex field has no such form
        return bytes(typ.size)
    if isinstance(typ, Struct) and len(typ.fields) == 1 and v is not None and not isinstance(v, dict):
        return fill_record(typ.fields[0][1], v, v2, big)          # tensorstore gives the bare scalar
    if v is None or v == 0:
        return bytes(typ.size)
    if isinstance(v, str):
        raise Unreadable("fill_value is not base64 of one record")
    if isinstance(typ, Struct):
        out = b""
        for name, t, _, _ in typ.fields:
            out += fill_record(t, v[name], v2, big)
        return out
    raise Unreadable("fill_value is not understood")


def little(typ, raw, big=None):
    """Stored records to little-endian ones. big None: every field by its own flag."""
    m = np.frombuffer(raw, np.uint8).reshape(-1, typ.size).copy()
    if not len(m):
        return b""
    for at, leaf in leaves(typ):
        unit = leaf.swap_unit()
        if (leaf.big if big is None else big) and unit > 1:
            part = m[:, at:at + leaf.size].reshape(len(m), -1, unit)[:, :, ::-1]
            m[:, at:at + leaf.size] = part.reshape(len(m), leaf.size)
    return m.tobytes()


# ---------------------------------------------------------------------------------------------------------
# Part 2. The small reader: stores, metadata, codecs, chunks. It needs numcodecs for compressors, no zarr.
# ---------------------------------------------------------------------------------------------------------

class DirStore:
    def __init__(self, root):
        self.root = root

    def get(self, key):
        try:
            with open(os.path.join(self.root, key), "rb") as f:
                return f.read()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def dirs(self, path):
        p = os.path.join(self.root, path)
        return sorted(d for d in os.listdir(p) if os.path.isdir(os.path.join(p, d))) if os.path.isdir(p) else []


class ZipStore:
    def __init__(self, path, node=""):
        self.path = path
        self.zip = zipfile.ZipFile(path)
        self.names = {i.filename: i for i in self.zip.infolist()}     # the last of duplicates wins
        tops = {n.split("/")[0] for n in self.names}
        self.folder = ""                         # one folder around everything is looked through
        if len(tops) == 1 and not tops & set(NODE_DOCUMENTS) and all("/" in n for n in self.names):
            self.folder, = tops
            self.names = {n[len(self.folder) + 1:]: i for n, i in self.names.items()}
        if node:                                 # a node inside as the root
            self.folder = join(self.folder, node)
            self.names = {n[len(node) + 1:]: i for n, i in self.names.items() if n.startswith(node + "/")}

    def get(self, key):
        info = self.names.get(key)
        return None if info is None else self.zip.read(info)

    def dirs(self, path):
        pre = path + "/" if path else ""
        return sorted({n[len(pre):].split("/")[0] for n in self.names
                       if n.startswith(pre) and "/" in n[len(pre):]})


def json_members(text):
    """(name, text of the value) of every member of an object, as written."""
    space = re.compile(r"[ \t\n\r]*").match
    at = space(text, text.index("{") + 1).end()
    while text[at] != "}":
        name, at = json.decoder.scanstring(text, at + 1)
        at = space(text, space(text, at).end() + 1).end()
        end = json.JSONDecoder().raw_decode(text, at)[1]
        yield name, text[at:end]
        at = space(text, end).end()
        at = space(text, at + (text[at] == ",")).end()


class Consolidated:
    """A store, and the copies of documents in its groups' consolidated metadata. A node that has a document of its own is described by its own alone."""
    def __init__(self, base):
        self.base, self.copies = base, {}

    def learn(self, group):
        """The copies that a group holds; those of a group above come first."""
        doc = self.get(join(group, "zarr.json"))
        if doc is not None and b"consolidated_metadata" in doc:
            inline = dict(json_members(doc.decode())).get("consolidated_metadata", "null")
            if inline != "null":
                inline = dict(json_members(inline))
                assert (inline["kind"], inline["must_understand"]) == ('"inline"', "false")
                for rel, text in json_members(inline["metadata"]):
                    self.copies.setdefault(join(join(group, rel), "zarr.json"), text.encode())
        doc = self.base.get(join(group, ".zmetadata")) or self.base.get(join(group, "zmetadata"))
        if doc is not None:
            members = dict(json_members(doc.decode()))
            assert members["zarr_consolidated_format"] == "1"
            for rel, text in json_members(members["metadata"]):
                self.copies.setdefault(join(group, rel), text.encode())

    def is_copy(self, path):
        """Whether the node has no document of its own."""
        return all(self.base.get(join(path, k)) is None for k in NODE_DOCUMENTS)

    def get(self, key):
        raw = self.base.get(key)
        return self.copies.get(key) if raw is None and key in self.copies and self.is_copy(os.path.dirname(key)) else raw

    def dirs(self, path):
        pre = path + "/" if path else ""
        return sorted({*self.base.dirs(path), *(k[len(pre):].split("/")[0] for k in self.copies if k.startswith(pre) and "/" in k[len(pre):])})


def open_store(path):
    if os.path.isdir(path):
        return DirStore(path)
    node = []
    while not os.path.isfile(path) and os.path.dirname(path) != path:
        path, name = os.path.split(path)
        node.insert(0, name)
    return ZipStore(path, "/".join(node))


def join(path, name):
    return f"{path}/{name}" if path else name


class Array:
    """shape, chunks, typ, fill (bytes of one record, or str/bytes), key(index), slash(index) or None, decode(bytes)."""


def dimension_names(own, attributes, rank):
    """The member dimension_names; where it is absent or all null, the attribute _ARRAY_DIMENSIONS."""
    names = own
    if not names or all(n is None for n in names):
        names = attributes.get("_ARRAY_DIMENSIONS") if isinstance(attributes, dict) else None
    return names if isinstance(names, list) and len(names) == rank else None


def array_v2(meta, attributes):
    a = Array()
    a.v2 = True
    a.shape, a.chunks = tuple(meta["shape"]), tuple(meta["chunks"])
    filters = list(meta.get("filters") or [])
    if meta["dtype"] == "|O":
        ids = [f["id"] for f in filters]
        if ids[:1] == ["vlen-utf8"]:
            a.typ = Scalar("string", 0)
        elif ids[:1] == ["vlen-bytes"]:
            a.typ = Scalar("bytes", 0)
        elif ids[:1] == ["json2"]:
            a.typ = Scalar("json", 0)
        elif ids[:1] == ["categorize"]:
            a.typ = Scalar("string", 0)
        elif ids[:1] == ["vlen-array"]:
            a.typ = Items(type_v2(filters[0]["dtype"]))
            if not isinstance(a.typ.item, Scalar) or a.typ.item.kind not in "biufMm":
                raise Unreadable(f"lists of {filters[0]['dtype']!r}")
        else:
            raise Unreadable(f"dtype |O with filters {ids}")
        filters = filters[ids[0] != "categorize":]
    else:
        a.typ = type_v2(meta["dtype"])
    a.fill = fill_record(a.typ, meta.get("fill_value"), True, False)
    a.dims = dimension_names(None, attributes, len(a.shape))
    sep = meta.get("dimension_separator", ".")
    a.key = lambda idx: sep.join(map(str, idx)) if idx else "0"
    a.slash = None if "dimension_separator" in meta else lambda idx: "/".join(map(str, idx)) if idx else "0"
    import numcodecs
    try:
        chain = ([numcodecs.get_codec(dict(meta["compressor"]))] if meta["compressor"] else [])
        chain += [numcodecs.get_codec(dict(f)) for f in reversed(filters)]
    except Exception as e:
        raise Unreadable(f"codec: {e}")
    order = meta.get("order", "C")
    if isinstance(a.typ, Scalar) and a.typ.kind == "json":
        order = "C"                       # the list is in the logical order, whatever the memory order

    def decode(raw):
        for c in chain:
            raw = c.decode(raw)
        if getattr(raw, "dtype", None) == object:                                # of categorize
            return np.array([v.encode() for v in raw] + [None], object)[:-1].reshape(a.chunks, order=order)
        raw = raw.tobytes() if hasattr(raw, "tobytes") else bytes(raw)
        if is_vlen(a.typ):
            flat = np.empty(int(np.prod(a.chunks, dtype=int)), object)
            items = json_items(raw) if a.typ.kind == "json" else vlen_items(raw, a.typ)
            assert len(items) == len(flat), "number of items"
            if a.typ.kind == "list":
                items = [little(a.typ.item, v) for v in items]
            flat[:] = items
        else:
            flat = records(little(a.typ, raw), a.typ)
        return flat.reshape(a.chunks, order=order)
    a.decode = decode
    return a


def records(raw, typ):
    return np.frombuffer(raw, np.dtype((np.void, typ.size)))


def vlen_items(raw, typ):
    n, = struct.unpack_from("<I", raw)
    at, out = 4, []
    for _ in range(n):
        size, = struct.unpack_from("<I", raw, at)
        item = raw[at + 4:at + 4 + size]
        assert len(item) == size, "short item"
        out.append(item)                # strings stay bytes here: rendering decodes them
        at += 4 + size
    assert at == len(raw), "bytes after the last item"
    return out


def json_row(v):
    """An item of a json2 chunk: s and the UTF-8 of a string, or j and the JSON text of any other value."""
    if isinstance(v, str):
        return b"s" + scalars_only(v).encode()
    return b"j" + json_value(v).encode()


def json_value(v):
    """Compact strict JSON; members in the stored order, numbers as Python spells them, null for NaN and the infinities."""
    if isinstance(v, list):
        return "[" + ",".join(map(json_value, v)) + "]"
    if isinstance(v, dict):
        return "{" + ",".join(json_string(scalars_only(k)) + ":" + json_value(x) for k, x in v.items()) + "}"
    if isinstance(v, float) and (v != v or v in (float("inf"), float("-inf"))):
        return "null"
    return json_string(scalars_only(v)) if isinstance(v, str) else json.dumps(v)


def scalars_only(text):
    """Lone surrogates become U+FFFD."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def json_items(raw):
    """The chunk of the filter json2: [items..., dtype, shape]; the items are nested as the shape is, or flat."""
    *items, _, shape = json.loads(raw.decode("utf-8"))

    def flat(level, sizes):
        if not sizes:
            return [level]
        if not isinstance(level, list) or len(level) != sizes[0]:
            raise ValueError("json2: the items do not fit the shape")
        return [x for part in level for x in flat(part, sizes[1:])]
    try:
        items = flat(items, shape or [1])
    except ValueError:
        if len(items) != int(np.prod(shape, dtype=int)):
            raise
    return [json_row(v) for v in items]


KNOWN_V3 = {"zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value",
            "codecs", "attributes", "dimension_names", "storage_transformers", "consolidated_metadata"}


def array_v3(meta):
    for k, v in meta.items():
        if k not in KNOWN_V3 and not (isinstance(v, dict) and v.get("must_understand") is False):
            raise Unreadable(f"unknown member {k!r}")
    if meta["zarr_format"] != 3:
        raise Unreadable("zarr_format is not 3")
    if meta.get("storage_transformers"):
        raise Unreadable("storage_transformers")
    a = Array()
    a.v2, a.slash = False, None
    a.shape = tuple(meta["shape"])
    grid = meta["chunk_grid"]
    if grid["name"] != "regular":
        raise Unreadable(f"chunk grid {grid['name']!r}")
    a.chunks = tuple(max(1, c) for c in grid["configuration"]["chunk_shape"])
    if len(a.chunks) != len(a.shape):
        raise Unreadable("chunk_shape and shape have different lengths")
    a.typ = type_v3(meta["data_type"])
    chain = [c if isinstance(c, dict) else {"name": c} for c in meta["codecs"]]
    check_chain(chain)
    wide = not is_vlen(a.typ) and any(leaf.swap_unit() > 1 for _, leaf in leaves(a.typ))
    legacy = isinstance(meta["data_type"], dict) and meta["data_type"]["name"] == "structured"
    if wide and not legacy and "endian" not in bottom(chain).get("configuration", {}):
        raise Unreadable("the bytes codec has no endian")
    a.big = bottom_big(chain)
    a.fill = fill_record(a.typ, meta["fill_value"], False, a.big)
    a.dims = dimension_names(meta.get("dimension_names"), meta.get("attributes"), len(a.shape))
    enc = meta["chunk_key_encoding"]
    name, conf = enc["name"], enc.get("configuration", {})
    sep = conf.get("separator", "/" if name == "default" else ".")
    if name == "default":
        a.key = lambda idx: sep.join(["c", *map(str, idx)])
    else:
        a.key = lambda idx: sep.join(map(str, idx)) if idx else "0"
    a.decode = lambda raw: decode_v3(chain, raw, a.chunks, a.typ, a.fill)
    return a


NUMBER_CODECS = {"numcodecs.delta", "numcodecs.fixedscaleoffset", "numcodecs.quantize", "numcodecs.astype", "numcodecs.bitround",
                 "numcodecs.packbits"}                         # elements to elements, of another type as may be
ARRAY_CODECS = {"transpose"} | NUMBER_CODECS
BYTES_CODECS = {"gzip", "zstd", "blosc", "crc32c", "numcodecs.zlib", "numcodecs.bz2", "numcodecs.lzma", "numcodecs.lz4",
                "numcodecs.gzip", "numcodecs.zstd", "numcodecs.blosc", "numcodecs.crc32", "numcodecs.crc32c",
                "numcodecs.adler32", "numcodecs.fletcher32", "numcodecs.jenkins_lookup3", "numcodecs.shuffle"}
SERIALIZERS = {"bytes", "sharding_indexed", "vlen-utf8", "vlen-bytes"}


def check_chain(chain):
    for c in chain:
        if c["name"] not in ARRAY_CODECS | BYTES_CODECS | SERIALIZERS:
            raise Unreadable(f"codec {c['name']!r} is unknown")
        if c["name"] == "sharding_indexed":
            check_chain(c["configuration"]["codecs"])
            check_chain(c["configuration"]["index_codecs"])


def bottom(chain):
    """The array-to-bytes codec that lays out the records: the innermost one when sharded."""
    for c in chain:
        if c["name"] == "sharding_indexed":
            return bottom(c["configuration"]["codecs"])
        if c["name"] in SERIALIZERS:
            return c
    raise Unreadable("no array-to-bytes codec")


def bottom_big(chain):
    endian = bottom(chain).get("configuration", {}).get("endian", "little")
    if endian not in ("little", "big"):
        raise Unreadable(f"endian {endian!r}")
    return endian == "big"


def crc_step(byte):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
    return byte


CRC_TABLE = [crc_step(byte) for byte in range(256)]


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 255]
    return crc ^ 0xffffffff


def decode_bytes_codec(c, raw):
    import numcodecs
    name, conf = c["name"], dict(c.get("configuration", {}))
    if name == "crc32c":
        body, tail = raw[:-4], raw[-4:]
        assert crc32c(body) == int.from_bytes(tail, "little"), "crc32c"
        return body
    if name.startswith("numcodecs."):
        out = numcodecs.get_codec({"id": name[10:], **conf}).decode(raw)
    elif name == "blosc":
        out = numcodecs.Blosc().decode(raw)
    elif name == "zstd":
        out = numcodecs.Zstd().decode(raw)
    else:
        out = numcodecs.GZip().decode(raw)
    return bytes(out) if not hasattr(out, "tobytes") else out.tobytes()


def decode_v3(chain, raw, shape, typ, fill):
    pre = chain[:next(i for i, c in enumerate(chain) if c["name"] in SERIALIZERS)]
    mid = next(c for c in chain if c["name"] in SERIALIZERS)
    post = chain[chain.index(mid) + 1:]
    for c in reversed(post):
        raw = decode_bytes_codec(c, raw)
    steps = [(list(shape), typ)]                 # shape and type in front of each codec of pre
    for c in pre:
        steps.append(encoded_form(c, *steps[-1]))
    inner, typ = steps[-1]
    if mid["name"] == "bytes":
        out = records(little(typ, raw, bottom_big([mid])), typ)
        out = out.reshape(inner)
    elif mid["name"] in ("vlen-utf8", "vlen-bytes"):
        flat = np.empty(int(np.prod(inner, dtype=int)), object)
        flat[:] = vlen_items(raw, typ)
        out = flat.reshape(inner)
    else:
        out = decode_shard(mid["configuration"], raw, inner, typ, fill)
    for c, (before, was) in reversed(list(zip(pre, steps))):
        if c["name"] == "transpose":
            out = out.transpose(np.argsort(transpose_order(c, len(before))))
        else:
            out = decode_numbers(c, out, typ, was).reshape(before)
        typ = was
    return out


def transpose_order(c, rank):
    order = c["configuration"]["order"]
    return {"C": list(range(rank)), "F": list(range(rank))[::-1]}[order] if isinstance(order, str) else order


def encoded_form(c, shape, typ):
    """Shape and type behind an array-to-array codec, when encoding."""
    conf = c.get("configuration", {})
    if c["name"] == "transpose":
        return [shape[i] for i in transpose_order(c, len(shape))], typ
    if not isinstance(typ, Scalar) or typ.kind not in "biuf":
        raise Unreadable(f"codec {c['name']!r} with this data type")
    if c["name"] == "numcodecs.packbits":
        return [1 + -(-int(np.prod(shape, dtype=int)) // 8)], Scalar("u", 1)
    stored = conf.get("encode_dtype" if c["name"] == "numcodecs.astype" else "astype")
    return shape, type_v2(np.dtype(stored).str) if stored else typ


def decode_numbers(c, out, typ, was):
    import numcodecs
    conf = {"dtype": numpy_type(was), "decode_dtype": numpy_type(was), **c.get("configuration", {})}
    for k in ("dtype", "astype", "encode_dtype", "decode_dtype"):       # the bytes here are little-endian ones, the strings may say another order
        if k in conf:
            conf[k] = np.dtype(conf[k]).newbyteorder("<").str
    wanted = {"delta": ("dtype", "astype"), "fixedscaleoffset": ("offset", "scale", "dtype", "astype"), "quantize": ("digits", "dtype", "astype"),
              "astype": ("encode_dtype", "decode_dtype"), "bitround": ("keepbits",), "packbits": ()}[c["name"][10:]]
    codec = numcodecs.get_codec({"id": c["name"][10:], **{k: conf[k] for k in wanted if k in conf}})
    flat = np.frombuffer(np.ascontiguousarray(out).tobytes(), numpy_type(typ))
    return records(np.ascontiguousarray(codec.decode(flat)).astype(numpy_type(was)).tobytes(), was)


def empty(shape, typ, fill):
    if is_vlen(typ):
        out = np.empty(shape, object)
        out[...] = fill.encode() if isinstance(fill, str) else fill
        return out
    n = int(np.prod(shape, dtype=int))
    if n == 0:
        return np.empty(shape, np.dtype((np.void, typ.size)))
    return records(fill * n, typ).reshape(shape).copy()


def decode_shard(conf, raw, shape, typ, fill):
    sub = conf["chunk_shape"]
    counts = [s // c for s, c in zip(shape, sub)]
    assert all(s % c == 0 for s, c in zip(shape, sub))
    n = int(np.prod(counts, dtype=int))
    size = 16 * n + (4 if any(c["name"] == "crc32c" for c in conf["index_codecs"]) else 0)
    assert len(raw) >= size, "shorter than its index"
    index = raw[:size] if conf.get("index_location", "end") == "start" else raw[len(raw) - size:]
    pair = Struct([("offset", Scalar("u", 8), False), ("nbytes", Scalar("u", 8), False)])
    index = decode_v3(conf["index_codecs"], index, counts, pair, bytes(16))
    out = empty(shape, typ, fill)
    for idx in np.ndindex(*counts):
        at, length = struct.unpack("<QQ", index[idx].tobytes())
        if at == length == 2 ** 64 - 1:
            continue
        assert at + length <= len(raw), "outside the shard"
        part = decode_v3(conf["codecs"], raw[at:at + length], sub, typ, fill)
        if sub:
            out[tuple(slice(i * c, i * c + c) for i, c in zip(idx, sub))] = part
        else:
            out = part
    return out


def read_own(store, path, a):
    """All records in C order: bytes of the little-endian packed records, or a list for variable length."""
    out = empty(a.shape, a.typ, a.fill)
    counts = [-(-s // c) for s, c in zip(a.shape, a.chunks)] if out.size else [0] * max(1, len(a.shape))
    key = a.key
    if a.slash and all(store.get(join(path, key(idx))) is None for idx in np.ndindex(*counts)):
        key = a.slash                            # separator not given, no "." chunk: old stores have "/" then
    for idx in np.ndindex(*counts):
        raw = store.get(join(path, key(idx)))
        if raw is None:
            continue
        chunk = a.decode(raw)
        where = tuple(slice(i * c, min(i * c + c, s)) for i, c, s in zip(idx, a.chunks, a.shape))
        if a.shape:
            out[where] = chunk[tuple(slice(0, w.stop - w.start) for w in where)]
        else:
            out = chunk
    return list(out.reshape(-1)) if is_vlen(a.typ) else out.tobytes()


# --- the same through zarr-python ---------------------------------------------------------------------------

def no_numpy(typ):
    """Whether NumPy has no name of its own for the type."""
    return bool(typ.form) or typ.bits < 8 and typ.kind in "iu" or typ.kind == "c" and typ.size == 4


def numpy_type(typ):
    if isinstance(typ, Sub):
        return (numpy_type(typ.base), typ.shape)
    if isinstance(typ, Struct):
        return [("", f"|V{t.size}") if hidden else (n, *numpy_type(t)) if isinstance(t, Sub) else (n, numpy_type(t))
                for n, t, _, hidden in typ.fields]
    if typ.kind in "Mm":
        unit = "" if typ.unit == "generic" else f"[{typ.scale if typ.scale != 1 else ''}{typ.unit}]"
        return f"<{typ.kind}8{unit}"
    if no_numpy(typ):
        return f"|V{typ.size}"                    # as np.save writes the types that a library added to NumPy
    size = typ.size // 4 if typ.kind == "U" else typ.size
    return ("|" if typ.swap_unit() == 1 else "<") + f"{typ.kind}{size}"


def zarr_array(base, path, a, is_copy):
    import zarr
    if zarr.__version__[0] == "2":               # reads what the newer one refuses, and no v3
        return zarr.open_array(zarr.DirectoryStore(base.root), path=path, mode="r")
    if isinstance(base, DirStore):
        store, folder = zarr.storage.LocalStore(base.root), ""      # a plain path is taken for an URL: it loses TAB and LF
    else:
        store, folder = zarr.storage.ZipStore(base.path, mode="r"), base.folder
    how = {"mode": "r", "zarr_format": 2 if a.v2 else 3}
    if not is_copy:
        return zarr.open_array(store, path=join(folder, path).rstrip("/"), **how)
    parts = path.split("/")
    for n in range(len(parts)):                  # by the consolidated metadata of the outermost group that has it
        try:
            return zarr.open_group(store, path=join(folder, "/".join(parts[:n])).rstrip("/"), use_consolidated=True, **how)["/".join(parts[n:])]
        except (KeyError, ValueError, FileNotFoundError):
            pass
    raise ValueError("zarr-python does not find it")


def read_zarr(store, path, a):
    arr = zarr_array(store.base, path, a, store.is_copy(path))
    if is_vlen(a.typ):
        got = arr[...]
        if isinstance(got, (str, bytes)):            # of rank 0; as an array of its own it would lose NULs at the end
            got = np.array([got], object).reshape(())
        got = np.asarray(got)
    else:
        got = np.asarray(arr[...], arr.dtype)
    assert got.shape == a.shape, f"zarr-python gives shape {got.shape}"
    if is_vlen(a.typ):
        each = json_row if a.typ.kind == "json" else lambda v: v.encode() if isinstance(v, str) else bytes(v)
        if a.typ.kind == "list":
            each = lambda v: v.astype(v.dtype.newbyteorder("<")).tobytes() if isinstance(v, np.ndarray) else b""      # 0: never written
        return [each(v) for v in got.reshape(-1).tolist()]
    want = np.dtype(numpy_type(a.typ))
    assert got.dtype.newbyteorder("<") == want, f"zarr-python gives dtype {got.dtype}"
    return np.ascontiguousarray(got.astype(want)).tobytes()


def read(store, path, a):
    """The records by zarr-python where it can, else by the small reader; a disagreement is told."""
    own = read_own(store, path, a)
    if has_hidden(a.typ):
        return own, "own reader (padding bytes)"
    try:
        import zarr  # noqa: F401
        by_zarr = read_zarr(store, path, a)
    except Exception as e:
        return own, f"own reader (zarr-python: {type(e).__name__}: {str(e)[:90]!r})"
    if by_zarr == own:
        return by_zarr, "zarr-python = own reader"
    DISAGREE.append(path)
    return own, "own reader; zarr-python DISAGREES"


# ---------------------------------------------------------------------------------------------------------
# Part 3. The text of a value.
# ---------------------------------------------------------------------------------------------------------

def digits_of(raw):
    """Shortest digits and decimal exponent (d.ddd x 10^e) of a finite positive float given as its LE bytes."""
    x = np.frombuffer(raw, {2: "<f2", 4: "<f4", 8: "<f8"}[len(raw)])[0]
    m, e = np.format_float_scientific(x, unique=True, trim="-").split("e")
    return m.replace(".", "").rstrip("0") or "0", int(e)


def small_value(bits, form):
    """What a format of FORMATS means: "nan", "inf", or sign and exact magnitude. Bits above its width do not count."""
    expbits, mantbits, bias, style = FORMATS[form]
    width = expbits + mantbits + (style != "e8m0")
    bits &= (1 << width) - 1
    if style == "e8m0":
        return ("", "nan") if bits == 0xff else ("", Fraction(2) ** (bits - bias))
    sign, mag = "-" if bits >> (width - 1) else "", bits & ((1 << (width - 1)) - 1)
    e, m = mag >> mantbits, mag & ((1 << mantbits) - 1)
    if style == "fnuz" and sign and not mag or style == "fn" and mag == (1 << (width - 1)) - 1:
        return "", "nan"
    if style == "ieee" and e == (1 << expbits) - 1:
        return ("", "nan") if m else (sign, "inf")
    return sign, Fraction(m if e == 0 else m | 1 << mantbits) * Fraction(2) ** ((e or 1) - bias - mantbits)


@functools.cache
def small_values(form):
    """The finite magnitudes of a format, in order; the position is the bit pattern without the sign."""
    out = []
    while len(out) < 1 << 15:
        sign, value = small_value(len(out), form)
        if sign or not isinstance(value, Fraction) or out and value < out[-1]:
            break
        out.append(value)
    return out


def small_bits(value, size, form):
    """The bits of a fill value in a format of FORMATS."""
    expbits, mantbits, _, style = FORMATS[form]
    width = expbits + mantbits + (style != "e8m0")
    table = small_values(form)
    sign = 1 << (width - 1)
    if isinstance(value, str) and value.startswith("0x"):
        bits = int(value, 16)
    elif value == "NaN":
        if style == "finite":
            raise Unreadable("fill_value: the type has no NaN")
        bits = {"fnuz": sign, "fn": sign - 1, "e8m0": 0xff, "ieee": ((2 << expbits) - 1) << mantbits >> 1}[style]
    elif value in ("Infinity", "-Infinity"):
        if style != "ieee":
            raise Unreadable("fill_value: the type has no infinity")
        bits = (sign if value[0] == "-" else 0) | (1 << expbits) - 1 << mantbits
    else:
        negative, value = str(value)[0] == "-", abs(Fraction(value))
        if style == "e8m0" and (negative or value == 0) or value >= table[-1] + (table[-1] - table[-2]) / 2:
            raise Unreadable("fill_value is out of range")
        near = bisect.bisect_left(table, value)
        bits = min((i for i in (near - 1, near) if 0 <= i < len(table)), key=lambda i: (abs(table[i] - value), i % 2))
        bits |= sign if negative and (bits or style != "fnuz") else 0
    return bits.to_bytes(size, "little")


def shortest(lo, v, hi, even):
    """Shortest digits inside (lo, hi), nearest to v among those, by exact arithmetic; the ends count for an even pattern."""
    e = 0
    while v >= Fraction(10) ** (e + 1):
        e += 1
    while v < Fraction(10) ** e:
        e -= 1
    for n in range(1, 18):
        unit = Fraction(10) ** (e - n + 1)
        k = v / unit
        best = None
        for d in (k.numerator // k.denominator, k.numerator // k.denominator + 1):
            x = d * unit
            if lo < x < hi or even and x in (lo, hi):
                if best is None or abs(x - v) < abs(best * unit - v) or abs(x - v) == abs(best * unit - v) and d % 2 == 0:
                    best = d
        if best is not None:
            s = str(best)
            return s.rstrip("0"), e + (len(s) - n)
    raise AssertionError


@functools.cache
def small_digits(form, mag):
    table = small_values(form)
    v = table[mag]
    below = table[mag - 1] if mag else v / 2
    lo = (below + v) / 2
    hi = (table[mag + 1] + v) / 2 if mag + 1 < len(table) else v + (v - below) / 2
    return shortest(lo, v, hi, mag % 2 == 0)


def float_text(raw, form=""):
    if form:
        return small_text(int.from_bytes(raw, "little"), form)
    bits = int.from_bytes(raw, "little")
    width = 8 * len(raw)
    expbits = {16: 5, 32: 8, 64: 11}[width]
    mantbits = width - 1 - expbits
    sign = "-" if bits >> (width - 1) else ""
    mag = bits & ((1 << (width - 1)) - 1)
    if mag >> mantbits == (1 << expbits) - 1:
        return "nan" if mag & ((1 << mantbits) - 1) else sign + "inf"
    if mag == 0:
        return sign + "0.0"
    return sign + laid_out(*digits_of(mag.to_bytes(len(raw), "little")))


def small_text(bits, form):
    expbits, mantbits, _, style = FORMATS[form]
    sign, value = small_value(bits, form)
    if isinstance(value, str):
        return sign + value
    if value == 0:
        return sign + "0.0"
    return sign + laid_out(*small_digits(form, bits & ((1 << (expbits + mantbits)) - 1)))


def laid_out(d, e):
    """The digits d.ddd x 10^e as Python's repr lays them out."""
    if -4 <= e < 16:
        if e < 0:
            return "0." + "0" * (-e - 1) + d
        d = d.ljust(e + 1, "0")
        return d[:e + 1] + "." + (d[e + 1:] or "0")
    return d[0] + ("." + d[1:] if d[1:] else "") + f"e{'-' if e < 0 else '+'}{abs(e):02d}"


def code_points(raw):
    """UTF-32 LE bytes to text: trailing NULs removed, no scalar -> U+FFFD."""
    cps = list(struct.unpack(f"<{len(raw) // 4}I", raw))
    while cps and cps[-1] == 0:
        cps.pop()
    return "".join(chr(c) if c < 0xd800 or 0xe000 <= c <= 0x10ffff else "\ufffd" for c in cps)


def utf8_parts(raw):
    """Bytes to a list of characters (str) and of bytes that are not valid UTF-8 (int)."""
    try:
        return list(raw.decode("utf-8"))
    except UnicodeDecodeError:
        out = []
    while raw:
        for n in (1, 2, 3, 4):
            try:
                out.append(raw[:n].decode("utf-8"))
                raw = raw[n:]
                break
            except UnicodeDecodeError:
                continue
        else:
            out.append(raw[0])
            raw = raw[1:]
    return out


ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0"}


def is_control(c):
    return ord(c) < 0x20 or 0x7f <= ord(c) <= 0x9f


def escape_char(c):
    if isinstance(c, int):
        return f"\\x{c:02x}"
    if c in ESCAPES:
        return ESCAPES[c]
    return f"\\x{ord(c):02x}" if is_control(c) else c


def string_parts(typ, raw):
    if typ.kind == "U":
        return list(code_points(raw))
    return utf8_parts(raw if typ.kind == "string" else raw.rstrip(b"\0"))


NAT = -2 ** 63


def civil(days):
    """Year, month and day of a day counted from 1970-01-01, proleptic Gregorian, of any size."""
    era, day = divmod(days + 719468, 146097)               # eras of 400 years from 0000-03-01
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    return 400 * era + year + (month > 9), month + (3 if month < 10 else -9), day - (153 * month + 2) // 5 + 1


SUBSECOND = {"ms": 3, "us": 6, "ns": 9, "ps": 12, "fs": 15, "as": 18}


def date_text(typ, n):
    """Exact for all 64 bits and every scale factor, where NumPy overflows without a word."""
    if typ.unit == "generic":
        return str(n)
    n *= typ.scale
    digits = SUBSECOND.get(typ.unit, 0)
    if typ.unit in ("Y", "M"):
        year, month = (1970 + n, 1) if typ.unit == "Y" else (1970 + n // 12, n % 12 + 1)
    else:
        per_day = {"W": 1, "D": 1, "h": 24, "m": 1440}.get(typ.unit, 86400 * 10 ** digits)
        days, rest = divmod(n * (7 if typ.unit == "W" else 1), per_day)
        year, month, day = civil(days)
    text = ("-" if year < 0 else "") + str(abs(year)).rjust(4, "0")
    if typ.unit == "Y":
        return text
    text += f"-{month:02d}"
    if typ.unit == "M":
        return text
    text += f"-{day:02d}"
    if typ.unit in ("W", "D"):
        return text
    if typ.unit == "h":
        return f"{text}T{rest:02d}"
    if typ.unit == "m":
        return f"{text}T{rest // 60:02d}:{rest % 60:02d}"
    seconds, part = divmod(rest, 10 ** digits)
    text += f"T{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{text}.{part:0{digits}d}" if digits else text


def int_of(typ, raw):
    n = int.from_bytes(raw, "little") & ((1 << typ.bits) - 1)
    return n - (1 << typ.bits) if typ.kind != "u" and n >> (typ.bits - 1) else n


TEXT = Scalar("string", 0)


def scalar_text(typ, raw):
    k = typ.kind
    if k == "json":
        return scalar_text(TEXT, raw[1:]) if raw[:1] == b"s" else raw[1:].decode()
    if k == "list":
        return "\t".join(scalar_text(typ.item, p) for p in typ.parts(raw))
    if k == "b":
        return "1" if raw != b"\0" else "0"
    if k in "iu":
        return str(int_of(typ, raw))
    if k == "f":
        return float_text(raw, typ.form)
    if k == "c":
        h = typ.size // 2
        return float_text(raw[:h], typ.form) + "\t" + float_text(raw[h:], typ.form)
    if k in ("S", "U", "string"):
        return "".join(map(escape_char, string_parts(typ, raw)))
    if k in ("V", "bytes"):
        return raw.hex()
    n = int_of(typ, raw)
    if n == NAT:
        return "NaT"
    return date_text(typ, n) if k == "M" else str(n)


def json_text(v):
    """JSON in UTF-8, with DEL and C1 controls as \\u00NN, for the sake of terminals; C0 as Python spells them."""
    return re.sub("[\x7f-\x9f]", lambda m: f"\\u{ord(m[0]):04x}", json.dumps(v, ensure_ascii=False))


json_string = json_text


def plain_string(typ, raw):
    return "".join("\ufffd" if isinstance(c, int) else c for c in string_parts(typ, raw))


def scalar_json(typ, raw):
    k = typ.kind
    if k == "json":
        return scalar_json(TEXT, raw[1:]) if raw[:1] == b"s" else raw[1:].decode()
    if k == "list":
        return "[" + ",".join(scalar_json(typ.item, p) for p in typ.parts(raw)) + "]"
    if k == "b":
        return "true" if raw != b"\0" else "false"
    if k == "f":
        t = float_text(raw, typ.form)
        return NONFINITE.get(t, "null") if t in ("nan", "inf", "-inf") else t
    if k == "c":
        h, part = typ.size // 2, Scalar("f", typ.size // 2, form=typ.form)
        return f"[{scalar_json(part, raw[:h])},{scalar_json(part, raw[h:])}]"
    if k in ("S", "U", "string"):
        return json_string(plain_string(typ, raw))
    if k in ("V", "bytes"):
        return json_string(base64.b64encode(raw).decode())
    if k in "Mm":
        n = int_of(typ, raw)
        if n == NAT:
            return "null"
        return json_string(date_text(typ, n)) if k == "M" and typ.unit != "generic" else str(n)
    return scalar_text(typ, raw)


def scalar_cells(typ, raw):
    if typ.kind == "c":
        return scalar_text(typ, raw).split("\t")
    if typ.kind in ("S", "U", "string"):
        return [plain_string(typ, raw)]
    if typ.kind == "json" and raw[:1] == b"s":
        return [plain_string(TEXT, raw[1:])]
    return [scalar_text(typ, raw)]


def value_text(typ, raw):
    """One line of a field file, without its LF. Never called for a struct."""
    if isinstance(typ, Sub):
        return "\t".join(value_text(typ.base, p) for p in pieces(typ, raw))
    return scalar_text(typ, raw)


INTS = {("b", 1): 1, ("i", 1): 4, ("i", 2): 6, ("i", 4): 11, ("i", 8): 20, ("u", 1): 3, ("u", 2): 5, ("u", 4): 10, ("u", 8): 20}
DATES = {"generic": 20, "Y": 20, "M": 22, "W": 25, "D": 24, "h": 26, "m": 27, "s": 28, "ms": 29, "us": 29, "ns": 29, "ps": 32, "fs": 35, "as": 38}


def fixed_scalar(typ, raw):
    """The cells of a value in columns of constant width."""
    k, size = typ.kind, typ.size
    if k == "c":
        part = Scalar("f", size // 2, form=typ.form)
        return fixed_scalar(part, raw[:size // 2]) + fixed_scalar(part, raw[size // 2:])
    text = scalar_text(typ, raw)
    if k in "SUV":
        width = {"S": 4, "U": 1, "V": 2}[k] * size
        return [text + " " * (width - len(text.encode()))]
    if k in "biu":
        width = 2 if typ.bits < 8 and k != "b" else INTS[k, size]
    elif k == "f":
        width = 19 if typ.form else {2: 11, 4: 19, 8: 24}[size]
    else:
        width = 20 if k == "m" else DATES[typ.unit] + (10 if typ.scale > 1 and typ.unit != "generic" else 0)
    return [text.rjust(width)]


def fixed_text(typ, raw):
    """value_text() with the option text=fixed."""
    typ, parts = (typ.base, pieces(typ, raw)) if isinstance(typ, Sub) else (typ, [raw])
    return "\t".join(c for p in parts for c in fixed_scalar(typ, p))


def pieces(sub, raw):
    n = sub.base.size
    return [raw[i * n:i * n + n] for i in range(sub.count)]


def nest(items, shape):
    if not shape:
        return items[0]
    step = len(items) // shape[0] if shape[0] else 0
    return "[" + ",".join(nest(items[i * step:i * step + step], shape[1:]) for i in range(shape[0])) + "]"


def members(typ, raw):
    return [json_string(n) + ":" + value_json(t, raw[o:o + t.size]) for n, t, o in typ.shown()]


def value_json(typ, raw):
    if isinstance(typ, Sub):
        return nest([value_json(typ.base, p) for p in pieces(typ, raw)], typ.shape)
    if isinstance(typ, Struct):
        return "{" + ",".join(members(typ, raw)) + "}"
    return scalar_json(typ, raw)


def cells(typ, raw):
    if isinstance(typ, Sub):
        return [c for p in pieces(typ, raw) for c in cells(typ.base, p)]
    if isinstance(typ, Struct):
        return [c for _, t, o in typ.shown() for c in cells(t, raw[o:o + t.size])]
    return scalar_cells(typ, raw)


def headers(typ, name):
    """Column names. name: list of parts so far."""
    if isinstance(typ, Sub):
        return [h for i in np.ndindex(*typ.shape) for h in headers(typ.base, name + [str(k) for k in i])]
    if isinstance(typ, Struct):
        return [h for n, t, _ in typ.shown() for h in headers(t, name + [n])]
    if typ.kind == "c":
        return [".".join(name + ["re"]), ".".join(name + ["im"])]
    return [".".join(name)]


def csv_line(row):
    out = []
    for c in row:
        out.append('"' + c.replace('"', '""') + '"' if any(x in c for x in '",\r\n') else c)
    line = ",".join(out)
    return (line if line else '""') + "\n"      # an empty line would be skipped by readers


# ---------------------------------------------------------------------------------------------------------
# Part 4. Names.
# ---------------------------------------------------------------------------------------------------------

def xxh64(data, seed=0):
    p1, p2, p3, p4, p5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                          0x27D4EB2F165667C5)
    mask = 2 ** 64 - 1

    def rotl(v, r):
        return ((v << r) | (v >> (64 - r))) & mask

    def rnd(acc, lane):
        return rotl((acc + lane * p2) & mask, 31) * p1 & mask
    at, n = 0, len(data)
    if n >= 32:
        acc = [(seed + p1 + p2) & mask, (seed + p2) & mask, seed, (seed - p1) & mask]
        while at + 32 <= n:
            for i in range(4):
                acc[i] = rnd(acc[i], int.from_bytes(data[at:at + 8], "little"))
                at += 8
        h = (rotl(acc[0], 1) + rotl(acc[1], 7) + rotl(acc[2], 12) + rotl(acc[3], 18)) & mask
        for v in acc:
            h = ((h ^ rnd(0, v)) * p1 + p4) & mask
    else:
        h = (seed + p5) & mask
    h = (h + n) & mask
    while at + 8 <= n:
        h = (rotl(h ^ rnd(0, int.from_bytes(data[at:at + 8], "little")), 27) * p1 + p4) & mask
        at += 8
    if at + 4 <= n:
        h = (rotl(h ^ (int.from_bytes(data[at:at + 4], "little") * p1 & mask), 23) * p2 + p3) & mask
        at += 4
    while at < n:
        h = rotl(h ^ (data[at] * p5 & mask), 11) * p1 & mask
        at += 1
    h = (h ^ h >> 33) * p2 & mask
    h = (h ^ h >> 29) * p3 & mask
    return h ^ h >> 32


def file_name(name, suffix=b"", nested=False):
    """The escaped file name (bytes) of a field or node, the same in all trees; `suffix` counts against the 255 bytes.

    nested: of the directory of a nested struct. Its name never ends in .npy, so that the struct `x.npy` and
    the field `x`, which is x.npy in .npy, keep apart.
    """
    raw = name if isinstance(name, bytes) else name.encode("utf-8", "surrogatepass")
    if raw == b"":
        return b"%" + suffix
    units = []                                   # what must not be cut apart
    for part in utf8_parts(raw):
        if isinstance(part, int):
            units.append(b"%%%02X" % part)
        elif part in "/%" or is_control(part):
            units.append(b"".join(b"%%%02X" % byte for byte in part.encode()))
        else:
            units.append(part.encode())
    if raw[:1] in (b".", b"-") or raw in RESERVED:
        units[0] = b"%%%02X" % raw[0]
    if nested and raw.endswith(b".npy"):
        units[-4] = b"%2E"
    if re.search(rb"~[0-9a-f]{16}$", raw):       # reads like a name that was cut
        units[-17] = b"%7E"
    limit = NAME_MAX - len(suffix)
    if len(b"".join(units)) > limit:
        tail = b"~%016x" % xxh64(raw)
        while len(b"".join(units)) + len(tail) > limit:
            units.pop()
        units.append(tail)
    return b"".join(units) + suffix


# ---------------------------------------------------------------------------------------------------------
# Part 5. The tree.
# ---------------------------------------------------------------------------------------------------------

def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "xb") as f:                  # x: two things of one name would be a fault of the rules
        f.write(data)


def npy(typ, shape, data):
    descr = numpy_type(typ)
    full = tuple(shape)
    if isinstance(descr, tuple):                 # subarrays become axes
        full, descr = full + descr[1], descr[0]
        assert not isinstance(descr, tuple)
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {full!r}, }}"
    head = text.encode("latin1" if all(ord(c) < 256 for c in text) else "utf8")
    version = 3 if head != text.encode("latin1", "replace") else 1
    if version == 1 and len(head) + 64 > 65535:
        version = 2
    size = struct.calcsize("<H" if version == 1 else "<I")
    pad = -(8 + size + len(head) + 1) % 64
    head += b" " * pad + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(head)) + head + data


class Column:
    """A field of every record: its type, its bytes per record, and the subarray axes above it."""
    def __init__(self, typ, rows, axes=()):
        self.typ, self.rows, self.axes = typ, rows, axes

    def field(self, name_at):
        _, typ, off = name_at
        base = self.typ.base if isinstance(self.typ, Sub) else self.typ
        axes = self.axes + (self.typ.shape if isinstance(self.typ, Sub) else ())
        starts = [i * base.size + off for i in range(int(np.prod(axes, dtype=int)))]
        return Column(typ, [b"".join(r[s:s + typ.size] for s in starts) for r in self.rows], axes)

    def full(self):
        """The type with all axes above folded in: what one line of a text file shows."""
        typ, shape = self.typ, self.axes
        if isinstance(typ, Sub):
            shape, typ = shape + typ.shape, typ.base
        return Sub(typ, shape) if shape else typ


def index_keys(a):
    if len(a.shape) < 2:
        return None
    d = a.dims
    if d and len(d) == len(a.shape) and all(isinstance(x, str) for x in d) and len(set(d)) == len(d):
        return d
    return [str(i) for i in range(len(a.shape))]


def index_json(a, idx):
    keys = index_keys(a)
    if a.dims and keys == list(a.dims):
        return "{" + ",".join(f"{json_string(k)}:{i}" for k, i in zip(keys, idx)) + "}"
    return "[" + ",".join(map(str, idx)) + "]"


def struct_of(typ):
    t = typ.base if isinstance(typ, Sub) else typ
    return t if isinstance(t, Struct) else None


def index_key(st):
    key = "_index"
    while st and any(n == key for n, _, _ in st.shown()):
        key = "_" + key
    return key


def csv_file(a, typ, rows, indices):
    st = typ if isinstance(typ, Struct) else None
    head = [f"{index_key(st)}.{k}" for k in index_keys(a) or []]
    text = [csv_line(head + headers(typ, [] if st else ["values"]))]
    for row, idx in zip(rows, indices):
        text.append(csv_line([str(i) for i in idx] * bool(head) + cells(typ, row)))
    return "".join(text).encode()


def jsonl_file(a, col, indices):
    typ, st = col.full(), struct_of(col.typ)
    lines = []
    for row, idx in zip(col.rows, indices):
        if index_keys(a) and isinstance(typ, Struct):
            body = ",".join([f"{json_string(index_key(st))}:{index_json(a, idx)}", *members(typ, row)])
            lines.append("{" + body + "}\n")
        else:
            lines.append(value_json(typ, row) + "\n")
    return "".join(lines).encode()


def dump_level(a, col, dirs, indices):
    """One struct level, or a plain array: the files of its fields and records.jsonl. dirs: tree -> directory."""
    st = struct_of(col.typ)
    put(os.path.join(dirs[MAIN], b"records.jsonl"), jsonl_file(a, col, indices))
    for field in (st.shown() if st else [("values", None, 0)]):
        sub = col.field(field) if st else col
        name = field[0]
        if struct_of(sub.typ):
            dump_level(a, sub, {t: os.path.join(d, file_name(name, nested=True)) for t, d in dirs.items()}, indices)
            continue
        full, raw = sub.full(), sub.rows
        line = fixed_text if FIXED[0] and not is_vlen(full) else value_text
        put(os.path.join(dirs[MAIN], file_name(name)), "".join(line(full, r) + "\n" for r in raw).encode())
        if not is_vlen(full):
            put(os.path.join(dirs[RAW], file_name(name)), b"".join(raw))
            put(os.path.join(dirs[NPY], file_name(name, b".npy")), npy(full, a.shape, b"".join(raw)))


def dump_array(store, path, a, dirs):
    data, how = read(store, path, a)
    ROWS[path], ARRAYS[path] = data, a
    n = int(np.prod(a.shape, dtype=int))
    rows = data if isinstance(data, list) else [data[i * a.typ.size:(i + 1) * a.typ.size] for i in range(n)]
    indices = list(np.ndindex(*a.shape)) if a.shape else [()]
    put(os.path.join(dirs[CSV], b"records.csv"), csv_file(a, a.typ, rows, indices))
    if isinstance(a.typ, Struct):
        put(os.path.join(dirs[RAW], b"records"), b"".join(rows))
        put(os.path.join(dirs[NPY], b"records.npy"), npy(a.typ, a.shape, b"".join(rows)))
    dump_level(a, Column(a.typ, rows), {t: dirs[t] for t in (MAIN, RAW, NPY)}, indices)
    return how


def parse(raw):
    return json.loads(raw.decode("utf-8"))


NODE_DOCUMENTS = ("zarr.json", ".zarray", ".zgroup")


def leads_to_nodes(store, path):
    return (any(store.get(join(path, k)) is not None for k in NODE_DOCUMENTS)
            or any(leads_to_nodes(store, join(path, d)) for d in store.dirs(path)))


def dump_node(store, path, out, rel=b""):
    """path: in the store; rel: the same in file names."""
    dirs = {t: os.path.join(out, t, rel) for t in TREES}
    for d in dirs.values():
        os.makedirs(d, exist_ok=True)
    docs = {k: store.get(join(path, k)) for k in (*NODE_DOCUMENTS, ".zattrs")}
    docs = {k: v for k, v in docs.items() if v is not None}
    if "zarr.json" in docs:
        docs = {"zarr.json": docs["zarr.json"]}
    if not docs.keys() & set(NODE_DOCUMENTS):
        docs = {}                                # a plain directory
    for k, v in docs.items():
        put(os.path.join(dirs[ZARR], k.encode()), v)
    kind = "group"
    try:
        try:
            if "zarr.json" in docs:
                meta = parse(docs["zarr.json"])
                attributes = meta.get("attributes", {})
                kind = meta["node_type"]
            elif docs:
                attributes = parse(docs[".zattrs"]) if ".zattrs" in docs else {}
                kind = "array" if ".zarray" in docs else "group"
                meta = parse(docs[".zarray" if kind == "array" else ".zgroup"])
            if docs:
                put(os.path.join(dirs[ZARR], b"attributes.json"), (json_text(attributes) + "\n").encode("utf-8", "backslashreplace"))
            if kind == "array":
                a = array_v3(meta) if "zarr.json" in docs else array_v2(meta, attributes)
        except Unreadable:
            raise
        except Exception as e:
            raise Unreadable(f"metadata: {type(e).__name__}: {e}")
        if kind == "array":
            HOW[path] = dump_array(store, path, a, dirs)
            return
    except Unreadable as e:
        put(os.path.join(dirs[MAIN], b"unreadable.txt"), (str(e) + "\n").encode("utf-8", "backslashreplace"))
        HOW[path] = f"unreadable: {e}"
        return
    if path:
        store.learn(path)
    for name in store.dirs(path):
        if leads_to_nodes(store, join(path, name)):
            dump_node(store, join(path, name), out, os.path.join(rel, file_name(os.fsencode(name))))


def dump(store_path, out):
    if os.path.isdir(out):
        shutil.rmtree(out)
    os.makedirs(out)
    for known in (DISAGREE, ARRAYS, ROWS, HOW):
        known.clear()
    store = Consolidated(open_store(store_path))
    store.learn("")
    dump_node(store, "", os.fsencode(out))


def main_dump(store_path, out):
    dump(store_path, out)
    for path, how in HOW.items():
        print(f"{path or '(root)'}: {how}".encode("utf-8", "backslashreplace").decode(), file=sys.stderr)
    return 1 if DISAGREE else 0


# ---------------------------------------------------------------------------------------------------------
# Part 6. Self-test.
# ---------------------------------------------------------------------------------------------------------

def exact(bits, width):
    expbits = {16: 5, 32: 8, 64: 11}[width]
    mant = width - 1 - expbits
    e, m = bits >> mant, bits & ((1 << mant) - 1)
    bias = (1 << (expbits - 1)) - 1
    return Fraction(m if e == 0 else m | 1 << mant) * Fraction(2) ** ((e or 1) - bias - mant)


def shortest_brute(bits, width):
    v = exact(bits, width)
    top = (1 << (width - 1)) - (1 << {16: 10, 32: 23, 64: 52}[width])    # bits of infinity
    lo = (exact(bits - 1, width) + v) / 2 if bits else None
    hi = (exact(bits + 1, width) + v) / 2 if bits + 1 < top else v + (v - exact(bits - 1, width)) / 2
    return shortest(lo, v, hi, bits % 2 == 0)


def selftest():
    bad = 0

    def check(got, want, what):
        nonlocal bad
        if got != want:
            bad += 1
            print(f"FAIL {what}: got {got!r}, want {want!r}")
    rng = np.random.default_rng(1)
    for b in range(1, 0x7c00):
        check(digits_of(b.to_bytes(2, "little")), shortest_brute(b, 16), f"f2 {b:04x}")
    f4 = {1, 2, 3, 0x007fffff, 0x00800000, 0x7f7fffff, 0x4b800000, 0x5a0e1bca}
    f4 |= {e << 23 for e in range(1, 255)} | {(e << 23) - 1 for e in range(1, 255)} | {(e << 23) + 1 for e in range(1, 255)}
    f4 |= {int(x) for x in rng.integers(1, 0x7f800000, 6000)}
    f4 |= {int.from_bytes(np.float32(10.0 ** e).tobytes(), "little") for e in range(-44, 39)}
    for b in f4:
        check(digits_of(b.to_bytes(4, "little")), shortest_brute(b, 32), f"f4 {b:08x}")
    f8 = {1, 2, 3, 2 ** 52 - 1, 2 ** 52, 0x7fefffffffffffff} | {e << 52 for e in range(1, 2047)}
    f8 |= {int(x) for x in rng.integers(1, 0x7ff0000000000000, 4000)}
    f8 |= {int.from_bytes(np.float64(float(f"1e{e}")).tobytes(), "little") for e in range(-323, 309)}
    for b in f8:
        raw = b.to_bytes(8, "little")
        check(float_text(raw), repr(struct.unpack("<d", raw)[0]), f"f8 {b:016x}")
    try:
        import ml_dtypes
    except ImportError:
        print("selftest: without ml_dtypes")
        ml_dtypes = None
    for form in FORMATS if ml_dtypes else ():
        kind = np.dtype(getattr(ml_dtypes, form))
        width = 16 if form == "bfloat16" else 8
        low = width - sum(FORMATS[form][:2]) - (form != "float8_e8m0fnu")     # bits that do not count
        for b in range(0, 1 << (width - low), 1 if width == 8 else 37):
            raw = b.to_bytes(width // 8, "little")
            x = np.frombuffer(raw, kind).astype("f8")[0]
            text = float_text(raw, form)
            if np.isfinite(x):
                check(Fraction(float(x)) * (-1 if np.signbit(x) else 1), small_value(b, form)[1], f"{form} {b:x}")
            if text == "nan":
                check(x != x, True, f"{form} {b:x}")
            elif form != "float8_e8m0fnu" or b:       # ml_dtypes takes 6e-39 for 2^-126
                check(np.array(float(text)).astype(kind).tobytes(), raw, f"{form} {b:x} {text} read back")
        for v in [float(x) for x in rng.uniform(-1, 1, 200) * float(small_values(form)[-1])] + [float(x) for x in rng.uniform(0, min(8, small_values(form)[-1]), 200)]:
            if v > 0 or form != "float8_e8m0fnu":
                check(small_bits(v, width // 8, form), np.array(v).astype(kind).tobytes(), f"{form} from {v}")
        if FORMATS[form][3] != "finite":
            check(small_value(int.from_bytes(small_bits("NaN", width // 8, form), "little"), form)[1], "nan", f"{form} NaN")
    for form, want in [("bfloat16", 0x7fc0), ("float8_e3m4", 0x78), ("float8_e4m3", 0x7c), ("float8_e5m2", 0x7e), ("float8_e4m3fnuz", 0x80), ("float8_e8m0fnu", 0xff)]:
        check(small_bits("NaN", 2, form)[0] | small_bits("NaN", 2, form)[1] << 8, want, f"NaN of {form}")
    for form, b, want in [("bfloat16", 0x3dcd, "0.1"), ("bfloat16", 0x7f7f, "3.39e+38"), ("float8_e5m2", 0x7b, "60000.0"), ("float8_e8m0fnu", 125, "0.2"),
                          ("float4_e2m1fn", 0xf9, "-0.5"), ("float6_e3m2fn", 0x20, "-0.0"), ("float8_e4m3fn", 0x7e, "450.0"), ("float8_e4m3", 0xf8, "-inf")]:
        check(small_text(b, form), want, f"{form} {b:x}")
    for kind, bits, b, want in [("i", 4, 0xf8, "-8"), ("i", 4, 0x17, "7"), ("i", 2, 2, "-2"), ("u", 2, 0xff, "3"), ("u", 4, 0x1f, "15")]:
        check(scalar_text(Scalar(kind, 1, bits=bits), bytes([b])), want, f"{kind}{bits} {b:x}")
    for dt, v, want in [("<f4", 1e16, "1e+16"), ("<f4", 16777216, "16777216.0"), ("<f4", 123456789, "123456790.0"),
                        ("<f4", 9999999e9, "9999999000000000.0"), ("<f4", 0.1, "0.1"), ("<f4", 1e-5, "1e-05"), ("<f4", 1e-4, "0.0001"),
                        ("<f4", 1e-45, "1e-45"), ("<f4", 3.4028235e38, "3.4028235e+38"), ("<f4", -0.0, "-0.0"),
                        ("<f2", 6e-8, "6e-08"), ("<f2", 65504, "65500.0"), ("<f2", 0.1, "0.1"), ("<f2", 6.1e-5, "6.1e-05"),
                        ("<f2", 2048, "2048.0"), ("<f2", 2049, "2048.0"), ("<f8", 5e-324, "5e-324"), ("<f8", 1e22, "1e+22"),
                        ("<f8", 123456789012345680.0, "1.2345678901234568e+17"), ("<f8", float("nan"), "nan"),
                        ("<f8", -float("nan"), "nan"), ("<f8", float("-inf"), "-inf")]:
        check(float_text(np.array(v, dt).tobytes()), want, f"{dt} {v}")
    for name, want in [("a/b", b"a%2Fb"), ("..", b"%2E."), (".", b"%2E"), ("", b"%"), ("%", b"%25"), (".hidden", b"%2Ehidden"),
                       ("records.jsonl", b"%72ecords.jsonl"), ("a\tb\n", b"a%09b%0A"), ("\u00e9\u4e2d", "\u00e9\u4e2d".encode()),
                       ("\x7f", b"%7F"), (b"\xff\xc3", b"%FF%C3"), ("x" * 255, b"x" * 255), ("~", b"~"), ("-rf", b"%2Drf"), ("-", b"%2D"),
                       ("--checkpoint=1", b"%2D-checkpoint=1"), ("a-b", b"a-b"), ("\x9b31m", b"%C2%9B31m"), ("\x80\x9f\xa0", b"%C2%80%C2%9F\xc2\xa0"),
                       *[(r.decode(), b"%%%02X" % r[0] + r[1:]) for r in RESERVED], ("x.npy", b"x.npy"), ("a~" + "0" * 16, b"a%7E" + b"0" * 16), ("a~" + "0" * 15, b"a~" + b"0" * 15), ("c" * 234 + "\x9b" * 6, None)]:
        if want is None:
            want = b"c" * 234 + b"~%016x" % xxh64(name.encode())
        check(file_name(name), want, f"name {name!r}")
    for name, want in [("x", b"x.npy"), ("x.npy", b"x.npy.npy"), ("records", b"%72ecords.npy"), ("records.npy", b"%72ecords.npy.npy"),
                       ("", b"%.npy"), ("-", b"%2D.npy"), ("x" * 251, b"x" * 251 + b".npy"),
                       ("x" * 252, b"x" * 234 + b"~%016x.npy" % xxh64(b"x" * 252))]:
        check(file_name(name, b".npy"), want, f"name {name!r} in .npy")
    for name, want in [("x", b"x"), ("x.npy", b"x%2Enpy"), (".npy", b"%2Enpy"), ("records.npy", b"%72ecords%2Enpy"), ("npy", b"npy")]:
        check(file_name(name, nested=True), want, f"name {name!r} of a nested struct")
    long = file_name("\u00e9" * 300)
    check(len(long), 255, "length of a cut name")
    check(long, "\u00e9".encode() * 119 + b"~%016x" % xxh64(("\u00e9" * 300).encode()), "cut name")
    check(xxh64(b""), 0xef46db3751d8e999, "xxh64 of nothing")
    check(xxh64(b"Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1, "xxh64")
    check("".join(map(escape_char, utf8_parts(b"a\\\t\n\r\0\x1b\x7f\xc3\xa9\xe2\x82z\xed\xa0\x80\xc0\x80"))),
          "a\\\\\\t\\n\\r\\0\\x1b\\x7f\u00e9\\xe2\\x82z\\xed\\xa0\\x80\\xc0\\x80", "escapes")
    check("".join(map(escape_char, utf8_parts("\x80\x9b\x9f\xa0".encode() + b"\x9b"))), "\\x80\\x9b\\x9f\xa0\\x9b", "C1 escapes")
    check(json_string("\x7f\x9b\xa0\x1b\n\"\\"), "\"\\u007f\\u009b\xa0\\u001b\\n\\\"\\\\\"", "JSON escapes")
    text = Scalar("string", 0)
    check([scalar_text(text, b"a\0\0"), scalar_json(text, b"a\0"), scalar_cells(text, b"a\0")], ["a\\0\\0", '"a\\u0000"', ["a\0"]], "NULs at the end")
    check([scalar_text(Scalar("S", 3), b"a\0\0"), scalar_text(Scalar("U", 8), b"a" + bytes(7))], ["a", "a"], "NULs as padding")
    flag = Scalar("b", 1)
    check([f(flag, b) for b in (b"\0", b"\1", b"\2") for f in (scalar_text, scalar_json, scalar_cells)],
          ["0", "false", ["0"], "1", "true", ["1"], "1", "true", ["1"]], "bool")
    for kind, size, v, want in [("f", 4, -0.0, "00000080"), ("f", 4, "NaN", "0000c07f"), ("f", 2, "0x3c01", "013c"), ("i", 2, -2, "feff"), ("b", 1, False, "00"),
                                ("c", 8, [1, "NaN"], "0000803f0000c07f"), ("U", 8, "ab", "6100000062000000"), ("U", 4, "YQAAAA==", "61000000"),
                                ("V", 3, [1, 2, 3], "010203"), ("f", 4, "AACAPw==", "0000803f"), ("f", 4, {"only": 1}, "0000803f"), ("f", 4, None, "00000000")]:
        check(fill_record(Struct([("only", Scalar(kind, size), False)]), v, False, False).hex(), want, f"fill {v!r} of one field")
    two = ["x", "y"]
    for own, attribute, want in [(two, ["a", "b"], two), (None, two, two), ([None, None], two, two), ([], two, two), (["x", None], two, ["x", None]),
                                 (None, ["a"], None), (["a"], two, None), (None, "xy", None), (None, None, None)]:
        check(dimension_names(own, {"_ARRAY_DIMENSIONS": attribute}, 2), want, f"dimension names {own} {attribute}")
    check(crc32c(b"123456789"), 0xe3069283, "crc32c")
    for unit, limit in [("Y", 5000), ("M", 60000), ("W", 260000), ("D", 1800000), ("h", 43000000), ("m", 2600000000), ("s", 150000000000),
                        *((u, min(150000000000 * 10 ** d, 2 ** 63 - 1)) for u, d in SUBSECOND.items())]:
        for scale in (1, 7):
            for n in [0, 1, -1, *(int(x) for x in rng.integers(-limit // scale, limit // scale, 400))]:
                want = str(np.datetime_as_string(np.array(n, "<i8").view(f"<M8[{scale}{unit}]")))
                if want[0] == "-":                  # numpy gives the year -1 as -001; ISO 8601 wants four digits
                    year, rest = re.fullmatch(r"-(\d+)(.*)", want).groups()
                    want = "-" + year.rjust(4, "0") + rest
                check(date_text(Scalar("M", 8, unit, scale), n), want, f"date {n} {scale}{unit}")
    for unit, scale, n, want in [("Y", 1, 2 ** 63 - 1, "9223372036854777777"), ("Y", 1, 1 - 2 ** 63, "-9223372036854773837"), ("M", 1, 1 - 2 ** 63, "-768614336404562681-06"),
                                 ("D", 1, 2 ** 63 - 1, "25252734927768524-07-27"), ("s", 10, 2 ** 62, "1461385125104-08-22T05:30:40"), ("as", 1, 1 - 2 ** 63, "1969-12-31T23:59:50.776627963145224193")]:
        check(date_text(Scalar("M", 8, unit, scale), n), want, f"date {n} {scale}{unit}")
    for raw, want in [('["a",null,{"k":1},"|O",[3]]', [b"sa", b"jnull", b'j{"k":1}']), ('[["a","b"],["c",1.5],"|O",[2,2]]', [b"sa", b"sb", b"sc", b"j1.5"]),
                      ('["a","b","c",true,"|O",[2,2]]', [b"sa", b"sb", b"sc", b"jtrue"]), ('["x","|O",[]]', [b"sx"]), ('[[1],[2],"|O",[2]]', [b"j[1]", b"j[2]"]),
                      ('[[1],[2],"|O",[2,1]]', [b"j1", b"j2"]), ('["|O",[0]]', []), ('[NaN,[1e400,-0.0],18446744073709551616,"|O",[3]]', [b"jnull", b"j[null,-0.0]", b"j18446744073709551616"]),
                      ('["\\ud83d\\ude00\\ud800","|O",[1]]', ["s\U0001f600\ufffd".encode()]), ('[{"b":"\\t\x7f","a":[ ]},"|O",[1]]', [b'j{"b":"\\t\\u007f","a":[]}'])]:
        check(json_items(raw.encode()), want, f"json2 {raw}")
    item = Scalar("json", 0)
    check([f(item, r) for r in (b"sa\t\0", b'j{"k":"\\t"}') for f in (scalar_text, scalar_json, scalar_cells)],
          ["a\\t\\0", '"a\\t\\u0000"', ["a\t\0"], '{"k":"\\t"}', '{"k":"\\t"}', ['{"k":"\\t"}']], "items of json2")
    check([fill_scalar(item, v, True) for v in (None, 0, "", "0", False, [], 5)], [b"s", b"s", b"s", b"s0", b"jfalse", b"j[]", b"j5"], "fill of json2")
    print("selftest:", "failed" if bad else "passed")
    return bad != 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "dump":
        sys.exit(main_dump(sys.argv[2], sys.argv[3]))
    if sys.argv[1:] == ["selftest"]:
        sys.exit(selftest())
    sys.exit("usage: reference.py dump STORE OUTDIR | reference.py selftest")
