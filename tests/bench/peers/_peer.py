# SPDX-License-Identifier: MIT
"""Shared by the peer scripts: open a store, time the phases inside the process, report one JSON line on stderr.

Every peer is run as `python3 NAME.py STORE [ARGS] > /dev/null` and writes its product to standard output.
Report: import_s (process start to imports done), open_s, work_s (after open, to last byte), records, rss_mb.
"""
import json
import os
import resource
import sys
import time
import warnings

warnings.filterwarnings("ignore")
HZ = os.sysconf("SC_CLK_TCK")


def since_start():
    """Seconds since this process was started (so that interpreter start-up counts)."""
    ticks = int(open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / HZ


class Peer:
    def __init__(self):
        self.imported = since_start()
        self.marks = {}
        self.t0 = time.perf_counter()

    def opened(self):
        self.t1 = time.perf_counter()

    def done(self, records, **more):
        sys.stdout.flush()
        t2 = time.perf_counter()
        kids = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        print(json.dumps({"import_s": round(self.imported, 3), "open_s": round(self.t1 - self.t0, 4),
                          "work_s": round(t2 - self.t1, 4), "records": records,
                          "rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
                          "kids_rss_mb": round(kids / 1024), **more}), file=sys.stderr)


def open_zarr(path, pipeline=None):
    import zarr
    if pipeline == "zarrs":
        import zarrs  # noqa: F401
        zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    return zarr.open_array(store=path, mode="r")


def columns(a):
    """A structured array as contiguous columns; subfields of a 2-D array are flattened in C order."""
    import numpy as np
    return {n: np.ascontiguousarray(a[n]).reshape(-1) for n in a.dtype.names}


def arrow(a):
    import pyarrow as pa
    return pa.table({n: pa.array(c) for n, c in columns(a).items()})


def blocks(z, size=1 << 18):
    """z in runs of whole chunks: what someone does who minds the memory."""
    step = max(1, size // z.chunks[0]) * z.chunks[0]
    for lo in range(0, z.shape[0], step):
        yield z[lo:min(lo + step, z.shape[0])]
