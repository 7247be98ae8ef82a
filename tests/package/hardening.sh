#!/bin/sh
# SPDX-License-Identifier: MIT
# hardening.sh PROGRAM: says which of the protections that a compiler and a linker have to offer the program lacks.
# Exit 0 if it has all.
set -eu
export LC_ALL=C

program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

readelf -W -h -l -d "$program" >"$work/elf"
readelf -W --dyn-syms "$program" | awk '$7 == "UND" { sub(/@.*/, "", $8); print $8 }' >"$work/imports"
objdump -d --no-show-raw-insn "$program" >"$work/code"

# has WHAT PATTERN FILE, lacks WHAT PATTERN FILE
has() {
  grep -q -e "$2" "$work/$3" || {
    echo "$program: $1 is missing"
    bad=1
  }
}
lacks() {
  ! grep -e "$2" "$work/$3" || {
    echo "$program: it has $1"
    bad=1
  }
}

has 'a position that is not fixed (PIE)' 'Type: *DYN (Position-Independent Executable' elf
has 'memory that is read-only after relocation (RELRO)' GNU_RELRO elf
has 'binding at the start (BIND_NOW)' 'FLAGS.*BIND_NOW' elf
has 'the mark that the stack holds no code' 'GNU_STACK .* RW ' elf
lacks 'memory that can be written to and executed' 'LOAD .* RWE ' elf
lacks 'a path to look for libraries in' 'R\(UN\)\{0,1\}PATH' elf
lacks 'relocations in its code' TEXTREL elf
has 'the stack protector' '^__stack_chk_fail$' imports
has 'fortified functions' '^__memcpy_chk$' imports
has 'fortified formats' '^__v\{0,1\}snprintf_chk$' imports
case $(uname -m) in
  x86_64)
    # How gcc and clang touch each page of a frame that is larger than one.
    # shellcheck disable=SC2016 # an instruction
    has 'the probing of large stack frames' '\(orq\|movq\) *\$0x0,(%rsp)' code
    # The mark in .note.gnu.property needs the C library's start files too, which Debian builds without.
    has 'a landing pad for indirect calls (CET)' endbr64 code
    ;;
esac
exit $bad
