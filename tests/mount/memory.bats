#!/usr/bin/env bats
# Whatever is read, the memory that zarrfs takes stays within its cache and 64 MiB.
# presets: release
# limit: 600

load helper

setup_file() { make_store bulk; }

setup() {
  mount_store "$BATS_FILE_TMPDIR/bulk/store" -o cache=16M
}

MOST=$(((16 + 64) << 10)) # KiB
# Seconds that a file may take.
SLOWLY=60
[ -z "${ZR_SANITIZE:-}" ] || SLOWLY=240

# Of the process, by the kernel. A sanitizer takes more than it watches.
peak_is_small() {
  local peak
  peak=$(awk '$1 == "VmHWM:" { print $2 }' "/proc/${PID[$MNT]}/status")
  echo "# peak: $((peak >> 10)) MiB" >&3
  [ -n "$ZR_SANITIZE" ] || [ "$peak" -le "$MOST" ]
}

# read_whole FILE: all of it, which is as much as its size says.
read_whole() {
  local size
  size=$(limit "$SLOWLY" cat "$1" | wc -c)
  [ "$size" = "$(stat -c %s "$1")" ]
}

@test "records.jsonl and CSV of an array of four times the cache" {
  read_whole "$MNT/thin/records.jsonl"
  read_whole "$MNT/.csv/thin/records.csv"
  read_whole "$MNT/.npy/thin/records.npy"
  peak_is_small
  unmount
}

@test "all 89 fields of an array at once, sizes not known" {
  local readers=() file
  for file in "$MNT"/wide/* "$MNT"/.raw/wide/*; do
    read_whole "$file" 3>&- &
    readers+=($!)
  done
  wait_for "${readers[@]}"
  peak_is_small
  unmount
}

@test "long text, from several places at once" {
  local readers=() i
  for i in 1 2 3 4; do
    limit "$SLOWLY" tail -n "$((i * 700))" "$MNT/long/values" >/dev/null 3>&- &
    readers+=($!)
    read_whole "$MNT/long/records.jsonl" 3>&- &
    readers+=($!)
  done
  wait_for "${readers[@]}"
  peak_is_small
  unmount
}
