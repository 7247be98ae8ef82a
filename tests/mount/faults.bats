#!/usr/bin/env bats
# Whatever fails under a mount: nobody hangs, nobody is told what is wrong, and once it works again so does the mount.
# presets: dev
# limit: 240

load helper

setup_file() {
  make_store damaged
  make_store many 40
}

setup() {
  BAD=$BATS_FILE_TMPDIR/damaged
  GOOD=$BAD/expect/good
  MANY=$BATS_FILE_TMPDIR/many
  FAIL=$BATS_TEST_TMPDIR/fail
  HOLD=$BATS_TEST_TMPDIR/hold
  mkdir -p "$MNT"
}

# all_right: every file of the array `good`.
all_right() {
  local file
  for file in n w records.jsonl; do
    limit 60 cmp "$MNT/good/$file" "$GOOD/$file"
  done
}

# says WORDS COMMAND...: the command fails, with WORDS on standard error, and does not hang.
says() {
  run limit 60 "${@:2}"
  if [ "$status" = 0 ] || [ "$status" -ge 124 ] || [[ $output != *$1* ]]; then
    printf 'status %s, output: %s, wanted: %s\n' "$status" "${output:0:300}" "$1" >&2
    return 1
  fi
}

done_here() {
  unmount
  unmount "$SLOW"
}

# logged COUNT WORDS: so many lines.
logged() {
  local n
  n=$(grep -c -- "$2" "$LOG") || true
  [ "$n" = "$1" ] || {
    echo "$n lines with '$2', want $1" >&2
    return 1
  }
}

# Each failure meets an array of its own, which nobody has read before: a000, a001, ...
next_array() {
  ARRAY=$(printf 'a%03d' "$NEXT")
  NEXT=$((NEXT + 1))
}
NEXT=0

# array_right: every file of $ARRAY.
array_right() {
  local file
  for file in n x records.jsonl; do
    limit 60 cmp "$MNT/$ARRAY/$file" "$MANY/expect/a000/$file"
  done
}

# fail_with WHAT ERRNO [once]: from now on, in the store.
fail_with() {
  echo "$1 $("$PYTHON" -c "import errno; print(errno.$2)") ${3:-}" >"$FAIL.new"
  mv "$FAIL.new" "$FAIL"
}

# --- a store that fails

@test "reads that come in pieces make the whole" {
  slow_store "$BAD/store" --short=1000
  mount_store "$SLOW"
  all_right
  grep -q '^read /good/c/3 39000 ' "$READS" # there were pieces
  done_here
  [ ! -s "$LOG" ]
}

@test "a chunk that fails once is EIO for who asked, with a line in the log, and is read again by the next" {
  slow_store "$MANY/store" --fail="$FAIL" --match='*/c/*'
  mount_store "$SLOW"
  for code in read.EIO read.EACCES read.EAGAIN read.ETIMEDOUT read.ENXIO read.ENOENT open.EIO open.EACCES open.ETIMEDOUT; do
    next_array
    fail_with "${code%.*}" "${code#*.}" once
    says "Input/output error" cat "$MNT/$ARRAY/n"
    [ ! -e "$FAIL" ]
    logged 1 "'/$ARRAY'.*cannot be read"
    array_right
  done
  next_array
  fail_with read ENOMEM once
  says "Cannot allocate memory" cat "$MNT/$ARRAY/n"
  array_right
  # The kernel or the program tries these again by itself.
  for code in read.EINTR open.EINTR open.EAGAIN open.ESTALE; do
    next_array
    fail_with "${code%.*}" "${code#*.}" once
    array_right
    [ ! -e "$FAIL" ]
  done
  done_here
}

@test "a chunk that always fails is EIO each time, hangs nobody, and is right when it no longer does" {
  slow_store "$MANY/store" --fail="$FAIL" --match='/a0[012]?/c/*'
  mount_store "$SLOW"
  for code in read.EIO read.EINTR read.ESTALE open.EINTR open.EAGAIN open.ESTALE; do
    next_array
    fail_with "${code%.*}" "${code#*.}"
    for _ in 1 2; do
      says "Input/output error" cat "$MNT/$ARRAY/n"
      says "Input/output error" stat "$MNT/$ARRAY/x"
    done
    logged 1 "'/$ARRAY'.*cannot be read"
    ARRAY=a030 array_right # nobody else is hurt
    rm "$FAIL"
    array_right
  done
  done_here
}

