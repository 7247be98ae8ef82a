# SPDX-License-Identifier: MIT
"""One numeric field as text lines: two threads with polars, in runs of chunks; written in order."""
import io
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import polars as pl
import zarr  # noqa: F401
from _peer import Peer, open_zarr


def render(span):
    a = z[span[0]:span[1]]
    b = io.BytesIO()
    pl.DataFrame({"v": a if sys.argv[2] == "-" else np.ascontiguousarray(a[sys.argv[2]])}).write_csv(b, include_header=False)
    return b.getbuffer()


p = Peer()
z = open_zarr(sys.argv[1])
p.opened()
step = max(1, (1 << 18) // z.chunks[0]) * z.chunks[0]
with ThreadPoolExecutor(2) as pool:
    todo = deque()
    for lo in range(0, z.shape[0], step):
        todo.append(pool.submit(render, (lo, min(lo + step, z.shape[0]))))
        if len(todo) > 3:
            sys.stdout.buffer.write(todo.popleft().result())
    while todo:
        sys.stdout.buffer.write(todo.popleft().result())
p.done(z.size)
