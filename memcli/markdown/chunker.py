"""Cut a parsed document into chunks of whole blocks, and chunks into the parts that are embedded.

Sections restart packing at each heading. Inside a section blocks become *parts* (about two
lines, up to PART_TOKENS), parts are packed into chunks; a block over the chunk limit is cut at
line, then sentence, then word boundaries. Where a run of list items is paired, some lines open
a new pair by their own hash, so that a line inserted above moves only a few pairs.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from memcli.markdown.links import link_targets
from memcli.markdown.parse import Block, Parsed, visible
from memcli.markdown.tokens import quotient
from memcli.types import Chunk, Part

# Bump when the same file would give other chunks or parts: the index then re-chunks.
CHUNKER_VERSION = 1

PART_LINES = 2
PART_TOKENS = 100
# One line in six opens a pair by its own hash: 20 pairs without one have odds of 1 in 1,500.
RESTART_ODDS = 6
# A last chunk below this share of the limit joins the one before it.
TAIL_SHARE = 0.25
PREFIX_CHARS = 400
CONTEXT_CHARS = 240
HASH_BYTES = 16

_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+|(?<=[。！？；])")
_SLUG = re.compile(r"[^\w]+")

Count = Callable[[str], int]


class Limits(NamedTuple):
    """How large chunks and parts may grow."""

    chunk_tokens: int  # estimate, of the text alone
    overlap_tokens: int  # repeated from the chunk before
    part_max: int  # tokens of the embedded text as `count` gives them
    count: Count  # exact tokens, special ones included


class Heading(NamedTuple):
    """The headings above a block, and the date the nearest one states."""

    path: tuple[str, ...]
    date: str | None


class _Span(NamedTuple):
    """Characters of the document that become one part."""

    start: int
    end: int
    prefix: str


def context_line(title: str, heading_path: Iterable[str], date: str | None) -> str:
    """Say where a part comes from, in front of its text: title, headings and date, each once.

    Example: ("Notes", ("Notes", "Pool"), "2025-06-12") -> "Notes > Pool (2025-06-12)"
    """
    names = [name for name in dict.fromkeys((title, *heading_path)) if name]
    line = " > ".join(names)[:CONTEXT_CHARS]
    return f"{line} ({date})".lstrip() if date and date not in line else line


def embedded_text(context: str, prefix: str, text: str) -> str:
    """Give the text that is embedded for a part; `text` is the part as it stands in the file."""
    return "\n".join(piece for piece in (context, prefix, visible(text).strip()) if piece)


def chunk_document(
    parsed: Parsed,
    *,
    title: str,
    date: str | None,
    limits: Limits,
    heading_date: Callable[[str], str | None],
) -> tuple[Chunk, ...]:
    """Cut a document; `date` is its own date, `heading_date` reads one from a heading."""
    text = "\n".join(parsed.lines)
    starts = _line_starts(parsed.lines)
    to_bytes = _byte_offsets(text)
    seen: dict[str, int] = {}
    chunks: list[Chunk] = []
    for heading, first, blocks in _sections(parsed, heading_date):
        dated = date or heading.date
        context = context_line(title, heading.path, dated)
        spans = _spans(parsed, starts, text, blocks, context, limits)
        for group in _pack(spans, text, limits):
            start, end = group[0].start, group[-1].end
            if first is not None:
                start, first = min(start, starts[first]), None
            start_line, end_line = _lines_of(starts, start, end)
            body = text[start:end]
            slug = "/".join(filter(None, (_slug(name) for name in heading.path))) or "top"
            seen[slug] = seen.get(slug, 0) + 1
            parts = tuple(_part(span, start, starts, text, context) for span in group)
            chunks.append(
                Chunk(
                    ordinal=len(chunks),
                    anchor=slug if seen[slug] == 1 else f"{slug}~{seen[slug]}",
                    heading_path=heading.path,
                    start_line=start_line,
                    end_line=end_line,
                    start_byte=to_bytes(start),
                    end_byte=to_bytes(end),
                    tokens=-int(-quotient(body) // 1),
                    text=body,
                    text_hash=digest(body),
                    date=dated,
                    links=link_targets(body),
                    parts=parts,
                )
            )
    return tuple(chunks)


def digest(text: str) -> bytes:
    """Hash a text for identity inside one index."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def _part(span: _Span, chunk_start: int, starts: list[int], text: str, context: str) -> Part:
    start_line, end_line = _lines_of(starts, span.start, span.end)
    embedded = embedded_text(context, span.prefix, text[span.start : span.end])
    return Part(
        start_line=start_line,
        end_line=end_line,
        start=span.start - chunk_start,
        end=span.end - chunk_start,
        prefix=span.prefix,
        hash=digest(embedded),
    )


