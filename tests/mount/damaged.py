#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks how a file reads whose array has one damaged chunk: as a disk with a bad sector.

    damaged.py FILE SOUND FIRST LAST FILL

SOUND is the file without damage; records FIRST to LAST - 1 of it cannot be read, and each counts as long as the line FILL.
The size follows. Every read that touches the bad span is EIO, every read that does not gives the right bytes: by pages
through the page cache, and at odd places past it.
"""
import errno
import os
import random
import sys


def main(path, sound, first, last, fill):
    first, last = int(first), int(last)
    with open(sound, "rb") as f:
        lines = f.read().splitlines(keepends=True)
    before, after = b"".join(lines[:first]), b"".join(lines[last:])
    bad = len(before), len(before) + (last - first) * (len(fill.encode()) + 1)
    size = bad[1] + len(after)
    wrong = []

    def right(at, n):
        """What pread(n, at) must give; None: EIO."""
        end = min(at + n, size)
        if at < bad[1] and end > bad[0]:
            return None
        return before[at:end] if end <= bad[0] else after[at - bad[1]:end - bad[1]]

    def check(fd, at, n, how):
        try:
            got = os.pread(fd, n, at)
        except OSError as e:
            got = None if e.errno == errno.EIO else os.strerror(e.errno)
        if got != right(at, n):
            wrong.append(f"{how} {n} bytes at {at}: {'EIO' if got is None else repr(got)[:60]}, "
                         f"should be {'EIO' if right(at, n) is None else repr(right(at, n))[:60]}")

    if os.stat(path).st_size != size:
        wrong.append(f"size {os.stat(path).st_size}, should be {size}")
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    for at in range(0, size, 4096):
        check(fd, at, 4096, "page:")
    os.close(fd)
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    rnd = random.Random(size)
    for edge in bad:
        for at, n in [(edge - 1, 1), (edge, 1), (edge - 1, 2), (edge - 500, 500), (edge, 500), (edge - 250, 500)]:
            check(fd, at, n, "direct:")
    for _ in range(100):
        check(fd, rnd.randrange(size), rnd.choice([1, 100, 5000]), "direct:")
    os.close(fd)
    print("\n".join(wrong[:10]))
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
