#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks at everything below a directory of a mount, as far as that goes, whatever it is.

    walk.py MOUNT [--dirs N] [--entries N]

Lists each directory (the first N of its entries are gone into), asks each file for its size and reads its begin, its middle
and its end. Each may fail, but only as promised; names are clean text. Prints what was met; status 1 if anything is odd.
"""
import argparse
import collections
import errno
import os
import stat
import sys
import unicodedata

ALLOWED = {errno.EIO, errno.ETIMEDOUT, errno.EOVERFLOW}
PIECE = 1 << 16


class Walk:
    def __init__(self, options):
        self.options = options
        self.odd = []
        self.met = collections.Counter()

    def attempt(self, what, path, call, *args):
        """What the call gives, or None."""
        try:
            self.met[what] += 1
            return call(*args)
        except OSError as e:
            self.met[what + ": " + errno.errorcode.get(e.errno, str(e.errno))] += 1
            if e.errno not in ALLOWED:
                self.odd.append(f"{what} {path!r}: {e.strerror}")
            return None

    def name(self, path, name):
        try:
            text = name.decode()
        except UnicodeDecodeError:
            self.odd.append(f"{path!r} is no UTF-8")
            return
        if any(unicodedata.category(c) == "Cc" for c in text) or text[0] == "-":
            self.odd.append(f"{path!r} may do harm in a terminal or a shell")

    def file(self, path):
        st = self.attempt("stat", path, os.stat, path)
        fd = self.attempt("open", path, os.open, path, os.O_RDONLY)
        if fd is None:
            return
        for at in (0, st.st_size // 2, max(0, st.st_size - PIECE)) if st else (0,):
            data = self.attempt("read", path, os.pread, fd, PIECE, at)
            if data is not None and st and len(data) != min(PIECE, st.st_size - at):
                self.odd.append(f"{path!r}: {len(data)} bytes at {at}, of {st.st_size} in all")
        os.close(fd)

    def directory(self, path, depth):
        names = self.attempt("list", path, os.listdir, path)
        if names is None or self.met["list"] > self.options.dirs:
            return
        for name in names[:self.options.entries]:
            below = os.path.join(path, name)
            if path != os.fsencode(self.options.mount) or not name.startswith(b"."):    # the other trees at the root
                self.name(below, name)
            st = self.attempt("lstat", below, os.lstat, below)
            if st is None:
                continue
            if not stat.S_ISDIR(st.st_mode):
                self.file(below)
            elif depth < 40:
                self.directory(below, depth + 1)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("mount")
    p.add_argument("--dirs", type=int, default=2000)
    p.add_argument("--entries", type=int, default=400)
    walk = Walk(p.parse_args())
    walk.directory(os.fsencode(walk.options.mount), 0)
    print(", ".join(f"{n} {what}" for what, n in sorted(walk.met.items())))
    for line in walk.odd[:20]:
        print(line)
    return 1 if walk.odd else 0


if __name__ == "__main__":
    sys.exit(main())
