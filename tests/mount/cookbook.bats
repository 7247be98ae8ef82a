#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Every recipe of docs/cookbook.md prints what the page shows. What is too large to install for every change (heavy, below)
# is only run with ZR_LONG; tests/install.sh and, for DuckDB, setup_file see to it that it is there.
# presets: release
# limit: 600

load helper

PAGE=$HERE/../../docs/cookbook.md
heavy=duckdb,libreoffice,octave

setup_file() {
  [ "${ZR_LONG:-}" ] || return 0
  "$PYTHON" -m venv "$BATS_FILE_TMPDIR/venv"
  "$BATS_FILE_TMPDIR/venv/bin/pip" install -q duckdb
}

setup() {
  need_fuse
  mkdir "$BATS_TEST_TMPDIR/work" "$BATS_TEST_TMPDIR/bin"
  ln -s "$(realpath "$FIXTURES")" "$BATS_TEST_TMPDIR/work/fixtures"
  ln -s "$ZARRFS" "$BATS_TEST_TMPDIR/bin/zarrfs"
  PATH=$BATS_TEST_TMPDIR/bin:/usr/bin:/bin:/usr/sbin:/sbin # Debian's Python, for its packages
  cd "$BATS_TEST_TMPDIR/work" || return 1
  MOUNTS+=("$PWD/mnt" "$PWD/fixed")
}

@test "every recipe prints what the page shows" {
  without=--without=$heavy
  if [ "${ZR_LONG:-}" ]; then
    without=
    export HOME=$BATS_TEST_TMPDIR/home # for the profile of LibreOffice, and the history of Octave
    mkdir -p "$HOME/.local/share"
    # shellcheck disable=SC2016 # for that script
    printf '#!/bin/sh\n[ "$1" != -c ] || case $2 in *duckdb*) exec %s "$@" ;; esac\nexec /usr/bin/python3 "$@"\n' \
      "$BATS_FILE_TMPDIR/venv/bin/python3" >"$BATS_TEST_TMPDIR/bin/python3"
    chmod +x "$BATS_TEST_TMPDIR/bin/python3"
  fi
  limit 580 "$PYTHON" "$HERE/cookbook.py" $without "$PAGE" 3>&-
  ! is_mounted "$PWD/mnt" && ! is_mounted "$PWD/fixed"
}

@test "a recipe that prints something else is found, and so is one whose tool is missing" {
  sed 's/^memmap float32/memmap float64/; s/^\$ jq -c/$ jqq -c/' "$PAGE" >page.md
  run -1 limit 580 "$PYTHON" "$HERE/cookbook.py" --without="$heavy,R" page.md 3>&-
  [ "$(grep -c ^FAIL <<<"$output")" = 2 ]
  [[ $output == *"--- the page shows"*"memmap float64"*"--- it prints"*"memmap float32"* ]]
  [[ $output == *"jqq: command not found"* ]]
  [[ ${lines[-1]} == *" 2 failed"* ]]
}
