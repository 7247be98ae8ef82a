#!/usr/bin/env bats
# Where nodes lie: inside of stores and archives, in consolidated metadata, in what is no Zarr store at all.
# presets: dev
# limit: 180

load helper

setup() {
  STORE=$BATS_TEST_TMPDIR/store
  mkdir -p "$MNT" "$STORE"
}

# refused WORDS STORE: fails with one line that holds WORDS (a pattern); nothing is mounted.
refused() {
  run --separate-stderr limit 60 "$ZARRFS" -f "$2" "$MNT"
  # shellcheck disable=SC2154 # set by run
  if [ "$status" = 0 ] || [ "$status" -ge 124 ] || [ "${#stderr_lines[@]}" != 1 ] || [[ $stderr != *$1* ]]; then
    printf 'status %s, standard error: %s\nwanted one line with: %s\n' "$status" "$stderr" "$1" >&2
    return 1
  fi
  run -1 is_mounted "$MNT"
}

# shows STORE FIXTURE NODE: what is mounted is that node of the fixture, in all trees that compare.py knows.
shows() {
  local expect=$BATS_TEST_TMPDIR/expect tree
  rm -rf "$expect"
  mkdir -p "$expect"
  cp -r "$FIXTURES/$2/expect/$3/." "$expect"
  for tree in .csv .raw .npy .zarr; do
    [ ! -d "$FIXTURES/$2/expect/$tree/$3" ] || cp -r "$FIXTURES/$2/expect/$tree/$3" "$expect/$tree"
  done
  mount_store "$1"
  limit 60 "$PYTHON" "$HERE/compare.py" --skip="$HERE/skip" --name="$2" "$MNT" "$expect"
  unmount
}

@test "STORE may name a node inside of a directory" {
  shows "$FIXTURES/layouts/store/two" layouts two
  shows "$FIXTURES/layouts/store/two/group/three/" layouts two/group/three
}

@test "STORE may name a node inside of an archive" {
  zip=$FIXTURES/layouts.zip/store.zip
  shows "$zip/two" layouts.zip two
  shows "$zip/./two//group/" layouts.zip two/group
  shows "$zip/packed.zarr/three/deep" layouts.zip three/deep
  shows "$zip/" layouts.zip .
  cd "$FIXTURES/layouts.zip"
  shows store.zip/both layouts.zip both
}

@test "the name of the file system is that of the node" {
  mount_store "$FIXTURES/layouts.zip/./store.zip/two/"
  findmnt -no SOURCE "$MNT" | grep -q "/layouts.zip/store.zip/two$"
  unmount
}

@test "a node that is not there is one clear line" {
  zip=$FIXTURES/layouts.zip/store.zip
  refused "'$zip' has no node 'two/nothing'" "$zip/two/nothing"
  refused "'$zip' has no node 'two/../both'" "$zip/two/../both"
  refused "No such file" "$FIXTURES/layouts/store/nothing"
}

@test "what is no Zarr store is called by its name" {
  mkdir -p "$STORE/ice/snapshots" "$STORE/ice/manifests" "$STORE/ice/refs" "$STORE/db" "$STORE/n5/a" "$STORE/parquet" \
    "$STORE/draft/meta/root" "$STORE/nothing/at/all"
  touch "$STORE/db/manifest.ocdbt" "$STORE/nothing/at/all/file"
  echo '{"n5":"4.0.0"}' >"$STORE/n5/attributes.json"
  echo '{"metadata":{".zgroup":{"zarr_format":2}},"record_size":10}' >"$STORE/parquet/.zmetadata"
  echo '{"zarr_format":"https://purl.org/zarr/spec/protocol/core/3.0","metadata_key_suffix":".json"}' >"$STORE/draft/zarr.json"
  echo '{"version":1,"refs":{".zgroup":"{}"}}' >"$STORE/refs.json"
  printf '\x89HDF\r\n\x1a\n' >"$STORE/x.nwb"
  refused "$STORE/ice: *icechunk" "$STORE/ice"
  refused "$STORE/db: *OCDBT" "$STORE/db"
  refused "$STORE/n5: *N5" "$STORE/n5"
  refused "$STORE/parquet: *kerchunk" "$STORE/parquet"
  refused "$STORE/draft: *early draft" "$STORE/draft"
  refused "$STORE/refs.json: *kerchunk" "$STORE/refs.json"
  tar -cf "$STORE/x.tar" -C "$STORE" n5
  : >"$STORE/empty"
  refused "$STORE/x.nwb: *HDF5" "$STORE/x.nwb"
  refused "$STORE/x.tar: a tar archive*unpack it" "$STORE/x.tar"
  refused "$STORE/empty: an empty file" "$STORE/empty"
  refused "give the directory that it lies in" "$FIXTURES/layouts/store/both/zarr.json"
  refused "$STORE/nothing: not a Zarr store" "$STORE/nothing"
}

