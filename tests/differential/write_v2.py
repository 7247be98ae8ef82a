# SPDX-License-Identifier: MIT
"""Writes arrays of version 2 with zarr-python 2.18: one line of JSON on standard input for each (see WriterV2 in write.py), `done` as the answer."""
import base64
import json
import sys
import warnings

import numcodecs
import numpy as np
import zarr

import reference as ref
import values

warnings.simplefilter("ignore")


def write(job):
    spec = job["spec"]
    codecs = [numcodecs.get_codec(dict(f)) for f in spec["filters"]]
    kw = {"shape": tuple(spec["shape"]), "chunks": tuple(spec["chunks"]), "order": spec["order"], "dimension_separator": spec["separator"] or ".",
          "compressor": numcodecs.get_codec(dict(spec["compressor"])) if spec["compressor"] else None, "store": zarr.DirectoryStore(job["folder"])}
    if spec["type"] == "|O":
        flat = np.empty(len(job["items"]), object)
        for i, v in enumerate(job["items"]):
            flat[i] = base64.b64decode(v) if spec["filters"][0]["id"] == "vlen-bytes" else v
        arr = zarr.create(dtype=object, object_codec=codecs[0], filters=codecs[1:] or None, fill_value=0 if spec["filters"][0]["id"] == "vlen-bytes" else job["fill"], **kw)
    else:
        dtype = np.dtype(values.writer_type(ref.type_v2(spec["type"]), stored=True))
        flat = np.frombuffer(base64.b64decode(job["records"]), dtype)
        fill = None if job["fill"] is None else np.frombuffer(base64.b64decode(job["fill"]), dtype)[0]
        arr = zarr.create(dtype=dtype, filters=codecs or None, fill_value=fill, **kw)
    data = flat.reshape(spec["shape"])
    if data.size:
        arr[...] = data


for line in sys.stdin:
    try:
        write(json.loads(line))
        print("done", flush=True)
    except Exception as e:
        print(f"{type(e).__name__}: {e}".replace("\n", " "), flush=True)
