#!/usr/bin/env bats
# The forms beside the text: which are there, and that the programs they are made for read them.
# presets: dev

load helper

setup_file() { make_store many 2; }

setup() {
  DEMO=$(fixture demo)
  WANT=$FIXTURES/demo/expect
  ROWS=$BATS_FILE_TMPDIR/many
}

# trees: names of the trees at the root that begin with a dot, in one line.
trees() { (cd "$MNT" && echo .[a-z]*); }

@test "views= says which forms there are" {
  mount_store "$DEMO"
  [ "$(trees)" = ".csv .npy .raw .zarr" ]
  unmount
  mount_store "$DEMO" -o views=zarr,raw
  [ "$(trees)" = ".raw .zarr" ]
  cmp "$MNT/.raw/spikes/records" "$WANT/.raw/spikes/records"
  run stat "$MNT/.csv"
  [[ $output == *"No such file"* ]]
  unmount
  mount_store "$DEMO" -o views=none
  [ "$(trees)" = '.[a-z]*' ]
  cmp "$MNT/trials/start" "$WANT/trials/start"
  unmount
}

@test "view= shows another form at the root" {
  for form in csv raw npy; do
    mount_store "$DEMO" -o "view=$form"
    [ "$(trees)" = '.[a-z]*' ]
    (cd "$WANT/.$form" && find . -type f | sort) | diff - <(cd "$MNT" && find . -type f | sort)
    [ "$form" = npy ] || diff -r "$WANT/.$form" "$MNT"
    unmount
  done
  mount_store "$DEMO" -o view=csv,views=zarr
  [ "$(trees)" = .zarr ]
  unmount
}

@test "text=fixed gives columns of constant width, whose sizes need no chunk" {
  slow_store "$ROWS/store"
  mount_store "$SLOW" -o text=fixed
  while read -r file width; do
    [ "$(stat -c %s "$MNT/a000/$file")" = $((20000 * (width + 1))) ]
    run -1 grep '^open .*/c/' "$READS"
  done <<'EOF'
n 11
x 24
word 32
flag 1
pos/a 6
pos/b 24
EOF
  for file in n x flag pos/a pos/b; do
    sed 's/^ *//' "$MNT/a000/$file" | cmp - "$ROWS/expect/a000/$file"
  done
  sed 's/ *$//' "$MNT/a000/word" | cmp - "$ROWS/expect/a000/word"
  [ "$(awk '{ print length }' "$MNT/a000/x" | sort -u)" = 24 ]
  cmp "$MNT/a000/records.jsonl" "$ROWS/expect/a000/records.jsonl"
  unmount
  unmount "$SLOW"
}

@test "NumPy maps .npy files and reads .raw ones, whole structs too" {
  mount_store "$ROWS/store"
  limit 60 "$PYTHON" - "$MNT" "$ROWS/expect" <<'EOF'
import sys
import numpy as np

mnt, want = sys.argv[1:]
kind = np.dtype([("n", "<i4"), ("x", "<f8"), ("word", "<U8"), ("flag", "?"), ("pos", [("a", "<i2"), ("b", "<f8")])])
records = np.load(f"{mnt}/.npy/a001/records.npy", mmap_mode="r")
raw = np.memmap(f"{mnt}/.raw/a001/records", kind, "r")
assert records.dtype == kind and records.shape == raw.shape == (20000,), (records.dtype, records.shape)
for name in ("n", "x", "pos/a", "pos/b", "word", "flag"):
    text = open(f"{want}/a001/{name}").read().split("\n")[:-1]
    column = np.load(f"{mnt}/.npy/a001/{name}.npy", mmap_mode="r")
    flat = np.fromfile(f"{mnt}/.raw/a001/{name}", column.dtype)
    member, member_raw = records, raw
    for part in name.split("/"):
        member, member_raw = member[part], member_raw[part]
    for values in (column, flat, member, member_raw):
        got = [str(int(v)) if name == "flag" else repr(float(v)) if column.dtype == "f8" else str(v) for v in values]
        assert got == text, name
EOF
  unmount
}

@test "CSV is read back by Python as it was written" {
  mount_store "$ROWS/store"
  limit 60 "$PYTHON" - "$MNT/.csv/a000/records.csv" "$ROWS/expect/a000/records.jsonl" <<'EOF'
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

@test "chunks.tsv lists what is stored, schema.json is JSON that names every file" {
  mount_store "$ROWS/store"
  (cd "$ROWS/store/a000" && find c -type f -printf '%p\t%s\n' | sort) | diff - "$MNT/.zarr/a000/chunks.tsv"
  [ "$(jq -c '[.shape, .fields.pos.fields.b.type]' "$MNT/.zarr/a000/schema.json")" = '[[20000],"float64"]' ]
  unmount
}
