"""Put what was found into the room there is, neighbours of one document into one fence; pure.

Passages come in the order of their rank. One joins what is shown of its document already where
that costs no more than a fence of its own: the lines between stand there in place of a citation.
No line is told twice, neither by two parts nor by a summary and the lines it cites: of a passage
only the lines come that are not told yet. A summary tells a rule only word for word. One of the
best that does not fit is cut down; the others give way to smaller ones behind them, with a question
only to those about as good.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence

from memcli.context.parts import ContextPart, join, make_part
from memcli.markdown.lineage import citations
from memcli.record import Record
from memcli.types import SUMMARY, is_memory, memory_path

# So many of the best passages are cut down where they do not fit. Mean share of five LoCoMo
# conversations with evidence in 300 tokens: .640 without, .710 with 3, and with 10 as well.
CUT_DOWN = 3
# What follows a passage that had no room has at least this share of its score. On the same
# conversations .95 leaves recall in 2000 tokens as it is and saves 20 of them, 1 loses .001.
ABOUT_AS_GOOD = 0.95

Ranked = tuple[int, ContextPart]  # rank of the best passage of a part
Cited = tuple[str, int, int]  # path in the memory, first and last line


class Packed(Record):
    """What is shown, by its best passage, and what is not, by its rank."""

    parts: list[ContextPart]
    left: list[ContextPart]  # what had no room
    idle: list[ContextPart]  # what is worth less than that
    room: float  # tokens that are left


def packed(
    found: Iterable[ContextPart],
    fixed: Sequence[ContextPart],
    room: float,
    *,
    by_lines: bool,
    least_share: float = 0.0,
) -> Packed:
    """Pack parts into `room` tokens; what `fixed` or a better part shows is not shown again.

    What scores below `least_share` of the first part without room is not shown.
    """
    page = _Page(fixed, by_lines=by_lines)
    refused: list[ContextPart] = []
    idle: list[ContextPart] = []
    least = 0.0
    for rank, part in enumerate(found):
        for piece in page.untold(part):
            if (piece.score or 0.0) < least:
                idle.append(piece)
                continue
            offer = page.fitting(rank, piece, room)
            if offer is not None:
                page.take(offer)
                room -= offer.cost
                continue
            refused.append(piece)
            if rank >= CUT_DOWN and not page.is_empty:
                least = least or least_share * (piece.score or 0.0)
    # What had no room may have come to be shown between two others.
    left, idle = ([part for part in parts if not page.shows(part)] for parts in (refused, idle))
    return Packed(page.parts(), left, idle, room)


def cited(part: ContextPart) -> list[Cited]:
    """List the raw lines that a part of a summary tells; it may begin in the middle of a line."""
    if part.excerpt.about.kind != SUMMARY:
        return []
    lines = (line for line in part.text.split("\n") if not line.startswith("#"))
    found = citations("\n".join("- " + line.removeprefix("- ") for line in lines))
    source = part.excerpt.about.source
    return [(memory_path(source, path), first, last) for path, first, last in found]


def touches(part: ContextPart, lines: Cited) -> bool:
    """Tell whether a part shows any of some lines of the memory."""
    about, (path, first, last) = part.excerpt.about, lines
    is_there = is_memory(about.source) and memory_path(*about.document) == path
    return is_there and about.start_line <= last and first <= about.end_line


class _Document(Record):
    """What is shown of a document, in its order."""

    fixed: list[ContextPart]
    positions: list[tuple[int, int]]  # of the parts, to look them up
    parts: list[Ranked]


class _Offer(Record):
    """What showing a part would cost, and how it would stand on the page it was made for."""

    cost: float  # tokens it adds
    document: _Document
    neighbours: slice  # parts of the document that it joins
    whole: Ranked  # with them


class _Page:
    """What is shown so far, and what one part more would make of it."""

    def __init__(self, fixed: Sequence[ContextPart], *, by_lines: bool) -> None:
        self._by_lines = by_lines
        self._documents: dict[tuple[str, str], _Document] = {}  # by (source, path)
        self._of_memory: dict[str, _Document] = {}  # those of the memory, as lineages name them
        # The lines that summaries tell, by path, with the summary.
        self._summed: dict[str, list[tuple[Cited, ContextPart]]] = {}
        for part in fixed:
            self._document(part).fixed.append(part)
            self._note(part)

    @property
    def is_empty(self) -> bool:
        """Tell that nothing is shown beside what is fixed."""
        return not any(document.parts for document in self._documents.values())

    def shows(self, part: ContextPart) -> bool:
        """Tell whether any of a part is told; those shown are disjoint, so two can be near."""
        document = self._document(part)
        at = bisect(document.positions, _position(part))
        near = [shown for _, shown in document.parts[max(0, at - 1) : at + 1]]
        others = (*document.fixed, *near)
        overlaps = any(part.overlaps(other, by_lines=self._by_lines) for other in others)
        return overlaps or self._is_told_elsewhere(part)

    def untold(self, part: ContextPart) -> list[ContextPart]:
        """Give the part, or of one that is told in part the runs of lines that are not."""
        if not self.shows(part):
            return [part]
        if len(part.spans) > 1:
            return []
        span = part.spans[0]
        runs: list[list[ContextPart]] = [[]]
        at = span.start
        for line in span.chunk.text[span.start : span.end].split("\n"):
            shown = _window(part, at, at + len(line))
            if self.shows(shown):
                runs.append([])
            else:
                runs[-1].append(shown)
            at += len(line) + 1
        return [
            _window(part, run[0].spans[0].start, run[-1].spans[0].end)
            for run in runs
            if any(line.text.strip() and not line.text.startswith("#") for line in run)
        ]

    def fitting(self, rank: int, part: ContextPart, room: float) -> _Offer | None:
        """Offer to show a part, or one of the best as far as it fits; None without room."""
        offer = self.price(rank, part)
        cuts = iter(part.cuts if rank < CUT_DOWN else ())
        while offer.cost > room:
            cut = next(cuts, None)
            if cut is None:
                return None
            offer = self.price(rank, _window(part, *cut))
        return offer

    def price(self, rank: int, part: ContextPart) -> _Offer:
        """Offer to show a part; the offer holds until another is taken."""
        document = self._document(part)
        first = end = bisect(document.positions, _position(part))
        whole = part
        if first > 0 and (joint := self._joint(document.parts[first - 1][1], whole)):
            whole, first = joint, first - 1
        if end < len(document.parts) and (joint := self._joint(whole, document.parts[end][1])):
            whole, end = joint, end + 1
        joined = document.parts[first:end]
        best, leader = min(joined, default=(rank, part), key=_rank)
        whole = whole._replace(score=leader.score, via=leader.via)
        cost = whole.cost - sum(neighbour.cost for _, neighbour in joined)
        return _Offer(cost, document, slice(first, end), (best, whole))

    def take(self, offer: _Offer) -> None:
        """Show the part of an offer."""
        offer.document.parts[offer.neighbours] = [offer.whole]
        offer.document.positions[offer.neighbours] = [_position(offer.whole[1])]
        self._note(offer.whole[1])

    def parts(self) -> list[ContextPart]:
        """Give what is shown beside what is fixed, best first."""
        every = (ranked for document in self._documents.values() for ranked in document.parts)
        return [part for _, part in sorted(every, key=_rank)]

    def _document(self, part: ContextPart) -> _Document:
        key = part.excerpt.about.document
        if key not in self._documents:
            self._documents[key] = made = _Document([], [], [])
            if is_memory(key[0]):
                self._of_memory[memory_path(*key)] = made
        return self._documents[key]

    def _joint(self, above: ContextPart, below: ContextPart) -> ContextPart | None:
        """Join two parts where that is no dearer and shows nothing again."""
        whole = join(above, below)
        if whole is None or whole.cost > above.cost + below.cost:
            return None
        fixed = self._document(whole).fixed
        again = any(whole.overlaps(other, by_lines=self._by_lines) for other in fixed)
        return None if again or self._is_told_elsewhere(whole) else whole

    def _note(self, part: ContextPart) -> None:
        for lines in cited(part):
            self._summed.setdefault(lines[0], []).append((lines, part))

    def _is_told_elsewhere(self, part: ContextPart) -> bool:
        """Tell whether another document tells the same: a summary, or what a summary cites."""
        path = _path(part)
        by = [summary for lines, summary in self._summed.get(path, ()) if touches(part, lines)]
        if by and not _has_other_rule(part, by):
            return True
        return any(self._is_told(lines, path) for lines in cited(part))

    def _is_told(self, lines: Cited, summary: str) -> bool:
        """Tell whether raw lines are shown, or told by another summary."""
        path, first, last = lines
        others = (known for known, by in self._summed.get(path, ()) if _path(by) != summary)
        if any(a <= last and first <= b for _, a, b in others):
            return True
        document = self._of_memory.get(path)
        if document is None:
            return False
        shown = (*document.fixed, *(part for _, part in document.parts))
        return any(touches(part, lines) for part in shown)


def _has_other_rule(part: ContextPart, summaries: Sequence[ContextPart]) -> bool:
    """Tell that a part contains a rule that summaries of its lines do not say word for word."""
    from memcli.language.salience import RULE, sentences_of, why_kept
    from memcli.markdown.parse import parse
    from memcli.markdown.units import units

    lines = part.text.split("\n")
    texts = (unit.text for block in parse(part.text).blocks for unit in units(block, lines))
    rules = [s for text in texts for s in sentences_of(text) if why_kept(s) == RULE]
    return any(all(rule not in summary.text for summary in summaries) for rule in rules)


def _path(part: ContextPart) -> str:
    """Name the document of a part as lineages do."""
    return memory_path(*part.excerpt.about.document)


def _position(part: ContextPart) -> tuple[int, int]:
    return part.spans[0].chunk.ordinal, part.spans[0].start


def _rank(ranked: Ranked) -> int:
    return ranked[0]


def _window(part: ContextPart, start: int, end: int) -> ContextPart:
    """Show only some characters of the chunk of a part."""
    chunk = part.spans[0].chunk
    made = make_part(part.section, chunk, window=(start, end), score=part.score, via=part.via)
    return made._replace(corrected_by=part.corrected_by)
