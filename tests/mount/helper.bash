# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# helper.bash - what a test needs in order to mount; loaded by every suite
#
#   ZARRFS        the program under test              } set by CTest; to run a suite by hand:
#   SLOWFS        the built tests/mount/slowfs.c      } ZARRFS=build/dev/zarrfs SLOWFS=build/dev/tests/slowfs \
#   FIXTURES      the folder fixtures/                }   bats tests/mount/tree.bats
#   ZR_NEED_FUSE  1: a host without FUSE is a failure, not a skip
#   ZR_LONG       1: as long as it takes, not as short as a change can wait for
#   ZR_SANITIZE   not empty: the program is several times slower than usual
#
# Whatever is mounted by the functions below is unmounted in teardown, however the test ends. Every command that reads from
# a mount and could hang stands behind `limit`.

bats_require_minimum_version 1.8.0

HERE=$BATS_TEST_DIRNAME
FIXTURES=${FIXTURES:-$HERE/../../fixtures}
PYTHON=${PYTHON:-/usr/bin/python3}
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$HERE

MOUNTS=()        # in the order of mounting
declare -gA PID=() # of each mount's program
BATS_TEST_TMPDIR=$(realpath "$BATS_TEST_TMPDIR") # as /proc/self/mountinfo has it
LOG=$BATS_TEST_TMPDIR/log
MNT=$BATS_TEST_TMPDIR/mnt
export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache # what zarrfs keeps on disk is for one test

limit() { timeout -k 5 "$@"; }

need_fuse() {
  [ -w /dev/fuse ] && command -v fusermount3 >/dev/null && return
  [ "${ZR_NEED_FUSE:-0}" = 0 ] || {
    echo "no usable /dev/fuse" >&2
    return 1
  }
  skip "no usable /dev/fuse"
}

need_root() { [ "$(id -u)" = 0 ] || skip "needs root"; }

# Looks at the table only: a dead mount must not be touched.
is_mounted() { awk -v d="$1" '$5 == d { found = 1 } END { exit !found }' /proc/self/mountinfo; }

# start DIR COMMAND...: runs what mounts at DIR in the foreground, and returns once the mount answers.
start() {
  local dir=$1
  shift
  need_fuse
  mkdir -p "$dir"
  # Bats waits for everyone who holds descriptor 3; a shell without job control lets its jobs ignore SIGINT.
  env --default-signal=INT,QUIT "$@" >>"$LOG" 2>&1 </dev/null 3>&- &
  PID[$dir]=$!
  MOUNTS+=("$dir")
  for _ in $(seq 600); do
    if is_mounted "$dir" && limit 30 stat "$dir" >/dev/null; then
      return
    fi
    kill -0 "${PID[$dir]}" 2>/dev/null || break
    sleep 0.05
  done
  echo "not mounted: $*" >&2
  return 1
}

# mount_at DIR STORE [OPTION...]: nothing is known from an earlier mount, unless the suite sets KEEP.
mount_at() {
  local dir=$1
  shift
  [ -n "${KEEP:-}" ] || rm -rf "${XDG_CACHE_HOME:?}"
  start "$dir" "$ZARRFS" -f "$1" "$dir" "${@:2}"
}

# mount_store STORE [OPTION...]: at $MNT
mount_store() { mount_at "$MNT" "$@"; }

# slow_store STORE [OPTION...]: shows STORE through slowfs at $SLOW, with a log of what is read in $READS.
slow_store() {
  SLOW=$BATS_TEST_TMPDIR/slow
  READS=$BATS_TEST_TMPDIR/reads
  start "$SLOW" "$SLOWFS" "$1" "$SLOW" --log="$READS" "${@:2}"
}

# ended PID SECONDS: waits for a child of the test; its status in $ENDED.
ended() {
  for _ in $(seq $(($2 * 20))); do
    if ! kill -0 "$1" 2>/dev/null; then
      ENDED=0
      wait "$1" || ENDED=$?
      return 0
    fi
    sleep 0.05
  done
  echo "still running after $2 s: $1" >&2
  return 1
}

