#!/usr/bin/env bats
# Readers of every kind at once, on fresh mounts, never see a wrong byte, a wrong size or an error.
# Short by default, since most such faults show while no size is known yet; ZR_LONG=1 for longer, and more mounts.
# presets: dev tsan
# limit: 900

load helper

setup_file() {
  make_store mixed 12
  make_store many 60
}

setup() {
  ROUNDS=3 ROUND=3
  [ -z "${ZR_LONG:-}" ] || ROUNDS=4 ROUND=15
}

# stress RECIPE OPTION...: the mount is at $MNT.
stress() {
  limit $((ROUND + 120)) "$PYTHON" "$HERE/stress.py" "$MNT" "$BATS_FILE_TMPDIR/$1/expect" \
    --seconds "$ROUND" --seed "$((RANDOM * 32768 + RANDOM))" "${@:2}"
}

# Lists all the time, in the manner of a shell, of ls -l and of find. The sizes that ls shows must be right as well.
lister() {
  while :; do
    (cd "$MNT" && find . -type f -path './[a-z]*' -printf '%s %p\n') | sort |
      diff -q - "$1" >/dev/null || echo wrong >>"$BATS_TEST_TMPDIR/lister"
    ls "$MNT"/*/ >/dev/null
    ls -lR "$MNT" >/dev/null || echo failed >>"$BATS_TEST_TMPDIR/lister"
  done
}

@test "many arrays that no one has read yet" {
  for _ in $(seq "$ROUNDS"); do
    mount_store "$BATS_FILE_TMPDIR/many/store"
    stress many
    unmount
  done
}

@test "small arrays of many shapes" {
  for _ in $(seq "$ROUNDS"); do
    mount_store "$BATS_FILE_TMPDIR/mixed/store"
    stress mixed
    unmount
  done
}

@test "with a cache of 1 MiB" {
  mount_store "$BATS_FILE_TMPDIR/mixed/store" -o cache=1M
  stress mixed
  unmount
}

@test "while the kernel is made to forget" {
  [ -w /proc/sys/vm/drop_caches ] || skip "needs root"
  for _ in $(seq "$ROUNDS"); do
    mount_store "$BATS_FILE_TMPDIR/mixed/store"
    stress mixed --drop-caches
    unmount
  done
}

@test "with a second process that lists all the time" {
  (cd "$BATS_FILE_TMPDIR/mixed/expect" && find . -type f -printf '%s %p\n') | sort >"$BATS_TEST_TMPDIR/sizes"
  for _ in $(seq "$ROUNDS"); do
    mount_store "$BATS_FILE_TMPDIR/mixed/store"
    lister "$BATS_TEST_TMPDIR/sizes" 2>/dev/null 3>&- &
    lister=$!
    status=0
    stress mixed || status=$?
    kill "$lister"
    wait "$lister" || true
    [ "$status" = 0 ]
    [ ! -e "$BATS_TEST_TMPDIR/lister" ]
    unmount
  done
}

@test "over a store whose reads are slow" {
  slow_store "$BATS_FILE_TMPDIR/mixed/store" --delay=5
  for _ in $(seq "$ROUNDS"); do
    mount_store "$SLOW"
    stress mixed --procs 8
    unmount
  done
  unmount "$SLOW"
}
