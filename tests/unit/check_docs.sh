#!/bin/sh
# SPDX-License-Identifier: MIT
# check_docs.sh ZARRFS [TOP]: the manual and the completions in TOP/docs say of each verb and option what `ZARRFS --help` says.
# One line for each difference, as diff has them (< --help, > the file). Exit 0 if there is none. Without groff the pages are
# not rendered, without bash its completion is not tried.
set -eu
export LC_ALL=C.UTF-8

zarrfs=$1
top=${2:-$(dirname "$0")/../..}
docs=$top/docs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

verbs="mount $("$zarrfs" --help | awk '$1 == "zarrfs" && $2 ~ /^[a-z]+$/ && $3 ~ /^STORE/ { print $2 }' | sort -u | tr '\n' ' ')"
[ "$verbs" != "mount " ] || {
  echo "check_docs: no verbs in --help" >&2
  exit 1
}

help_of() {
  case $1 in
    mount) "$zarrfs" --help ;;
    *) "$zarrfs" "$1" --help ;;
  esac
}

# compare WHAT FILE FILE
compare() {
  diff "$2" "$3" >"$work/diff" || {
    echo "$1 differs from --help:"
    grep '^[<>]' "$work/diff"
    bad=1
  }
}

# Of each verb what stands at the left: `VERB TAG`, as in `cat --rows A:B` or `mount -o missing=fill|error`.
for verb in $verbs; do
  help_of "$verb" | awk -v verb="$verb" '/^  -/ { tag = substr($0, 3, 24); sub(/ +$/, "", tag); print verb " " tag }'
done >"$work/help"

# --- zarrfs.1 -------------------------------------------------------------------------------------------------------------

# `head TAG` for the head of each paragraph in OPTIONS and VERBS that begins with "-", `takes VERB NAME` for what a verb takes
# behind -o, `words VERB TAG` for its own words, `usage VERB` for the synopsis.
awk '
function args(line,   out, join, n, c, quoted, i) {
  join = substr(line, 1, 3) == ".B " || substr(line, 1, 3) == ".I " ? " " : ""
  sub(/^\.[A-Z]+ +/, "", line)
  for (i = 1; i <= length(line); i++) {
    c = substr(line, i, 1)
    if (c == "\"")
      quoted = !quoted
    else if (c == " " && !quoted)
      out = out join
    else
      out = out c
  }
  gsub(/\\-/, "-", out)
  return out
}
/^\.SH / { section = $2; verb = "" }
/^\.SS zarrfs / { verb = $3 }
/^\.SY zarrfs$/ { print "usage mount" }
/^\.SY "zarrfs / { sub(/"$/, "", $3); print "usage " $3 }
head && section ~ /^(OPTIONS|VERBS)$/ {
  text = args($0)
  if (text ~ /^-/)
    print verb == "" ? "head " text : "words " verb " " text
}
{ head = $0 == ".TP" }
section == "VERBS" && /^\.BR "\\-o / {
  text = args($0)
  sub(/^-o /, "", text)
  sub(/\.$/, "", text)
  n = split(text, name, /, /)
  for (i = 1; i <= n; i++)
    print "takes " verb " " name[i]
}
' "$docs/zarrfs.1" | sort >"$work/manual"

for verb in $verbs; do
  echo "usage $verb"
  awk -v verb="$verb" '
    $1 != verb { next }
    verb == "mount" { print "head " substr($0, 7); next }
    $2 == "-o" && $3 !~ /^OPTION/ { sub(/=.*/, "", $3); print "takes " verb " " $3; next }
    $2 !~ /^-[a-zA-Z],?$/ { print "words " verb " " substr($0, length(verb) + 2) }
  ' "$work/help"
done | sort >"$work/want"
compare docs/zarrfs.1 "$work/want" "$work/manual"

# --- completions ----------------------------------------------------------------------------------------------------------

# The tables in them: `VERB OPTION`, as in `cat --rows` or `mount -o missing=`.
awk '{
  verb = $1
  tag = substr($0, length(verb) + 2)
  if (tag ~ /^-o [a-z]/) {
    if (tag ~ /=/)
      sub(/=.*/, "=", tag)
    print verb " " tag
  } else {
    n = split(tag, one, /, /)
    for (i = 1; i <= n; i++) {
      sub(/ .*/, "", one[i])
      print verb " " one[i]
    }
  }
}' "$work/help" | sort >"$work/want"
for file in zarrfs.bash _zarrfs zarrfs.fish; do
  awk -F '|' -v q="'" '
    $1 ~ "^ *" q "?[a-z][a-z ]*$" && $2 ~ /^-/ && NF >= 3 {
      gsub("^ *" q "?", "", $1)
      n = split($1, verb, " ")
      for (i = 1; i <= n; i++)
        print verb[i] " " $2
    }
  ' "$docs/completions/$file" | sort >"$work/table"
  compare "docs/completions/$file" "$work/want" "$work/table"
