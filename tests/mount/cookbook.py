#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs what a page of documentation shows.

    cookbook.py [--without=TOOL,...] [--fill] PAGE

Of the fenced blocks of PAGE, those called `console` are commands, each behind `$ `, with what it prints below it; those with
`file=NAME` behind the language are files. In the order of the page the files are written into the working directory and the
commands run there, by bash; what one prints, on either output, must be what the page shows (blanks at the end of a line aside). A block below a line
`<!-- needs: TOOL -->` is left out if --without names TOOL.

One line for each command that prints something else, and what; last line `N passed, N failed, N left out`. Exit 0 only if
nothing failed. --fill writes the page anew, with what was printed.
"""
import argparse
import re
import subprocess
import sys

BLOCK = re.compile(r"(?:^<!-- needs: (?P<needs>\w+) -->\n)?^```(?P<kind>\w+)(?: file=(?P<file>\S+))?\n(?P<body>.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.M)
SECONDS = 120


def run(command):
    try:
        p = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"[no end after {SECONDS} seconds]\n"
    return re.sub(r"[ \t\f]+$", "", p.stdout.decode(), flags=re.M)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("page")
    p.add_argument("--without", default="")
    p.add_argument("--fill", action="store_true")
    a = p.parse_args()
    without = set(filter(None, a.without.split(",")))
    with open(a.page) as f:
        page = f.read()
    counts = {"passed": 0, "failed": 0, "left out": 0}

    def one(m):
        command, want = m.groups()
        got = run(command)
        if got == want:
            counts["passed"] += 1
        else:
            counts["failed"] += 1
            print(f"FAIL $ {command}\n--- the page shows\n{want}--- it prints\n{got}", flush=True)
        return f"$ {command}\n{got}"

    def block(m):
        if m["file"]:
            with open(m["file"], "w") as f:
                f.write(m["body"])
        elif m["kind"] == "console":
            if m["needs"] in without:
                counts["left out"] += len(COMMAND.findall(m["body"]))
            else:
                return m[0].replace(m["body"], COMMAND.sub(one, m["body"]))
        return m[0]

    page = BLOCK.sub(block, page)
    if a.fill:
        with open(a.page, "w") as f:
            f.write(page)
    print(", ".join(f"{n} {what}" for what, n in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
