#!/bin/sh
# SPDX-License-Identifier: MIT
# check_layers.sh [TOP]: every #include in TOP/src keeps to the table of modules in TOP/docs/architecture.md.
# One line for each include that does not, and for each file that the table does not know. Exit 0 if there is none.
set -eu

top=${1:-$(dirname "$0")/../..}
cd "$top"
set -- src/*.c src/*.cc src/*.h
files=
for f in "$@"; do
  [ ! -f "$f" ] || files="$files $f"
done
[ -n "$files" ] || {
  echo "check_layers: no sources in $top/src" >&2
  exit 1
}

# shellcheck disable=SC2086 # a list of names without spaces
exec awk '
function complain(text) { print FILENAME ":" FNR ": " text; bad = 1 }

# The row of a module: the one that names it, else the first whose pattern (NAME_*) fits.
function row_of(module,   i) {
  if (module in row)
    return row[module]
  for (i = 1; i <= npatterns; i++)
    if (index(module, pattern[i]) == 1)
      return pattern_row[i]
  return 0
}

function module_of(path) {
  sub(/.*\//, "", path)
  sub(/\.[a-z]*$/, "", path)
  return path
}

BEGIN {
  # What is no library: ISO C, POSIX, Linux, C++.
  split("assert ctype errno float inttypes iso646 limits locale math stdarg stdatomic stdbool stddef stdint stdio " \
        "stdlib string strings time " \
        "dirent fcntl fnmatch getopt grp mntent poll pthread pwd sched semaphore signal spawn syslog termios unistd " \
        "cpuid immintrin nmmintrin x86intrin endian byteswap malloc", names, " ")
  for (i in names)
    plain[names[i] ".h"] = 1
  split("algorithm array bit charconv cmath cstddef cstdint cstring limits type_traits utility", names, " ")
  for (i in names)
    plain[names[i]] = 1
}

FILENAME == "docs/architecture.md" {
  if ($0 !~ /^\| [0-9]+ \| `/)
    next
  split($0, cell, /\|/)
  rows++
  layer[rows] = cell[2] + 0
  if (layer[rows] < layer[rows - 1])
    complain("layers are not in order")
  n = split(cell[3], name, /[ `,]+/)
  for (i = 1; i <= n; i++) {
    if (name[i] ~ /\*$/) {
      pattern[++npatterns] = substr(name[i], 1, length(name[i]) - 1)
      pattern_row[npatterns] = rows
    } else if (name[i] != "") {
      row[name[i]] = rows
    }
  }
  n = split(cell[5], name, /[ `,]+/)
  for (i = 1; i <= n; i++)
    if (name[i] != "") {
      library[name[i]] = 1
      allowed[rows, name[i]] = 1
    }
  next
}

FNR == 1 {
  if (!rows) {
    print "docs/architecture.md: no table of modules"
    bad = 1
    exit
  }
  self = row_of(module_of(FILENAME))
  if (!self)
    complain("the table of modules in docs/architecture.md does not know this file")
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
  split($0, part, "\"")
  other = row_of(module_of(part[2]))
  if (!other)
    complain("\"" part[2] "\" is no module of docs/architecture.md")
  else if (self && !(other == self || layer[other] < layer[self] || (layer[other] == layer[self] && other < self)))
    complain("may not include \"" part[2] "\": layer " layer[other] " from layer " layer[self] (layer[other] == layer[self] ? ", below it in the table" : ""))
}

/^[ \t]*#[ \t]*include[ \t]*</ {
  split($0, part, /[<>]/)
  if (part[2] in library) {
    if (self && !((self, part[2]) in allowed))
      complain("may not include <" part[2] ">: docs/architecture.md names other files for it")
  } else if (!(part[2] in plain) && part[2] !~ /^(sys|linux|netinet|arpa)\//) {
    complain("<" part[2] "> is a library that docs/architecture.md does not name")
  }
}

END { exit bad }
' docs/architecture.md $files
