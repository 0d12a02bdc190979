"""Rank summaries by what they are worth and find the lines behind them; pure.

    Q = 1 - weight * (1 - confidence of the summary)

multiplies the score of a summary. Expansion changes no score: it is a second look at the lines
behind the summaries that were found, and only at those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.record import Record
from memcli.search.mmr import token_set
from memcli.search.ranked import Quotation, RankedPassage, ordered
from memcli.types import About, SourceLines, memory_path

if TYPE_CHECKING:
    from memcli.markdown.lineage import CitedLine

QUALITY_WEIGHT = 0.5


class ExpandedLines(Record):
    """Raw lines behind a summary that was found."""

    passage: RankedPassage  # its score is relative to the added lines
    summary: str  # its path


def apply_quality(
    passages: Sequence[RankedPassage],
    confidences: Mapping[str, float],
    weight: float = QUALITY_WEIGHT,
) -> list[RankedPassage]:
    """Multiply the score of every summary by its quality."""
    if not confidences:
        return list(passages)
    weighted = []
    for passage in passages:
        known = confidences.get(path_of(passage.about)) if passage.about.is_summary else None
        if known is not None:
            factor = 1 - weight * (1 - known)
            score = passage.score * factor
            passage = passage.moved(score, "quality", confidence=known, factor=factor)
        weighted.append(passage)
    return ordered(weighted)


def spread(passages: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Keep the best passage for each document that a summary cites.

    Other passages of it would only lead to the same lines behind the summary.
    """
    seen: set[tuple[str, ...]] = set()
    result = []
    for passage in passages:
        if passage.about.is_summary:
            place = (path_of(passage.about), *sorted(_documents(passage)))
            if place in seen:
                continue
            seen.add(place)
        result.append(passage)
    return result


def without_repeats(passages: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Leave out a passage if a better one says the same: a line of a summary, or its source lines.

    `passages` are the best first. A line of a summary goes if better passages contain the lines it
    cites. A source line goes if a better line of a summary cites it and has all its words.
    """
    if not any(passage.about.is_summary for passage in passages):
        return list(passages)
    result: list[RankedPassage] = []
    shown: set[tuple[str, int]] = set()  # lines of logs
    words: dict[str, set[str]] = {}  # words of summaries, by the document that they cite
    for passage in passages:
        path = path_of(passage.about)
        if passage.about.is_summary:
            lines = cited_in(passage)
            if lines and all(
                (each.path, number) in shown
                for each in lines
                for number in range(each.first, each.last + 1)
            ):
                continue
            for each in lines:
                words.setdefault(each.path, set()).update(token_set(each.text))
        elif path in words and token_set(passage.text) <= words[path]:
            continue
        else:
            shown.update(
                (path, number) for number in range(passage.start_line, passage.end_line + 1)
            )
        result.append(passage)
    return result


def behind(passage: RankedPassage, leaves: Sequence[SourceLines]) -> list[SourceLines]:
    """Choose the raw lines behind a passage of a summary.

    They are all that the summary covers of the documents the passage cites, because a quoted
    sentence leads to the ones that were left out.
    """
    paths = _documents(passage)
    return [leaf for leaf in leaves if leaf.path in paths] or list(leaves)


def _documents(passage: RankedPassage | Quotation) -> set[str]:
    """Name the documents that a passage of a summary cites."""
    return {memory_path(passage.about.source, each.path) for each in cited_in(passage)}


def cited_in(passage: RankedPassage | Quotation) -> list[CitedLine]:
    """List what the lines of a summary's passage cite."""
    from memcli.markdown.lineage import cited_lines

    return [cite for _, cite in cited_lines(passage.text, passage.about.heading_path)]


def is_later(summary: Quotation, older: About) -> bool:
    """Return whether everything that a summary's passage cites is later than another passage.

    So a summary is never newer than what it summarizes.
    """
    day, paths = older.document_date, _documents(summary)
    if day is None or not paths or path_of(older) in paths:
        return False
    firsts = map(first_day, paths)
    return all(first is not None and day < first for first in firsts)


def first_day(path: str) -> str | None:
    """Return the first day that the name of a log states."""
    from memcli.workspace.dating import path_days

    days = path_days(path)
    return days[0] if days else None


def path_of(about: About) -> str:
    """Name the document of a passage as lineages do."""
    return memory_path(about.source, about.path)


def attach(
    passages: Sequence[RankedPassage],
    summaries: Sequence[RankedPassage],
    leaves: Mapping[str, Sequence[SourceLines]],
) -> list[ExpandedLines]:
    """Return each raw passage with the best of the summaries found that cover it."""
    scope = [(path := path_of(each.about), behind(each, leaves[path])) for each in summaries]
    scope += [(path, list(leaves[path])) for path in sorted(leaves)]
    return [
        ExpandedLines(passage, next(path for path, lines in scope if _is_in(passage, lines)))
        for passage in passages
    ]


def _is_in(passage: RankedPassage, lines: Sequence[SourceLines]) -> bool:
    return any(
        each.path == path_of(passage.about)
        and each.start_line <= passage.end_line
        and passage.start_line <= each.end_line
        for each in lines
    )
