# SPDX-License-Identifier: MIT
# fish completion for zarrfs(1)

# VERBS|OPTION|VALUES|text. tests/unit/check_docs.sh holds this table to `zarrfs --help`.
set -g __zarrfs_table \
    'mount|-f||stay in the foreground, log to stderr' \
    'mount|-d||as -f, and log every request' \
    'mount ls cat check index|-o||options, with commas between' \
    'mount ls cat check index|-h||print help' \
    'mount ls cat check index|--help||print help' \
    'mount ls cat check index|-V||print the version' \
    'mount ls cat check index|--version||print the version' \
    'cat|--rows||only records A to B - 1' \
    'ls|--json||as one JSON list' \
    'mount cat check index|-o missing=|fill error|a chunk that is not stored' \
    'mount ls cat index|-o nonfinite=|null string|NaN and infinities in JSON' \
    'mount ls cat check index|-o follow_symlinks||follow links that leave the store' \
    'mount cat index|-o text=|plain fixed|field files' \
    'mount|-o view=|text csv raw npy|what is at the root of the mount' \
    'mount|-o views=|csv raw npy zarr none|the other forms that are there' \
    'mount cat check index|-o cache=|256M 512M 1G 2G|memory for decoded chunks' \
    'mount|-o size_wait=||how long to wait for a size' \
    'mount index|-o index=|on off|keep sizes on disk' \
    'mount index|-o index_dir=||where' \
    'mount|-o uid=||owner of all files' \
    'mount|-o gid=||group of all files' \
    'mount|-o umask=|022 027 077|permissions to take away' \
    'mount|-o allow_other||let other users in' \
    'mount|-o allow_root||let root in' \
    'mount|-o default_permissions||let the kernel enforce permissions' \
    'mount|-o fsname=||what df and mount call it' \
    'mount|-o log=||append the log to a file' \
    'mount|-o noexec||refuse to run files as programs' \
    'mount|-o sandbox=|on off|what the daemon may do' \
    'mount index|-o user=||as whom the daemon goes on'

# The verb of the command line; `mount` if there is none.
function __zarrfs_verb
    set -l words (commandline -opc)
    if contains -- "$words[2]" ls cat check index
        echo $words[2]
    else
        echo mount
    end
end

function __zarrfs_is
    test (__zarrfs_verb) = $argv[1]
end

function __zarrfs_first
    test (count (commandline -opc)) -eq 1
end

# What may stand behind -o, the list so far in front of it.
function __zarrfs_list
    set -l verb (__zarrfs_verb)
    set -l head (commandline -ct | string replace -r '[^,]*$' '' | string replace -r '^-o' '')
    for row in $__zarrfs_table
        set -l part (string split '|' -- $row)
        contains -- $verb (string split ' ' -- $part[1]); or continue
        string match -q -- '-o *' $part[2]; or continue
        set -l option (string replace -- '-o ' '' $part[2])
        if test -n "$part[3]"
            for value in (string split ' ' -- $part[3])
                printf '%s\t%s\n' $head$option$value $part[4]
            end
        else
            printf '%s\t%s\n' $head$option $part[4]
        end
    end
end

for __zarrfs_row in $__zarrfs_table
    set -l part (string split '|' -- $__zarrfs_row)
    for verb in (string split ' ' -- $part[1])
        switch $part[2]
            case '-o *'
            case -o
                complete -c zarrfs -n "__zarrfs_is $verb" -s o -x -a '(__zarrfs_list)' -d $part[4]
            case --rows
                complete -c zarrfs -n "__zarrfs_is $verb" -l rows -x -d $part[4]
            case '--*'
                complete -c zarrfs -n "__zarrfs_is $verb" -l (string sub -s 3 -- $part[2]) -d $part[4]
            case '-*'
                complete -c zarrfs -n "__zarrfs_is $verb" -s (string sub -s 2 -- $part[2]) -d $part[4]
        end
    end
end
set -e __zarrfs_row
complete -c zarrfs -n __zarrfs_first -a ls -d 'list groups, arrays and fields'
complete -c zarrfs -n __zarrfs_first -a cat -d 'write a file of the mount to stdout'
complete -c zarrfs -n __zarrfs_first -a check -d 'decode all, name damaged chunks'
complete -c zarrfs -n __zarrfs_first -a index -d 'find out and keep all sizes'
