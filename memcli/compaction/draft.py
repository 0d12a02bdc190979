"""Draft the summary of one cluster, or decline it; pure.

Each cluster is tried in three modes until its summary is worth having: `normal` tells what must
survive, something of every record and what is central, `aggressive` leaves out what is central and
the lines that stand for code and tables, `bounded` tells only rules, decisions and promises, with
the dates, amounts and identifiers of the rest as a list. A cluster whose summary would still cost
more than WORTH of its lines is declined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from memcli.compaction import also, keep
from memcli.compaction.command import Rewrite, written
from memcli.compaction.compose import Entry, body, document
from memcli.compaction.extract import extract
from memcli.compaction.sanitize import is_placeholder, quoted
from memcli.compaction.similarity import Embed
from memcli.compaction.summaries import Summary, told
from memcli.markdown.lineage import lines_hash
from memcli.markdown.tokens import estimate, quotient
from memcli.record import Record
from memcli.types import Lineage, SourceLines

MODES = ("normal", "aggressive", "bounded")
# A summary that saves less than a tenth is one more file to read.
WORTH = 0.9
# Of the ratio's tokens, so much goes to the words of what was left out.
ALSO_SHARE = 0.3
LEAST_ALSO = 6.0  # tokens
ROUNDS = 6
# Sentences are compared with one another, so there has to be an end.
MOST_TOKENS = 50_000


class CompactionSettings(Record):
    """What compaction is asked to do."""

    tail_records: int
    tail_tokens: int
    cluster: int  # records, or summaries, a summary
    ratio: float  # tokens of a summary over those of its lines
    context_tokens: int  # of the neighbouring summary
    depth: int  # 2 also makes summaries of summaries


class Item(Record):
    """One thing to summarise: a record, or a summary of the level below."""

    source: SourceLines
    earliest: str
    latest: str
    tokens: int
    entries: tuple[Entry, ...]  # with every sentence, nothing in `also`
    level: int


class SummaryDraft(Record):
    """A summary that is not written yet."""

    path: str
    text: str
    body: str
    lineage: Lineage
    mode: str
    items: int


class Declined(Record):
    """A cluster that stays as it is, and why."""

    sources: tuple[SourceLines, ...]
    tokens: int
    reason: str


class Drafter:
    """Makes the drafts of one run, each with the summaries before it in view."""

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
        rewrite: Rewrite | None,
    ) -> None:
        self.settings, self.weights, self.now, self.embed = settings, weights, now, embed
        self.logs, self.folder, self.rewrite = logs, folder, rewrite
        self.taken = {summary.path for summary in existing}
        self.texts = [(s.lineage.latest, s.path, s.text) for s in existing if s.is_valid]
        self.drafts: list[SummaryDraft] = []
        self.declined: list[Declined] = []

    def summarise(self, items: Sequence[Item]) -> None:
        """Draft the summary of a cluster, or decline it."""
        sources, total = merged([i.source for i in items], self.logs), sum(i.tokens for i in items)
        if len(items) < 2:
            return
        if total > MOST_TOKENS:
            reason = f"{total} tokens are too many for one summary, {MOST_TOKENS} are the most"
            self.declined.append(Declined(sources, total, reason))
            return
        first = min(item.earliest for item in items)
        before = [text for text in self.texts if text[0] <= first]
        context = told(max(before)[2], self.settings.context_tokens) if before else []
        for mode in ("command",) if self.rewrite else MODES:
            text, method, confidence = (
                self._rewritten(items, self.rewrite)
                if self.rewrite
                else self._body(items, mode, context, total)
            )
            cost = estimate(text)
            if cost <= WORTH * total:
                break
        else:
            reason = f"what must survive costs {cost} of {total} tokens"
            self.declined.append(Declined(sources, total, reason))
            return
        last = max(item.latest for item in items)
        lineage = Lineage(
            sources=sources,
            parents=tuple(item.source.path for item in items if item.level),
            earliest=first,
            latest=last,
            compacted=self.now,
            method=method,
            confidence=confidence,
            level=max(item.level for item in items) + 1,
            source_tokens=total,
            summary_tokens=cost,
            seal="",
        )
        path = self._path(first, last)
        draft = SummaryDraft(path, document(lineage, text), text, lineage, mode, len(items))
        self.drafts.append(draft)
        self.texts.append((last, path, draft.text))

    def _path(self, first: str, last: str) -> str:
        """Name a summary by its dates; a second one of the same dates gets a number."""
        number, path = 1, f"{self.folder}{first}--{last}.md"
        while path in self.taken:
            number += 1
            path = f"{self.folder}{first}--{last}~{number}.md"
        self.taken.add(path)
        return path

    def _body(
        self, items: Sequence[Item], mode: str, context: Sequence[str], total: int
    ) -> tuple[str, str, float]:
        """Write a body in one mode; the budget shrinks until the whole fits the ratio."""
        entries = [entry for item in items for entry in item.entries]
        flat = [sentence for entry in entries for sentence in entry.sentences]
        hard = ("rule", "decision", "promise")
        forced = [
            n
            for n, s in enumerate(flat)
            if s.kept
            and (mode != "bounded" or s.kept in hard)
            and (mode == "normal" or not is_placeholder(s.text))
        ]
        goal = self.settings.ratio * total
        has_room = sum(quotient(flat[n].shown) for n in forced) < goal
        share = ALSO_SHARE if mode == "normal" and has_room else 0.0
        budget = goal * (1 - share) if mode == "normal" else 0.0
        for _ in range(ROUNDS):
            found = extract(
                flat,
                context,
                self.weights,
                forced=forced,
                groups=_groups(entries) if mode != "bounded" else (),
                budget=budget,
                embed=self.embed,
            )
            chosen = set(found.chosen)
            text = body(self._told(entries, chosen, mode, share * goal / max(1, len(entries))))
            over = quotient(text) - goal
            if budget <= 0 or over <= 0:
                break
            budget = max(0.0, budget - over)
        return text, found.method, found.confidence

    def _rewritten(self, items: Sequence[Item], rewrite: Rewrite) -> tuple[str, str, float]:
        """Let the user's program write the lines."""
        entries = [entry for item in items for entry in item.entries]
        told = written(entries, rewrite(body(entries)))
        own = [sentence for entry in told for sentence in entry.sentences]
        everything = [s for e in entries for s in e.sentences] + own
        found = extract(
            everything,
            (),
            self.weights,
            forced=range(len(everything) - len(own), len(everything)),
            groups=(),
            budget=0.0,
            embed=self.embed,
        )
        return body(told), "command", found.confidence

    def _told(
        self, entries: Sequence[Entry], chosen: set[int], mode: str, room: float
    ) -> list[Entry]:
        """Keep the chosen sentences of each entry, and name the rest."""
        flat = [sentence for entry in entries for sentence in entry.sentences]
        said_ones = [sentence for n, sentence in enumerate(flat) if n in chosen]
        said = [sentence.shown for sentence in said_ones]
        found, at = [], 0
        paths = {s.path for s in said_ones}
        for entry in entries:
            here = range(at, at + len(entry.sentences))
            at += len(entry.sentences)
            own = tuple(s for n, s in zip(here, entry.sentences, strict=True) if n in chosen)
            rest = [s for n, s in zip(here, entry.sentences, strict=True) if n not in chosen]
            named: tuple[str, ...] = ()
            if mode == "bounded":
                facts = [v for s in rest if s.kept for v in keep.values(quoted(s.text))]
                named = tuple(dict.fromkeys(v for v in facts if not any(v in t for t in said)))
            is_silent = not own and not named and entry.path not in paths
            least = LEAST_ALSO if is_silent else 0.0
            if rest and max(room, least) > 0:
                texts = [quoted(s.text) for s in rest]
                named += also.words(texts, [*said, *entry.headings], self.weights, max(room, least))
            if is_silent and not named:
                named = ("…",)
            if own or named:
                paths.add(entry.path)
            found.append(entry._replace(sentences=own, also=named))
        return found


def _groups(entries: Sequence[Entry]) -> list[range]:
    """Give the positions of each entry's sentences among all of them."""
    ends = list(accumulate(len(entry.sentences) for entry in entries))
    return [range(start, end) for start, end in zip([0, *ends], ends, strict=False)]


def merged(
    sources: Sequence[SourceLines], logs: Mapping[str, Sequence[str]]
) -> tuple[SourceLines, ...]:
    """Join records of one log with nothing but blank lines between them, so chunks are covered."""
    found: list[SourceLines] = []
    for source in sources:
        before = found[-1] if found else None
        lines = logs.get(source.path, ())
        if (
            before
            and before.path == source.path
            and source.path in logs
            and not any(line.strip() for line in lines[before.end_line : source.start_line - 1])
        ):
            first, last = before.start_line, source.end_line
            found[-1] = SourceLines(source.path, first, last, lines_hash(lines, first, last))
        else:
            found.append(source)
    return tuple(found)
