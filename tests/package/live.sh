#!/bin/sh
# SPDX-License-Identifier: MIT
# live.sh BUILD TOP: the package under a systemd that runs. A Debian 12 is booted in namespaces and in a cgroup of its own, and
# zarrfs@.service, .mount units and automounts do there what an administrator expects of them. Wants root, debootstrap and a
# cgroup2 file system; about a minute, and some more the first time, when the root is made (it is kept in $ZARRFS_ROOTS;
# what happens in it is in memory only). Exit 0 if all is well.
# shellcheck disable=SC2016 # commands in quotes are for the shell that `inside` starts
set -eu
export LC_ALL=C.UTF-8

# --- the first process of what is booted: everything that systemd finds there, then systemd ------------------------------
if [ "$1" = --boot ]; then
  read -r pid _ </proc/self/stat # as the outside counts
  exec 3>"$3"
  cd "$2"
  mount -t proc proc proc
  mount --bind proc/sys proc/sys # what is set there is the whole machine's
  mount -o remount,bind,ro proc/sys
  mount -t sysfs -o ro sysfs sys
  mount -t cgroup2 cgroup sys/fs/cgroup
  mount -t tmpfs -o mode=755 none run
  mount -t tmpfs -o mode=1777 none tmp
  mount -t tmpfs -o mode=755 none dev
  mkdir dev/pts dev/shm
  mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts dev/pts
  for device in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0 fuse:10:229 autofs:10:235; do
    numbers=${device#*:}
    mknod -m 666 "dev/${device%%:*}" c "${numbers%:*}" "${numbers#*:}"
  done
  ln -s pts/ptmx dev/ptmx
  ln -s /proc/self/fd dev/fd
  pivot_root . mnt
  umount -l /mnt
  echo "$pid" >&3
  # Without the rights to change the machine: its clock, its modules, its log.
  exec env -i container=zarrfs PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    setpriv --inh-caps=-all --bounding-set=-sys_time,-sys_module,-sys_rawio,-syslog,-mac_admin /lib/systemd/systemd 3>&-
fi

build=$(realpath "$1")
top=$(realpath "$2")
here=$top/tests/package
# shellcheck source=tests/debian.sh
. "$here/../debian.sh"
# A namespace of our own: what is mounted ends with this script, however it ends.
if [ -z "${ZR_LIVE_INSIDE:-}" ]; then
  exec env ZR_LIVE_INSIDE=1 unshare --mount --propagation private sh "$here/live.sh" "$build" "$top"
fi
# The copies it got of other FUSE mounts would keep those alive when they are unmounted outside.
umount -l -a -t fuse,fuse.zarrfs || true
work=$(mktemp -d)
group=zarrfs-live.$$
booted=''
step() { echo "live: $*"; }

# --- switching it on and off ----------------------------------------------------------------------------------------------

# boot: returns when it is up. It ends with this script, also when that is killed.
boot() {
  : >"$work/pid"
  mkdir "$work/cgroup/$group"
  setpriv --pdeathsig KILL sh -c 'echo $$ >"$1"; shift; exec "$@"' sh "$work/cgroup/$group/cgroup.procs" \
    unshare --pid --fork --kill-child --mount --uts --ipc --net --cgroup \
    sh "$here/live.sh" --boot "$work/root" "$work/pid" >"$work/console" 2>&1 </dev/null &
  booted=$!
  within 60 test -s "$work/pid"
  within 60 inside 'systemctl is-system-running --wait >/run/running || grep -qx degraded /run/running' 2>/dev/null
}

# power_off: as pulling the plug does; kills what is left in there.
power_off() {
  [ -z "$booted" ] || kill -KILL "$booted" 2>/dev/null || true
  wait || true
  booted=''
  within 30 no_cgroup
}
ended() { ! kill -0 "$booted" 2>/dev/null; }
no_cgroup() { [ ! -e "$work/cgroup/$group" ] || find "$work/cgroup/$group" -depth -type d -exec rmdir {} + 2>/dev/null; }

clean_up() {
  status=$?
  [ "$status" = 0 ] || {
    cat "$work/console" || true
    inside 'journalctl -q --no-pager -n 60' || true
  } 2>/dev/null
  power_off
  umount -l "$work/root" "$work" 2>/dev/null || true
  rmdir "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

# within SECONDS COMMAND...: again and again until it is true.
within() {
  end=$(($(date +%s) + $1))
  shift
  until "$@"; do
    [ "$(date +%s)" -lt "$end" ] || {
      echo "live: this did not become true: $*"
      return 1
    }
    sleep 0.1
  done
}

# What the commands below have at hand. The .npy of whole records is equal in meaning only: see compare.py.
prelude='
  unit=zarrfs@demo
  show() { systemctl show -P "$1" "${2:-$unit}"; }
  is() { [ "$(show "$2" "${3:-$unit}")" = "$1" ] || { echo "live: $2 of ${3:-$unit} is $(show "$2" "${3:-$unit}"), not $1"; return 1; }; }
  becomes() { for i in $(seq 300); do [ "$(show "$2")" != "$1" ] || return 0; sleep 0.1; done; is "$@"; }
  mounts() { grep -c " $1 .* - fuse.zarrfs " /proc/1/mountinfo; } # as the first process sees them
  gone() { [ "$(mounts "$1")" = 0 ]; }
  # right POINT [AS WHOM]
  right() { point=$1; shift; "$@" diff -r -x .zarr -x records.npy /srv/expect "$point" && "$@" cmp /srv/store/zarr.json "$point/.zarr/zarr.json"; }
  as() { user=$1; shift; setpriv --reuid "$user" --regid "$user" --clear-groups "$@"; }
  # whoever reads gets an answer, be it an error (or what the kernel has kept)
  not_hanging() { timeout 30 cat >/dev/null 2>&1 || [ $? != 124 ]; }
  none_left() { for p in /proc/[0-9]*; do case $(cat "$p/comm" 2>/dev/null) in zarrfs*) return 1 ;; esac; done; }
  said() { journalctl --sync; journalctl -q -o cat --no-pager "_SYSTEMD_UNIT=$1.service" _COMM=zarrfs; }
'
# inside COMMANDS: what an administrator enters there. Nothing may take two minutes.
inside() {
  nsenter -t "$(cat "$work/pid")" --mount --pid --uts --ipc --net --cgroup --root --wd env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    LC_ALL=C.UTF-8 HOME=/root timeout -k 5 120 sh -euc "$prelude$1" </dev/null
}

# --- the machine ----------------------------------------------------------------------------------------------------------
mount -t tmpfs -o mode=700 none "$work"
mkdir "$work/package" "$work/upper" "$work/overlay" "$work/root" "$work/cgroup"
(cd "$build" && cpack -B "$work/package") >"$work/log" 2>&1 || {
  cat "$work/log"
  exit 1
}
base=$roots/live
depends=$(dpkg-deb -f "$work"/package/*.deb Depends | tr , '\n' | sed 's/^ *//; s/ .*//')
# shellcheck disable=SC2086 # a list
set -- systemd dbus $depends
if ! debian_holds "$base" "$@"; then
  step "making the root"
  debian_remove "$base"
  debian_root "$base" bookworm
  debian_install "$base" "$@"
  debian_mark "$base" "$@"
fi
mount -t overlay -o "lowerdir=$base,upperdir=$work/upper,workdir=$work/overlay" overlay "$work/root"
mount -t cgroup2 none "$work/cgroup"
for old in "$work"/cgroup/zarrfs-live.*; do # of those that were killed without a word
  ! grep -qsx 'populated 0' "$old/cgroup.events" || find "$old" -depth -type d -exec rmdir {} +
done

cp "$work"/package/*.deb "$work/root/zarrfs.deb"
cp -R "$top/fixtures/demo/store" "$top/fixtures/demo/expect" "$work/root/srv/"
# The connections that this would show are those of the whole machine.
ln -s /dev/null "$work/root/etc/systemd/system/sys-fs-fuse-connections.mount"
# What the manual has as an example of a unit.
awk '/^\[Unit\]/ { on = 1 } /^\.EE/ { on = 0 } on { gsub(/\\-/, "-"); print }' "$top/docs/mount.zarrfs.8" \
  >"$work/root/etc/systemd/system/srv-session.mount"
chroot "$work/root" sh -euc '
  useradd owner
  useradd other
  mkdir -p /data /srv/demo /srv/session /srv/auto /etc/zarrfs /var/log/journal
  cp -R /srv/store /data/session.zarr
  cp -R /srv/store "/data/a store"
  chown -R owner "/data/a store"
  chmod -R go= "/data/a store"
  printf "%s\n" "STORE=/data/a store" MOUNTPOINT=/srv/demo "OPTIONS=-o allow_other -o cache=64M" >/etc/zarrfs/demo.conf
  printf "%s\n" STORE=/data/nowhere MOUNTPOINT=/srv/demo >/etc/zarrfs/nowhere.conf
  echo /data/session.zarr /srv/auto fuse.zarrfs noauto,x-systemd.automount,allow_other 0 0 >>/etc/fstab
'
step "booting"
boot

# --- zarrfs@.service ------------------------------------------------------------------------------------------------------
step "installing the package: systemd knows the unit at once"
inside 'dpkg -i /zarrfs.deb' >"$work/log" 2>&1 || {
  cat "$work/log"
  exit 1
}
inside 'is loaded LoadState; is notify Type; is inactive ActiveState'

step "systemctl start: when it returns the mount answers, to everybody, in the whole system"
inside '
  systemctl start $unit
  right /srv/demo as other
  right /srv/demo
  is active ActiveState
  is running SubState
  [ "$(mounts /srv/demo)" = 1 ]
  case $(cat "/proc/$(show MainPID)/comm") in zarrfs) ;; *) exit 1 ;; esac
'
step "it serves as the owner of the store, without any capability, and can gain none"
inside '
  owner=$(id -u owner)
  # holds PID FIELD PATTERN
  holds() { grep -qP "^$2:\t$3$" "/proc/$1/status" || { grep "^$2" "/proc/$1/status"; return 1; }; }
  pids=$(cat "/sys/fs/cgroup$(show ControlGroup)/cgroup.procs")
  [ "$(echo "$pids" | wc -l)" = 2 ]
  for pid in $pids; do
    holds "$pid" NoNewPrivs 1
    holds "$pid" Seccomp 2
    if [ "$pid" = "$(show MainPID)" ]; then
      holds "$pid" Uid "$owner\t$owner\t$owner\t$owner"
      for set in Inh Prm Eff Amb; do holds "$pid" "Cap$set" 0+; done
    else # the keeper may unmount, and find the way to the mount point
      [ "$(cat "/proc/$pid/comm")" = zarrfs-keeper ]
      for set in Prm Eff; do holds "$pid" "Cap$set" 0+200004; done
    fi
  done
'
step "what it has measured is in /var/cache/zarrfs, the owner's and nobody else's"
inside '
  [ "$(stat -c %U:%a /var/cache/zarrfs /var/cache/zarrfs/$(id -u owner) | xargs)" = "root:700 owner:700" ]
  [ "$(find /var/cache/zarrfs -type f -user owner | wc -l)" -ge 4 ]
'
step "reload is refused, daemon-reload and daemon-reexec do nothing to it"
inside '
  pid=$(show MainPID)
  ! systemctl reload $unit 2>/dev/null
  systemctl daemon-reload
  systemctl daemon-reexec
  is active ActiveState
  is "$pid" MainPID
  right /srv/demo
'
# restarted TIMES: waits until systemd has made up for that many deaths.
restarted() {
  within 60 inside "[ \"\$(show NRestarts)\" = $1 ] && [ \"\$(show ActiveState)\" = active ]"
  inside 'right /srv/demo; right /srv/demo as other; [ "$(mounts /srv/demo)" = 1 ]'
}
step "killed, it comes back, and no dead mount is left"
inside 'kill -KILL "$(show MainPID)"'
restarted 1
step "killed with its keeper while a file is open, it comes back, too"
inside 'exec 3</srv/demo/lfp/values; systemctl kill -s KILL $unit; not_hanging <&3'
restarted 2
step "killed so when it should not come back, no dead mount is left either"
inside '
  mkdir -p /run/systemd/system/$unit.service.d
  printf "%s\n" "[Service]" Restart=no >/run/systemd/system/$unit.service.d/once.conf
  systemctl daemon-reload
  systemctl kill -s KILL $unit
  becomes failed ActiveState
  gone /srv/demo
  rm -r /run/systemd/system/$unit.service.d
  systemctl daemon-reload
  systemctl reset-failed $unit
  systemctl start $unit
'

step "systemctl stop: unmounted, and nothing is left"
inside '
  group=/sys/fs/cgroup$(show ControlGroup)
  systemctl stop $unit
  is inactive ActiveState
  is success Result
  is 0 ExecMainStatus
  gone /srv/demo
  none_left
  [ ! -e "$group" ]
  [ -z "$(ls -A /srv/demo)" ]
'
step "the same while a reader has a file open, who is not left hanging"
inside '
  systemctl start $unit
  exec 3</srv/demo/lfp/values
  head -c 1 <&3 >/dev/null
  cd /srv/demo/lfp
  timeout 30 systemctl stop $unit
  is inactive ActiveState
  is success Result
  gone /srv/demo
  none_left
  not_hanging <&3
'
step "unmounted by hand it has ended well, and stays away"
inside '
  systemctl start $unit
  umount /srv/demo
  becomes inactive ActiveState
  is success Result
  none_left
'
step "a store that is not there, or no configuration: systemctl start fails, at once, for one clear reason"
inside '
  systemctl start $unit
  pid=$(show MainPID)
  ! timeout 30 systemctl start zarrfs@nowhere 2>/dev/null
  is failed ActiveState zarrfs@nowhere # and not about to be tried again
  is 0 NRestarts zarrfs@nowhere
  said zarrfs@nowhere >/tmp/said
  cat /tmp/said
  [ "$(wc -l </tmp/said)" = 1 ]
  grep -q "/data/nowhere.*No such file" /tmp/said
  ! timeout 30 systemctl start zarrfs@none 2>/dev/null
  is inactive ActiveState zarrfs@none
  [ -z "$(said zarrfs@demo)" ]
  # What another unit serves at the same place is left alone.
  is "$pid" MainPID
  right /srv/demo
  systemctl stop $unit
'

# --- mount units ----------------------------------------------------------------------------------------------------------
step "the .mount unit of the manual"
inside '
  systemctl daemon-reload
  systemctl start srv-session.mount
  right /srv/session
  right /srv/session as other
  is active ActiveState srv-session.mount
  [ "$(mounts /srv/session)" = 1 ]
  systemctl stop srv-session.mount
  is inactive ActiveState srv-session.mount
  is success Result srv-session.mount
  gone /srv/session
'
within 30 inside none_left
if inside 'systemctl start srv-auto.automount' 2>/dev/null; then
  step "fstab, with x-systemd.automount: mounted by whoever looks first"
  inside '
    gone /srv/auto
    right /srv/auto as other
    is active ActiveState srv-auto.mount
    systemctl stop srv-auto.automount srv-auto.mount
    gone /srv/auto
  '
  within 30 inside none_left
else
  step "no automounts here: left out"
fi

# --- with the system ------------------------------------------------------------------------------------------------------
step "systemctl enable: down and up with the system"
inside '
  systemctl reset-failed $unit 2>/dev/null || : # nobody else starts it that often, which has a limit
  systemctl -q enable --now zarrfs@demo srv-session.mount
  journalctl -q -n 1 --cursor-file=/root/cursor >/dev/null
  systemctl --no-block poweroff
'
within 60 ended
power_off
boot
inside '
  is active ActiveState
  is active ActiveState srv-session.mount
  right /srv/demo
  right /srv/session
  journalctl -q -o cat --no-pager --cursor-file=/root/cursor "UNIT=$unit.service" + "UNIT=srv-session.mount" >/tmp/said
  grep -qx "zarrfs@demo.service: Deactivated successfully." /tmp/said
  grep -qx "Unmounted srv-session.mount - /srv/session." /tmp/said
  ! grep -i -e fail -e "timed out" -e kill /tmp/said
'
step "removing the package takes the unit along"
inside '
  systemctl -q disable --now zarrfs@demo srv-session.mount
  dpkg --purge zarrfs >/dev/null 2>&1
  is not-found LoadState
  ! systemctl start $unit 2>/dev/null
'
step "all is well"
