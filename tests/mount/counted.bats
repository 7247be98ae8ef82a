#!/usr/bin/env bats
# What zarrfs reads of a store, counted at the store, and what it does with it, counted by itself: nothing that it was not
# asked for, nothing twice.
# presets: dev tsan
# limit: 180

load helper

setup_file() {
  make_store big
  make_store wide
}

setup() {
  BIG=$BATS_FILE_TMPDIR/big
  WIDE=$BATS_FILE_TMPDIR/wide
  SLOWLY=() # options of slowfs
}

# chunk_opens: how often each chunk was opened, as `COUNT KEY` sorted by key, one line.
chunk_opens() { sed -n 's|^open .*/c/||p' "$READS" | sort -n | uniq -c | awk '{ printf "%s%s:%s", sep, $2, $1; sep = " " }'; }

# counted WANT: what chunk_opens says, as KEY:COUNT.
counted() {
  local got
  got=$(chunk_opens)
  [ "$got" = "$1" ] || {
    echo "chunks opened: '$got', want '$1'" >&2
    return 1
  }
}

# over_slow STORE [OPTION...]: mounts it through slowfs, which counts.
over_slow() {
  slow_store "$1/store" "${SLOWLY[@]}"
  mount_store "$SLOW" "${@:2}"
  : >"$READS"
}

done_here() {
  unmount
  unmount "$SLOW"
}

@test "mounting opens no chunk and looks into no array" {
  slow_store "$BIG/store"
  mount_store "$SLOW"
  counted ""
  run -1 grep 'open .*/big/' "$READS"
  done_here
}

@test "listing opens no chunk; above an array not even its document" {
  over_slow "$BIG"
  ls "$MNT" >/dev/null
  find "$MNT" -maxdepth 1 >/dev/null
  counted ""
  run -1 grep 'open .*/big/' "$READS"
  ls "$MNT/big" "$MNT"/*/ >/dev/null
  find "$MNT" -name n >/dev/null
  counted ""
  [ "$(grep -c 'open /big/zarr.json' "$READS")" -le 1 ]
  done_here
}

@test "cat opens each chunk once, its measuring included" {
  over_slow "$BIG"
  limit 60 cat "$MNT/big/n" | cmp - "$BIG/expect/big/n"
  counted "0:1 1:1 2:1"
  limit 60 cat "$MNT/big/x" | cmp - "$BIG/expect/big/x"
  limit 60 cat "$MNT/big/records.jsonl" | cmp - "$BIG/expect/big/records.jsonl"
  counted "0:1 1:1 2:1"
  done_here
}

@test "head -n 5 opens one chunk" {
  over_slow "$BIG"
  limit 60 head -n 5 "$MNT/big/n" | cmp - <(head -n 5 "$BIG/expect/big/n")
  counted "0:1"
  done_here
}

@test "the sizes of all files of an array take one pass, however many ask and however small the cache" {
  over_slow "$WIDE" -o cache=1M
  readers=()
  for _ in 1 2 3; do
    limit 60 ls -l "$MNT/wide" >/dev/null 3>&- &
    readers+=($!)
    limit 60 du -ab "$MNT/wide" >/dev/null 3>&- &
    readers+=($!)
  done
  wait "${readers[@]}"
  [ "$(find "$MNT/wide" -type f -printf '%s %f\n' | sort)" = "$(find "$WIDE/expect/wide" -type f -printf '%s %f\n' | sort)" ]
  counted "0:1 1:1 2:1 3:1 4:1 5:1 6:1 7:1"
  done_here
}

@test "many readers of one chunk that is being loaded wait for one load" {
  hold=$BATS_TEST_TMPDIR/hold
  SLOWLY=(--hold="$hold" --match='*/c/*')
  over_slow "$BIG"
  : >"$hold"
  readers=()
  for file in n x records.jsonl n x records.jsonl; do
    limit 60 head -c 100000 "$MNT/big/$file" >/dev/null 3>&- &
    readers+=($!)
  done
  until_true 20 grep -q 'read .*/c/0' "$READS"
  sleep 0.3
  rm "$hold"
  wait "${readers[@]}"
  counted "0:1"
  done_here
}

@test "reading the end of a measured file opens no chunk but the last" {
  over_slow "$BIG" -o cache=1M
  [ "$(stat -c %s "$MNT/big/n")" = "$(stat -c %s "$BIG/expect/big/n")" ]
  : >"$READS"
  limit 60 tail -c 1000 "$MNT/big/n" | cmp - <(tail -c 1000 "$BIG/expect/big/n")
  [[ $(chunk_opens) =~ ^(2:1)?$ ]] # it may still be in the cache
  done_here
}

@test "a chunk that was never written is not looked for when a read comes to it" {
  slow_store "$FIXTURES/1d.chunked.struct/store"
  mount_store "$SLOW"
  cat "$MNT"/count "$MNT"/records.jsonl >/dev/null
  [[ $(chunk_opens) != *:[!1]* ]]
  [ "$(chunk_opens | wc -w)" = "$(find "$FIXTURES/1d.chunked.struct/store/c" -type f | wc -l)" ]
  done_here
}

@test "cat decodes each chunk once, though the size has to be found first; the next field decodes none" {
  mount_store "$BIG/store" -o index=off # else all is measured as soon as nobody asks for anything
  limit 60 cat "$MNT/big/n" | cmp - "$BIG/expect/big/n"
  counts decoded=3 measured=1
  limit 60 cat "$MNT/big/x" | cmp - "$BIG/expect/big/x"
  limit 60 cat "$MNT/big/records.jsonl" | cmp - "$BIG/expect/big/records.jsonl"
  limit 60 cat "$MNT/.raw/big/n" "$MNT/.csv/big/records.csv" "$MNT/.npy/big/records.npy" >/dev/null
  counts decoded=3 measured=4 # each of three files alone, then all
  unmount
}

