# SPDX-License-Identifier: MIT
"""JSONL: orjson, one dumps per record, columns to lists chunk by chunk (orjson takes plain NumPy arrays, not structured ones)."""
import sys
import orjson
import zarr  # noqa: F401
from _peer import Peer, blocks, open_zarr
p = Peer()
z = open_zarr(sys.argv[1])
p.opened()
names, n, out = z.dtype.names, 0, sys.stdout.buffer
dumps, opt = orjson.dumps, orjson.OPT_APPEND_NEWLINE
for a in blocks(z):
    a = a.reshape(-1)
    out.writelines(dumps(dict(zip(names, r)), option=opt) for r in zip(*[a[k].tolist() for k in names]))
    n += a.size
p.done(n)
