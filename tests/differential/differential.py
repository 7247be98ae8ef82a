#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random stores, mounted and compared with what the reference implementation reads.

For each seed a store is written (spec.py, write.py), its expected tree computed (reference.py), the store mounted with BINARY and
every file compared (mount.py). Needs the oracle (setup.sh), fusermount3 and /dev/fuse. A failing seed is printed with the command
that repeats it; --shrink SEED looks for a small store that still fails and keeps it. Last line: N passed, N failed.
"""
import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
if not sys.executable.endswith("/usr/bin/python3") or os.environ.get("PYTHONHOME") is None:     # not in the oracle yet
    os.execv(os.path.join(HERE, "run"), [os.path.join(HERE, "run"), os.path.abspath(__file__), *sys.argv[1:]])

import json                                       # noqa: E402
import random                                     # noqa: E402
import select                                     # noqa: E402
import shlex                                      # noqa: E402
import shutil                                     # noqa: E402
import signal                                     # noqa: E402
import tempfile                                   # noqa: E402
import time                                       # noqa: E402
import traceback                                  # noqa: E402

SHOWN = 5                                         # differences of a store that are printed


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n")[1])
    p.add_argument("binary", metavar="BINARY", help="zarrfs; `none` to check only that all readers of the oracle agree")
    p.add_argument("--seeds", default="0:200", metavar="A:B", help="seeds A to B-1 (default 0:200)")
    p.add_argument("--trees", default="text,.csv,.raw,.npy,.zarr", metavar="LIST", help="which trees are compared")
    p.add_argument("--only", default="", metavar="LIST", help="only arrays that have all of these features")
    p.add_argument("--without", default="", metavar="LIST", help="no arrays that have one of these features; also zip, inside, consolidated, implied")
    p.add_argument("--list-features", action="store_true", help="print the features of the arrays of these seeds and how many have them")
    p.add_argument("--arrays", type=int, default=8, metavar="N", help="arrays in a store, about (default 8)")
    p.add_argument("--jobs", type=int, default=2, metavar="N")
    p.add_argument("--time", type=float, default=0, metavar="SECONDS", help="begin no store after that time")
    p.add_argument("--fail-fast", type=int, default=20, metavar="N", help="stop after N failing stores (default 20)")
    p.add_argument("--options", default="", metavar="WORDS", help="further arguments for BINARY, as one string")
    p.add_argument("--keep", default="", metavar="DIR", help="keep failing stores there (default with --shrink: ./differential.SEED)")
    p.add_argument("--shrink", type=int, metavar="SEED", help="make the failing store of that seed small")
    p.add_argument("--spec", metavar="FILE", help="the store that FILE describes (spec.json of a kept one) instead of seeds")
    p.add_argument("--shrink-time", type=float, default=180, metavar="SECONDS")
    args = p.parse_args()
    args.trees = args.trees.split(",")
    args.schema = os.path.basename(args.binary) != "standin"
    args.only, args.without = ([f for f in x.split(",") if f] for x in (args.only, args.without))
    args.words = shlex.split(args.options)
    return args


def oracle_failures(spec, expected):
    """Where the readers of the oracle do not agree with one another or with what was written."""
    import reference as ref
    import write
    out = []
    for a in spec["arrays"]:
        path = "/".join(a["path"])
        how = ref.HOW.get(path)
        if how is None:
            if write.sayable(path) or spec["pack"] == "dir":
                out.append((os.fsencode(path), "oracle: the array was not found"))
        elif how.startswith("unreadable") != ("refused" in a["forms"]):
            out.append((os.fsencode(path), f"oracle: {how}"))
        elif path in ref.DISAGREE and not write.disagrees(a):
            out.append((os.fsencode(path), "oracle: zarr-python and the own reader disagree"))
        elif expected[path] is not None and ref.ROWS.get(path) != expected[path]:
            out.append((os.fsencode(path), f"oracle: what is read is not what was written ({how}); {unlike(ref.ROWS.get(path), expected[path])}"))
    return out


def unlike(got, want):
    """The first place where records differ."""
    if got is None or len(got) != len(want):
        return f"length {got and len(got)}, not {len(want)}"
    at = next(i for i, (a, b) in enumerate(zip(got, want)) if a != b)
    return f"from {at}: {got[at:at + 8]!r}, not {want[at:at + 8]!r}"


def one_store(spec, args, top):
    """Writes, mounts and compares. Returns (files, failures, the program's log); the store and the expected tree stay in `top`."""
    import mount
    import reference as ref
    import schema
    import write
    store, expected = write.write(spec, top)
    tree = os.path.join(top, "expected")
    ref.NONFINITE.clear()
    ref.NONFINITE.update({"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'} if spec["nonfinite"] else {})
    ref.FIXED[:] = [spec.get("fixed", False)]
    ref.dump(store, tree)
    failures = oracle_failures(spec, expected)
    if spec["inside"]:
        store = os.path.join(store, *spec["inside"])
        ref.dump(store, tree)
    if failures or args.binary == "none":
        return 0, failures, ""
    with mount.Mount(args.binary, store, top, [*spec["options"], *args.words]) as m:
        files = 0
        if not m.why:
            files, failures = mount.compare(tree, m.point, args.trees, spec["seed"], random.Random(spec["seed"]).choice([1, 1, 4]))
            if ".zarr" in args.trees and args.schema:
                failures += schema.failures(store, m.point)
    if m.why:
        failures.insert(0, (b"", m.why))
    if m.log.strip() and "Sanitizer" in m.log:
        failures.insert(0, (b"", "sanitizer report"))
    return files, failures, m.log


def run_store(spec, args):
    """one_store in a folder of its own, which goes away unless it is kept; a fault of the oracle is a failure as well."""
    top = tempfile.mkdtemp(prefix="differential.")
    try:
        try:
            files, failures, log = one_store(spec, args, top)
        except Exception:
            files, failures, log = 0, [(b"", "oracle: " + traceback.format_exc(limit=-1).splitlines()[-1])], traceback.format_exc()
        if failures and args.keep:
            keep(spec, top, failures, log, os.path.join(args.keep, str(spec["seed"])))
        return files, failures, log
    finally:
        shutil.rmtree(top, ignore_errors=True)


def text_of(failures):
    return [f"{os.fsdecode(name) or '(mount)'}: {why}".encode("utf-8", "backslashreplace").decode() for name, why in failures]


def keep(spec, top, failures, log, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name in ("store", "store.zarr.zip", "expected"):
        if os.path.exists(os.path.join(top, name)):
            shutil.move(os.path.join(top, name), folder)
    with open(os.path.join(folder, "spec.json"), "w") as f:
        json.dump(spec, f, indent=1)
    with open(os.path.join(folder, "failures.txt"), "w") as f:
        f.write("\n".join([*text_of(failures), "", log]))


def worker(args, seeds, pipe):
    """A child: does its seeds, one JSON line for each into the pipe."""
    import spec as specs
    import write
    for seed in seeds:
        spec = specs.store(seed, args.only, args.without, args.arrays)
        if not spec["arrays"]:
            continue
        start = time.monotonic()
        files, failures, log = run_store(spec, args)
        line = {"seed": seed, "files": files, "arrays": len(spec["arrays"]), "failures": text_of(failures), "log": log[-2000:], "time": time.monotonic() - start}
        os.write(pipe, (json.dumps(line) + "\n").encode())
    write.V2.close()


def start(args, seeds, end):
    """Forks the workers. Returns {pipe: pid}."""
    out = {}
    for k in range(args.jobs):
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.close(r)
                signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))       # so that nothing stays mounted
                signal.signal(signal.SIGINT, signal.SIG_IGN)                # the parent sees to it
                worker(args, (s for s in seeds[k::args.jobs] if not end or time.monotonic() < end), w)
                code = 0
            except (SystemExit, BrokenPipeError):
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        os.close(w)
        out[r] = pid
    return out


def repeat_line(args, seed):
    words = [os.path.join(HERE, "differential.py"), args.binary, "--seeds", f"{seed}:{seed + 1}"]
    for name in ("only", "without"):
        if getattr(args, name):
            words += [f"--{name}", ",".join(getattr(args, name))]
    if args.arrays != 8:
        words += ["--arrays", str(args.arrays)]
    if args.options:
        words += ["--options", args.options]
    return shlex.join(words)


def show(args, r):
    print(f"FAIL seed {r['seed']}: {len(r['failures'])} differences")
    for line in r["failures"][:SHOWN]:
        print("   ", line)
    for line in r["log"].strip().splitlines()[-5:]:
        print("    log:", line[:300])
    print("    repeat:", repeat_line(args, r["seed"]), flush=True)


def lines_from(children):
    """Each result as it comes; a worker that ends badly is a result too."""
    rest = dict.fromkeys(children, b"")
    while rest:
        for r in select.select(list(rest), [], [])[0]:
            data = os.read(r, 1 << 20)
            rest[r] += data
            *full, rest[r] = rest[r].split(b"\n")
            yield from map(json.loads, full)
            if not data:
                _, status = os.waitpid(children[r], 0)
                del rest[r]
                if status:
                    yield {"seed": -1, "files": 0, "arrays": 0, "failures": [f"a worker ended with status {status}"], "log": "", "time": 0}


def many(args):
    a, b = (int(x) for x in args.seeds.split(":"))
    begin = time.monotonic()
    for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(s, lambda n, _: sys.exit(128 + n))
    children = start(args, range(a, b), begin + args.time if args.time else 0)
    passed = failed = files = arrays = 0
    try:
        for r in lines_from(children):
            files, arrays = files + r["files"], arrays + r["arrays"]
            if r["failures"]:
                failed += 1
                show(args, r)
                if failed >= args.fail_fast:
                    print(f"stopped after {failed} failing stores")
                    break
            else:
                passed += 1
    finally:
        for pid in children.values():
            try:
                os.kill(pid, signal.SIGTERM)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
    print(f"{arrays} arrays, {files} files in {time.monotonic() - begin:.1f} s")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def one_spec(args):
    with open(args.spec) as f:
        spec = json.load(f)
    files, failures, log = run_store(spec, args)
    print("\n".join(text_of(failures)))
    print(log, end="")
    print(f"{files} files")
    print(f"{int(not failures)} passed, {int(bool(failures))} failed")
    return 1 if failures else 0


def list_features(args):
    import collections
    import spec as specs
    a, b = (int(x) for x in args.seeds.split(":"))
    count = collections.Counter(f for seed in range(a, b) for array in specs.store(seed, args.only, args.without, args.arrays)["arrays"] for f in specs.features(array))
    for name, n in sorted(count.items()):
        print(f"{n:6} {name}")
    return 0


def main():
    args = arguments()
    if args.binary != "none":
        args.binary = os.path.abspath(args.binary)
    if args.list_features:
        return list_features(args)
    if args.spec:
        return one_spec(args)
    if args.shrink is not None:
        import shrink
        return shrink.main(args)
    return many(args)


if __name__ == "__main__":
    sys.exit(main())
