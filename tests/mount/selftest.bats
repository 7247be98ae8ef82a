#!/usr/bin/env bats
# The checks of the other suites are checked: they pass on an expected tree that is mounted in place of zarrfs (see
# `standin`), and each finds the one thing that is spoilt in it.
# needs: nothing
# limit: 300

load helper

ZARRFS=$HERE/standin

setup_file() { make_store many 3; }

teardown() {
  unset STANDIN_TREE STANDIN_OPTIONS
  stop_all
}

# A copy of a fixture's expected tree, with the empty directories that version control dropped, in $BATS_TEST_TMPDIR/tree.
tree_of() {
  local tree=$BATS_TEST_TMPDIR/tree
  rm -rf "$tree"
  cp -r "$FIXTURES/$1/expect" "$tree"
  find "$tree/.zarr" -type d -printf '%P/\0' |
    (cd "$tree" && sed -z 'p; s|^|.csv/|p; s|^.csv|.raw|p; s|^.raw|.npy|' | sed -z 's|^/$|.|' | xargs -0 mkdir -p --)
}

# finds NAME NUMBER SPOIL: compare.py reports that many failures after SPOIL was run in the copy of NAME.
finds() {
  tree_of "$1"
  (cd "$BATS_TEST_TMPDIR/tree" && eval "$3")
  run "$PYTHON" "$HERE/compare.py" "$BATS_TEST_TMPDIR/tree" "$FIXTURES/$1/expect"
  if [ "$(grep -c ^FAIL <<<"$output")" != "$2" ] || [ "$status" != "$(($2 > 0))" ]; then
    printf '%s, %s: %s\n' "$1" "$3" "$output" >&2
    return 1
  fi
}

byte() { printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }

@test "compare.py accepts every expected tree" {
  for dir in "$FIXTURES"/*/; do
    [ ! -d "$dir/expect" ] || finds "$(basename "$dir")" 0 :
  done
  finds plain 0 'touch .zarr/numbers/int8/schema.json .zarr/numbers/int8/chunks.tsv'
  finds plain 0 "$PYTHON -m json.tool --indent=3 .zarr/attributes.json x && mv x .zarr/attributes.json"
  finds unreadable 0 'echo another text >no_endian/unreadable.txt'
}

@test "compare.py finds a wrong byte in every tree" {
  finds plain 8 'byte numbers/int32/values 0 7
    byte .csv/numbers/int32/records.csv 8 7
    byte .raw/numbers/int32/values 3 "\0177"
    byte .npy/numbers/int32/values.npy 130 "\0177"
    byte .npy/numbers/int16/values.npy 1 M
    byte .zarr/numbers/int32/zarr.json 2 X
    printf x >>.raw/numbers/int8/values
    echo "{}" >.zarr/attributes.json'
  finds unreadable 1 ': >no_endian/unreadable.txt'
  finds 1d.chunked.struct 1 'byte .raw/records 5 "\001"'
}

@test "compare.py finds what is missing and what is too much" {
  finds plain 11 'rm .npy/numbers/int8/values.npy
    rmdir .npy/text/string
    rmdir empty_group
    rmdir .raw/empty_group && touch .raw/empty_group
    touch .raw/text/string/values
    touch .raw/numbers/int8/records
    touch numbers/int8/records.csv
    touch numbers/int8/chunks.tsv
    mkdir numbers/int8/.raw
    mkdir .cache
    rm numbers/int8/values && ln -s ../int16/values numbers/int8/values'
  finds unreadable 1 'rmdir .csv/no_endian'
  finds struct.names 2 'mv .npy/nested/x.npy .npy/nested/y.npy'
  finds 1d.chunked.struct 1 'touch pos/records.csv'
}

@test "compare.py leaves out what its list says, and nothing more" {
  tree_of demo
  printf '%s\n' 'de* .raw # a comment' '* spikes' 'plain *' >"$BATS_TEST_TMPDIR/list"
  compare=("$PYTHON" "$HERE/compare.py" --skip="$BATS_TEST_TMPDIR/list" --name=demo "$BATS_TEST_TMPDIR/tree" "$FIXTURES/demo/expect")
  rm -r "$BATS_TEST_TMPDIR/tree/.raw" "$BATS_TEST_TMPDIR/tree/spikes/unit" "$BATS_TEST_TMPDIR/tree/.npy/spikes"
  "${compare[@]}"
  rm "$BATS_TEST_TMPDIR/tree/trials/stop"
  run -1 "${compare[@]}"
  echo 'demo *' >>"$BATS_TEST_TMPDIR/list"
  run -77 "${compare[@]}"
  run -77 "${compare[@]}" --would-skip
}

@test "compare.py finds a size that is not what is read" {
  export STANDIN_OPTIONS=--grow=1
  mount_store "$FIXTURES/demo/store"
  run -1 "$PYTHON" "$HERE/compare.py" "$MNT" "$FIXTURES/demo/expect"
  [[ $output == *"bytes were read"* ]]
  unmount
}

@test "readsizes.py passes a faithful mount and fails a spoilt one, in every manner" {
  sound=$BATS_TEST_TMPDIR/sound spoilt=$BATS_TEST_TMPDIR/spoilt
  mkdir "$sound"
  cp -r "$BATS_FILE_TMPDIR/many/expect/a000/n" "$BATS_FILE_TMPDIR/many/expect/a000/pos" "$sound"
  cp -r "$sound" "$spoilt"
  byte "$spoilt/n" "$(($(stat -c %s "$spoilt/n") - 3))" x
  reads() { limit 60 "$PYTHON" "$HERE/readsizes.py" "$manner" "$MNT" "$sound"; }
  for manner in whole 1 4096 backwards random mmap direct-7 direct-4096; do
    export STANDIN_TREE=$sound STANDIN_OPTIONS=
    mount_store any
    reads
    unmount
    export STANDIN_OPTIONS=--grow=1
    mount_store any
    run -1 reads
    unmount
    export STANDIN_TREE=$spoilt STANDIN_OPTIONS=
    mount_store any
    run -1 reads
    [[ $output == "n: "*"1 wrong" ]]
    unmount
  done
}

@test "stress.py passes a faithful mount and fails a spoilt one" {
  stress() { limit 100 "$PYTHON" "$HERE/stress.py" "$MNT" "$BATS_FILE_TMPDIR/many/expect" --seconds 2 --procs 2 --seed 1; }
  export STANDIN_TREE=$BATS_FILE_TMPDIR/many/expect
  mount_store any
  stress
  unmount
  cp -r "$STANDIN_TREE" "$BATS_TEST_TMPDIR/spoilt"
  for file in "$BATS_TEST_TMPDIR"/spoilt/*/*; do
    [ -d "$file" ] || byte "$file" 100 x
  done
  export STANDIN_TREE=$BATS_TEST_TMPDIR/spoilt
  mount_store any
  run -1 stress
  unmount
  export STANDIN_TREE=$BATS_FILE_TMPDIR/many/expect STANDIN_OPTIONS=--grow=1
  mount_store any
  run -1 stress
  unmount
}

