#!/usr/bin/env bats
# What an array has been measured once is kept on disk, and never believed of a store that is not the same.
# presets: dev tsan
# limit: 300

load helper

setup_file() {
  make_store big
  make_store pair
  make_store crowd
  sleep 0.3 # what is newer than the clock of the file system ticks is not kept
}

setup() {
  BIG=$BATS_FILE_TMPDIR/big
  CROWD=$BATS_FILE_TMPDIR/crowd
  INDEX=$XDG_CACHE_HOME/zarrfs
  # shellcheck disable=SC2034 # read by mount_at: what an earlier mount of the test has kept stays
  KEEP=1
}

teardown() {
  stop_all
  is_mounted "$BATS_TEST_TMPDIR/small" && umount "$BATS_TEST_TMPDIR/small"
  true
}

chunk_opens() { sed -n 's|^open .*/c/||p' "$READS" | sort -n | uniq -c | awk '{ printf "%s%s:%s", sep, $2, $1; sep = " " }'; }

# counted WANT: chunks opened since the mount, as KEY:COUNT.
counted() {
  local got
  got=$(chunk_opens)
  [ "$got" = "$1" ] || {
    echo "chunks opened: '$got', want '$1'" >&2
    return 1
  }
}

# over_slow STORE [OPTION...]: mounts it through slowfs, which counts; once mounted that stays.
over_slow() {
  is_mounted "$BATS_TEST_TMPDIR/slow" || slow_store "$1"
  : >"$READS"
  mount_store "$SLOW" "${@:2}"
}

sizes_of() { find "$1" -type f ! -path '*/.*' -printf '%s %P\n' | sort; }

# sizes_are EXPECT ARRAY
sizes_are() { diff <(sizes_of "$1/$2") <(limit 60 ls -l "$MNT/$2" >/dev/null && sizes_of "$MNT/$2"); }

# copy_pair: a copy of that store that a test may change, in $PAIR.
copy_pair() {
  PAIR=$BATS_TEST_TMPDIR/pair
  cp -a "$BATS_FILE_TMPDIR/pair" "$PAIR"
  sleep 0.3
}

# kept COUNT: so many arrays are.
kept() {
  local n
  n=$(find "$INDEX" -type f | wc -l)
  [ "$n" = "$1" ] || {
    echo "$n arrays are kept, want $1" >&2
    return 1
  }
}

@test "a second mount knows all sizes, and opens no chunk for them" {
  over_slow "$BIG/store"
  sizes_are "$BIG/expect" big
  counted "0:1 1:1 2:1"
  unmount
  kept 1
  over_slow "$BIG/store"
  sizes_are "$BIG/expect" big
  [ "$(stat -c %s "$MNT/.csv/big/records.csv")" -gt 0 ]
  counted ""
  unmount
}

@test "a read at any offset opens one chunk, and gives what a read from the begin does" {
  over_slow "$BIG/store" -o cache=1M
  ls -l "$MNT/big" >/dev/null
  unmount
  for at in 0 900000 1700000; do
    over_slow "$BIG/store" -o cache=1M
    limit 60 dd if="$MNT/big/n" bs=1000 skip=$((at / 1000)) count=1 iflag=direct status=none |
      cmp - <(dd if="$BIG/expect/big/n" bs=1000 skip=$((at / 1000)) count=1 status=none)
    counted "$((at / 700000)):1"
    unmount
  done
}

@test "everything reads the same with what was kept as without" {
  for _ in 1 2; do
    mount_store "$BIG/store"
    for file in n x records.jsonl; do
      limit 60 cmp "$MNT/big/$file" "$BIG/expect/big/$file"
      limit 60 tail -c 100000 "$MNT/big/$file" | cmp - <(tail -c 100000 "$BIG/expect/big/$file")
    done
    limit 60 stat "$MNT/.csv/big/records.csv" >/dev/null # so far three files were measured alone
    unmount
  done
  kept 1
}

@test "a size that is kept is there when nobody waits, and head opens one chunk" {
  over_slow "$BIG/store"
  ls -l "$MNT/big" >/dev/null
  unmount
  over_slow "$BIG/store" -o size_wait=0
  [ "$(limit 60 stat -c %s "$MNT/big/n")" = "$(stat -c %s "$BIG/expect/big/n")" ]
  limit 60 head -n 5 "$MNT/big/n" | cmp - <(head -n 5 "$BIG/expect/big/n")
  counted "0:1"
  unmount
  [ ! -s "$LOG" ] || ! grep -i warning "$LOG"
}

