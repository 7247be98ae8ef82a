#!/bin/sh
# SPDX-License-Identifier: MIT
# bare.sh BUILD TOP: the package in a Debian 12 root in which nothing else is: it installs, mounts for root and for others,
# by every way that its manual names, and goes without leaving anything. lintian has its say, too. Wants root and
# debootstrap; about three minutes. Exit 0 if all is well.
set -eu
export LC_ALL=C.UTF-8

build=$(realpath "$1")
top=$(realpath "$2")
here=$top/tests/package
# shellcheck source=tests/debian.sh
. "$here/../debian.sh"
work=$(mktemp -d)
root=$work/root
# A namespace of our own: what is mounted ends with this script, however it ends.
if [ -z "${ZR_BARE_INSIDE:-}" ]; then
  rmdir "$work"
  exec env ZR_BARE_INSIDE=1 unshare --mount --propagation private sh "$here/bare.sh" "$build" "$top"
fi
# The copies it got of other FUSE mounts would keep those alive when they are unmounted outside.
umount -l -a -t fuse,fuse.zarrfs || true
clean_up() {
  debian_remove "$root"
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

(cd "$build" && cpack -B "$work") >"$work/log" 2>&1 || {
  cat "$work/log"
  exit 1
}
debian_root "$root" bookworm
mount -t proc proc "$root/proc"
# What an installed system has besides: the device with the rights that udev gives it, and the list of what is mounted.
cp -a /dev/fuse "$root/dev/fuse"
chmod 666 "$root/dev/fuse"
ln -sf ../proc/self/mounts "$root/etc/mtab"
cp "$work"/*.deb "$root/zarrfs.deb"
cp -R "$top/fixtures/demo/store" "$top/fixtures/demo/expect" "$root/srv/"

# inside COMMAND: in the root, with what a login there would have in its environment.
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root timeout -k 5 300 chroot "$root" sh -euc "$1" </dev/null; }
step() { echo "bare: $*"; }
# All that is there: kind, rights, owner, place.
inventory() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./var/log \
  -o -path ./tmp -o -path ./run -o -path ./etc/ld.so.cache \) -prune -o -printf '%y %m %U %G %P\n' | sort -k 5); }

step "installing what the package depends on"
depends=$(dpkg-deb -f "$root/zarrfs.deb" Depends | tr , '\n' | sed 's/^ *//; s/ .*//')
# shellcheck disable=SC2086 # a list
debian_install "$root" $depends
inside 'useradd -m someone; echo user_allow_other >>/etc/fuse.conf; mkdir /mnt/zarr; chown someone /mnt/zarr'
inventory >"$work/before"

step "installing the package, by dpkg alone: nothing else is missing"
inside 'dpkg -i /zarrfs.deb' >"$work/log" 2>&1 || {
  cat "$work/log"
  exit 1
}
inside 'zarrfs --version && ! ldd /usr/bin/zarrfs | grep "not found"' >/dev/null

# check HOW COMMAND COMMAND: after the first the mount shows what it should, after the second it is gone. (What is left
# out is equal in meaning only: see compare.py.)
check() {
  step "mounting: $1"
  inside "$2"
  inside 'diff -r -x .zarr -x records.npy /srv/expect /mnt/zarr && cmp /srv/store/zarr.json /mnt/zarr/.zarr/zarr.json'
  inside "$3"
  ! grep -F " $root/mnt/zarr " /proc/self/mountinfo
}
check "as root" 'zarrfs /srv/store /mnt/zarr' 'umount /mnt/zarr'
check "as a user" 'setpriv --reuid someone --regid someone --init-groups env HOME=/home/someone zarrfs -o allow_other /srv/store /mnt/zarr' \
  'setpriv --reuid someone --regid someone --init-groups fusermount3 -u /mnt/zarr'
check "mount -t zarrfs" 'mount -t zarrfs /srv/store /mnt/zarr' 'umount /mnt/zarr'
check "mount -t fuse.zarrfs" 'mount -t fuse.zarrfs -o allow_other /srv/store /mnt/zarr' 'umount /mnt/zarr'
check "from fstab" 'echo "/srv/store /mnt/zarr zarrfs noauto 0 0" >>/etc/fstab; mount /mnt/zarr; sed -i /zarr/d /etc/fstab' 'umount /mnt/zarr'

step "removing it"
inside 'test -d /var/cache/zarrfs && dpkg --purge zarrfs' >"$work/log" 2>&1 || {
  cat "$work/log"
  exit 1
}
inventory >"$work/after"
rm -rf "$root/home/someone/.cache"
diff "$work/before" "$work/after" | grep -v -e '^[0-9]' -e ' home/someone/.cache' && {
  echo "bare: this differs from before (<)"
  exit 1
}
inside 'test ! -e /var/cache/zarrfs && ! dpkg -s zarrfs' >/dev/null 2>&1

step "lintian"
debian_install "$root" lintian
# It wants the address of a person, and the number of a report that somebody wants the package.
inside 'lintian --allow-root --fail-on error,warning --suppress-tags malformed-contact,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs /zarrfs.deb'
step "all is well"
