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

# hold_readers COMMAND NUMBER...: the command reads a file, %, of each of these arrays; returns when all of them wait.
hold_readers() {
  local number
  : >"$HOLD"
  for number in "${@:2}"; do
    limit 120 bash -c "exec ${1//%/"$MNT/a0$number/n"}" >"$BATS_TEST_TMPDIR/out.$number" 2>&1 3>&- &
    READERS+=($!)
  done
  for number in "${@:2}"; do
    until_true 20 grep -q "^read /a0$number/c/" "$READS"
  done
}

SIXTEEN=(00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15)

released() {
  rm "$HOLD"
  wait "${READERS[@]}"
  READERS=()
  unmount
  unmount "$SLOW"
}

@test "sixteen slow reads delay neither ls nor stat nor cat of another file" {
  held_store
  hold_readers "cat %" "${SIXTEEN[@]}"
  takes_less "$SOON" limit 60 ls "$MNT" >/dev/null
  takes_less "$SOON" limit 60 ls "$MNT/a017" >/dev/null
  takes_less "$SOON" limit 60 stat "$MNT/a030/n" >/dev/null
  takes_less "$SOON" limit 60 ls -l "$MNT/a031" >/dev/null
  takes_less "$SOON" limit 60 cmp "$MNT/a032/n" "$MANY/expect/a000/n"
  takes_less "$SOON" limit 60 cmp "$MNT/a032/records.jsonl" "$MANY/expect/a000/records.jsonl"
  takes_less "$SOON" limit 60 head -n 3 "$MNT/a033/x" >/dev/null
  takes_less "$SOON" limit 60 tail -n 3 "$MNT/a034/x" >/dev/null
  takes_less "$SOON" limit 60 cat "$MNT/.zarr/a035/zarr.json" >/dev/null
  released
  for number in "${SIXTEEN[@]}"; do
    cmp "$BATS_TEST_TMPDIR/out.$number" "$MANY/expect/a000/n"
  done
}

@test "nor do sixteen readers of slow stats, nor many of one and the same file" {
  held_store
  hold_readers "stat %" "${SIXTEEN[@]}"
  for _ in $(seq 48); do
    limit 120 tail -c 100 "$MNT/a000/x" >/dev/null 2>&1 3>&- &
    READERS+=($!)
  done
  sleep 0.3
  takes_less "$SOON" limit 60 cmp "$MNT/a040/n" "$MANY/expect/a000/n"
  takes_less "$SOON" limit 60 ls -l "$MNT/a041" >/dev/null
  released
}

@test "a reader that is killed while it waits lets go at once" {
  held_store
  hold_readers "cat %" 00
  hold_readers "stat %" 01
  hold_readers "dd iflag=direct status=none if=%" 02
  for reader in "${READERS[@]}"; do
    pkill -KILL -P "$reader" || true # the command behind timeout(1)
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

@test "timers, ^Z and fg do not break a reader" {
  held_store
  : >"$HOLD"
  limit 120 "$PYTHON" "$HERE/signalled.py" "$MNT/a000/n" >"$BATS_TEST_TMPDIR/signalled" 2>&1 3>&- &
  READERS=($!)
  until_true 20 grep -q '^read /a000/c/' "$READS"
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
  tail -n 1 "$BATS_TEST_TMPDIR/signalled" | grep -q "^$(sha256sum <"$MANY/expect/a000/n" | cut -c1-64) "
  unmount
  unmount "$SLOW"
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
