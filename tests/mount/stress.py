#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mixed readers against a mount, each answer compared with a plain copy of the same tree.

    stress.py MOUNT COPY [--seconds 30] [--procs 4] [--drop-caches] [--seed N] [--trees text,.csv,.raw] [--max-bytes N]

MOUNT is a mounted tree, COPY the same files on an ordinary file system.
Whole and partial reads of many sizes, splice, sendfile, pread, lseek(SEEK_END), mmap, O_DIRECT, stat, scandir+stat, plain
listings, fadvise, busybox cat, tail: at random, on random files, from several processes with two threads each.
It finds sizes that are visible before they are exact, answers cut short, NULs delivered, and races between readers. Use it on a
FRESH mount: most such faults need files whose size no one has asked for yet. --drop-caches (root) makes the kernel forget.
Last line `N operations, N wrong`; exit 0 only if nothing was wrong and something was done.
"""
import argparse
import hashlib
import mmap
import multiprocessing
import os
import random
import shutil
import subprocess
import threading
import time

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("mount")
p.add_argument("copy")
p.add_argument("--seconds", type=float, default=30)
p.add_argument("--procs", type=int, default=4)
p.add_argument("--drop-caches", action="store_true")
p.add_argument("--seed", type=int, default=int(time.time()))
p.add_argument("--trees", default="text", help="which trees take part (.npy headers need not be equal byte for byte)")
p.add_argument("--max-bytes", type=int, default=64 << 20, help="files above this size are left out")
A = p.parse_args()

files = []
for top, dirs, names in os.walk(A.copy):
    for n in names:
        full = os.path.join(top, n)
        rel = os.path.relpath(full, A.copy)
        tree = rel.split(os.sep)[0]
        if (tree if tree in (".csv", ".raw", ".npy", ".zarr") else "text") not in A.trees.split(","):
            continue
        if os.path.getsize(full) <= A.max_bytes and os.path.basename(full) not in ("unreadable.txt", "schema.json", "chunks.tsv"):
            files.append(rel)
want = {f: open(os.path.join(A.copy, f), "rb").read() for f in files}
dirs = sorted({os.path.dirname(f) for f in files})


def path(f):
    return os.path.join(A.mount, f)


def drain(fd, size):
    parts = []
    while b := os.read(fd, size):
        parts.append(b)
    return b"".join(parts)


def opened(flags=os.O_RDONLY):
    def wrap(fn):
        def run(f, rnd):
            fd = os.open(path(f), flags)
            try:
                return fn(f, rnd, fd)
            finally:
                os.close(fd)
        run.__name__ = fn.__name__
        return run
    return wrap


@opened()
def read_all(f, rnd, fd):
    return drain(fd, rnd.choice([1000, 4096, 65536, 300000, 1 << 20])) == want[f]


@opened()
def fstat_then_read(f, rnd, fd):
    return os.fstat(fd).st_size == len(want[f]) and drain(fd, 131072) == want[f]


@opened()
def splice(f, rnd, fd):
    r, w = os.pipe()
    parts = []
    try:
        while n := os.splice(fd, w, 65536):
            while n:
                b = os.read(r, n)
                parts.append(b)
                n -= len(b)
    finally:
        os.close(r)
        os.close(w)
    return b"".join(parts) == want[f]


@opened()
def sendfile(f, rnd, fd):
    out = os.memfd_create("out")
    try:
        while os.sendfile(out, fd, None, 1 << 20):
            pass
        return os.pread(out, len(want[f]) + 1, 0) == want[f]
    finally:
        os.close(out)


@opened()
def preads(f, rnd, fd):
    os.fstat(fd)
    for _ in range(20):
        off, n = rnd.randrange(len(want[f]) + 1), rnd.choice([1, 100, 5000, 200000])
        if os.pread(fd, n, off) != want[f][off:off + n]:
            return False
    return True


@opened()
def seek_end(f, rnd, fd):
    return os.lseek(fd, 0, os.SEEK_END) == len(want[f])


@opened()
def mapped(f, rnd, fd):
    if not want[f]:
        return os.fstat(fd).st_size == 0
    with mmap.mmap(fd, 0, access=mmap.ACCESS_READ) as m:
        return m[:] == want[f]


@opened(os.O_RDONLY | os.O_DIRECT)
def direct(f, rnd, fd):
    parts = []
    with mmap.mmap(-1, 65536) as m:
        while n := os.readv(fd, [m]):
            parts.append(m[:n])
    return b"".join(parts) == want[f]


@opened()
def first_bytes(f, rnd, fd):
    return os.read(fd, 100) == want[f][:100]


@opened()
def advised(f, rnd, fd):
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_WILLNEED)
    return os.read(fd, 100) == want[f][:100]


def stat_size(f, rnd):
    return os.stat(path(f)).st_size == len(want[f])


def scan_sizes(f, rnd):
    d = os.path.dirname(f)
    return all(e.stat().st_size == len(want[os.path.join(d, e.name)]) for e in os.scandir(path(d))
               if os.path.join(d, e.name) in want)


def list_names(f, rnd):
    d = os.path.dirname(f)
    return os.path.basename(f) in os.listdir(path(d))


def tool(*argv):
    def run(f, rnd):
        r = subprocess.run([*argv, path(f)], capture_output=True)
        return r.returncode == 0 and r.stdout == (want[f] if argv[0] != "tail" else want[f][-100:])
    run.__name__ = " ".join(argv)
    return run


def drop_caches(f, rnd):
    with open("/proc/sys/vm/drop_caches", "w") as g:
        g.write(rnd.choice("123"))
    return True


checks = [list_names, list_names, read_all, read_all, fstat_then_read, splice, sendfile, preads, seek_end, mapped, direct,
          first_bytes, advised, stat_size, scan_sizes, tool("tail", "-c", "100"), tool("cat")]
if shutil.which("busybox"):
    checks.append(tool("busybox", "cat"))


def worker(seed, until, done, wrong, lock):
    rnd = random.Random(seed)
    while time.time() < until:
        f, check = rnd.choice(files), rnd.choice(checks)
        if A.drop_caches and rnd.random() < 0.03:
            check = drop_caches
        try:
            why = None if check(f, rnd) else "differs"
        except OSError as e:
            why = os.strerror(e.errno)
        with lock:
            done[0] += 1
            if why:
                wrong.append((check.__name__, f, why))


def process(k, until, out):
    done, wrong, lock = [0], [], threading.Lock()
    threads = [threading.Thread(target=worker, args=(A.seed * 1000 + k * 10 + i, until, done, wrong, lock)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    out.put((done[0], wrong))


if __name__ == "__main__":
    print(f"seed {A.seed}, {len(files)} files")
    out = multiprocessing.Queue()
    until = time.time() + A.seconds
    ps = [multiprocessing.Process(target=process, args=(k, until, out)) for k in range(A.procs)]
    for q in ps:
        q.start()
    total, faults = 0, []
    for _ in ps:
        n, w = out.get()
        total += n
        faults += w
    for q in ps:
        q.join()
    seen = {}
    for w in faults:
        seen[w] = seen.get(w, 0) + 1
    for w, n in sorted(seen.items(), key=lambda x: -x[1])[:20]:
        print(f"{n} x {w[0]} of {w[1]}: {w[2]}")
    print(f"{total} operations, {len(faults)} wrong")
    raise SystemExit(0 if total and not faults else 1)
