# SPDX-License-Identifier: MIT
"""What a random store consists of, as plain data: a dict that can be kept as JSON, written (write.py) and made smaller (shrink.py).

    {"seed", "pack": dir|zip|deflated|folder, "consolidated", "inside": path of the node that is mounted, "nonfinite", "fixed", "options": [words],
     "groups": [GROUP...], "arrays": [ARRAY...]}
    GROUP  {"path": [names], "format": 2|3|0 (no document), "attributes"}
    ARRAY  {"path", "format", "type": as the metadata says it, "shape", "chunks", "seed", "skip": [grid positions never written],
            "fill": null (the writer's own) or a seed, "forms": [rewrites of the metadata], "attributes", "dims", ...}

A name may hold bytes that are no UTF-8, as surrogate escapes.
"""
import random
import string

SCALARS_V3 = ["bool", *[f"{s}int{n}" for s in ("", "u") for n in (8, 16, 32, 64)], "float16", "float32", "float64", "complex64", "complex128"]
EXTRA_V3 = ["bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
            "float8_e4m3fn", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "int2", "uint2", "int4", "uint4", "complex_bfloat16", "complex_float16",
            "complex_float32", "complex_float64", "complex_float8_e4m3", "complex_float8_e5m2fnuz", "complex_float4_e2m1fn", "complex_float6_e3m2fn"]
UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "\u03bcs", "ns", "ps", "fs", "as", "generic"]

FIELD_NAMES = ["x", "y", "z", "t", "count", "idx_start", "pos", "weight", "a", "b", "flag", "name", "B cells", "CD4+ T/NK", "\u03b3\u03b4 T", "Mono.", "1", "01", "1e5", "NA"]
ODD_NAMES = ["a/b", "..", ".", ".hidden", "-rf", "--checkpoint=1", "%", "%41", "tab\there", "new\nline", "q\"uote,", "back\\slash", "del\x7f", "csi\x9b31m",
             "records.jsonl", "records.csv", "records", "records.npy", "unreadable.txt", "zarr.json", "attributes.json", "schema.json", "chunks.tsv", "values",
             "_index", "__index", "a.b", "x.npy", "count.npy", "\u00e9\u4e2d\U0001f600", " ", "~", "a~0123456789abcdef", "X", "Count", "*", "", "z" * 251, "w" * 252,
             "\u00e9" * 130, "y" * 300, "nul\0in", ".csv", ".zarr"]
NODE_NAMES = ["data", "points", "trials", "grid", "labels", "s0", "0", "Y", "y"]
ODD_NODES = [".hidden", "-rf", "per%cent", "sp ace", "records", "records.csv", "unreadable.txt", "chunks.tsv", "values", "x.npy", "\u00fcml\u00e4ut", "csi\x9b31m", "new\nline",
             "n" * 240, "~tilde", "b\udcff", ".raw", "q\"uote", "CASE", "case"]


def chance(rng, p):
    return rng.random() < p


# --- types -------------------------------------------------------------------------------------------------------

def scalar_v3(rng):
    k = rng.random()
    if k < .55:
        return rng.choice(SCALARS_V3)
    if k < .65:
        return rng.choice(EXTRA_V3)
    if k < .68:
        return f"r{8 * rng.randint(1, 5)}"
    if k < .78:
        return {"name": "fixed_length_utf32", "configuration": {"length_bytes": 4 * rng.randint(1, 9)}}
    if k < .86:
        return {"name": "null_terminated_bytes", "configuration": {"length_bytes": rng.randint(1, 12)}}
    if k < .90:
        return {"name": "raw_bytes", "configuration": {"length_bytes": rng.randint(1, 9)}}
    kind = rng.choice(["datetime64", "datetime64", "timedelta64"])
    return {"name": f"numpy.{kind}", "configuration": {"unit": rng.choice(UNITS), "scale_factor": rng.choice([1, 1, 1, 10, 25])}}


def names(rng, n):
    """n distinct field names, an awkward one now and then."""
    odd = chance(rng, .25)
    out = []
    while len(out) < n:
        name = rng.choice(ODD_NAMES if odd and chance(rng, .5) else FIELD_NAMES)
        if name in out:
            name = "".join(rng.choice(string.ascii_lowercase) for _ in range(rng.randint(1, 6)))
        if name not in out:
            out.append(name)
    return out


