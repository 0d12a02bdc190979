"""Generate the files that are derived from code.

`python -m memcli.cli.generate README.md` rewrites the tables of that file in place,
`python -m memcli.cli.generate completions/` the completion scripts of that folder, and
`python -m memcli.cli.generate fixtures/terminal.svg` the picture of a terminal.
"""

from __future__ import annotations

import os
import sys

from memcli.cli.command_tree import command_tree
from memcli.cli.completion_scripts import completion_scripts
from memcli.cli.settings_text import allowed, shown_default
from memcli.config.settings import KEYS

EXIT_MEANINGS = {
    "OK": "done, also when nothing matched",
    "NEGATIVE": "the negative answer that was asked for: `search -e` found nothing, "
    "`status --check` is not in step, `get --hash` no longer matches, a gate of `bench` is not "
    "passed, `compact --verify` found what does not hold, `compact --undo` left a summary that was "
    "edited or cannot be read, `remember` did not keep the note or take one back, "
    "`lint --fail-on` found something, "
    "`agents uninstall` left what was edited",
    "USAGE": "the command line or the configuration cannot be used, the output cannot be written, "
    "the system refuses, or the budget of a context is too small for what has to be in it",
    "NOT_FOUND": "no such workspace, document, heading or record",
    "NO_INDEX": "the index is missing, or cannot be opened or written, where it is needed",
    "BUSY": "another process is writing the index or the file of an agent, or watches already "
    "(`index --watch`)",
    "NO_LEG": "vectors were required (`--require-dense`) and could not take part",
    "BUG": "a bug in memcli; `--debug` shows where",
    "INTERRUPTED": "interrupted (Ctrl-C); what was done is kept",
}


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


def stages_table() -> str:
    """Draw the way of a search, and say what each of its stages does."""
    from memcli.search.profiles import PROFILES
    from memcli.search.stages import STAGES, TABLE, switch_of

    usual = PROFILES["default"].stages | {""}
    way = " -> ".join(stage for stage in STAGES if switch_of(stage) in usual)
    rows = [f"| `{row.name}` | {row.does} |" for row in TABLE]
    drawn = ["```text", f"query -> {way} -> answer", "```"]
    return "\n".join([*drawn, "", "| stage | what it does |", "|---|---|", *rows]) + "\n"


TABLES = {"settings": settings_table, "exit codes": exit_code_table, "stages": stages_table}


def filled(text: str) -> str:
    """Put each table between its marks `<!-- NAME -->` and `<!-- end -->`."""
    for name, make in TABLES.items():
        begin = f"<!-- {name} -->\n"
        if begin in text:
            head, _, rest = text.partition(begin)
            _, _, tail = rest.partition("<!-- end -->")
            text = f"{head}{begin}{make()}<!-- end -->{tail}"
    return text


FILE_NAMES = {"bash": "memcli.bash", "zsh": "_memcli", "fish": "memcli.fish"}


def _main() -> None:
    path = sys.argv[1]
    if os.path.isdir(path):
        for shell, script in completion_scripts(command_tree()).items():
            with open(os.path.join(path, FILE_NAMES[shell]), "w", encoding="utf-8") as file:
                file.write(script)
        return
    if path.endswith(".svg"):
        from memcli.cli.picture import picture

        made = picture()
    else:
        with open(path, encoding="utf-8") as file:
            made = filled(file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write(made)


if __name__ == "__main__":
    _main()
