#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the stores the benchmarks read.  Deterministic: the same bytes of data for the same seed.

usage: make_stores.py OUTDIR [NAME ...] [--scale F]

NAME is one of: trials trials_lz4 trials_raw trials_shard trials_num nwb head plain plain_raw sparse many many_cons  (default: all)
--scale multiplies record counts (0.01 for a smoke test).  Needs zarr >= 3.4 and numpy.  About 1.3 GB at scale 1.
"""
import argparse
import json
import pathlib
import shutil
import sys
import time
import warnings

import numpy as np
import zarr
from zarr.codecs import BloscCodec, ZstdCodec

warnings.filterwarnings("ignore")

TRIALS = np.dtype([("idx", "<i4"), ("count", "<i4"), ("t", "<f8"), ("x", "<f8"), ("y", "<f4"), ("label", "<U8"), ("ok", "?")])
TRIALS_NUM = np.dtype([(n, TRIALS[n]) for n in TRIALS.names if n != "label"])  # tensorstore 0.1.86 has no fixed_length_utf32
NWB = np.dtype([("idx_start", "<i4"), ("count", "<i4"), ("timeseries", "<U512")])
CHUNK = 65536

# Trace-header words, 4 and 2 bytes wide, 89 in all.
W4 = ("tracl tracr fldr tracf ep cdp cdpt offset gelev selev sdepth gdel sdel swdep gwdep sx sy gx gy "
      "cdpx cdpy iline xline sp tcmant semant").split()
W2 = ("trid nvs nhs duse scalel scalco counit wevel swevel sut gut sstat gstat tstat laga lagb delrt muts mute ns dt "
      "gain igc igi corr sfs sfe slen styp stas stae tatyp afilf afils nofilf nofils lcf hcf lcs hcs year day hour "
      "minute sec timbas trwf grnors grnofr grnlof gaps otrav scsp tvmu tcexp tcunit tdunit devtr scalt srctyp sedirn "
      "smexp smunit").split()
HEAD = np.dtype([(n, "<i4") for n in W4] + [(n, "<i2") for n in W2])
assert len(HEAD.names) == 89

LABELS = np.array(["left", "right", "nogo", "catch", "reward", "omit-1", "laser_on", "µ-stim"], dtype="<U8")


def trials_block(lo, n):
    """Records lo .. lo+n of the trials array; a block depends on lo alone, so any writer order gives the same store."""
    rng = np.random.default_rng([20261130, lo])
    a = np.zeros(n, TRIALS)
    i = np.arange(lo, lo + n, dtype=np.int64)
    a["idx"] = (i * 137) % 2_000_000_000
    a["count"] = rng.integers(1, 500, n)
    a["t"] = i / 30000.0                      # a sampling clock: mostly 16 or 17 digits
    a["x"] = rng.standard_normal(n)           # full-precision measurement: 16 to 18 digits
    a["y"] = rng.standard_normal(n).astype("<f4")
    a["label"] = LABELS[rng.integers(0, len(LABELS), n)]
    a["ok"] = rng.random(n) < 0.8
    return a


def create(path, **kw):
    shutil.rmtree(path, ignore_errors=True)
    return zarr.create_array(store=str(path), zarr_format=3, **kw)


def write_trials(path, n, compressors, shards=None, chunk=CHUNK):
    z = create(path, shape=(n,), chunks=(chunk,), shards=shards, dtype=TRIALS, compressors=compressors)
    for lo in range(0, n, CHUNK):
        m = min(CHUNK, n - lo)
        z[lo:lo + m] = trials_block(lo, m)


def trials(path, s):
    write_trials(path, int(5_000_000 * s), [ZstdCodec(level=0)])


def trials_lz4(path, s):
    write_trials(path, int(5_000_000 * s), [BloscCodec(cname="lz4", clevel=5, shuffle="shuffle", typesize=TRIALS.itemsize)])


def trials_raw(path, s):
    write_trials(path, int(5_000_000 * s), None)


def trials_shard(path, s):
    write_trials(path, int(5_000_000 * s), [ZstdCodec(level=0)], shards=(CHUNK,), chunk=8192)


def trials_num(path, s):
    """trials without its string field, for peers that cannot open a struct that holds one."""
    n = int(5_000_000 * s)
    z = create(path, shape=(n,), chunks=(CHUNK,), dtype=TRIALS_NUM, compressors=[ZstdCodec(level=0)])
    for lo in range(0, n, CHUNK):
        m = min(CHUNK, n - lo)
        a, b = trials_block(lo, m), np.zeros(m, TRIALS_NUM)
        for k in TRIALS_NUM.names:
            b[k] = a[k]
        z[lo:lo + m] = b


def nwb(path, s):
    n, c = int(200_000 * s), 4096
    z = create(path, shape=(n,), chunks=(c,), dtype=NWB, compressors=[ZstdCodec(level=0)])
    for lo in range(0, n, c):
        m = min(c, n - lo)
        rng = np.random.default_rng([41, lo])
        a = np.zeros(m, NWB)
        a["idx_start"] = np.arange(lo, lo + m) * 250
        a["count"] = rng.integers(50, 400, m)
        k = rng.integers(0, 40, m)
        a["timeseries"] = np.array([f"/processing/ophys/Fluorescence/RoiResponseSeries_{i:03d}" for i in range(40)])[k]
        z[lo:lo + m] = a


def head(path, s):
    n = max(128, int(2000 * s ** 0.5))
    c = 128
    z = create(path, shape=(n, n), chunks=(c, c), dtype=HEAD, dimension_names=("inline", "crossline"),
               compressors=[BloscCodec(cname="zstd", clevel=5, shuffle="shuffle", typesize=HEAD.itemsize)])
    for r in range(0, n, c):
        m = min(c, n - r)
        rng = np.random.default_rng([7, r])
        il, xl = np.mgrid[r:r + m, 0:n].astype("<i4")
        a = np.zeros((m, n), HEAD)
        a["iline"], a["xline"] = il + 1000, xl + 2000
        a["tracl"] = il * n + xl
        a["cdp"] = a["tracl"] + 1
        a["cdpx"], a["cdpy"] = 43_000_000 + il * 1250 + xl * 3, 651_000_000 + xl * 1250 - il * 3
        a["sx"], a["sy"] = a["cdpx"] - 500, a["cdpy"] - 500
        a["gx"], a["gy"] = a["cdpx"] + 500, a["cdpy"] + 500
        a["offset"] = rng.integers(100, 6000, (m, n))
        a["trid"], a["scalco"], a["scalel"], a["ns"], a["dt"], a["year"], a["day"] = 1, -100, -100, 1501, 4000, 2019, 123
        a["hour"], a["minute"], a["sec"] = il % 24, xl % 60, (il + xl) % 60
        a["sstat"] = rng.integers(-40, 40, (m, n))
        a["gstat"] = rng.integers(-40, 40, (m, n))
        z[r:r + m, :] = a


def plain_values(lo, n):
    return np.random.default_rng([99, lo]).standard_normal(n)


def write_plain(path, s, compressors):
    n, c = int(20_000_000 * s), 1 << 18
    z = create(path, shape=(n,), chunks=(c,), dtype="<f8", compressors=compressors)
    for lo in range(0, n, c):
        m = min(c, n - lo)
        z[lo:lo + m] = plain_values(lo, m)


def plain(path, s):
    write_plain(path, s, [ZstdCodec(level=0)])


def plain_raw(path, s):
    write_plain(path, s, None)


def sparse(path, s):
    n = int(1_000_000_000 * s)
    z = create(path, shape=(n,), chunks=(CHUNK,), dtype=TRIALS, compressors=[ZstdCodec(level=0)])
    last = n // CHUNK - 1
    for c in (0, last // 2, last):
        z[c * CHUNK:(c + 1) * CHUNK] = trials_block(c * CHUNK, CHUNK)


def many_names(n):
    return [f"unit_{i:05d}" for i in range(n)]


def write_many(path, n, consolidated):
    """n small struct arrays in one group, one chunk each; metadata written directly, since only names and opens are measured."""
    tmp = path.with_name(path.name + ".one")
    z = create(tmp, shape=(16,), chunks=(16,), dtype=TRIALS, compressors=[ZstdCodec(level=0)])
    z[:] = trials_block(0, 16)
    meta = (tmp / "zarr.json").read_bytes()
    chunk = (tmp / "c" / "0").read_bytes()
    shutil.rmtree(tmp)
    shutil.rmtree(path, ignore_errors=True)
    root = {"zarr_format": 3, "node_type": "group", "attributes": {}}
    if consolidated:
        root["consolidated_metadata"] = {"kind": "inline", "must_understand": False,
                                         "metadata": {k: json.loads(meta) for k in many_names(n)}}
    path.mkdir(parents=True)
    (path / "zarr.json").write_text(json.dumps(root))
    for k in many_names(n):
        (path / k / "c").mkdir(parents=True)
        (path / k / "zarr.json").write_bytes(meta)
        (path / k / "c" / "0").write_bytes(chunk)


def many(path, s):
    write_many(path, int(20_000 * s), False)


def many_cons(path, s):
    write_many(path, int(20_000 * s), True)


STORES = {f.__name__: f for f in (trials, trials_lz4, trials_raw, trials_shard, trials_num, nwb, head, plain, plain_raw, sparse, many, many_cons)}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("outdir", type=pathlib.Path)
    p.add_argument("names", nargs="*")
    p.add_argument("--scale", type=float, default=1.0)
    a = p.parse_args()
    for name in a.names or STORES:
        t = time.perf_counter()
        STORES[name](a.outdir / f"{name}.zarr", a.scale)
        print(f"{name}: {time.perf_counter() - t:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
