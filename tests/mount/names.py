#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of fields and nodes that a file system would take for one another, and names of 10,000 bytes.

    names.py make OUT           makes OUT/store, a directory, OUT/store.zip, and OUT/long.zip, which is refused
    names.py check MOUNT        MOUNT, of the directory, has each field and each node once, under its true name, with its values
    names.py zip MOUNT          the same of the archive
    names.py refused MOUNT      names that are there twice: their arrays are refused, each with its reason; so are nodes

One line for each difference; the last line is `N passed, N failed`.
"""
import json
import os
import struct
import sys
import zipfile

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
LONG = 10000
MASK = 2**64 - 1

# Each group would be one file where names are cleaned, folded or cut; all of them together are one struct.
ALIKE = [
    ["a/b", "a%2Fb", "a%2fb", "a%252Fb", "a_b", "a?b", "ab", "a\\b", "a:b"],
    ["a\x1bb", "a%1Bb", "a\\x1bb", "a\0b", "a%00b", "a\tb", "a\nb", "a\x7fb", "a\x9bb", "a%C2%9Bb"],
    ["\ud800", "\udfff", "\ufffd", "%ED%A0%80", "?"],
    ["case", "Case", "CASE", "ca\u017fe", "\u0130", "\u0131", "i", "I"],
    ["e\u0301", "\u00e9", "\u00df", "ss", "\ufb01", "fi", "\u200b", "\u00a0", " ", "  "],
    ["", "%", "%25", ".", "%2E", "..", "%2E.", "...", "-", "%2D", "~"],
    [n + suffix for n in ("records", "%72ecords") for suffix in ("", ".jsonl", ".csv", ".npy", ".jsonl ", ".npy.npy")],
    [".raw", ".csv", ".npy", ".zarr", "%2Eraw", "raw", "unreadable.txt", "zarr.json", "schema.json", "attributes.json", "chunks.tsv"],
    ["values", "x", "x.npy", "x.npy.npy", "_index", "__index", "0", "00", "CON", "nul", "a.", "a"],
    ["y" * n for n in (250, 251, 252, 254, 255, 256, 257, LONG)] + ["y" * (LONG - 1) + "z", "y" * 255 + "z", "z" + "y" * 255],
    ["/" * 84, "/" * 85, "/" * 86, "%2F" * 85, "\u00e9" * 127, "\u00e9" * 128, "\u00e9" * 127 + "e"],
    ["y" * 238 + "~" + "0" * 16, "~" + "0" * 16, "%7E" + "0" * 16],
]
FIELDS = [n for group in ALIKE for n in group]
NESTED = ["x.npy", "x%2Enpy", "x", "records", "records.npy", ".npy", "", "y" * 255, "y" * LONG, "y" * 251 + ".npy"]
NODES = ["a%2Fb", "a_b", "a\x1bb", "a%1Bb", "case", "Case", "CASE", "e\u0301", "\u00e9", "...", "..x", ".raw", "%2Eraw", "%", "%25",
         "records", "records.jsonl", "unreadable.txt", "y" * 255, "%" * 255, "%" * 254 + "x", "\x01" * 255, "-", "~" + "0" * 16]


# --- two names of one hash --------------------------------------------------------------------------------------------------

P1, P2 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F     # of XXH64


def lane(acc, word):
    acc = (acc + int.from_bytes(word, "little") * P2) & MASK
    return (acc << 31 & MASK | acc >> 33) * P1 & MASK


def twins(head):
    """Two names that begin with `head` (ASCII, a multiple of 32 bytes) and have one XXH64: the first of its four lanes takes in
    another word, and in the next round one that makes up for it. Tried until that word is text, too."""
    acc = (P1 + P2) & MASK
    for i in range(0, len(head), 32):
        acc = lane(acc, head[i:i + 8].encode())
    back = pow(P2, -1, 2**64)
    first, second = b"same----", b"--------"
    for i in range(10**6):
        other = b"%08d" % i
        made = (int.from_bytes(second, "little") + (lane(acc, first) - lane(acc, other)) * back) & MASK
        made = made.to_bytes(8, "little")
        if all(0x21 <= c < 0x7f and c not in b'/%"\\' for c in made):
            return [head + (a + b"." * 24 + b + b"." * 24).decode() for a, b in ((first, second), (other, made))]
    raise AssertionError("there are none")


# --- making -----------------------------------------------------------------------------------------------------------------

def grid(n):
    return {"name": "regular", "configuration": {"chunk_shape": [n]}}


def array(data_type, n=2, **members):
    return {"zarr_format": 3, "node_type": "array", "shape": [n], "data_type": data_type, "chunk_grid": grid(n),
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": None if isinstance(data_type, dict) else 0, "codecs": [BYTES], "attributes": {}, **members}


def fields_of(pairs):
    return {"name": "struct", "configuration": {"fields": [{"name": n, "data_type": t} for n, t in pairs]}}


def array2(dtype, n=2):
    return {"zarr_format": 2, "shape": [n], "chunks": [n], "dtype": dtype, "compressor": None, "fill_value": None, "order": "C",
            "filters": None}


def put(top, path, data):
    path = os.path.join(top, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else json.dumps(data).encode())


def records(fields):
    """Two records of one uint16 a field: its number, and 1000 more."""
    return b"".join(struct.pack("<H", 1000 * r + i) for r in range(2) for i in range(len(fields)))


NESTED_TYPE = fields_of([(n, "uint16") for n in NESTED] + [(n + "/s", fields_of([("f", "uint16")])) for n in NESTED])
DIMS = ["y" * LONG, "y" * (LONG - 1) + "z"]


def nested():
    """A struct of leaves and of structs of those names, each of one leaf."""
    members = [("leaf", "uint16")] + [(n, fields_of([("f", "uint16")])) for n in NESTED]
    return array(fields_of(members)), records(members)


def refused():
    """name of the node: (its documents, what is said)."""
    twice = "the name is used twice"
    same = "has the hash of another"
    long_twins = twins("y" * 256)
    inner = fields_of([("n", "int8"), ("n", "int8")])
    three = {
        "twice": ([("a", "int8"), ("b", "int8"), ("a", "int8")], "field 'a': " + twice),
        "twice.empty": ([("", "int8"), ("", "int8")], twice),
        "twice.long": ([("y" * LONG, "int8"), ("y" * LONG, "int16")], twice),
        "twice.kinds": ([("a", "int8"), ("a", fields_of([("b", "int8")]))], twice),
        "twice.inside": ([("a", inner)], "field 'a.n': " + twice),
        "twice.nul": ([("a\0b", "int8"), ("a\0b", "int8")], twice),
        "same.hash": ([(n, "int8") for n in long_twins], same),
    }
    two = {
        "v2.twice": ([["a", "|i1"], ["b", "|i1"], ["a", "|i1"]], "field 'a': " + twice),
        "v2.twice.titles": ([[["one", "a"], "|i1"], [["two", "a"], "|i1"]], "field 'a': " + twice),
        "v2.twice.inside": ([["a", [["n", "|i1"], ["n", "|i1"]]]], "field 'a.n': " + twice),
        "v2.twice.empty": ([["", "|i1"], ["", "|i1"]], twice),
        "v2.same.hash": ([[n, "|i1"] for n in long_twins], same),
    }
    nodes = {n: ("zarr.json", array(fields_of(f)), why) for n, (f, why) in three.items()}
    nodes.update({n: (".zarray", array2(d), why) for n, (d, why) in two.items()})
    return nodes


def node_twins():
    """Names that a directory can have, cut as file names (each '%' becomes '%25'), and then the same."""
    return twins("%" * 64 + "n" * 64)


def long_nodes(most):
    """Names of arrays that are nowhere but in consolidated metadata, or in a zip: those that may be, up to so many bytes."""
    return ["n" * 300] + ["n" * (most - 1) + end for end in "nm"]


def make(out):
    top = os.path.join(out, "store")
    inner = long_nodes(4096) + long_nodes(LONG)
    put(top, "zarr.json", {"zarr_format": 3, "node_type": "group", "attributes": {}, "consolidated_metadata": {
        "kind": "inline", "must_understand": False, "metadata": {n: array("uint16") for n in inner}}})
    put(top, "v2/.zgroup", {"zarr_format": 2})
    put(top, "v2/.zmetadata", {"zarr_consolidated_format": 1, "metadata": {
        ".zgroup": {"zarr_format": 2}, **{n + "/.zarray": array2("<u2") for n in inner}}})
    put(top, "fields/zarr.json", array(fields_of([(n, "uint16") for n in FIELDS])))
    put(top, "fields/c/0", records(FIELDS))
    put(top, "v2.fields/.zarray", array2([[n, "<u2"] for n in FIELDS]))
    put(top, "v2.fields/0", records(FIELDS))
    doc, data = nested()
    put(top, "nested/zarr.json", doc)
    put(top, "nested/c/0", data)
    put(top, "long/zarr.json", array("uint16", shape=[2, 2], chunk_grid={"name": "regular", "configuration": {"chunk_shape": [2, 2]}},
                                     dimension_names=DIMS, attributes={n: n for n in DIMS}))
    put(top, "long/c/0/0", struct.pack("<4H", *range(4)))
    put(top, "nodes/zarr.json", {"zarr_format": 3, "node_type": "group"})
    for i, n in enumerate(NODES):
        put(top, f"nodes/{n}/zarr.json", array("uint16"))
        put(top, f"nodes/{n}/c/0", struct.pack("<HH", i, 1000 + i))
    for name, (file, doc, _) in refused().items():
        put(top, f"refused/{name}/{file}", doc)
    for i, n in enumerate(node_twins()):
        put(top, f"twins/{n}/zarr.json", array("uint16"))
        put(top, f"twins/{n}/c/0", struct.pack("<HH", i, i))
    make_zip(os.path.join(out, "store.zip"), zipped())
    make_zip(os.path.join(out, "long.zip"), ["n" * LONG])


def zipped():
    return long_nodes(4096 - len("/zarr.json")) + [n * 2 for n in NODES]


def make_zip(path, nodes):
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("zarr.json", json.dumps({"zarr_format": 3, "node_type": "group"}))
        for i, n in enumerate(nodes):
            z.writestr(n + "/zarr.json", json.dumps(array("uint16")))
            z.writestr(n + "/c/0", struct.pack("<HH", i, 1000 + i))


# --- checking ---------------------------------------------------------------------------------------------------------------

seen = failures = 0


def expect(where, got, want):
    global seen, failures
    seen += 1
    if got != want:
        failures += 1
        print(ascii(f"{where}: {str(got)[:300]}, want {str(want)[:300]}"))


def lines(*path):
    with open(os.path.join(*path), "rb") as f:
        return f.read().decode().split("\n")[:-1]


def schema(mount, path):
    with open(os.path.join(mount, ".zarr", path, "schema.json"), encoding="utf-8") as f:
        return json.load(f)


def number(i):
    return [str(i), str(1000 + i)]


def check_fields(mount, path):
    fields = schema(mount, path)["fields"]
    expect(path + ": true names", [f["name"] for f in fields.values()], FIELDS)
    expect(path + ": files", sorted(os.listdir(os.path.join(mount, path))), sorted([*fields, "records.jsonl"]))
    for i, (file, f) in enumerate(fields.items()):
        npy = f.get("npy", file + ".npy")
        expect(path + ": " + file, lines(mount, path, file), number(i))
        raw = struct.pack("<HH", i, 1000 + i)
        for form, name in ((".raw", file), (".npy", npy)):
            with open(os.path.join(mount, form, path, name), "rb") as g:
                expect(f"{form}/{path}/{name}", g.read()[-4:], raw)
    for form, last in ((".raw", "records"), (".npy", "records.npy")):
        listed = os.listdir(os.path.join(mount, form, path))
        expect(f"{form}/{path}: names that are different", len(set(listed)), len(FIELDS) + 1)
        expect(f"{form}/{path}: the records", last in listed, True)
    for r, line in enumerate(lines(mount, path, "records.jsonl")):
        want = [(n, 1000 * r + i) for i, n in enumerate(FIELDS)]
        expect(path + ": record", json.loads(line, object_pairs_hook=list) == text_names(want), True)
    expect(path + ": CSV", lines(mount, ".csv", path, "records.csv")[-2:],
           [",".join(str(1000 * r + i) for i in range(len(FIELDS))) for r in range(2)])


def text_names(pairs):
    """Lone surrogates are U+FFFD in JSON."""
    return [(n.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), v) for n, v in pairs]


def check_nested(mount):
    fields = schema(mount, "nested")["fields"]
    expect("nested: true names", [f["name"] for f in fields.values()], ["leaf", *NESTED])
    for i, file in enumerate(fields):
        path = ["nested", file] + (["f"] if i else [])
        expect(path, lines(mount, *path), number(i))
        path[-1] = path[-1] + ".npy"
        with open(os.path.join(mount, ".npy", *path), "rb") as g:
            expect(path, g.read()[-4:], struct.pack("<HH", i, 1000 + i))


def check_nodes(mount, path, names):
    listed = [n for n in os.listdir(os.path.join(mount, path)) if path or not n.startswith(".") and n not in OTHERS]
    found = {}
    for n in listed:
        where = os.path.join(path, n)
        found[schema(mount, where)["path"]] = lines(mount, where, "values")
    expect(path + ": nodes", found, {os.path.join(path, n): number(i) for i, n in enumerate(names)})


OTHERS = ("v2", "fields", "v2.fields", "nested", "long", "nodes", "refused", "twins")


def check_long(mount):
    lists = lines(mount, "long", "records.jsonl")
    expect("long: lines", [json.loads(x, object_pairs_hook=list) for x in lists], [0, 1, 2, 3])
    with open(os.path.join(mount, ".csv/long/records.csv"), encoding="utf-8") as f:
        expect("long: header", f.readline(), f"_index.{DIMS[0]},_index.{DIMS[1]},values\n")
    with open(os.path.join(mount, ".zarr/long/attributes.json"), encoding="utf-8") as f:
        expect("long: attributes", json.load(f), {n: n for n in DIMS})
    # Fill values: a directory can hold no chunk of such a name.
    for group in ("", "v2"):
        names = [n for n in os.listdir(os.path.join(mount, group)) if n.startswith("nn")]
        expect(group + ": long nodes", sorted(schema(mount, os.path.join(group, n))["path"] for n in names),
               sorted(os.path.join(group, n) for n in long_nodes(4096)))
        for n in names:
            expect(group + ": " + n, lines(mount, group, n, "values"), ["0", "0"])


def check_refused(mount):
    for name, (_, _, why) in refused().items():
        here = os.path.join(mount, "refused", name)
        expect(name, os.listdir(here), ["unreadable.txt"])
        said = "".join(lines(here, "unreadable.txt")) if os.path.exists(os.path.join(here, "unreadable.txt")) else ""
        expect(name, why if why in said else said, why)
    left = os.listdir(os.path.join(mount, "twins"))
    expect("twins", len(left), 1)
    shown = schema(mount, os.path.join("twins", left[0]))["path"]
    number_of = [os.path.join("twins", n) for n in node_twins()].index(shown)
    expect("twins", lines(mount, "twins", left[0], "values"), [str(number_of)] * 2)


def main():
    verb, path = sys.argv[1:3]
    if verb == "make":
        return make(path)
    if verb == "check":
        check_fields(path, "fields")
        check_fields(path, "v2.fields")
        check_nested(path)
        check_nodes(path, "nodes", NODES)
        check_long(path)
    elif verb == "zip":
        check_nodes(path, "", zipped())
    elif verb == "refused":
        check_refused(path)
    print(f"{seen - failures} passed, {failures} failed")
    return 1 if failures or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
