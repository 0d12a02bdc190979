"""Generate the files that are made from code.

`python -m memcli.cli.generate memcli/cli/help/*.md` fills the tables of these help pages,
`python -m memcli.cli.generate completions/` the completion scripts and the manual page there, and
`python -m memcli.cli.generate fixtures/terminal.svg` the picture of a terminal.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
from collections.abc import Iterable, Sequence

from memcli.cli.command_help import manual
from memcli.cli.commands.config_command import allowed, in_toml
from memcli.cli.program import topics
from memcli.cli.shell_scripts import completion_scripts
from memcli.config.keys import KEYS
from memcli.errors import ExitCode

EXIT_MEANINGS = {
    "OK": "Success, also if nothing matched or the reader of a pipe closed it.",
    "NEGATIVE": "The answer is no; the next table lists the cases.",
    "USAGE": "The command line or the configuration is wrong, the output cannot be written, the "
    "system refuses (permissions, open files, memory), or a context does not fit its budget.",
    "NOT_FOUND": "There is no such workspace, document, heading or entry.",
    "NO_INDEX": "The index is missing, damaged or not writable, and the command needs it.",
    "BUSY": "Another process is writing the index or an agent's file, or another "
    "`index --watch` runs.",
    "NO_RETRIEVER": "Semantic search was required, and it could not run.",
    "BUG": "A bug in memcli. Run the command again with `--debug` and report what it prints.",
    "INTERRUPTED": "You pressed Ctrl-C. Finished work is kept.",
}


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines).replace("|  |", "| |")


def tables() -> dict[str, str]:
    """Write the tables of the help pages and the skill file, by the names of their marks."""
    from memcli.agents.table import AGENTS, PARTS, SCOPES
    from memcli.agents.texts import skill
    from memcli.lint.findings import CODES
    from memcli.search.stages import TABLE
    from memcli.workspace.agent_memories import AGENT_MEMORIES

    settings = [
        (f"`{k.name}`", f"`{in_toml(k.default)}`", f"{k.help} Values: {allowed(k)}.") for k in KEYS
    ]
    places = [
        (agent.name, part, *(f"`{place.shown}`" if place else "-" for place in each))
        for agent in AGENTS
        for part in PARTS
        if any(each := [agent.place(part, scope) for scope in SCOPES])
    ]
    memories = [
        (f"`{memory.name}`", place)
        for memory in AGENT_MEMORIES
        for place in [f"`{spot.where}`" for spot in memory.places] or ["`path` of a `[[source]]`"]
    ]
    codes = [(f"[{code}](codes/{code}.md)", about) for code, about in CODES.items()]
    return {
        "settings": _table(("Setting", "Default", "Meaning"), settings),
        "exit codes": _table(
            ("Code", "Meaning"), [(str(int(code)), EXIT_MEANINGS[code.name]) for code in ExitCode]
        ),
        "stages": _table(("Stage", "What it does"), [(f"`{row.name}`", row.does) for row in TABLE]),
        "agents": _table(("Agent", "Part", "With --scope user", "With --scope project"), places),
        "agent memory": _table(("Name", "Folder"), memories),
        "skill": f"```markdown\n{skill('memcli', '')}```\n",
        "codes": _table(("Code", "Finding"), codes),
    }


def filled(text: str) -> str:
    """Put each table between its marks, `<!-- NAME -->` and `<!-- end -->`."""
    for name, table in tables().items():
        begin = f"<!-- {name} -->\n"
        if begin in text:
            head, _, rest = text.partition(begin)
            _, _, tail = rest.partition("<!-- end -->")
            text = f"{head}{begin}\n{table}\n<!-- end -->{tail}"
    return text


MANUAL = "memcli.1"
FILE_NAMES = {"bash": "memcli.bash", "zsh": "_memcli", "fish": "memcli.fish"}


def short_manual() -> str:
    """Write the manual page that is installed: all commands, without the help topics."""
    names = "memcli help TOPIC shows one of these:\n\n" + "\n".join(topics())
    return manual([("help topics", names)])


def _generate(path: str) -> None:
    if os.path.isdir(path):
        scripts = completion_scripts().items()
        made = {os.path.join(path, FILE_NAMES[shell]): text for shell, text in scripts}
        made[os.path.join(path, MANUAL)] = short_manual()
    elif path.endswith(".svg"):
        made = {path: picture()}
    else:
        with open(path, encoding="utf-8") as file:
            made = {path: filled(file.read())}
    for name, text in made.items():
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)


COLUMNS = 92
FOLDER = "fixtures/workspaces/engineer"
# The commands in the picture of the README.
LINES = ('search "log retention" -n 1 --superseded', 'search "when may we deploy" -n 1')
NOW = "2026-02-20"  # a fixed day, so that ages never change
CELL = 12.2  # the width of a column, in Rich's drawing
_LEADING = re.compile(r'x="([\d.]+)"( y="[\d.]+") textLength="([\d.]+)"([^>]*)>((?:&#160;)+)')
_FONTS = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def picture() -> str:
    """Run LINES in FOLDER as on a terminal of COLUMNS columns, and draw it."""
    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    with contextlib.chdir(FOLDER):
        for line in LINES:
            console.print(Text(f"$ memcli {line}", "bold"))
            console.print(Text.from_ansi(_shown(line).rstrip("\n")))
            console.print()
    # A browser would load the fonts that Rich names from a server.
    form = _FONTS.sub("", CONSOLE_SVG_FORMAT)
    svg = console.export_svg(title="memcli", code_format=form, unique_id="memcli")
    return "".join(f"{each.rstrip()}\n" for each in _LEADING.sub(_set_in, svg).splitlines())


def _set_in(match: re.Match[str]) -> str:
    """Move a text to the right by its leading spaces, which some programs leave out."""
    wide = CELL * match[5].count(";")
    x, length = float(match[1]) + wide, float(match[3]) - wide
    return f'x="{x:g}"{match[2]} textLength="{length:g}"{match[4]}>'


def _shown(line: str) -> str:
    """Run a command, and return what it prints to a terminal."""
    from memcli.cli.main import run

    out, before = _Screen(), dict(os.environ)
    os.environ.update(COLUMNS=str(COLUMNS), LINES="60", TERM="xterm-256color", NO_COLOR="")
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            run([*shlex.split(line), "--now", NOW])
    finally:
        os.environ.clear()
        os.environ.update(before)
    return out.getvalue()


if __name__ == "__main__":
    for path in sys.argv[1:]:
        _generate(path)
