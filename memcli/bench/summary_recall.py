"""Measure what search still finds with summaries, and the tokens they save; pure.

Each question is answered twice: from the logs only, and from summaries with the lines behind them.
BUDGET tokens of each answer are read in order. A raw line counts for itself. A line of a summary
costs its own tokens and counts for the lines that it cites, unless it quotes nothing of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from memcli.bench.drafts import draft
from memcli.bench.metrics import LINE_END_TOKENS, Line, Range, reached, within
from memcli.language.salience import names_in, values
from memcli.language.tokens import quotient
from memcli.markdown.evidence import NOTHING
from memcli.markdown.lineage import cited_lines
from memcli.markdown.parse import parse
from memcli.record import Record
from memcli.types import MEMORY_SOURCE

if TYPE_CHECKING:
    from memcli.compaction.plan import CompactionPlan
    from memcli.search.ranked import RankedPassage

BUDGET = 2000  # tokens
MOST_SUGGESTED = 10_000  # questions of headings and decisions

Earned = tuple[Line | None, float]  # a line or None, and its tokens


class SummaryRecall(Record):
    """Recall with summaries instead of logs, and its cost."""

    questions: int
    recall_raw: float  # mean share of the judged ranges that BUDGET tokens reach
    recall_active: float
    tokens_raw: int  # of all logs and notes
    tokens_active: int  # with summaries instead of the lines they cover

    @property
    def ratio(self) -> float:
        """Return recall with summaries divided by recall with logs; 1 if that was 0."""
        return self.recall_active / self.recall_raw if self.recall_raw else 1.0

    @property
    def saved(self) -> int:
        """Count the tokens that summaries save."""
        return self.tokens_raw - self.tokens_active

    @property
    def per_thousand(self) -> float | None:
        """Return the ratio for every thousand tokens saved; None if none are saved."""
        return 1000 * self.ratio / self.saved if self.saved > 0 else None

    def as_record(self) -> dict[str, Any]:
        """Describe it as `memcli.compact/1` does."""
        return {
            "questions": self.questions,
            "budget": BUDGET,
            "recall": {"raw": self.recall_raw, "active": self.recall_active},
            "ratio": self.ratio,
            "tokens": {"raw": self.tokens_raw, "active": self.tokens_active},
            "ratio_per_1000_saved": self.per_thousand,
        }


def suggested(plan: CompactionPlan) -> tuple[int, int]:
    """Count the questions that the logs of a plan suggest, and those that its summaries answer.

    Headings and decisions ask for their lines; a summary answers if it cites one of them. Names and
    values ask for themselves. The lines behind a summary answer every question.
    """
    logs = {entry.log.path: entry.log for entry in plan.entries}
    documents = {path: parse("\n".join(log.lines)) for path, log in logs.items()}
    drafts = [each for each in draft(documents, MOST_SUGGESTED) if each.path in logs]
    questions = answered = 0
    for made in plan.drafts:
        cites = [cite for _, cite in cited_lines(made.body)]
        for each in drafts:
            behind = (s for s in made.lineage.sources if s.path == each.path)
            if any(s.start_line <= each.start_line <= s.end_line for s in behind):
                questions += 1
                lines = range(each.start_line, each.end_line + 1)
                answered += any(
                    cite.path == each.path and (cite.first in lines or cite.last in lines)
                    for cite in cites
                )
        named = {name for s in made.omitted for name in (*values(s.text), *names_in(s.text))}
        text = "\n".join(cite.text for cite in cites)
        words = {*values(text), *names_in(text)}
        questions += len(named | words)
        answered += len(words) + sum(name in text for name in named - words)
    return questions, answered


def recall(
    relevant: Sequence[Range], passages: Iterable[RankedPassage], budget: float = BUDGET
) -> float:
    """Return the share of judged ranges with a line among those read within `budget` tokens."""
    return reached(relevant, within(budget, chain.from_iterable(map(_read, passages))))


def _read(passage: RankedPassage) -> Iterator[Earned]:
    about = passage.about
    cites = dict(cited_lines(passage.text, about.heading_path)) if about.is_summary else {}
    for number, text in enumerate(passage.text.split("\n"), start=passage.start_line):
        cost = quotient(text) + LINE_END_TOKENS
        if not about.is_summary:
            yield (about.document, number), cost
            continue
        yield None, cost
        cite = cites.get(number - passage.start_line + 1)
        if cite and not text.startswith(f"- {NOTHING}"):
            path = MEMORY_SOURCE, cite.path
            yield from (((path, n), 0.0) for n in range(cite.first, cite.last + 1))
