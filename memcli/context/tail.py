"""Cut the newest documents into the entries that a context shows, as compaction cuts them; pure.

An entry is not cut within a list and its lead-in, or between a question and its answer. If a list
is too long for an entry, such as the talk of a whole day, it is cut between items, but not after
an item that asks or leads on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, dropwhile, groupby

from memcli.compaction.entries import ENTRY_TOKENS, DatedLog, LogEntry, cut, leads_on
from memcli.context.parts import ChunkSpan, whole
from memcli.language.tokens import measure
from memcli.markdown.comments import visible
from memcli.types import Excerpt, Lines

# Characters to parse from the end of a document, about 50 times a tail.
MOST_CHARS = 1 << 18

# Tokens of items that stay together in such a list: the tail grows by this much at a time.
ITEMS_TOKENS = 200

TailEntry = tuple[ChunkSpan, ...]  # in the order of the document


def entries(newest: Iterable[Excerpt]) -> Iterator[TailEntry]:
    """Yield the entries of documents, newest first.

    `newest` gives their chunks document by document, each from its end.
    """
    for _, run in groupby(newest, lambda chunk: chunk.about.document):
        chunks = _last(run)
        # The parser takes longer to load than all the rest, so it is used only if needed.
        while chunks and _is_entry(chunks[-1]) and all(map(_has_body, chunks[-2:-1])):
            yield (whole(chunks.pop()),)
        if not chunks:
            continue
        lines = _lines(chunks)
        about = chunks[0].about
        cut_entries = cut(DatedLog(about.path, about.title, about.date or "", lines))
        places = [place for entry in cut_entries for place in _pieces(entry, lines)]
        for first, last in reversed(places):
            spans = tuple(_spans(chunks, first, last))
            if spans:
                yield spans


def _last(run: Iterable[Excerpt]) -> list[Excerpt]:
    """Take the end of a document, in order."""
    last: list[Excerpt] = []
    chars = 0
    for chunk in run:
        if last and chars + len(chunk.text) > MOST_CHARS:
            break
        last.append(chunk)
        chars += len(chunk.text)
    return last[::-1]


def _is_entry(chunk: Excerpt) -> bool:
    """Return whether a chunk is a section, and short enough for an entry."""
    first = chunk.text.partition("\n")[0]
    is_section = first.startswith("#") and first.strip("# ") in chunk.about.heading_path
    return is_section and measure(chunk.text) <= ENTRY_TOKENS and _has_body(chunk)


def _has_body(chunk: Excerpt) -> bool:
    """Return whether there are lines below the first headings, and that none may be a heading."""
    lines = (line.strip() for line in chunk.text.split("\n"))
    body = list(dropwhile(lambda line: not line or line.startswith("#"), lines))
    return body != [] and not any(
        line.startswith("#") or (line and not line.strip("=-")) for line in body
    )


def _lines(chunks: Sequence[Excerpt]) -> tuple[str, ...]:
    """Write the lines of a document that its chunks contain; the others are blank."""
    lines = [""] * max(chunk.about.end_line for chunk in chunks)
    end_line, end_byte = 0, 0
    for chunk in chunks:
        text, at = chunk.text, chunk.about.start_line - 1
        if chunk.start_byte < end_byte:  # the beginning belongs to the chunk before
            encoded = text.encode("utf-8", "surrogatepass")[end_byte - chunk.start_byte :]
            text, at = encoded.decode("utf-8", "surrogatepass"), end_line - 1
        for number, line in enumerate(text.split("\n"), start=at):
            lines[number] += line
        end_line, end_byte = chunk.about.end_line, chunk.end_byte
    return tuple(lines)


def _pieces(entry: LogEntry, lines: Sequence[str]) -> list[Lines]:
    """Return the lines of an entry, or of the runs of items of an entry that is too long."""
    if entry.tokens <= ENTRY_TOKENS:
        return [(entry.start_line, entry.end_line)]
    pieces: list[Lines] = []
    last = entry.end_line
    for before, block in zip(entry.blocks[-2::-1], entry.blocks[:0:-1], strict=True):
        is_large = measure("\n".join(lines[before.start : last])) > ITEMS_TOKENS
        are_items = before.kind == block.kind == "item"
        if is_large and are_items and not leads_on(before, lines):
            pieces.append((block.start + 1, last))
            last = before.end
    pieces.append((entry.start_line, last))
    return pieces[::-1]


def _spans(chunks: Sequence[Excerpt], first: int, last: int) -> Iterator[ChunkSpan]:
    """Take some lines out of chunks, if something of them is visible."""
    for chunk in chunks:
        top, bottom = chunk.about.start_line, chunk.about.end_line
        if top > last or bottom < first:
            continue
        starts = [0, *accumulate(len(line) + 1 for line in chunk.text.split("\n"))]
        start = starts[first - top] if first > top else 0
        end = starts[last - top + 1] - 1 if last < bottom else len(chunk.text)
        if visible(chunk.text[start:end]).strip():
            yield ChunkSpan(chunk, start, end)