@test "a thousand chunks and more are looked at by the pass, and none is opened" {
  over_slow "$CROWD/store"
  sizes_are "$CROWD/expect" crowd
  unmount
  over_slow "$CROWD/store"
  sizes_are "$CROWD/expect" crowd
  counted ""
  limit 60 cmp "$MNT/crowd/records.jsonl" "$CROWD/expect/crowd/records.jsonl"
  unmount
  over_slow "$CROWD/store" # a read comes first
  limit 60 tail -n 3 "$MNT/crowd/n" | cmp - <(tail -n 3 "$CROWD/expect/crowd/n")
  unmount
}

@test "one of many chunks that was changed is found" {
  cp -a "$CROWD" "$BATS_TEST_TMPDIR/crowd"
  sleep 0.3
  mount_store "$BATS_TEST_TMPDIR/crowd/store"
  sizes_are "$CROWD/expect" crowd
  unmount
  cp "$CROWD/store/crowd/c/1499" "$BATS_TEST_TMPDIR/crowd/store/crowd/c/777" # longer lines
  mount_store "$BATS_TEST_TMPDIR/crowd/store"
  { head -n 1554 "$CROWD/expect/crowd/x" && tail -n 2 "$CROWD/expect/crowd/x" && tail -n +1557 "$CROWD/expect/crowd/x"; } >"$BATS_TEST_TMPDIR/x"
  [ "$(stat -c %s "$MNT/crowd/x")" = "$(stat -c %s "$BATS_TEST_TMPDIR/x")" ]
  limit 60 cmp "$MNT/crowd/x" "$BATS_TEST_TMPDIR/x"
  unmount
}

@test "an array is measured again when a chunk was changed, and no other array is" {
  copy_pair
  over_slow "$PAIR/store"
  sizes_are "$PAIR/expect" left
  sizes_are "$PAIR/expect" right
  unmount
  kept 2
  # The last chunk in place of the first: of the same size, and with the same modification time.
  cp "$PAIR/store/left/c/3" "$PAIR/new"
  touch -r "$PAIR/store/left/c/0" "$PAIR/new"
  cat "$PAIR/new" >"$PAIR/store/left/c/0"
  touch -r "$PAIR/new" "$PAIR/store/left/c/0"
  for file in n x records.jsonl; do
    { tail -n 20000 "$PAIR/expect/left/$file" && tail -n +20001 "$PAIR/expect/left/$file"; } >"$PAIR/file"
    mv "$PAIR/file" "$PAIR/expect/left/$file"
  done
  sleep 1.2 # the kernel keeps what slowfs says of a file for a second
  over_slow "$PAIR/store"
  sizes_are "$PAIR/expect" right
  counted ""
  sizes_are "$PAIR/expect" left
  counted "0:1 1:1 2:1 3:1"
  limit 60 cmp "$MNT/left/records.jsonl" "$PAIR/expect/left/records.jsonl"
  unmount
  kept 2
  over_slow "$PAIR/store"
  sizes_are "$PAIR/expect" left
  counted ""
  unmount
}

@test "an array is measured again when a chunk has come or gone, or its metadata was changed" {
  copy_pair
  echo ' ' >"$PAIR/space"
  for change in "rm left/c/2" "cp left/c/0 left/c/2" "cp $PAIR/longer left/zarr.json" "cp right/c/2 left/c/"; do
    over_slow "$PAIR/store"
    ls -l "$MNT/left" >/dev/null
    unmount
    cat "$PAIR/store/left/zarr.json" "$PAIR/space" >"$PAIR/longer"
    (cd "$PAIR/store" && $change)
    sleep 1.2 # the kernel keeps what slowfs says of a file for a second
    over_slow "$PAIR/store"
    limit 60 ls -l "$MNT/left" >/dev/null
    [[ $(chunk_opens) == *3:1* ]]
    limit 60 cat "$MNT/left/records.jsonl" | wc -c >"$BATS_TEST_TMPDIR/length"
    [ "$(<"$BATS_TEST_TMPDIR/length")" = "$(stat -c %s "$MNT/left/records.jsonl")" ]
    unmount
  done
  run ! grep -i error "$LOG"
}

