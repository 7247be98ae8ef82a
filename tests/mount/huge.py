#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Arrays of 10^12 records of which nearly none was ever written: what a mount must show of them, by arithmetic.

    huge.py check MOUNT     compares sizes, and bytes at many offsets; one line for each difference

The store is written by `makestore.py huge OUT`. Where a record begins in a file follows from closed forms for the records
that were never written and for the digits of `_index`, and from the few chunks that were. Nothing here is shared with
zarrfs, which measures.
"""
import bisect
import itertools
import os
import random
import sys
import time

import makestore

SLOWEST = 5.0           # seconds that any one answer may take


def digits_below(n):
    """Decimal digits of 0, 1, ..., n - 1 together."""
    total, first, width = 0, 0, 1
    while first < n:
        last = min(n, 10 ** width)
        total += (last - first) * width
        first, width = last, width + 1
    return total


class Sparse:
    def __init__(self, name, fields, fill, shape, chunks, written, value):
        self.name, self.fields, self.fill, self.shape, self.chunks = name, fields, fill, shape, chunks
        self.written, self.value = written, value
        self.total = 1
        for s in shape:
            self.total *= s
        self.runs = sorted(run for pos in written for run in self.runs_of(pos))      # (first record, how many)

    def runs_of(self, pos):
        ranges = [range(p * c, min(p * c + c, s)) for p, c, s in zip(pos, self.chunks, self.shape)]
        for outer in itertools.product(*ranges[:-1]):
            yield makestore.linear(self.shape, [*outer, ranges[-1].start]), len(ranges[-1])

    def index(self, n):
        out = []
        for s in reversed(self.shape):
            out.append(n % s)
            n //= s
        return out[::-1]

    def record(self, n):
        at = bisect.bisect_right(self.runs, (n, float("inf"))) - 1
        return self.value(n) if at >= 0 and n < sum(self.runs[at]) else self.fill

    def write(self, store):
        t = self.fields
        makestore.groups_above(store, self.name)
        where = os.path.join(store, self.name)
        makestore.describe(where, t, self.shape, self.chunks, self.fill, makestore.BYTES)
        for pos in self.written:
            makestore.write_chunks_at(where, t, self.shape, self.chunks, self.value, self.fill, pos)

    def files(self):
        """name -> the text of record n"""
        struct_like = isinstance(self.fields, list)
        indexed = struct_like and len(self.shape) > 1
        yield "records.jsonl", lambda n, v: makestore.jsonl(self.fields, v, self.index(n) if indexed else None)
        for name, t in self.fields if struct_like else [("values", self.fields)]:
            yield name, lambda n, v, name=name, t=t: makestore.text(t, v[name] if struct_like else v)


class File:
    """Record number to byte offset, of one file."""

    def __init__(self, array, name, line):
        self.array, self.name, self.line = array, name, line
        self.indexed = "_index" in line(0, array.fill)
        self.fill_len = self.bare(0, array.fill)
        self.starts, self.sums = [], []         # of each written record's length beyond the fill's, per run
        extra = 0
        for first, count in array.runs:
            sums = [extra]
            for n in range(first, first + count):
                extra += self.bare(n, array.value(n)) - self.fill_len
                sums.append(extra)
            self.starts.append(first)
            self.sums.append(sums)

    def bare(self, n, v):
        """Length of a line without the digits of its index."""
        return len(self.line(n, v).encode()) + 1 - (sum(len(str(i)) for i in self.array.index(n)) if self.indexed else 0)

    def index_digits(self, n):
        """Digits in the indices of records 0 to n - 1: every axis counts through its range again and again."""
        total, inner = 0, 1
        for s in reversed(self.array.shape):
            rounds, rest = divmod(n, inner * s)
            total += rounds * inner * digits_below(s)
            total += digits_below(rest // inner) * inner + rest % inner * len(str(rest // inner))
            inner *= s
        return total

    def offset(self, n):
        at = bisect.bisect_right(self.starts, n) - 1
        extra = 0
        if at >= 0:
            sums = self.sums[at]
            extra = sums[min(n - self.starts[at], len(sums) - 1)]
        return n * self.fill_len + extra + (self.index_digits(n) if self.indexed else 0)

    def text(self, first, last):
        return "".join(self.line(n, self.array.record(n)) + "\n" for n in range(first, last)).encode()


def arrays():
    wide = 2 ** 20
    return [
        Sparse("line", [("a", "int32"), ("x", "float64"), ("w", "U3")], {"a": 7, "x": 0.5, "w": "-"}, [10 ** 12], [65536],
               [(0,), (5,), (10 ** 6,), (10 ** 12 // 65536,)],
               lambda n: {"a": n * 31 % 1000003 - 5000, "x": n % 4096 / 64, "w": "abc"[:n % 4]}),
        Sparse("plane", [("a", "int32"), ("b", "bool")], {"a": -1, "b": False}, [wide, wide], [128, 128],
               [(0, 0), (3, 7), (4, 7), (wide // 128 - 1, wide // 128 - 1)],
               lambda n: {"a": n * 17 % 99991, "b": n % 3 == 0}),
        Sparse("deep/never", "int16", -300, [10 ** 4, 10 ** 4, 10 ** 4], [10, 10, 10], [], None),
        Sparse("deep/block", [("v", "int16")], {"v": 0}, [10 ** 5, 7, 10 ** 6], [16, 16, 100], [(0, 0, 3), (777, 0, 9999)],
               lambda n: {"v": n % 20011 - 10000}),
    ]


def write(store):
    makestore.group(store)
    for array in arrays():
        array.write(store)


def timed(what, bad, call):
    begin = time.monotonic()
    try:
        return call()
    except OSError as e:
        bad.append(f"{what}: {e.strerror}")
    finally:
        took = time.monotonic() - begin
        if took > SLOWEST:
            bad.append(f"{what}: took {took:.1f} s")


def places(array, rnd):
    """Record numbers worth looking at: ends, edges of what was written, anywhere."""
    edges = [0, array.total]
    some = array.runs if len(array.runs) < 12 else rnd.sample(array.runs, 12)
    for first, count in some:
        edges += [first, first + count // 2, first + count]
    edges += [rnd.randrange(array.total) for _ in range(15)]
    return [min(max(e + d, 0), array.total - 1) for e in edges for d in (-1, 0)]


def check_file(f, path, bad):
    want_size = f.offset(f.array.total)
    size = timed(f"stat {path}", bad, lambda: os.stat(path).st_size)
    if size != want_size:
        bad.append(f"{path}: size {size}, not {want_size}")
        return
    rnd = random.Random(f.name)
    fd = os.open(path, os.O_RDONLY)
    for n in places(f.array, rnd):
        first, last = max(0, n - 3), min(f.array.total, n + 6)
        want = f.text(first, last)
        if len(want) != f.offset(last) - f.offset(first):
            raise AssertionError(f"the arithmetic is wrong at {path} {n}")
        at = f.offset(first)
        shift = rnd.randrange(len(want) // 2)
        got = timed(f"read {path} at {at}", bad, lambda: os.pread(fd, len(want) - shift, at + shift))
        if got != want[shift:]:
            bad.append(f"{path}: record {n}, byte {at + shift}: {got!r:.100}, not {want[shift:]!r:.100}")
    os.close(fd)


def check(mount):
    bad = []
    for array in arrays():
        timed(f"ls {array.name}", bad, lambda: os.listdir(os.path.join(mount, array.name)))
        for name, line in array.files():
            check_file(File(array, name, line), os.path.join(mount, array.name, name), bad)
    print("\n".join(bad[:40]))
    print(f"{len(bad)} wrong")
    return 1 if bad else 0


def selftest():
    """The closed forms against counting, on small arrays."""
    for shape, chunks, written in [([60], [7], [(0,), (3,), (8,)]), ([12, 31], [5, 8], [(0, 0), (2, 3), (1, 2)]),
                                   ([3, 11, 12], [2, 4, 5], [(0, 0, 0), (1, 2, 2)])]:
        array = Sparse("s", [("a", "int32"), ("b", "bool")], {"a": 5, "b": True}, shape, chunks, written,
                       lambda n: {"a": n * n - 50, "b": False})
        for name, line in array.files():
            f, at = File(array, name, line), 0
            for n in range(array.total):
                assert f.offset(n) == at, (shape, name, n)
                at += len(f.text(n, n + 1))
            assert f.offset(array.total) == at
    print("selftest passed")


if __name__ == "__main__":
    if sys.argv[1:] == ["selftest"]:
        sys.exit(selftest())
    if len(sys.argv) != 3 or sys.argv[1] != "check":
        sys.exit(__doc__)
    sys.exit(check(sys.argv[2]))
