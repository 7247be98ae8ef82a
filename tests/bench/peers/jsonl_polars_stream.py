# SPDX-License-Identifier: MIT
"""JSONL: as jsonl_polars.py, but in runs of chunks, so memory stays bounded."""
import sys
import polars as pl
import pyarrow  # noqa: F401
import zarr  # noqa: F401
from _peer import Peer, arrow, blocks, open_zarr
p = Peer()
z = open_zarr(sys.argv[1], "zarrs" if "zarrs" in sys.argv else None)
p.opened()
n = 0
for a in blocks(z):
    pl.from_arrow(arrow(a)).write_ndjson(sys.stdout.buffer)
    n += a.size
p.done(n)
