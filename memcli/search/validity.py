"""Find the valid summaries, the lines they replace, and so the documents that a view finds; pure.

A summary is not valid if its sources have changed, if somebody has changed it, if its lines do not
contain what it states (`markdown.evidence`), or if it is based on a summary that is not valid. Then
no view finds it, and each view finds its lines: they may be read twice, never missed.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from memcli.store.records import Scope, Support
from memcli.types import Filters, SourceLines


def doubtful(supports: Iterable[Support]) -> frozenset[str]:
    """Name the summaries that are not valid, by path."""
    supports = tuple(supports)
    summaries = {support.summary for support in supports if not support.holds}
    while more := {s.summary for s in supports if s.lines.path in summaries} - summaries:
        summaries |= more
    return frozenset(summaries)


def scope_of(
    filters: Filters, supports: Sequence[Support], passing: Container[str] | None = None
) -> Scope:
    """Return what a view can find.

    `raw` leaves out summaries, `all` only invalid ones. `active` also leaves out the chunks inside
    lines that a summary covers: any, or one of the `passing` paths.
    """
    if filters.view == "raw":
        return Scope(filters, tuple(sorted({support.summary for support in supports})))
    without = doubtful(supports)
    if filters.view == "all":
        return Scope(filters, tuple(sorted(without)))
    covered = {
        s.lines
        for s in supports
        if s.summary not in without and (passing is None or s.summary in passing)
    }
    return Scope(filters, tuple(sorted(without)), tuple(sorted(covered)))


def leaves(supports: Iterable[Support]) -> dict[str, list[SourceLines]]:
    """Follow every valid summary, through those below it, to the raw lines behind it."""
    supports = tuple(supports)
    without = doubtful(supports)
    below: dict[str, list[SourceLines]] = {}
    for support in supports:
        if support.summary not in without:
            below.setdefault(support.summary, []).append(support.lines)
    return {summary: leaves_of(summary, below) for summary in below}


def leaves_of(summary: str, below: Mapping[str, Sequence[SourceLines]]) -> list[SourceLines]:
    """Follow a summary down to the raw lines; `below` has the sources of each summary."""
    leaves: set[SourceLines] = set()
    seen, todo = {summary}, [summary]
    while todo:
        for lines in below[todo.pop()]:
            if lines.path not in below:
                leaves.add(lines)
            elif lines.path not in seen:
                seen.add(lines.path)
                todo.append(lines.path)
    return sorted(leaves)
