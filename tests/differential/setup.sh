#!/bin/sh
# SPDX-License-Identifier: MIT
# setup.sh [--writers]: makes the oracle, a Debian trixie root with Python 3.13, zarr-python 3.4.2 and other Zarr readers and
# writers, in $ZARRFS_ORACLE (default /var/tmp/zarrfs-oracle). Wants root, debootstrap and python3-venv (or uv); takes one to
# four minutes and about 1 GB. A complete root is left alone; a half-made one is removed. Afterwards: ./run SCRIPT ARGS
# --writers adds what only the generators in writers/ need (./run --writers SCRIPT ARGS).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/debian.sh
. "$here/../debian.sh"
root=${ZARRFS_ORACLE:-/var/tmp/zarrfs-oracle}
part=$root.part
machine=$(uname -m)
writers=no
[ "${1-}" != --writers ] || writers=yes

# What a root must hold, as one hash; raise the 1 to have all made anew. Comments do not count.
sum() { { echo "trixie 1"; cat "$@" | sed '/^#/d'; } | sha256sum | cut -c1-64; }
want=$(sum "$here/requirements.txt" "$here/requirements-v2.txt")
want_writers=$(sum "$here/requirements-writers.txt")

say() { echo "oracle: $*"; }
die() { say "$*" >&2; exit 1; }
marked() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }
is_complete() { marked "$root/.zarrfs-oracle" "$want" && { [ $writers = no ] || marked "$root/.zarrfs-writers" "$want_writers"; }; }

if is_complete; then
    say "$root is complete"
    exit 0
fi
[ "$(id -u)" = 0 ] || die "making the root needs root rights (using it does not)"
command -v debootstrap >/dev/null || die "debootstrap is missing (apt-get install debootstrap)"
mkdir -p "$(dirname "$root")"
exec 9>"$root.lock"
flock 9                                   # a second caller waits here, then finds it complete
if is_complete; then
    say "$root is complete"
    exit 0
fi
if [ -e "$root" ] && [ ! -f "$root/.zarrfs-oracle" ] && [ -n "$(ls -A "$root")" ]; then
    die "$root exists and was not made by this script; name another folder in ZARRFS_ORACLE"
fi

# Sets $uv: the host's own, or one in a venv below $1.
find_uv() {
    uv=uv
    command -v uv >/dev/null && return
    say "uv into a venv of its own"
    { python3 -m venv "$1/uv" && "$1/uv/bin/pip" install -q uv; } >>"$root.log" 2>&1 || die "uv cannot be installed, see $root.log"
    uv=$1/uv/bin/uv
}
index=$(python3 -m pip config get global.index-url 2>/dev/null || true)
install() {                               # requirements, target folder
    UV_NO_CACHE=1 "$uv" pip install -q ${index:+--index-url "$index"} --target "$2" --python-version 3.13 \
        --python-platform "$machine-manylinux_2_34" --only-binary :all: --no-deps -r "$here/$1" >>"$root.log" 2>&1 ||
        { tail -n 5 "$root.log" >&2; die "$1 cannot be installed, see $root.log"; }
}
add_writers() {
    say "packages of requirements-writers.txt"
    debian_remove "$root/opt/site-writers"
    find_uv "$root"
    install requirements-writers.txt "$root/opt/site-writers"
    debian_remove "$root/uv"
    echo "$want_writers" >"$root/.zarrfs-writers"
    say "$root is complete"
}
if marked "$root/.zarrfs-oracle" "$want"; then
    add_writers
    exit 0
fi
trap 'debian_remove "$part"' EXIT
trap 'exit 1' INT TERM HUP
debian_remove "$part"

say "Debian trixie into $part"
debian_root "$part" trixie --include=python3 || die "no root"
rm -rf "$part"/var/cache/apt/archives/*.deb "$part"/var/lib/apt/lists/*

find_uv "$part"
say "packages of requirements.txt and requirements-v2.txt"
install requirements.txt "$part/opt/site"
install requirements-v2.txt "$part/opt/site-v2"
rm -rf "$part/uv"
echo "$want" >"$part/.zarrfs-oracle"

debian_remove "$root"
mv "$part" "$root"
trap - EXIT
if [ "$("$here/run" -c 'import zarr; print(zarr.__version__)')" = 3.4.2 ] && [ "$("$here/run" --v2 -c 'import zarr; print(zarr.__version__)')" = 2.18.7 ]; then
    say "$root is complete"
    [ $writers = no ] || add_writers
else
    rm -f "$root/.zarrfs-oracle"
    mv "$root" "$part"
    debian_remove "$part"
    die "the Python in the root does not run"
fi