@test "an array with a damaged chunk is not kept, and each mount says what is wrong" {
  copy_pair
  for _ in 1 2; do
    mount_store "$PAIR/store"
    ls -l "$MNT/spoilt" >/dev/null
    unmount
  done
  kept 0
  [ "$(grep -c spoilt "$LOG")" = 2 ]
}

@test "an array that was written to since it was first looked at is not kept" {
  copy_pair
  mount_store "$PAIR/store"
  ls "$MNT/left" "$MNT/right" >/dev/null
  touch "$PAIR/store/left/c/2"
  ls -l "$MNT/left" "$MNT/right" >/dev/null
  unmount
  kept 1
}

@test "other options have other sizes, and both are kept" {
  for _ in 1 2; do
    for option in nonfinite=null nonfinite=string; do
      over_slow "$BIG/store" -o "$option"
      ls -l "$MNT/big" >/dev/null
      opened=$(chunk_opens)
      unmount
    done
  done
  kept 2
  [ -z "$opened" ]
}

@test "index=off keeps nothing and uses nothing" {
  over_slow "$BIG/store" -o index=off
  ls -l "$MNT/big" >/dev/null
  unmount
  [ ! -e "$INDEX" ]
  over_slow "$BIG/store"
  ls -l "$MNT/big" >/dev/null
  unmount
  kept 1
  over_slow "$BIG/store" -o index=off
  ls -l "$MNT/big" >/dev/null
  counted "0:1 1:1 2:1"
  unmount
}

@test "index_dir says where" {
  for _ in 1 2; do
    over_slow "$BIG/store" -o "index_dir=$BATS_TEST_TMPDIR/a\\,b"
    ls -l "$MNT/big" >/dev/null
    opened=$(chunk_opens)
    unmount
  done
  [ -z "$opened" ]
  [ ! -e "$INDEX" ]
  [ "$(find "$BATS_TEST_TMPDIR/a,b" -type f | wc -l)" = 1 ]
  [ "$(stat -c %a "$BATS_TEST_TMPDIR/a,b")" = 700 ]
}