def _sections(
    parsed: Parsed, heading_date: Callable[[str], str | None]
) -> Iterator[tuple[Heading, int | None, list[Block]]]:
    """Yield heading path, the line its heading begins at and the blocks below it.

    A heading without a body waits for its first child; one that never gets any is a
    block of its own, so that a document of headings can be found.
    """
    stack: list[Block] = []
    first: int | None = None
    waiting: Block | None = None
    blocks: list[Block] = []

    def heading() -> Heading:
        dates = (heading_date(block.title) for block in reversed(stack))
        path = tuple(block.title for block in stack if block.title)
        return Heading(path, next(filter(None, dates), None))

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


def _spans(
    parsed: Parsed,
    starts: list[int],
    text: str,
    blocks: list[Block],
    context: str,
    limits: Limits,
) -> list[_Span]:
    """Turn the blocks of one section into parts, in order and without gaps of text."""
    spans: list[_Span] = []
    for run in _runs(blocks):
        kind = run[0].kind
        header = 2 if kind == "table" else 1 if kind == "fence" else 0
        prefix = ""
        if header and run[0].end - run[0].start > header:
            lines = parsed.lines[run[0].start : run[0].start + header]
            prefix = "\n".join(line.strip() for line in lines)[:PREFIX_CHARS]
        paired = kind in ("item", "paragraph", "quote")
        units = [unit for block in run for unit in _units(block, parsed, starts)]
        group: list[tuple[int, int]] = []
        opening = True
        for start, end in units:
            if group and _closes(group, (start, end), text, paired=paired, items=kind == "item"):
                spans += _fit(group, text, "" if opening else prefix, context, limits)
                group, opening = [], False
            group.append((start, end))
        spans += _fit(group, text, "" if opening else prefix, context, limits)
    return spans


def _runs(blocks: list[Block]) -> Iterator[list[Block]]:
    """Group neighbouring list items; every other block stands alone."""
    run: list[Block] = []
    for block in blocks:
        if run and not (block.kind == run[-1].kind == "item"):
            yield run
            run = []
        run.append(block)
    if run:
        yield run


