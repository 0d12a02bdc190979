"""The completion function of zsh."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.cli.command_tree import Command, kind_of, words_of
from memcli.cli.options import DOCUMENTS, FILES, SOURCES, WORKSPACES, CommandArgument, Option
from memcli.cli.shells import HEAD, groups_of, quoted

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
    if not option.is_switch:
        may_lack = ":" if option.metavar.startswith("[") else ""
        value = f":{may_lack}{_zsh_name(option)}:{_zsh_action(option, topics)}"
    about = quoted(option.help.rstrip(".")).replace("[", r"\[").replace("]", r"\]")
    if " " not in option.names:
        return f"'*{option.names}[{about}]{value}'" if value else f"'{option.names}[{about}]'"
    names = option.names.replace(" ", ",")
    if kind_of(option) == WORKSPACES:  # there may be several
        return f"'*'{{{names}}}'[{about}]{value}'"
    return f"'({option.names})'{{{names}}}'[{about}]{value}'"


def _zsh_arguments(command: Command, topics: Sequence[str]) -> list[str]:
    return [f"'*:{_zsh_name(each)}:{_zsh_action(each, topics)}'" for each in command.arguments[:1]]


def _zsh_name(row: CommandArgument | Option) -> str:
    return "".join(c for c in row.metavar.lower() if c.isalnum()) or "value"


def _zsh_action(row: CommandArgument | Option, topics: Sequence[str]) -> str:
    words = words_of(row, topics)
    if words:
        return f"({' '.join(words)})"
    return {
        FILES: "_files",
        DOCUMENTS: "_memcli_documents",
        SOURCES: "_memcli_sources",
        WORKSPACES: "_memcli_workspaces",
    }.get(kind_of(row), " ")