@test "an archive is known again, and another one of that name is not" {
  (cd "$BIG/store" && "$PYTHON" -m zipfile -c "$BATS_TEST_TMPDIR/store.zip" zarr.json big)
  sleep 0.3
  mount_store "$BATS_TEST_TMPDIR/store.zip"
  sizes_are "$BIG/expect" big
  unmount
  kept 1
  touch -d '2001-01-01' "$INDEX"/*
  mount_store "$BATS_TEST_TMPDIR/store.zip"
  sizes_are "$BIG/expect" big
  cmp "$MNT/big/n" "$BIG/expect/big/n"
  unmount
  (cd "$BATS_FILE_TMPDIR/pair/store" && mv "$BATS_TEST_TMPDIR/store.zip" "$BATS_TEST_TMPDIR/old" &&
    cp -r left "$BATS_TEST_TMPDIR/big" && cp zarr.json "$BATS_TEST_TMPDIR")
  (cd "$BATS_TEST_TMPDIR" && "$PYTHON" -m zipfile -c store.zip zarr.json big)
  mount_store "$BATS_TEST_TMPDIR/store.zip"
  limit 60 ls -l "$MNT/big" >/dev/null
  diff <(sizes_of "$BATS_FILE_TMPDIR/pair/expect/left") <(sizes_of "$MNT/big")
  unmount
}

@test "what is kept may be cut, overwritten, or something else: it is measured again and replaced" {
  over_slow "$BIG/store"
  ls -l "$MNT/big" >/dev/null
  unmount
  kept=$(echo "$INDEX"/*)
  cp "$kept" "$BATS_TEST_TMPDIR/good"
  for spoil in "truncate -s 0 $kept" "truncate -s 100 $kept" "dd if=/dev/urandom of=$kept bs=64 count=1 conv=notrunc status=none" \
    "chmod 666 $kept" "ln -sf $BATS_TEST_TMPDIR/good $kept" "cp /dev/null $kept"; do
    $spoil
    over_slow "$BIG/store"
    sizes_are "$BIG/expect" big
    counted "0:1 1:1 2:1"
    unmount
    cmp "$kept" "$BATS_TEST_TMPDIR/good"
    [ "$(stat -c %F:%a "$kept")" = "regular file:600" ]
  done
  # Rows that were spoilt are met by who reads; the sizes are good.
  printf '\377' | dd of="$kept" bs=1 seek=300 conv=notrunc status=none
  mount_store "$BIG/store"
  limit 60 cmp "$MNT/big/records.jsonl" "$BIG/expect/big/records.jsonl"
  unmount
}

@test "text that is not as long as what was kept says is an error, and what was kept is thrown away" {
  copy_pair
  mount_store "$PAIR/store"
  ls -l "$MNT/left" >/dev/null
  unmount
  kept 1
  mount_store "$PAIR/store"
  [ "$(stat -c %s "$MNT/left/n")" = "$(stat -c %s "$PAIR/expect/left/n")" ]
  cat "$PAIR/store/left/c/3" >"$PAIR/store/left/c/0" # while it is mounted
  run -2 limit 60 cmp "$MNT/left/n" "$PAIR/expect/left/n"
  run ! limit 60 cat "$MNT/left/n"
  kept 0
  grep -q "left.*index says" "$LOG"
  unmount
}

@test "two mounts of a store share what is kept, and sixteen programs ask at once" {
  mount_at "$BATS_TEST_TMPDIR/one" "$BATS_FILE_TMPDIR/pair/store"
  mount_at "$BATS_TEST_TMPDIR/two" "$BATS_FILE_TMPDIR/pair/store"
  askers=()
  for i in $(seq 8); do
    for mnt in one two; do
      limit 60 ls -lR "$BATS_TEST_TMPDIR/$mnt" >"$BATS_TEST_TMPDIR/$mnt.$i" 3>&- &
      askers+=($!)
    done
  done
  wait "${askers[@]}"
  unmount "$BATS_TEST_TMPDIR/one"
  unmount "$BATS_TEST_TMPDIR/two"
  kept 2
  mount_store "$BATS_FILE_TMPDIR/pair/store"
  sizes_are "$BATS_FILE_TMPDIR/pair/expect" left
  sizes_are "$BATS_FILE_TMPDIR/pair/expect" right
  unmount
}

@test "a directory that others may write to is not used, which is said once" {
  mkdir -p "$INDEX"
  chmod 777 "$INDEX"
  mount_store "$BIG/store"
  sizes_are "$BIG/expect" big
  unmount
  kept 0
  [ "$(grep -c "$INDEX" "$LOG")" = 1 ]
}

@test "the directory of another user, or behind a link, is not used" {
  need_root
  mkdir -p "$INDEX"
  chown 1:1 "$INDEX"
  mount_store "$BIG/store"
  sizes_are "$BIG/expect" big
  unmount
  kept 0
  grep -q "$INDEX.*does not belong" "$LOG"
  mv "$INDEX" "$INDEX.real"
  chown 0:0 "$INDEX.real"
  ln -s zarrfs.real "$INDEX"
  mount_store "$BIG/store"
  sizes_are "$BIG/expect" big
  unmount
  [ -z "$(ls "$INDEX.real")" ]
}

@test "a full disk and a read-only one are said once, and nothing else is hurt" {
  need_root
  mkdir "$BATS_TEST_TMPDIR/small"
  mount -t tmpfs -o size=16k,mode=700 none "$BATS_TEST_TMPDIR/small" || skip "no tmpfs can be mounted"
  head -c 16384 /dev/zero >"$BATS_TEST_TMPDIR/small/filler"
  mount_store "$BATS_FILE_TMPDIR/pair/store" -o "index_dir=$BATS_TEST_TMPDIR/small"
  ls -lR "$MNT" >/dev/null
  sizes_are "$BATS_FILE_TMPDIR/pair/expect" left
  sizes_are "$BATS_FILE_TMPDIR/pair/expect" right
  unmount
  [ "$(ls "$BATS_TEST_TMPDIR/small")" = filler ]
  [ "$(grep -c "No space left" "$LOG")" = 1 ]
  rm "$BATS_TEST_TMPDIR/small/filler"
  mount -o remount,ro "$BATS_TEST_TMPDIR/small"
  mount_store "$BATS_FILE_TMPDIR/pair/store" -o "index_dir=$BATS_TEST_TMPDIR/small"
  sizes_are "$BATS_FILE_TMPDIR/pair/expect" left
  sizes_are "$BATS_FILE_TMPDIR/pair/expect" right
  unmount
  [ "$(grep -c "Read-only file system" "$LOG")" = 1 ]
}
