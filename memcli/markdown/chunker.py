"""Cut a parsed document into chunks of whole blocks under one heading path.

Packing starts again at each heading. Inside a section, blocks become segments
(`markdown.segments`), and segments are packed into chunks. A line is split only if it alone exceeds
the limit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate

from memcli.checking import TYPE_CHECKING
from memcli.language.tokens import measure, quotient
from memcli.markdown.comments import visible
from memcli.markdown.links import link_targets
from memcli.markdown.segments import (
    Span,
    choose_context,
    cut_segments,
    divided,
    embedded_text,
    place_of,
    segment_hash,
)
from memcli.record import Record
from memcli.types import Chunk, Limits, Segment, Stretch, date_of, named_days

if TYPE_CHECKING:
    from memcli.markdown.parse import Block, ParsedMarkdown

# A last chunk below this share of the limit takes lines from the previous one.
TAIL_SHARE = 0.25


class Heading(Record):
    """The headings above a block, and the days in the nearest one."""

    path: tuple[str, ...]
    days: Stretch | None


def chunk_document(
    parsed: ParsedMarkdown,
    *,
    title: str,
    limits: Limits,
    heading_days: Callable[[str], Stretch | None],
    description: str = "",
    days: Stretch | None = None,
    stamped: bool = False,
) -> tuple[Chunk, ...]:
    """Cut a document into chunks; `days` are its days, and `heading_days` reads those of a heading.

    `stamped` days are only the time of writing: the days of a heading replace them, and they are
    not embedded, so that a new time stamp embeds nothing.
    """
    text = "\n".join(parsed.lines)
    starts = [*accumulate((len(line) + 1 for line in parsed.lines[:-1]), initial=0)]
    to_bytes = _byte_offsets(text)
    seen: dict[str, int] = {}
    chunks: list[Chunk] = []
    for heading, first, blocks in _sections(parsed, heading_days):
        own = heading.days if stamped else _narrowed(days, heading.days)
        date_words = named_days(own) if own else None
        context = choose_context(title, heading.path, date_words, limits, description)
        date, first_day = date_of(own or days)
        spans = cut_segments(parsed, starts, text, blocks, context=context, limits=limits)
        begin = spans[0].start if spans else 0
        begin = begin if first is None else min(begin, starts[first])
        for group in _pack(spans, text, begin, limits):
            start, end = group[0].start, group[-1].end
            if first is not None:
                start, first = min(start, starts[first]), None
            start_line, end_line = _lines_of(starts, start, end)
            body = text[start:end]
            place = place_of(heading.path)
            seen[place] = seen.get(place, 0) + 1
            segments = tuple(_segment(span, start, starts, text, context) for span in group)
            chunks.append(
                Chunk(
                    ordinal=len(chunks),
                    anchor=place if seen[place] == 1 else f"{place}~{seen[place]}",
                    heading_path=heading.path,
                    start_line=start_line,
                    end_line=end_line,
                    start_byte=to_bytes(start),
                    end_byte=to_bytes(end),
                    tokens=measure(body),
                    text=body,
                    date=date,
                    links=link_targets(visible(body)),
                    segments=segments,
                    first_day=first_day,
                )
            )
    return tuple(chunks)


def _narrowed(days: Stretch | None, of_heading: Stretch | None) -> Stretch | None:
    """Return the days of a section: those of its heading if they are within its document's."""
    if days is None or of_heading is None:
        return days or of_heading
    are_among = days[0] <= of_heading[0] and of_heading[1] <= days[1]
    return of_heading if are_among else days


def _segment(span: Span, chunk_start: int, starts: list[int], text: str, context: str) -> Segment:
    start_line, end_line = _lines_of(starts, span.start, span.end)
    embedded = embedded_text(context, span.prefix, text[span.start : span.end])
    return Segment(
        start_line=start_line,
        end_line=end_line,
        start=span.start - chunk_start,
        end=span.end - chunk_start,
        prefix=span.prefix,
        hash=segment_hash(embedded),
    )


