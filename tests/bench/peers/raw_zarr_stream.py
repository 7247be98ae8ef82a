# SPDX-License-Identifier: MIT
"""Raw bytes of one field with zarr-python in runs of chunks."""
import sys
import numpy as np
import zarr  # noqa: F401
if "zarrs" in sys.argv:
    import zarrs  # noqa: F401
from _peer import Peer, blocks, open_zarr
p = Peer()
z = open_zarr(sys.argv[1], "zarrs" if "zarrs" in sys.argv else None)
p.opened()
n = 0
for a in blocks(z):
    c = a if sys.argv[2] == "-" else a[sys.argv[2]]
    sys.stdout.buffer.write(c.tobytes())
    n += c.size
p.done(n)
