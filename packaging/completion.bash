# The functions below use _ptah_words, _ptah_modes, _ptah_parameters, _ptah_prefix, _ptah_tools,
# which packaging/completion writes.

# Checkpoints at the place that a word names: directories output_* and files *.h5; where there are
# none of both, all directories on the way to them.
_ptah_checkpoints() {
    local IFS=$'\n' start=$1 i
    case $1 in '' | */) start=$1output_ ;; esac
    COMPREPLY=($(compgen -d -- "$start") $(compgen -f -X '!*.h5' -- "$1"))
    [ "${#COMPREPLY[@]}" -gt 0 ] || COMPREPLY=($(compgen -d -- "$1"))
    for i in "${!COMPREPLY[@]}"; do
        [ ! -d "${COMPREPLY[i]}" ] || COMPREPLY[i]+=/
    done
    compopt -o nospace 2>/dev/null
}

# Names of the fields of the checkpoint on the command line, or of the first one here: an unknown
# field makes inspect name them. The arguments are the words that call inspect.
_ptah_fields() {
    local word found=
    for word in "${COMP_WORDS[@]:1}" output_* *.h5; do
        case $word in
        */ | *output_* | *.h5) [ -n "$found" ] || [ ! -e "$word" ] || found=$word ;;
        esac
    done
    [ -z "$found" ] || "$@" map '?' "$found" 2>&1 | sed -n 's/.*there are: *//p'
}

# A namelist, and after it parameters.
_ptah_simulate() {
    local w
    for w in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $w in *.nml) COMPREPLY=($(compgen -W "$_ptah_parameters" -- "$1")) ;; esac
    done
    if [ "${#COMPREPLY[@]}" -gt 0 ]; then
        compopt -o nospace 2>/dev/null
    else
        COMPREPLY=($(compgen -f -X '!*.nml' -- "$1"))
    fi
}

# The mode of inspect whose name is word $1 of the line, unless it is the word to complete.
_ptah_mode() {
    local m
    [ "$COMP_CWORD" != "$1" ] || return
    for m in $_ptah_modes; do
        [ "${COMP_WORDS[$1]}" != "$m" ] || echo "$m"
    done
}

_ptah() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} first=1 mode=
    local tool=${COMP_WORDS[0]##*/}
    if [ "$tool" = ptah ]; then
        tool=${COMP_WORDS[1]} first=2
        if [ "$COMP_CWORD" = 1 ]; then
            COMPREPLY=($(compgen -W "help $_ptah_tools" -- "$word"))
            return
        fi
    fi
    tool=${tool#"$_ptah_prefix"}
    [ "$tool" != inspect ] || mode=$(_ptah_mode "$first")
    case $word in
    -*)
        COMPREPLY=($(compgen -W "$(_ptah_words "$tool${mode:+-$mode}")" -- "$word"))
        return
        ;;
    esac
    _ptah_operand
}

# The word is no option, for _ptah.
_ptah_operand() {
    case $tool:$before in
    inspect:-m | inspect:--map | inspect:--pdf | inspect:map | inspect:pdf)
        COMPREPLY=($(compgen -W "$(_ptah_fields "${COMP_WORDS[@]:0:first}")" -- "$word"))
        [ "${#COMPREPLY[@]}" -gt 0 ] || _ptah_checkpoints "$word"
        ;;
    *:-o | *:--output | *:-j | *:--json) ;;
    simulate:-r | simulate:--restart) _ptah_checkpoints "$word" ;;
    simulate:*) _ptah_simulate "$word" ;;
    genzoom:*) ;;
    *)
        _ptah_checkpoints "$word"
        if [ "$tool" = inspect ] && [ "$COMP_CWORD" = "$first" ]; then
            COMPREPLY+=($(compgen -W "$_ptah_modes" -- "$word"))
        fi
        ;;
    esac
}