# ended_well DIR: the program that was mounted at DIR ends, with status 0: a sanitizer's report would be another.
ended_well() {
  ended "${PID[$1]}" 60 || return 1
  unset "PID[$1]"
  [ "$ENDED" = 0 ] || {
    echo "the program ended with status $ENDED" >&2
    return 1
  }
}

# unmount [DIR]: takes $MNT or DIR down.
unmount() {
  local dir=${1:-$MNT}
  for _ in $(seq 40); do # a reader that was killed may hold it a moment longer
    limit 20 fusermount3 -u "$dir" 2>"$BATS_TEST_TMPDIR/fusermount" && break
    sleep 0.05
  done
  if is_mounted "$dir"; then
    cat "$BATS_TEST_TMPDIR/fusermount" >&2
    return 1
  fi
  ended_well "$dir"
}

# Leaves nothing mounted or running. Shows the log of a test that failed.
stop_all() {
  local dir i
  rm -f "$BATS_TEST_TMPDIR/hold" "$BATS_TEST_TMPDIR/fail" # lets go of who waits for slowfs
  for ((i = ${#MOUNTS[@]} - 1; i >= 0; i--)); do
    dir=${MOUNTS[i]}
    for _ in 1 2 3 4; do # there may be several, one on another
      is_mounted "$dir" || break
      limit 10 fusermount3 -u "$dir" 2>/dev/null || limit 10 fusermount3 -uz "$dir" 2>/dev/null || true
    done
    if [ -n "${PID[$dir]:-}" ]; then
      ended "${PID[$dir]}" 2 2>/dev/null || kill -KILL "${PID[$dir]}" 2>/dev/null || true
    fi
  done
  if [ -z "${BATS_TEST_COMPLETED:-}" ] && [ -s "$LOG" ]; then
    echo "log of the program:" >&2
    if [ "$(wc -l <"$LOG")" -gt 120 ]; then
      head -n 60 "$LOG" >&2 # a sanitizer's report says first what matters
      echo ... >&2
    fi
    tail -n 60 "$LOG" >&2
  fi
  chmod -R u+w "$BATS_TEST_TMPDIR" 2>/dev/null || true
}

teardown() { stop_all; }

# make_store RECIPE [ARGUMENT...]: for setup_file; see makestore.py. The test finds it in $BATS_FILE_TMPDIR/RECIPE.
make_store() { "$PYTHON" "$HERE/makestore.py" "$1" "$BATS_FILE_TMPDIR/$1" "${@:2}"; }

# fixture NAME: path of its store.
fixture() {
  if [ -e "$FIXTURES/$1/store.zip" ]; then
    echo "$FIXTURES/$1/store.zip"
  else
    echo "$FIXTURES/$1/store"
  fi
}

# until_true SECONDS COMMAND...
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || {
      echo "never came true: $*" >&2
      return 1
    }
    sleep 0.02
  done
}

more_counters() { [ "$(grep -c 'counters:' "$LOG")" -gt "$1" ]; }

# counters: asks the program at $MNT for them, for `counter`.
counters() {
  local before
  before=$(grep -c 'counters:' "$LOG" || true)
  kill -USR1 "${PID[$MNT]}"
  until_true 20 more_counters "$before"
  COUNTERS=$(grep 'counters:' "$LOG" | tail -n 1)
}

# counter NAME: one of them.
counter() {
  [[ $COUNTERS =~ \ $1=([0-9]+) ]] || {
    echo "no counter '$1' in: $COUNTERS" >&2
    return 1
  }
  echo "${BASH_REMATCH[1]}"
}

# counts NAME=NUMBER...: each of them has that number; asks anew.
counts() {
  local want got
  counters
  for want; do
    got=$(counter "${want%=*}")
    [ "$got" = "${want#*=}" ] || {
      echo "${want%=*} is $got, want ${want#*=}" >&2
      return 1
    }
  done
}

# wait_for PID...: for children, each of which must end well.
wait_for() {
  local pid
  for pid; do
    wait "$pid"
  done
}

now_ms() { date +%s%3N; }

# takes_less MS COMMAND...
takes_less() {
  local most=$1 begin took
  shift
  begin=$(now_ms)
  "$@" || return
  took=$(($(now_ms) - begin))
  [ "$took" -lt "$most" ] || {
    echo "took $took ms, more than $most: $*" >&2
    return 1
  }
}
