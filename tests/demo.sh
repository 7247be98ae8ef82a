#!/bin/sh
# SPDX-License-Identifier: MIT
# demo.sh [STORE]: installs what is missing, builds zarrfs, mounts a store and shows what one can do with it.
# Without STORE: fixtures/demo/store, one session of an experiment as a laboratory might keep it.
set -eu
export LC_ALL=C.UTF-8

case ${1-} in
  -*)
    echo "usage: sh tests/demo.sh [STORE]" >&2
    exit 2
    ;;
esac
here=$(cd "$(dirname "$0")/.." && pwd)
store=
if [ $# != 0 ]; then
  [ -e "$1" ] || {
    echo "demo.sh: there is no $1" >&2
    exit 1
  }
  store=$(realpath -- "$1")
fi
cd "$here"

tmp=$(mktemp -d)
mnt=$tmp/mnt
mkdir "$mnt"
mounted() { grep -qF " $mnt " /proc/self/mountinfo; }
clean_up() {
  cd /
  if mounted; then
    fusermount3 -u "$mnt" 2>/dev/null || fusermount3 -uz "$mnt"
  fi
  rm -rf "$tmp/log" && rmdir "$mnt" "$tmp"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

quietly() {
  if ! "$@" >"$tmp/log" 2>&1 </dev/null; then
    cat "$tmp/log" >&2
    echo "demo.sh: this failed: $*" >&2
    exit 1
  fi
}

# show COMMAND: as typed at a prompt in the mount.
show() {
  printf '\n$ %s\n' "$1"
  (cd "$mnt" && sh -c "$1")
}

say() { printf '\n# %s\n' "$*"; }

sh tests/install.sh build
[ -w /dev/fuse ] || {
  echo "demo.sh: /dev/fuse is missing or may not be written to; zarrfs needs it to mount" >&2
  exit 1
}
echo "Building zarrfs ..."
quietly cmake --preset release
quietly cmake --build --preset release --target zarrfs -j "$(nproc)"
zarrfs=$here/build/release/zarrfs

show_any() {
  printf '\n$ mkdir mnt && zarrfs %s mnt && cd mnt\n' "$store"
  "$zarrfs" "$store" "$mnt"
  show "find . -path './.*' -prune -o -print | sort | sed '41{s/.*/…/;q}'"
  # The first three arrays with something in them: what a text file of each begins with.
  (cd "$mnt" && find . -path './.*' -prune -o -name records.jsonl -print) | sort | head -n 3 |
    while IFS= read -r file; do
      show "head -n 3 '$(printf '%s' "$file" | sed "s/'/'\\\\''/g")' | sed 's/^\\(.\\{149\\}\\)..\\+/\\1…/'"
    done
  (cd "$mnt" && find . -path './.*' -prune -o -name unreadable.txt -print) | sort | head -n 3 |
    while IFS= read -r file; do
      show "cat '$(printf '%s' "$file" | sed "s/'/'\\\\''/g")'"
    done
}

show_bundled() {
  store=fixtures/demo/store
  say "A Zarr store: groups, arrays, compressed chunks."
  printf '\n$ find %s -type f | sort\n' "$store"
  find "$store" -type f | sort
  say "Mounted, every array is a folder of plain text, a file for each field."
  printf '\n$ mkdir mnt && zarrfs %s mnt && cd mnt\n' "$store"
  "$zarrfs" "$store" "$mnt"
  show "find . -path './.*' -prune -o -type f -printf '%8s  %P\n' | sort -k2"
  say "Line i of every file of an array is record i."
  show "head -n 4 trials/start trials/stimulus"
  show "paste trials/stimulus trials/correct trials/gaze/x | head -n 5"
  show "head -n 2 trials/records.jsonl"
  say "So every tool that knows text knows the store."
  show "grep -c 45 trials/stimulus"
  show "paste trials/correct trials/reaction_ms | awk '\$1 { n++; sum += \$2 } END { printf \"%d correct, %.1f ms on average\\n\", n, sum / n }'"
  show "sort -n spikes/unit | uniq -c | sort -rn | head -n 3"
  if command -v jq >/dev/null; then
    show "jq -r 'select(.correct and .reaction_ms < 200) | [.stimulus, .reaction_ms] | @tsv' trials/records.jsonl"
  fi
  say "Chunks that were never written hold the fill value. The last eight trials:"
  show "tail -n 8 trials/reaction_ms | uniq -c"
  say "Arrays of more dimensions carry their indices in records.jsonl; arrays that are no struct are called values."
  show "tail -n 3 probe/sites/records.jsonl"
  show "head -n 3 lfp/values; wc -l lfp/values"
  say "What else a mount holds: CSV, raw binary and NumPy files, and the store's own metadata."
  show "head -n 3 .csv/trials/records.csv"
  show "od -A d -t d8 -N 32 .raw/spikes/time_us"
  show "head -n 1 .npy/spikes/time_us.npy | tail -c +11 | sed 's/ *$//'"
  show "ls .zarr/trials; cat .zarr/trials/chunks.tsv"
}

if [ "$store" ]; then
  show_any
else
  show_bundled
fi
printf '\n$ cd .. && fusermount3 -u mnt\n'
fusermount3 -u "$mnt"
say "The program is build/release/zarrfs; how to install it is in README.md, what more to do with it in docs/cookbook.md."
