#!/usr/bin/env bats
# Starting, options, signals, unmounting; writing is refused.
# presets: dev tsan
# limit: 240

load helper

setup_file() { make_store many 70; }

setup() {
  STORE=$(fixture demo)
  MANY=$BATS_FILE_TMPDIR/many
  HOLD=$BATS_TEST_TMPDIR/hold
  mkdir -p "$MNT"
}

# As a user would.
in_background() {
  need_fuse
  limit 60 "$ZARRFS" "$STORE" "$MNT" 3>&-
}

# The process that in_background left; the other is its keeper.
daemon() { pgrep -o -xf "[^ ]*zarrfs $STORE $MNT"; }

# gone PID: not a child of ours, so its status cannot be asked for.
gone() { ! kill -0 "$1" 2>/dev/null; }

@test "it goes to the background and returns when the mount answers" {
  MOUNTS+=("$MNT")
  in_background
  [ -f "$MNT/trials/start" ]
  [ "$(head -n 1 "$MNT/trials/start")" = 4.452 ]
  daemon=$(daemon)
  fusermount3 -u "$MNT"
  until_true 20 gone "$daemon"
  run -1 is_mounted "$MNT"
}

@test "in the background it holds no descriptor, no terminal, no directory" {
  cd "$BATS_TEST_TMPDIR"
  MOUNTS+=("$MNT")
  output=$(in_background) # would wait as long as standard output is held
  [ -z "$output" ]
  daemon=$(daemon)
  [ "$(readlink "/proc/$daemon/cwd")" = / ]
  for fd in 0 1 2; do
    [ "$(readlink "/proc/$daemon/fd/$fd")" = /dev/null ]
  done
  [ "$(ps -o sid= -p "$daemon" | tr -d ' ')" = "$daemon" ] || [ "$(ps -o tty= -p "$daemon")" = "?" ]
  fusermount3 -u "$MNT"
  until_true 20 gone "$daemon"
}

@test "relative paths are understood, also in the background" {
  cp -r "$STORE" "$BATS_TEST_TMPDIR/store"
  cd "$BATS_TEST_TMPDIR"
  MOUNTS+=("$MNT")
  limit 60 "$ZARRFS" store mnt 3>&-
  cmp "$MNT/trials/start" "$FIXTURES/demo/expect/trials/start"
  cmp "$MNT/lfp/values" "$FIXTURES/demo/expect/lfp/values"
  fusermount3 -u "$MNT"
}

@test "fusermount3 -u, umount, SIGTERM and SIGINT end it with status 0" {
  mount_store "$STORE"
  cat "$MNT/trials/start" >/dev/null
  unmount
  for signal in TERM INT; do
    mount_store "$STORE"
    cat "$MNT/trials/start" >/dev/null
    kill -"$signal" "${PID[$MNT]}"
    ended_well "$MNT"
    run -1 is_mounted "$MNT"
  done
  if [ "$(id -u)" = 0 ]; then
    mount_store "$STORE"
    umount "$MNT"
    ended_well "$MNT"
  fi
}

@test "mounted and unmounted twenty times, nothing is left behind" {
  for _ in $(seq 20); do
    mount_store "$STORE"
    head -n 1 "$MNT/trials/records.jsonl" >/dev/null
    unmount
  done
}

@test "--help and --version answer on standard output, with status 0" {
  run -0 --separate-stderr "$ZARRFS" --help
  [[ $output == *STORE* ]] && [[ $output == *MOUNTPOINT* ]]
  for word in allow_other user sandbox uid gid umask default_permissions fsname missing nonfinite cache size_wait \
    follow_symlinks log; do
    [[ $output == *"$word"* ]] || { echo "--help does not mention $word" >&2; return 1; }
  done
  # shellcheck disable=SC2154 # set by run
  [ -z "$stderr" ]
  run -0 --separate-stderr "$ZARRFS" --version
  [[ $output == *zarrfs*"${ZR_VERSION:-}"* ]]
}

@test "every way to write is refused as on a read-only file system" {
  mount_store "$STORE"
  cd "$MNT"
  for command in 'touch new' 'echo >trials/start' 'echo >>trials/start' 'echo >new' 'mkdir new' 'rm -f trials/start' \
    'rmdir trials' 'mv trials/start trials/begin' 'ln -s a b' 'ln trials/start b' 'chmod 600 trials/start' \
    'touch trials/start' 'truncate -s 0 trials/start' 'mkfifo p' 'cp trials/stop trials/start' 'rm -rf trials/gaze' \
    'chown 1:1 trials/start' 'setfattr -n user.x -v 1 trials/start'; do
    command -v "${command%% *}" >/dev/null || continue
    run limit 20 bash -c "$command"
    [ "$status" != 0 ] || { echo "went well: $command" >&2; return 1; }
    [[ $output == *"Read-only file system"* ]] || { echo "$command: $output" >&2; return 1; }
  done
  cd /
  unmount
}

@test "without allow_other no other user may look, with it everyone may" {
  need_root
  as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
  chmod 755 "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" 2>/dev/null || true
  as_nobody stat "$BATS_TEST_TMPDIR" >/dev/null 2>&1 || skip "the temporary directory is closed to others"
  mount_store "$STORE"
  run as_nobody cat "$MNT/trials/start"
  [ "$status" != 0 ]
  unmount
  mount_store "$STORE" -o allow_other
  as_nobody cmp "$MNT/trials/start" "$FIXTURES/demo/expect/trials/start"
  unmount
  mount_store "$STORE" -o allow_other,default_permissions,umask=0077
  run as_nobody cat "$MNT/trials/start"
  [ "$status" != 0 ]
  cmp "$MNT/trials/start" "$FIXTURES/demo/expect/trials/start"
  unmount
}

