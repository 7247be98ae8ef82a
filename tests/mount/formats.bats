#!/usr/bin/env bats
# docs/formats.md says what is read and what is refused; each of its rows is shown by a fixture.
# presets: dev

load helper

@test "every row of docs/formats.md holds" {
  mount_store "$(fixture formats)"
  limit 60 "$PYTHON" "$HERE/formats.py" "$HERE/../../docs/formats.md" "$FIXTURES" "$MNT"
  unmount
}

@test "a row that does not hold is told" {
  # shellcheck disable=SC2016 # those are Markdown's
  sed 's/| `zfp` | 3 | no |/| `zfp` | 3 | yes |/' "$HERE/../../docs/formats.md" >"$BATS_TEST_TMPDIR/wrong.md"
  run -1 "$PYTHON" "$HERE/formats.py" "$BATS_TEST_TMPDIR/wrong.md" "$FIXTURES"
  [[ $output == "zfp: formats:refused/zfp is refused"* ]]
}
