#!/usr/bin/env bats
# The other forms, as those who read them see them: NumPy, jq's kind of reader, Fortran's kind of reader; and the options that
# choose among them.
# presets: dev release
# limit: 300

load helper

setup_file() {
  make_store many 2
  "$PYTHON" "$HERE/forms.py" names "$BATS_FILE_TMPDIR/names"
}

forms() { limit 120 "$PYTHON" -W ignore "$HERE/forms.py" "$@"; }

# Those that are folders: forms.py looks into the store itself.
stores() { for s in "$FIXTURES"/*/store "$BATS_FILE_TMPDIR/names/store"; do [ ! -d "$s" ] || echo "$s"; done; }

# on_all CHECK: of forms.py, on every store.
on_all() {
  local s failed=
  for s in $(stores); do
    echo "$s:"
    mount_store "$s"
    forms "$1" "$MNT" "$s" || failed="$failed $s"
    unmount
  done
  echo "failed:$failed"
  [ -z "$failed" ]
}

@test "NumPy loads and maps every .npy, records too, with the bytes of .raw" { on_all npy; }

@test "schema.json tells true names, and where in a packed record each field is" { on_all schema; }

@test "chunks.tsv lists what is stored, in the order of the grid" { on_all chunks; }

@test "text=fixed is the plain text in columns of the documented width" {
  local s failed=
  for s in $(stores); do
    echo "$s:"
    mount_store "$s"
    mount_at "$BATS_TEST_TMPDIR/fixed" "$s" -o text=fixed
    forms fixed "$BATS_TEST_TMPDIR/fixed" "$MNT" || failed="$failed $s"
    unmount
    unmount "$BATS_TEST_TMPDIR/fixed"
  done
  echo "failed:$failed"
  [ -z "$failed" ]
}

@test "awkward names of nodes are told apart, and lead back through schema.json" {
  mount_store "$BATS_FILE_TMPDIR/names/store"
  forms nodes "$MNT"
  unmount
}

@test "sizes of fixed columns are known without reading a chunk" {
  make_store big
  slow_store "$BATS_FILE_TMPDIR/big/store"
  mount_store "$SLOW" -o text=fixed
  [ "$(stat -c %s "$MNT/big/n")" = $((21 * 120000)) ]
  [ "$(stat -c %s "$MNT/big/x")" = $((25 * 120000)) ]
  run -1 grep '^open .*/c/' "$READS"
  [ "$(tail -n 1 "$MNT/big/n")" = "    1000000120118999" ]
  [ "$(grep -c '^open .*/c/' "$READS")" = 1 ]
  [ "$(cut -c 1-20 "$MNT/big/n" | sort -u | wc -l)" = 120000 ]
  unmount
  unmount "$SLOW"
}

@test "10^12 records have fixed columns, NumPy maps them, and nobody waits" {
  make_store huge
  mount_store "$BATS_FILE_TMPDIR/huge/store" -o text=fixed
  takes_less 5000 limit 20 stat "$MNT/deep/never/values" >/dev/null
  [ "$(limit 20 tail -n 1 "$MNT/deep/never/values" | tr -d ' ')" = -300 ]
  limit 20 "$PYTHON" -c "
import numpy, sys
a = numpy.load(sys.argv[1], mmap_mode='r')
assert a.size == 10 ** 12 and a[-1, -1, -1] == -300, a" "$MNT/.npy/deep/never/values.npy"
  unmount
}

@test "view= puts one tree at the root, without the others" {
  mount_store "$FIXTURES/v2.struct/store"
  for form in raw csv npy; do
    local at=$BATS_TEST_TMPDIR/$form
    mount_at "$at" "$FIXTURES/v2.struct/store" -o view=$form
    [ "$(stat -c %i "$at")" = 1 ]
    diff -r "$at" "$MNT/.$form"
    unmount "$at"
  done
  mount_at "$BATS_TEST_TMPDIR/both" "$FIXTURES/v2.struct/store" -o view=raw,views=zarr
  [ "$(find "$BATS_TEST_TMPDIR/both" -maxdepth 1 -name '.*' -printf '%f\n')" = .zarr ]
  diff -r "$BATS_TEST_TMPDIR/both/.zarr" "$MNT/.zarr"
  unmount "$BATS_TEST_TMPDIR/both"
  unmount
}

@test "views= limits which trees are there" {
  dots() { find "$MNT" -maxdepth 1 -name '.*' -printf '%f\n' | sort | tr '\n' ' '; }
  local row
  for row in "views=none:" "views=csv:.csv " "views=raw,zarr:.raw .zarr " "umask=0:.csv .npy .raw .zarr "; do
    mount_store "$FIXTURES/demo/store" -o "${row%%:*}"
    [ "$(dots)" = "${row#*:}" ]
    [ -f "$MNT/trials/start" ]
    [ ! -e "$MNT/.nothing" ]
    if [ "${row%%:*}" = views=none ]; then
      [ ! -e "$MNT/.raw" ]
      [ ! -e "$MNT/.zarr/zarr.json" ]
    fi
    unmount
  done
}

@test "an array that cannot be read says why in whatever tree is the root" {
  mount_store "$FIXTURES/unreadable/store"
  (cd "$MNT" && find . -name unreadable.txt | sort) >"$BATS_TEST_TMPDIR/want"
  [ -s "$BATS_TEST_TMPDIR/want" ]
  [ -z "$(find "$MNT/.raw" "$MNT/.csv" -name unreadable.txt)" ]
  mount_at "$BATS_TEST_TMPDIR/raw" "$FIXTURES/unreadable/store" -o view=raw
  diff "$BATS_TEST_TMPDIR/want" <(cd "$BATS_TEST_TMPDIR/raw" && find . -name unreadable.txt | sort)
  while read -r f; do
    diff "$MNT/$f" "$BATS_TEST_TMPDIR/raw/$f"
  done <"$BATS_TEST_TMPDIR/want"
  unmount "$BATS_TEST_TMPDIR/raw"
  unmount
}

@test "chunks.tsv: a link to nothing is there, without a size; a size is asked for once" {
  make_store damaged
  mount_store "$BATS_FILE_TMPDIR/damaged/store"
  [ "$(cat "$MNT/.zarr/good/chunks.tsv")" = $'c/0\t200000\nc/1\t200000\nc/2\t200000\nc/3\t200000' ]
  [ "$(sed -n 2p "$MNT/.zarr/short/chunks.tsv")" = $'c/1\t9999' ]
  for name in pipe folder leaves dangling; do
    [ "$(sed -n 2p "$MNT/.zarr/$name/chunks.tsv")" = $'c/1\t-' ]
  done
  [ "$(awk '{ n += $2 } END { print n }' "$MNT/.zarr/dangling/chunks.tsv")" = 600000 ]
  unmount
}

@test "CSV is read back by Python as it was written" {
  mount_store "$BATS_FILE_TMPDIR/many/store"
  limit 60 "$PYTHON" - "$MNT/.csv/a000/records.csv" "$BATS_FILE_TMPDIR/many/expect/a000/records.jsonl" <<'EOF'
import csv, json, sys

with open(sys.argv[1], newline="") as f:
    rows = list(csv.reader(f))
assert rows[0] == ["n", "x", "word", "flag", "pos.a", "pos.b"], rows[0]
with open(sys.argv[2]) as f:
    for row, line in zip(rows[1:], f, strict=True):
        v = json.loads(line)
        assert row == [str(v["n"]), repr(v["x"]), v["word"], str(int(v["flag"])), str(v["pos"]["a"]), repr(v["pos"]["b"])]
EOF
  unmount
}
