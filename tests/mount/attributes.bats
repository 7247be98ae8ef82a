#!/usr/bin/env bats
# What stat shows: modes, owner, times, blocks, links, inode numbers; and what looking for a name answers.
# presets: dev

load helper

@test "files are 0444, directories 0555, of the user who mounted" {
  mount_store "$(fixture demo)"
  [ -z "$(find "$MNT" -type f ! -perm 0444)" ]
  [ -z "$(find "$MNT" -type d ! -perm 0555)" ]
  [ -z "$(find "$MNT" ! -user "$(id -u)" -o ! -group "$(id -g)")" ]
  [ -z "$(find "$MNT" ! -type f ! -type d)" ]
  unmount
}

@test "umask, uid and gid are obeyed" {
  mount_store "$(fixture demo)" -o umask=0027,uid=1234,gid=2345
  [ "$(stat -c '%a %u %g' "$MNT/trials/start")" = "440 1234 2345" ]
  [ "$(stat -c '%a %u %g' "$MNT/trials")" = "550 1234 2345" ]
  [ "$(stat -c '%a %u %g' "$MNT")" = "550 1234 2345" ]
  unmount
}

@test "mtime is that of the metadata document" {
  cp -r "$(fixture demo)" "$BATS_TEST_TMPDIR/store"
  touch -d '2001-02-03 04:05:06 UTC' "$BATS_TEST_TMPDIR/store/trials/zarr.json"
  touch -d '2011-12-13 14:15:16 UTC' "$BATS_TEST_TMPDIR/store/spikes/zarr.json"
  mount_store "$BATS_TEST_TMPDIR/store"
  [ "$(stat -c %Y "$MNT/trials/start")" = 981173106 ]
  [ "$(stat -c %Y "$MNT/trials/gaze/records.jsonl")" = 981173106 ]
  [ "$(stat -c %Y "$MNT/.zarr/trials/zarr.json")" = 981173106 ]
  [ "$(stat -c %Y "$MNT/spikes/unit")" = 1323785716 ]
  unmount
}

@test "blocks are the size in 512 bytes, rounded up; links are 1" {
  mount_store "$(fixture demo)"
  while read -r size blocks links name; do
    [ "$blocks" = $(((size + 511) / 512)) ] || { echo "$name: $size bytes, $blocks blocks" >&2; return 1; }
    [ "$links" = 1 ]
  done < <(find "$MNT" -type f -exec stat -c '%s %b %h %n' {} +)
  [ -z "$(find "$MNT" -type d ! -links 1)" ]
  unmount
}

@test "inode numbers are unique and the same whenever one looks" {
  mount_store "$(fixture struct.names)"
  find "$MNT" -printf '%i %p\n' | sort >"$BATS_TEST_TMPDIR/first"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/first")" -gt 200 ]
  [ -z "$(cut -d' ' -f1 "$BATS_TEST_TMPDIR/first" | uniq -d)" ]
  if [ -w /proc/sys/vm/drop_caches ]; then echo 2 >/proc/sys/vm/drop_caches; fi
  find "$MNT" -depth -printf '%i %p\n' | sort | diff "$BATS_TEST_TMPDIR/first" -
  # What readdir says is what stat says, where it says anything.
  ls -iaU1 "$MNT/one_d" | awk '$2 != "." && $2 != ".." { print $1 }' | sort >"$BATS_TEST_TMPDIR/listed"
  find "$MNT/one_d" -mindepth 1 -maxdepth 1 -printf '%i\n' | sort | diff "$BATS_TEST_TMPDIR/listed" -
  unmount
}

@test "the file system is of type fuse.zarrfs, read-only, nosuid, nodev, empty, with names of 255 bytes" {
  mount_store "$(fixture demo)"
  read -r type options < <(findmnt -nro FSTYPE,OPTIONS "$MNT")
  [ "$type" = fuse.zarrfs ]
  for word in ro nosuid nodev; do
    [[ ,$options, == *",$word,"* ]]
  done
  [ "$(findmnt -nro SOURCE "$MNT")" = "$(realpath "$(fixture demo)")" ] ||
    [ "$(findmnt -nro SOURCE "$MNT")" = "$(fixture demo)" ]
  [ "$(stat -fc '%b %f %l' "$MNT")" = "0 0 255" ]
  unmount
}

@test "fsname is shown" {
  mount_store "$(fixture demo)" -o fsname=my_session
  [ "$(findmnt -nro SOURCE "$MNT")" = my_session ]
  unmount
}

@test "names that do not exist are not found, at any level" {
  mount_store "$(fixture demo)"
  for name in none trials/none trials/gaze/none .csv/none .csv/trials/start .raw/none .zarr/none .zarr/trials/start \
    trials/zarr.json trials/c trials/START zarr.json trials/start.npy .nope; do
    run stat "$MNT/$name"
    [ "$status" = 1 ] || { echo "exists: $name" >&2; return 1; }
    [[ $output == *"No such file or directory"* ]]
  done
  for name in trials/start/x trials/records.jsonl/.; do
    run stat "$MNT/$name"
    [[ $output == *"Not a directory"* ]]
  done
  unmount
}

@test "a directory lists the same again, in pieces, after seeking, and with many entries" {
  "$PYTHON" -c 'import sys, makestore; [makestore.group(f"{sys.argv[1]}/node{i}") for i in range(3000)]; makestore.group(sys.argv[1])' \
    "$BATS_TEST_TMPDIR/store"
  mount_store "$BATS_TEST_TMPDIR/store"
  [ "$(ls "$MNT" | wc -l)" = 3000 ]
  [ "$(ls -U "$MNT" | sort | md5sum)" = "$(cd "$BATS_TEST_TMPDIR/store" && printf '%s\n' node* | sort | md5sum)" ]
  perl -e 'opendir D, $ARGV[0] or die; my @a; while (my $n = readdir D) { push @a, [$n, telldir D] }
    my $k = int(@a / 2); seekdir D, $a[$k][1]; my $rest = 0; while (my $n = readdir D) { $rest++; die "order" if $n ne $a[$k + $rest][0] }
    die "seek: $rest" unless $k + $rest + 1 == @a; rewinddir D; my $all = 0; $all++ while readdir D; die "again" unless $all == @a' "$MNT"
  unmount
}

@test "there are no extended attributes" {
  mount_store "$(fixture demo)"
  [ "$("$PYTHON" -c 'import os, sys
try:
    print(os.listxattr(sys.argv[1]))
except OSError as e:
    print("[]" if e.errno in (95, 38) else e)' "$MNT/trials/start")" = "[]" ]
  unmount
}
