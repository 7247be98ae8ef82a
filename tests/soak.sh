#!/bin/sh
# SPDX-License-Identifier: MIT
# soak.sh [SECONDS]: many readers for an hour, or so many seconds, on one mount that stays and on one that is made anew each
# round. Every answer is compared with a plain copy; at the end of each round, when nobody reads, memory and descriptors of the
# mount that stays are looked at, and must not grow. Prints a table. Exit status: 0 if all was as it should be, else 1.
#
#   ZARRFS   the program (default: build/release/zarrfs, which is built)
set -eu
cd "$(dirname "$0")/.."

seconds=${1:-3600}
case $seconds in
  '' | *[!0-9]*)
    echo "usage: sh tests/soak.sh [SECONDS]" >&2
    exit 2
    ;;
esac
rounds=60
[ "$seconds" -ge 300 ] || rounds=$((seconds / 5))
[ "$rounds" -gt 0 ] || rounds=1
round=$((seconds / rounds))
warm=$(((rounds + 3) / 4)) # rounds after which memory has grown to what it takes
grows=8192                 # KiB that it may be above that in the end
rows=12                    # of the table, about

work=$(mktemp -d)
mkdir "$work/stays" "$work/comes"
stays=
comes=

# leave DIR PID: unmounts; the status is that of the program.
leave() {
  fusermount3 -u "$1" 2>/dev/null || fusermount3 -uz "$1" || true
  wait "$2"
}

# shellcheck disable=SC2317 # called by the trap
clean() {
  [ -z "$comes" ] || leave "$work/comes" "$comes" || true
  [ -z "$stays" ] || leave "$work/stays" "$stays" || true
  rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM

if [ -z "${ZARRFS:-}" ]; then
  echo "Building" >&2
  { cmake --preset release && cmake --build --preset release -j "$(nproc)"; } >"$work/build.log" 2>&1 || {
    cat "$work/build.log" >&2
    exit 1
  }
  ZARRFS=build/release/zarrfs
fi
export PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME="$work/cache"
/usr/bin/python3 tests/mount/makestore.py mixed "$work/mixed" 12

# enter DIR OPTION...: mounts in the foreground; its process in `entered`.
enter() {
  "$ZARRFS" -f "$work/mixed/store" "$@" 2>>"$work/log" </dev/null &
  entered=$!
  for _ in $(seq 200); do
    ! mountpoint -q "$1" || return 0
    sleep 0.05
  done
  echo "soak.sh: not mounted" >&2
  return 1
}

# stress DIR: four processes of two threads, for a round; what it found goes to DIR.out.
stress() {
  timeout -k 10 $((round + 120)) /usr/bin/python3 tests/mount/stress.py "$1" "$work/mixed/expect" --seconds "$round" \
    --seed "$n" --trees text,.csv,.raw --procs 2 >"$1.out" 2>&1
}

# result DIR: `OPERATIONS WRONG`
result() { sed -n 's/^\([0-9]*\) operations, \([0-9]*\) wrong$/\1 \2/p' "$1.out" | tail -n 1; }

status_of() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$stays/status"; }

enter "$work/stays" -o cache=16M
stays=$entered
bad=0
operations=0
wrong=0
most=0       # KiB, in the first rounds
descriptors= # at the end of the first round
began=$(date +%s)
echo '| minutes | rounds | operations | wrong | memory KiB | peak KiB | descriptors | threads |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- |'
n=0
while [ "$n" -lt "$rounds" ]; do
  n=$((n + 1))
  enter "$work/comes" -o cache=4M
  comes=$entered
  stress "$work/comes" &
  other=$!
  stress "$work/stays" || bad=1
  wait "$other" || bad=1
  leave "$work/comes" "$comes" || bad=1
  comes=
  [ ! -w /proc/sys/vm/drop_caches ] || echo 3 >/proc/sys/vm/drop_caches
  for dir in stays comes; do
    # shellcheck disable=SC2046 # two words
    set -- $(result "$work/$dir")
    [ $# = 2 ] || {
      cat "$work/$dir.out" >&2
      set -- 0 1
    }
    operations=$((operations + $1))
    wrong=$((wrong + $2))
  done
  memory=$(status_of VmRSS)
  open=$(find "/proc/$stays/fd" -mindepth 1 -maxdepth 1 | wc -l)
  [ "$n" -gt "$warm" ] || [ "$memory" -le "$most" ] || most=$memory
  descriptors=${descriptors:-$open}
  [ "$open" = "$descriptors" ] || bad=1
  [ $((n % ((rounds + rows - 1) / rows))) -ne 0 ] && [ "$n" -ne "$rounds" ] ||
    printf '| %d | %d | %d | %d | %d | %d | %d | %d |\n' $((($(date +%s) - began) / 60)) "$n" "$operations" "$wrong" \
      "$memory" "$(status_of VmHWM)" "$open" "$(status_of Threads)"
done
leave "$work/stays" "$stays" || bad=1
stays=
[ "$memory" -le $((most + grows)) ] || bad=1
[ "$wrong" = 0 ] && [ "$operations" -gt 0 ] || bad=1
if grep -v 'counters:' "$work/log" >&2; then
  bad=1
fi
[ "$bad" = 0 ] && echo "as it should be: memory was $most KiB after $warm rounds" || echo "not as it should be"
exit $bad
