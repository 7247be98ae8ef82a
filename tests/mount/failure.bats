#!/usr/bin/env bats
# What goes wrong is said, once and by name, and hurts nothing else.
# presets: dev
# limit: 240

load helper

setup_file() { make_store damaged; }

setup() {
  BAD=$BATS_FILE_TMPDIR/damaged
  GOOD=$BAD/expect/good
  FAIL=$BATS_TEST_TMPDIR/fail
  mkdir -p "$MNT"
}

# refused WORDS COMMAND...: fails at once, with one line on standard error that holds WORDS (a pattern); nothing is mounted.
refused() {
  local words=$1
  shift
  run --separate-stderr limit 60 "$@"
  # shellcheck disable=SC2154 # set by run
  if [ "$status" = 0 ] || [ "$status" -ge 124 ] || [ -n "$output" ] || [ "${#stderr_lines[@]}" != 1 ] || [[ $stderr != *$words* ]]; then
    printf 'status %s, output: %s\nstandard error: %s\nwanted one line with: %s\n' "$status" "$output" "$stderr" "$words" >&2
    return 1
  fi
  run -1 is_mounted "$MNT"
}

# bad_chunk ARRAY: chunk 1 of four cannot be read; all else can.
bad_chunk() {
  local file fill
  mount_store "$BAD/store"
  while read -r file fill; do
    limit 60 "$PYTHON" "$HERE/damaged.py" "$MNT/$1/$file" "$GOOD/$file" 10000 20000 "$fill"
  done <<'EOF'
n 0
w f
records.jsonl {"n":0,"w":"f"}
EOF
  limit 60 cmp "$MNT/good/records.jsonl" "$GOOD/records.jsonl"
  unmount
  [ "$(grep -c "$1" "$LOG")" = 1 ]
  grep "$1" "$LOG" | grep -q "c/1"
}

@test "a chunk that is too short reads as a bad sector" { bad_chunk short; }
@test "a chunk that is too long reads as a bad sector" { bad_chunk long; }
@test "a chunk that does not decompress reads as a bad sector" { bad_chunk bits; }
@test "a FIFO instead of a chunk reads as a bad sector, and stops nobody" { bad_chunk pipe; }
@test "a directory instead of a chunk reads as a bad sector" { bad_chunk folder; }
@test "a link out of the store is not followed" { bad_chunk leaves; }
@test "a dangling link is no missing chunk" { bad_chunk dangling; }

@test "follow_symlinks follows a link out of the store" {
  mount_store "$BAD/store" -o follow_symlinks
  cmp "$MNT/leaves/records.jsonl" "$GOOD/records.jsonl"
  unmount
}

@test "cat and cp give what lies before a damaged chunk, tail and dd conv=noerror the rest" {
  before=$(head -n 10000 "$GOOD/n" | wc -c)
  span=20000
  mount_store "$BAD/store"
  run -1 bash -c "cat '$MNT/short/n' >'$BATS_TEST_TMPDIR/got'"
  [[ $output == *"Input/output error"* ]]
  got=$(stat -c %s "$BATS_TEST_TMPDIR/got")
  [ "$got" -le "$before" ] && [ "$got" -ge $((before / 4096 * 4096)) ]
  cmp -n "$got" "$BATS_TEST_TMPDIR/got" "$GOOD/n"
  run -1 cp "$MNT/short/n" "$BATS_TEST_TMPDIR/got"
  [[ $output == *"Input/output error"* ]]
  cmp -n "$(stat -c %s "$BATS_TEST_TMPDIR/got")" "$BATS_TEST_TMPDIR/got" "$GOOD/n"
  tail -n 15000 "$MNT/short/n" | cmp - <(tail -n 15000 "$GOOD/n")
  run -0 dd if="$MNT/short/n" of="$BATS_TEST_TMPDIR/got" bs=4096 conv=noerror,sync
  [[ $output == *"Input/output error"* ]]
  cmp -n "$((before / 4096 * 4096))" "$BATS_TEST_TMPDIR/got" "$GOOD/n"
  tail -n +20001 "$GOOD/n" >"$BATS_TEST_TMPDIR/rest"
  lost=$(((before + span + 4095) / 4096 * 4096 - before - span)) # of the page that the span ends in
  cmp -n "$(($(stat -c %s "$BATS_TEST_TMPDIR/rest") - lost))" "$BATS_TEST_TMPDIR/got" "$BATS_TEST_TMPDIR/rest" \
    "$((before + span + lost))" "$lost"
  run -2 grep -c . "$MNT/short/n"
  run tar -cf "$BATS_TEST_TMPDIR/tar" -C "$MNT" short # for /dev/null it would not read at all
  [ "$status" != 0 ]
  unmount
}

