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

from memcli.cli.command_help import command_tree, manual
from memcli.cli.commands.config_command import allowed, shown_default
from memcli.cli.program import topics
from memcli.cli.shell_scripts import completion_scripts
from memcli.config.settings import KEYS
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
    """Draw a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines).replace("|  |", "| |")


def settings_table() -> str:
    """Describe every setting."""
    rows = [
        (f"`{k.name}`", f"`{shown_default(k)}`", f"{k.help} Values: {allowed(k)}.") for k in KEYS
    ]
    return _table(("Setting", "Default", "Meaning"), rows)


def exit_code_table() -> str:
    """Describe every exit code."""
    rows = [(str(int(code)), EXIT_MEANINGS[code.name]) for code in ExitCode]
    return _table(("Code", "Meaning"), rows)


def stages_table() -> str:
    """Return the table of the stages of a search."""
    from memcli.search.stages import TABLE

    return _table(("Stage", "What it does"), [(f"`{row.name}`", row.does) for row in TABLE])


def agents_table() -> str:
    """List the files that `memcli agents install` edits."""
    from memcli.agents.table import AGENTS, PARTS, SCOPES

    rows = []
    for agent in AGENTS:
        for part in PARTS:
            places = [agent.place(part, scope) for scope in SCOPES]
            if any(places):
                files = [f"`{place.shown}`" if place else "-" for place in places]
                rows.append((agent.name, part, *files))
    return _table(("Agent", "Part", "With --scope user", "With --scope project"), rows)


def agent_memory_table() -> str:
    """Return the table of the folders in which other programs keep notes."""
    from memcli.workspace.agent_memories import AGENT_MEMORIES

    rows = [
        (f"`{memory.name}`", place)
        for memory in AGENT_MEMORIES
        for place in [f"`{spot.where}`" for spot in memory.places] or ["`path` of a `[[source]]`"]
    ]
    return _table(("Name", "Folder"), rows)


def skill_file() -> str:
    """Show the skill file."""
    from memcli.agents.texts import skill

    return f"```markdown\n{skill('memcli', '')}```\n"


def codes_table() -> str:
    """List the codes of lint, each with a link to its page."""
    from memcli.lint.findings import CODES

    rows = [(f"[{code}](codes/{code}.md)", about) for code, about in CODES.items()]
    return _table(("Code", "Finding"), rows)


TABLES = {
    "settings": settings_table,
    "exit codes": exit_code_table,
    "stages": stages_table,
    "agents": agents_table,
    "agent memory": agent_memory_table,
    "skill": skill_file,
    "codes": codes_table,
}


def filled(text: str) -> str:
    """Put each table between its marks, `<!-- NAME -->` and `<!-- end -->`."""
    for name, make in TABLES.items():
        begin = f"<!-- {name} -->\n"
        if begin in text:
            head, _, rest = text.partition(begin)
            _, _, tail = rest.partition("<!-- end -->")
            text = f"{head}{begin}\n{make()}\n<!-- end -->{tail}"
    return text


MANUAL = "memcli.1"
FILE_NAMES = {"bash": "memcli.bash", "zsh": "_memcli", "fish": "memcli.fish"}


def short_manual() -> str:
    """Write the manual page that is installed: all commands, without the help topics."""
    return manual(
        command_tree(),
        [("help topics", "memcli help TOPIC shows one of these:\n\n" + "\n".join(topics()))],
    )


def _main() -> None:
    for path in sys.argv[1:]:
        _generate(path)


def _generate(path: str) -> None:
    if os.path.isdir(path):
        for shell, script in completion_scripts(command_tree()).items():
            with open(os.path.join(path, FILE_NAMES[shell]), "w", encoding="utf-8") as file:
                file.write(script)
        with open(os.path.join(path, MANUAL), "w", encoding="utf-8") as file:
            file.write(short_manual())
        return
    if path.endswith(".svg"):
        made = picture()
    else:
        with open(path, encoding="utf-8") as file:
            made = filled(file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write(made)


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
    _main()