@test "the arithmetic of huge.py agrees with counting" { "$PYTHON" "$HERE/huge.py" selftest; }

@test "slowfs counts, holds and fails" {
  hold=$BATS_TEST_TMPDIR/hold fail=$BATS_TEST_TMPDIR/fail
  slow_store "$FIXTURES/demo/store" --match='*/c/*' --hold="$hold" --fail="$fail"
  cat "$SLOW/lfp/c/0/0" >/dev/null
  [ "$(grep -c '^open /lfp/c/0/0$' "$READS")" = 1 ]
  grep -q '^read /lfp/c/0/0 0 ' "$READS"
  : >"$hold"
  limit 60 cat "$SLOW/lfp/c/1/0" >/dev/null 3>&- &
  held=$!
  sleep 0.3
  kill -0 "$held"
  cat "$SLOW/zarr.json" >/dev/null
  rm "$hold"
  wait "$held"
  : >"$fail"
  run -1 cat "$SLOW/lfp/c/1/0"
  [[ $output == *"Input/output error"* ]]
  rm "$fail"
  cmp "$SLOW/lfp/c/1/0" "$FIXTURES/demo/store/lfp/c/1/0"
  unmount "$SLOW"
}

@test "a program that ends badly, or never mounts, fails its test" {
  printf '#!/bin/sh\n"%s" "$@"\nexit 3\n' "$HERE/standin" >"$BATS_TEST_TMPDIR/bad"
  chmod +x "$BATS_TEST_TMPDIR/bad"
  ZARRFS=$BATS_TEST_TMPDIR/bad
  mount_store "$FIXTURES/demo/store"
  if unmount 2>"$BATS_TEST_TMPDIR/said"; then false; fi # not in a subshell, which could not wait for it
  grep -q "status 3" "$BATS_TEST_TMPDIR/said"
  ZARRFS=/bin/false
  run -1 mount_store "$FIXTURES/demo/store"
  # shellcheck disable=SC2034 # read by mount_store
  ZARRFS=$BATS_TEST_TMPDIR/none
  run -1 mount_store "$FIXTURES/demo/store"
}
