#!/usr/bin/env bats
# A mount shows exactly the tree that its fixture expects: names, sizes, bytes, and nothing else.
# What is not supported so far is in the file `skip`; ZR_NO_SKIP=1 compares it all the same.
# presets: dev release
# limit: 300

load helper

compare() {
  local skip=$HERE/skip
  [ -z "${ZR_NO_SKIP:-}" ] || skip=/dev/null
  limit 120 "$PYTHON" "$HERE/compare.py" --skip="$skip" --name="$1" "${@:2}"
}

# check_fixture NAME: mounted and compared. 77: all of it is left out so far.
check_fixture() {
  compare "$1" --would-skip - "$FIXTURES/$1/expect" || return $?
  : >"$LOG"
  mount_store "$(fixture "$1")" || return 1
  compare "$1" "$MNT" "$FIXTURES/$1/expect" || return 1
  unmount
}

@test "every fixture shows its expected tree, byte for byte, and nothing else" {
  need_fuse
  failed=
  for dir in "$FIXTURES"/*/; do
    name=$(basename "$dir")
    [ -d "$dir/expect" ] || continue
    echo "$name:"
    status=0
    check_fixture "$name" || status=$?
    if [ "$status" != 0 ] && [ "$status" != 77 ]; then
      failed="$failed $name"
      stop_all
    fi
  done
  echo "failed:$failed"
  [ -z "$failed" ]
}