@test "documents of both versions: version 3 is shown, and that is said once" {
  mount_store "$FIXTURES/layouts/store"
  find "$MNT" >/dev/null
  unmount
  [ "$(grep -c 'versions 2 and 3' "$LOG")" = 1 ]
}

@test "broken consolidated metadata are said once, and else as if they were not there" {
  cp -r "$FIXTURES/consolidated.v3/store/." "$STORE"
  sed -i 's/"kind": "inline"/"kind": "outline"/' "$STORE/zarr.json"
  mount_store "$STORE"
  limit 60 "$PYTHON" "$HERE/compare.py" --skip="$HERE/skip" --name=consolidated.v3 "$MNT" "$FIXTURES/consolidated.v3/expect" |
    grep '^FAIL' >"$BATS_TEST_TMPDIR/found"
  [ "$(cut -d: -f1 "$BATS_TEST_TMPDIR/found")" = "FAIL .zarr/zarr.json" ]
  unmount
  [ "$(grep -c "group '/' is not used: its kind is not 'inline'" "$LOG")" = 1 ]
}

@test "a store may be described by .zmetadata alone" {
  cp -r "$FIXTURES/v2.consolidated/store/." "$STORE"
  mount_store "$STORE"
  cp -r "$MNT/." "$BATS_TEST_TMPDIR/before"
  unmount
  find "$STORE" \( -name .zgroup -o -name .zarray -o -name .zattrs \) -delete
  mount_store "$STORE"
  # Documents are shown as they stand in .zmetadata.
  diff -r "$BATS_TEST_TMPDIR/before" "$MNT" --exclude=.zgroup --exclude=.zarray --exclude=.zattrs --exclude=attributes.json
  grep -q '"units": "m"' "$MNT/.zarr/a/points/attributes.json"
  [ -s "$MNT/.zarr/.zgroup" ]
  unmount
}

@test "the time of a node is that of its own document, listed by consolidated metadata or not" {
  cp -r "$FIXTURES/consolidated.v3/store/." "$STORE"
  touch -d 2001-02-03T04:05:06Z "$STORE/a/counts/zarr.json"
  touch -d 2011-02-03T04:05:06Z "$STORE/zarr.json"
  rm "$STORE/a/points/zarr.json"
  mount_store "$STORE"
  ls "$MNT/a" >/dev/null
  [ "$(stat -c %Y "$MNT/a/counts")" = "$(date -d 2001-02-03T04:05:06Z +%s)" ]
  [ "$(stat -c %Y "$MNT/a/counts/values")" = "$(date -d 2001-02-03T04:05:06Z +%s)" ]
  [ "$(stat -c %Y "$MNT/a/points")" = "$(date -d 2011-02-03T04:05:06Z +%s)" ]
  unmount
}

@test "a listing of 20,000 nodes of consolidated metadata looks at none of them" {
  "$PYTHON" - "$STORE" <<'EOF'
import json, os, sys
array = {"zarr_format": 3, "node_type": "array", "shape": [2], "data_type": "int8", "fill_value": 7, "attributes": {},
         "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
         "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes"}]}
nodes = {f"a{i:05}": array for i in range(20000)}
with open(sys.argv[1] + "/zarr.json", "w") as f:
    json.dump({"zarr_format": 3, "node_type": "group",
               "consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": nodes}}, f)
EOF
  mount_store "$STORE"
  [ "$(limit 60 ls "$MNT" | wc -l)" = 20000 ]
  [ "$(cat "$MNT/a12345/values")" = $'7\n7' ]
  [ "$(limit 60 ls -l "$MNT" | grep -c '^d')" = 20000 ]
  unmount
}

@test "zarrfs ls ends no line in blanks, of an array without codecs neither" {
  run -0 limit 60 "$ZARRFS" ls "$(fixture v2.plain)"
  [[ $output == *"int16/  >i2 [5]  2/3 chunks of [2]"* ]]
  run ! grep ' $' <<<"$output"
}
