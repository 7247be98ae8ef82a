#!/bin/sh
# SPDX-License-Identifier: MIT
# portability.sh clang|debian13|i386|s390x: builds and tests the program as others will, with warnings as errors.
#
#   clang     this machine, clang 14 (the preset `clang`): unit tests
#   debian13  a Debian 13 root, its gcc 14 and its clang 19: unit tests; gcc: every fixture, by `zarrfs cat` and mounted
#   i386      a Debian 12 root of 32 bits: the same
#   s390x     big-endian: built by a cross compiler, run by qemu's user emulation: unit tests, every fixture by `zarrfs cat`
#
# Roots are kept in $ZARRFS_ROOTS and made anew only when what they hold is changed below. All but clang want root and
# debootstrap. One processor, and little of that: nice. Exit 0 if all is well.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
# shellcheck source=tests/debian.sh
. tests/debian.sh

target=${1-}
case $target in
  clang | debian13 | i386 | s390x) ;;
  *)
    echo "usage: portability.sh clang|debian13|i386|s390x" >&2
    exit 2
    ;;
esac
# In a namespace of our own: what is mounted in a root ends with this script.
if [ "$target" != clang ] && [ -z "${ZR_INSIDE:-}" ]; then
  exec env ZR_INSIDE=1 unshare --mount --propagation private sh "$top/tests/portability.sh" "$target"
fi
# The copies it got of other FUSE mounts would keep those alive when they are unmounted outside.
[ -z "${ZR_INSIDE:-}" ] || umount -l -a -t fuse,fuse.zarrfs || true
root=$roots/$target
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
unset ZR_LONG # what takes long here takes an hour there
export LC_ALL=C.UTF-8

step() { echo "$target: $*"; }

# quietly COMMAND...: shows what it printed only if it fails.
quietly() {
  if ! "$@" >"$log" 2>&1 </dev/null; then
    tail -n 60 "$log"
    step "failed: $*"
    exit 1
  fi
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# --- roots that this machine can run --------------------------------------------------------------------------------------

inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 ZR_NEED_FUSE=1 nice chroot "$root" "$@"; }

# native_root SUITE ARCHITECTURE PACKAGE...
native_root() {
  if ! debian_holds "$root" "$@"; then
    step "making the root"
    debian_remove "$root"
    debian_root "$root" "$1" --arch="$2"
    packages=$*
    # shellcheck disable=SC2086 # a list
    debian_install "$root" ${packages#"$1 $2"} || exit 1
    debian_mark "$root" "$@"
  fi
  mkdir -p "$root/src"
  mount --rbind /dev "$root/dev"
  mount -t proc proc "$root/proc"
  mount --bind "$top" "$root/src"
  mount -o remount,bind,ro "$root/src"
}

# native_test CC CXX
native_test() {
  step "building with $1: $(inside "$1" --version | head -n 1)"
  quietly inside cmake -S /src -B "/build-$1" -G Ninja -DCMAKE_BUILD_TYPE=Release -DZR_WERROR=ON -DZR_PRESET=portability \
    -DCMAKE_C_COMPILER="$1" -DCMAKE_CXX_COMPILER="$2"
  quietly inside cmake --build "/build-$1" -j 1
  inside ctest --test-dir "/build-$1" -L unit --output-on-failure --no-label-summary </dev/null | tail -n 20 >"$log" || true
  grep -E 'tests passed|Failed|Not Run|\*\*\*' "$log"
  grep -q '^100% tests passed' "$log"
}

native_fixtures() {
  step "every fixture, by cat and check"
  inside python3 /src/tests/portability/trees.py /src/fixtures /build-gcc/zarrfs </dev/null
  step "every fixture, mounted"
  inside env ZARRFS=/build-gcc/zarrfs FIXTURES=/src/fixtures PYTHON=python3 bats /src/tests/mount/tree.bats </dev/null
}

# --- one that only an emulator can ----------------------------------------------------------------------------------------

s390x_root() {
  packages=libc6-dev,libstdc++-12-dev,$(sh tests/install.sh list build | tr ' ' '\n' | grep -e '^lib.*-dev' -e uthash |
    grep -v libc6 | tr '\n' ',' | sed 's/,$//')
  debian_holds "$root" "$packages" && return
  step "making the root"
  debian_remove "$root"
  debian_root "$root" bookworm --arch=s390x --foreign --include="$packages"
  # Nothing is installed, since nothing runs there: the files are all that is wanted.
  for package in "$root"/var/cache/apt/archives/*.deb; do
    dpkg-deb -x "$package" "$root"
  done
  find "$root/usr/lib" -type l -lname '/*' | while read -r link; do
    ln -sfnr "$root$(readlink "$link")" "$link"
  done
  debian_mark "$root" "$packages"
}

s390x_test() {
  build=$top/build/s390x
  export PKG_CONFIG_LIBDIR="$root/usr/lib/s390x-linux-gnu/pkgconfig:$root/usr/share/pkgconfig"
  export PKG_CONFIG_SYSROOT_DIR="$root"
  step "building: $(s390x-linux-gnu-gcc --version | head -n 1)"
  quietly nice cmake -S "$top" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DZR_WERROR=ON -DZR_PRESET=portability \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=s390x -DCMAKE_SYSROOT="$root" -DCMAKE_FIND_ROOT_PATH="$root" \
    -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER -DCMAKE_C_COMPILER=s390x-linux-gnu-gcc \
    -DCMAKE_CXX_COMPILER=s390x-linux-gnu-g++ "-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-s390x-static;-L;$root"
  quietly nice cmake --build "$build" -j 1
  # Those left out look at the sources or run the program without the emulator, or are about what qemu does not give:
  # terminals, seccomp, a process without descriptors of the emulator's.
  nice ctest --test-dir "$build" -L unit -E 'unit\.(layers|docs|progress|keeper|sandbox)' --output-on-failure --no-label-summary </dev/null |
    tail -n 60 >"$log" || true
  grep -E 'tests passed|Failed|Not Run|\*\*\*' "$log"
  grep -q '^100% tests passed' "$log"
  step "every fixture, by cat and check"
  nice python3 tests/portability/trees.py "$top/fixtures" qemu-s390x-static -L "$root" "$build/zarrfs" </dev/null
}

case $target in
  clang)
    quietly cmake --preset clang
    quietly nice cmake --build --preset clang -j 1
    nice ctest --preset clang -L unit --no-label-summary </dev/null | tail -n 20
    ;;
  debian13)
    # shellcheck disable=SC2046 # a list
    native_root trixie "$(dpkg --print-architecture)" $(sh tests/install.sh list build) clang python3 bats procps
    native_test gcc g++
    native_test clang clang++
    native_fixtures
    ;;
  i386)
    # shellcheck disable=SC2046 # a list
    native_root bookworm i386 $(sh tests/install.sh list build) python3 bats procps
    native_test gcc g++
    native_fixtures
    ;;
  s390x)
    s390x_root
    s390x_test
    ;;
esac
step "all is well"
