#!/usr/bin/env bats
# `zarrfs index` does beforehand what the first mount would do, loses little when it is interrupted, and says what it left out.
# presets: dev tsan
# limit: 180

# shellcheck disable=SC2154 # stderr: set by run
load helper

setup_file() {
  make_store big
  make_store pair
  sleep 0.3 # what is newer than the clock of the file system ticks is put off
}

setup() {
  BIG=$BATS_FILE_TMPDIR/big
  PAIR=$BATS_FILE_TMPDIR/pair # its array `spoilt` has a damaged chunk
  INDEX=$XDG_CACHE_HOME/zarrfs
  # shellcheck disable=SC2034 # read by mount_at: what was kept stays
  KEEP=1
}

teardown() {
  [ -z "${INDEXER:-}" ] || kill -KILL "$INDEXER" 2>/dev/null || true
  stop_all
  is_mounted "$BATS_TEST_TMPDIR/small" && umount "$BATS_TEST_TMPDIR/small"
  true
}

opens() { sed -n 's|^open /||p' "$READS" | grep /c/ | sort | tr '\n' ' '; }

# opened WANT: chunks opened since the log was emptied, each as often as it was.
opened() {
  local got
  got=$(opens)
  [ "$got" = "$1" ] || {
    echo "chunks opened: '$got', want '$1'" >&2
    return 1
  }
}

# says WANT COMMAND...: on stdout.
says() {
  local got
  got=$("${@:2}")
  [ "$got" = "$1" ] || {
    echo "said: '$got', want '$1'" >&2
    return 1
  }
}

# kept COUNT: so many arrays are.
kept() { [ "$(find "$INDEX" -type f | wc -l)" = "$1" ]; }

sizes_of() { (cd "$1" && find . -type f ! -path '*/.*/*' -printf '%s %P\n' | sort); }

copy_pair() {
  cp -a "$PAIR" "$BATS_TEST_TMPDIR/pair"
  PAIR=$BATS_TEST_TMPDIR/pair
  rm -r "$PAIR/store/spoilt" "$PAIR/expect/spoilt"
  sleep 0.3
}

index() { limit 60 "$ZARRFS" index "$@"; }

# begin_index STORE: in the background, its process in $INDEXER.
begin_index() {
  env --default-signal=INT "$ZARRFS" index "$1" >>"$LOG" 2>&1 </dev/null 3>&- &
  INDEXER=$!
}

@test "after it the first mount knows all sizes, and opens no chunk for them" {
  copy_pair
  slow_store "$PAIR/store"
  says "$SLOW: 2 arrays measured" index "$SLOW"
  opened "left/c/0 left/c/1 left/c/2 left/c/3 right/c/0 right/c/1 right/c/2 right/c/3 "
  kept 2
  : >"$READS"
  mount_store "$SLOW" -o size_wait=0
  limit 60 ls -lR "$MNT" >/dev/null
  diff <(sizes_of "$PAIR/expect") <(sizes_of "$MNT")
  opened ""
  limit 60 tail -n 3 "$MNT/left/x" | cmp - <(tail -n 3 "$PAIR/expect/left/x")
  opened "left/c/3 "
  unmount
}

@test "sizes and bytes are those of a mount without an index" {
  index "$BIG/store"
  kept 1
  mount_store "$BIG/store" -o index=off
  sizes_of "$MNT" >"$BATS_TEST_TMPDIR/without"
  unmount
  mount_store "$BIG/store"
  diff "$BATS_TEST_TMPDIR/without" <(sizes_of "$MNT")
  for file in n x records.jsonl; do
    limit 60 cmp "$MNT/big/$file" "$BIG/expect/big/$file"
  done
  unmount
}

@test "what is known is passed over, and after a change only the array concerned is measured" {
  copy_pair
  slow_store "$PAIR/store"
  index "$SLOW"
  : >"$READS"
  says "$SLOW: 0 arrays measured, 2 known already" index "$SLOW"
  opened ""
  cp "$PAIR/store/right/c/3" "$PAIR/store/right/c/0"
  sleep 1.2 # the kernel keeps what slowfs says of a file for a second
  says "$SLOW: 1 array measured, 1 known already" index "$SLOW"
  opened "right/c/0 right/c/1 right/c/2 right/c/3 "
}

@test "interrupted or killed, it has lost no more than the array it was at" {
  copy_pair
  hold=$BATS_TEST_TMPDIR/hold
  slow_store "$PAIR/store" --hold="$hold" --match='*/right/c/*'
  for signal in INT KILL; do
    rm -rf "$INDEX"
    : >"$hold"
    : >"$READS"
    begin_index "$SLOW"
    until_true 60 grep -q 'read /right/c/' "$READS"
    kept 1
    kill -s "$signal" "$INDEXER"
    rm "$hold"
    ended "$INDEXER" 20
    [ "$ENDED" -gt 128 ]
    : >"$READS"
    says "$SLOW: 1 array measured, 1 known already" index "$SLOW"
    opened "right/c/0 right/c/1 right/c/2 right/c/3 "
    kept 2
  done
}

