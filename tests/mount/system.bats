#!/usr/bin/env bats
# mount(8), /etc/fstab and systemd: what an administrator would write works.
# presets: dev
# limit: 200
# shellcheck disable=SC2016 # commands in quotes are for the shell that in_system starts

load helper

setup() {
  STORE=$(realpath "$(fixture demo)")
  need_root
  need_fuse
  unshare -m true || skip "no mount namespaces here"
  mkdir -p "$MNT" "$BATS_TEST_TMPDIR/dev"
  dir=$BATS_TEST_TMPDIR
  while [ "$dir" != / ] && [ "$dir" != /tmp ]; do # lets others in
    chmod o+x "$dir"
    dir=$(dirname "$dir")
  done
  export ZARRFS STORE MNT LOG BATS_TEST_TMPDIR EXPECT=$FIXTURES/demo/expect
  export -f is_mounted limit
}

# in_system COMMANDS: in a mount namespace where the program is installed as by `cmake --install`, and where every user may
# mount; /etc/fstab and /run are of its own. Nothing of the machine is changed. The namespace ends with the commands, and so do
# mounts that a failure leaves.
in_system() {
  local prepare='
    umount -l -a -t fuse,fuse.zarrfs || : # copies that would keep mounts of other tests alive
    mount -t tmpfs -o mode=755 none "$BATS_TEST_TMPDIR/dev"
    mknod -m 666 "$BATS_TEST_TMPDIR/dev/fuse" c 10 229
    mount --bind "$BATS_TEST_TMPDIR/dev/fuse" /dev/fuse
    cp /usr/sbin/mount.fuse3 "$BATS_TEST_TMPDIR/dev"
    mount -t tmpfs -o mode=755 none /usr/sbin
    cp "$BATS_TEST_TMPDIR/dev/mount.fuse3" /usr/sbin
    ln -s mount.fuse3 /usr/sbin/mount.fuse
    mount -t tmpfs -o mode=755 none /usr/local/bin
    ln -s "$ZARRFS" /usr/local/bin/zarrfs
    ln -s /usr/local/bin/zarrfs /usr/sbin/mount.zarrfs
    mount -t tmpfs -o mode=755 none /run
    : >"$BATS_TEST_TMPDIR/dev/fstab"
    mount --bind "$BATS_TEST_TMPDIR/dev/fstab" /etc/fstab
    reads_right() { $* cmp "$MNT/trials/records.jsonl" "$EXPECT/trials/records.jsonl"; }
    as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
    daemon() { pgrep -o -f "zarrfs $STORE $MNT"; }
    ended() { while pgrep -f "zarrfs $STORE $MNT" >"$BATS_TEST_TMPDIR/pids"; do sleep 0.05; done; }
  '
  limit 100 unshare -m --pid --fork --mount-proc bash -euo pipefail -c "$prepare$1" 3>&-
}

@test "mount -t fuse.zarrfs mounts, umount unmounts, and nothing stays" {
  in_system '
    mount -t fuse.zarrfs -o allow_other,cache=64M "$STORE" "$MNT"
    reads_right
    reads_right as_nobody
    [ "$(findmnt -nro FSTYPE,SOURCE "$MNT")" = "fuse.zarrfs $STORE" ]
    for word in ro nosuid nodev; do [[ ,$(findmnt -nro OPTIONS "$MNT"), == *,$word,* ]]; done
    grep -qP "^NoNewPrivs:\t1" "/proc/$(daemon)/status"
    umount "$MNT"
    ended
  '
}

@test "mount -t zarrfs, and mount.zarrfs with what mount gives it" {
  in_system '
    mount -t zarrfs "$STORE" "$MNT"
    reads_right
    umount "$MNT"
    ended
    mount.zarrfs "$STORE" "$MNT" -n -s -v -o rw,exec,suid,dev
    reads_right
    for word in ro nosuid nodev; do [[ ,$(findmnt -nro OPTIONS "$MNT"), == *,$word,* ]]; done
    umount "$MNT"
    ended
  '
}

@test "user= reaches the program through mount and through fstab" {
  in_system '
    mount -t fuse.zarrfs -o user=nobody "$STORE" "$MNT"
    reads_right
    grep -qP "^Uid:\t65534\t65534\t" "/proc/$(daemon)/status"
    umount "$MNT"
    ended
    echo "$STORE $MNT fuse.zarrfs noauto,user=nobody 0 0" >/etc/fstab
    mount "$MNT"
    grep -qP "^Uid:\t65534\t65534\t65534" "/proc/$(daemon)/status"
    umount "$MNT"
    ended
  '
}

@test "/etc/fstab: mount -a mounts what is not noauto, once, also a path with a blank" {
  in_system '
    cp -r "$STORE" "$BATS_TEST_TMPDIR/a store"
    mkdir "$BATS_TEST_TMPDIR/other"
    echo "${BATS_TEST_TMPDIR}/a\\040store $MNT fuse.zarrfs allow_other,cache=64M,nofail 0 0" >>/etc/fstab
    echo "$STORE $BATS_TEST_TMPDIR/other fuse.zarrfs noauto 0 0" >>/etc/fstab
    mount -a
    mount -a
    reads_right
    [ "$(findmnt -nro SOURCE "$MNT" | wc -l)" = 1 ]
    ! is_mounted "$BATS_TEST_TMPDIR/other"
    mount "$BATS_TEST_TMPDIR/other"
    cmp "$BATS_TEST_TMPDIR/other/lfp/values" "$EXPECT/lfp/values"
    umount "$BATS_TEST_TMPDIR/other" "$MNT"
    while pgrep zarrfs >"$BATS_TEST_TMPDIR/pids"; do sleep 0.05; done
  '
}

