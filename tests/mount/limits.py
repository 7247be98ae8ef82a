#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of limits in docs/formats.md, held against src/bounds.h and a mount.

    limits.py make OUT SRC                  makes the store OUT: for each row a node at the limit, and one beyond
    limits.py check FORMATS.md SRC MOUNT    one line for each row that does not hold; last line `N passed, N failed`

At the limit a node is shown; one beyond, it has an unreadable.txt in which stands what the row says.
"""
import glob
import json
import os
import re
import sys

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


def array(**members):
    doc = {"zarr_format": 3, "node_type": "array", "shape": [1], "data_type": "int8",
           "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1]}},
           "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
           "fill_value": 0, "codecs": [BYTES], "attributes": {}}
    doc.update(members)
    return doc


def grid(*shape):
    return {"name": "regular", "configuration": {"chunk_shape": list(shape)}}


def structure(fields):
    return {"name": "struct", "configuration": {"fields": [{"name": n, "data_type": t} for n, t in fields]}}


def raw(n):
    return {"name": "raw_bytes", "configuration": {"length_bytes": n}}


def shards(inner, *more):
    codecs = [BYTES]
    for n in reversed((inner, *more)):
        codecs = [{"name": "sharding_indexed", "configuration": {"chunk_shape": [n], "codecs": codecs, "index_codecs": [BYTES]}}]
    return codecs


def deep_structs(n):
    t = "int8"
    for _ in range(n):
        t = structure([("a", t)])
    return array(data_type=t, fill_value=None)


def padded(size, where):
    """A document of that many bytes; where: the member whose text is made longer."""
    doc = array(attributes={"x": ""} if where == "attributes" else {})
    doc.setdefault(where, {"x": ""})
    if where != "attributes":
        doc[where]["must_understand"] = False
    text = json.dumps(doc)
    return text.replace('"x": "', '"x": "' + "x" * (size - len(text)))


def nested(n):
    """A member that may be overlooked, nested so that the document is n levels deep."""
    inner = "[" * (n - 2) + "]" * (n - 2)
    return json.dumps(array(extension={"must_understand": False, "x": 0})).replace('"x": 0', '"x": ' + inner)


MIB, GIB = 1 << 20, 1 << 30

# Each row: the number in bounds.h, and what makes a document that needs so many.
ROWS = {
    "dimensions of an array": ("ZR_MAX_DIMS", lambda n: array(shape=[1] * n, chunk_grid=grid(*[1] * n))),
    "records of an array": ("ZR_MAX_RECORDS", lambda n: array(shape=[n], chunk_grid=grid(1000))),
    "fields of an array, all levels together": ("ZR_MAX_FIELDS", lambda n: array(
        fill_value=None, data_type=structure([(f"f{i}", "int8") for i in range(n)]))),
    "structs inside of one another": ("ZR_MAX_STRUCT_DEPTH", deep_structs),
    "bytes of a record": ("ZR_MAX_RECORD", lambda n: array(
        fill_value=None, data_type=structure([("a", raw(n // 2)), ("b", raw(n - n // 2))]))),
    "bytes of a decoded chunk": ("ZR_MAX_CHUNK", lambda n: array(chunk_grid=grid(n))),
    "codecs of a chain": ("ZR_MAX_CODECS", lambda n: array(codecs=[BYTES] + [{"name": "crc32c"}] * (n - 1))),
    "shards inside of one another": ("ZR_MAX_SHARD_DEPTH", lambda n: array(chunk_grid=grid(1 << n), codecs=shards(
        *[1 << (n - 1 - i) for i in range(n)]))),
    "bytes of a shard's index": ("ZR_MAX_SHARD_INDEX", lambda n: array(chunk_grid=grid(-(-n // 16)), codecs=shards(1))),
    "bytes of a metadata document": ("ZR_MAX_METADATA", lambda n: padded(n, "attributes")),
    "of these, besides attributes and consolidated metadata": ("ZR_MAX_PARSED", lambda n: padded(n + 2, "extension")),
    "lists and objects inside of one another in it, attributes aside": ("ZR_MAX_JSON_DEPTH", nested),
    # Of 2^60 records: the fill value is as many digits as make lines that long.
    "bytes of text in a file": ("ZR_MAX_FILE", lambda n: array(shape=[1 << 60], chunk_grid=grid(1000),
                                                               fill_value=10 ** ((n >> 60) - 2))),
}
BEYOND = {"bytes of text in a file": 0}         # so many is what is refused


def bounds(src):
    """Numbers of the macros of all headers."""
    values = {}
    for path in glob.glob(os.path.join(src, "*.h")):
        text = re.sub(r"/\*.*?\*/", "", open(path, encoding="utf-8").read(), flags=re.S).replace("\\\n", " ")
        for name, value in re.findall(r"^#define (ZR_MAX_\w+)\s+(.+)$", text, re.M):
            value = re.sub(r"\((?:size_t|uint64_t)\)", "", value)
            if re.fullmatch(r"[\d\s()<]+", value):
                values[name] = eval(value)      # digits, parentheses and shifts only
    return values


def number(cell):
    n, _, unit = cell.replace(",", "").partition(" ")
    base, _, power = n.partition("^")
    return (int(base) ** int(power) if power else int(base)) * {"": 1, "MiB": MIB, "GiB": GIB}[unit]


def rows(formats):
    text = open(formats, encoding="utf-8").read().partition("\n## Limits\n")[2]
    for line in text.splitlines():
        cells = [c.strip() for c in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 3 and cells[2].startswith("`"):
            yield cells[0], cells[1], cells[2].strip("`")


def folder(name):
    return name.replace(" ", "_").replace(",", "").replace("'", "")


def write(out, name, doc):
    os.makedirs(os.path.join(out, name))
    with open(os.path.join(out, name, "zarr.json"), "w") as f:
        f.write(doc if isinstance(doc, str) else json.dumps(doc))


def make(out, src):
    write(out, "", {"zarr_format": 3, "node_type": "group"})
    values = bounds(src)
    for name, (macro, document) in ROWS.items():
        n = values[macro]
        beyond = BEYOND.get(name, 1)
        write(out, folder(name) + ".at", document(n - 1 + beyond))
        write(out, folder(name) + ".beyond", document(n + beyond))


def fault(mount, values, name, limit, line):
    if name not in ROWS:
        return "nothing is known of that"
    if number(limit) != values[ROWS[name][0]]:
        return f"bounds.h has {values[ROWS[name][0]]}"
    here = os.path.join(mount, folder(name))
    if "unreadable.txt" in os.listdir(here + ".at"):
        return "refused at the limit: " + open(here + ".at/unreadable.txt").read().strip()
    if os.listdir(here + ".beyond") != ["unreadable.txt"]:
        return "shown beyond the limit"
    why = open(here + ".beyond/unreadable.txt").read().strip()
    return None if line in why else f"says {why!r}"


def check(formats, src, mount):
    values, found, failed = bounds(src), 0, 0
    for row in rows(formats):
        found += 1
        why = fault(mount, values, *row)
        if why:
            failed += 1
            print(f"{row[0]}: {why}")
    print(f"{found - failed} passed, {failed} failed")
    return 1 if failed or found != len(ROWS) else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"] and len(sys.argv) == 4:
        make(*sys.argv[2:])
    elif sys.argv[1:2] == ["check"] and len(sys.argv) == 5:
        sys.exit(check(*sys.argv[2:]))
    else:
        sys.exit(__doc__)
