# SPDX-License-Identifier: MIT
"""Looks for a small store that still fails: takes arrays, fields, dimensions, records, codecs and forms away, one at a time, for as long
as the failure stays. What is left is kept in a folder: spec.json, store, expected, failures.txt."""
import copy
import os
import shlex
import time

import spec as specs


def without(a, i):
    return a[:i] + a[i + 1:]


def smaller_types(t):
    """Types with one thing less."""
    if isinstance(t, dict) and "fields" in t.get("configuration", {}):
        fields = t["configuration"]["fields"]
        for i, f in enumerate(fields):
            if len(fields) > 1:
                yield {**t, "configuration": {"fields": without(fields, i)}}
            for s in [*smaller_types(f["data_type"]), *(["uint8"] if f["data_type"] != "uint8" else [])]:
                yield {**t, "configuration": {"fields": [*fields[:i], {**f, "data_type": s}, *fields[i + 1:]]}}
            if len(f["name"]) != 1:
                yield {**t, "configuration": {"fields": [*fields[:i], {**f, "name": unused(x["name"] for x in fields)}, *fields[i + 1:]]}}
    elif isinstance(t, list):
        for i, f in enumerate(t):
            if len(t) > 1:
                yield without(t, i)
            if len(f) > 2:
                yield [*t[:i], f[:2], *t[i + 1:]]
                for k in range(len(f[2])):
                    yield [*t[:i], [*f[:2], without(f[2], k)], *t[i + 1:]] if len(f[2]) > 1 else [*t[:i], f[:2], *t[i + 1:]]
                    yield [*t[:i], [*f[:2], [*f[2][:k], 1, *f[2][k + 1:]]], *t[i + 1:]]
            for s in [*smaller_types(f[1]), *(["|u1"] if f[1] != "|u1" else [])]:
                yield [*t[:i], [f[0], s, *f[2:]], *t[i + 1:]]
            if len(f[0]) > 1:
                yield [*t[:i], [unused(str(x[0]) for x in t), *f[1:]], *t[i + 1:]]


def unused(names):
    names = set(names)
    return next(c for c in "abcdefghijklmnopqrstuvwxyz" if c not in names) if len(names) < 26 else "name"


def fewer_dims(a):
    """The array without one axis."""
    for i in range(len(a["shape"])):
        b = copy.deepcopy(a)
        axis = b["transpose"].index(i) if b.get("transpose") else i
        b["shape"], b["chunks"] = without(b["shape"], i), without(b["chunks"], i)
        if b.get("transpose"):
            b["transpose"] = [k - (k > i) for k in b["transpose"] if k != i]
        for level in b.get("shards", []):
            level["chunks"] = without(level["chunks"], axis)
            if "transpose" in level:
                level["transpose"] = [k - (k > axis) for k in level["transpose"] if k != axis]
        b["skip"] = [list(p) for p in {tuple(without(p, i)) for p in b["skip"] if p[i] == 0}]
        if b.get("dims"):
            b["dims"] = without(b["dims"], i)
        yield b