@test "what is kept but spoilt is measured again, also where the sizes in it are good" {
  slow_store "$BIG/store"
  index "$SLOW"
  kept=$(echo "$INDEX"/*)
  cp "$kept" "$BATS_TEST_TMPDIR/good"
  for at in 20 300; do
    printf '\377' | dd of="$kept" bs=1 seek="$at" conv=notrunc status=none
    says "$SLOW: 1 array measured" index "$SLOW"
    cmp "$kept" "$BATS_TEST_TMPDIR/good"
  done
}

@test "a damaged chunk is named, and so is its array; the others are kept" {
  run -1 --separate-stderr index "$PAIR/store"
  [ "$output" = "$PAIR/store: 2 arrays measured, 1 not kept" ]
  [[ $stderr == *"array '/spoilt': chunk 'c/1' is damaged"* ]]
  [[ $stderr == *"array '/spoilt': its sizes are not kept: not all of its chunks can be read"* ]]
  kept 2
}

@test "of several stores each has its line, and one that is none hurts no other" {
  run -1 --separate-stderr index "$BIG/store" "$BATS_TEST_TMPDIR/none" "$FIXTURES/demo/store"
  [ "${lines[0]}" = "$BIG/store: 1 array measured" ]
  [ "${lines[1]}" = "$FIXTURES/demo/store: 4 arrays measured" ]
  [ "${#lines[@]}" = 2 ]
  [[ $stderr == *"$BATS_TEST_TMPDIR/none"* ]]
  kept 5
}

@test "an array that has just been written is kept all the same" {
  copy_pair
  touch "$PAIR/store/left/c/2"
  says "$PAIR/store: 2 arrays measured" index "$PAIR/store"
  kept 2
}

@test "the options are those of the mount" {
  slow_store "$BIG/store"
  index -o "nonfinite=string,index_dir=$BATS_TEST_TMPDIR/a\\,b" "$SLOW"
  [ ! -e "$INDEX" ]
  for option in nonfinite=string nonfinite=null; do
    : >"$READS"
    mount_store "$SLOW" -o "$option,index_dir=$BATS_TEST_TMPDIR/a\\,b"
    ls -l "$MNT/big" >/dev/null
    unmount
    [ "$(opens | wc -w)" = "$([ "$option" = nonfinite=string ] && echo 0 || echo 3)" ]
  done
}

@test "two at once, and a mount beside them" {
  copy_pair
  mount_store "$PAIR/store"
  begin_index "$PAIR/store"
  index "$PAIR/store" >>"$LOG" 3>&- &
  other=$!
  limit 60 ls -lR "$MNT" >/dev/null
  diff <(sizes_of "$PAIR/expect") <(sizes_of "$MNT")
  ended "$INDEXER" 60
  [ "$ENDED" = 0 ]
  wait "$other"
  unmount
  kept 2
  says "$PAIR/store: 0 arrays measured, 2 known already" index "$PAIR/store"
}

@test "where nothing can be written, one line says so" {
  need_root
  mkdir "$BATS_TEST_TMPDIR/small"
  mount -t tmpfs -o size=16k,mode=700 none "$BATS_TEST_TMPDIR/small" || skip "no tmpfs can be mounted"
  head -c 16384 /dev/zero >"$BATS_TEST_TMPDIR/small/filler"
  run -1 --separate-stderr index -o "index_dir=$BATS_TEST_TMPDIR/small" "$BIG/store"
  [[ $stderr == *"No space left on device"* ]]
  mount -o remount,ro "$BATS_TEST_TMPDIR/small"
  run -1 --separate-stderr index -o "index_dir=$BATS_TEST_TMPDIR/small" "$BIG/store"
  [ -z "$output" ]
  [ "$stderr" = "zarrfs: sizes cannot be kept: '$BATS_TEST_TMPDIR/small': Read-only file system" ]
}

@test "a directory that others may write to is refused, and so is what makes no sense" {
  mkdir -p "$INDEX"
  chmod 777 "$INDEX"
  run -1 --separate-stderr index "$BIG/store"
  [ "$stderr" = "zarrfs: sizes cannot be kept: '$INDEX' can be written to by others" ]
  for arguments in "-o index=off $BIG/store" "" "-o allow_other $BIG/store" "--rows 1:2 $BIG/store"; do
    # shellcheck disable=SC2086 # several of them
    run -2 --separate-stderr index $arguments
    [ "${#stderr_lines[@]}" = 1 ]
  done
}
