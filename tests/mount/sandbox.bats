#!/usr/bin/env bats
# Once mounted, the program has given up what it does not need, and serves and unmounts all the same.
# (That there is no way out of the sandbox is shown by tests/unit/test_sandbox.c, from inside.)
# presets: dev release
# limit: 200

load helper

setup() {
  STORE=$(fixture demo)
  OWN=$BATS_TEST_TMPDIR/store # a copy, to be given away
  mkdir -p "$MNT"
}

# status FIELD [PID]: of the program that is mounted at $MNT.
status() { awk -v f="$1:" '$1 == f { $1 = ""; print substr($0, 2) }' "/proc/${2:-${PID[$MNT]}}/status"; }

# In every one of its threads.
everywhere() {
  local task
  for task in "/proc/${PID[$MNT]}/task"/*; do
    [ "$(awk -v f="$1:" '$1 == f { print $2 }' "$task/status")" = "$2" ] || {
      echo "$(cat "$task/comm"): $(grep "^$1:" "$task/status"), want $2" >&2
      return 1
    }
  done
}

reads_right() {
  cmp "$MNT/trials/start" "$FIXTURES/demo/expect/trials/start"
  cmp "$MNT/trials/records.jsonl" "$FIXTURES/demo/expect/trials/records.jsonl"
  cmp "$MNT/lfp/values" "$FIXTURES/demo/expect/lfp/values"
  "$PYTHON" "$HERE/compare.py" "$MNT" "$FIXTURES/demo/expect" >/dev/null
}

has_seccomp() { grep -q '^Seccomp:' /proc/self/status; }

# The calls by number: the same on all architectures that are not ancient.
has_landlock() {
  "$PYTHON" -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 1)'
}

# own_store OWNER [MODE]: $OWN is a copy that belongs to him.
own_store() {
  cp -r "$STORE" "$OWN"
  chmod -R "${2:-u=rwX,go=}" "$OWN"
  chown -R "$1" "$OWN"
}

# Lets others in, on the way to the temporary directory.
open_the_way() {
  local dir=$BATS_TEST_TMPDIR
  while [ "$dir" != / ] && [ "$dir" != /tmp ]; do
    chmod o+x "$dir" 2>/dev/null || true
    dir=$(dirname "$dir")
  done
}

gone_from_there() { ! is_mounted "$MNT"; }

@test "nothing can be gained any more, in any thread, and what is not needed is gone" {
  mount_store "$STORE" -o allow_other
  reads_right
  everywhere NoNewPrivs 1
  ! has_seccomp || everywhere Seccomp 2
  want=0000000000000000
  [ "$(id -u)" != 0 ] || [ "$(stat -c %u "$STORE")" != 0 ] || want=0000000000000004 # CAP_DAC_READ_SEARCH
  everywhere CapEff $want
  everywhere CapPrm $want
  everywhere CapInh 0000000000000000
  everywhere CapAmb 0000000000000000
  unmount
}

@test "walls that the kernel has not got are missed without a word, but in the debug log" {
  mount_store "$STORE"
  reads_right
  unmount
  [ ! -s "$LOG" ]
  mount_store "$STORE" -d
  reads_right
  unmount
  if has_landlock; then run -1 grep "no Landlock" "$LOG"; else grep "no Landlock" "$LOG"; fi
  if has_seccomp; then run -1 grep "no seccomp" "$LOG"; else grep "no seccomp" "$LOG"; fi
}

@test "sandbox=off: neither Landlock nor seccomp, but no rights either" {
  mount_store "$STORE" -o sandbox=off
  reads_right
  everywhere NoNewPrivs 1
  ! has_seccomp || everywhere Seccomp 0
  unmount
  mount_store "$STORE" -o sandbox=off,sandbox=on
  ! has_seccomp || everywhere Seccomp 2
  unmount
}

@test "root's daemon goes on as the owner of the store" {
  need_root
  own_store 43210:0
  mount_store "$OWN"
  reads_right
  [ "$(status Uid)" = "43210 43210 43210 43210" ]
  [ "$(status Gid)" = "65534 65534 65534 65534" ]
  [ -z "$(status Groups)" ]
  everywhere CapEff 0000000000000000
  everywhere CapPrm 0000000000000000
  [ "$(stat -c %u "$MNT/trials/start")" = 0 ] # what is shown is still the mounting user's
  unmount
}

@test "an owner whom the file system of the store does not let in is none to go on as" {
  need_root
  own_store 43210
  slow_store "$OWN" # a FUSE mount of root's, without allow_other
  [ "$(stat -c %u "$SLOW")" = 43210 ]
  mount_store "$SLOW"
  [ "$(status Uid)" = "0 0 0 0" ]
  everywhere CapEff 0000000000000004
  reads_right
  unmount
  unmount "$SLOW"
}

@test "of a zip, too; and what that user may not read is an error" {
  need_root
  cp "$(fixture layouts.zip)" "$OWN.zip"
  chown 43210 "$OWN.zip"
  chmod 400 "$OWN.zip"
  mount_store "$OWN.zip"
  [ "$(status Uid)" = "43210 43210 43210 43210" ]
  "$PYTHON" "$HERE/compare.py" "$MNT" "$FIXTURES/layouts.zip/expect" >/dev/null
  unmount
  own_store 43210
  chunk=$(find "$OWN/trials/c" -type f | sort | head -n 1)
  chown 0 "$chunk"
  mount_store "$OWN"
  run -1 cat "$MNT/trials/start"
  grep -F "${chunk#"$OWN/trials/"}" "$LOG" | grep -q "Permission denied"
  cmp "$MNT/lfp/values" "$FIXTURES/demo/expect/lfp/values"
  unmount
  mount_store "$OWN" -o user=root
  reads_right
  everywhere CapEff 0000000000000004
  unmount
}

@test "user= names somebody else, who keeps sizes in a directory of his own" {
  need_root
  own_store 0 u=rwX,go=rX
  # shellcheck disable=SC2034 # read by mount_at
  KEEP=1
  kept=$XDG_CACHE_HOME/zarrfs/$(id -u nobody)
  is_kept() { # not of a store that is as new as this one is at first
    mount_store "$OWN" -o user=nobody
    reads_right
    [ "$(status Uid | tr ' ' '\n' | sort -u)" = "$(id -u nobody)" ]
    [ "$(status Gid | tr ' ' '\n' | sort -u)" = "$(id -g nobody)" ]
    everywhere CapEff 0000000000000000
    unmount
    [ "$(find "$kept" -type f -user nobody | wc -l)" -ge 3 ]
  }
  until_true 30 is_kept
  is_kept
  [ ! -s "$LOG" ]
  [ "$(stat -c %U:%a "$kept")" = nobody:700 ]
  [ "$(find "$XDG_CACHE_HOME" -type f ! -user nobody | wc -l)" = 0 ]
}

@test "user= is refused when there is no such user, or when it is another and we are not root" {
  run -1 --separate-stderr "$ZARRFS" -o user=no-such-user "$STORE" "$MNT"
  # shellcheck disable=SC2154 # set by run
  [ "${#stderr_lines[@]}" = 1 ]
  # shellcheck disable=SC2154
  [[ $stderr == *"user=no-such-user"* ]]
  run -1 is_mounted "$MNT"
  need_root
  open_the_way
  run --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups "$ZARRFS" -o user=root "$STORE" "$MNT"
  [ "$status" != 0 ]
  [[ $stderr == *"user=root"* ]]
}

@test "without rights it ends as well as with them" {
  need_root
  own_store nobody
  for way in "fusermount3 -u $MNT" "umount $MNT" "kill -TERM" "kill -INT" "umount -l $MNT"; do
    mount_store "$OWN"
    reads_right
    [ "$(status Uid | cut -d ' ' -f 1)" = "$(id -u nobody)" ]
    case $way in
      kill*) $way "${PID[$MNT]}" ;;
      *) $way ;;
    esac
    ended_well "$MNT"
    run -1 is_mounted "$MNT"
    run -1 pgrep -f "$OWN $MNT"
  done
  mount_store "$OWN"
  kill -KILL "${PID[$MNT]}"
  unset "PID[$MNT]"
  until_true 30 gone_from_there
}

@test "what is mounted there by the time it ends is let alone" {
  need_root
  mount_store "$STORE"
  exec {open}<"$MNT/trials/start"
  umount -l "$MNT"
  mount -t tmpfs none "$MNT"
  kill -TERM "${PID[$MNT]}"
  ended_well "$MNT"
  [ "$(findmnt -nro FSTYPE "$MNT")" = tmpfs ]
  exec {open}<&-
  umount "$MNT"
}

# In a mount namespace with a /dev/fuse that they may use.
@test "users other than root are in the same sandbox, and unmount by every way" {
  need_root
  need_fuse
  unshare -m true || skip "no mount namespaces here"
  open_the_way
  mkdir "$BATS_TEST_TMPDIR/home" "$BATS_TEST_TMPDIR/dev"
  chown 65534:65534 "$MNT" "$BATS_TEST_TMPDIR/home"
  as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups env --default-signal=INT XDG_CACHE_HOME=$BATS_TEST_TMPDIR/home"
  $as_nobody test -x "$ZARRFS" -a -r "$STORE/zarr.json" || skip "somebody else may not run $ZARRFS"
  export ZARRFS STORE MNT LOG as_nobody
  export -f is_mounted
  # shellcheck disable=SC2016 # for the shell inside
  limit 120 unshare -m bash -eu -c '
    umount -l -a -t fuse,fuse.zarrfs || : # copies that would keep mounts of other tests alive
    mount -t tmpfs -o mode=755 none "$1/dev"
    mknod -m 666 "$1/dev/fuse" c 10 229
    mount --bind "$1/dev/fuse" /dev/fuse
    for signal in TERM INT KILL; do
      $as_nobody "$ZARRFS" -f "$STORE" "$MNT" >>"$LOG" 2>&1 </dev/null &
      until is_mounted "$MNT"; do kill -0 $!; sleep 0.05; done
      $as_nobody cmp "$MNT/trials/records.jsonl" "$2"
      $as_nobody ls -l "$MNT/trials" >/dev/null # has all sizes found and kept
      grep -P "^NoNewPrivs:\t1" /proc/$!/status
      grep -P "^Uid:\t65534\t65534\t65534\t65534" /proc/$!/status
      ! grep -P "^Seccomp:\t[01]" /proc/$!/status
      grep -P "^CapEff:\t0000000000000000" /proc/$!/status
      kill -$signal $!
      wait $! || [ $signal = KILL ]
      [ $signal = KILL ] || ! is_mounted "$MNT"
      while is_mounted "$MNT"; do sleep 0.05; done
    done
  ' - "$BATS_TEST_TMPDIR" "$FIXTURES/demo/expect/trials/records.jsonl" 3>&-
  [ -n "$(find "$BATS_TEST_TMPDIR/home/zarrfs" -type f -user nobody)" ]
  [ ! -s "$LOG" ]
}

@test "in the background, with the log in a file that only root can write" {
  need_root
  own_store nobody
  MOUNTS+=("$MNT")
  truncate -s 3 "$(find "$OWN/trials/c" -type f | sort | head -n 1)"
  limit 60 "$ZARRFS" -o "log=$BATS_TEST_TMPDIR/its.log" "$OWN" "$MNT" 3>&-
  daemon=$(pgrep -o -f "$OWN $MNT")
  [ "$(status Uid "$daemon" | cut -d ' ' -f 1)" = "$(id -u nobody)" ]
  run -1 cat "$MNT/trials/start"
  grep -q trials "$BATS_TEST_TMPDIR/its.log"
  [ "$(stat -c %U:%a "$BATS_TEST_TMPDIR/its.log")" = root:600 ]
  kill -TERM "$daemon"
  until_true 30 gone_from_there
}

@test "systemd is told, when the socket is one that only root can reach" {
  need_root
  own_store nobody
  mkdir -m 700 "$BATS_TEST_TMPDIR/run"
  "$PYTHON" - "$BATS_TEST_TMPDIR/run/notify" >"$BATS_TEST_TMPDIR/told" 3>&- <<'END' &
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
s.settimeout(60)
print(s.recv(100).decode(), flush=True)
END
  listener=$!
  until_true 30 test -S "$BATS_TEST_TMPDIR/run/notify"
  export NOTIFY_SOCKET=$BATS_TEST_TMPDIR/run/notify
  mount_store "$OWN"
  wait "$listener"
  [ "$(cat "$BATS_TEST_TMPDIR/told")" = READY=1 ]
  unmount
}

@test "a store that is replaced under the mount is read as it was, and links out of it are refused" {
  cp -r "$STORE" "$OWN"
  ln -s "$BATS_TEST_TMPDIR/secret" "$OWN/absolute"
  ln -s ../secret "$OWN/relative"
  mkdir "$BATS_TEST_TMPDIR/secret"
  cp -r "$STORE/." "$BATS_TEST_TMPDIR/secret"
  mount_store "$OWN"
  for link in absolute relative; do
    run ls -R "$MNT/$link"
    [[ $output != *start* ]]
  done
  mv "$OWN" "$OWN.old"
  mkdir "$OWN"
  reads_right_too() { cmp "$MNT/trials/start" "$FIXTURES/demo/expect/trials/start"; }
  reads_right_too
  unmount
  rmdir "$OWN"
  mv "$OWN.old" "$OWN"
  mount_store "$OWN" -o follow_symlinks
  for link in absolute relative; do
    cmp "$MNT/$link/trials/start" "$FIXTURES/demo/expect/trials/start"
  done
  unmount
}
