"""Cut the blocks of one section into segments, the texts that are embedded.

A segment is about two lines of prose or list, or up to PART_TOKENS of a fence or table. A short
paragraph goes with the list, fence or table after it. If an editor has wrapped the lines of a
paragraph, a segment is up to PART_TOKENS of them. In a run of list items, some lines start a new
pair because of their own hash, so that an inserted line changes only a few pairs. Longer text is
cut at sentences, then at words, never inside a comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from memcli.checking import TYPE_CHECKING, Any
from memcli.digests import blake2b
from memcli.language.tokens import quotient
from memcli.markdown.comments import comments, visible
from memcli.record import Record

if TYPE_CHECKING:
    from typing import TypeVar

    from memcli.markdown.parse import Block, ParsedMarkdown
    from memcli.types import Limits

    Thing = TypeVar("Thing")

PART_LINES = 2
PART_TOKENS = 100
LEAD_TOKENS = 25  # of a paragraph that introduces the next block: "For example:"
_BY_LINES = ("item", "paragraph", "quote")  # kinds of blocks
_INTRODUCED = ("item", "fence", "table")
COLUMNS = (50, 100)  # of the longest line of a wrapped paragraph
# One line in six opens a pair by its own hash: 20 pairs without one have odds of 1 in 1,500.
RESTART_ODDS = 6
PREFIX_CHARS = 400
CONTEXT_CHARS = 240
DESCRIPTION_CHARS = 160
# No character costs more than 3 tokens, so this many characters always fit.
SHORT_CONTEXT_CHARS = 36
HASH_BYTES = 16
# Of a segment, which has its hash in two tables and their indexes. If two texts had the same hash,
# they would have the same vector: among a million texts, the odds are 1 in 40 million.
SEGMENT_HASH_BYTES = 8

_SENTENCE = r"(?<=[.!?])[ \t]+|(?<=[。！？；])"  # compiled at first use

Count = Callable[[str], int]


class Span(Record):
    """Characters of the document that become one segment, and the text repeated before them."""

    start: int
    end: int
    prefix: str


def contexts(
    title: str, heading_path: Iterable[str], date: str | None, description: str = ""
) -> tuple[str, ...]:
    """Return the contexts of a segment, longest first: title, headings and date; shorter; none.

    If the document has a description, the first one also contains its beginning.
    Example: ("Notes", ("Notes", "Pool"), "2025-06-12", "How much water is left")
    -> "Notes > Pool (2025-06-12): How much water is left"
    """
    names = " > ".join(dict.fromkeys(name for name in (title, *heading_path) if name))
    full, short = (
        f"{own} ({date})".lstrip() if date and date not in own else own
        for own in (names[:CONTEXT_CHARS], names[:SHORT_CONTEXT_CHARS])
    )
    words = " ".join(description[: 2 * DESCRIPTION_CHARS].split())[:DESCRIPTION_CHARS].rstrip()
    if not words or words in names:
        return full, short, ""
    return f"{full}: {words}" if full else words, full, short, ""


def description_of(metadata: Mapping[str, Any]) -> str:
    """Return the description of a document in its front matter: its other names, and a summary."""
    from memcli.markdown.names import aliases

    description = metadata.get("description")
    return "; ".join([*aliases(metadata), *([description] if isinstance(description, str) else [])])


def choose_context(
    title: str, heading_path: Iterable[str], date: str | None, limits: Limits, description: str = ""
) -> str:
    """Take the first context that leaves half of the room to the text."""
    most = limits.part_max // 2
    variants = contexts(title, heading_path, date, description)
    return next((line for line in variants if limits.count(line) <= most), "")


def embedded_text(context: str, prefix: str, text: str) -> str:
    """Return the text to embed for a segment; `text` is the segment in the file."""
    return "\n".join(piece for piece in (context, prefix, visible(text).strip()) if piece)


def embedded_again(
    hash_: bytes, context: tuple[str, Sequence[str], str | None, str], prefix: str, text: str
) -> str:
    """Rebuild the embedded text with a given hash from its pieces.

    `context` has the arguments of `contexts`. The hash shows which of its forms was used, and
    whether with the date, which is left out if it is only the time of writing.
    """
    title, heading_path, date, description = context
    lines = (
        each for day in (date, None) for each in contexts(title, heading_path, day, description)
    )
    forms = (embedded_text(line, prefix, text) for line in lines)
    return next(
        (form for form in forms if segment_hash(form) == hash_), embedded_text("", prefix, text)
    )


def digest(text: str) -> bytes:
    """Hash a text for identity inside one index."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def slug(name: str) -> str:
    """Return a heading as part of an anchor. Example: "What Happened?" -> "what-happened"."""
    return re.sub(r"[^\w]+", "-", name.casefold()).strip("-_")[:80]