done

# Values that are words are the same as in --help.
sed -n 's/^[a-z]* -o \([a-z_]*=\)\([a-z]*|[a-z|]*\)$/\1|\2/p' "$work/help" | sort -u | while IFS='|' read -r name values; do
  words=$(echo "$values" | tr '|' ' ')
  for file in zarrfs.bash _zarrfs zarrfs.fish; do
    grep -e "-o $name|" "$docs/completions/$file" | grep -qF "$words" ||
      echo "docs/completions/$file: $name has other values than $words"
  done
done >"$work/values"
if [ -s "$work/values" ]; then
  cat "$work/values"
  bad=1
fi

# complete LINE: what bash would offer at its end.
if command -v bash >/dev/null; then
  # shellcheck disable=SC2016 # for bash
  complete='
    source "$1"
    compopt() { :; }
    COMP_LINE=$2 COMP_POINT=${#2}
    line=${2//=/ = }
    [[ $2 == *= ]] && line=${line% }
    read -ra COMP_WORDS <<<"$line"
    [[ $2 == *[[:space:]] ]] && COMP_WORDS+=("")
    [[ $2 == *= ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _zarrfs
    ((${#COMPREPLY[@]})) || exit 0
    printf "%s\n" "${COMPREPLY[@]}" | sort | tr "\n" " "
  '
  mkdir "$work/bin" "$work/logs"
  ln -s "$(realpath "$zarrfs")" "$work/bin/zarrfs"
  printf '#!/bin/sh\nshift\nexec "$@"\n' >"$work/bin/timeout" # however slow the machine is
  chmod +x "$work/bin/timeout"
  demo=$top/fixtures/demo/store
  while IFS='>' read -r line want; do
    got=$(PATH=$work/bin:$PATH bash -c "$complete" _ "$docs/completions/zarrfs.bash" "$line")
    [ "$got" = "$want" ] || {
      echo "bash: '$line' is completed as '$got', not as '$want'"
      bad=1
    }
  done <<EOT
zarrfs ls --js>--json 
zarrfs cat a -o mis>missing= 
zarrfs cat a -o missing=>error fill 
zarrfs cat a -o missing=e>error 
zarrfs cat a -o cache=1G,te>1G,text= 
zarrfs cat a -o cache=1G,missing=f>fill 
zarrfs check a -o text>
zarrfs index a b -o index=o>off on 
zarrfs -o follow_symlinks,allow_>follow_symlinks,allow_other follow_symlinks,allow_root 
zarrfs -o view=n>npy 
zarrfs --v>--version 
zarrfs -o index_dir=$work/lo>$work/logs 
zarrfs -o cache=1G,log=$work/l>$work/logs 
zarrfs cat $demo tri>trials/ 
zarrfs cat -o missing=error --rows 0:5 $demo trials/g>trials/gaze/ 
zarrfs cat $demo trials/gaze/x lfp/>lfp/records.jsonl lfp/values 
zarrfs cat $demo trials/v>
zarrfs cat $demo/trials g>gaze/ 
zarrfs cat $top/fixtures/formats/store refused/zfp/>refused/zfp/unreadable.txt 
zarrfs ls $demo >lfp probe probe/ spikes trials 
zarrfs check $demo probe/>probe/sites 
zarrfs check $demo probe tr>
zarrfs ls $top/docs d>
zarrfs index $demo t>
EOT
fi

for shell in zsh:_zarrfs fish:zarrfs.fish; do
  command -v "${shell%:*}" >/dev/null || continue
  "${shell%:*}" -n "$docs/completions/${shell#*:}" 2>&1 || bad=1
done

# --- rendering ------------------------------------------------------------------------------------------------------------

if command -v groff >/dev/null; then
  for page in zarrfs.1 mount.zarrfs.8; do
    groff -K utf8 -man -ww -Tutf8 "$docs/$page" >"$work/page" 2>"$work/warnings"
    if [ -s "$work/warnings" ] || [ ! -s "$work/page" ]; then
      echo "docs/$page does not render cleanly:"
      cat "$work/warnings"
      bad=1
    fi
  done
fi
exit $bad
