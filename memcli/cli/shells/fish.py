"""The completion script of fish."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.cli.command_tree import Command, kind_of, words_of
from memcli.cli.options import DOCUMENTS, FILES, SOURCES, WORKSPACES, CommandArgument, Option
from memcli.cli.shells import HEAD, groups_of, quoted

_SCRIPT = r"""
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


def script(commands: Sequence[Command], topics: Sequence[str]) -> str:
    """Write the script for fish 3 or newer."""
    lines = [HEAD.format(shell="fish"), _SCRIPT.rstrip("\n")]
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


def _fish_value(row: CommandArgument | Option, topics: Sequence[str]) -> str:
    words = words_of(row, topics)
    if words:
        return f" -x -a '{' '.join(words)}'"
    return {
        FILES: " -r -F",
        DOCUMENTS: " -x -a '(__memcli_ask documents)'",
        SOURCES: " -x -a '(__memcli_ask sources)'",
        WORKSPACES: " -x -a '(__fish_complete_directories) (__memcli_ask workspaces)'",
    }.get(kind_of(row), " -x")
