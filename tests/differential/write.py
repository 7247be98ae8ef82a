# SPDX-License-Identifier: MIT
"""Writes a store from its description (spec.py): version 3 by zarr-python in this process, version 2 by zarr-python 2.18 in a
process of its own (write_v2.py). What those cannot write is written as something of the same bytes, and the metadata then
put right: field names, types that NumPy lacks, the older dialect, unusual spellings.

write() returns for each path the records that the array must hold, so that the reading side is checked as well.
"""
import base64
import json
import os
import random
import shutil
import subprocess
import sys
import zipfile

import numcodecs
import numpy as np
import zarr
from zarr.codecs import BytesCodec, Crc32cCodec, ShardingCodec, TransposeCodec, VLenBytesCodec, VLenUTF8Codec
from zarr.registry import get_codec_class

import reference as ref
import values

HERE = os.path.dirname(os.path.abspath(__file__))
LOSSY = {"fixedscaleoffset", "quantize", "bitround"}


def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


def put_json(path, document, rng):
    text = json.dumps(document, indent=rng.choice([None, 2, 4]), ensure_ascii=rng.random() < .5)
    put(path, text.encode("utf-8", "surrogatepass"))


def boxes(shape, chunks):
    """(grid position, slices) of each chunk of a grid."""
    for idx in np.ndindex(*[-(-s // c) for s, c in zip(shape, chunks)]):
        yield idx, tuple(slice(i * c, min(i * c + c, s)) for i, c, s in zip(idx, chunks, shape))


def blanked(data, spec, fill, rng):
    """Sets some chunks (the innermost ones) to the fill value, so that they are not written."""
    inner = spec["shards"][-1]["chunks"] if spec.get("shards") and not spec.get("transpose") else spec["chunks"]
    for _, where in boxes(data.shape, inner):
        if rng.random() < .4:
            data[where] = fill


def filled(data, spec, fill):
    """The array as it reads once the skipped chunks are gone."""
    data = data.copy()
    skip = {tuple(p) for p in spec["skip"]}
    for idx, where in boxes(data.shape, spec["chunks"]):
        if idx in skip:
            data[where] = fill
    return data


def object_array(items, shape):
    out = np.empty(len(items), object)
    for i, v in enumerate(items):                # not at once: lists among the items would become axes
        out[i] = v
    return out.reshape(shape)


# --- version 3 ---------------------------------------------------------------------------------------------------

def codec(c):
    return get_codec_class(c["name"]).from_dict({"configuration": {}, **c} if c["name"] != "crc32c" else c)


def index_codecs(kind):
    return [BytesCodec(endian="big" if "big" in kind else "little"), *([Crc32cCodec()] if "crc32c" in kind else [])]


def serializer(spec, vlen):
    bottom = {"string": VLenUTF8Codec, "bytes": VLenBytesCodec}[vlen]() if vlen else BytesCodec(endian=spec["endian"])
    inner = spec.get("filters", [])
    before = [codec({"name": "numcodecs." + f["id"], "configuration": {k: v for k, v in f.items() if k != "id"}}) for f in inner]
    for level in reversed(spec.get("shards", [])):
        if "transpose" in level:
            before.insert(0, TransposeCodec(order=level["transpose"]))     # the others flatten
        bottom = ShardingCodec(chunk_shape=tuple(level["chunks"]), codecs=[*before, bottom, *map(codec, level["codecs"])],
                               index_codecs=index_codecs(level["index"]), index_location=level["location"])
        before = []
    return before, bottom


def create_v3(folder, spec, dtype, data, fill, turn):
    """The array under `folder`. turn: a permutation of the axes that the metadata will say, done here on the data instead."""
    vlen = dtype if dtype in ("string", "variable_length_bytes") else None
    filters, bottom = serializer(spec, {"string": "string", "variable_length_bytes": "bytes"}.get(vlen))
    chunks = spec["chunks"]
    if turn:
        data, chunks = data.transpose(turn), [chunks[i] for i in turn]
    elif spec.get("transpose"):
        filters.insert(0, TransposeCodec(order=spec["transpose"]))
    kw = {} if fill is None else {"fill_value": fill}
    arr = zarr.create_array(zarr.storage.LocalStore(folder), shape=data.shape, dtype=dtype, chunks=tuple(chunks), zarr_format=3, filters=filters or None,
                            serializer=bottom, compressors=[codec(c) for c in spec["codecs"]] or None,
                            chunk_key_encoding={"name": spec["keys"][0], "separator": spec["keys"][1]}, dimension_names=None if turn else spec["dims"],
                            config={"write_empty_chunks": not spec["sparse"]}, **kw)
    if data.size:
        arr[...] = data if data.shape else data[()]
    return arr


def chunk_file(folder, spec, idx):
    name, sep = spec["keys"] if spec["format"] == 3 else ("v2", spec["separator"] or ".")
    key = sep.join([*(["c"] if name == "default" else []), *map(str, idx)]) or "0"
    return os.path.join(folder, key)


def turned_back(folder, spec, turn):
    """The chunks of the turned array get the keys of the array itself."""
    aside = folder + ".turned"
    for idx, _ in boxes(spec["shape"], spec["chunks"]):
        old = chunk_file(folder, spec, [idx[i] for i in turn])
        if os.path.exists(old):
            new = chunk_file(aside, spec, idx)
            os.makedirs(os.path.dirname(new), exist_ok=True)
            os.rename(old, new)
    if os.path.isdir(aside):
        shutil.copy(os.path.join(folder, "zarr.json"), aside)
    if os.path.isdir(aside):
        shutil.rmtree(folder)
        os.rename(aside, folder)


def write_v3(folder, spec):
    rng = random.Random(spec["seed"])
    typ = ref.type_v3(spec["type"])
    n = int(np.prod(spec["shape"], dtype=int))
    raw_strings = "raw_strings" in spec["forms"]
    if ref.is_vlen(typ):
        kind = ref.Scalar("bytes", 0) if raw_strings else typ
        data = object_array(values.items(kind, n, spec["seed"]), spec["shape"])
        dtype = "string" if kind.kind == "string" else "variable_length_bytes"
        plain = kind.kind == "string"
        fill = record = None if spec["fill"] is None else values.items(kind, 1, spec["fill"])[0]
        default = "" if plain else b""
        fill = record = b"" if raw_strings else fill         # bytes that are no UTF-8 cannot be said in JSON
    else:
        dtype = np.dtype(values.writer_type(typ))
        tame = bool(spec.get("filters"))
        data = np.frombuffer(values.records(typ, n, spec["seed"], tame), dtype).reshape(spec["shape"]).copy()
        record = values.tame_fill(typ, values.records(typ, 1, spec["fill"], tame)) if spec["fill"] is not None else default_fill(typ)
        fill = np.frombuffer(record, dtype)[0] if spec["fill"] is not None else None
        default = np.frombuffer(record, dtype)[0]
    have = default if fill is None else fill
    if spec["sparse"]:
        blanked(data, spec, have, rng)
    turn = None
    try:
        create_v3(folder, spec, dtype, data, fill, None)
    except KeyError:                             # inner chunks that are not to be written, in nested shards: not possible
        shutil.rmtree(folder)
        create_v3(folder, {**spec, "sparse": False}, dtype, data, fill, None)
    except ValueError:                           # outer and inner chunks do not divide in the array's own axes, which the format does not ask
        if not spec.get("transpose") or not spec.get("shards"):
            raise
        turn = spec["transpose"]
        shutil.rmtree(folder, ignore_errors=True)
        create_v3(folder, {**spec, "sparse": False}, dtype, data, fill, turn)
        turned_back(folder, spec, turn)
    for idx in spec["skip"]:
        if os.path.exists(chunk_file(folder, spec, idx)):
            os.remove(chunk_file(folder, spec, idx))
    amend_v3(os.path.join(folder, "zarr.json"), spec, typ, record if record is not None else default, turn, rng)
    out = filled(data, spec, have)
    if "refused" in spec["forms"] or LOSSY & {f["id"] for f in spec.get("filters", [])} or spec.get("filters") and typ.kind == "f":
        return None
    if ref.is_vlen(typ):
        return [v.encode() if isinstance(v, str) else v for v in out.reshape(-1)]
    return np.ascontiguousarray(out).tobytes()


def default_fill(typ):
    """What zarr-python takes when nothing is said."""
    if isinstance(typ, ref.Scalar) and typ.kind in "Mm":
        return ref.NAT.to_bytes(8, "little", signed=True)
    return bytes(typ.size)


def renamed(t):
    """struct to the older `structured`."""
    if isinstance(t, dict) and t["name"] == "struct":
        return {"name": "structured", "configuration": {"fields": [[f["name"], renamed(f["data_type"])] for f in t["configuration"]["fields"]]}}
    return t


def with_objects(t):
    """Field types spelled as objects, which the registry allows."""
    if isinstance(t, dict) and t["name"] == "struct":
        return {"name": "struct", "configuration": {"fields": [{"name": f["name"], "data_type": {"name": f["data_type"]} if isinstance(f["data_type"], str)
                                                                else with_objects(f["data_type"])} for f in t["configuration"]["fields"]]}}
    return t


def bottom_of(codecs):
    for c in codecs:
        if c["name"] == "sharding_indexed":
            return bottom_of(c["configuration"]["codecs"])
        if c["name"] in ref.SERIALIZERS:
            return c


def amend_v3(path, spec, typ, record, turn, rng):
    with open(path) as f:
        m = json.load(f)
    forms = set(spec["forms"])
    if turn:
        m["shape"], m["chunk_grid"]["configuration"]["chunk_shape"] = spec["shape"], spec["chunks"]
        m["codecs"].insert(0, {"name": "transpose", "configuration": {"order": turn}})
        if spec["dims"]:
            m["dimension_names"] = spec["dims"]
    amend_type(m, spec, typ, record, forms, rng)
    if spec["attributes"] or rng.random() < .5:
        m["attributes"] = spec["attributes"]
    else:
        m.pop("attributes", None)
    if "zero_chunk" in forms and not spec.get("shards"):
        m["chunk_grid"]["configuration"]["chunk_shape"] = [0 if s == 0 else c for s, c in zip(spec["shape"], spec["chunks"])]
    if "extra_member" in forms:
        m["surprise"] = {"must_understand": False, "name": "x"}
    if "empty_transformers" in forms:
        m["storage_transformers"] = []
    if "no_key_configuration" in forms:
        m["chunk_key_encoding"].pop("configuration")
    amend_codecs(m, spec, typ, forms)
    put_json(path, m, rng)


def amend_type(m, spec, typ, record, forms, rng):
    is_struct = isinstance(typ, ref.Struct)
    same = m["data_type"] == spec["type"]
    big = spec["endian"] == "big"
    m["data_type"] = spec["type"]
    if forms & {"structured"} and is_struct:
        m["data_type"] = renamed(spec["type"])
    elif "object_fields" in forms:
        m["data_type"] = with_objects(spec["type"])
    if ref.is_vlen(typ):
        if "raw_strings" in forms:
            m["fill_value"] = ""
            bottom_of(m["codecs"])["name"] = "vlen-utf8"
        return
    packed = "packed_fill" in forms or "structured" in forms and rng.random() < .7
    if not same or "fill_form" in forms or packed or m["data_type"] != spec["type"]:
        m["fill_value"] = values.fill_json(typ, record, rng, big=big, packed=packed)
    if "bare_fill" in forms and is_struct and len(typ.fields) == 1 and isinstance(typ.fields[0][1], ref.Scalar):
        m["fill_value"] = values.fill_json(typ.fields[0][1], record, rng)
    if "structured" in forms and is_struct and not big:
        bottom_of(m["codecs"]).pop("configuration", None)


def amend_codecs(m, spec, typ, forms):
    bottom = bottom_of(m["codecs"])
    one_byte = ref.is_vlen(typ) or all(leaf.swap_unit() == 1 for _, leaf in ref.leaves(typ))
    if "no_configuration" in forms and one_byte:
        bottom.pop("configuration", None)
    for c in m["codecs"]:
        if "odd_order" in forms and c["name"] == "transpose":
            order = list(c["configuration"]["order"])
            rank = list(range(len(order)))
            c["configuration"]["order"] = "C" if order == rank else "F" if order == rank[::-1] else order
        if not c.get("configuration", True):
            c.pop("configuration")
    if "bare_codecs" in forms:
        m["codecs"] = [c["name"] if list(c) == ["name"] else c for c in m["codecs"]]
    if "refused" in forms:
        m["codecs"].append({"name": "no.such.codec"})


def disagrees(spec):
    """Where zarr-python is known to read something else: a packed fill of big-endian records; "/" keys that the metadata does not tell; the fill
    value 0 of strings, which it takes for "0"; no fill value of big-endian times."""
    if "hidden_slash" in spec["forms"] or spec["type"] == "|O" and spec["fill"] == "zero":
        return True
    if "bare_fill" in spec["forms"]:             # some of them are taken for base64
        return True
    if isinstance(spec["type"], str) and spec["type"][:2] in (">M", ">m") and spec["fill"] == "null":
        return True
    return spec["format"] == 3 and spec["endian"] == "big" and bool({"structured", "packed_fill"} & set(spec["forms"]))


# --- version 2 ---------------------------------------------------------------------------------------------------

class WriterV2:
    """zarr-python 2.18 in its own process: one line of JSON for each array."""
    def __init__(self):
        self.child = None

    def write(self, job):
        if self.child is None:
            clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
            self.child = subprocess.Popen([os.path.join(HERE, "run"), "--v2", os.path.join(HERE, "write_v2.py")], env=clean, text=True,
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.child.stdin.write(json.dumps(job) + "\n")
        self.child.stdin.flush()
        answer = self.child.stdout.readline()
        if answer.strip() != "done":
            raise RuntimeError(f"zarr-python 2.18: {answer.strip() or 'has ended'}")

    def close(self):
        if self.child:
            self.child.stdin.close()
            self.child.wait(30)


V2 = WriterV2()


def type_of_v2(spec):
    if spec["type"] != "|O":
        return ref.type_v2(spec["type"])
    return ref.Scalar({"vlen-utf8": "string", "vlen-bytes": "bytes", "json2": "json"}[spec["filters"][0]["id"]], 0)


def write_v2(folder, spec):
    rng = random.Random(spec["seed"])
    typ = type_of_v2(spec)
    n = int(np.prod(spec["shape"], dtype=int))
    job = {"folder": folder, "spec": spec}
    if ref.is_vlen(typ):
        fill = {"null": None, "zero": 0}.get(spec["fill"], "" if typ.kind == "bytes" else values.random_text(np.random.default_rng(spec["fill_seed"]), 5))
        data = object_array(values.items(typ, n, spec["seed"]), spec["shape"])
        job["items"] = [base64.b64encode(v).decode() if typ.kind == "bytes" else v for v in data.reshape(-1)]
        job["fill"] = "" if typ.kind != "json" else fill
        record = {"bytes": b"", "string": fill or ""}.get(typ.kind, "" if fill in (None, 0) else fill)
    else:
        tame = any(f["id"] in LOSSY | {"delta"} for f in spec["filters"])
        raw = values.records(typ, n, spec["seed"], tame)
        zero = default_fill(typ) if spec["fill"] == "null" else bytes(typ.size)
        record = values.tame_fill(typ, values.records(typ, 1, spec["fill_seed"], tame)) if spec["fill"] == "random" else zero
        data = np.frombuffer(raw, np.dtype((np.void, typ.size))).reshape(spec["shape"])
        fill = spec["fill"] == "zero" and 0 if spec["fill"] != "random" else values.fill_json(typ, record, rng, v2=True)
        fill = None if spec["fill"] == "null" else fill
        job["records"] = base64.b64encode(ref.little(typ, raw)).decode()
        job["fill"] = None if spec["fill"] == "null" else base64.b64encode(ref.little(typ, record)).decode()
        record = np.frombuffer(record, data.dtype)[0]
    if zero_is_no_fill(typ) and fill == 0 and not isinstance(fill, bool):
        fill = None
    if "by_3" in spec["forms"]:
        by_3(folder, spec, typ, raw, record.tobytes() if spec["fill"] != "null" else None)
    else:
        V2.write(job)
    for idx in spec["skip"]:
        if os.path.exists(chunk_file(folder, spec, idx)):
            os.remove(chunk_file(folder, spec, idx))
    amend_v2(folder, spec, fill, rng)
    if "refused" in spec["forms"] or LOSSY & {f["id"] for f in spec["filters"]} or any(f["id"] == "delta" for f in spec["filters"]) and typ.kind == "f":
        return None
    out = filled(data, spec, record) if not ref.is_vlen(typ) else filled_objects(data, spec, record)
    if ref.is_vlen(typ):
        each = ref.json_row if typ.kind == "json" else lambda v: v.encode() if isinstance(v, str) else v
        return [each(v) for v in out.reshape(-1)]
    return np.ascontiguousarray(out).tobytes()


def by_3(folder, spec, typ, raw, record):
    """Version 2 written by zarr-python 3: no sub-arrays, no padding, no objects."""
    dtype = np.dtype(values.writer_type(typ, stored=True))
    data = np.frombuffer(ref.little(typ, raw), dtype).reshape(spec["shape"])
    arr = zarr.create_array(zarr.storage.LocalStore(folder), shape=data.shape, dtype=dtype, chunks=tuple(spec["chunks"]), zarr_format=2, order=spec["order"],
                            filters=[numcodecs.get_codec(dict(f)) for f in spec["filters"]] or None,
                            compressors=numcodecs.get_codec(dict(spec["compressor"])) if spec["compressor"] else None,
                            fill_value=None if record is None else np.frombuffer(ref.little(typ, record), dtype)[0],
                            chunk_key_encoding={"name": "v2", "separator": spec["separator"] or "."}, config={"write_empty_chunks": True})
    if data.size:
        arr[...] = data if data.shape else data[()]


def zero_is_no_fill(typ):
    """Complex numbers have a pair."""
    return isinstance(typ, ref.Scalar) and typ.kind in "c"


def filled_objects(data, spec, fill):
    data = data.copy()
    skip = {tuple(p) for p in spec["skip"]}
    for idx, where in boxes(data.shape, spec["chunks"]):
        if idx in skip:
            flat = np.empty(data[where].size if where else 1, object)
            flat[:] = [fill] * len(flat)
            data[where] = flat.reshape(data[where].shape) if where else fill
    return data


def amend_v2(folder, spec, fill, rng):
    forms = set(spec["forms"])
    with open(folder + "/.zarray") as f:
        m = json.load(f)
    if "by_3" not in forms or m["dtype"] != spec["type"] or spec["seed"] % 2:
        m["dtype"], m["fill_value"] = spec["type"], fill
    m.pop("dimension_separator", None)
    if spec["separator"] and "hidden_slash" not in forms:
        m["dimension_separator"] = spec["separator"]
    if "empty_filters" in forms:
        m["filters"] = []
    if "extra_member" in forms:
        m["surprise"] = 1
    if "refused" in forms:
        m["compressor"] = {"id": "no-such"}
    put_json(folder + "/.zarray", m, rng)
    if os.path.exists(folder + "/.zattrs"):
        os.remove(folder + "/.zattrs")
    if spec["attributes"] or "no_attributes" not in forms:
        put_json(folder + "/.zattrs", spec["attributes"], rng)


# --- the store ---------------------------------------------------------------------------------------------------

def write(spec, top):
    """Writes the store below the folder `top`. Returns its path and {path of an array: its records, or None where they are not foretold}."""
    root = os.path.join(top, "store")
    expected = {}
    rng = random.Random(spec["seed"])
    os.makedirs(root)
    for g in sorted(spec["groups"], key=lambda g: len(g["path"])):
        folder = os.path.join(root, *g["path"])
        os.makedirs(folder, exist_ok=True)
        if g["format"] == 3:
            put_json(folder + "/zarr.json", {"zarr_format": 3, "node_type": "group", "attributes": g["attributes"]}, rng)
        elif g["format"] == 2:
            put_json(folder + "/.zgroup", {"zarr_format": 2}, rng)
            if g["attributes"]:
                put_json(folder + "/.zattrs", g["attributes"], rng)
    for a in spec["arrays"]:
        aside = os.path.join(top, "array")
        expected["/".join(a["path"])] = (write_v3 if a["format"] == 3 else write_v2)(aside, a)
        place = os.path.join(root, *a["path"])
        if not a["path"]:
            os.rmdir(root)
        os.rename(aside, place)
    if spec["consolidated"]:
        consolidate(root, rng)
    if spec["pack"] != "dir":
        root = packed(root, spec["pack"], top)
    return root, expected


def documents(root, names):
    """(path of the node below the root, document's name, its value) for every document of those names."""
    for where, dirs, files in os.walk(root):
        dirs.sort()
        for name in sorted(set(files) & names):
            with open(os.path.join(where, name), encoding="utf-8", errors="surrogatepass") as f:
                rel = os.path.relpath(where, root)
                yield "" if rel == "." else rel, name, json.load(f)


def sayable(path):
    return not any("\ud800" <= c <= "\udfff" for c in path)


def consolidate(root, rng):
    top = os.path.join(root, "zarr.json")
    if os.path.exists(top):
        nodes = {p: d for p, _, d in documents(root, {"zarr.json"}) if sayable(p)}
        own = nodes.pop("")
        if own["node_type"] == "group":
            put_json(top, {**own, "consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": nodes}}, rng)
    elif os.path.exists(root + "/.zgroup"):
        nodes = {f"{p}/{name}".lstrip("/"): d for p, name, d in documents(root, {".zarray", ".zgroup", ".zattrs"}) if sayable(p)}
        put_json(root + "/.zmetadata", {"zarr_consolidated_format": 1, "metadata": nodes}, rng)


def packed(root, kind, top):
    path = os.path.join(top, "store.zarr.zip")
    method = zipfile.ZIP_DEFLATED if kind == "deflated" else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", method) as z:
        for where, dirs, files in os.walk(root):
            dirs.sort()
            for name in sorted(files):
                rel = os.path.relpath(os.path.join(where, name), root)
                if sayable(rel):
                    z.write(os.path.join(where, name), ("store.zarr/" if kind == "folder" else "") + rel)
    shutil.rmtree(root)
    return path


if __name__ == "__main__":
    import spec as specs
    print(write(specs.store(int(sys.argv[1])), sys.argv[2])[0])
