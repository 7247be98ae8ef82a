# SPDX-License-Identifier: MIT
"""Mounts a store with the program under test and compares every file with the expected tree.

Of each file: it is listed, it is a regular file, the size that stat tells is the size that is read, the bytes are equal - whether
read whole, in odd pieces past the page cache, or at random places before anything else is known of it. By value, not by bytes,
are compared: the header of a .npy file, and attributes.json. Of unreadable.txt only that it is there and says something.
Anything else in the mount is a difference too. Unmounting must work at the first try, and the program then end with status 0.
"""
import ast
import json
import os
import random
import stat
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

TREES = b"", b".csv", b".raw", b".npy", b".zarr"
LEFT_OUT = {b"schema.json", b"chunks.tsv"}      # of .zarr: the model does not tell their content
START_LIMIT = 30                                # seconds until the mount answers
LIMIT = 240                                     # seconds for one store; machines can be busy
END_LIMIT = 60                                  # seconds from unmounting to the end of the program
SHORT = 100                                     # characters of a value shown


def short(b):
    t = repr(b)[1:] if isinstance(b, bytes) else repr(b)
    return t if len(t) <= SHORT else t[:SHORT] + "..."


def first_difference(want, got, binary=False):
    if binary:
        at = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
        return f"byte {at} of {len(want)}: expected {want[at:at + 12].hex(' ') or 'the end'}, got {got[at:at + 12].hex(' ') or 'the end'}"
    a, b = want.split(b"\n"), got.split(b"\n")
    i = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    x, y = (a[i] if i < len(a) else b"the end"), (b[i] if i < len(b) else b"the end")
    k = max(0, next((j for j, (p, q) in enumerate(zip(x, y)) if p != q), 0) - 20) if max(len(x), len(y)) > SHORT else 0
    return f"line {i + 1} of {len(a) - 1}{f', from byte {k}' if k else ''}: expected {short(x[k:])}, got {short(y[k:])}"


def npy_parts(raw):
    if raw[:6] != b"\x93NUMPY":
        raise ValueError("no NumPy magic")
    width = 2 if raw[6] == 1 else 4
    end = 8 + width + int.from_bytes(raw[8:8 + width], "little")
    if end % 64 or raw[end - 1:end] != b"\n":
        raise ValueError("header does not end at a multiple of 64 with a line feed")
    return raw[6], ast.literal_eval(raw[8 + width:end].decode("utf-8" if raw[6] == 3 else "latin1")), raw[end:]


def tree_of(rel):
    first = rel.split(b"/")[0]
    return first if first in TREES else b""


def is_by_value(rel):
    base, tree = os.path.basename(rel), tree_of(rel)
    return base == b"unreadable.txt" or tree == b".npy" or base == b"attributes.json" and tree == b".zarr"


def difference(rel, want, got):
    base, tree = os.path.basename(rel), tree_of(rel)
    if base == b"unreadable.txt" and tree == b"":
        return None if got.strip() and got.endswith(b"\n") else "empty or without a line end"
    if base == b"attributes.json" and tree == b".zarr":
        try:
            a, b = (json.dumps(json.loads(x.decode("utf-8", "replace"), parse_constant=lambda c: None)) for x in (want, got))
        except ValueError as e:
            return f"no JSON: {e}"
        return None if a == b else first_difference(want, got)
    if tree == b".npy":
        try:
            (_, h1, d1), (_, h2, d2) = npy_parts(want), npy_parts(got)
        except (ValueError, SyntaxError, UnicodeDecodeError, IndexError) as e:
            return f"no NumPy file: {e}"
        if h1 != h2:
            return f"header: expected {h1}, got {h2}"
        return None if d1 == d2 else "data: " + first_difference(d1, d2, True)
    return None if want == got else first_difference(want, got, tree == b".raw")


# --- reading one file --------------------------------------------------------------------------------------------

def opened(path, direct):
    return os.open(path, os.O_RDONLY | (os.O_DIRECT if direct else 0))


