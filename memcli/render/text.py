"""Answers for people: plain, stable lines in a pipe, with colour by role on a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memcli.record import Record
from memcli.render.sanitize import one_line

if TYPE_CHECKING:
    from memcli.search.hits import Hit, Step
    from memcli.search.snippet import Snippet

INDENT = "    "
# A comment that was left out leaves its blank lines behind.
_BLANK_RUNS = r"\n(?:[ \t]*\n){2,}"


class Style(Record):
    """Escape codes by role; all empty in plain text."""

    path: str
    score: str
    heading: str
    term: str
    dim: str
    end: str


PLAIN = Style("", "", "", "", "", "")
# Magenta and red contrast 3.6 or more with white and with black (WCAG, xterm's palette); cyan and
# yellow contrast 2 with white.
COLOURED = Style("\x1b[1m", "\x1b[2m", "\x1b[35m", "\x1b[1;31m", "\x1b[2m", "\x1b[0m")


def passage(
    rank: int, hit: Hit, snippet: Snippet, where: str, *, style: Style, safe: Callable[[str], str]
) -> str:
    """Show one passage: a line with its citation, then its text, indented."""
    candidate = hit.candidate
    citation = f"{style.path}{safe(one_line(where))}{style.end}"
    heading = " > ".join(candidate.about.heading_path)
    pieces = [f"{rank:>2}. {citation}", f"{style.score}{hit.score:.3f}{style.end}"]
    if candidate.about.date and candidate.about.date not in candidate.about.path:
        pieces.append(candidate.about.date)
    if heading:
        pieces.append(f"{style.heading}{safe(one_line(heading))}{style.end}")
    if candidate.about.trust != "trusted":
        pieces.append("[untrusted]")
    if hit.duplicates:
        pieces.append(f"{style.dim}(+{len(hit.duplicates)} alike){style.end}")
    lines = ["  ".join(pieces)]
    text = marked(snippet, style, safe)
    if "\n\n" in text:
        text = re.sub(_BLANK_RUNS, "\n\n", text)
    lines += [(INDENT + line).rstrip() for line in text.split("\n")]
    return "\n".join(lines) + "\n"


def day(date: str | None, style: Style) -> str:
    """Show the day that the passages below it are of, in an order by date."""
    return f"{style.heading}{date or 'undated'}{style.end}\n"


def behind(hit: Hit, where: str, summary: str, *, style: Style, safe: Callable[[str], str]) -> str:
    """Show raw lines behind a summary, by the citation of the lines and the name of the summary."""
    text = re.sub(_BLANK_RUNS, "\n\n", safe(hit.text))
    about = f"{style.dim}behind {safe(one_line(summary))}{style.end}"
    lines = [f"  > {style.path}{safe(one_line(where))}{style.end}  {about}"]
    lines += [(INDENT + line).rstrip() for line in text.split("\n")]
    return "\n".join(lines) + "\n"


def marked(snippet: Snippet, style: Style, safe: Callable[[str], str]) -> str:
    """Put the term style around what matched."""
    if not style.term:
        return safe(snippet.text)
    pieces, at = [], 0
    for start, end in snippet.marks:
        pieces.append(safe(snippet.text[at:start]))
        pieces.append(style.term + safe(snippet.text[start:end]) + style.end)
        at = end
    pieces.append(safe(snippet.text[at:]))
    return "".join(pieces)


def trace(steps: Sequence[Step]) -> str:
    """Show how a score came about, a line a stage."""
    return "".join(
        f"{INDENT}| {step.stage:<12} {step.score:.4f}  "
        + "  ".join(f"{name}={_number(value)}" for name, value in step.inputs)
        + "\n"
        for step in steps
    )


def _number(value: float | int | str | None) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
