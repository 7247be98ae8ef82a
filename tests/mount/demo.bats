#!/usr/bin/env bats
# The demonstration runs, and what the README shows of it is what it prints.
# presets: release
# limit: 600
# alone: yes

load helper

@test "tests/demo.sh shows what the README shows, and leaves nothing behind" {
  need_fuse
  export TMPDIR=$BATS_TEST_TMPDIR
  limit 580 sh "$HERE/../demo.sh" >"$BATS_TEST_TMPDIR/shown" 3>&-
  "$PYTHON" - "$HERE/../../README.md" "$BATS_TEST_TMPDIR/shown" <<'EOF'
import re, sys
readme, shown = (open(f).read() for f in sys.argv[1:])
part = readme.split("## The first minute")[1].split("\n## ")[0]
pieces = re.findall(r"(?:^    .*\n)+", part, re.M)
assert len(pieces) > 4
for piece in pieces:
    piece = re.sub("^    ", "", piece, flags=re.M)
    assert "\n" + piece in "\n" + shown, "not shown by the demonstration:\n" + piece
EOF
  run -1 grep -c "$BATS_TEST_TMPDIR" /proc/self/mountinfo
  run ! compgen -G "$BATS_TEST_TMPDIR/tmp.*"
}

@test "tests/demo.sh shows any other store, and says so if there is none" {
  need_fuse
  limit 300 sh "$HERE/../demo.sh" "$(fixture zip.v3)" >"$BATS_TEST_TMPDIR/shown" 3>&-
  grep -q './points/records.jsonl' "$BATS_TEST_TMPDIR/shown"
  run -1 sh "$HERE/../demo.sh" "$BATS_TEST_TMPDIR/none"
  [[ $output == *"there is no"* ]]
}