def field_count(rng):
    return rng.choice([1, 1, 2, 2, 3, 3, 4, 5, 7]) if chance(rng, .96) else rng.randint(20, 60)


def struct_v3(rng, depth=0):
    fields = []
    for name in names(rng, field_count(rng) if not depth else rng.randint(1, 3)):
        nested = depth < 3 and chance(rng, .15)
        fields.append({"name": name, "data_type": struct_v3(rng, depth + 1) if nested else scalar_v3(rng)})
    return {"name": "struct", "configuration": {"fields": fields}}


def scalar_v2(rng):
    order = rng.choice("<<>")
    kind = rng.choice("bbiiiiuuuffffcSUVMm")
    if kind == "b":
        return "|b1"
    if kind in "iu":
        size = rng.choice([1, 2, 4, 8])
        return f"{'|' if size == 1 else order}{kind}{size}"
    if kind == "f":
        return f"{order}f{rng.choice([2, 4, 8])}"
    if kind == "c":
        return f"{order}c{rng.choice([8, 16])}"
    if kind in "SV":
        return f"|{kind}{rng.randint(1, 9)}"
    if kind == "U":
        return f"{order}U{rng.randint(1, 6)}"
    unit = rng.choice([u for u in UNITS if u != "\u03bcs"])
    scale = rng.choice(["", "", "10", "25"])
    return f"{order}{kind}8" + ("" if unit == "generic" else f"[{scale}{unit}]")


def struct_v2(rng, depth=0):
    fields = []
    for name in names(rng, field_count(rng) if not depth else rng.randint(1, 3)):
        if name == "":
            name = "empty"                           # an empty name is the padding's
        typ = struct_v2(rng, depth + 1) if depth < 3 and chance(rng, .15) else scalar_v2(rng)
        entry = [name, typ]
        if chance(rng, .03):
            entry[0] = ["A title", name]
        if chance(rng, .15):
            entry.append([rng.randint(1, 3) for _ in range(rng.choice([1, 1, 2]))])
        fields.append(entry)
        if chance(rng, .05):
            fields.append(["", f"|V{rng.randint(1, 7)}"])
    return fields


# --- shapes ------------------------------------------------------------------------------------------------------

def shape_of(rng, most):
    rank = rng.choices([0, 1, 2, 3, 4], [6, 44, 28, 15, 7])[0]
    shape = [max(1, int(most ** (rng.uniform(.3, 1) / rank))) for _ in range(rank)]
    if rank and chance(rng, .05):
        shape[rng.randrange(rank)] = 0
    return shape