@test "killed, it leaves no dead mount" {
  gone_from_there() { ! is_mounted "$MNT"; }
  for _ in 1 2 3; do
    mount_store "$STORE"
    kill -KILL "${PID[$MNT]}"
    unset "PID[$MNT]"
    until_true 30 gone_from_there
  done
}

@test "a second mount at the same place, and a mount as STORE, are refused, and the first goes on" {
  mount_store "$STORE" -o index=off
  run -1 limit 60 "$ZARRFS" "$STORE" "$MNT" 3>&-
  [ "$output" = "zarrfs: mount point '$MNT' has a mount of zarrfs already; remove it with: fusermount3 -u '$MNT'" ]
  mkdir "$BATS_TEST_TMPDIR/other"
  run -1 limit 60 "$ZARRFS" "$MNT" "$BATS_TEST_TMPDIR/other" 3>&-
  [ "$output" = "zarrfs: store '$MNT' is a mount of zarrfs, no store" ]
  cmp "$MNT/trials/start" "$FIXTURES/demo/expect/trials/start"
  unmount
  mount_store "$STORE" -o index=off # the place is free again
  unmount
}

@test "nonfinite=string gives the names of NaN and infinities" {
  mount_store "$STORE" -o nonfinite=string
  sed 's/null/"NaN"/g' "$FIXTURES/demo/expect/trials/records.jsonl" | cmp - "$MNT/trials/records.jsonl"
  cmp "$MNT/trials/reaction_ms" "$FIXTURES/demo/expect/trials/reaction_ms"
  unmount
}

@test "options of mount(8) and fstab are taken, and it is read-only, nosuid and nodev all the same" {
  for given in ro,dev,suid,exec,noatime,_netdev rw; do
    mount_store "$STORE" -o "$given"
    options=$(findmnt -nro OPTIONS "$MNT")
    for word in ro nosuid nodev; do
      [[ ,$options, == *",$word,"* ]]
    done
    unmount
  done
}

@test "log=FILE gets the log lines" {
  make_damaged=$BATS_TEST_TMPDIR/damaged
  cp -r "$(fixture 1d.chunked.struct)" "$make_damaged"
  truncate -s 5 "$(find "$make_damaged/c" -type f | head -n 1)"
  mount_store "$make_damaged" -o log="$BATS_TEST_TMPDIR/its.log"
  run cat "$MNT/records.jsonl"
  [ "$status" = 1 ]
  unmount
  [ "$(wc -l <"$BATS_TEST_TMPDIR/its.log")" -ge 1 ]
  grep -q 'c/' "$BATS_TEST_TMPDIR/its.log"
}

@test "64 readers at once" {
  mount_store "$MANY/store"
  readers=()
  for i in $(seq 0 63); do
    limit 120 cmp "$MNT/$(printf 'a%03d' "$((i / 2))")/records.jsonl" "$MANY/expect/a000/records.jsonl" 3>&- &
    readers+=($!)
  done
  for reader in "${readers[@]}"; do
    wait "$reader"
  done
  unmount
}

@test "unmounting during a read: refused while a file is open; lazily, the reader gets all of it" {
  slow_store "$MANY/store" --hold="$HOLD" --match='*/c/*'
  mount_store "$SLOW"
  : >"$HOLD"
  limit 120 cat "$MNT/a000/n" >"$BATS_TEST_TMPDIR/got" 3>&- &
  reader=$!
  until_true 20 grep -q '^read /a000/c/' "$READS"
  run fusermount3 -u "$MNT"
  [ "$status" != 0 ]
  is_mounted "$MNT"
  fusermount3 -uz "$MNT"
  run -1 is_mounted "$MNT"
  rm "$HOLD"
  wait "$reader"
  cmp "$BATS_TEST_TMPDIR/got" "$MANY/expect/a000/n"
  ended_well "$MNT"
  unmount "$SLOW"
}

@test "SIGTERM during a read ends the reader and the program" {
  slow_store "$MANY/store" --hold="$HOLD" --match='*/c/*'
  mount_store "$SLOW"
  : >"$HOLD"
  limit 120 cat "$MNT/a000/n" >"$BATS_TEST_TMPDIR/got" 2>/dev/null 3>&- &
  reader=$!
  limit 120 stat "$MNT/a001/n" >/dev/null 2>&1 3>&- &
  sizer=$!
  until_true 20 grep -q '^read /a000/c/' "$READS"
  until_true 20 grep -q '^read /a001/c/' "$READS"
  kill -TERM "${PID[$MNT]}"
  sleep 0.5
  rm "$HOLD"
  ended "$reader" 30
  [ "$ENDED" != 0 ] || cmp "$BATS_TEST_TMPDIR/got" "$MANY/expect/a000/n"
  ended "$sizer" 30
  ended_well "$MNT"
  run -1 is_mounted "$MNT"
  unmount "$SLOW"
}

@test "a store may be one array, or have a name that needs care" {
  odd="$BATS_TEST_TMPDIR/st\"o r,e\\%"
  cp -r "$(fixture 1d.chunked.struct)" "$odd"
  mount_store "$odd"
  cmp "$MNT/count" "$FIXTURES/1d.chunked.struct/expect/count"
  unmount
}

@test "whoever starts it may take no notice of children" {
  cp -r "$STORE" "$BATS_TEST_TMPDIR/owned"
  [ "$(id -u)" != 0 ] || chown -R 12345 "$BATS_TEST_TMPDIR/owned" # then a child tries how the owner may read it
  start "$MNT" env --ignore-signal=CHLD "$ZARRFS" -f "$BATS_TEST_TMPDIR/owned" "$MNT"
  cmp "$MNT/trials/start" "$FIXTURES/demo/expect/trials/start"
  unmount
}