def _units(block: Block, parsed: Parsed, starts: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the lines of a block as character ranges, blank lines left out."""
    for number in range(block.start, block.end):
        if parsed.lines[number].strip():
            yield starts[number], starts[number] + len(parsed.lines[number])


def _closes(
    group: list[tuple[int, int]],
    unit: tuple[int, int],
    text: str,
    *,
    paired: bool,
    items: bool,
) -> bool:
    """Tell whether the next line opens a new part."""
    if paired and len(group) >= PART_LINES:
        return True
    line = text[unit[0] : unit[1]]
    if items and digest(line)[0] % RESTART_ODDS == 0:
        return True
    return quotient(text[group[0][0] : unit[1]]) > PART_TOKENS


def _fit(
    group: list[tuple[int, int]],
    text: str,
    prefix: str,
    context: str,
    limits: Limits,
) -> Iterator[_Span]:
    """Yield a group as one part, or as several where it is too long to embed whole."""
    if not group:
        return
    start, end = group[0][0], group[-1][1]
    room = limits.part_max - limits.count(context) - (limits.count(prefix) if prefix else 0)
    if room < limits.part_max // 4:  # a context that crowds out the text is not worth it
        prefix = ""
        room = max(limits.part_max // 4, limits.part_max - limits.count(context))
    whole = text[start:end]
    if quotient(whole) <= PART_TOKENS * 1.5 and _tokens(whole, limits.count, room) <= room:
        yield _Span(start, end, prefix)
        return
    for piece_start, piece_end in _pieces(whole, limits.count, room):
        yield _Span(start + piece_start, start + piece_end, prefix)


def _tokens(text: str, count: Count, room: int) -> int:
    """Count tokens, skipping the work where even one token a character would fit."""
    return len(text) if text.isascii() and len(text) <= room else count(text)


def _pieces(text: str, count: Count, room: int) -> Iterator[tuple[int, int]]:
    """Cut a text at sentences, then words, then characters, into pieces of at most `room`."""
    at = begin = 0
    for stop in _boundaries(text):
        if begin < at and (
            quotient(text[begin:stop]) > PART_TOKENS or _tokens(text[begin:stop], count, room) > room
        ):
            yield begin, at
            begin = at
        if _tokens(text[begin:stop], count, room) > room or (
            quotient(text[begin:stop]) > 2 * PART_TOKENS
        ):
            yield from _hard_pieces(text, begin, stop, count, room)
            begin = stop
        at = stop
    if begin < at:
        yield begin, at


def _boundaries(text: str) -> Iterator[int]:
    for match in _SENTENCE.finditer(text):
        yield match.end()
    yield len(text)


def _hard_pieces(
    text: str, start: int, end: int, count: Count, room: int
) -> Iterator[tuple[int, int]]:
    """Cut one long sentence at spaces near PART_TOKENS, or anywhere where there are none."""
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


def _pack(spans: list[_Span], text: str, limits: Limits) -> Iterator[list[_Span]]:
    """Pack parts into chunks of at most `chunk_tokens`, repeating `overlap_tokens` of parts."""
    groups: list[list[_Span]] = []
    group: list[_Span] = []
    size = 0.0
    for atom in _atoms(spans, text, limits.chunk_tokens):
        cost = quotient(text[atom[0].start : atom[-1].end])
        if group and size + cost > limits.chunk_tokens:
            groups.append(group)
            group = _overlap(group, text, limits.overlap_tokens)
            size = sum(quotient(text[s.start : s.end]) for s in group)
        group += atom
        size += cost
    if group:
        groups.append(group)
    if len(groups) > 1 and not limits.overlap_tokens:
        last = sum(quotient(text[s.start : s.end]) for s in groups[-1])
        if last < TAIL_SHARE * limits.chunk_tokens:
            tail = groups.pop()
            groups[-1] = groups[-1] + tail
    yield from groups


def _atoms(spans: list[_Span], text: str, chunk_tokens: int) -> Iterator[list[_Span]]:
    """Keep the parts of one line together, unless that line alone is over the limit."""
    atom: list[_Span] = []
    for span in spans:
        if atom and "\n" in text[atom[-1].end : span.start]:
            yield from _atom_pieces(atom, text, chunk_tokens)
            atom = []
        atom.append(span)
    if atom:
        yield from _atom_pieces(atom, text, chunk_tokens)


def _atom_pieces(atom: list[_Span], text: str, chunk_tokens: int) -> Iterator[list[_Span]]:
    if quotient(text[atom[0].start : atom[-1].end]) <= chunk_tokens:
        yield atom
    else:
        yield from ([span] for span in atom)


def _overlap(group: list[_Span], text: str, tokens: int) -> list[_Span]:
    kept: list[_Span] = []
    size = 0.0
    for span in reversed(group[1:]):
        size += quotient(text[span.start : span.end])
        if size > tokens:
            break
        kept.insert(0, span)
    return kept


def _line_starts(lines: tuple[str, ...]) -> list[int]:
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    return starts


def _lines_of(starts: list[int], start: int, end: int) -> tuple[int, int]:
    """Give the 1-based first and last line of a character range."""
    return bisect_right(starts, start), bisect_right(starts, max(start, end - 1))


def _byte_offsets(text: str) -> Callable[[int], int]:
    """Give a function from character to byte offsets, asked in any order."""
    if text.isascii():
        return lambda offset: offset
    known = [(0, 0)]

    def to_bytes(offset: int) -> int:
        char, byte = known[-1] if known[-1][0] <= offset else (0, 0)
        byte += len(text[char:offset].encode("utf-8", "surrogatepass"))
        known.append((offset, byte))
        return byte

    return to_bytes


def _slug(name: str) -> str:
    return _SLUG.sub("-", name.casefold()).strip("-_")[:80]
