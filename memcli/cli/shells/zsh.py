"""The completion function of zsh."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.cli.command_tree import (
    DOCUMENTS,
    FILES,
    SOURCES,
    WORKSPACES,
    Command,
    Option,
    Takes,
)
from memcli.cli.shells.common import HEAD, groups_of, quoted, words_of

_SCRIPT = r"""
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


def script(commands: Sequence[Command], topics: Sequence[str]) -> str:
    """Write the function for zsh; the file is called `_memcli`."""
    groups = groups_of(commands)
    lines = ["#compdef memcli", HEAD.format(shell="zsh"), _SCRIPT.rstrip("\n"), ""]
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
            specs += _zsh_arguments(command, topics)
            lines.append(" \\\n".join(f"          {spec}" for spec in specs) + " ;;")
        lines += ["      esac ;;", "  esac", "}", ""]
    return "\n".join([*lines, _ENTRY])


def _zsh_option(option: Option, topics: Sequence[str]) -> str:
    value = ""
    if option.takes is not None:
        may_lack = ":" if option.takes.metavar.startswith("[") else ""
        value = f":{may_lack}{_zsh_name(option.takes)}:{_zsh_action(option.takes, topics)}"
    about = quoted(option.about.rstrip(".")).replace("[", r"\[").replace("]", r"\]")
    if len(option.names) == 1:
        return f"'*{option.names[0]}[{about}]{value}'" if value else f"'{option.names[0]}[{about}]'"
    joined = " ".join(option.names)
    if option.takes is not None and option.takes.kind == WORKSPACES:  # there may be several
        return f"'*'{{{','.join(option.names)}}}'[{about}]{value}'"
    return f"'({joined})'{{{','.join(option.names)}}}'[{about}]{value}'"


def _zsh_arguments(command: Command, topics: Sequence[str]) -> list[str]:
    return [
        f"'*:{_zsh_name(takes)}:{_zsh_action(takes, topics)}'" for takes in command.arguments[:1]
    ]


def _zsh_name(takes: Takes) -> str:
    return "".join(c for c in takes.metavar.lower() if c.isalnum()) or "value"


def _zsh_action(takes: Takes, topics: Sequence[str]) -> str:
    words = words_of(takes, topics)
    if words:
        return f"({' '.join(words)})"
    return {
        FILES: "_files",
        DOCUMENTS: "_memcli_documents",
        SOURCES: "_memcli_sources",
        WORKSPACES: "_memcli_workspaces",
    }.get(takes.kind, " ")
