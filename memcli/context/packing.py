"""Pack passages into a budget, with neighbours of one document in one fence; pure.

Passages are packed in the order of their rank. If it costs no more, a passage joins the shown part
of its document; the lines between are then shown instead of a second citation. No line is shown
twice. No summary is shown next to the lines that it cites, unless those contain a rule that it does
not quote word for word. If one of the best passages does not fit, it is cut down. If another does
not fit, smaller ones of a lower rank are tried; for a question they must be about as good. If the
newer line that corrects a passage did not fit, the passage is left out too.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from memcli.context.parts import ContextPart, join, make_part
from memcli.markdown.lineage import cited_lines
from memcli.record import Record
from memcli.search.ranked import Correction
from memcli.types import SUMMARY, is_memory, memory_path

# How many of the best passages are cut down if they do not fit. Mean share of five LoCoMo
# conversations with evidence in 300 tokens: .640 without, .710 with 3, and with 10 as well.
CUT_DOWN = 3
# After a passage that did not fit, others need this share of its score. In LoCoMo .95 leaves recall
# in 2000 tokens as it is and saves 20 of them; 1 loses .001.
ABOUT_AS_GOOD = 0.95

PackedPart = tuple[int, ContextPart]  # rank of the best passage of a part
CitedLine = tuple[str, int, int]  # path in the memory, first and last line


class PackedParts(Record):
    """The parts that are shown, best passage first, and those that are not, by rank."""

    parts: list[ContextPart]
    left: list[ContextPart]  # parts that did not fit
    idle: list[ContextPart]  # parts below the minimum share
    room: float  # tokens that are left


def packed(
    candidates: Iterable[ContextPart],
    fixed: Sequence[ContextPart],
    room: float,
    *,
    by_lines: bool,
    least_share: float = 0.0,
) -> PackedParts:
    """Pack parts into `room` tokens; lines of `fixed` or of a better part are not repeated.

    After the first part that does not fit, parts below `least_share` of its score are left out.
    """
    page = _Page(fixed, by_lines=by_lines)
    refused: list[ContextPart] = []
    idle: list[ContextPart] = []
    least = 0.0
    for rank, part in enumerate(candidates):
        for piece in page.hidden_runs(part):
            if (piece.score or 0.0) < least:
                idle.append(piece)
                continue
            is_past = any(_has(each, newer) for each in refused for newer in piece.corrected_by)
            offer = None if is_past else page.fitting(rank, piece, room)
            if offer is not None:
                page.take(offer)
                room -= offer.cost
                continue
            refused.append(piece)
            if rank >= CUT_DOWN and not page.is_empty:
                least = least or least_share * (piece.score or 0.0)
    # A part that did not fit may now be shown between two others.
    left, idle = ([part for part in parts if not page.shows(part)] for parts in (refused, idle))
    return PackedParts(page.parts(), left, idle, room)


def shortest(part: ContextPart) -> ContextPart:
    """Cut a part down to its best line."""
    return _window(part, *part.cuts[-1]) if part.cuts else part


def narrower(part: ContextPart) -> Iterator[ContextPart]:
    """Cut a part down step by step: to its best line, or to its first one if that is unknown."""
    first, text = part.spans[0], part.spans[0].chunk.text
    line = re.compile(r"\s*\S.*").match(text, first.start, first.end)
    ends = [(line.start(), line.end())] if line and not part.cuts else []
    yield from (_window(part, *cut) for cut in (*part.cuts, *ends))


def cited(part: ContextPart) -> list[CitedLine]:
    """List the lines that a part of a summary cites."""
    about = part.excerpt.about
    if about.kind != SUMMARY:
        return []
    cites = (cite for _, cite in cited_lines(part.text, about.heading_path))
    return [(memory_path(about.source, each.path), each.first, each.last) for each in cites]


def touches(part: ContextPart, lines: CitedLine) -> bool:
    """Return whether a part shows any of some lines of the memory."""
    about, (path, first, last) = part.excerpt.about, lines
    is_there = is_memory(about.source) and memory_path(*about.document) == path
    return is_there and about.start_line <= last and first <= about.end_line


def _has(part: ContextPart, newer: Correction) -> bool:
    about = part.excerpt.about
    is_there = about.document == newer.document
    return is_there and about.start_line <= newer.start_line <= about.end_line


class _Document(Record):
    """The shown parts of a document, in their order."""

    fixed: list[ContextPart]
    positions: list[tuple[int, int]]  # of the parts, to look them up
    parts: list[PackedPart]


class _Offer(Record):
    """The cost of a part on a page, and its place there."""

    cost: float  # tokens it adds
    document: _Document
    neighbours: slice  # parts of the document that it joins
    whole: PackedPart  # with them


class _Page:
    """The parts shown so far, to which others can be added."""

    def __init__(self, fixed: Sequence[ContextPart], *, by_lines: bool) -> None:
        self._by_lines = by_lines
        self._documents: dict[tuple[str, str], _Document] = {}  # by (source, path)
        self._of_memory: dict[str, _Document] = {}  # those of the workspace, as summaries cite them
        # The lines that shown summaries cover, by path, with the summary.
        self._summed: dict[str, list[tuple[CitedLine, ContextPart]]] = {}
        for part in fixed:
            self._document(part).fixed.append(part)
            self._note(part)

    @property
    def is_empty(self) -> bool:
        """Return whether only the fixed parts are shown."""
        return not any(document.parts for document in self._documents.values())

    def shows(self, part: ContextPart) -> bool:
        """Return whether a line of a part is shown; only two of the disjoint parts can be near."""
        document = self._document(part)
        at = bisect(document.positions, _position(part))
        near = [shown for _, shown in document.parts[max(0, at - 1) : at + 1]]
        others = (*document.fixed, *near)
        overlaps = any(part.overlaps(other, by_lines=self._by_lines) for other in others)
        return overlaps or self._is_covered_elsewhere(part)

    def hidden_runs(self, part: ContextPart) -> list[ContextPart]:
        """Return the runs of lines of a part that are not shown yet."""
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
        """Offer to show a part, or a piece of it if it is one of the best; None if nothing fits."""
        offer = self.price(rank, part)
        cuts = iter(part.cuts if rank < CUT_DOWN else ())
        while offer.cost > room:
            cut = next(cuts, None)
            if cut is None:
                return None
            offer = self.price(rank, _window(part, *cut))
        return offer

    def price(self, rank: int, part: ContextPart) -> _Offer:
        """Offer to show a part; the offer is valid until another is accepted."""
        document = self._document(part)
        first = end = bisect(document.positions, _position(part))
        whole = part
        if first > 0 and (joint := self._joint(document.parts[first - 1][1], whole)):
            whole, first = joint, first - 1
        if end < len(document.parts) and (joint := self._joint(whole, document.parts[end][1])):
            whole, end = joint, end + 1
        joined = document.parts[first:end]
        best, leader = min(joined, default=(rank, part), key=itemgetter(0))
        whole = whole._replace(score=leader.score, via=leader.via)
        cost = whole.cost - sum(neighbour.cost for _, neighbour in joined)
        return _Offer(cost, document, slice(first, end), (best, whole))

    def take(self, offer: _Offer) -> None:
        """Show the part of an offer."""
        offer.document.parts[offer.neighbours] = [offer.whole]
        offer.document.positions[offer.neighbours] = [_position(offer.whole[1])]
        self._note(offer.whole[1])

    def parts(self) -> list[ContextPart]:
        """List the parts that are shown, without the fixed ones, best first."""
        every = (ranked for document in self._documents.values() for ranked in document.parts)
        return [part for _, part in sorted(every, key=itemgetter(0))]

    def _document(self, part: ContextPart) -> _Document:
        key = part.excerpt.about.document
        if key not in self._documents:
            self._documents[key] = made = _Document([], [], [])
            if is_memory(key[0]):
                self._of_memory[memory_path(*key)] = made
        return self._documents[key]

    def _joint(self, above: ContextPart, below: ContextPart) -> ContextPart | None:
        """Join two parts if that costs no more and repeats nothing."""
        whole = join(above, below)
        if whole is None or whole.cost > above.cost + below.cost:
            return None
        fixed = self._document(whole).fixed
        again = any(whole.overlaps(other, by_lines=self._by_lines) for other in fixed)
        return None if again or self._is_covered_elsewhere(whole) else whole

    def _note(self, part: ContextPart) -> None:
        for lines in cited(part):
            self._summed.setdefault(lines[0], []).append((lines, part))

    def _is_covered_elsewhere(self, part: ContextPart) -> bool:
        """Return whether a summary of a part, or the lines that it cites, are shown."""
        path = _path(part)
        by = [summary for lines, summary in self._summed.get(path, ()) if touches(part, lines)]
        if by and not _has_other_rule(part, by):
            return True
        return any(self._is_shown(lines, path) for lines in cited(part))

    def _is_shown(self, lines: CitedLine, summary: str) -> bool:
        """Return whether lines are shown, or cited by another summary that is."""
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
    """Return whether a part contains a rule that no summary of its lines quotes word for word."""
    from memcli.language.salience import RULE, keep_reason, sentences_of
    from memcli.markdown.parse import parse
    from memcli.markdown.units import units

    lines = part.text.split("\n")
    texts = (unit.text for block in parse(part.text).blocks for unit in units(block, lines))
    rules = [s for text in texts for s in sentences_of(text) if keep_reason(s) == RULE]
    return any(all(rule not in summary.text for summary in summaries) for rule in rules)


def _path(part: ContextPart) -> str:
    """Return the document of a part as summaries cite it."""
    return memory_path(*part.excerpt.about.document)


def _position(part: ContextPart) -> tuple[int, int]:
    return part.spans[0].chunk.ordinal, part.spans[0].start


def _window(part: ContextPart, start: int, end: int) -> ContextPart:
    """Show only some characters of the chunk of a part."""
    chunk = part.spans[0].chunk
    made = make_part(part.section, chunk, window=(start, end), score=part.score, via=part.via)
    return made._replace(corrected_by=part.corrected_by, cuts=part.cuts)