@test "a document that cannot be read is EIO, not a node that is missing or cannot be shown" {
  slow_store "$MANY/store" --fail="$FAIL" --match='*/zarr.json'
  mount_store "$SLOW"
  for code in read.EIO read.EACCES read.EINTR open.EIO open.EACCES open.ESTALE; do
    next_array
    fail_with "${code%.*}" "${code#*.}"
    says "Input/output error" ls "$MNT/$ARRAY"
    says "Input/output error" cat "$MNT/$ARRAY/n"
    rm "$FAIL"
    array_right
    [ ! -e "$MNT/$ARRAY/unreadable.txt" ]
  done
  done_here
}

@test "a folder that cannot be listed is EIO, and once it can nothing is missing" {
  slow_store "$BAD/store" --fail="$FAIL" --match='/'
  mount_store "$SLOW"
  for code in EIO EACCES ESTALE; do
    : >"$LOG"
    fail_with list "$code"
    says "Input/output error" ls "$MNT"
    logged 1 "cannot be listed"
  done
  rm "$FAIL"
  diff <(find "$BAD/store" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort) <(limit 60 ls "$MNT")
  done_here
}

# --- files that change while they are read

# held_cat CHANGE: reads a file until it waits for chunk 1 of `good`, and then, in the folder of the chunks, does CHANGE
# before it goes on. The status of cat in $ENDED, its output in $BATS_TEST_TMPDIR/out.
held_cat() {
  : >"$HOLD"
  timeout -k 5 60 cat "$MNT/$2/good/n" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
  until_true 20 grep -q "^read /$2/good/c/1" "$READS"
  (cd "$STORE/$2/good/c" && eval "$1")
  rm "$HOLD"
  ended $! 60
}

@test "a chunk that is cut or grows while it is read is damaged; one that is replaced or removed is what it was" {
  STORE=$BATS_TEST_TMPDIR/store
  mkdir "$STORE"
  for i in 1 2 3 4 5; do
    mkdir "$STORE/$i"
    cp -r "$BAD/store/good" "$BAD/store/zarr.json" "$STORE/$i"
  done
  slow_store "$STORE" --hold="$HOLD" --match='*/good/c/1'
  mount_store "$SLOW"
  for change in 'truncate -s 1000 1:1' ': >1:2' 'cat 0 >>1:3'; do
    held_cat "${change%:*}" "${change##*:}"
    [ "$ENDED" = 1 ]
    grep -q "Input/output error" "$BATS_TEST_TMPDIR/err"
    limit 60 "$PYTHON" "$HERE/damaged.py" "$MNT/${change##*:}/good/n" "$GOOD/n" 10000 20000 0
    logged 1 "'/${change##*:}/good'.*c/1.*while it was read"
  done
  for change in 'mv 0 1:4' 'rm 1:5'; do
    held_cat "${change%:*}" "${change##*:}"
    [ "$ENDED" = 0 ]
    # The other one that moved may have been read before that.
    cmp <(tail -n +10001 "$BATS_TEST_TMPDIR/out") <(tail -n +10001 "$GOOD/n")
  done
  done_here
}

# --- the program is killed, or has too little

# read_all: readers of every kind, of arrays that nobody has read before, in the background.
read_all() {
  local i command
  READERS=()
  for i in 0 1 2 3; do
    for command in "cat a00$i/n" "stat a01$i/n" "cat .raw/a02$i/records" "ls -l a03$i"; do
      (cd "$MNT" && exec timeout -k 5 120 bash -c "exec $command") >"$BATS_TEST_TMPDIR/out.${#READERS[@]}" \
        2>"$BATS_TEST_TMPDIR/err.${#READERS[@]}" 3>&- &
      READERS+=($!)
    done
  done
}

# killed: kill -9. Its keeper takes the mount away.
gone_from_there() { ! is_mounted "$MNT"; }
killed() {
  kill -KILL "${PID[$MNT]}"
  wait "${PID[$MNT]}" || true
  unset "PID[$MNT]"
}

