"""Decide what to summarise: from logs and earlier summaries to drafts; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from memcli.compaction.compose import EntrySummary
from memcli.compaction.draft import CompactionSettings, Declined, Drafter, Item, SummaryDraft
from memcli.compaction.entries import DatedLog, LogEntry, cut
from memcli.compaction.external_summarizer import Wording
from memcli.compaction.sentences import sentences
from memcli.compaction.similarity import Embed, idf
from memcli.compaction.summaries import Summary, corrections, entries_of
from memcli.compaction.superseded import marked
from memcli.markdown import frontmatter
from memcli.markdown.evidence import WORDED
from memcli.markdown.lineage import cited_place, lines_hash
from memcli.record import Record
from memcli.types import Lineage, SourceLines

OLD = 3  # times the days of the tail: summaries before them are summarised again


class CompactionPlan(Record):
    """The work of a run."""

    entries: tuple[LogEntry, ...]
    tail: tuple[LogEntry, ...]
    waiting: tuple[LogEntry, ...]
    covered: int  # entries older than the tail that a valid summary covers already
    drafts: tuple[SummaryDraft, ...]
    declined: tuple[Declined, ...]

    @property
    def tokens(self) -> tuple[int, int]:
        """Return the tokens that the drafts summarise, and those of the drafts in use."""
        sources = sum(draft.lineage.source_tokens for draft in self.drafts)
        tokens = sum(draft.lineage.summary_tokens for draft in self.drafts)
        below = {path for draft in self.drafts for path in draft.lineage.parents}
        inside = sum(d.lineage.summary_tokens for d in self.drafts if d.path in below)
        return sources - inside, tokens - inside

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
    entries = sorted((r for log in logs for r in cut(log)), key=lambda r: r.key)
    eligible, tail = split_tail(entries, least=settings.tail_entries, days=settings.tail_days)
    weights = idf("\n".join(r.log.lines[r.start_line - 1 : r.end_line]) for r in entries)
    valid = [summary for summary in existing if summary.is_valid]
    covered: dict[str, list[SourceLines]] = {}
    for source in (source for summary in valid for source in summary.lineage.sources):
        covered.setdefault(source.path, []).append(source)
    cites = (cited_place(each) for summary in valid for each in corrections(summary.text))
    replaced = {(old.path, old.first) for old in cites if old}
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
    new = [at for at, entry in enumerate(eligible) if not _is_covered(entry, covered)]
    size = settings.cluster
    clusters = {at: number // size for number, at in enumerate(new)}
    read = marked([_summary(entry) for entry in eligible], clusters, replaced)
    items = [_item(eligible[at], read[at]) for at in new]
    whole = len(new) - len(new) % size  # the rest waits, so a second run changes nothing
    for at in range(0, whole, size):
        drafter.summarise(items[at : at + size])
    last = max((log.date for log in logs), default="")
    old = first_day(last, OLD * settings.tail_days) if last and settings.tail_days else ""
    made = [(summary.path, summary.text, summary.lineage) for summary in valid]
    made += [(draft.path, draft.text, draft.lineage) for draft in drafter.drafts]
    rest, at = _old(made, old), 0
    while at + size <= len(rest):
        # If some of them are too full of decisions, the first waits and the others are tried.
        if drafter.summarise(rest[at : at + size]):
            del rest[at : at + size]
            at = 0
        else:
            at += 1
    return CompactionPlan(
        entries=tuple(entries),
        tail=tuple(tail),
        waiting=tuple(eligible[at] for at in new[whole:]),
        covered=len(eligible) - len(new),
        drafts=tuple(drafter.drafts),
        declined=tuple(drafter.declined),
    )


def _is_covered(entry: LogEntry, covered: Mapping[str, Sequence[SourceLines]]) -> bool:
    return any(
        source.start_line <= entry.start_line and source.end_line >= entry.end_line
        for source in covered.get(entry.log.path, ())
    )


def _summary(entry: LogEntry) -> EntrySummary:
    log, own = entry.log, tuple(sentences(entry))
    headings = (log.title, *(h for h in entry.headings if h != log.title))
    return EntrySummary(log.date, headings, log.path, entry.start_line, entry.end_line, own)


def _item(entry: LogEntry, summary: EntrySummary) -> Item:
    log = entry.log
    hash_ = lines_hash(log.lines, entry.start_line, entry.end_line)
    source = SourceLines(log.path, entry.start_line, entry.end_line, hash_)
    return Item(source, log.first_day or log.date, log.date, entry.tokens, (summary,))


def _old(summaries: Sequence[tuple[str, str, Lineage]], before: str) -> list[Item]:
    """Return the summaries of logs that end before a day and are in no other summary."""
    inside = {path for _, _, lineage in summaries for path in lineage.parents}
    items = []
    for path, text, lineage in sorted(summaries, key=lambda each: (each[2].latest, each[0])):
        is_old = lineage.level == 1 and lineage.method not in WORDED and lineage.latest < before
        if not is_old or path in inside:
            continue
        lines = text.removesuffix("\n").split("\n")
        first = frontmatter.split(tuple(lines))[1] + 1
        source = SourceLines(path, first, len(lines), lines_hash(lines, first, len(lines)))
        days, tokens = (lineage.earliest, lineage.latest), lineage.summary_tokens
        items.append(Item(source, *days, tokens, tuple(entries_of(text)), level=1))
    return items


def split_tail(
    entries: Sequence[LogEntry], *, least: int, days: int
) -> tuple[list[LogEntry], list[LogEntry]]:
    """Return (eligible, tail) of entries sorted by time.

    The tail is what the last `days` before the newest entry say, and at least `least` entries.
    """
    first = first_day(entries[-1].log.date, days) if entries else ""
    start = sum(entry.log.date < first for entry in entries) if days else len(entries)
    start = max(0, min(start, len(entries) - least))
    return list(entries[:start]), list(entries[start:])


def first_day(newest: str, days: int) -> str:
    """Return the first of the last `days` days. Example: "2025-03-03", 2 -> "2025-03-02"."""
    last = date.fromisoformat(newest)
    return (last - timedelta(days=min(days - 1, last.toordinal() - 1))).isoformat()
