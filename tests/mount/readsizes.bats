#!/usr/bin/env bats
# A file holds the same bytes in whatever pieces it is read. Each manner on a fresh mount: no size is known, no page cached.
# presets: dev
# limit: 240

load helper

# Some fixtures and one large array, as one store.
setup_file() {
  local all=$BATS_FILE_TMPDIR/all name
  make_store many 1
  mkdir -p "$all"
  mv "$BATS_FILE_TMPDIR"/many/{store,expect} "$all"
  for name in 1d.chunked.struct 2d.chunked.compressed.struct demo nwb.compound struct.strings; do
    cp -r "$FIXTURES/$name/store" "$all/store/$name"
    (cd "$FIXTURES/$name/expect" && mkdir "$all/expect/$name" && cp -r -- * "$all/expect/$name")
  done
}

# reads MANNER...
reads() {
  local manner all=$BATS_FILE_TMPDIR/all
  for manner; do
    mount_store "$all/store"
    limit 60 "$PYTHON" "$HERE/readsizes.py" "$manner" "$MNT" "$all/expect" || {
      echo "manner: $manner" >&2
      return 1
    }
    unmount
  done
}

@test "whole" { reads whole; }
@test "1 and 7 bytes at a time" { reads 1 7; }
@test "4096 bytes and 128 KiB at a time" { reads 4096 131072; }
@test "backwards" { reads backwards; }
@test "at random offsets" { reads random; }
@test "mapped into memory" { reads mmap; }
@test "1 and 7 bytes at a time, past the page cache" { reads direct-1 direct-7; }
@test "4096 and 100,001 bytes and 128 KiB at a time, past the page cache" { reads direct-4096 direct-100001 direct-131072; }
