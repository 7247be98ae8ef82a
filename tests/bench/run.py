#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""zarrfs against the ruler (limit.cc) and against what people run today, interleaved in one run.

usage: run.py ZARRFS LIMIT STORES [-n ROUNDS] [--python COMMAND] [--only NAME[,NAME...]]

ZARRFS: a release build. LIMIT: tests/bench/limit of the same build. STORES: where make_stores.py wrote its stores.
--python: the Python that has zarr, polars and so on (tests/differential/run); without it there are no peers.

Each round runs every contender of a task once, one after the other, so that they share the machine's moods. Whole commands
are timed; output goes to /dev/null; files are in the page cache. For zarrfs the daemon is mounted afresh before the clock
starts (so no size is known, and nothing is cached), unless the task says otherwise. Printed for each contender: median,
minimum and maximum, the daemon's CPU time and peak memory; and for zarrfs how many times faster it is (medians, this run).
"""
import argparse
import os
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TICKS = os.sysconf("SC_CLK_TCK")

# The clock starts before the program does.
MOUNTED = "mount"
# All sizes were found by an earlier mount.
INDEX = "index"
# One record somewhere, of 40 places; the last chunk that was read is not read again.
RANDOM = shlex.join([sys.executable, "-c", """if 1:
    import os, random, sys
    fd = os.open(sys.argv[1], os.O_RDONLY)
    size, chance = os.fstat(fd).st_size, random.Random(1)
    for _ in range(40):
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        os.pread(fd, 120, chance.randrange(size))"""])

# name: (store, what zarrfs reads first (not timed) or None, command, mount options, limit's task, peer command)
TASKS = {
    "jsonl": ("trials", None, "cat {m}/records.jsonl", "", "jsonl", "jsonl_polars_stream.py {s}"),
    "jsonl with index": ("trials", INDEX, "cat {m}/records.jsonl", "", "jsonl", "jsonl_polars_stream.py {s}"),
    # Twice: a page that is read for the second time costs the kernel more than ever after.
    "jsonl with page cache": ("trials", "cat {m}/records.jsonl {m}/records.jsonl", "cat {m}/records.jsonl", "", None, None),
    "csv": ("trials", None, "cat {m}/.csv/records.csv", "", "csv", "csv_polars_stream.py {s}"),
    "csv with index": ("trials", INDEX, "cat {m}/.csv/records.csv", "", "csv", "csv_polars_stream.py {s}"),
    "float64 field": ("trials", None, "cat {m}/t", "", "t", "field_polars_threads.py {s} t"),
    "int32 field": ("trials", None, "cat {m}/idx", "", "idx", "field_polars_threads.py {s} idx"),
    "second field": ("trials", "cat {m}/t", "cat {m}/idx", "cache=512M", "idx", "field_polars_threads.py {s} idx"),
    "raw field": ("trials", None, "cat {m}/.raw/t", "", "raw-t", "raw_zarr_stream.py {s} t"),
    "raw field without text": ("trials_num", None, "cat {m}/.raw/t", "", None, "raw_tensorstore.py {s} t"),
    "plain text": ("plain", None, "cat {m}/values", "", None, "field_polars_threads.py {s} -"),
    "plain raw": ("plain", None, "cat {m}/.raw/values", "", None, "raw_tensorstore.py {s} -"),
    "89 fields jsonl": ("head", None, "cat {m}/records.jsonl", "", None, "jsonl_polars_stream.py {s}"),
    "89 sizes": ("head", None, "ls -l {m}", "", None, None),
    "long text jsonl": ("nwb", None, "cat {m}/records.jsonl", "", None, "jsonl_orjson.py {s}"),
    "head": ("trials", None, "head -n 5 {m}/records.jsonl", "", None, "first_lines.py {s} json"),
    "one record": ("trials", INDEX, "{random} {m}/records.jsonl", "cache=16M", None, None),
    "head of 1e9": ("sparse", None, "head -n 5 {m}/records.jsonl", "", None, None),
    "tail of 1e9": ("sparse", None, "tail -n 1 {m}/records.jsonl", "", None, None),
    "mount and ls": ("many", MOUNTED, "ls {m}", "", None, "names.py {s} zarr_keys"),
}


def timed(argv):
    start = time.perf_counter()
    code = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode
    wall = time.perf_counter() - start
    if code:
        sys.exit(f"{shlex.join(argv)}: status {code}")
    return wall


class Mount:
    def __init__(self, zarrfs, store, options, cache):
        self.dir = tempfile.mkdtemp(prefix="zarrfs-bench.")
        argv = [zarrfs, "-f", store, self.dir, *(["-o", options] if options else [])]
        # No index on disk from an earlier run.
        self.daemon = subprocess.Popen(argv, stdin=subprocess.DEVNULL, env={**os.environ, "XDG_CACHE_HOME": cache})
        while not os.path.ismount(self.dir):
            if self.daemon.poll() is not None:
                sys.exit(f"{shlex.join(argv)}: status {self.daemon.returncode}")
            time.sleep(0.005)

    def cpu(self):
        with open(f"/proc/{self.daemon.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def peak(self):
        with open(f"/proc/{self.daemon.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) / 1024

    def close(self):
        while subprocess.run(["fusermount3", "-u", self.dir], stderr=subprocess.DEVNULL).returncode:
            time.sleep(0.02)
        self.daemon.wait()
        os.rmdir(self.dir)


def run_zarrfs(a, task):
    store, before, command, options, _, _ = TASKS[task]
    with tempfile.TemporaryDirectory(prefix="zarrfs-bench.") as cache:
        start = time.perf_counter()
        mount = Mount(a.zarrfs, f"{a.stores}/{store}.zarr", options, cache)
        try:
            mounting = time.perf_counter() - start if before == MOUNTED else 0
            if before == INDEX:
                timed(["ls", "-l", mount.dir])
                mount.close()
                mount = Mount(a.zarrfs, f"{a.stores}/{store}.zarr", options, cache)
            elif before and before != MOUNTED:
                timed(shlex.split(before.format(m=mount.dir)))
            cpu = mount.cpu()
            wall = mounting + timed(shlex.split(command.format(m=mount.dir, random=RANDOM)))
            return wall, mount.cpu() - cpu, mount.peak()
        finally:
            mount.close()


def run_tmpfs(a, task):
    """cat of the same bytes out of a tmpfs, which has them in the page cache; written and read before."""
    store, before, command, options, _, _ = TASKS[task]
    with tempfile.TemporaryDirectory(prefix="zarrfs-bench.") as cache, tempfile.NamedTemporaryFile(dir="/dev/shm") as copy:
        mount = Mount(a.zarrfs, f"{a.stores}/{store}.zarr", options, cache)
        try:
            with open(command.split()[-1].format(m=mount.dir), "rb") as f:
                shutil.copyfileobj(f, copy, 1 << 20)
        finally:
            mount.close()
        copy.flush()
        timed(["cat", copy.name])
        return timed(["cat", copy.name]), 0, 0


def contenders(a, task):
    store, _, _, _, limit, peer = TASKS[task]
    path = f"{a.stores}/{store}.zarr"
    yield "zarrfs", lambda: run_zarrfs(a, task)
    if task.endswith("page cache"):
        yield "tmpfs", lambda: run_tmpfs(a, task)
    if limit:
        yield "limit", lambda: (timed([a.limit, path, limit]), 0, 0)
    if peer and a.python:
        script, *args = shlex.split(peer.format(s=path))
        yield "peer", lambda: (timed([*shlex.split(a.python), f"{HERE}/peers/{script}", *args]), 0, 0)


def main():
    p = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    p.add_argument("zarrfs")
    p.add_argument("limit")
    p.add_argument("stores")
    p.add_argument("-n", type=int, default=5)
    p.add_argument("--python", default="")
    p.add_argument("--only", default="")
    a = p.parse_args()
    a.zarrfs = os.path.abspath(a.zarrfs)
    signal.signal(signal.SIGTERM, lambda n, f: sys.exit(143))
    chosen = a.only.split(",") if a.only else [t for t in TASKS if os.path.isdir(f"{a.stores}/{TASKS[t][0]}.zarr")]
    print("| task | who | median s | min | max | daemon CPU s | peak MiB | zarrfs is |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |")
    for task in chosen:
        who = dict(contenders(a, task))
        runs = {name: [] for name in who}
        for _ in range(a.n):
            for name, run in who.items():
                runs[name].append(run())
        mine = statistics.median(r[0] for r in runs["zarrfs"])
        for name, got in runs.items():
            walls = [r[0] for r in got]
            middle = statistics.median(walls)
            ratio = "" if name == "zarrfs" else f"{middle / mine:.2f} x as fast"
            print(f"| {task} | {name} | {middle:.3f} | {min(walls):.3f} | {max(walls):.3f} | "
                  f"{statistics.median(r[1] for r in got):.2f} | {max(r[2] for r in got):.0f} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
