#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds docs/formats.md against the fixtures: formats.py FORMATS.md FIXTURES [MOUNT]

Every row of its tables says `read` yes or no and names FIXTURE:ARRAY. The array's documents must speak of the name in the
first column; read: the expected tree has no unreadable.txt there; not read: it has, and in MOUNT (the fixture `formats`)
it holds the name. One line for each row that does not hold; last line `N passed, N failed`.
"""
import os
import sys

formats, fixtures = sys.argv[1:3]
mount = sys.argv[3] if len(sys.argv) > 3 else None
passed = failed = 0

# What a name is called in a document where that is not the name itself.
SPELLED = {"i, u, f": "<i4", "c": "<c", "S": "|S", "U": "<U", "V": "|V", "M, m": "M8[", "O": "|O", "b": "|b1", "O in a struct": "|O",
           "list of fields": "[", "order F": '"F"', "consolidated metadata": "consolidated_metadata", ".zmetadata": "zarr_consolidated_format"}

# What unreadable.txt names instead.
NAMED = {"O in a struct": "pickle", "storage_transformers": "transformer"}


def rows():
    for line in open(formats, encoding="utf-8"):
        cells = [c.strip() for c in line.strip().strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) >= 4 and cells[2] in ("yes", "no"):
            yield cells[0].replace("`", ""), cells[2] == "yes", cells[3].strip("`")


def documents(store, array):
    where = os.path.join(store, array)
    text = ""
    for name in ("zarr.json", ".zarray", ".zmetadata"):
        try:
            with open(os.path.join(where, name), encoding="utf-8") as f:
                text += f.read()
        except FileNotFoundError:
            pass
    return text


def fault(name, is_read, shown):
    fixture, _, array = shown.partition(":")
    expect = os.path.join(fixtures, fixture, "expect")
    if not array:                                    # a whole store
        return None if os.path.isdir(expect) else f"there is no fixture {fixture}"
    if SPELLED.get(name, name) not in documents(os.path.join(fixtures, fixture, "store"), array):
        return f"{shown} does not speak of it"
    refused = os.path.exists(os.path.join(expect, array, "unreadable.txt"))
    if refused == is_read:
        return f"{shown} is {'refused' if refused else 'read'}"
    if refused and mount and fixture == "formats":
        with open(os.path.join(mount, array, "unreadable.txt"), encoding="utf-8") as f:
            why = f.read()
        if NAMED.get(name, name.strip("<|")) not in why:
            return f"unreadable.txt does not name it: {why.strip()}"
    return None


for row in rows():
    why = fault(*row)
    if why:
        failed += 1
        print(f"{row[0]}: {why}")
    else:
        passed += 1
print(f"{passed} passed, {failed} failed")
sys.exit(0 if passed > 100 and not failed else 1)
