#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads a file while a timer fires every 5 ms, as programs with progress bars do: no read may fail or come up short.

    signalled.py FILE       last line: SHA-256 of what was read, and how often the timer fired

System calls are made as C makes them: Python would quietly try again after EINTR.
"""
import ctypes
import hashlib
import os
import signal
import sys

libc = ctypes.CDLL(None, use_errno=True)
ticks = 0


def tick(*_):
    global ticks
    ticks += 1


signal.signal(signal.SIGALRM, tick)
signal.siginterrupt(signal.SIGALRM, True)
signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
fd = libc.open(sys.argv[1].encode(), os.O_RDONLY)
if fd < 0:
    sys.exit("open: " + os.strerror(ctypes.get_errno()))
buffer = ctypes.create_string_buffer(65536)
total, digest = 0, hashlib.sha256()
while True:
    n = libc.read(fd, buffer, 65536)
    if n < 0:
        sys.exit(f"read at {total}: " + os.strerror(ctypes.get_errno()))
    if n == 0:
        break
    total += n
    digest.update(buffer.raw[:n])
signal.setitimer(signal.ITIMER_REAL, 0)
size = os.fstat(fd).st_size
if size != total:
    sys.exit(f"{total} bytes were read of {size}")
print(digest.hexdigest(), ticks)