def read_pieces(path, rng, direct):
    """The whole file in pieces of one odd size."""
    size = rng.choice([7, 512, 4095, 65537]) if direct else 1 << 20
    fd = opened(path, direct)
    out = []
    try:
        while True:
            piece = os.read(fd, size)
            if not piece:
                return b"".join(out)
            out.append(piece)
            size = max(size, sum(map(len, out)) // 100)          # not a million of them
    finally:
        os.close(fd)


def wrong_place(path, want, rng):
    """Reads at random places, past the page cache or not; what differs, or None."""
    fd = opened(path, rng.random() < .7)
    try:
        for _ in range(rng.randint(1, 4)):
            at = rng.choice([0, len(want), rng.randint(0, len(want)), rng.randint(0, len(want))])
            n = rng.choice([1, 13, rng.randint(1, len(want) + 1), 131072])
            got = os.pread(fd, n, at)
            if got != want[at:at + n]:
                return f"{n} bytes from {at}: " + first_difference(want[at:at + n], got, True)
    finally:
        os.close(fd)


def check_file(rel, want, path, rng):
    """What is wrong with a file, or None."""
    try:
        if rng.random() < .4 and not is_by_value(rel):
            why = wrong_place(path, want, rng)
            if why:
                return why
        before = os.lstat(path) if rng.random() < .5 else None
        got = read_pieces(path, rng, rng.random() < .3)
        after = os.lstat(path)
        if not stat.S_ISREG(after.st_mode):
            return "is not a regular file"
        if before and before.st_size != after.st_size or after.st_size != len(got):
            return f"stat says {f'{before.st_size}, then ' if before else ''}{after.st_size}; {len(got)} bytes were read"
        return difference(rel, want, got)
    except OSError as e:
        return e.strerror


# --- the tree ----------------------------------------------------------------------------------------------------

def listing(path):
    try:
        return set(os.listdir(path))
    except OSError as e:
        return e.strerror


def wanted(rel, trees):
    return (tree_of(rel) or b"text").decode() in trees


def compare(expected, mnt, trees, seed, threads):
    """Compares a tree of files with the expected one. Returns (files compared, [(name, what is wrong)])."""
    expected, mnt = os.fsencode(expected), os.fsencode(mnt)
    failures, jobs = [], []
    for where, dirs, files in os.walk(expected):
        rel = os.path.relpath(where, expected)
        rel = b"" if rel == b"." else rel
        if rel and not wanted(rel, trees):
            continue
        names = {n: n in dirs for n in dirs + files if wanted(os.path.join(rel, n), trees)}
        found = listing(os.path.join(mnt, rel))
        if isinstance(found, str):
            failures.append((rel, f"cannot be listed: {found}"))
            continue
        found = {n for n in found if wanted(os.path.join(rel, n), trees)}
        for name in sorted(names.keys() - found):
            failures.append((os.path.join(rel, name), "is not listed in its directory"))
        for name in sorted(found - names.keys()):
            if tree_of(rel) != b".zarr" or name not in LEFT_OUT:
                failures.append((os.path.join(rel, name), "is not expected"))
        for name in sorted(found & names.keys()):
            r = os.path.join(rel, name)
            if names[name] != os.path.isdir(os.path.join(mnt, r)):
                failures.append((r, "is no directory" if names[name] else "is a directory"))
            elif not names[name]:
                jobs.append(r)

    def one(rel):
        with open(os.path.join(expected, rel), "rb") as f:
            want = f.read()
        return check_file(rel, want, os.path.join(mnt, rel), random.Random(f"{seed} {rel}"))
    random.Random(seed).shuffle(jobs)
    with ThreadPoolExecutor(threads) as pool:
        failures += [(rel, why) for rel, why in zip(jobs, pool.map(one, jobs)) if why]
    return len(jobs), sorted(failures)


# --- the mount ---------------------------------------------------------------------------------------------------

def is_mounted(path):
    with open("/proc/self/mountinfo", "rb") as f:
        return any(line.split()[4] == os.fsencode(path) for line in f)


def threads_of(pid):
    """What the threads of a process that hangs are at, as the kernel says, and by gdb where there is one. A tracer: it is LeakSanitizer's."""
    said = []
    for task in sorted(os.listdir(f"/proc/{pid}/task")):
        with open(f"/proc/{pid}/task/{task}/status") as f:
            state = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
        said.append(f"{state['Name']} {state['State']} tracer {state['TracerPid']}")
    try:
        out = subprocess.run(["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 12"], capture_output=True, text=True, timeout=60).stdout
        said += [line[:160] for line in out.splitlines() if line.startswith(("Thread", "#"))]
    except (OSError, subprocess.TimeoutExpired):
        pass
    return "\n      ".join(["its threads:", *said])


class Mount:
    """with Mount(...) as m: m.why is None, or why it does not answer. After it, m.why tells of an unclean end; m.log is what the program wrote."""
    def __init__(self, binary, store, top, options=()):
        self.command = [binary, "-f", *options, store]
        self.point = os.path.join(os.path.realpath(top), "mnt")
        self.log_path = os.path.join(top, "log")
        self.why = self.log = None

    def __enter__(self):
        os.mkdir(self.point)
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        clean["XDG_CACHE_HOME"] = os.path.join(os.path.dirname(self.log_path), "cache")
        with open(self.log_path, "wb") as log:
            self.daemon = subprocess.Popen([*self.command, self.point], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=clean)
        self.watchdog = threading.Timer(LIMIT, self.over)
        self.watchdog.daemon = True
        self.watchdog.start()
        end = time.monotonic() + START_LIMIT
        while not is_mounted(self.point) and self.daemon.poll() is None and time.monotonic() < end:
            time.sleep(.002)
        if not is_mounted(self.point):
            self.why = "was not mounted; the program " + ("is still running" if self.daemon.poll() is None else f"ended with status {self.daemon.returncode}")
        return self

    def over(self):
        self.why = f"{LIMIT} s were over, the program was killed"
        self.daemon.kill()

    def __exit__(self, *_):
        if is_mounted(self.point):
            done = subprocess.run(["fusermount3", "-u", self.point], capture_output=True, text=True)
            if done.returncode:
                self.why = self.why or f"fusermount3 -u: {done.stderr.strip()}"
                subprocess.run(["fusermount3", "-u", "-z", self.point], capture_output=True)
        try:
            status = self.daemon.wait(END_LIMIT)
            if status:
                self.why = self.why or f"the program ended with status {status} after unmounting"
        except subprocess.TimeoutExpired:
            self.why = self.why or "the program did not end after unmounting; " + threads_of(self.daemon.pid)
            self.daemon.kill()
            self.daemon.wait()
        self.watchdog.cancel()
        with open(self.log_path, encoding="utf-8", errors="replace") as f:
            self.log = f.read()
