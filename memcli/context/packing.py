"""Put what was found into the room there is, neighbours of one document into one fence; pure.

Passages come in the order of their rank. One joins what is shown of its document already where
that costs no more than a fence of its own: the lines between stand there in place of a citation.
What does not fit gives way to smaller ones behind it.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence

from memcli.context.parts import ContextPart, join
from memcli.record import Record

Ranked = tuple[int, ContextPart]  # rank of the best passage of a part


class Packed(Record):
    """What is shown, by its best passage, and what had no room, by its rank."""

    kept: list[ContextPart]
    left: list[ContextPart]


def packed(
    found: Iterable[ContextPart], fixed: Sequence[ContextPart], room: float, *, by_lines: bool
) -> Packed:
    """Pack parts into `room` tokens; what `fixed` or a better part shows is not shown again."""
    page = _Page(fixed, by_lines=by_lines)
    refused: list[ContextPart] = []
    for rank, part in enumerate(found):
        if page.shows(part):
            continue
        offer = page.price(rank, part)
        if offer.cost <= room:
            page.take(offer)
            room -= offer.cost
        else:
            refused.append(part)
    # What had no room may have come to be shown between two others.
    return Packed(page.parts(), [part for part in refused if not page.shows(part)])


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
        for part in fixed:
            self._document(part).fixed.append(part)

    def shows(self, part: ContextPart) -> bool:
        """Tell whether any of a part is shown; those shown are disjoint, so two can be near."""
        document = self._document(part)
        at = bisect(document.positions, _position(part))
        near = [shown for _, shown in document.parts[max(0, at - 1) : at + 1]]
        others = (*document.fixed, *near)
        return any(part.overlaps(other, by_lines=self._by_lines) for other in others)

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

    def parts(self) -> list[ContextPart]:
        """Give what is shown beside what is fixed, best first."""
        every = (ranked for document in self._documents.values() for ranked in document.parts)
        return [part for _, part in sorted(every, key=_rank)]

    def _document(self, part: ContextPart) -> _Document:
        return self._documents.setdefault(part.excerpt.about.document, _Document([], [], []))

    def _joint(self, above: ContextPart, below: ContextPart) -> ContextPart | None:
        """Join two parts where that is no dearer and shows nothing again."""
        whole = join(above, below)
        if whole is None or whole.cost > above.cost + below.cost:
            return None
        fixed = self._document(whole).fixed
        again = any(whole.overlaps(other, by_lines=self._by_lines) for other in fixed)
        return None if again else whole


def _position(part: ContextPart) -> tuple[int, int]:
    return part.spans[0].chunk.ordinal, part.spans[0].start


def _rank(ranked: Ranked) -> int:
    return ranked[0]
