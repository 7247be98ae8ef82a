# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# bash completion for zarrfs(1)

# VERBS|OPTION|VALUES. tests/unit/check_docs.sh holds this table to `zarrfs --help`.
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
mount index|-o index_dir=|
mount|-o uid=|
mount|-o gid=|
mount|-o umask=|022 027 077
mount|-o allow_other|
mount|-o allow_root|
mount|-o default_permissions|
mount|-o fsname=|
mount|-o log=|
mount|-o noexec|
mount|-o sandbox=|on off
mount index|-o user=|
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
      for reply in $values; do
        [[ $reply == "${last#"$option"}"* ]] && COMPREPLY+=("$head$option$reply")
      done
    elif [[ $option == "$last"* ]]; then
      COMPREPLY+=("$head$option")
    fi
  done <<<"$_zarrfs_table"
  COMPREPLY=("${COMPREPLY[@]#"${list%"${list##*=}"}"}")
  compopt -o nospace
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
  fi
}

complete -o bashdefault -o default -F _zarrfs zarrfs
