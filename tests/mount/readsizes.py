#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads every file of a tree in one manner and compares with a plain copy.

    readsizes.py MANNER MOUNT EXPECTED

MANNER: whole, a number of bytes a read(2), backwards, random (pread), mmap, or direct-N: O_DIRECT, which keeps the page
cache from rounding reads up, so that the program really is asked for N bytes at odd offsets. Large files are read in part
where the whole would take too long: at the start, in the middle, at the end. Use a fresh mount for each manner.

One line for each file that differs; last line `N files, N wrong`.
"""
import mmap
import os
import random
import sys

WINDOW = 3000           # bytes of each part, where a file is read in parts
MOST_READS = 6000       # of one file in one manner


def drain(fd, n):
    parts = []
    while piece := os.read(fd, n):
        parts.append(piece)
    return b"".join(parts)


def windows(total, step):
    """What to read, as (from, to): all, or three parts that begin at odd places."""
    if total <= step * MOST_READS:
        return [(0, total)]
    size = min(WINDOW, step * MOST_READS // 3)
    middle = total // 2 | 1
    return [(0, size), (middle, min(middle + size, total)), (total - size, total)]


def pieces(fd, want, step):
    """read(2) of `step` bytes each; a short answer before the end is wrong."""
    for begin, end in windows(len(want), step):
        os.lseek(fd, begin, os.SEEK_SET)
        at = begin
        while at < end:
            n = min(step, len(want) - at)
            got = os.read(fd, step)
            if got != want[at:at + n]:
                return f"{step} bytes at {at}"
            at += n
        if end == len(want) and os.read(fd, step) != b"":
            return "bytes beyond the end"
    return None


def whole(fd, want):
    return None if drain(fd, 1 << 20) == want else "the whole"


def backwards(fd, want):
    step = 4096 if len(want) < 4096 * 2000 else 65536
    end = len(want)
    while end > 0:
        begin = max(0, end - step)
        if os.pread(fd, end - begin, begin) != want[begin:end]:
            return f"{end - begin} bytes at {begin}"
        end = begin
    return None


def scattered(fd, want):
    rnd = random.Random(len(want))
    for _ in range(200):
        at, n = rnd.randrange(len(want) + 1), rnd.choice([1, 10, 100, 5000, 70000, 300000])
        if at < len(want) and os.pread(fd, n, at) != want[at:at + n]:
            return f"{n} bytes at {at}"
    return None


def mapped(fd, want):
    if not want:
        return None if os.fstat(fd).st_size == 0 else "size"
    with mmap.mmap(fd, 0, access=mmap.ACCESS_READ) as m:
        rnd = random.Random(len(want))
        for _ in range(20):
            at = rnd.randrange(len(want))
            if m[at:at + 9000] != want[at:at + 9000]:
                return f"9000 mapped bytes at {at}"
        return None if m[:] == want else "the whole map"


def reader(manner):
    named = {"whole": whole, "backwards": backwards, "random": scattered, "mmap": mapped}
    if manner in named:
        return os.O_RDONLY, named[manner]
    flags = os.O_RDONLY
    if manner.startswith("direct-"):
        flags, manner = flags | os.O_DIRECT, manner[len("direct-"):]
    return flags, lambda fd, want: pieces(fd, want, int(manner))


def main(manner, mount, expected):
    flags, check = reader(manner)
    files = wrong = 0
    for where, _, names in os.walk(expected):
        for name in names:
            path = os.path.relpath(os.path.join(where, name), expected)
            with open(os.path.join(expected, path), "rb") as f:
                want = f.read()
            files += 1
            try:
                fd = os.open(os.path.join(mount, path), flags)
                try:
                    why = check(fd, want)
                    size = os.fstat(fd).st_size
                finally:
                    os.close(fd)
            except OSError as e:
                why, size = os.strerror(e.errno), len(want)
            if not why and size != len(want):
                why = f"size {size} instead of {len(want)}"
            if why:
                wrong += 1
                print(f"{path}: {why}")
    print(f"{files} files, {wrong} wrong")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
