"""Which summaries hold, which lines they stand for, and so what each view can find; pure.

A summary is stale when a line it rests on is not as it was, or when it rests on a summary that is
stale. Where anything is in doubt, raw lines are found: they may be read twice, never missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memcli.store.records import Reach, Support
from memcli.types import Filters, SourceLines


def stale(supports: Iterable[Support]) -> frozenset[str]:
    """Name the summaries that do not hold, by path."""
    supports = tuple(supports)
    found = {support.summary for support in supports if not support.holds}
    while more := {s.summary for s in supports if s.lines.path in found} - found:
        found |= more
    return frozenset(found)


def reach_of(filters: Filters, supports: Sequence[Support]) -> Reach:
    """Say what a view can find.

    `all` is everything, `raw` leaves out summaries. `active` leaves out the summaries that are
    stale, and the chunks that lie inside lines for which another one stands.
    """
    if filters.view == "raw":
        return Reach(filters, tuple(sorted({support.summary for support in supports})))
    if filters.view == "active":
        doubtful = stale(supports)
        covered = {s.lines for s in supports if s.summary not in doubtful}
        return Reach(filters, tuple(sorted(doubtful)), tuple(sorted(covered)))
    return Reach(filters)


def leaves(supports: Iterable[Support]) -> dict[str, list[SourceLines]]:
    """Follow every summary, through summaries of summaries, to the raw lines behind it."""
    below: dict[str, list[SourceLines]] = {}
    for support in supports:
        below.setdefault(support.summary, []).append(support.lines)
    return {summary: _leaves(summary, below) for summary in below}


def _leaves(summary: str, below: dict[str, list[SourceLines]]) -> list[SourceLines]:
    found: set[SourceLines] = set()
    seen, todo = {summary}, [summary]
    while todo:
        for lines in below[todo.pop()]:
            if lines.path not in below:
                found.add(lines)
            elif lines.path not in seen:
                seen.add(lines.path)
                todo.append(lines.path)
    return sorted(found)