def chunks_of(rng, shape, most=48):
    """A chunk shape, from one record to more than the array; not too many chunks."""
    out = [max(1, min(int(s * rng.uniform(.1, 1.4)) or 1, s + 3)) for s in shape]
    while count(-(-s // c) for s, c in zip(shape, out)) > most:
        k = max(range(len(shape)), key=lambda i: shape[i] / out[i])
        out[k] *= 2
    return out


def count(sizes):
    n = 1
    for s in sizes:
        n *= s
    return n


def skipped(rng, shape, chunks):
    grid = [-(-s // c) for s, c in zip(shape, chunks)]
    all_of = [[]]
    for g in grid:
        all_of = [p + [i] for p in all_of for i in range(g)]
    share = rng.choice([0, 0, .2, .5, 1]) if chance(rng, .9) else 1
    return [p for p in all_of if rng.random() < share]


# --- arrays ------------------------------------------------------------------------------------------------------

def bytes_codecs(rng, records=True):
    """A short list of bytes-to-bytes codecs of version 3, as in the metadata. records: they see records, not a shard or strings."""
    out = []
    for _ in range(rng.choices([0, 1, 2], [30, 60, 10])[0]):
        k = rng.random()
        if k < .25:
            out.append({"name": "zstd", "configuration": {"level": rng.randint(0, 5), "checksum": chance(rng, .3)}})
        elif k < .45:
            out.append({"name": "blosc", "configuration": {"cname": rng.choice(["lz4", "lz4hc", "blosclz", "zlib", "zstd"]), "clevel": rng.randint(0, 9),
                                                           "shuffle": rng.choice(["noshuffle", "shuffle", "bitshuffle"]), "blocksize": 0}})
        elif k < .60:
            out.append({"name": "gzip", "configuration": {"level": rng.randint(0, 9)}})
        elif k < .70:
            out.append({"name": "crc32c"})
        else:
            name, conf = rng.choice([("zlib", {"level": 1}), ("bz2", {"level": 1}), ("lzma", {"preset": 0}), ("lz4", {"acceleration": 1}), ("zstd", {"level": 1}),
                                     ("gzip", {"level": 1}), ("blosc", {"cname": "lz4", "clevel": 5, "shuffle": 1}), ("shuffle", {}),
                                     ("crc32", {}), ("crc32c", {}), ("adler32", {}), ("fletcher32", {}), ("jenkins_lookup3", {})])
            if name != "shuffle" or records and not out:      # what is compressed has no multiple of the record's size
                out.append({"name": "numcodecs." + name, "configuration": conf})
    return out


def shards_of(rng, spec, vlen):
    """Levels of chunks in the shards, the innermost last: {"chunks", "location", "index", "codecs"}; makes spec's own chunks multiples.
    The axes of shards are those behind spec["transpose"]."""
    rank = len(spec["shape"])
    order = spec.get("transpose", range(rank))
    depth = rng.choices([1, 2, 3], [80, 16, 4])[0]
    inner = [max(1, spec["chunks"][i] // rng.choice([1, 2, 3, 5])) for i in order]
    levels = []
    for k in range(depth):
        levels.insert(0, {"chunks": inner, "location": rng.choice(["end", "end", "start"]), "index": rng.choice(["crc32c", "crc32c", "plain", "big", "big crc32c"]),
                          "codecs": bytes_codecs(rng, not vlen and not levels)})
        inner = [c * rng.choice([1, 2, 2, 3] if rank < 3 else [1, 2]) for c in inner]
    for i, c in zip(order, inner):
        spec["chunks"][i] = c
    return levels


def number_filters(rng, typ):
    """Array-to-array codecs of numcodecs for a plain numeric array, written alike in both versions: {"id", ...}."""
    kind, size = typ[1], int(typ[2:])
    if kind == "b":
        return [{"id": "packbits"}]
    lossless = [{"id": "delta", "dtype": typ}]
    if kind in "iu" and size > 1:
        lossless.append({"id": "astype", "encode_dtype": rng.choice(["<i8", "<f8"]) if size < 8 else "<i8", "decode_dtype": typ})
    lossy = []
    if kind == "f":
        lossy = [{"id": "fixedscaleoffset", "offset": rng.choice([0, 1000, -2.5]), "scale": rng.choice([1, 10, .25]), "dtype": typ, "astype": typ},
                 {"id": "quantize", "digits": rng.randint(1, 5), "dtype": typ}, {"id": "bitround", "keepbits": rng.randint(1, 9)}]
        lossy = lossy[:2] if size == 2 or typ[0] == ">" else lossy
    return [rng.choice(lossless + lossy)]


NUMBERS_V3 = {"bool": "|b1", "int8": "|i1", "uint8": "|u1", **{f"{s}int{8 * n}": f"<{(s or 'i')[0]}{n}" for s in ("", "u") for n in (2, 4, 8)},
              "float16": "<f2", "float32": "<f4", "float64": "<f8"}


def array_v3(rng, most):
    spec = {"format": 3, "forms": [], "skip": [], "dims": None, "attributes": {}}
    kind = rng.choices(["struct", "plain", "string", "bytes"], [55, 33, 8, 4])[0]
    spec["type"] = {"struct": struct_v3, "plain": scalar_v3}.get(kind, lambda r: kind)(rng)
    vlen = kind in ("string", "bytes")
    most = most if kind != "struct" else max(10, most // max(1, len(spec["type"]["configuration"]["fields"]) // 3))
    spec["shape"] = shape_of(rng, most)
    if kind == "bytes" and not spec["shape"]:
        spec["shape"] = [1]                          # zarr-python cannot write the other
    rank = len(spec["shape"])
    spec["chunks"] = chunks_of(rng, spec["shape"])
    spec["endian"] = rng.choice(["little", "little", "big"])
    spec["codecs"] = bytes_codecs(rng, not vlen)
    if kind == "plain" and isinstance(spec["type"], str) and spec["type"] in NUMBERS_V3 and chance(rng, .15):
        spec["filters"], spec["endian"] = number_filters(rng, NUMBERS_V3[spec["type"]]), "little"
    if rank and "filters" not in spec and chance(rng, .2):
        spec["transpose"] = rng.sample(range(rank), rank)
    if chance(rng, .3):
        spec["shards"] = shards_of(rng, spec, vlen)
        spec["codecs"] = bytes_codecs(rng, False) if chance(rng, .2) else []        # of the whole shard, which can then not be read by ranges
        if rank > 1 and chance(rng, .15):
            spec["shards"][-1]["transpose"] = rng.sample(range(rank), rank)
    spec["skip"] = skipped(rng, spec["shape"], spec["chunks"])
    spec["fill"] = rng.randrange(1 << 30) if chance(rng, .7) else None
    spec["sparse"] = chance(rng, .4)                 # chunks that equal the fill value are not written
    spec["keys"] = rng.choice([["default", "/"], ["default", "/"], ["default", "."], ["v2", "."], ["v2", "/"]])
    if rank and chance(rng, .35):
        pool = rng.sample(["x", "y", "z", "t", "inline", "crossline", "a.b", "q\"", "\u00e9"], rank)
        spec["dims"] = [None if chance(rng, .1) else n for n in (pool if chance(rng, .9) else [pool[0]] * rank)]
    if rank and chance(rng, .15):
        spec["attributes"]["_ARRAY_DIMENSIONS"] = rng.sample(["row", "col", "z", "t", "u"], rank if chance(rng, .8) else rng.randint(0, 5))
    wanted = {"no_configuration": .2, "extra_member": .08, "bare_codecs": .03, "empty_transformers": .05, "odd_order": .3 if "transpose" in spec else 0,
              "no_key_configuration": .3 if spec["keys"] in (["default", "/"], ["v2", "."]) else 0, "zero_chunk": .3 if 0 in spec["shape"] else 0,
              "fill_form": .6, "refused": .02}
    if kind == "struct":
        wanted |= {"structured": .2, "packed_fill": .15, "object_fields": .06, "bare_fill": .4 if len(spec["type"]["configuration"]["fields"]) == 1 else 0}
    spec["forms"] = [f for f, p in wanted.items() if chance(rng, p)]
    if kind == "string" and rank and chance(rng, .08):
        spec["forms"].append("raw_strings")
    return spec


FILTERS_V2 = [{"id": "crc32"}, {"id": "adler32"}, {"id": "crc32c"}, {"id": "fletcher32"}, {"id": "jenkins_lookup3"}, {"id": "base64"}, {"id": "zlib", "level": 1},
              {"id": "shuffle", "elementsize": 1}]
COMPRESSORS_V2 = [{"id": "zlib", "level": 1}, {"id": "gzip", "level": 1}, {"id": "bz2", "level": 1}, {"id": "lz4", "acceleration": 1}, {"id": "zstd", "level": 1},
                  {"id": "lzma", "format": 1, "check": -1, "preset": 0, "filters": None}, {"id": "lzma", "format": 2, "check": -1, "preset": 0, "filters": None},
                  {"id": "lzma", "format": 3, "check": -1, "preset": None, "filters": [{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]}]


def array_v2(rng, most):
    spec = {"format": 2, "forms": [], "skip": [], "attributes": {}, "filters": []}
    kind = rng.choices(["struct", "plain", "vlen-utf8", "vlen-bytes", "json2"], [55, 32, 6, 3, 4])[0]
    spec["type"] = {"struct": struct_v2, "plain": scalar_v2}.get(kind, lambda r: "|O")(rng)
    if kind == "plain" and spec["type"][1:] in ("M8", "m8"):
        spec["type"] = "<i8"                         # zarr-python writes times without a unit only in structs
    spec["shape"] = shape_of(rng, most if kind != "struct" else max(10, most // max(1, len(spec["type"]) // 2)))
    rank = len(spec["shape"])
    spec["chunks"] = chunks_of(rng, spec["shape"])
    spec["order"] = rng.choice("CCF")
    spec["separator"] = rng.choice([".", "/", None])
    k = rng.random()
    spec["compressor"] = None if k < .25 else rng.choice(COMPRESSORS_V2) if k < .65 else {
        "id": "blosc", "cname": rng.choice(["lz4", "lz4hc", "blosclz", "zlib", "zstd"]), "clevel": rng.randint(0, 9), "shuffle": rng.choice([-1, 0, 1, 2]), "blocksize": 0}
    if kind == "plain" and spec["type"][1] in "biuf" and chance(rng, .25):
        spec["filters"] += number_filters(rng, spec["type"])
    if chance(rng, .2):
        spec["filters"].append(rng.choice(FILTERS_V2))
    if kind not in ("struct", "plain"):
        spec["filters"] = [{"id": kind}] + [f for f in spec["filters"] if f["id"] in ("zlib", "crc32")]
        if kind == "json2":
            spec["filters"][0].update(encoding="utf-8", skipkeys=False, ensure_ascii=chance(rng, .5), check_circular=True, allow_nan=True, indent=None,
                                      separators=[",", ":"], sort_keys=False, strict=True)
    spec["skip"] = skipped(rng, spec["shape"], spec["chunks"])
    spec["fill"] = rng.choice(["null", "zero", "random", "random", "random"])
    spec["fill_seed"] = rng.randrange(1 << 30)
    if rank and chance(rng, .25):
        spec["attributes"]["_ARRAY_DIMENSIONS"] = rng.sample(["row", "col", "z", "t", "u"], rank if chance(rng, .8) else rng.randint(0, 5))
    wanted = {"empty_filters": 0 if spec["filters"] else .2, "extra_member": .1, "no_attributes": 0 if spec["attributes"] else .5, "refused": .02,
              "hidden_slash": .2 if spec["separator"] == "/" and rank > 1 else 0,
              "by_3": .3 if spec["type"] != "|O" and not any(isinstance(t, str) and t[1:2] in "Mm" for t in walk_types(spec["type"])) and not any(len(f) > 2 or f[0] == "" or isinstance(f[0], list) for t in walk_types(spec["type"]) if isinstance(t, list) for f in t) else 0}
    spec["forms"] = [f for f, p in wanted.items() if chance(rng, p)]
    return spec


ATTRIBUTES = [("units", "m"), ("big", 9007199254740993), ("list", [1, 2.5, None, "\u00e9", {"k": []}]), ("text", "tab\t\"q\" \x7f\x9b \u2028"), ("neg", -0.0),
              ("nan", float("nan")), ("inf", float("-inf")), ("", {"": ""}), ("huge", 2 ** 70), ("_REFERENCE_FIELDS", ["timeseries"])]


def attributes(rng):
    return dict(rng.sample(ATTRIBUTES, rng.choice([0, 0, 1, 2, 4])))


# --- stores ------------------------------------------------------------------------------------------------------

def store(seed, only=(), without=(), arrays=8):
    """The store of that seed. only, without: features that each array must have, or must not (see features)."""
    rng = random.Random(seed)
    out = {"seed": seed, "pack": rng.choices(["dir", "zip", "deflated", "folder"], [80, 10, 7, 3])[0], "consolidated": chance(rng, .15), "groups": [], "arrays": []}
    root_array = chance(rng, .12)
    formats = rng.choice([[3], [3], [2], [2, 3]])
    taken = set()
    if not root_array:
        out["groups"].append({"path": [], "format": rng.choice([*formats, *formats, 0]) if out["pack"] == "dir" else formats[0], "attributes": attributes(rng)})
        for _ in range(rng.choice([0, 0, 1, 2, 3])):
            out["groups"].append({"path": place(rng, out, taken), "format": rng.choice([*formats, *formats, 0]), "attributes": attributes(rng)})
    tries = 0
    while len(out["arrays"]) < (1 if root_array else rng.randint(arrays // 2, arrays + 2)) and tries < 40:
        tries += 1
        most = 3 * 10 ** 4 if chance(rng, .015) else rng.choice([20, 60, 200])
        spec = (array_v3 if rng.choice(formats) == 3 else array_v2)(rng, most)
        spec["seed"] = rng.randrange(1 << 30)
        spec["attributes"] |= attributes(rng)
        spec["path"] = [] if root_array else place(rng, out, taken)
        have = features(spec)
        if have >= set(only) and not have & set(without):
            out["arrays"].append(spec)
    options(rng, out)
    if "inside" in without:
        out["inside"] = []
    if {"zip"} & set(without):
        out["pack"] = "dir"
    if {"consolidated"} & set(without):
        out["consolidated"] = False
    if {"implied", "v2"} & set(without) and out["groups"]:
        for g in out["groups"]:
            g["format"] = g["format"] if g["format"] == 3 or g["format"] == 0 and "implied" not in without else 3
    return out


def options(rng, out):
    """What of a store is mounted, and with which options."""
    nodes = [n["path"] for n in [*out["arrays"], *(g for g in out["groups"] if g["format"])] if n["path"] and all("\ud800" > c or c > "\udfff" for c in "".join(n["path"]))]
    out["inside"] = rng.choice(nodes) if nodes and chance(rng, .08) else []
    out["options"] = ["-o", "cache=1M"] if chance(rng, .3) else []
    out["nonfinite"] = chance(rng, .15)
    if out["nonfinite"]:
        out["options"] = out["options"] + ["-o", "nonfinite=string"]
    out["fixed"] = chance(rng, .15)
    if out["fixed"]:
        out["options"] = out["options"] + ["-o", "text=fixed"]


def place(rng, out, taken):
    """A path below one of the groups that is not taken yet."""
    parent = rng.choice(out["groups"])["path"]
    while True:
        name = rng.choice(ODD_NODES) if chance(rng, .12) else rng.choice(NODE_NAMES)
        if (*parent, name) in taken:
            name = "n" + str(rng.randrange(10 ** 6))
        if (*parent, name) not in taken:
            taken.add((*parent, name))
            return [*parent, name]


def walk_types(t):
    """Every type in a metadata type, itself included."""
    yield t
    if isinstance(t, dict):
        for f in t.get("configuration", {}).get("fields", []):
            yield from walk_types(f["data_type"])
    elif isinstance(t, list):
        for f in t:
            yield from walk_types(f[1])


def features(spec):
    """The tags of an array that --only and --without know."""
    types = list(walk_types(spec["type"]))
    is_struct = isinstance(spec["type"], list) or isinstance(spec["type"], dict) and spec["type"]["name"] == "struct"
    out = {f"v{spec['format']}", "struct" if is_struct else "plain", f"{len(spec['shape'])}d", *spec["forms"]}
    chains = [spec.get("codecs", []), *[level["codecs"] for level in spec.get("shards", [])]]
    out |= {c["name"] for chain in chains for c in chain}
    out |= {c["id"] for c in [*spec.get("filters", []), *([spec["compressor"]] if spec.get("compressor") else [])]}
    tests = {"shards": bool(spec.get("shards")), "nested_shards": len(spec.get("shards", [])) > 1, "transpose": "transpose" in str(spec.get("shards")) or bool(spec.get("transpose")),
             "order_f": spec.get("order") == "F", "filters": bool(spec.get("filters")), "vlen": spec["type"] in ("string", "bytes", "|O"),
             "extra_types": any(isinstance(t, str) and t in EXTRA_V3 for t in types), "nested": is_struct and len([t for t in types if isinstance(t, list) or isinstance(t, dict) and t["name"] == "struct"]) > 1,
             "subarray": "[" in str(spec["type"]) and any(len(f) > 2 for t in types if isinstance(t, list) for f in t), "empty": 0 in spec["shape"],
             "names": any(n in ODD_NAMES for n in field_names(spec["type"])), "missing": bool(spec["skip"]), "big": count(spec["shape"]) > 2000}
    return out | {k for k, v in tests.items() if v}


def field_names(t):
    if isinstance(t, dict):
        return [n for f in t.get("configuration", {}).get("fields", []) for n in (f["name"], *field_names(f["data_type"]))]
    if isinstance(t, list):
        return [n for f in t for n in (f[0] if isinstance(f[0], str) else f[0][1], *field_names(f[1]))]
    return []
