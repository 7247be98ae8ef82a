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

# The kernel makes several requests of it, some of them wholly behind the end.
@test "far past the end at once, past the page cache" {
  mount_store "$BATS_FILE_TMPDIR/all/store"
  limit 60 "$PYTHON" - "$MNT" "$BATS_FILE_TMPDIR/all/expect" <<'EOF'
import mmap, os, sys

for rel in ("a000/n", "a000/records.jsonl"):
    with open(f"{sys.argv[2]}/{rel}", "rb") as f:
        want = f.read()
    for more in (1, 5000, 5000000):
        fd = os.open(f"{sys.argv[1]}/{rel}", os.O_RDONLY | os.O_DIRECT)
        with mmap.mmap(-1, (len(want) + more + 4095) // 4096 * 4096) as m:
            n = os.preadv(fd, [m], 0)
            assert m[:n] == want, (rel, more, n, len(want))
        os.close(fd)
EOF
  unmount
}