def place_of(heading_path: Iterable[str]) -> str:
    """Return the anchor of the first chunk below some headings; the others add `~2`, `~3`."""
    return "/".join(filter(None, map(slug, heading_path))) or "top"


def segment_hash(embedded: str) -> bytes:
    """Hash the text that is embedded for a segment: its vector is stored by it."""
    return digest(embedded)[:SEGMENT_HASH_BYTES]


def cut_segments(
    parsed: ParsedMarkdown,
    starts: list[int],
    text: str,
    blocks: list[Block],
    *,
    context: str,
    limits: Limits,
) -> list[Span]:
    """Turn the blocks of one section into segments, in order and without gaps."""
    spans: list[Span] = []
    room = limits.part_max - limits.count(context)
    lead: Span | None = None  # the paragraph before, if it is short
    # Neighbouring list items are one run; every other block is its own.
    for run in divided(blocks, lambda run, block: not block.kind == run[-1].kind == "item"):
        kind = run[0].kind
        begin = len(spans)
        prefix = _prefix(run[0], parsed)
        opening = True
        for units, is_prose in _stretches(run, parsed, starts, text):
            paired = kind in _BY_LINES and not is_prose
            for group in _groups(units, text, paired=paired, items=kind == "item"):
                spans += _fit(group, text, "" if opening else prefix, room, limits)
                opening = False
        made = len(spans) - begin
        if lead and made and kind in _INTRODUCED:
            whole = text[lead.start : spans[begin].end]
            if quotient(whole) <= PART_TOKENS and _tokens(whole, limits.count, room) <= room:
                spans[begin - 1 : begin + 1] = [Span(lead.start, spans[begin].end, "")]
        is_lead = kind == "paragraph" and made == 1
        is_lead = is_lead and quotient(text[spans[-1].start : spans[-1].end]) <= LEAD_TOKENS
        lead = spans[-1] if is_lead else None
    return spans


def _prefix(block: Block, parsed: ParsedMarkdown) -> str:
    """Return the text that later segments of a split block repeat: fence opener, table header."""
    header = 2 if block.kind == "table" else 1 if block.kind == "fence" else 0
    if not header or block.end - block.start <= header:
        return ""
    lines = parsed.lines[block.start : block.start + header]
    return visible("\n".join(line.strip() for line in lines))[:PREFIX_CHARS]


def divided(
    things: Iterable[Thing], begins: Callable[[list[Thing], Thing], bool]
) -> Iterator[list[Thing]]:
    """Divide things into groups; `begins` returns whether one does not belong to the group."""
    group: list[Thing] = []
    for thing in things:
        if group and begins(group, thing):
            yield group
            group = []
        group.append(thing)
    if group:
        yield group


