#!/bin/sh
# SPDX-License-Identifier: MIT
# lint.sh format|shell: the sources are formatted as .clang-format says; the scripts are free of what shellcheck finds.
set -eu
cd "$(dirname "$0")/.."

case ${1-} in
  format)
    find src tests \( -name '*.c' -o -name '*.h' -o -name '*.cc' \) \
      -exec clang-format-14 --dry-run -Werror {} +
    ;;
  shell)
    find .ci docs tests fixtures/*.sh -type f \( -name '*.sh' -o -name '*.bash' -o -name '*.bats' -o -name run \) \
      -exec shellcheck -x {} +
    ;;
  *)
    echo "usage: lint.sh format|shell" >&2
    exit 2
    ;;
esac
