"""The completion script of bash."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memcli.cli.command_tree import Command, kind_of, words_of
from memcli.cli.shells import HEAD, groups_of

_SCRIPT = r"""
_memcli_ask() {  # documents, sources, workspaces; a name is read as it is, without expansion
    local word
    while IFS= read -r word; do
        COMPREPLY+=("$word")
    done < <(_MEMCLI_COMPLETE=$1 "${COMP_WORDS[0]}" "$folder" "$cur" 2>/dev/null)
    compopt -o filenames 2>/dev/null
}

_memcli_values() {
    case $1 in
        workspaces)
            if [[ $cur == @* ]]; then _memcli_ask "$1"; return; fi
            compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
        files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
        documents|sources) _memcli_ask "$1" ;;
    esac
}

_memcli() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= folder= at
    COMPREPLY=()
    if [[ $prev == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
    if [[ $cur == "=" ]]; then cur=; fi
    cur=${cur#[\"\']}
    for ((at = 1; at < COMP_CWORD; at++)); do
        case ${COMP_WORDS[at]} in
            -w|--workspace)
                folder=${COMP_WORDS[at+1]}
                if [[ $folder == "=" ]]; then folder=${COMP_WORDS[at+2]}; fi ;;
        esac
    done
    command=${COMP_WORDS[1]}
    if ((COMP_CWORD > 1)); then
        case $command in
%(groups)s
        esac
    else
        command=
    fi
    case $command:$prev in
%(values)s
    esac
    if [[ $cur == -* ]]; then
        case $command in
%(options)s
        esac
        return
    fi
    case $command in
%(arguments)s
    esac
}

complete -F _memcli memcli
"""


def script(commands: Sequence[Command], topics: Sequence[str]) -> str:
    """Write the script for bash 4 or newer."""
    groups = groups_of(commands)
    indent = " " * 8

    def list_of(words: Iterable[str]) -> str:
        return f"""mapfile -t COMPREPLY < <(compgen -W "{" ".join(words)}" -- "$cur")"""

    grouped = [
        f'{indent}    {name}) if ((COMP_CWORD > 2)); then command+=" ${{COMP_WORDS[2]}}"; fi ;;'
        for name in groups
        if name
    ]
    values, options, arguments = [], [], []
    for command in commands:
        for option in command.options:
            if option.is_switch:
                continue
            pattern = "|".join(f'"{command.name}:{name}"' for name in option.names.split())
            words = words_of(option, topics)
            does = list_of(words) if words else f"_memcli_values '{kind_of(option)}'"
            values.append(f"{indent}{pattern}) {does}; return ;;")
        names = [name for option in command.options for name in option.names.split()]
        options.append(f'{indent}"{command.name}") {list_of(names)} ;;')
        for argument in command.arguments[:1]:
            words, kind = words_of(argument, topics), kind_of(argument)
            if words or kind:
                does = list_of(words) if words else f"_memcli_values '{kind}'"
                arguments.append(f'{indent}"{command.name}") {does} ;;')
    top = [name for name, _ in groups[""]]
    options.append(f'{indent}"") {list_of(("-h", "--help", "--version"))} ;;')
    arguments.append(f'{indent}"") {list_of(top)} ;;')
    for name, children in groups.items():
        if name:
            arguments.append(f'{indent}"{name}") {list_of(child for child, _ in children)} ;;')
    body = _SCRIPT % {
        "groups": "\n".join(grouped),
        "values": "\n".join(values),
        "options": "\n".join(options),
        "arguments": "\n".join(arguments),
    }
    return HEAD.format(shell="bash") + "\n" + body
