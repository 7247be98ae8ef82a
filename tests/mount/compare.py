#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares a mount with the tree that it must show.

    compare.py [--skip=FILE --name=NAME] MOUNT EXPECTED

Walks EXPECTED and checks of every file in it: it is listed, it is a regular file, its size is the same before and after
reading and equals the bytes read, the bytes are equal. By value, not by bytes, are compared: the header of a .npy file, and
attributes.json in .zarr. Of unreadable.txt only the presence and that it says something. Whatever else the mount holds is a
failure too, schema.json and chunks.tsv in .zarr aside. Every directory of .zarr must be in the other trees as well: version
control drops the empty ones from EXPECTED.

FILE says what is left out so far, one `NAME PATH` a line, both as shell patterns; # begins a comment. NAME is that of the
fixture, PATH either a tree (text, .csv, .raw, .npy, .zarr) or a path in the text tree, which stands for itself and all below
it in every tree; `*` matches '/' too.

One line for each failure; last line `N passed, N failed, N left out`. Exit 0 only if nothing failed; 77 if nothing was
compared because FILE leaves all out.
"""
import argparse
import ast
import fnmatch
import json
import os
import stat
import sys

SHORT = 100             # characters of a value shown
TREES = b"", b".csv", b".raw", b".npy", b".zarr"
EXTRA = {b"schema.json", b"chunks.tsv"}         # of .zarr; a node cannot be called so, its name is escaped

passed = failed = left_out = 0


def ok():
    global passed
    passed += 1


def fail(name, why):
    global failed
    failed += 1
    print(f"FAIL {os.fsdecode(name)}: {why}".encode("utf-8", "backslashreplace").decode())


def short(b):
    t = repr(b)[1:] if isinstance(b, bytes) else repr(b)
    return t if len(t) <= SHORT else t[:SHORT] + "..."


def first_difference(want, got, binary=False):
    if binary:
        at = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
        return (f"byte {at} of {len(want)}: expected {want[at:at + 12].hex(' ') or 'the end'}, "
                f"got {got[at:at + 12].hex(' ') or 'the end'}")
    a, b = want.split(b"\n"), got.split(b"\n")
    for i in range(max(len(a), len(b))):
        x, y = (a[i] if i < len(a) else None), (b[i] if i < len(b) else None)
        if x == y:
            continue
        if x is not None and y is not None and len(x) > SHORT:       # show the place inside a long line
            k = next((j for j, (p, q) in enumerate(zip(x, y)) if p != q), min(len(x), len(y)))
            k = max(0, k - 20)
            return f"line {i + 1}, from byte {k}: expected {short(x[k:])}, got {short(y[k:])}"
        return (f"line {i + 1} of {len(a) - 1}: expected {'the end' if x is None else short(x)}, "
                f"got {'the end' if y is None else short(y)}")
    return "no difference"


def npy_parts(raw):
    if raw[:6] != b"\x93NUMPY":
        raise ValueError("no NumPy magic")
    width = 2 if raw[6] == 1 else 4
    end = 8 + width + int.from_bytes(raw[8:8 + width], "little")
    if end % 64 or raw[end - 1:end] != b"\n":
        raise ValueError("header does not end at a multiple of 64 with a line feed")
    return ast.literal_eval(raw[8 + width:end].decode("utf-8" if raw[6] == 3 else "latin1")), raw[end:]


def tree_of(rel):
    first = rel.split(b"/")[0]
    return first if first in TREES else b""


def same_json(want, got):
    plain = {"parse_constant": lambda c: None}
    return json.dumps(json.loads(want, **plain)) == json.dumps(json.loads(got, **plain))


def check_npy(want, got):
    try:
        (h1, d1), (h2, d2) = npy_parts(want), npy_parts(got)
    except (ValueError, SyntaxError) as e:
        return f"no NumPy file: {e}"
    if h1 != h2:
        return f"header: expected {short(str(h1))}, got {short(str(h2))}"
    return None if d1 == d2 else "data: " + first_difference(d1, d2, True)


def check_content(rel, want, got):
    base, tree = os.path.basename(rel), tree_of(rel)
    if base == b"unreadable.txt":
        return None if got.strip() and got.endswith(b"\n") else "empty or without a line end"
    if base == b"attributes.json" and tree == b".zarr":
        try:
            return None if same_json(want, got) else first_difference(want, got)
        except ValueError as e:
            return f"no JSON: {e}"
    if tree == b".npy":
        return check_npy(want, got)
    return None if want == got else first_difference(want, got, tree == b".raw")


def check_file(rel, want_path, got_path, listed):
    try:
        if os.path.basename(rel) not in listed:
            return "is not listed in its directory"
        st = os.lstat(got_path)
        if not stat.S_ISREG(st.st_mode):
            return "is not a regular file"
        with open(got_path, "rb") as f:
            got = f.read()
        again = os.stat(got_path).st_size
        if not st.st_size == again == len(got):
            return f"stat says {st.st_size}, then {again}; {len(got)} bytes were read"
        with open(want_path, "rb") as f:
            return check_content(rel, f.read(), got)
    except OSError as e:
        return f"{e.strerror}"


def listing(path):
    try:
        return set(os.listdir(path))
    except OSError:
        return set()


def expected_tree(expected):
    """Directory -> its expected entries, as {name: whether it is a directory}. All names relative to the root."""
    tree = {}
    for where, dirs, files in os.walk(expected):
        rel = os.path.relpath(where, expected)
        tree[b"" if rel == b"." else rel] = {**dict.fromkeys(dirs, True), **dict.fromkeys(files, False)}
    for d in sorted(d for d in tree if tree_of(d) == b".zarr"):
        for t in TREES:
            path = os.path.join(t, d[len(b".zarr/"):]).rstrip(b"/")
            tree.setdefault(path, {})
            if path:
                tree[os.path.dirname(path)].setdefault(os.path.basename(path), True)
    return tree


class Skip:
    """What is left out: some trees, and paths below which nothing is looked at."""

    def __init__(self, path, name):
        self.trees, self.paths = set(), []
        for line in open(path) if path else ():
            words = line.split("#")[0].split(None, 1)
            if not words or not fnmatch.fnmatchcase(name, words[0]):
                continue
            what = words[1].strip()
            if what == "text" or what.encode() in TREES:
                self.trees.add(b"" if what == "text" else what.encode())
            else:
                self.paths.append(os.fsencode(what))

    def covers(self, rel):
        tree = tree_of(rel)
        inside = rel[len(tree):].lstrip(b"/")
        if tree in self.trees and (tree or inside):
            return True
        parts = inside.split(b"/")
        heads = [b"/".join(parts[:i + 1]) for i in range(len(parts))]
        return any(fnmatch.fnmatchcase(h, p) for h in heads if h for p in self.paths)


def walk(expected, mnt, skip):
    global left_out
    for rel, names in sorted(expected_tree(expected).items()):
        if rel and skip.covers(rel):
            left_out += sum(not is_dir for is_dir in names.values())
            continue
        listed = {n for n in listing(os.path.join(mnt, rel)) if not skip.covers(os.path.join(rel, n))}
        for name, is_dir in sorted(names.items()):
            r = os.path.join(rel, name)
            if skip.covers(r):
                left_out += not is_dir
            elif is_dir:
                got = os.path.join(mnt, r)
                if name not in listed or os.path.islink(got) or not os.path.isdir(got):
                    fail(r, "no such directory")
            else:
                why = check_file(r, os.path.join(expected, r), os.path.join(mnt, r), listed)
                fail(r, why) if why else ok()
        for name in sorted(listed - names.keys()):
            if tree_of(rel) != b".zarr" or name not in EXTRA:
                fail(os.path.join(rel, name), "is not expected")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("mount", type=os.fsencode)
    p.add_argument("expected", type=os.fsencode)
    p.add_argument("--skip", help="what is left out so far")
    p.add_argument("--name", default="", help="of the fixture, for --skip")
    p.add_argument("--would-skip", action="store_true", help="compare nothing; exit 77 if all would be left out")
    a = p.parse_args()
    skip = Skip(a.skip, a.name)
    if a.would_skip:
        files = (os.path.relpath(os.path.join(w, n), a.expected) for w, _, ns in os.walk(a.expected) for n in ns)
        return 77 if all(skip.covers(f) for f in files) else 0
    walk(a.expected, a.mount, skip)
    print(f"{passed} passed, {failed} failed, {left_out} left out")
    return 1 if failed else 0 if passed else 77 if left_out else 1


if __name__ == "__main__":
    sys.exit(main())
