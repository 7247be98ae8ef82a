# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# bash completion for zarrfs(1)

# VERBS|OPTION|VALUES; @ is what bash calls a kind of values. tests/unit/check_docs.sh holds this table to `zarrfs --help`.
_zarrfs_table='
mount|-f|
mount|-d|
mount ls cat check index|-o|
mount ls cat check index|-h|
mount ls cat check index|--help|
mount ls cat check index|-V|
mount ls cat check index|--version|
cat|--rows|
ls|--json|
mount cat check index|-o missing=|fill error
mount ls cat index|-o nonfinite=|null string
mount ls cat check index|-o follow_symlinks|
mount cat index|-o text=|plain fixed
mount|-o view=|text csv raw npy
mount|-o views=|csv raw npy zarr none
mount cat check index|-o cache=|256M 512M 1G 2G
mount|-o size_wait=|0 30 300
mount index|-o index=|on off
mount index|-o index_dir=|@directory
mount|-o uid=|
mount|-o gid=|
mount|-o umask=|022 027 077
mount|-o allow_other|
mount|-o allow_root|
mount|-o default_permissions|
mount|-o fsname=|
mount|-o log=|@file
mount|-o noexec|
mount|-o sandbox=|on off
mount index|-o user=|@user
'

# The last of a list behind -o. What is replied begins behind the last "=", where bash has cut the word.
_zarrfs_list() {
  local verb=$1 list=$2 head last verbs option values reply
  last=${list##*,}
  head=${list%"$last"}
  while IFS='|' read -r verbs option values; do
    [[ " $verbs " == *" $verb "* && $option == '-o '* ]] || continue
    option=${option#-o }
    if [[ $option == *= && $last == "$option"* ]]; then
      if [[ $values == @* ]]; then
        compopt -o filenames
        values=$(compgen -A "${values#@}" -- "${last#"$option"}")
      fi
      while read -r reply; do
        [[ $reply && $reply == "${last#"$option"}"* ]] && COMPREPLY+=("$head$option$reply")
      done <<<"${values// /$'\n'}"
    elif [[ $option == "$last"* ]]; then
      COMPREPLY+=("$head$option")
    fi
  done <<<"$_zarrfs_table"
  COMPREPLY=("${COMPREPLY[@]#"${list%"${list##*=}"}"}")
  compopt -o nospace
}

# What `zarrfs ls` prints, as paths: for `cat` those of files, for others those of groups and arrays.
# shellcheck disable=SC2016 # for awk
_zarrfs_paths='
  function put(dir, name) { print dir == "" ? name : dir "/" name }
  {
    match($0, /[^ ]/)
    depth = (RSTART - 1) / 2
    $0 = substr($0, RSTART)
    slash = index($0, "/")
    name = slash ? substr($0, 1, slash - 1) : $0
    if (!slash)
      sub(/  .*/, "", name)
    above = depth > 1 ? at[depth - 1] "/" : ""
    at[depth] = above name
    what = slash ? substr($0, slash + 1) : ""
    if (verb != "cat") {
      if (slash && depth && what !~ /^ *struct$/)
        print at[depth]
    } else if (!slash)
      print at[depth]
    else if (what ~ /^  unreadable: /)
      put(at[depth], "unreadable.txt")
    else if (what != "" && what !~ /^  cannot be listed: /) {
      put(at[depth], "records.jsonl")
      if (what !~ /^ *struct( |$)/)
        put(at[depth], "values")
    }
  }'

# A path in the store that stands in front of it, one name at a time. Stores that take long are left alone.
_zarrfs_path() {
  local verb=$1 cur=$2 before=$3 store='' operands=0 i words path rest
  # shellcheck disable=SC2162 # a backslash quotes, as on the command line
  read -a words <<<"$before"
  for ((i = 2; i < ${#words[@]}; i++)); do
    case ${words[i]} in
      -o | --rows) ((i++)) ;;
      -*) ;;
      *) ((operands++)) || store=${words[i]/#\~\//$HOME/} ;;
    esac
  done
  ((operands == 1)) || [[ $operands -gt 1 && $verb == cat ]] || return
  compopt +o default +o bashdefault -o filenames
  while IFS= read -r path; do
    [[ $path == "$cur"* ]] || continue
    rest=${path:${#cur}}
    [[ $rest == */* ]] && rest=${rest%%/*}/
    COMPREPLY+=("$cur$rest")
  done < <(timeout 2 "${COMP_WORDS[0]}" ls -- "$store" 2>/dev/null | awk -v verb="$verb" "$_zarrfs_paths")
  ((${#COMPREPLY[@]})) || return
  mapfile -t COMPREPLY < <(printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort -u)
  [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != */ ]] || compopt -o nospace
}

_zarrfs() {
  local line=${COMP_LINE:0:COMP_POINT} cur=${COMP_WORDS[COMP_CWORD]} verb=mount word before verbs option
  COMPREPLY=()
  [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} =~ ^(ls|cat|check|index)$ ]] && verb=${COMP_WORDS[1]}
  word=${line##*[[:space:]]}
  before=${line%"$word"}
  before=${before%"${before##*[![:space:]]}"}
  if [[ ${before##*[[:space:]]} == -o ]]; then
    _zarrfs_list "$verb" "$word"
  elif [[ $word == -o?* ]]; then
    return
  elif [[ $cur == -* ]]; then
    while IFS='|' read -r verbs option _; do
      [[ " $verbs " == *" $verb "* && $option != '-o '* && $option == "$cur"* ]] && COMPREPLY+=("$option")
    done <<<"$_zarrfs_table"
  elif [[ $COMP_CWORD -eq 1 && -n $cur ]]; then
    mapfile -t COMPREPLY < <(compgen -W 'ls cat check index' -- "$cur"; compgen -f -- "$cur")
    compopt -o filenames
  elif [[ $COMP_CWORD -eq 1 ]]; then
    mapfile -t COMPREPLY < <(compgen -W 'ls cat check index'; compgen -f)
    compopt -o filenames
  elif [[ $verb =~ ^(ls|cat|check)$ ]]; then
    _zarrfs_path "$verb" "${cur//\\/}" "${line%"$cur"}"
  fi
}

complete -o bashdefault -o default -F _zarrfs zarrfs
