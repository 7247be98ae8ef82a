#!/bin/sh
# SPDX-License-Identifier: MIT
# package.sh BUILD TOP: makes the package of a build, installs the build below DESTDIR, and holds both against
# contents.txt and the version of the project. Exit 0 if all agree.
set -eu
export LC_ALL=C.UTF-8

build=$(realpath "$1")
top=$(realpath "$2")
here=$top/tests/package
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
version=$(sed -n 's/^project(zarrfs VERSION \([0-9.]*\).*/\1/p' "$top/CMakeLists.txt")

complain() {
  echo "package: $*"
  bad=1
}
# same WHAT WANT GOT
same() { [ "$2" = "$3" ] || complain "$1 is '$3', not '$2'"; }
# list DIR: what is in it but for directories, pages of docs/ as one.
list() {
  (cd "$1" && find . ! -type d -printf '%P %l\n' | sed 's/ $//; s/ / -> /; s|\(/docs/\).*\.md$|\1*.md|' | sort -u)
}

(cd "$build" && SOURCE_DATE_EPOCH=0 cpack -B "$work") >"$work/log" 2>&1 || {
  cat "$work/log"
  exit 1
}
deb=$(ls "$work"/*.deb)
dpkg-deb -R "$deb" "$work/deb"
field() { dpkg-deb -f "$deb" "$1"; }

# --- what is in it --------------------------------------------------------------------------------------------------------
mkdir "$work/tree"
dpkg-deb -x "$deb" "$work/tree"
list "$work/tree" >"$work/list"
diff "$here/contents.txt" "$work/list" || complain "the package (>) holds other files than contents.txt (<)"
(cd "$top" && find docs -maxdepth 1 -name '*.md' ! -name changelog.md | sort) >"$work/pages"
(cd "$work/tree/usr/share/doc/zarrfs" && find docs -name '*.md' | sort) | diff "$work/pages" - ||
  complain "not every page of docs/ (<) is in the package (>)"
DESTDIR=$work/installed cmake --install "$build" --prefix /usr >"$work/log" 2>&1 || {
  cat "$work/log"
  complain "cmake --install failed"
}
DESTDIR=$work/elsewhere cmake --install "$build" --prefix /opt/zarrfs >"$work/log" 2>&1
for place in tree:/usr installed:/usr elsewhere:/opt/zarrfs; do
  prefix=${place#*:}
  grep -q "^ExecStart=$prefix/bin/zarrfs " "$work/${place%:*}$prefix/lib/systemd/system/zarrfs@.service" ||
    complain "the unit does not start $prefix/bin/zarrfs"
done
[ -f "$work/elsewhere/opt/zarrfs/share/zsh/site-functions/_zarrfs" ] || complain "below /opt zsh finds no completion"
list "$work/installed" | diff "$here/contents.txt" - || complain "cmake --install (>) puts down other files than contents.txt (<)"
dpkg-deb -c "$deb" | awk '$2 != "root/root" || $1 ~ /^[-d].{4}w|^[-d].{7}w/' | grep . && complain "these are not root's alone"
for file in bin/zarrfs sbin/mount.zarrfs; do
  [ -x "$work/tree/usr/$file" ] || complain "/usr/$file cannot be executed"
done
find "$work/tree" -name '*.gz' -exec gzip -t {} + || complain "something is badly compressed"
! readelf -S "$work/tree/usr/bin/zarrfs" | grep '\.debug' || complain "the program was not stripped"

# --- what it says of itself -----------------------------------------------------------------------------------------------
same "the name of the file" "zarrfs_$version-1_$(dpkg --print-architecture).deb" "$(basename "$deb")"
same Package zarrfs "$(field Package)"
same Section utils "$(field Section)"
same Maintainer "The zarrfs authors" "$(field Maintainer)"
field Description | sed 1d | grep -q '[^ ]' || complain "it has no description"
readelf -d "$build/zarrfs" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$work/needed"
field Depends | tr , '\n' | sed 's/^ *//; s/ .*//' | sort >"$work/depends"
grep -qx fuse3 "$work/depends" || complain "it does not depend on fuse3"
while read -r library; do
  dpkg-query -S "*/$library" | sed 's/:.*//' | sort -u | grep -qxFf "$work/depends" || complain "no package that it depends on has $library"
done <"$work/needed"
(cd "$work/tree" && md5sum --quiet -c "$work/deb/DEBIAN/md5sums") || complain "its sums are wrong"
for script in postinst postrm; do
  sh -n "$work/deb/DEBIAN/$script" || complain "$script is no script"
done

# --- the version, everywhere ----------------------------------------------------------------------------------------------
same "zarrfs --version" "zarrfs $version" "$("$build/zarrfs" --version | sed 's/ (.*//')"
same "the version of the package" "$version-1" "$(field Version)"
for page in man1/zarrfs.1 man8/mount.zarrfs.8; do
  same "the version in $page" "zarrfs $version" "$(zcat "$work/tree/usr/share/man/$page.gz" | sed -n 's/^\.TH .* "\(zarrfs [^"]*\)".*/\1/p')"
done
same "the newest entry of docs/changelog.md" "$version" "$(sed -n 's/^## \([0-9.]*[0-9]\).*/\1/p' "$top/docs/changelog.md" | head -n 1)"
same "the entry in changelog.Debian" "zarrfs ($version-1)" \
  "$(zcat "$work/tree/usr/share/doc/zarrfs/changelog.Debian.gz" | sed -n '1s/).*/)/p')"
zcat "$work/tree/usr/share/doc/zarrfs/changelog.gz" | cmp - "$top/docs/changelog.md" || complain "changelog.gz is not docs/changelog.md"

# --- made the same twice --------------------------------------------------------------------------------------------------
mkdir "$work/again"
(cd "$build" && SOURCE_DATE_EPOCH=0 cpack -B "$work/again") >"$work/log" 2>&1
cmp "$deb" "$work/again/$(basename "$deb")" || complain "a second run makes another package"
exit $bad