def fewer_records(a):
    for i, n in enumerate(a["shape"]):
        for m in {n // 2, a["chunks"][i], n - 1}:
            if 0 < m < n:
                most = -(-m // a["chunks"][i])
                yield {**a, "shape": [*a["shape"][:i], m, *a["shape"][i + 1:]], "skip": [p for p in a["skip"] if p[i] < most]}
    if not a.get("shards"):
        for i, c in enumerate(a["chunks"]):
            if c < a["shape"][i]:
                yield {**a, "chunks": [*a["chunks"][:i], a["shape"][i], *a["chunks"][i + 1:]], "skip": []}


def smaller_arrays(a):
    plain = {"forms": [], "codecs": [], "skip": [], "dims": None, "attributes": {}, "shards": [], "filters": [], "compressor": None, "transpose": None, "fill": None,
             "endian": "little", "sparse": False, "order": "C", "keys": ["default", "/"], "separator": "."}
    for k, v in plain.items():                       # all of a kind at once
        if k in a and a[k] != v and not (k in ("filters", "fill") and (a["type"] == "|O" or a["format"] == 2 and k == "fill")) and not (k == "shards" and not a[k]):
            yield {**a, k: v}
    yield from fewer_dims(a)
    yield from fewer_records(a)
    for t in smaller_types(a["type"]):
        yield {**a, "type": t}
    for k in ("forms", "codecs", "skip", "filters"):
        for i in range(len(a.get(k) or [])):
            if not (k == "filters" and a["type"] == "|O" and i == 0):
                yield {**a, k: without(a[k], i)}
    for i, level in enumerate(a.get("shards") or []):
        if len(a["shards"]) > 1:
            yield {**a, "shards": without(a["shards"], i)}
        for k, v in {"codecs": [], "location": "end", "index": "crc32c"}.items():
            if level[k] != v:
                yield {**a, "shards": [*a["shards"][:i], {**level, k: v}, *a["shards"][i + 1:]]}
    if a["format"] == 2 and a["fill"] == "random" and a["type"] != "|O":
        yield {**a, "fill": "null"}


def smaller(store):
    """Stores with one thing less, the boldest first."""
    arrays = store["arrays"]
    for i in range(len(arrays)):
        if len(arrays) > 1:
            yield {**store, "arrays": [arrays[i]]}
    for i in range(len(arrays)):
        if len(arrays) > 1:
            yield {**store, "arrays": without(arrays, i)}
    if store["pack"] != "dir":
        yield {**store, "pack": "dir"}
    if store["inside"]:
        yield {**store, "inside": []}
    if store["options"]:
        yield {**store, "options": [], "nonfinite": False, "fixed": False}
    if store["consolidated"]:
        yield {**store, "consolidated": False}
    for i in range(len(store["groups"])):
        if len(store["groups"]) > 1 and not any(a["path"][:len(store["groups"][i]["path"])] == store["groups"][i]["path"] for a in arrays):
            yield {**store, "groups": without(store["groups"], i)}
        if store["groups"][i]["attributes"]:
            yield {**store, "groups": [*store["groups"][:i], {**store["groups"][i], "attributes": {}}, *store["groups"][i + 1:]]}
    for i, a in enumerate(arrays):
        if len(a["path"]) > 1 or a["path"] and len(a["path"][0]) > 1:
            yield {**store, "arrays": [*arrays[:i], {**a, "path": [unused(b["path"][0] for b in arrays if b["path"])]}, *arrays[i + 1:]]}
        for b in smaller_arrays(a):
            yield {**store, "arrays": [*arrays[:i], b, *arrays[i + 1:]]}


def fails(store, args, run):
    """What fails, as text; a candidate that cannot be written is none."""
    failures = run(store, args)[1]
    return [] if any(why.startswith("oracle:") for _, why in failures) else failures


def shrunk(store, args, run):
    """The smallest one found in the time there is."""
    end = time.monotonic() + args.shrink_time
    tried, going = 0, True
    while going:
        going = False
        for candidate in smaller(store):
            if time.monotonic() > end:
                return store, tried
            tried += 1
            if fails(candidate, args, run):
                store, going = candidate, True
                break
    return store, tried


def main(args):
    import differential
    import write
    store = specs.store(args.shrink, args.only, args.without, args.arrays)
    kept, args.keep = args.keep or f"differential.{args.shrink}", ""
    if not fails(store, args, differential.run_store):
        print(f"seed {args.shrink} does not fail")
        return 1
    store, tried = shrunk(store, args, differential.run_store)
    args.keep = os.path.abspath(kept)
    _, failures, log = differential.run_store(store, args)
    write.V2.close()
    folder = os.path.join(args.keep, str(store["seed"]))
    print(f"{tried} stores tried; what is left:")
    for a in store["arrays"]:
        print("   ", {k: v for k, v in a.items() if v not in (None, [], {}, False)})
    for line in differential.text_of(failures)[:differential.SHOWN]:
        print("   ", line)
    print("    kept in", folder)
    print("    repeat:", shlex.join([os.path.join(differential.HERE, "differential.py"), args.binary, "--spec", os.path.join(folder, "spec.json")]))
    return 1
