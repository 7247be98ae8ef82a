#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [--all]: installs what is missing, builds the program three times (with AddressSanitizer and
# UndefinedBehaviorSanitizer, with ThreadSanitizer, as users get it) and runs the tests of all three. About ten
# minutes, and a few more the first time, when the reference implementation is installed.
#
#   --all  also what is too long for every change: every mount test with every build, long stress
#
# A host without FUSE fails: most of what zarrfs promises can only be seen on a mount.
set -eu
cd "$(dirname "$0")/.."

all='' packages=test
case ${1-} in
  '') ;;
  --all) all=1 packages=all ;;
  *)
    echo "usage: sh tests/run.sh [--all]" >&2
    exit 2
    ;;
esac

# quietly COMMAND...: shows what it printed only if it fails.
quietly() {
  if ! "$@" >build/check/log 2>&1 </dev/null; then
    cat build/check/log
    echo "failed: $*" >&2
    exit 1
  fi
}

sh tests/install.sh "$packages"
if [ ! -w /dev/fuse ]; then
  echo "run.sh: /dev/fuse is missing or may not be written to" >&2
  exit 1
fi
jobs=$(nproc)
presets="dev tsan release"
mkdir -p build/check
echo "Installing the reference implementation, if it is not there"
quietly sh tests/differential/setup.sh

: >build/check/CTestTestfile.cmake
for preset in $presets; do
  echo "Building: $preset"
  quietly cmake --preset "$preset"
  quietly cmake --build --preset "$preset" -j "$jobs"
  echo "subdirs(\"../$preset\")" >>build/check/CTestTestfile.cmake
done

# One run of CTest over the three, so that its summary counts everything.
export ZR_NEED_FUSE=1
if [ "$all" ]; then
  export ZR_LONG=1
  set --
else
  set -- -L '^ci$'
fi
exec ctest --test-dir build/check --output-on-failure --no-tests=error --no-label-summary \
  -j "$jobs" "$@" </dev/null
