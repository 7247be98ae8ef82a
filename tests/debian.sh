# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# debian.sh - Debian roots to test in; for scripts to source
#
#   ZARRFS_ROOTS   where roots are kept that are used again (/var/tmp/zarrfs-roots)
#   ZARRFS_MIRROR  the archive to make them from, instead of the host's own

# shellcheck disable=SC2034 # for who sources this
roots=${ZARRFS_ROOTS:-/var/tmp/zarrfs-roots}

# debian_mirror: the first source of the main archive (not security, not updates) in the host's apt configuration.
debian_mirror() {
  if [ -n "${ZARRFS_MIRROR:-}" ]; then
    echo "$ZARRFS_MIRROR"
    return
  fi
  # shellcheck disable=SC2016 # apt expands them
  mirror=$(apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE)' 'Identifier: Packages' \
    'Component: main' 2>/dev/null |
    awk '$1 ~ /\/debian\/?$/ && $2 !~ /security|updates|backports/ { print $1; exit }')
  if [ -z "$mirror" ]; then
    mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
      sed -n 's/^\(deb\|URIs:\).*[[:space:]]\(http[^[:space:]]*\/debian\/\{0,1\}\)\([[:space:]].*\)\{0,1\}$/\2/p' | head -n 1)
  fi
  [ -n "$mirror" ] || {
    echo "no Debian archive in the apt configuration of this host; name one in ZARRFS_MIRROR" >&2
    return 1
  }
  echo "$mirror"
}

# debian_root DIR SUITE OPTION...: a small one, by debootstrap.
debian_root() {
  root_dir=$1
  root_suite=$2
  shift 2
  [ "$(id -u)" = 0 ] || {
    echo "making a Debian root needs root rights" >&2
    return 1
  }
  root_mirror=$(debian_mirror) || return 1
  mkdir -p "$(dirname "$root_dir")"
  debootstrap --variant=minbase "$@" "$root_suite" "$root_dir" "$root_mirror" >"$root_dir.log" 2>&1 || {
    tail -n 5 "$root_dir.log" >&2
    echo "debootstrap failed, see $root_dir.log" >&2
    return 1
  }
}

# debian_remove DIR: with what is still mounted below it (debootstrap mounts proc while it works).
debian_remove() {
  [ -e "$1" ] || return 0
  awk -v d="$1/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo | sort -r | while read -r m; do
    umount "$m" || umount -l "$m"
  done
  rm -rf --one-file-system "$1" "$1.log"
}

# debian_install DIR PACKAGE...: into a root.
debian_install() {
  root_dir=$1
  shift
  chroot "$root_dir" sh -c 'apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"' \
    sh "$@" >"$root_dir.log" 2>&1 </dev/null || {
    tail -n 20 "$root_dir.log" >&2
    return 1
  }
}

# debian_holds DIR WHAT...: whether the root is one that was marked so, by debian_mark.
debian_holds() {
  root_dir=$1
  shift
  [ "$(cat "$root_dir/.zarrfs" 2>/dev/null)" = "$*" ]
}
debian_mark() {
  root_dir=$1
  shift
  echo "$*" >"$root_dir/.zarrfs"
}
