#!/usr/bin/env bats
# Stores that mean harm: everything can be looked at, nothing hangs, memory has a bound, and what is sound stays sound.
# presets: dev
# limit: 400

load helper

setup() { OUT=$BATS_TEST_TMPDIR/out; }

# made RECIPE
made() {
  mkdir "$OUT"
  "$PYTHON" "$HERE/hostile.py" "$1" "$OUT"
}

# mount_hostile STORE: with a small cache. What AddressSanitizer keeps of freed memory is not what the program needs.
mount_hostile() {
  ASAN_OPTIONS=quarantine_size_mb=8 mount_store "$1" -o size_wait=1,cache=16M
}

# survives MIB [OPTION...]: a walk through all of the mount; then the sound arrays are right, at most so much memory was ever
# in use, and each line of the log is clean text that names what it is about.
survives() {
  local peak
  limit 150 "$PYTHON" "$HERE/walk.py" "$MNT" "${@:2}"
  for array in good last; do
    limit 20 cmp "$MNT/$array/values" <(seq 0 9999)
  done
  peak=$(awk '$1 == "VmHWM:" { print int($2 / 1024) }' "/proc/${PID[$MNT]}/status")
  echo "at most $peak MiB"
  # ThreadSanitizer keeps several bytes for each that is used.
  [ "$ZR_SANITIZE" = thread ] || [ "$peak" -le "$1" ]
  unmount
  run ! grep -vE "^zarrfs: (error|warning): ([^[:cntrl:]]*'[^[:cntrl:]]*|[0-9]+ lines were left out, being too many)$" "$LOG"
}

# hostile RECIPE MIB [OPTION...]
hostile() {
  made "$1"
  mount_hostile "$OUT/store"
  survives "${@:2}"
}

only_long() { [ -n "${ZR_LONG:-}" ] || skip "takes too long for every change"; }

# Of arrays whose chunks have 10,000 bytes.
@test "chunks that decode to 400 MiB and more, or claim to" {
  hostile bombs 120
  # Each codec says so by itself.
  [ "$(grep -c 'decodes to\|is damaged:' "$LOG")" -ge 20 ]
}

@test "chunks whose stored bytes are gigabytes" { hostile stored 120; }
@test "shapes and chunks as large as numbers go" { hostile shapes 120; }
@test "metadata that is deep, wide, long, or none" { hostile documents 300; }
@test "names that are commands to a terminal or a shell" {
  hostile names 120
  [ ! -e owned ]
}
# names_are CHECK: what names.py made is so.
names_are() {
  run limit 60 "$PYTHON" "$HERE/names.py" "$1" "$MNT"
  echo "$output"
  [ "$status" = 0 ]
}
@test "names that differ in what a file system folds or cuts, names that are there twice, and names of 10,000 bytes" {
  mkdir "$OUT"
  "$PYTHON" "$HERE/names.py" make "$OUT"
  mount_store "$OUT/store"
  names_are check
  limit 60 "$PYTHON" "$HERE/walk.py" "$MNT"
  [ "$(grep -c "where the path of a node has over 4096 bytes (2 documents)" "$LOG")" = 2 ]
  names_are refused
  unmount
  # One line each, and none of what is sound.
  [ "$(grep -c "^zarrfs: warning: '/refused/.*' cannot be shown: field '" "$LOG")" = 12 ]
  [ "$(grep -c "^zarrfs: error: '/twins/.*' is not shown: its file name would be that of another node" "$LOG")" = 1 ]
  [ "$(wc -l <"$LOG")" = 15 ]
  mount_store "$OUT/store.zip"
  names_are zip
  unmount
  [ "$(wc -l <"$LOG")" = 15 ]
  run limit 20 "$ZARRFS" "$OUT/long.zip" "$MNT"
  [ "$status" = 1 ]
  [ "$output" = "zarrfs: $OUT/long.zip: a member of the archive has a name of over 4096 bytes" ]
}

@test "links, pipes, devices and directories where files should be" { hostile files 120; }
@test "indexes of shards that point at themselves and elsewhere, and shards that are bombs" { hostile shards 300; }

# 1,000 lines, and for each second that it takes one, and one that counts.
@test "damaged chunks by the thousand do not fill the log, and those left out are counted" {
  local named lost began=$SECONDS
  made flood
  ASAN_OPTIONS=quarantine_size_mb=8 mount_store "$OUT/store" -o size_wait=60,cache=16M
  limit 100 wc -c "$MNT"/{bad,worse}/values || true # measures them
  survives 120
  named=$(grep -c 'is damaged:' "$LOG")
  lost=$(awk '/lines were left out/ { n += $3 } END { print n }' "$LOG")
  echo "$named named, $lost left out"
  [ "$named" -ge 1000 ]
  [ "$named" -le $((1001 + SECONDS - began)) ]
  [ $((named + lost)) -ge 32768 ]
}

@test "groups that are links to groups above them" { hostile cycles 120; }

@test "every row of the limits in docs/formats.md holds, at the limit and one beyond" {
  "$PYTHON" "$HERE/limits.py" make "$OUT" "$HERE/../../src"
  mount_store "$OUT"
  limit 100 "$PYTHON" "$HERE/limits.py" check "$HERE/../../docs/formats.md" "$HERE/../../src" "$MNT"
  unmount
}

# What says nothing of how long it may be has its bound in what is stored of it.
@test "arrays of strings whose chunks are bombs" {
  only_long
  hostile strings 1000
}

@test "a directory with 200,000 entries that are no chunks, and a group of 20,000 directories that are no nodes" {
  only_long
  hostile crowd 300
}

@test "directories that lead nowhere, by way of links, and are many" {
  only_long
  hostile farm 400 --dirs 300
}

@test "archives that lie about their members" {
  only_long
  made zips
  for zip in "$OUT"/*.zip; do
    case $zip in
      */cut.zip | */many.zip)
        run limit 20 "$ZARRFS" "$zip" "$MNT"
        [ "$status" = 1 ]
        [ "${#lines[@]}" = 1 ]
        ;;
      *)
        mount_hostile "$zip"
        survives 120
        ;;
    esac
  done
}
