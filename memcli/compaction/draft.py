"""Draft the summary of one cluster, or decline it; pure.

A summary contains what must survive (rules, decisions and promises), something of every entry, and
the best of the rest. A cluster whose summary would cost more than WORTH of its lines is declined. A
summary of old summaries may use OF_OLDER of their tokens, and has a line of each of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, islice

from memcli.compaction.compose import EntrySummary, body, document, with_titles
from memcli.compaction.external_summarizer import Wording, written
from memcli.compaction.extract import Extract, SummaryLines, extract, recurring
from memcli.compaction.sentences import Sentence
from memcli.compaction.similarity import Embed
from memcli.compaction.summaries import Summary, last_lines
from memcli.language.salience import HARD
from memcli.language.tokens import measure, quotient
from memcli.markdown.evidence import WORDED
from memcli.markdown.lineage import cited_place, lines_hash
from memcli.record import Record
from memcli.types import Lineage, SourceLines

# A summary that saves less than four tenths is one more file to read.
WORTH = 0.6
OF_OLDER = 0.65  # with .7, a generated year of an engineer exceeds .35 of its tokens
LEAST = 0.85  # of its share of tokens, for a summary after longer ones of the same run
# Sentences are compared with one another, so there has to be an end.
MOST_TOKENS = 50_000


class CompactionSettings(Record):
    """The settings of compaction."""

    tail_entries: int
    tail_days: int
    cluster: int  # entries per summary
    ratio: float  # tokens of a summary over those of its lines
    context_tokens: int  # of the neighbouring summary


class Item(Record):
    """An entry, or an older summary, to summarise."""

    source: SourceLines
    earliest: str
    latest: str
    tokens: int
    entries: tuple[EntrySummary, ...]  # with every sentence; of a summary, one for each line
    level: int = 0  # of the summary; 0 for an entry


class SummaryDraft(Record):
    """A summary that is not written yet."""

    path: str
    text: str
    body: str
    lineage: Lineage
    items: int
    unused: str = ""  # why the text of a writer is not used; "" if it is, or if there was none
    invented: int = 0  # lines of a writer that were dropped
    omitted: tuple[Sentence, ...] = ()  # what the summary leaves out, in order


class Declined(Record):
    """A cluster that stays as it is, and why."""

    sources: tuple[SourceLines, ...]
    tokens: int
    reason: str


class Drafter:
    """Makes the drafts of one run; each knows the summaries before it."""

    def __init__(
        self,
        existing: Sequence[Summary],
        logs: Mapping[str, Sequence[str]],
        settings: CompactionSettings,
        *,
        weights: Mapping[str, float],
        folder: str,
        now: str,
        embed: Embed | None,
        writer: Wording | None,
    ) -> None:
        self.settings, self.weights, self.now, self.embed = settings, weights, now, embed
        self.logs, self.folder, self.writer = logs, folder, writer
        self.taken = {summary.path for summary in existing}
        self.run = 1 + max((summary.lineage.run for summary in existing), default=0)
        self.texts: list[tuple[str, str, str]] = []  # latest day, path, text of valid summaries
        self.excess = 0.0  # tokens that the drafts have above their share
        self.drafts: list[SummaryDraft] = []
        self.declined: list[Declined] = []
        for summary in existing:
            if summary.is_valid and summary.lineage.level == 1:
                self.texts.append((summary.lineage.latest, summary.path, summary.text))

    def summarise(self, items: Sequence[Item]) -> bool:
        """Draft the summary of a cluster, or decline it; return whether there is a draft."""
        sources, total = merged([i.source for i in items], self.logs), sum(i.tokens for i in items)
        level = max((item.level for item in items), default=0)
        if len(items) < 2:
            return False
        if total > MOST_TOKENS and not level:
            reason = f"{total} tokens are too many for one summary, {MOST_TOKENS} are the most"
            self.declined.append(Declined(sources, total, reason))
        if total > MOST_TOKENS:
            return False
        first, last = min(item.earliest for item in items), max(item.latest for item in items)
        entries = [entry for item in items for entry in item.entries]
        lineage = Lineage(
            sources=sources,
            parents=tuple(item.source.path for item in items if item.level),
            earliest=first,
            latest=last,
            compacted=self.now,
            method="",
            confidence=0.0,
            level=level + 1,
            source_tokens=total,
            summary_tokens=0,
            seal="",
            run=self.run,
        )
        ends = list(accumulate(sum(len(e.sentences) for e in item.entries) for item in items))
        groups = [range(start, end) for start, end in zip([0, *ends], ends, strict=False)]
        draft = self._worded(SummaryDraft("", "", "", lineage, len(items)), entries, groups)
        if isinstance(draft, str):
            if not level:  # older summaries stay in use
                self.declined.append(Declined(sources, total, draft))
            return False
        lineage = draft.lineage._replace(summary_tokens=measure(draft.body))
        if lineage.method not in WORDED:
            lineage = lineage._replace(sources=(*self._replaced(entries, sources), *sources))
        path, text = self._path(first, last), document(lineage, draft.body)
        self.drafts.append(draft._replace(path=path, text=text, lineage=lineage))
        if not level:
            self.texts.append((last, path, text))
        return True

    def _worded(
        self, draft: SummaryDraft, entries: Sequence[EntrySummary], groups: Sequence[range]
    ) -> SummaryDraft | str:
        """Write a summary that saves enough, or say why none does."""
        total, is_first = draft.lineage.source_tokens, draft.lineage.level == 1
        most = (max(WORTH, self.settings.ratio) if is_first else OF_OLDER) * total
        unused = ""
        if self.writer and is_first:
            by = self.writer
            text, confidence, invented = self._rewritten(entries, by)
            cost = measure(text)
            if cost <= most:
                lineage = draft.lineage._replace(method=by.method, confidence=confidence)
                return draft._replace(body=text, lineage=lineage, invented=invented)
            unused = f"what {by.name} wrote costs {cost} of {total} tokens"
        before = self._before(draft.lineage.earliest) if is_first else SummaryLines()
        share = self.settings.ratio * total
        goal = max(LEAST * share, share - self.excess) if is_first else most
        text, lines = self._body(entries, groups, before, goal)
        cost = measure(text)
        if cost > most:
            least = "the shortest summary"
            return (
                f"{unused}, and {least} {cost}"
                if unused
                else f"{least} costs {cost} of {total} tokens"
            )
        if is_first:
            self.excess = max(0.0, self.excess + cost - share)
        flat = [sentence for entry in entries for sentence in entry.sentences]
        omitted = (at for at, first in enumerate(recurring(flat)) if first not in lines.chosen)
        return draft._replace(
            body=text,
            lineage=draft.lineage._replace(method=lines.method, confidence=lines.confidence),
            unused=unused,
            omitted=tuple(flat[at] for at in omitted),
        )

    def _replaced(
        self, entries: Sequence[EntrySummary], sources: Sequence[SourceLines]
    ) -> list[SourceLines]:
        """Return the lines outside the sources that sentences of the summary correct."""
        lines = []
        for sentence in (each for entry in entries for each in entry.sentences):
            old = None if sentence.is_corrected else cited_place(sentence.replaces)
            if old and not any(
                old.path == s.path and s.start_line <= old.first <= old.last <= s.end_line
                for s in sources
            ):
                hash_ = lines_hash(self.logs[old.path], old.first, old.last)
                lines.append(SourceLines(old.path, old.first, old.last, hash_))
        return lines

    def _before(self, first: str) -> SummaryLines:
        """Return the lines of the newest summary that ends by `first`."""
        texts = [text for text in self.texts if text[0] <= first]
        if not texts:
            return SummaryLines()
        text = max(texts)[2]
        return SummaryLines(text, tuple(last_lines(text, self.settings.context_tokens)))

    def _path(self, first: str, last: str) -> str:
        """Name a summary by its dates; a second one of the same dates gets a number."""
        number, path = 1, f"{self.folder}{first}--{last}.md"
        while path in self.taken:
            number += 1
            path = f"{self.folder}{first}--{last}~{number}.md"
        self.taken.add(path)
        return path

    def _body(
        self,
        entries: Sequence[EntrySummary],
        groups: Sequence[range],
        before: SummaryLines,
        goal: float,
    ) -> tuple[str, Extract]:
        """Write a body of at most `goal` tokens, or the shortest one."""
        flat = [sentence for entry in entries for sentence in entry.sentences]
        forced = [n for n, s in enumerate(flat) if s.reason in HARD and not s.is_corrected]
        titled = with_titles(entries, goal / max(1.0, sum(quotient(s.shown) for s in flat)))
        result = extract(
            flat,
            before,
            self.weights,
            forced=forced,
            groups=groups,
            embed=self.embed,
            room=lambda chosen: goal - quotient(body(_chosen(titled, chosen))),
        )
        return body(_chosen(titled, result.chosen)), result

    def _rewritten(
        self, entries: Sequence[EntrySummary], writer: Wording
    ) -> tuple[str, float, int]:
        """Let a writer write the lines; also returns how many of them were invented."""
        made = written(entries, writer.rewrite(body(entries, is_read=False)))
        own = [sentence for entry in made.entries for sentence in entry.sentences]
        everything = [s for e in entries for s in e.sentences] + own
        result = extract(
            everything,
            SummaryLines(),
            self.weights,
            forced=range(len(everything) - len(own), len(everything)),
            groups=(),
            embed=self.embed,
        )
        sure = result.confidence if made.confidence is None else made.confidence
        return body(with_titles(made.entries)), sure, made.invented


def _chosen(entries: Sequence[EntrySummary], chosen: frozenset[int]) -> list[EntrySummary]:
    """Keep the chosen sentences of each entry; a line of a summary that is not chosen is gone."""
    flat = [sentence for entry in entries for sentence in entry.sentences]
    times = Counter[int]()
    for first, sentence in zip(recurring(flat), flat, strict=True):
        times[first] += sentence.times
    numbered, chosen_entries = enumerate(flat), list[EntrySummary]()
    for entry in entries:
        own = [(at, sentence) for at, sentence in islice(numbered, len(entry.sentences))]
        shown = tuple(each._replace(times=times[at]) for at, each in own if at in chosen)
        if shown or not entry.is_line:
            chosen_entries.append(entry._replace(sentences=shown))
    return chosen_entries


def merged(
    sources: Sequence[SourceLines], logs: Mapping[str, Sequence[str]]
) -> tuple[SourceLines, ...]:
    """Join entries of one log with nothing but blank lines between them, so chunks are covered."""
    places: list[SourceLines] = []
    for source in sources:
        before = places[-1] if places else None
        lines = logs.get(source.path, ())
        if (
            before
            and before.path == source.path
            and source.path in logs
            and not any(line.strip() for line in lines[before.end_line : source.start_line - 1])
        ):
            first, last = before.start_line, source.end_line
            places[-1] = SourceLines(source.path, first, last, lines_hash(lines, first, last))
        else:
            places.append(source)
    return tuple(places)