@test "missing=error makes a missing chunk a damaged one" {
  store=$BATS_TEST_TMPDIR/store
  mkdir -p "$store"
  cp -r "$BAD/store/good/." "$store"
  rm "$store/c/1"
  mount_store "$store"
  [ "$(sed -n 15000p "$MNT/n")" = 0 ]
  unmount
  : >"$LOG"
  mount_store "$store" -o missing=error
  limit 60 "$PYTHON" "$HERE/damaged.py" "$MNT/n" "$GOOD/n" 10000 20000 0
  unmount
  [ "$(grep -c "c/1" "$LOG")" = 1 ]
}

@test "a document that is cut off is one unreadable.txt, and its siblings are fine" {
  mount_store "$BAD/store"
  [ "$(ls "$MNT/cut")" = unreadable.txt ]
  grep -q "zarr.json" "$MNT/cut/unreadable.txt"
  cmp "$MNT/good/n" "$GOOD/n"
  unmount
}

@test "check sums up the shards of an archive, of which readers read parts" {
  local zips=$BATS_TEST_TMPDIR/zips
  mkdir "$zips"
  "$PYTHON" - "$FIXTURES/struct.sharded/store" "$zips" <<'EOF'
import os, shutil, sys, zipfile
store, out = sys.argv[1:]
with zipfile.ZipFile(f"{out}/good.zip", "w", zipfile.ZIP_STORED) as z:
    for folder, _, files in os.walk(store):
        for f in files:
            z.write(f"{folder}/{f}", os.path.relpath(f"{folder}/{f}", store))
    where = z.getinfo("missing_inner/c/0").header_offset + 30 + len("missing_inner/c/0")
shutil.copy(f"{out}/good.zip", f"{out}/bad.zip")
with open(f"{out}/bad.zip", "r+b") as f:        # the first byte of the first record, which no codec looks after
    f.seek(where)
    byte = f.read(1)[0]
    f.seek(where)
    f.write(bytes([byte ^ 1]))
EOF
  run -0 limit 60 "$ZARRFS" check "$zips/good.zip"
  [[ $output == *", nothing damaged" ]]
  all=${output#*arrays, }
  run -1 limit 60 "$ZARRFS" check "$zips/bad.zip"
  [ "${#lines[@]}" = 2 ]
  [[ ${lines[1]} == *", ${all%, nothing damaged}, 1 chunk damaged" ]] # as many chunks, and as many bytes
  [[ ${lines[0]} == *"array '/missing_inner': chunk 'c/0' is damaged: 'missing_inner/c/0' is damaged: its CRC-32 is wrong" ]]
  [[ ${lines[1]} == *", 1 chunk damaged" ]]
}

@test "check says of how many arrays it could tell nothing, since they have no checksum" {
  local store=$FIXTURES/struct.codecs/store array
  for array in crc32c gzip gzip_then_crc32c numcodecs_bz2 numcodecs_lzma numcodecs_zlib zstd_checksum; do
    run -0 "$ZARRFS" check "$store" "$array"
    [[ $output == "1 array, 2 chunks, "*", nothing damaged" ]]
  done
  for array in none blosc_lz4_shuffle numcodecs_lz4 zstd; do
    run -0 "$ZARRFS" check "$store" "$array"
    [[ $output == *", nothing damaged; 1 array has no checksum" ]]
  done
  run -0 "$ZARRFS" check "$store"
  [[ $output == *", nothing damaged; 18 arrays have no checksum" ]]
  run -0 "$ZARRFS" check "$FIXTURES"/zip.v3/store.zip # whose members have one
  [[ $output == *", nothing damaged" ]]
}

@test "a store that does not answer is asked again" {
  slow_store "$BAD/store" --fail="$FAIL" --match='/good/c/*'
  mount_store "$SLOW"
  : >"$FAIL"
  run cat "$MNT/good/n"
  [ "$status" = 1 ]
  [[ $output == *"Input/output error"* ]]
  run stat "$MNT/good/w"
  [ "$status" = 1 ]
  rm "$FAIL"
  cmp "$MNT/good/n" "$GOOD/n"
  cmp "$MNT/good/w" "$GOOD/w"
  unmount
  unmount "$SLOW"
}

@test "a chunk that may not be read is an error, not a missing chunk" {
  [ "$(id -u)" != 0 ] || skip "root may read everything"
  store=$BATS_TEST_TMPDIR/store
  mkdir -p "$store"
  cp -r "$BAD/store/good/." "$store"
  chmod 000 "$store/c/1"
  mount_store "$store"
  run cat "$MNT/n"
  [ "$status" = 1 ]
  chmod 644 "$store/c/1"
  cmp "$MNT/n" "$GOOD/n"
  unmount
}

@test "the store removed under the mount gives errors, not fill values, and unmounts well" {
  store=$BATS_TEST_TMPDIR/store
  mkdir -p "$store"
  cp -r "$BAD/store/good" "$FIXTURES/demo/store/zarr.json" "$store"
  mount_store "$store"
  cmp "$MNT/good/n" "$GOOD/n"
  ls "$MNT/good" >/dev/null
  rm -r "$store"
  run limit 60 cat "$MNT/good/records.jsonl"
  [ "$status" != 0 ] || [ "$output" = "$(cat "$GOOD/records.jsonl")" ]
  run limit 60 ls -lR "$MNT"
  [ "$status" != 124 ]
  unmount
}

@test "the store removed before anything was read gives errors, not fill values" {
  store=$BATS_TEST_TMPDIR/store
  mkdir -p "$store"
  cp -r "$BAD/store/good/." "$store"
  mount_store "$store"
  rm -r "$store"
  for file in n w records.jsonl; do
    run limit 60 cat "$MNT/$file"
    [ "$status" = 1 ]
  done
  unmount
}

@test "what is no store is refused by name" {
  mkdir "$BATS_TEST_TMPDIR/empty"
  echo hello >"$BATS_TEST_TMPDIR/text"
  refused "$BATS_TEST_TMPDIR/none" "$ZARRFS" "$BATS_TEST_TMPDIR/none" "$MNT"
  refused "$BATS_TEST_TMPDIR/empty" "$ZARRFS" "$BATS_TEST_TMPDIR/empty" "$MNT"
  refused "$BATS_TEST_TMPDIR/text" "$ZARRFS" "$BATS_TEST_TMPDIR/text" "$MNT"
  refused "$BATS_TEST_TMPDIR/none" "$ZARRFS" -f "$BATS_TEST_TMPDIR/none" "$MNT"
  refused /dev/null "$ZARRFS" /dev/null "$MNT"
}

@test "a URL is called one, by each verb" {
  refused "s3://b/x.zarr: a URL*rclone" "$ZARRFS" s3://b/x.zarr "$MNT"
  refused "file:///x.zarr: a URL: give the path" "$ZARRFS" file:///x.zarr "$MNT"
  for verb in ls check index; do
    refused "https://b/x.zarr: a URL" "$ZARRFS" "$verb" https://b/x.zarr
  done
  refused "https://b/x.zarr: a URL" "$ZARRFS" cat https://b/x.zarr a
}

@test "a word that is no store may be a verb, misspelt" {
  refused "lst: No such file or directory, nor a verb (ls, cat, check, index)" "$ZARRFS" lst "$(fixture demo)"
  refused "./lst: No such file or directory" "$ZARRFS" ./lst "$MNT"
  [[ $stderr != *verb* ]]
}

@test "ls and check say what a path leads to that is no node" {
  store=$FIXTURES/demo/store
  for verb in ls check; do
    refused "trials/start: is a field of array '/trials'" "$ZARRFS" "$verb" "$store" trials/start
    refused "trials/records.jsonl: is a file of array '/trials'" "$ZARRFS" "$verb" "$store" trials/records.jsonl
    refused "lfp/values: is a file of array '/lfp'" "$ZARRFS" "$verb" "$store" lfp/values
    refused ".zarr/zarr.json: is no group and no array" "$ZARRFS" "$verb" "$store" .zarr/zarr.json
  done
}

@test "bad options are refused by name, before the store is looked at" {
  refused nonsense "$ZARRFS" -o nonsense "$(fixture demo)" "$MNT"
  refused nonsense "$ZARRFS" -o ro,nonsense=1,allow_other /nowhere "$MNT"
  refused --nonsense "$ZARRFS" --nonsense "$(fixture demo)" "$MNT"
  refused -y "$ZARRFS" -y "$(fixture demo)" "$MNT"
  for option in cache=abc cache= cache=-1 size_wait=x umask=9 uid=-5 missing=maybe nonfinite=7 log=/nowhere/log; do
    refused "${option%%=*}" "$ZARRFS" -o "$option" "$(fixture demo)" "$MNT"
  done
  refused "" "$ZARRFS"
  refused "" "$ZARRFS" "$(fixture demo)"
  refused third "$ZARRFS" "$(fixture demo)" "$MNT" third
}

@test "a bad mount point is refused by name" {
  : >"$BATS_TEST_TMPDIR/file"
  refused "$BATS_TEST_TMPDIR/none" "$ZARRFS" "$(fixture demo)" "$BATS_TEST_TMPDIR/none"
  refused "$BATS_TEST_TMPDIR/file" "$ZARRFS" "$(fixture demo)" "$BATS_TEST_TMPDIR/file"
  refused "$BATS_TEST_TMPDIR/none" "$ZARRFS" -f "$(fixture demo)" "$BATS_TEST_TMPDIR/none"
}

@test "no /dev/fuse is one clear line" {
  own=(unshare -m)
  [ "$(id -u)" = 0 ] || own=(unshare -rm)
  "${own[@]}" true || skip "no mount namespaces here"
  : >"$BATS_TEST_TMPDIR/empty"
  # shellcheck disable=SC2016 # for the shell inside
  refused /dev/fuse "${own[@]}" sh -c 'mount --bind "$1" /dev/fuse && shift && exec "$@"' - \
    "$BATS_TEST_TMPDIR/empty" "$ZARRFS" "$(fixture demo)" "$MNT"
  # shellcheck disable=SC2016
  refused /dev/fuse "${own[@]}" sh -c 'mount -t tmpfs none /dev && : >/dev/null && exec "$@"' - \
    "$ZARRFS" "$(fixture demo)" "$MNT"
}

# Of the program and of its keeper, which would unmount.
kill_all_of() {
  local keeper
  keeper=$(pgrep -P "${PID[$1]}")
  kill -KILL "$keeper"
  kill -KILL "${PID[$1]}"
  wait "${PID[$1]}" || true
  unset "PID[$1]"
}

@test "a dead mount of ours is replaced, with one line that says so" {
  cd "$BATS_TEST_TMPDIR"
  for name in "$MNT" mnt/; do # killed while it was read, and found by whatever name
    mount_store "$(fixture demo)"
    exec {open}<"$MNT/trials/start"
    kill_all_of "$MNT"
    run -1 cat <&"$open"
    run --separate-stderr limit 60 "$ZARRFS" "$(fixture demo)" "$name" 3>&-
    [ "$status" = 0 ]
    [ "${#stderr_lines[@]}" = 1 ]
    [[ $stderr == *dead*"'$MNT'"* ]]
    [ "$(awk -v d="$MNT" '$5 == d' /proc/self/mountinfo | wc -l)" = 1 ]
    cmp "$MNT/trials/start" "$FIXTURES/demo/expect/trials/start"
    exec {open}<&-
    fusermount3 -u "$MNT"
  done
}

@test "another dead mount at the mount point is named as such, and left alone" {
  start "$MNT" "$SLOWFS" "$(fixture demo)" "$MNT" --log="$BATS_TEST_TMPDIR/reads"
  kill -KILL "${PID[$MNT]}"
  wait "${PID[$MNT]}" || true
  unset "PID[$MNT]"
  run --separate-stderr limit 60 "$ZARRFS" "$(fixture demo)" "$MNT"
  [ "$status" != 0 ]
  [ "${#stderr_lines[@]}" = 1 ]
  [[ $stderr == *"$MNT"*dead*fusermount3* ]]
  is_mounted "$MNT"
  mkdir "$BATS_TEST_TMPDIR/other"
  run --separate-stderr limit 60 "$ZARRFS" "$MNT" "$BATS_TEST_TMPDIR/other" # nor is it a store
  [ "$status" != 0 ]
  [ "${#stderr_lines[@]}" = 1 ]
  [[ $stderr == *"$MNT: a dead mount"*fusermount3* ]]
  fusermount3 -uz "$MNT"
  mount_store "$(fixture demo)"
  unmount
}
