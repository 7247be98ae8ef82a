#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks check_layers.sh: a small tree that is in order passes, each way of being out of order is found.
set -eu

check=$(cd "$(dirname "$0")" && pwd)/check_layers.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
status=0

# try NAME WANTED: WANTED is what the one complaint must hold; empty: none may come.
try() {
  out=$(sh "$check" "$tmp" 2>&1) && code=0 || code=$?
  if [ -z "$2" ]; then
    [ "$code" = 0 ] && [ -z "$out" ] && return
  elif [ "$code" != 0 ] && [ "$(printf '%s\n' "$out" | wc -l)" = 1 ]; then
    case $out in *"$2"*) return ;; esac
  fi
  echo "not ok: $1: status $code, said: $out"
  status=1
}

fresh() {
  rm -rf "$tmp/src" "$tmp/docs"
  mkdir -p "$tmp/src" "$tmp/docs"
  cat >"$tmp/docs/architecture.md" <<'EOF'
| Layer | Modules | Job | Library headers |
| --- | --- | --- | --- |
| 0 | `util` | help | |
| 1 | `codec` `codec_*` | decode | |
| 1 | `codec_zstd` | zstd | `zstd.h` |
| 2 | `meta` | understand | `jansson.h` |
EOF
  printf '#include <stdint.h>\n#include <sys/stat.h>\n' >"$tmp/src/util.h"
  printf '#include "util.h"\n' >"$tmp/src/codec.h"
  printf '#include "codec.h"\n#include "codec_impl.h"\n' >"$tmp/src/codec_rle.c"
  printf '#include "codec.h"\n' >"$tmp/src/codec_impl.h"
  printf '#include "codec.h"\n#include <zstd.h>\n' >"$tmp/src/codec_zstd.c"
  printf '#include <jansson.h>\n#include "codec.h"\n#include "util.h"\n' >"$tmp/src/meta.c"
}

fresh
try 'in order' ''
printf '#include "codec.h"\n' >>"$tmp/src/util.h"
try 'a lower layer includes a higher one' 'src/util.h:3: may not include "codec.h": layer 1 from layer 0'
fresh
printf '#include "codec_zstd.h"\n' >>"$tmp/src/codec.h"
try 'one includes what stands below it in its layer' 'may not include "codec_zstd.h": layer 1 from layer 1, below'
fresh
printf ' # include <zstd.h>\n' >>"$tmp/src/codec_rle.c"
try 'a library in a file of another row' 'src/codec_rle.c:3: may not include <zstd.h>'
fresh
printf '#include <jansson.h>\n' >>"$tmp/src/codec_zstd.c"
try 'another library' 'may not include <jansson.h>'
fresh
printf '#include <curl/curl.h>\n' >>"$tmp/src/meta.c"
try 'a library that the table does not have' '<curl/curl.h> is a library'
fresh
: >"$tmp/src/extra.c"
printf '\n' >"$tmp/src/extra.c"
try 'a file that the table does not have' 'src/extra.c:1: the table'
fresh
printf '#include "extra.h"\n' >>"$tmp/src/meta.c"
try 'a header that the table does not have' '"extra.h" is no module'
fresh
: >"$tmp/docs/architecture.md"
try 'no table' 'no table of modules'
exit $status