def _units(block: Block, parsed: ParsedMarkdown, starts: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the lines of a block as character ranges, blank lines left out."""
    for number in range(block.start, block.end):
        if parsed.lines[number].strip():
            yield starts[number], starts[number] + len(parsed.lines[number])


def _joined(units: list[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Make one unit of the lines that a comment runs over."""
    if not units or text.find("<!--", units[0][0], units[-1][1]) < 0:
        return units
    first = units[0][0]
    hidden = [(first + a, first + b) for a, b in comments(text[first : units[-1][1]])]
    joined: list[tuple[int, int]] = []
    for start, end in units:
        while hidden and hidden[0][1] <= start:
            hidden.pop(0)
        if joined and hidden and hidden[0][0] < start:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def _stretches(
    run: list[Block], parsed: ParsedMarkdown, starts: list[int], text: str
) -> Iterator[tuple[list[tuple[int, int]], bool]]:
    """Yield the lines of a run, and whether they are a paragraph that an editor has wrapped.

    A line before such a paragraph, such as the name of a list item, goes with it.
    """
    stretch: list[tuple[int, int]] = []
    for block in run:
        units = _joined([*_units(block, parsed, starts)], text)
        if block.kind not in _BY_LINES or len(units) <= PART_LINES:
            stretch += units
            continue
        # A blank line ends a stanza.
        for stanza in divided(units, lambda s, unit: text.count("\n", s[-1][1], unit[0]) > 1):
            if not _is_wrapped(stanza):
                stretch += stanza
                continue
            if len(stretch) == 1:
                stanza = stretch + stanza
            elif stretch:
                yield stretch, False
            yield stanza, True
            stretch = []
    if stretch:
        yield stretch, False


def _is_wrapped(units: list[tuple[int, int]]) -> bool:
    """Return whether an editor has wrapped these lines, so that none is a statement by itself."""
    lengths = [end - start for start, end in units]
    if len(lengths) <= PART_LINES:
        return False
    least, most = COLUMNS
    return least <= max(lengths) <= min(most, 2 * min(lengths[:-1]))


def _groups(
    units: list[tuple[int, int]], text: str, *, paired: bool, items: bool
) -> Iterator[list[tuple[int, int]]]:

    def begins(group: list[tuple[int, int]], unit: tuple[int, int]) -> bool:
        return (
            (paired and len(group) >= PART_LINES)
            or (paired and items and digest(text[slice(*unit)])[0] % RESTART_ODDS == 0)
            or quotient(text[group[0][0] : unit[1]]) > PART_TOKENS
        )

    return divided(units, begins)


def _fit(
    group: list[tuple[int, int]], text: str, prefix: str, room: int, limits: Limits
) -> Iterator[Span]:
    """Yield a group as one segment, or as several if it is too long."""
    start, end = group[0][0], group[-1][1]
    if prefix:
        left = room - limits.count(prefix)
        # A prefix that crowds out the text is not worth it.
        prefix, room = (prefix, left) if left >= limits.part_max // 4 else ("", room)
    whole = text[start:end]
    shown = visible(whole)
    if quotient(shown) <= PART_TOKENS * 1.5 and _tokens(shown, limits.count, room) <= room:
        if shown.strip():
            yield Span(start, end, prefix)
        return
    stops = list(_stops(whole, limits.count, room))
    if not stops:  # a comment before many spaces
        return
    for piece, stop in pairwise([0, *stops[:-1], len(whole)]):
        yield Span(start + piece, start + stop, prefix)


def _stops(text: str, count: Count, room: int) -> Iterator[int]:
    """Yield the ends of the pieces of a text; a comment belongs to the piece after it."""
    at = 0
    for start, end in [*comments(text), (len(text), len(text))]:
        if text[at:start].strip():
            yield from (at + stop for _, stop in _pieces(text[at:start], count, room))
        at = end


def _tokens(text: str, count: Count, room: int) -> int:
    """Count tokens, unless even one token per character would fit."""
    return len(text) if text.isascii() and len(text) <= room else count(text)


def _pieces(text: str, count: Count, room: int) -> Iterator[tuple[int, int]]:
    """Cut a text at sentences, then words, then characters, into pieces of at most `room`."""

    def exceeds(start: int, end: int, most: float) -> bool:
        piece = text[start:end]
        return quotient(piece) > most or _tokens(piece, count, room) > room

    at = begin = 0
    for stop in (*(match.end() for match in re.finditer(_SENTENCE, text)), len(text)):
        if begin < at and exceeds(begin, stop, PART_TOKENS):
            yield begin, at
            begin = at
        if exceeds(begin, stop, 2 * PART_TOKENS):
            yield from _hard_pieces(text, begin, stop, count, room)
            begin = stop
        at = stop
    if begin < at:
        yield begin, at


def _hard_pieces(
    text: str, start: int, end: int, count: Count, room: int
) -> Iterator[tuple[int, int]]:
    """Cut one long sentence at spaces near PART_TOKENS, or anywhere if there are no spaces."""
    density = quotient(text[start:end]) / (end - start)
    step = max(1, int(PART_TOKENS / density))
    while start < end:
        stop = min(end, start + step)
        while stop > start + 1 and _tokens(text[start:stop], count, room) > room:
            stop = start + (stop - start) // 2
        if stop < end:
            space = text.rfind(" ", start + (stop - start) // 2, stop)
            stop = space + 1 if space > start else stop
        yield start, stop
        start = stop