@test "/etc/fstab: with noauto,user every user mounts and unmounts it for himself" {
  setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$ZARRFS" -a -r "$STORE/zarr.json" ||
    skip "somebody else may not run $ZARRFS"
  chown 65534 "$MNT"
  in_system '
    export HOME=/nonexistent
    unset XDG_CACHE_HOME
    echo "$STORE $MNT fuse.zarrfs noauto,user,index=off 0 0" >/etc/fstab
    for unmount in umount "fusermount3 -u"; do
      as_nobody mount "$MNT"
      reads_right as_nobody
      grep -qP "^Uid:\t65534\t65534\t65534" "/proc/$(daemon)/status"
      as_nobody $unmount "$MNT"
      ended
    done
    # That says who may mount, and as whom root mounts; others still do it for themselves.
    echo "$STORE $MNT fuse.zarrfs noauto,user=daemon,index=off 0 0" >/etc/fstab
    as_nobody mount "$MNT"
    grep -qP "^Uid:\t65534\t65534\t65534" "/proc/$(daemon)/status"
    as_nobody umount "$MNT"
    ended
  '
}

@test "mount.fuse3's drop_privileges hands over a mount that is made, whosoever the store is" {
  STORE=$BATS_TEST_TMPDIR/store
  cp -r "$(fixture demo)" "$STORE"
  chown -R 43210 "$STORE"
  in_system '
    mount -t fuse.zarrfs -o drop_privileges "$STORE" "$MNT"
    reads_right
    pid=$(pgrep -o -f "zarrfs $STORE /dev/fd")
    grep -qP "^CapEff:\t0000000000000000" "/proc/$pid/status"
    umount "$MNT"
    while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
  '
}

@test "a failure is a line, a status, and no mount" {
  in_system '
    ! mount -t fuse.zarrfs /nonexistent "$MNT" 2>"$BATS_TEST_TMPDIR/said"
    grep -q /nonexistent "$BATS_TEST_TMPDIR/said"
    ! mount -t fuse.zarrfs -o nonsense "$STORE" "$MNT" 2>"$BATS_TEST_TMPDIR/said"
    grep -q nonsense "$BATS_TEST_TMPDIR/said"
    ! is_mounted "$MNT"
  '
}

@test "a dead mount is replaced by the next mount" {
  in_system '
    mount -t fuse.zarrfs "$STORE" "$MNT"
    kill -STOP $(pgrep -f "zarrfs $STORE $MNT")
    kill -KILL $(pgrep -f "zarrfs $STORE $MNT")
    ended
    is_mounted "$MNT"
    mount -t fuse.zarrfs "$STORE" "$MNT"
    reads_right
    [ "$(findmnt -nro SOURCE "$MNT" | wc -l)" = 1 ]
    umount "$MNT"
  '
}

@test "zarrfs@.service has no fault that systemd knows, and is as closed as a mount for everybody can be" {
  unit=$BATS_TEST_TMPDIR/zarrfs@.service
  sed "s|/usr/bin/zarrfs|$ZARRFS|" "$HERE/../../systemd/zarrfs@.service" >"$unit"
  limit 60 systemd-analyze verify --man=no --recursive-errors=no "$unit"
  limit 60 systemd-analyze security --offline=true --threshold=42 "$unit"
}

@test "the capabilities of zarrfs@.service suffice to mount, to go on as another, and to unmount" {
  bounds=$(sed -n 's/^CapabilityBoundingSet=//p' "$HERE/../../systemd/zarrfs@.service" |
    tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
  cp -r "$STORE" "$BATS_TEST_TMPDIR/store"
  chown -R 43210 "$BATS_TEST_TMPDIR/store"
  chmod -R go= "$BATS_TEST_TMPDIR/store"
  for user in 43210 root; do
    start "$MNT" setpriv --no-new-privs --bounding-set "-all,$bounds" --inh-caps=-all \
      "$ZARRFS" -f -o "user=$user" "$BATS_TEST_TMPDIR/store" "$MNT"
    cmp "$MNT/trials/records.jsonl" "$EXPECT/trials/records.jsonl"
    ls -l "$MNT/trials" >/dev/null # has all sizes found and kept
    kill -TERM "${PID[$MNT]}"
    ended_well "$MNT"
    run -1 is_mounted "$MNT"
  done
  [ ! -s "$LOG" ]
  [ "$(stat -c %u:%a "$XDG_CACHE_HOME/zarrfs/43210")" = 43210:700 ]
}

@test "the .mount unit in mount.zarrfs(8) has no fault that systemd knows" {
  unit=$BATS_TEST_TMPDIR/srv-session.mount
  awk '/^\[Unit\]/ { on = 1 } /^\.EE/ { on = 0 } on { gsub(/\\-/, "-"); print }' "$HERE/../../docs/mount.zarrfs.8" >"$unit"
  grep -q '^Type=fuse.zarrfs' "$unit"
  limit 60 systemd-analyze verify --man=no --recursive-errors=no "$unit"
}
