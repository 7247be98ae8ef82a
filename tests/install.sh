#!/bin/sh
# SPDX-License-Identifier: MIT
# install.sh build|test|all: installs what is missing of the Debian packages that building (testing; tests/run.sh --all) needs.
# With `list` in front: only says what they are.
# As root, or with sudo; says nothing and does nothing when all are there.
set -eu

build="cmake ninja-build gcc g++ libc6-dev pkg-config fuse3 libfuse3-dev libjansson-dev libzstd-dev
  libblosc-dev libdeflate-dev liblz4-dev liblzma-dev libbz2-dev libzip-dev libxxhash-dev uthash-dev
  libdragonbox-dev libseccomp-dev dpkg-dev file"
test="bats jq ripgrep busybox mawk gawk rsync zip sqlite3 less xxd zstd xz-utils procps
  bsdextrautils binutils groff-base perl python3 python3-numpy python3-venv debootstrap git shellcheck clang-format-14
  systemd gfortran gnuplot-nox gnumeric python3-pandas r-base-core"
all="clang-14 libclang-rt-14-dev octave libreoffice-calc-nogui qemu-user-static gcc-s390x-linux-gnu g++-s390x-linux-gnu"

list=
if [ "${1-}" = list ]; then
  list=1
  shift
fi

case ${1-} in
  build) want=$build ;;
  test) want="$build $test" ;;
  all) want="$build $test $all" ;;
  *)
    echo "usage: install.sh [list] build|test|all" >&2
    exit 2
    ;;
esac

[ -z "$list" ] || {
  # shellcheck disable=SC2086 # a list
  echo $want
  exit 0
}
command -v dpkg-query >/dev/null || {
  echo "install.sh: this is no Debian; install by hand what these packages hold: $want" >&2
  exit 1
}
missing=
for package in $want; do
  case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true) in
    *" installed") ;;
    *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || {
    echo "install.sh: these packages are missing, and there is no sudo to install them:$missing" >&2
    exit 1
  }
  as_root="sudo -n"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Installing missing packages:$missing"
# shellcheck disable=SC2086 # both are lists
if ! { $as_root apt-get update || true # the lists may be good enough
  $as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends $missing
} >"$log" 2>&1 </dev/null; then
  tail -n 30 "$log" >&2
  echo "install.sh: apt-get failed" >&2
  exit 1
fi
