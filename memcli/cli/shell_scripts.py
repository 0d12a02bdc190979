"""Completion scripts of bash, zsh and fish, written from the commands and options.

The script contains all names and fixed words, so TAB starts no process for them; for documents and
sources it runs `completion_command`. It never expands a file name, which may contain `$(…)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memcli.cli import options as rows
from memcli.cli.command_help import Command, command_tree, kind_of, words_of
from memcli.cli.options import CommandArgument, Option
from memcli.cli.program import COMMANDS, topics

HEAD = "# Completion of memcli, written by: memcli completion {shell}"


def groups_of(commands: Iterable[Command]) -> dict[str, list[tuple[str, str]]]:
    """Return the words after "" and after each group of commands, with a sentence each."""
    groups: dict[str, list[tuple[str, str]]] = {"": []}
    for command in commands:
        first, _, second = command.name.partition(" ")
        if not second:
            groups[""].append((first, command.sentence))
        elif first not in groups:
            groups[""].append((first, command.group))
            groups[first] = [(second, command.sentence)]
        else:
            groups[first].append((second, command.sentence))
    return groups


def quoted(text: str) -> str:
    """Make text fit between single quotes, without the characters zsh gives a meaning."""
    return text.replace("'", "’").replace("`", "").replace(":", ";")


def completion_scripts() -> dict[str, str]:
    """Write the script of every shell, by its name."""
    words, commands = sorted((*topics(), *COMMANDS)), command_tree()
    writers = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}
    return {shell: writers[shell](commands, words) for shell in rows.SHELLS}


_BASH_SCRIPT = r"""
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


def bash_script(commands: Sequence[Command], topics: Sequence[str]) -> str:
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
    body = _BASH_SCRIPT % {
        "groups": "\n".join(grouped),
        "values": "\n".join(values),
        "options": "\n".join(options),
        "arguments": "\n".join(arguments),
    }
    return HEAD.format(shell="bash") + "\n" + body


_FISH_SCRIPT = r"""
function __memcli_is -a group name  # is this the command that is typed?
    set -l words (commandline -opc)
    set -e words[1]
    test (count $words) -ge 1; or begin; test -z "$group"; return; end
    test "$words[1]" = "$group"; or return 1
    test -z "$name"; and return 0
    test "$name" = -; and begin; test (count $words) -eq 1; return; end
    test (count $words) -ge 2; and test "$words[2]" = "$name"
end

function __memcli_ask -a what  # documents, sources, workspaces
    set -l words (commandline -opc)
    set -l folder ""
    for at in (seq (count $words))
        switch $words[$at]
            case -w --workspace
                set folder $words[(math $at + 1)]
            case '--workspace=*'
                set folder (string replace -- --workspace= '' $words[$at])
        end
    end
    _MEMCLI_COMPLETE=$what memcli "$folder" (commandline -ct) 2>/dev/null
end

complete -c memcli -f
complete -c memcli -n '__memcli_is ""' -s h -l help -d 'Show help'
complete -c memcli -n '__memcli_is ""' -l version -d 'Show the version'
"""


def fish_script(commands: Sequence[Command], topics: Sequence[str]) -> str:
    """Write the script for fish 3 or newer."""
    lines = [HEAD.format(shell="fish"), _FISH_SCRIPT.rstrip("\n")]
    for group, children in groups_of(commands).items():
        test = f"__memcli_is {group} -" if group else '__memcli_is ""'
        for name, about in children:
            lines.append(
                f"complete -c memcli -n '{test}' -a {name} -d '{quoted(about.rstrip('.'))}'"
            )
    for command in commands:
        base = f"complete -c memcli -n '__memcli_is {command.name}'"
        for option in command.options:
            flags = "".join(
                f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}"
                for name in option.names.split()
            )
            value = "" if option.is_switch else _fish_value(option, topics)
            lines.append(f"{base}{flags}{value} -d '{quoted(option.help.rstrip('.'))}'")
        for argument in command.arguments[:1]:
            if kind_of(argument):
                lines.append(f"{base}{_fish_value(argument, topics).replace(' -x', '')}")
    return "\n".join([*lines, ""])


# What completes a kind of thing in fish and in zsh.
_KINDS = {
    rows.FILES: (" -r -F", "_files"),
    rows.DOCUMENTS: (" -x -a '(__memcli_ask documents)'", "_memcli_documents"),
    rows.SOURCES: (" -x -a '(__memcli_ask sources)'", "_memcli_sources"),
    rows.WORKSPACES: (
        " -x -a '(__fish_complete_directories) (__memcli_ask workspaces)'", "_memcli_workspaces",
    ),
}  # fmt: skip


def _fish_value(row: CommandArgument | Option, topics: Sequence[str]) -> str:
    words = words_of(row, topics)
    return f" -x -a '{' '.join(words)}'" if words else _KINDS.get(kind_of(row), (" -x",))[0]


_ZSH_SCRIPT = r"""
_memcli_ask() {  # documents, sources, workspaces
  local -a found
  local folder=${opt_args[-w]:-${opt_args[--workspace]}}
  found=(${(f)"$(_MEMCLI_COMPLETE=$1 memcli "$folder" "$PREFIX" 2>/dev/null)"})
  compadd -a found
}
_memcli_documents() { _memcli_ask documents }
_memcli_sources() { _memcli_ask sources }
_memcli_workspaces() { if [[ $PREFIX == @* ]]; then _memcli_ask workspaces; else _files -/; fi }
"""

