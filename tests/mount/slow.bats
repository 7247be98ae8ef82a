#!/usr/bin/env bats
# No reader waits for another, whatever the store does: reads are held back at the store, and the rest goes on.
# presets: dev tsan
# limit: 240
# alone: yes

load helper

setup_file() { make_store many 60; }

setup() {
  MANY=$BATS_FILE_TMPDIR/many
  HOLD=$BATS_TEST_TMPDIR/hold
  SOON=2000 # milliseconds: what would wait for the held reads waits much longer
  [ -z "${ZR_SANITIZE:-}" ] || SOON=5000
  READERS=()
}

teardown() {
  rm -f "$HOLD"
  [ "${#READERS[@]}" = 0 ] || kill -KILL "${READERS[@]}" 2>/dev/null || true
  stop_all
}

# Reads of the chunks of arrays a000 to a019 wait as long as $HOLD exists.
held_store() {
  slow_store "$MANY/store" --match='/a0[01]?/c/*' --hold="$HOLD"
  mount_store "$SLOW" "$@"
}

# hold_readers COMMAND NUMBER...: the command, with each of these numbers for @, reads of array a0@; returns when all of
# them wait.
hold_readers() {
  local number
  : >"$HOLD"
  for number in "${@:2}"; do
    (cd "$MNT" && exec timeout -k 5 120 bash -c "exec ${1//@/$number}") >"$BATS_TEST_TMPDIR/out.$number" 2>&1 3>&- &
    READERS+=($!)
  done
  for number in "${@:2}"; do
    until_true 20 grep -q "^read /a0$number/c/" "$READS"
  done
}

# elsewhere: what other files are asked for comes at once.
elsewhere() {
  takes_less "$SOON" limit 60 ls "$MNT" >/dev/null
  takes_less "$SOON" limit 60 ls "$MNT/a0$(($1 + 0))" >/dev/null
  takes_less "$SOON" limit 60 stat "$MNT/a0$(($1 + 1))/n" >/dev/null
  takes_less "$SOON" limit 60 ls -l "$MNT/a0$(($1 + 2))" >/dev/null
  takes_less "$SOON" limit 60 cmp "$MNT/a0$(($1 + 3))/n" "$MANY/expect/a000/n"
  takes_less "$SOON" limit 60 cmp "$MNT/a0$(($1 + 3))/records.jsonl" "$MANY/expect/a000/records.jsonl"
  takes_less "$SOON" limit 60 head -n 3 "$MNT/a0$(($1 + 4))/x" >/dev/null
  takes_less "$SOON" limit 60 tail -n 3 "$MNT/a0$(($1 + 5))/x" >/dev/null
  takes_less "$SOON" limit 60 cat "$MNT/.zarr/a0$(($1 + 6))/zarr.json" >/dev/null
  takes_less "$SOON" limit 60 cat "$MNT/.raw/a0$(($1 + 7))/records" >/dev/null
}

SIXTEEN=(00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15)

released() {
  rm "$HOLD"
  wait "${READERS[@]}"
  READERS=()
}

done_here() {
  unmount
  unmount "$SLOW"
}

@test "sixteen slow reads delay neither ls nor stat nor cat of another file" {
  held_store
  hold_readers "cat a0@/n" "${SIXTEEN[@]}"
  elsewhere 20
  released
  for number in "${SIXTEEN[@]}"; do
    cmp "$BATS_TEST_TMPDIR/out.$number" "$MANY/expect/a000/n"
  done
  done_here
}

@test "nor do sixteen slow reads of files whose sizes are known, which the kernel reads ahead" {
  held_store
  hold_readers "cat .raw/a0@/records" "${SIXTEEN[@]}"
  elsewhere 30
  released
  for number in "${SIXTEEN[@]}"; do
    cmp "$BATS_TEST_TMPDIR/out.$number" "$MNT/.raw/a040/records"
  done
  done_here
}

@test "nor do sixteen slow stats, nor many of one and the same file" {
  held_store
  hold_readers "stat a0@/n" "${SIXTEEN[@]}"
  for _ in $(seq 48); do
    limit 120 tail -c 100 "$MNT/a000/x" >/dev/null 2>&1 3>&- &
    READERS+=($!)
  done
  sleep 0.3
  elsewhere 40
  released
  done_here
}

@test "a reader that is killed while it waits lets go at once" {
  held_store
  hold_readers "cat a0@/n" 00
  hold_readers "stat a0@/n" 01
  hold_readers "dd iflag=direct status=none if=.raw/a0@/records" 02
  for reader in "${READERS[@]}"; do
    pkill -KILL -P "$reader" # the command behind timeout(1)
  done
  begin=$(now_ms)
  for reader in "${READERS[@]}"; do
    ended "$reader" 20
  done
  took=$(($(now_ms) - begin))
  echo "let go after $took ms"
  [ "$took" -lt "$SOON" ]
  READERS=()
  # Nobody else is the worse for it.
  takes_less "$SOON" limit 60 cmp "$MNT/a040/n" "$MANY/expect/a000/n"
  rm "$HOLD"
  limit 60 cmp "$MNT/a000/n" "$MANY/expect/a000/n"
  limit 60 cmp "$MNT/a001/n" "$MANY/expect/a000/n"
  unmount
  unmount "$SLOW"
}

# signalled FILE: a reader with a timer, stopped and continued while it is held, gets all of FILE.
signalled() {
  local reader
  : >"$HOLD"
  # Not the function limit, which would be a process more between.
  timeout -k 5 120 "$PYTHON" "$HERE/signalled.py" "$MNT/$1" >"$BATS_TEST_TMPDIR/signalled" 2>&1 3>&- &
  READERS=($!)
  until_true 20 grep -q '^read /a00./c/' "$READS"
  reader=$(pgrep -P "${READERS[0]}")
  for _ in 1 2 3 4 5; do
    kill -STOP "$reader"
    sleep 0.1
    kill -CONT "$reader"
    sleep 0.05
  done
  rm "$HOLD"
  ended "${READERS[0]}" 60
  cat "$BATS_TEST_TMPDIR/signalled"
  [ "$ENDED" = 0 ]
  READERS=()
}

@test "timers, ^Z and fg do not break who waits for a size" {
  held_store
  signalled a000/n
  tail -n 1 "$BATS_TEST_TMPDIR/signalled" | grep -q "^$(sha256sum <"$MANY/expect/a000/n" | cut -c1-64) "
  done_here
}

@test "timers, ^Z and fg do not break who waits for bytes" {
  held_store
  signalled .raw/a001/n
  tail -n 1 "$BATS_TEST_TMPDIR/signalled" | grep -q "^$(sha256sum <"$MNT/.raw/a041/n" | cut -c1-64) "
  done_here
}

@test "waiting for a size ends with ETIMEDOUT and one line in the log; what was measured is kept" {
  held_store -o size_wait=1
  : >"$HOLD"
  run limit 60 stat "$MNT/a000/n"
  [ "$status" = 1 ]
  [[ $output == *"timed out"* ]]
  run limit 60 cat "$MNT/a000/x"
  [ "$status" = 1 ]
  [ "$(grep -c a000 "$LOG")" = 1 ]
  rm "$HOLD"
  until_true 60 limit 60 stat "$MNT/a000/n" >/dev/null
  limit 60 cmp "$MNT/a000/n" "$MANY/expect/a000/n"
  [ "$(grep -c '^open /a000/c/' "$READS")" -le 8 ]
  unmount
  unmount "$SLOW"
}