@test "head decodes one chunk and measures nothing" {
  mount_store "$BIG/store"
  limit 60 head -n 5 "$MNT/big/records.jsonl" | cmp - <(head -n 5 "$BIG/expect/big/records.jsonl")
  counts decoded=1 measured=0
  unmount
}

@test "names, sizes of binary files and what .zarr holds decode nothing" {
  mount_store "$BIG/store"
  ls -R "$MNT" >/dev/null
  find "$MNT" -name n >/dev/null
  ls -lR "$MNT/.raw" "$MNT/.npy" "$MNT/.zarr" >/dev/null
  cat "$MNT/.zarr/big/"* >/dev/null
  [ "$(stat -c %s "$MNT/.raw/big/n")" = 960000 ]
  counts decoded=0 measured=0 rendered=0
  unmount
}

@test "after a remount sizes decode nothing, and the first read one chunk" {
  sleep 0.3 # what is newer than the clock of the file system ticks is not kept
  mount_store "$BIG/store"
  ls -lR "$MNT" >/dev/null
  counts decoded=3 measured=1
  unmount
  KEEP=1 mount_store "$BIG/store"
  ls -lR "$MNT" >/dev/null
  counts decoded=0 measured=0
  limit 60 tail -c 1000 "$MNT/big/x" | cmp - <(tail -c 1000 "$BIG/expect/big/x")
  counts decoded=1 measured=0
  unmount
}

@test "what is done ahead does not throw out what is needed next, in a cache of eight chunks" {
  local store=$BATS_TEST_TMPDIR/long
  "$PYTHON" - "$store" <<'EOF'
import gzip, json, os, struct, sys
store, records, chunks = sys.argv[1], 65536, 16
os.makedirs(f"{store}/c")
with open(f"{store}/zarr.json", "w") as f:
    json.dump({"zarr_format": 3, "node_type": "array", "shape": [records * chunks],
               "data_type": {"name": "struct", "configuration": {"fields": [
                   {"name": "n", "data_type": "int32"},
                   {"name": "rest", "data_type": {"name": "null_terminated_bytes", "configuration": {"length_bytes": 60}}}]}},
               "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [records]}},
               "chunk_key_encoding": {"name": "default"}, "fill_value": {"n": 0, "rest": ""},
               "codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
                          {"name": "gzip", "configuration": {"level": 1}}]}, f)
for c in range(chunks):
    data = b"".join(struct.pack("<i60x", 1000000 + n) for n in range(c * records, (c + 1) * records))
    with open(f"{store}/c/{c}", "wb") as f:
        f.write(gzip.compress(data, 1))
EOF
  mount_store "$store" -o cache=32M,index=off
  limit 60 cat "$MNT/n" | cmp - <(seq 1000000 2048575)
  counters
  [ "$(counter rendered)" -le 10000000 ] # of 8388608: what the pass kept has not been thrown out
  [ "$(counter decoded)" -le 48 ]        # of 16, twice
  unmount
  sleep 0.3
  mount_store "$store"
  ls -l "$MNT" >/dev/null
  unmount
  KEEP=1 mount_store "$store" -o cache=32M
  limit 60 cat "$MNT/n" | cmp - <(seq 1000000 2048575)
  counters
  [ "$(counter measured)" = 0 ]
  [ "$(counter decoded)" -le 24 ] # of 16: two may meet on a busy machine
  unmount
}

@test "a reader causes few requests, and what is rendered for it is no more than it gets" {
  local size
  size=$(stat -c %s "$BIG/expect/big/n")
  mount_store "$BIG/store"
  limit 60 stat "$MNT/big/n" >/dev/null
  counters
  [ "$(counter read)" = 0 ]
  [ "$(counter rendered)" -le "$size" ] # kept for who comes to read it
  limit 60 cat "$MNT/big/n" | cmp - "$BIG/expect/big/n"
  counters
  [ "$(counter read)" -le $((size / 131072 + 4)) ] # the kernel reads ahead by 128 KiB
  [ "$(counter rendered)" -le $((size + 131072)) ]
  [ "$(counter answered)" = "$size" ]
  [ "$(counter getattr)" -le 4 ]
  [ "$(counter lookup)" -le 4 ]
  limit 60 cat "$MNT/big/n" | cmp - "$BIG/expect/big/n" # out of the page cache
  counts read="$(counter read)" answered="$size"
  unmount
}

@test "a listing of many arrays causes no more requests than it has names, and opens no document" {
  local store=$BATS_TEST_TMPDIR/many document
  document=$(<"$BIG/store/big/zarr.json")
  mkdir -p "$store"/a{1..400}
  cp "$BIG/store/zarr.json" "$store"
  for i in {1..400}; do
    echo "$document" >"$store/a$i/zarr.json"
  done
  slow_store "$store"
  mount_store "$SLOW"
  : >"$READS"
  [ "$(limit 60 ls "$MNT" | wc -l)" = 400 ]
  run -1 grep -q 'open .*/a[0-9]' "$READS"
  counters
  [ "$(counter readdir)" -le 16 ]
  [ "$(counter lookup)" -le 4 ]
  limit 60 ls -l "$MNT" >/dev/null # its directories have no size that must be found
  run -1 grep -q 'open .*/a[0-9]' "$READS"
  counters
  [ "$(counter lookup)" -le 404 ]
  done_here
}
