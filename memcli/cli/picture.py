"""Draw what a terminal shows of a command, as an SVG that needs nothing from anywhere."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex

COLUMNS = 92
FOLDER = "fixtures/workspaces/engineer"
# What the picture at the head of the README shows.
LINES = ('search "log retention" -n 1 --superseded', 'search "when may we deploy" -n 1')
NOW = "2026-02-20"  # so that ages stay as they are
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
            console.print(Text.from_ansi(_shown(line)))
    # The fonts that Rich names would be fetched from a server.
    form = _FONTS.sub("", CONSOLE_SVG_FORMAT)
    svg = console.export_svg(title="memcli", code_format=form, unique_id="memcli")
    return "".join(f"{each.rstrip()}\n" for each in _LEADING.sub(_set_in, svg).splitlines())


def _set_in(found: re.Match[str]) -> str:
    """Move a text by the spaces that it begins with, which some programs leave out."""
    wide = CELL * found[5].count(";")
    x, length = float(found[1]) + wide, float(found[3]) - wide
    return f'x="{x:g}"{found[2]} textLength="{length:g}"{found[4]}>'


def _shown(line: str) -> str:
    """Run a command, and give what it writes to a terminal."""
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