# A file of $fpath is run by its first completion, which has to answer at once; else it is sourced.
_ENTRY = """\
if [[ $funcstack[1] == _memcli ]]; then
  _memcli "$@"
else
  compdef _memcli memcli
fi
"""


def zsh_script(commands: Sequence[Command], topics: Sequence[str]) -> str:
    """Write the function for zsh; the file is called `_memcli`."""
    groups = groups_of(commands)
    lines = ["#compdef memcli", HEAD.format(shell="zsh"), _ZSH_SCRIPT.rstrip("\n"), ""]
    for group, children in groups.items():
        function = f"_memcli_{group}" if group else "_memcli"
        lines += [
            f"{function}() {{",
            '  local curcontext="$curcontext" state line',
            "  local -A opt_args",
            "  local -a commands",
            "  _arguments -C \\",
            "    '(-h --help)'{-h,--help}'[Show help]' \\",
            *(["    '--version[Show the version]' \\"] if not group else []),
            "    '1:command:->command' '*::argument:->argument'",
            "  case $state in",
            "    command)",
            "      commands=(",
            *(f"        '{name}:{quoted(about.rstrip('.'))}'" for name, about in children),
            "      )",
            "      _describe -t commands command commands ;;",
            "    argument)",
            "      case $line[1] in",
        ]
        for name, _ in children:
            if name in groups:
                lines.append(f"        {name}) _memcli_{name} ;;")
                continue
            full = f"{group} {name}".strip()
            command = next(each for each in commands if each.name == full)
            lines.append(f"        {name}) _arguments -s \\")
            specs = [_zsh_option(option, topics) for option in command.options]
            specs += [f"'*:{_zsh_name(each)}:{_zsh_action(each, topics)}'"
                      for each in command.arguments[:1]]  # fmt: skip
            lines.append(" \\\n".join(f"          {spec}" for spec in specs) + " ;;")
        lines += ["      esac ;;", "  esac", "}", ""]
    return "\n".join([*lines, _ENTRY])


def _zsh_option(option: Option, topics: Sequence[str]) -> str:
    value = ""
    if not option.is_switch:
        may_lack = ":" if option.metavar.startswith("[") else ""
        value = f":{may_lack}{_zsh_name(option)}:{_zsh_action(option, topics)}"
    about = quoted(option.help.rstrip(".")).replace("[", r"\[").replace("]", r"\]")
    if " " not in option.names:
        return f"'*{option.names}[{about}]{value}'" if value else f"'{option.names}[{about}]'"
    names = option.names.replace(" ", ",")
    if kind_of(option) == rows.WORKSPACES:  # there may be several
        return f"'*'{{{names}}}'[{about}]{value}'"
    return f"'({option.names})'{{{names}}}'[{about}]{value}'"


def _zsh_name(row: CommandArgument | Option) -> str:
    return "".join(c for c in row.metavar.lower() if c.isalnum()) or "value"


def _zsh_action(row: CommandArgument | Option, topics: Sequence[str]) -> str:
    words = words_of(row, topics)
    return f"({' '.join(words)})" if words else _KINDS.get(kind_of(row), (" ",))[-1]


_BASH_KEYS = r"""
__memcli_insert() {
    local file
    file=$(memcli search -i -f '{file}') || return
    printf -v file '%q' "$file"
    READLINE_LINE=${READLINE_LINE:0:READLINE_POINT}$file${READLINE_LINE:READLINE_POINT}
    READLINE_POINT=$((READLINE_POINT + ${#file}))
}

bind -x '"\C-xm": __memcli_insert'
bind -x '"\C-xo": memcli search -i'
"""

# The line editor leaves the terminal in a mode in which programs cannot read a line.
_ZSH_KEYS = r"""
__memcli_pick() {
  local modes=$(stty -g < /dev/tty)
  zle -I
  stty sane < /dev/tty
  memcli search -i "$@" < /dev/tty
  local code=$?
  stty "$modes" < /dev/tty
  return $code
}

__memcli_insert() {
  local file
  file=$(__memcli_pick -f '{file}') && LBUFFER+=${(q)file}
  zle reset-prompt
}

__memcli_open() {
  __memcli_pick
  zle reset-prompt
}

zle -N __memcli_insert
zle -N __memcli_open
bindkey '^Xm' __memcli_insert
bindkey '^Xo' __memcli_open
"""

_FISH_KEYS = r"""
function __memcli_insert
    set -l file (memcli search -i -f '{file}')
    and commandline -i -- (string escape -- $file)
    commandline -f repaint
end

function __memcli_open
    memcli search -i
    commandline -f repaint
end

bind \cxm __memcli_insert
bind \cxo __memcli_open
"""

_KEYS_HEAD = """\
# Key bindings of memcli, written by: memcli completion {shell} --keys
# Ctrl-X m puts the path of a passage into the line, Ctrl-X o opens it in the editor.
"""
WIDGETS = {
    shell: _KEYS_HEAD.format(shell=shell) + script
    for shell, script in (("bash", _BASH_KEYS), ("zsh", _ZSH_KEYS), ("fish", _FISH_KEYS))
}
