"""Decide what to summarise: from logs and earlier summaries to drafts; pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import TypeVar

from memcli.compaction.compose import Entry
from memcli.compaction.draft import CompactionSettings, Declined, Drafter, Item, SummaryDraft
from memcli.compaction.external_summarizer import Wording
from memcli.compaction.records import DatedLog, LogRecord, cut
from memcli.compaction.sentences import sentences
from memcli.compaction.similarity import Embed, idf
from memcli.compaction.summaries import Summary
from memcli.markdown.lineage import lines_hash
from memcli.record import Record
from memcli.types import SourceLines


class CompactionPlan(Record):
    """The work of a run."""

    records: tuple[LogRecord, ...]
    tail: tuple[LogRecord, ...]
    waiting: tuple[LogRecord, ...]
    covered: int  # records older than the tail that a valid summary covers already
    drafts: tuple[SummaryDraft, ...]
    declined: tuple[Declined, ...]

    @property
    def tokens(self) -> tuple[int, int]:
        """Return the tokens that the drafts summarise, and their own."""
        sources = sum(draft.lineage.source_tokens for draft in self.drafts)
        return sources, sum(draft.lineage.summary_tokens for draft in self.drafts)

    @property
    def ratio(self) -> float | None:
        """Return the tokens of the drafts as a share of what they summarise."""
        before, after = self.tokens
        return round(after / before, 4) if before else None


def make_plan(
    logs: Sequence[DatedLog],
    existing: Sequence[Summary],
    settings: CompactionSettings,
    *,
    folder: str,
    now: str,
    embed: Embed | None,
    writer: Wording | None = None,
) -> CompactionPlan:
    """Plan a run; `existing` are the summaries in the folder, `now` is the time of the run.

    `writer` summarises in place of the extraction.
    """
    records = sorted((r for log in logs for r in cut(log)), key=lambda r: r.key)
    eligible, tail = split_tail(records, least=settings.tail_records, days=settings.tail_days)
    weights = idf("\n".join(r.log.lines[r.start_line - 1 : r.end_line]) for r in records)
    valid = [summary for summary in existing if summary.is_valid]
    covered: dict[str, list[SourceLines]] = {}
    for source in (source for summary in valid for source in summary.lineage.sources):
        covered.setdefault(source.path, []).append(source)
    open_ = [r for r in eligible if not _is_covered(r, covered.get(r.log.path, ()))]
    lines = {log.path: log.lines for log in logs}
    drafter = Drafter(
        existing,
        lines,
        settings,
        weights=weights,
        folder=folder,
        now=now,
        embed=embed,
        writer=writer,
    )
    groups, waiting = cluster([_item(record) for record in open_], settings.cluster)
    for group in groups:
        drafter.summarise(group)
    waits = open_[len(open_) - len(waiting) :] if waiting else []
    return CompactionPlan(
        records=tuple(records),
        tail=tuple(tail),
        waiting=tuple(waits),
        covered=len(eligible) - len(open_),
        drafts=tuple(drafter.drafts),
        declined=tuple(drafter.declined),
    )


def _is_covered(record: LogRecord, sources: Sequence[SourceLines]) -> bool:
    return any(
        source.start_line <= record.start_line and source.end_line >= record.end_line
        for source in sources
    )


def _item(record: LogRecord) -> Item:
    log = record.log
    hash_ = lines_hash(log.lines, record.start_line, record.end_line)
    headings = (log.title, *(h for h in record.headings if h != log.title))
    entry = Entry(
        log.date, headings, log.path, record.start_line, record.end_line,
        tuple(sentences(record)),
    )  # fmt: skip
    source = SourceLines(log.path, record.start_line, record.end_line, hash_)
    return Item(source, log.first_day or log.date, log.date, record.tokens, entry)


T = TypeVar("T")


def cluster(items: Sequence[T], size: int) -> tuple[list[list[T]], list[T]]:
    """Return (clusters, waiting) of items sorted by time.

    c = ceil(n / k) and item i goes to cluster floor(i * c / n): contiguous and even. The n items
    fill whole clusters; the others wait for more, so a second run changes nothing.
    """
    n = len(items) - len(items) % size
    count = -(-n // size)
    groups: list[list[T]] = [[] for _ in range(count)]
    for at, item in enumerate(items[:n]):
        groups[at * count // n].append(item)
    return groups, list(items[n:])


def split_tail(
    records: Sequence[LogRecord], *, least: int, days: int
) -> tuple[list[LogRecord], list[LogRecord]]:
    """Return (eligible, tail) of records sorted by time.

    The tail is what the last `days` before the newest record say, and at least `least` records.
    """
    first = first_day(records[-1].log.date, days) if records else ""
    start = sum(record.log.date < first for record in records) if days else len(records)
    start = max(0, min(start, len(records) - least))
    return list(records[:start]), list(records[start:])


def first_day(newest: str, days: int) -> str:
    """Return the first of the last `days` days. Example: "2025-03-03", 2 -> "2025-03-02"."""
    last = date.fromisoformat(newest)
    return (last - timedelta(days=min(days - 1, last.toordinal() - 1))).isoformat()
