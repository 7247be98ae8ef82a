#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stats and reads a file while a timer fires every 5 ms, as programs with progress bars do: nothing may fail or come up
short.

    signalled.py FILE       last line: SHA-256 of what was read, and how often the timer fired

System calls are made as C makes them, since Python would quietly try again after EINTR; and reads go past the page cache,
whose waiting no signal but a deadly one disturbs.
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


def call(name, *args):
    result = getattr(libc, name)(*args)
    if result < 0:
        sys.exit(f"{name}: {os.strerror(ctypes.get_errno())}")
    return result


signal.signal(signal.SIGALRM, tick)
signal.siginterrupt(signal.SIGALRM, True)
signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
path = sys.argv[1].encode()
buffer = ctypes.create_string_buffer(65536)
call("stat", path, buffer)
fd = call("open", path, os.O_RDONLY | os.O_DIRECT)
total, digest = 0, hashlib.sha256()
while n := call("read", fd, buffer, 65536):
    total += n
    digest.update(buffer.raw[:n])
signal.setitimer(signal.ITIMER_REAL, 0)
size = os.fstat(fd).st_size
if size != total:
    sys.exit(f"{total} bytes were read of {size}")
print(digest.hexdigest(), ticks)
