"""Answers for a person at a terminal: fitted to its width, with score bars, ages and links."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from itertools import takewhile

from memcli.checking import TYPE_CHECKING
from memcli.record import Record
from memcli.render.text import INDENT, NOTHING_AROUND, Around, Style, made_safe, neighbours, styled
from memcli.render.width import columns, shortened, wrap
from memcli.search.snippet import Snippet, marked
from memcli.types import MEMORY_SOURCE, About, lines_of

if TYPE_CHECKING:
    from memcli.search.cursor import CursorPlace
    from memcli.search.ranked import RankedPassage
    from memcli.search.summaries import ExpandedLines

LEAST_NAME, LEAST_BRIEF = 8, 20  # columns of place and text in a line that shows a passage
AGE_COLUMNS = 13  # "23 months ago"
LEAST_HEADING = 24  # columns; with fewer next to the score, the heading gets its own line
_FENCES = ("```", "~~~")
_ENDS = ("", " ", ":", "|", "\\")  # characters after which a line is not wrapped
# A line of a paragraph or an item with several words; not a heading, a row or a quotation.
_PROSE = re.compile(r"(?! {4})(?!\s*[#|>])(?:\S+ +){4}")
# A line that can continue it: it begins with a letter and is not the turn of a speaker.
_GOES_ON = re.compile(r"(?![^\s:][^:]{0,30}: )[^\W\d_]")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])?\s+(?:\[[ xX]\]\s+)?")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


# By the names and in the forms of ripgrep's --hyperlink-format; a file: URL has no lines.
LINKS = {
    "file": "file://{host}{path}",
    "vscode": "vscode://file{path}:{line}",
    "cursor": "cursor://file{path}:{line}",
    "zed": "zed://file{path}:{line}",
    "kitty": "file://{host}{path}#{line}",
}
_KEY = re.compile(r"\{(path|host|line)\}")


class Screen(Record):
    """The terminal and the settings that a passage is drawn for."""

    width: int  # columns
    style: Style
    safe: Callable[[str], str]
    age_days: Callable[[str], int]  # of an ISO date
    name: Callable[[str, str], str]  # the path from here of a source and a path
    link: Callable[[str, str, int], str]  # a link for a source, a path and a line; "" for none


def whole_passage(
    rank: int,
    passage: RankedPassage,
    snippet: Snippet,
    screen: Screen,
    around: Around = NOTHING_AROUND,
    *,
    beside: Sequence[RankedPassage] = (),
) -> str:
    """Write one passage: place, confidence, age and headings, then its text.

    A `heading` that several passages next to each other share is not repeated.
    """
    style = screen.style
    claims = [passage.claim_at(line) for line in range(passage.start_line, passage.end_line + 1)]
    notes = [(screen.safe(claim), style.term) for claim in dict.fromkeys(claims) if claim]
    if passage.duplicates:
        notes.append((f"(+{len(passage.duplicates)} alike)", style.dim))
    names = [_on_a_line(name, screen) for name in passage.about.heading_path]
    if len(beside) > 1:
        place = f"{style.path}:{lines_of(passage.start_line, passage.end_line)}{style.end}"
        link = screen.link(*passage.about.document, passage.start_line)
        head = f"{rank:>2}. {hyperlink(link, place)}"
        width = columns(f"{rank:>2}. :{lines_of(passage.start_line, passage.end_line)}")
        facts = [(f"{passage.score:.2f}", style.dim), *notes]
        lines = _flow(facts, names[_shared(beside) :], screen, head=head, used=width)
    else:
        age = _age(passage.about, screen)
        facts = [
            (f"{passage.score:.2f}  {age:<{AGE_COLUMNS}}", style.dim),
            *_facts(passage.about, style),
        ]
        flow = _flow([*facts, *notes], names, screen)
        lines = [f"{rank:>2}. {_where(passage, screen)}", *flow]
    before, after = (
        neighbours(side, style, screen.safe, lambda line: shortened(line, screen.width))
        for side in around
    )
    lines += [*before, *_text(snippet, screen), *after]
    return "\n".join(lines) + "\n\n"


def heading(passages: Sequence[RankedPassage], screen: Screen) -> str:
    """Write what several passages of a document have in common: its name, age and headings."""
    about, style = passages[0].about, screen.style
    document = _on_a_line(screen.name(*about.document), screen)
    link = screen.link(*about.document, passages[0].start_line)
    head = hyperlink(link, f"{style.path}{document}{style.end}")
    names = [_on_a_line(name, screen) for name in about.heading_path[: _shared(passages)]]
    facts = [(_age(about, screen), style.dim), *_facts(about, style)]
    return "\n".join(_flow(facts, names, screen, head=head, used=columns(document))) + "\n"


def _shared(passages: Sequence[RankedPassage]) -> int:
    """Count the outermost headings that all of some passages share."""
    levels = zip(*(passage.about.heading_path for passage in passages), strict=False)
    return sum(1 for _ in takewhile(lambda level: len(set(level)) == 1, levels))


def _age(about: About, screen: Screen) -> str:
    if about.date is None:
        return "undated"
    days = screen.age_days(about.date)
    if days < 0 and about.first_day and screen.age_days(about.first_day) >= 0:
        return "this week" if "W" in about.days else "this month"
    return age_in_words(days)


def _facts(about: About, style: Style) -> list[tuple[str, str]]:
    """Yield the date, if the path has none, and a mark for untrusted documents."""
    facts = []
    if about.days not in about.path:
        facts.append((about.days, style.dim))
    if about.trust != "trusted":
        facts.append(("[untrusted]", style.term))
    return facts


def brief(
    rank: int,
    passage: RankedPassage,
    place: CursorPlace,
    words: Sequence[str],
    screen: Screen,
    *,
    is_alone: bool = True,
) -> str:
    """Show one passage in one line: its best line of text, around the first match.

    If there are several, the name of the document is above them.
    """
    document = screen.name(*passage.about.document) if is_alone else ""
    name = _on_a_line(f"{document}:{place.line}", screen)
    most = max(LEAST_NAME, screen.width - len(f"{rank:>2}.   ") - LEAST_BRIEF)
    # Few characters take no column, so longer ends than these do not fit.
    ends = (f"…{name[at:]}" for at in range(max(1, len(name) - 2 * most), len(name) + 1))
    shown = next(each for each in (name, *ends) if columns(each) <= most)
    cited = f"{screen.style.path}{shown}{screen.style.end}"
    head = f"{rank:>2}. {hyperlink(screen.link(*passage.about.document, place.line), cited)}  "
    room = screen.width - columns(f"{rank:>2}. {shown}  ")
    text = " ".join(screen.safe(place.text).split())
    marks = marked(text, words).marks
    if marks and columns(text[: marks[0][1]]) > room:
        first = max(0, marks[0][0] - room // 3)
        text = "…" + text[text.find(" ", first, marks[0][0]) + 1 or first :]
    text = shortened(text, max(room, 1))
    return head + styled(text, 0, len(text), marked(text, words).marks, screen.style) + "\n"


def _flow(
    facts: Sequence[tuple[str, str]],
    headings: Sequence[str],
    screen: Screen,
    *,
    head: str = "",
    used: int = 0,
) -> list[str]:
    """Put facts (text, style) on one line while they fit, then the headings.

    `head` is text before them, `taken` the columns that it takes.
    """
    room = screen.width - len(INDENT)
    lines, left = [head], room - max(0, used - len(INDENT))
    for text, style in facts:
        if left < room and left < columns(text) + 2:
            lines, left = [*lines, ""], room
        gap = "  " if left < room else INDENT
        lines[-1] += f"{gap}{style}{text}{screen.style.end}"
        left -= columns(text) + (2 if left < room else 0)
    if headings:
        beside = left - 2 >= LEAST_HEADING
        shown = breadcrumb(headings, left - 2 if beside else room)
        styled = f"{screen.style.heading}{shown}{screen.style.end}"
        if beside:
            lines[-1] += f"  {styled}"
        else:
            lines.append(f"{INDENT}{styled}")
    return [line.rstrip() for line in lines]


def behind(expanded: ExpandedLines, screen: Screen) -> str:
    """Write source lines of a summary."""
    style, passage = screen.style, expanded.passage
    summary = _on_a_line(screen.name(MEMORY_SOURCE, expanded.summary), screen)
    about = f"{style.dim}behind {summary}{style.end}"
    lines = [
        f"  > {_where(passage, screen)}",
        INDENT + about,
        *_text(Snippet(passage.text, ()), screen),
    ]
    return "\n".join(lines) + "\n\n"


def corrected(head: str, text: str, screen: Screen) -> str:
    """Show a line that corrects a passage or that it corrects, folded at the width."""
    head = _on_a_line(head, screen)
    line = f"{head} {_on_a_line(text, screen)}".rstrip()
    spans = wrap(line, screen.width - len(INDENT), len(INDENT))
    shown = ""
    for number, (start, end) in enumerate(spans):
        style = screen.style.dim if start < len(head) else ""
        dim = max(start, min(end, len(head)))
        styled = f"{style}{line[start:dim]}{screen.style.end if style else ''}{line[dim:end]}"
        shown += f"{INDENT * (2 if number else 1)}{styled}\n"
    return shown


def age_in_words(days: int) -> str:
    """Say how long ago a day was, in at most 13 letters up to 999 years."""
    if abs(days) < 2:
        return ("tomorrow", "today", "yesterday")[days + 1]
    count = abs(days)
    for least, size, unit in ((730, 365.25, "year"), (60, 30.44, "month"), (14, 7, "week")):
        if count >= least:
            number = f"{int(count / size)} {unit}s"
            break
    else:
        number = f"{count} days"
    return f"{number} ago" if days > 0 else f"in {number}"


def breadcrumb(names: Sequence[str], room: int) -> str:
    """Join headings; if they do not fit, the outer ones are left out first."""
    for first in range(len(names)):
        shown = " › ".join([*(["…"] if first else []), *names[first:]])
        if columns(shown) <= room:
            return shown
    return shortened(names[-1], room) if names else ""


def hyperlink(url: str, text: str) -> str:
    """Wrap text in an OSC 8 link."""
    return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\" if url else text


def file_url(template: str, *, host: str, path: str, line: int) -> str:
    """Name a line of a file for a link by a template, or a name of `LINKS`.

    Every byte of the path that is not unreserved is escaped (RFC 3986, 8089).
    """
    shown = "".join(chr(b) if b in _UNRESERVED else f"%{b:02X}" for b in os.fsencode(path))
    values = {"path": shown, "host": host, "line": str(line)}
    return _KEY.sub(lambda key: values[key[1]], LINKS.get(template, template))


def _where(passage: RankedPassage, screen: Screen) -> str:
    document = passage.about.document
    cited = f"{screen.name(*document)}:{lines_of(passage.start_line, passage.end_line)}"
    citation = f"{screen.style.path}{_on_a_line(cited, screen)}{screen.style.end}"
    return hyperlink(screen.link(*document, passage.start_line), citation)


def _on_a_line(text: str, screen: Screen) -> str:
    return screen.safe(text).replace("\n", "␊")


def _text(snippet: Snippet, screen: Screen) -> list[str]:
    """Wrap the text to the width, with its marks; wrapped lines keep the indent of the first."""
    text, marks = made_safe(snippet, lambda part: screen.safe(part).replace("\t", "    "))
    text, moved = reflowed(text)
    marks = [(moved(start), moved(end)) for start, end in marks]
    lines: list[str] = []
    at = 0
    for line in text.split("\n"):
        if line.strip():
            item = _ITEM.match(line)
            hang = min(len(item[0]), screen.width // 4) if item else 0
            spans = wrap(line, screen.width - len(INDENT), hang)
            for number, (start, end) in enumerate(spans):
                lead = INDENT + " " * (hang if number else 0)
                lines.append(lead + styled(text, at + start, at + end, marks, screen.style))
        elif lines and lines[-1]:
            lines.append("")
        at += len(line) + 1
    while lines and not lines[-1]:
        lines.pop()
    return lines


def reflowed(text: str) -> tuple[str, Callable[[int], int]]:
    r"""Join the soft-wrapped lines of paragraphs and list items; return how places move, too.

    Example: `- a slow\n  carrier, and newcomers` -> `- a slow carrier, and newcomers`
    """
    joined, hang, place = "", 0, 0
    cuts: list[tuple[int, int]] = []  # indents that are left out: first character, length
    is_code = is_prose = False
    for number, line in enumerate(text.split("\n")):
        bare = line.lstrip(" ")
        indent = len(line) - len(bare)
        is_fence = bare.startswith(_FENCES)
        is_soft = is_prose and not is_fence and indent in (0, hang) and bool(_GOES_ON.match(bare))
        if is_soft:
            cuts.append((place, indent))
        else:
            item = _ITEM.match(line)
            hang = len(item[0]) if item else 0
        joined += f" {bare}" if is_soft else "\n" * (number > 0) + line
        is_code ^= is_fence
        is_prose = not (is_code or is_fence) and line[-1:] not in _ENDS
        is_prose = is_prose and (is_soft or _PROSE.match(line) is not None)
        place += len(line) + 1

    def moved(at: int) -> int:
        return at - sum(min(length, max(0, at - start)) for start, length in cuts)

    return joined, moved
