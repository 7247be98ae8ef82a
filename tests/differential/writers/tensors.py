# SPDX-License-Identifier: MIT
"""Arrays by tensorstore: the types that zarr-python lacks, structs, shards, transposed chunks, both formats. tensors.py FOLDER"""
import json
import os
import sys

import ml_dtypes
import numpy as np
import tensorstore as ts

TYPES = ["bfloat16", "float8_e3m4", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2", "float8_e5m2fnuz", "int4", "int2", "float4_e2m1fn"]


def write(folder, driver, metadata, data=None, field=None, part=None):
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": folder + "/"}, "metadata": metadata, **({"field": field} if field else {})}
    arr = ts.open(spec, create=not os.path.exists(folder), open=True).result()
    if data is not None:
        (arr[part] if part else arr).write(data).result()


def v3(data_type, shape, chunks, codecs, **more):
    return {"shape": shape, "data_type": data_type, "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}}, "codecs": codecs, **more}


def group(folder, **attributes):
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/zarr.json", "w") as f:
        json.dump({"zarr_format": 3, "node_type": "group", "attributes": attributes}, f)


LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}


def main(folder):
    group(folder, by="tensorstore")
    for name in TYPES:
        kind = np.dtype(getattr(ml_dtypes, name))
        every = np.arange(256, dtype="u1").view(kind) if kind.itemsize == 1 else np.arange(0, 65536, 257, dtype="<u2").view(kind)
        if name in ("int4", "int2", "float4_e2m1fn"):
            every = every[:16 if name != "int2" else 4]
        codecs = [LITTLE] if kind.itemsize > 1 else [{"name": "bytes"}]
        write(f"{folder}/{name}", "zarr3", v3(name, [len(every) + 4], [len(every) // 2], codecs, fill_value=1), every, part=slice(0, len(every)))
    grid = np.arange(35, dtype="<i4").reshape(5, 7) * 3 - 9
    shards = [{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 3], "codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, LITTLE, {"name": "zstd", "configuration": {"level": 3}}],
                                                           "index_codecs": [LITTLE, {"name": "crc32c"}], "index_location": "start"}}]
    write(folder + "/sharded", "zarr3", v3("int32", [5, 7], [4, 6], shards, fill_value=-1, dimension_names=["y", None]), grid[:4], part=slice(0, 4))
    write(folder + "/transposed", "zarr3", v3("int32", [5, 7], [3, 4], [{"name": "transpose", "configuration": {"order": "F"}}, {"name": "bytes", "configuration": {"endian": "big"}}]), grid)
    fields = {"name": "struct", "configuration": {"fields": [{"name": "x", "data_type": "uint8"}, {"name": "y", "data_type": "int16"}, {"name": "z", "data_type": "float64"}]}}
    for field, values in [("x", np.arange(6, dtype="u1")), ("y", np.arange(6, dtype="<i2") * -300), ("z", np.arange(6) / 7)]:
        write(folder + "/struct", "zarr3", v3(fields, [9], [4], [LITTLE], fill_value={"x": 170, "y": 4660, "z": 1.5}), values, field, slice(0, 6))
    one = {"name": "struct", "configuration": {"fields": [{"name": "only", "data_type": "float32"}]}}
    write(folder + "/struct_of_one", "zarr3", v3(one, [3], [2], [LITTLE], fill_value=2.5), np.array([0.1], "f4"), "only", slice(0, 1))
    v2 = {"shape": [4, 3], "chunks": [2, 2], "dtype": [["a", "<i4"], ["b", ">f8"], ["c", "|u1", [2]]], "order": "F", "compressor": {"id": "zlib", "level": 1}, "filters": None,
          "fill_value": "BwAAAD/4AAAAAAAAAQI=", "dimension_separator": "/"}
    write(folder + "/v2", "zarr", v2, np.arange(8, dtype="<i4").reshape(4, 2), "a", (slice(0, 4), slice(0, 2)))
    write(folder + "/v2", "zarr", v2, np.arange(8).reshape(4, 2) / 8, "b", (slice(0, 4), slice(0, 2)))


main(sys.argv[1])
