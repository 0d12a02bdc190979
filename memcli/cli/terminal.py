"""The streams of the process: whether they are terminals, their width and colour.

Data goes to stdout: unchanged into a pipe, but made safe for a terminal or with --color always.
Messages go to stderr.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from io import StringIO

from memcli.checking import TYPE_CHECKING, Any
from memcli.cli.options import Options
from memcli.errors import Reason
from memcli.render.reasons import TRY, sentence
from memcli.render.sanitize import one_line, visible, visible_line
from memcli.render.text import COLOURED, PLAIN, Style

if TYPE_CHECKING:
    from typing import TextIO

# Columns; the eye does not find the next line after a longer one.
HANG = 4  # indent of the continuation of a line of data
LEAST_WIDTH, USUAL_WIDTH, MOST_WIDTH = 20, 80, 120
# Variables of terminals that open OSC 8 links; tmux and screen lose the links.
_LINK_VARIABLES = ("WT_SESSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "DOMTERM")
_LINK_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio")
_LINK_TERMS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "foot-extra", "contour")
_FIRST_VTE = 5000  # VTE 0.50; earlier versions show the link as text


class Terminal:
    """The streams to which a command writes."""

    def __init__(
        self, out: TextIO, err: TextIO, environ: Mapping[str, str], options: Options
    ) -> None:
        """Decide on colour for stdout and stderr separately; `options` complete a hint."""
        color = options.color
        self._out, self.err = out, err
        self.quiet, self.verbose = options.quiet, options.verbose
        self._is_shown = out.isatty() or color == "always"  # here or in another program
        self.out_is_terminal, self.err_is_terminal = out.isatty(), err.isatty()
        self.style: Style = COLOURED if _colour(color, self.out_is_terminal, environ) else PLAIN
        self.err_is_coloured = _colour(color, self.err_is_terminal, environ)
        self._environ, self._named = environ, options.named

    @classmethod
    def of_process(cls, options: Options) -> Terminal:
        """Use the streams of this process, in UTF-8 wherever they lead."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(encoding="utf-8", errors="backslashreplace")
        return cls(sys.stdout, sys.stderr, os.environ, options)

    @property
    def width(self) -> int:
        """Return the width of stdout in columns, at least 20 and at most 120."""
        columns = self._size("COLUMNS")
        return max(LEAST_WIDTH, min(columns or USUAL_WIDTH, MOST_WIDTH))

    @property
    def rows(self) -> int:
        """Return the rows of stdout; 0 if unknown, as for a pipe."""
        return self._size("LINES") if self.out_is_terminal else 0

    def _size(self, variable: str) -> int:
        """Read COLUMNS or LINES, or else ask the terminal; 0 if unknown."""
        try:
            number = int(self._environ.get(variable) or 0)
        except ValueError:
            number = 0
        if number > 0:
            return number
        try:
            size = os.get_terminal_size(self._out.fileno())
        except (OSError, ValueError):  # no descriptor, or not a terminal
            return 0
        return size.columns if variable == "COLUMNS" else size.lines

    @property
    def has_links(self) -> bool:
        """Return whether stdout is a coloured terminal that opens OSC 8 links."""
        if not self.out_is_terminal or self.style is PLAIN:
            return False
        forced = self._environ.get("FORCE_HYPERLINK")
        return forced != "0" if forced else _opens_links(self._environ)

    def write_json(self, record: Mapping[str, Any]) -> None:
        """Write a record as one line of JSON."""
        from memcli.render.jsonio import dumps

        self.write(dumps(record) + "\n")

    def write(self, text: str) -> None:
        """Write data; the caller has made note text safe with `safe`."""
        self._out.write(text)

    def captured(self, write: Callable[[], None]) -> str:
        """Collect the data of `write` instead of writing it."""
        out, self._out = self._out, StringIO()
        try:
            write()
            return self._out.getvalue()
        finally:
            self._out = out

    def write_line(self, text: str) -> None:
        """Write a line of data, folded to the width of a terminal."""
        lines = folded(text, self.width, HANG) if self.out_is_terminal else [text]
        self.write("".join(f"{line}\n" for line in lines))

    def safe(self, text: str) -> str:
        """Return note text, made harmless for a terminal and unchanged for a pipe."""
        return visible(text) if self._is_shown else text

    def safe_line(self, text: str) -> str:
        """Make a name harmless for a terminal; a pipe gets it unchanged, but on one line."""
        return visible_line(text) if self._is_shown else one_line(text)

    def say(self, text: str) -> None:
        """Write a message unless -q."""
        if self.quiet:
            return
        try:
            message, mark, hint = text.partition(TRY)
            text = f"{message}{mark}{self._named(hint)}"
            self.err.write("\n".join(self._message(visible_line(text))) + "\n")
        except BrokenPipeError:
            raise
        except OSError:  # if the disk of the messages is full, only they are lost
            return

    def _message(self, text: str) -> list[str]:
        """Fold a message to the width of the terminal; a command at its end stays on one line.

        The width is that of stdout, so memcli knows it only if stdout is a terminal.
        """
        if not (self.err_is_terminal and self.out_is_terminal) or len(text) <= self.width:
            return [text]
        message, mark, command = text.partition(TRY)
        return [*folded(message, self.width), *([f"{TRY.lstrip()}{command}"] if mark else [])]

    def warn(self, text: str) -> None:
        """Write a warning unless -q."""
        self.say(f"memcli: {text}")

    def advise(self, reason: Reason) -> None:
        """Print a warning and its hint."""
        self.warn(sentence(reason))

    def flush(self) -> None:
        """Flush both streams."""
        self._out.flush()


def folded(text: str, width: int, hang: int = 0) -> list[str]:
    """Fold a text at its spaces; later lines are indented by `hang` columns."""
    from memcli.render.width import wrap

    spans = wrap(text, width, hang)
    return [" " * (hang if number else 0) + text[a:b] for number, (a, b) in enumerate(spans)]


def _colour(when: str, is_terminal: bool, environ: Mapping[str, str]) -> bool:
    if when != "auto":
        return when == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return is_terminal and environ.get("TERM") != "dumb"


def _opens_links(environ: Mapping[str, str]) -> bool:
    if environ.get("TMUX") or environ.get("STY"):
        return False
    vte = environ.get("VTE_VERSION", "")
    return (
        environ.get("TERM") in _LINK_TERMS
        or environ.get("TERM_PROGRAM") in _LINK_PROGRAMS
        or any(map(environ.get, _LINK_VARIABLES))
        or (vte.isdecimal() and int(vte) >= _FIRST_VTE)
    )