def _sections(
    parsed: ParsedMarkdown, heading_days: Callable[[str], Stretch | None]
) -> Iterator[tuple[Heading, int | None, list[Block]]]:
    """Yield the heading path, the line of the heading, and the blocks below it.

    A heading without text joins its first child. If it has none, it is a block by itself, so that a
    document that contains only headings can be found.
    """
    days_of = cache(heading_days)
    stack: list[Block] = []
    first: int | None = None
    waiting: Block | None = None
    blocks: list[Block] = []

    def heading() -> Heading:
        days = (days_of(block.title) for block in reversed(stack))
        path = tuple(block.title for block in stack if block.title)
        return Heading(path, next(filter(None, days), None))

    for block in parsed.blocks:
        if block.kind != "heading":
            blocks.append(block)
            continue
        if blocks:
            yield heading(), first, blocks
            first, waiting, blocks = None, None, []
        elif waiting is not None and block.level <= waiting.level:
            yield heading(), first, [waiting]
            first = None
        while stack and stack[-1].level >= block.level:
            stack.pop()
        stack.append(block)
        waiting = block
        first = block.start if first is None else first
    if blocks:
        yield heading(), first, blocks
    elif waiting is not None:
        yield heading(), first, [waiting]


def _pack(spans: list[Span], text: str, begin: int, limits: Limits) -> list[list[Span]]:
    """Pack segments up to the limit; the first chunk starts at `begin`, with its headings.

    Only a line that exceeds the limit by itself makes a longer chunk.
    """
    groups: list[list[list[Span]]] = []
    group: list[list[Span]] = []
    for atom in _atoms(spans, text, limits.chunk_tokens):
        start = group[0][0].start if groups and group else begin
        if group and quotient(text[start : atom[-1].end]) > limits.chunk_tokens:
            groups.append(group)
            group = _overlap(group, atom, text, limits)
        group.append(atom)
    if group:
        groups.append(group)
    if len(groups) > 1 and not limits.overlap_tokens:
        groups[-2:] = _balanced(groups, text, begin, limits)
    return [[span for atom in group for span in atom] for group in groups]


def _balanced(
    groups: list[list[list[Span]]], text: str, begin: int, limits: Limits
) -> list[list[list[Span]]]:
    """Divide the last two chunks in the middle if the last one is short."""
    start = begin if len(groups) == 2 else groups[-2][0][0].start
    before, last = groups[-2:]
    end = last[-1][-1].end
    if quotient(text[last[0][0].start : end]) >= TAIL_SHARE * limits.chunk_tokens:
        return [before, last]
    atoms = before + last

    def longer(at: int) -> float:
        above, below = text[start : atoms[at - 1][-1].end], text[atoms[at][0].start : end]
        return max(quotient(above), quotient(below))

    at = min(range(1, len(before) + 1), key=longer)
    return [atoms[:at], atoms[at:]]


def _atoms(spans: list[Span], text: str, chunk_tokens: int) -> Iterator[list[Span]]:
    """Keep the segments of one line together, unless that line alone exceeds the limit."""
    for atom in divided(spans, lambda a, span: "\n" in text[a[-1].end : span.start]):
        fits = quotient(text[atom[0].start : atom[-1].end]) <= chunk_tokens
        yield from [atom] if fits else ([span] for span in atom)


def _overlap(
    group: list[list[Span]], following: list[Span], text: str, limits: Limits
) -> list[list[Span]]:
    """Return the last lines of a chunk that fit the overlap and the next chunk."""
    first = len(group)
    for at in range(len(group) - 1, 0, -1):
        start = group[at][0].start
        shared, whole = text[start : group[-1][-1].end], text[start : following[-1].end]
        if quotient(shared) > limits.overlap_tokens or quotient(whole) > limits.chunk_tokens:
            break
        if text[start - 1] == "\n":
            first = at
    return group[first:]


def _lines_of(starts: list[int], start: int, end: int) -> tuple[int, int]:
    """Return the 1-based first and last line of a character range."""
    return bisect_right(starts, start), bisect_right(starts, max(start, end - 1))


def _byte_offsets(text: str) -> Callable[[int], int]:
    """Return a function from character to byte offsets; near the last answer it is fast."""
    if text.isascii():
        return lambda offset: offset
    char = byte = 0

    def to_bytes(offset: int) -> int:
        nonlocal char, byte
        low, high = sorted((char, offset))
        size = len(text[low:high].encode("utf-8", "surrogatepass"))
        byte += size if offset >= char else -size
        char = offset
        return byte

    return to_bytes
