#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Proves that the differential test would notice: a stand-in for zarrfs shows the expected tree, which must pass, and the same tree
with one thing spoilt, which must fail for that thing. Needs bindfs besides what differential.py needs."""
import os
import sys

import differential
import spec as specs

HERE = os.path.dirname(os.path.abspath(__file__))
TEXT = "f=$(find . -type f -not -path './.csv/*' -not -path './.raw/*' -not -path './.npy/*' -not -path './.zarr/*' -size +0 | sort | head -n 1); "
SPOILS = [                                        # what is done to the tree, what must be said
    (TEXT + "printf x >>\"$f\"", "got 'x'"),
    (TEXT + "printf '\\001' | dd of=\"$f\" bs=1 conv=notrunc status=none", "expected"),
    (TEXT + "rm \"$f\"", "is not listed"),
    (TEXT + "mv \"$f\" \"$f.moved\"", "is not expected"),
    (TEXT + "rm \"$f\"; mkdir \"$f\"", "is a directory"),
    (TEXT + "rm \"$f\"; ln -s /etc/hostname \"$f\"", "is not a regular file"),
    ("f=$(find .raw -type f -size +0 | sort | head -n 1); printf '\\377' | dd of=\"$f\" bs=1 conv=notrunc status=none; printf '\\376' >>\"$f\"", "byte"),
    ("f=$(find .npy -type f -size +0 | sort | head -n 1); printf M | dd of=\"$f\" bs=1 seek=1 conv=notrunc status=none", "no NumPy file"),
    ("f=$(find .npy -type f -size +0 | sort | head -n 1); printf '\\001' >>\"$f\"", "data: "),
    ("f=$(find .npy -type f -size +0 | sort | head -n 1); sed -i '1s/fortran_order.: False/fortran_order'\\'': True /' \"$f\"", "header: "),
    ("f=$(find .csv -type f -size +0 | sort | head -n 1); printf ',' | dd of=\"$f\" bs=1 conv=notrunc status=none", "expected"),
    ("d=$(find .raw -mindepth 1 -type d | sort | tail -n 1); rm -r \"$d\"", "is not listed"),
    ("mkdir .cache", "is not expected"),
    ("f=$(find .zarr -name attributes.json | sort | head -n 1); echo '{\"k\":0}' >\"$f\"", "expected"),
    ("f=$(find .zarr -name zarr.json -o -name .zarray | sort | head -n 1); printf '\\n' >>\"$f\"", "expected"),
]


def failures_of(seed, args, spoil=""):
    os.environ["STANDIN_SPOIL"] = spoil
    return differential.text_of(differential.run_store(specs.store(seed, args.only, args.without, 4), args)[1])


def main():
    import write
    sys.argv[1:] = [os.path.join(HERE, "standin")]
    args = differential.arguments()
    bad = good = 0
    for seed in range(12):
        out = failures_of(seed, args)
        good, bad = good + (not out), bad + bool(out)
        print(*out, sep="\n", end="\n" if out else "")
    args.only, args.without = ["struct"], ["refused", "empty", "zip", "0d"]
    for spoil, say in SPOILS:
        out = failures_of(8, args, spoil)
        ok = 1 <= len(out) <= 2 and any(say in line for line in out)
        good, bad = good + ok, bad + (not ok)
        if not ok:
            print(f"not noticed as {say!r}: {spoil}", *out, sep="\n    ")
    args.options = args.binary = ""
    write.V2.close()
    print(f"{good} passed, {bad} failed")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
