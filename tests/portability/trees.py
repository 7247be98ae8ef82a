#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every fixture through a program that cannot mount here: built for another machine, or in a root without FUSE.

    trees.py FIXTURES PROGRAM [ARGUMENT...]

PROGRAM with its ARGUMENTs is zarrfs, or what runs it. Of each fixture, every file that is expected is written by
`zarrfs cat` into a tree, which compare.py then compares; and `zarrfs check` has to find what is readable and what is not.
Last line `N passed, N failed`; exit 0 only if nothing failed.
"""
import os
import subprocess
import sys
import tempfile

COMPARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mount", "compare.py")


def export(program, store, expected, out):
    """What `cat` writes of each expected file. One that fails is left out, and so found missing."""
    for where, dirs, names in os.walk(expected):
        to = os.path.join(out, os.path.relpath(where, expected))
        os.makedirs(to, exist_ok=True)
        for name in sorted(names):
            path = os.path.relpath(os.path.join(where, name), expected)
            with open(os.path.join(to, name), "wb") as f:
                cat = subprocess.run([*program, "cat", store, path], stdout=f, stderr=subprocess.PIPE,
                                     stdin=subprocess.DEVNULL)
            if cat.returncode:
                print(f"{path}: cat ends with status {cat.returncode}: {cat.stderr.decode(errors='replace')}")
                os.unlink(f.name)
    # Version control drops empty directories; compare.py wants those of .zarr in the other trees, too.
    metadata = os.path.join(out, ".zarr")
    for where, _, _ in os.walk(metadata):
        for tree in "", ".csv", ".raw", ".npy":
            os.makedirs(os.path.join(out, tree, os.path.relpath(where, metadata)), exist_ok=True)


def main():
    fixtures, program = sys.argv[1], sys.argv[2:]
    failed = passed = 0
    for name in sorted(os.listdir(fixtures)):
        expected = os.path.join(fixtures, name, "expect")
        store = os.path.join(fixtures, name, "store")
        if not os.path.isdir(expected):
            continue
        if not os.path.exists(store):
            store += ".zip"
        with tempfile.TemporaryDirectory() as out:
            export(program, store, expected, out)
            tree = subprocess.run([sys.executable, COMPARE, out, expected], stdout=subprocess.PIPE, text=True)
        check = subprocess.run([*program, "check", store], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               stdin=subprocess.DEVNULL)
        unreadable = any("unreadable.txt" in names for _, _, names in os.walk(expected))
        print(f"{name}: {tree.stdout.splitlines()[-1]}")
        if tree.returncode or check.returncode != unreadable:
            failed += 1
            print(tree.stdout, f"check: status {check.returncode}", check.stdout, sep="\n", flush=True)
        else:
            passed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