@test "readers of a mount that is killed get an error at once, and a mount at the same place works" {
  mount_store "$MANY/store"
  limit 60 cmp "$MNT/a009/n" "$MANY/expect/a000/n"
  exec 8<"$MNT/a009/x"
  kill -STOP "${PID[$MNT]}" # so that they wait for it
  read_all
  killed
  for i in "${!READERS[@]}"; do
    ended "${READERS[i]}" 30
    [ "$ENDED" != 0 ] && [ "$ENDED" -lt 124 ]
    # The last is for who came when the mount was gone.
    grep -Eq "connection abort|not connected|No such file" "$BATS_TEST_TMPDIR/err.$i"
  done
  until_true 30 gone_from_there
  run ! limit 20 head -c 1 <&8
  exec 8<&-
  mount_store "$MANY/store"
  for ARRAY in a000 a010 a020 a030; do
    array_right
  done
  # In the middle of its work: each gets what is right, as far as it gets.
  read_all
  killed
  for i in "${!READERS[@]}"; do
    ended "${READERS[i]}" 30
    [ "$ENDED" -lt 124 ]
    if [ $((i % 4)) = 0 ]; then
      cmp -n "$(stat -c %s "$BATS_TEST_TMPDIR/out.$i")" "$BATS_TEST_TMPDIR/out.$i" "$MANY/expect/a000/n"
    fi
  done
  until_true 30 gone_from_there
  mount_store "$MANY/store"
  for ARRAY in a001 a011 a021 a031; do
    array_right
  done
  unmount
}

# descriptors COUNT: from now on the program may open so many more. The limit is on their numbers, the lowest free first.
descriptors() {
  local limit
  limit=$(find "/proc/${PID[$MNT]}/fd" -mindepth 1 -printf '%f\n' |
    awk -v more="$1" '{ used[$1] } END { for (n = 0; more > 0 || n in used; n++) if (!(n in used)) more--; print n }')
  prlimit --pid "${PID[$MNT]}" --nofile="$limit:"
}

@test "without file descriptors readers get EIO, the log says why, and all works when there are some" {
  mount_store "$MANY/store"
  limit 60 ls "$MNT" "$MNT/a000" "$MNT/a030" >/dev/null
  limit 60 cmp "$MNT/a030/n" "$MANY/expect/a000/n"
  descriptors 0
  says "Input/output error" cat "$MNT/a000/n"
  says "Input/output error" stat "$MNT/a000/x"
  says "Input/output error" ls "$MNT/a001"
  grep -q "'/a000'.*Too many open files" "$LOG"
  limit 60 cmp "$MNT/a030/n" "$MANY/expect/a000/n" # nothing has to be opened for that
  descriptors 100
  for ARRAY in a000 a001 a030; do
    array_right
  done
  unmount
}

@test "with few file descriptors many readers get what is right, or EIO" {
  mount_store "$MANY/store"
  descriptors 2
  readers=()
  for i in $(seq 100 119); do
    limit 100 cat "$MNT/a0${i#1}/n" >"$BATS_TEST_TMPDIR/out.$i" 2>"$BATS_TEST_TMPDIR/err.$i" 3>&- &
    readers+=($!)
  done
  for i in "${!readers[@]}"; do
    ended "${readers[i]}" 100
    if [ "$ENDED" = 0 ]; then
      cmp "$BATS_TEST_TMPDIR/out.$((i + 100))" "$MANY/expect/a000/n"
    else
      [ "$ENDED" = 1 ]
      grep -q "Input/output error" "$BATS_TEST_TMPDIR/err.$((i + 100))"
    fi
  done
  descriptors 100
  for ARRAY in a000 a007 a019; do
    array_right
  done
  unmount
}

# --- what is kept on disk

@test "an index directory that is a file, below one, a loop or not there any more is said once, and all is right" {
  : >"$BATS_TEST_TMPDIR/file"
  ln -s loop "$BATS_TEST_TMPDIR/loop"
  for dir in file file/below loop /proc/nowhere; do
    [ "${dir#/}" != "$dir" ] || dir=$BATS_TEST_TMPDIR/$dir
    : >"$LOG"
    mount_store "$BAD/store" -o "index_dir=$dir"
    all_right
    unmount
    logged 1 "$dir"
    [ "$(wc -l <"$LOG")" = 1 ]
  done
  : >"$LOG"
  mount_store "$BAD/store" -o "index_dir=$BATS_TEST_TMPDIR/gone"
  rm -r "$BATS_TEST_TMPDIR/gone"
  all_right
  limit 60 stat "$MNT/.csv/good/records.csv" >/dev/null # so far three files were measured alone
  unmount
  logged 1 "cannot be kept"
  [ "$(wc -l <"$LOG")" = 1 ]
}
