"""Write answers as lines of text: plain in a pipe, coloured on a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.record import Record
from memcli.render.sanitize import one_line

if TYPE_CHECKING:
    from memcli.search.ranked import RankedPassage, Step
    from memcli.search.snippet import Snippet

INDENT = "    "
# A comment that was left out leaves blank lines.
_CLOCK = r"\b\d{1,2}:\d{2}\b"
_BLANK_RUNS = r"\n(?:[ \t]*\n){2,}"


class Style(Record):
    """Escape codes by role; all empty in plain text."""

    path: str
    heading: str
    term: str
    dim: str
    end: str


PLAIN = Style("", "", "", "", "")
# Magenta and red contrast 3.6 or more with white and with black (WCAG, xterm's palette); cyan and
# yellow contrast 2 with white.
COLOURED = Style("\x1b[1m", "\x1b[35m", "\x1b[1;31m", "\x1b[2m", "\x1b[0m")


class Around(Record):
    """Lines before and after a passage, with their numbers from 1."""

    before: tuple[tuple[int, str], ...] = ()
    after: tuple[tuple[int, str], ...] = ()


NOTHING_AROUND = Around()


def passage_lines(
    passage: RankedPassage, lines: Sequence[tuple[int, Snippet]],
    around: Around = NOTHING_AROUND, *, style: Style, safe: Callable[[str], str],
) -> str:  # fmt: skip
    """Write the lines of a passage after their numbers, as grep does."""
    shown = neighbours(around.before, style, safe)
    for number, line in lines:
        claim = safe(one_line(passage.claim_at(number)))
        shown.append(f"{number}: {marked(line, style, safe)} {claim}".rstrip())
    return "\n".join([*shown, *neighbours(around.after, style, safe), ""])


def headings_of(passage: RankedPassage, known: Sequence[str] = ()) -> str:
    """Join the headings of a passage for the line above it.

    Left out are `known` ones, those in the path, and a time of day in a conversation.
    """
    from memcli.search.snippet import headings

    path, names = passage.about.path, headings(passage)
    shown = [each for each in names if each not in path and each not in known]
    if passage.turns:
        shown = [each for each in shown if not re.search(_CLOCK, each)]
    return " > ".join(shown)


def above(
    passage: RankedPassage, known: Sequence[str] = (), *, style: Style, safe: Callable[[str], str]
) -> str:
    """Write the rest of the line with the path: date, headings, remarks.

    `known` headings are left out.
    """
    about, heading = passage.about, headings_of(passage, known)
    pieces = []
    if about.days not in about.path:
        pieces.append(about.days)
    if heading:
        pieces.append(f"{style.heading}{safe(one_line(heading))}{style.end}")
    if about.trust != "trusted":
        pieces.append("[untrusted]")
    if passage.duplicates:
        pieces.append(f"{style.dim}(+{len(passage.duplicates)} alike){style.end}")
    return "".join(f"  {piece}" for piece in pieces)


def brief(
    passage: RankedPassage, where: str, text: Snippet, *, style: Style, safe: Callable[[str], str]
) -> str:
    """Write the best line of a passage after its place."""
    from memcli.search.ranked import mark_of

    newer = safe(mark_of(passage.corrected_by))
    mark = f"  {style.dim}[{newer}]{style.end}" if newer else ""
    cited = f"{style.path}{safe(one_line(where))}{style.end}"
    return f"{cited}: {marked(text, style, safe).strip()}{mark}\n"


def counted(number: int, noun: str, several: str = "") -> str:
    """Count things. Example: `1 file`, `2 files`, and with `several`, `3 summaries`."""
    return f"1 {noun}" if number == 1 else f"{number} {several or f'{noun}s'}"


def count(shown: int, every: int, more: int, again: str) -> str:
    """Write the number of lines of a list, and how to get those that follow."""
    lines = counted(every, "line")
    lines = f"{shown} of {lines}" if shown < every else lines
    return f"{lines}; {more} more: {again}\n" if more else f"{lines}\n"


def neighbours(
    lines: Sequence[tuple[int, str]],
    style: Style,
    safe: Callable[[str], str],
    fit: Callable[[str], str] = str,
) -> list[str]:
    """Write lines around a passage with their numbers, as grep does; `fit` may shorten them."""
    shown = [f"{number:>{len(INDENT) - 1}}- {safe(one_line(text))}" for number, text in lines]
    return [f"{style.dim}{fit(line).rstrip()}{style.end}" for line in shown]


def day(days: str, style: Style) -> str:
    """Write a day, week or month above its passages."""
    return f"{style.heading}{days or 'undated'}{style.end}\n"


def behind(
    passage: RankedPassage, where: str, summary: str, *, style: Style, safe: Callable[[str], str]
) -> str:
    """Write source lines of a summary with their citation and the name of the summary."""
    text = re.sub(_BLANK_RUNS, "\n\n", safe(passage.text))
    about = f"{style.dim}behind {safe(one_line(summary))}{style.end}"
    lines = [f"  > {style.path}{safe(one_line(where))}{style.end}  {about}"]
    lines += [(INDENT + line).rstrip() for line in text.split("\n")]
    if passage.corrected_by:
        from memcli.search.ranked import mark_of

        lines.append(f"{INDENT}{style.dim}{safe(mark_of(passage.corrected_by))}{style.end}")
    return "\n".join(lines) + "\n"


def marked(snippet: Snippet, style: Style, safe: Callable[[str], str]) -> str:
    """Style the matched words."""
    if not style.term:
        return safe(snippet.text)
    text, marks = made_safe(snippet, safe)
    return styled(text, 0, len(text), marks, style)


def made_safe(snippet: Snippet, safe: Callable[[str], str]) -> tuple[str, list[tuple[int, int]]]:
    """Make the text safe, and move its marks."""
    text, marks, at = "", [], 0
    for start, end in snippet.marks:
        text += safe(snippet.text[at:start])
        begin = len(text)
        text += safe(snippet.text[start:end])
        marks.append((begin, len(text)))
        at = end
    return text + safe(snippet.text[at:]), marks


def styled(text: str, start: int, end: int, marks: Sequence[tuple[int, int]], style: Style) -> str:
    """Return a span of the text with the marks inside it styled."""
    pieces, at = [], start
    for first, last in marks:
        first, last = max(first, at), min(last, end)
        if first < last:
            pieces += [text[at:first], style.term, text[first:last], style.end]
            at = last
    return "".join([*pieces, text[at:end]])


def trace(steps: Sequence[Step]) -> str:
    """Write how a score was computed, one line per stage."""
    return "".join(
        f"{INDENT}| {step.stage:<12} {step.score:.4f}  "
        + "  ".join(f"{name}={_number(value)}" for name, value in step.inputs)
        + "\n"
        for step in steps
    )


def _number(value: float | int | str | None) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
