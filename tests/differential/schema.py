# SPDX-License-Identifier: MIT
"""What the model does not tell of .zarr: that schema.json says the true names, types and places of the fields, and chunks.tsv what is stored."""
import json
import os

import numpy as np

import reference as ref


def no_twins(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a member is there twice")
    return dict(pairs)


def not_json(token):
    raise ValueError(f"{token} is no JSON")


def fields_of(typ, big, at=0):
    """File name -> what must be said of it, in declared order."""
    out = {}
    for name, t, off in typ.shown():
        base = t.base if isinstance(t, ref.Sub) else t
        nested = isinstance(base, ref.Struct)
        want = {"name": name, "offset": at + off, "size": base.size}
        if isinstance(t, ref.Sub):
            want["shape"] = list(t.shape)
        if nested:
            want["fields"] = fields_of(base, big, at + off)
        else:
            want |= leaf_of(base, big)
            npy = ref.file_name(name, b".npy").decode()
            if npy != ref.file_name(name).decode() + ".npy":
                want["npy"] = npy
        out[ref.file_name(name, nested=nested).decode()] = want
    return out


def leaf_of(leaf, big):
    out = {}
    if leaf.swap_unit() > 1:
        out["byte_order"] = "big" if (leaf.big if big is None else big) else "little"
    if leaf.kind in "Mm":
        out |= {"unit": leaf.unit, "scale": leaf.scale}
    return out


def differs(got, want, where=""):
    """The first member that is not as it must be; `type` and what is not in `want` is not looked at. None if all are."""
    for k, v in want.items():
        if k not in got:
            return f"{where}{k} is missing"
        if k == "fields":
            if list(got[k]) != list(v):
                return f"{where}fields are {list(got[k])}, not {list(v)}"
            for name in v:
                why = differs(got[k][name], v[name], f"{where}{name}: ")
                if why:
                    return why
        elif got[k] != v:
            return f"{where}{k} is {got[k]!r}, not {v!r}"
    return None


def wanted_schema(a):
    big = None if a.v2 else a.big
    want = {"zarr_format": 2 if a.v2 else 3, "shape": list(a.shape)}
    if a.dims:
        want["dimension_names"] = list(a.dims)
    if isinstance(a.typ, ref.Struct):
        want["fields"] = fields_of(a.typ, big)
    else:
        want["fields"] = {"values": {"name": None, **({} if ref.is_vlen(a.typ) else {"offset": 0, "size": a.typ.size, **leaf_of(a.typ, big)})}}
    if not ref.is_vlen(a.typ):
        want["record_size"] = a.typ.size
    fill = a.fill.encode() if isinstance(a.fill, str) else a.fill
    want["fill_value"] = json.loads(ref.value_json(a.typ, fill))
    return want


def check_schema(a, folder):
    with open(os.path.join(folder, b"schema.json"), "rb") as f:
        try:
            got = json.loads(f.read().decode("utf-8"), object_pairs_hook=no_twins, parse_constant=not_json)
        except ValueError as e:
            return f"no JSON: {e}"
    return differs(got, wanted_schema(a))


def check_chunks(store, path, a, folder):
    with open(os.path.join(folder, b"chunks.tsv"), "rb") as f:
        got = sorted(f.read().decode().splitlines())
    grid = [-(-s // c) for s, c in zip(a.shape, a.chunks)]
    sizes = {key: len(raw) for make in (a.key, a.slash) if make for idx in np.ndindex(*grid) for key in [make(idx)] for raw in [store.get(ref.join(path, key))] if raw is not None}
    want = sorted(f"{k}\t{n}" for k, n in sizes.items())
    return None if got == want else f"says {got[:4]}, not {want[:4]}; {len(got)} lines, not {len(want)}"


def failures(store_path, mnt):
    """[(name, what is wrong)] of every array that reference.dump() has just read."""
    store = ref.open_store(store_path)
    out = []
    for path, a in ref.ARRAYS.items():
        rel = os.path.join(b".zarr", *(ref.file_name(os.fsencode(n)) for n in path.split("/") if n))
        folder = os.path.join(os.fsencode(mnt), rel)
        for name, check in (b"schema.json", lambda: check_schema(a, folder)), (b"chunks.tsv", lambda: check_chunks(store, path, a, folder)):
            try:
                why = check()
            except OSError as e:
                why = e.strerror
            if why:
                out.append((os.path.join(rel, name), why))
    return out
