"""Cut dated logs into entries: runs of blocks of one section that never cut a bundle; pure.

The blocks of a bundle need each other: a list with its lead-in, a question and its answer, a fence
or table with the paragraph before it. An entry also contains the headings above it, so that the
entries of a log cover every chunk of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.language.tokens import measure
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.markdown.parse import Block
    from memcli.types import Turn

# Bundles share an entry up to this size, about that of a chunk.
ENTRY_TOKENS = 400


class DatedLog(Record):
    """A dated log of the memory."""

    path: str
    title: str
    date: str
    lines: tuple[str, ...]
    first_day: str | None = None  # if the date is the last one of a span


class LogEntry(Record):
    """A run of whole bundles, with the headings above the first one."""

    log: DatedLog
    headings: tuple[str, ...]
    start_line: int
    end_line: int
    blocks: tuple[Block, ...]
    tokens: int
    turns: tuple[Turn, ...] = ()  # of a conversation, within the entry

    @property
    def key(self) -> tuple[str, str, int]:
        """Sort entries by time."""
        return self.log.date, self.log.path, self.start_line


def cut(log: DatedLog) -> list[LogEntry]:
    """Cut a log into its entries, in order."""
    from memcli.markdown.parse import parse
    from memcli.markdown.turns import turns_of, within

    parsed = parse("\n".join(log.lines))
    turns = turns_of(parsed)
    entries = []
    for headings, top, section in _sections(parsed.blocks):
        for first, blocks in _runs(log, top, section):
            start, end = min(first, blocks[0].start), blocks[-1].end
            tokens = measure("\n".join(log.lines[start:end]))
            own = within(turns, start + 1, end)
            entries.append(LogEntry(log, headings, start + 1, end, tuple(blocks), tokens, own))
    return entries


def _sections(blocks: Sequence[Block]) -> Iterator[tuple[tuple[str, ...], int, list[Block]]]:
    """Yield the headings above some blocks, the first line, and the blocks.

    A heading without a body waits for the next one; at the end, it is a body itself.
    """
    stack: list[Block] = []
    body: list[Block] = []
    waiting: list[Block] = []
    headings: tuple[str, ...] = ()
    first = 0
    for block in blocks:
        if block.kind != "heading":
            if not body:
                first = waiting[0].start if waiting else block.start
                headings = tuple(b.title for b in stack if b.title)
            waiting = []
            body.append(block)
            continue
        if body:
            yield headings, first, body
            body = []
        while stack and stack[-1].level >= block.level:
            stack.pop()
        stack.append(block)
        waiting.append(block)
    if body:
        yield headings, first, body
    elif waiting:
        yield tuple(b.title for b in stack[:-1] if b.title), waiting[0].start, waiting


def _runs(log: DatedLog, first: int, blocks: Sequence[Block]) -> Iterator[tuple[int, list[Block]]]:
    """Put the bundles of a section together while they fit an entry."""
    run: list[Block] = []
    tokens = 0
    for bundle in _bundles(log.lines, blocks):
        size = measure("\n".join(log.lines[bundle[0].start : bundle[-1].end]))
        if run and tokens + size > ENTRY_TOKENS:
            yield first, run
            first, run, tokens = bundle[0].start, [], 0
        run += bundle
        tokens += size
    if run:
        yield first, run


def _bundles(lines: Sequence[str], blocks: Sequence[Block]) -> Iterator[list[Block]]:
    bundle: list[Block] = []
    for block in blocks:
        if bundle and not _belongs(bundle[-1], block, lines):
            yield bundle
            bundle = []
        bundle.append(block)
    if bundle:
        yield bundle


def _belongs(before: Block, block: Block, lines: Sequence[str]) -> bool:
    """Return whether a block needs the one before it."""
    if before.kind == block.kind == "item":
        return True
    if leads_on(before, lines):
        return True
    touches = before.end == block.start
    return before.kind == "paragraph" and (
        block.kind in ("fence", "table") or (block.kind == "item" and touches)
    )


def leads_on(block: Block, lines: Sequence[str]) -> bool:
    """Return whether a block asks something or announces the next one."""
    last = lines[block.end - 1].rstrip().rstrip("*_")
    return last.endswith((":", "：", "?", "？"))
