#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [--cpu SECONDS] [TARGET...]   fuzzes each target (all of them) for so many seconds of CPU time
# run.sh --merge [TARGET...]           makes corpus/ anew, of what in it and of seeds.py is not superfluous
#
# A target is the name of a fuzz_*.c without fuzz_. By default it runs for 600 seconds, `store` for 3600. What it finds on
# the way stays in build/fuzz/run/TARGET, and what breaks it in build/fuzz/findings. At the end there is a table, as it
# stands in docs/testing.md. Exit status: 0 if nothing was broken, else 1.
set -eu
cd "$(dirname "$0")/../.."

# Of one input: seconds, and MiB of memory.
input_seconds=10
input_memory=2048
max_findings=20 # of a target, which is given up then

cpu=
merge=
targets=
while [ $# -gt 0 ]; do
  case $1 in
    --cpu)
      cpu=${2:-}
      case $cpu in
        '' | *[!0-9]*)
          echo "run.sh: --cpu needs a number of seconds" >&2
          exit 2
          ;;
      esac
      shift
      ;;
    --merge) merge=1 ;;
    -*)
      sed -n 's/^# \(run.sh .*\)/usage: sh tests\/fuzz\/\1/p' tests/fuzz/run.sh >&2
      exit 2
      ;;
    *)
      [ -e "tests/fuzz/fuzz_$1.c" ] || {
        echo "run.sh: there is no target '$1'" >&2
        exit 2
      }
      targets="$targets $1"
      ;;
  esac
  shift
done
[ "$targets" ] || targets=$(for f in tests/fuzz/fuzz_*.c; do basename "$f" .c | sed s/fuzz_//; done)

work=build/fuzz/run
found=build/fuzz/findings
mkdir -p "$work" "$found"
echo "Building" >&2
if ! { cmake --preset fuzz && cmake --build --preset fuzz -j "$(nproc)"; } >"$work/build.log" 2>&1; then
  cat "$work/build.log" >&2
  exit 1
fi

pid=
trap '[ -z "$pid" ] || kill -KILL "$pid"' EXIT
trap 'exit 130' INT TERM

# cpu_of PID: hundredths of a second of CPU time so far; nothing once it is gone.
cpu_of() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '{ print $12 + $13 }'; }

# fuzz_once TARGET HUNDREDTHS: until so much is used, or an input breaks it. Sets `used`; the status is that of the target.
fuzz_once() {
  set -- "$1" "$2" "$work/$1"
  "build/fuzz/tests/fuzz/fuzz_$1" "$3" "tests/fuzz/corpus/$1" -timeout="$input_seconds" -rss_limit_mb="$input_memory" \
    -max_len=16384 -print_final_stats=1 -artifact_prefix="$found/$1-" >"$3.log" 2>&1 </dev/null &
  pid=$!
  used=0
  while now=$(cpu_of "$pid") && [ "$now" ]; do
    used=$now
    case $(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null) in
      Z* | '') break ;;
    esac
    if [ "$used" -ge "$2" ]; then
      kill -USR1 "$pid" 2>/dev/null || true # it ends well, with its figures
      break
    fi
    sleep 0.2
  done
  ended=0
  wait "$pid" || ended=$?
  pid=
  return "$ended"
}

figure() { sed -n "s/^stat::$1: *//p" "$2" | tail -n 1; }

# The last `cov: N` or `ft: N`.
progress() { grep -o "$1: [0-9]*" "$2" | tail -n 1 | sed 's/.*: //'; }

# fuzz TARGET SECONDS: prints its row.
fuzz() {
  mkdir -p "$work/$1" "tests/fuzz/corpus/$1"
  left=$(($2 * 100))
  runs=0
  total=0
  findings=0
  while [ "$left" -gt 0 ] && [ "$findings" -lt "$max_findings" ]; do
    status=0
    fuzz_once "$1" "$left" || status=$?
    n=$(figure number_of_executed_units "$work/$1.log")
    runs=$((runs + ${n:-0}))
    total=$((total + used))
    left=$((left - used))
    [ "$status" -ne 0 ] || break
    findings=$((findings + 1))
    cp "$work/$1.log" "$found/$1-$findings.log"
    echo "$1: an input breaks it, see $found/$1-$findings.log" >&2
  done
  printf '| %s | %s | %s | %s | %s | %d | %d |\n' "$1" "$runs" "$(progress cov "$work/$1.log")" "$(progress ft "$work/$1.log")" \
    "$(find "$work/$1" "tests/fuzz/corpus/$1" -type f | wc -l)" "$((total / 100))" "$findings"
  [ "$findings" = 0 ]
}

# What once broke something keeps the name that libFuzzer gave it, and stays.
merge_target() {
  mkdir -p "$work/seeds/$1" "tests/fuzz/corpus/$1"
  rm -rf "$work/merged"
  mkdir "$work/merged"
  "build/fuzz/tests/fuzz/fuzz_$1" -merge=1 -timeout="$input_seconds" -rss_limit_mb="$input_memory" -max_len=16384 \
    "$work/merged" "tests/fuzz/corpus/$1" "$work/seeds/$1" >"$work/$1.log" 2>&1 </dev/null
  find "tests/fuzz/corpus/$1" -type f -name '*-*' -exec cp -p {} "$work/merged" \;
  echo "$1: $(find "tests/fuzz/corpus/$1" -type f | wc -l) inputs before, $(find "$work/merged" -type f | wc -l) now"
  rm -rf "tests/fuzz/corpus/$1"
  mv "$work/merged" "tests/fuzz/corpus/$1"
}

if [ "$merge" ]; then
  rm -rf "$work/seeds"
  python3 tests/fuzz/seeds.py "$work/seeds"
  for target in $targets; do
    merge_target "$target"
  done
  exit
fi

bad=0
echo '| target | inputs run | edges | features | inputs kept | CPU seconds | findings |'
echo '| --- | --- | --- | --- | --- | --- | --- |'
for target in $targets; do
  seconds=${cpu:-600}
  [ "$cpu" ] || [ "$target" != store ] || seconds=3600
  fuzz "$target" "$seconds" || bad=1
done
exit $bad
