# SPDX-License-Identifier: MIT
"""CSV: as csv_polars.py, but in runs of chunks, so memory stays bounded."""
import sys
import polars as pl
import pyarrow  # noqa: F401
import zarr  # noqa: F401
from _peer import Peer, arrow, blocks, open_zarr
p = Peer()
z = open_zarr(sys.argv[1])
p.opened()
n = 0
for a in blocks(z):
    pl.from_arrow(arrow(a)).write_csv(sys.stdout.buffer, include_header=n == 0)
    n += a.size
p.done(n)
