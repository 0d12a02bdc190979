"""Generate what is derived from code: the list of settings and the README's tables.

`python -m memcli.cli.generate README.md` rewrites the tables of that file in place, and
`python -m memcli.cli.generate completions/` the completion scripts of that folder.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import textwrap

from memcli.config.settings import KEYS, Key

EXIT_MEANINGS = {
    "OK": "done, also when nothing matched",
    "NEGATIVE": "the negative answer that was asked for: `search -e` found nothing, "
    "`status --check` is not in step, `get --hash` no longer matches, a gate of `bench` is not "
    "passed, `compact --verify` found what does not hold, `compact --undo` left a summary that was "
    "edited or cannot be read",
    "USAGE": "the command line or the configuration cannot be used, the output cannot be written, "
    "the system refuses, or the budget of a context is too small for what has to be in it",
    "NOT_FOUND": "no such workspace, document, heading or record",
    "NO_INDEX": "the index is missing, or cannot be opened or written, where it is needed",
    "BUSY": "another process is writing the index, or watches it already (`index --watch`)",
    "NO_LEG": "vectors were required (`--require-dense`) and could not take part",
    "BUG": "a bug in memcli; `--debug` shows where",
    "INTERRUPTED": "interrupted (Ctrl-C); what was done is kept",
}


def shown_default(key: Key) -> str:
    """Write a default as TOML has it, such as true or 30.0."""
    return json.dumps(key.default)


def allowed(key: Key) -> str:
    """Name the values a setting takes: "1 to 100"."""
    if key.choices:
        return ", ".join(key.choices)
    if key.low is None:
        return {bool: "true, false", list: "list of texts"}.get(key.type, "text")
    return f"{key.low:g} or more" if key.high is None else f"{key.low:g} to {key.high:g}"


def settings_list() -> str:
    """Describe every setting for the help topic."""
    entries = []
    for key in KEYS:
        about = f"{key.help} {allowed(key)}; default {shown_default(key)}."
        body = textwrap.fill(
            about, 78, initial_indent="      ", subsequent_indent="      ",
            break_on_hyphens=False,
        )  # fmt: skip
        entries.append(f"  {key.name}  {key.variable}\n{body}\n")
    return "".join(entries)


def settings_table() -> str:
    """Describe every setting as a Markdown table."""
    rows = [f"| `{k.name}` | `{shown_default(k)}` | {allowed(k)} | {k.help} |" for k in KEYS]
    head = ["| setting | default | values | meaning |", "|---|---|---|---|"]
    return "\n".join([*head, *rows]) + "\n"


def exit_code_table() -> str:
    """Describe every exit code as a Markdown table."""
    from memcli.errors import ExitCode

    rows = [f"| {int(code)} | {EXIT_MEANINGS[code.name]} |" for code in ExitCode]
    return "\n".join(["| code | meaning |", "|---|---|", *rows]) + "\n"


TABLES = {"settings": settings_table, "exit codes": exit_code_table}


def filled(text: str) -> str:
    """Put each table between its marks `<!-- NAME -->` and `<!-- end -->`."""
    for name, make in TABLES.items():
        begin = f"<!-- {name} -->\n"
        if begin in text:
            head, _, rest = text.partition(begin)
            _, _, tail = rest.partition("<!-- end -->")
            text = f"{head}{begin}{make()}<!-- end -->{tail}"
    return text


def completion_scripts() -> dict[str, str]:
    """Write the completion script of every shell."""
    from memcli.cli.command_tree import command_tree
    from memcli.cli.commands.help_command import SHELLS, topics
    from memcli.cli.main import COMMANDS

    words = sorted((*topics(), *COMMANDS))
    writers = {shell: importlib.import_module(f"memcli.cli.shells.{shell}") for shell in SHELLS}
    return {shell: writer.script(command_tree(), words) for shell, writer in writers.items()}


FILE_NAMES = {"bash": "memcli.bash", "zsh": "_memcli", "fish": "memcli.fish"}


def _main() -> None:
    path = sys.argv[1]
    if os.path.isdir(path):
        for shell, script in completion_scripts().items():
            with open(os.path.join(path, FILE_NAMES[shell]), "w", encoding="utf-8") as file:
                file.write(script)
        return
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(filled(text))


if __name__ == "__main__":
    _main()
