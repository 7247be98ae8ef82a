#!/usr/bin/env bats
# Regions that were never written cost nothing: 10^12 records list, stat and read at any offset at once.
# presets: dev release
# limit: 240

load helper

setup_file() { make_store huge; }

@test "sizes and bytes at any offset are what arithmetic says" {
  "$PYTHON" "$HERE/huge.py" selftest
  mount_store "$BATS_FILE_TMPDIR/huge/store"
  limit 200 "$PYTHON" "$HERE/huge.py" check "$MNT"
  unmount
}

@test "ls -l, tail, du and find answer at once" {
  mount_store "$BATS_FILE_TMPDIR/huge/store"
  takes_less 10000 limit 60 ls -lR "$MNT" >/dev/null
  [ "$(limit 20 tail -n 1 "$MNT/deep/never/values")" = -300 ]
  [ "$(limit 20 tail -n 1 "$MNT/deep/block/records.jsonl")" = '{"_index":[99999,6,999999],"v":0}' ]
  [ "$(limit 20 head -n 1 "$MNT/deep/never/records.jsonl")" = -300 ]
  takes_less 5000 limit 20 du -b "$MNT/plane/a"
  takes_less 5000 limit 20 find "$MNT" -type f -size +1G >/dev/null
  unmount
}
