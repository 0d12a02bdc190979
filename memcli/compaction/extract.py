"""Choose the sentences that represent a cluster; pure.

What must survive is chosen first, then the best of each entry, and more while the budget lasts. The
value of a sentence is

    chance / tokens ** BY_LENGTH * (1 - REPEAT * greatest cosine to what is chosen)

where `chance` is how likely somebody asks for it: a logistic function of its names, times and
numbers, of the IDF of its terms that are not chosen yet, and of whether it answers a question.
A sentence counts less if it is in brackets, if it is late in a conversation, if it recurs, or if
an assistant or a tool says it. A line of a note also counts less if most other logs contain a
similar line ("Stand-up at 9:30"). REPEAT is less for a sentence with a new name, number or time.

A line that recurs is chosen once, and a line of the summary before is not chosen again. A sentence
that means nothing without the one before it takes that one along.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import fsum, sqrt

from memcli.checking import TYPE_CHECKING
from memcli.compaction.sanitize import is_placeholder
from memcli.compaction.sentences import Sentence
from memcli.compaction.similarity import Embed, centroid, place
from memcli.language.discourse import is_digression, leans_on, telling
from memcli.language.salience import DECISION, names_in, values
from memcli.language.terms import content, terms
from memcli.language.tokens import quotient
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.compaction.similarity import Matrix

# Tried on nine chats (five of LoCoMo, four of REALTALK), together with the weights of `discourse`,
# and, for lines that repeat each other, on five chats and three simulated years.
BASE = -1.0
ANSWERS = 0.8
NEWS = 3.4 / 40  # for each unit of IDF
MOST_NEWS = 20.0
ASIDE = 0.5
MACHINE = 2.0
LATE = 0.5  # for the end of a conversation: people thank and say goodbye
BY_LENGTH = 0.8
OF_AN_ENTRY = 0.4  # instead of BY_LENGTH, for the first sentence of a conversation
REPEAT = 0.8
REPEATS_NEW = 0.6  # instead of REPEAT, for a sentence with a new name, number or time
RECURS = 1.0  # for a line that recurs
CITATION_TOKENS = 4.0  # per line, as neighbours share a citation
ALIKE = 0.7  # cosine from which a line of a note says nothing new
ROUTINE = 0.5  # share of the other logs with a similar line, above which a line is routine
OF_ROUTINE = 2.0  # if all other logs contain a similar line, half of it
LEAST_LOGS = 3
# Greetings and fillers carry no memory.
LEAST_TERMS = 3


class SummaryLines(Record):
    """The lines of the summary before."""

    text: str = ""  # all of it: its lines are not repeated
    last: tuple[str, ...] = ()  # its last lines: similar sentences are worth less


class Extract(Record):
    """The chosen sentences of a cluster."""

    chosen: frozenset[int]  # positions among the sentences
    confidence: float  # see `_Selection.confidence`
    method: str


def recurring(sentences: Sequence[Sentence]) -> list[int]:
    """Return for each sentence the first one with the same words.

    Decisions are not merged: a decision that was reversed and made again says something else.
    """
    first: dict[str, int] = {}
    return [
        at
        if sentence.reason == DECISION or sentence.lead or is_placeholder(sentence.text)
        else first.setdefault(sentence.shown, at)
        for at, sentence in enumerate(sentences)
    ]


def extract(
    sentences: Sequence[Sentence],
    before: SummaryLines,
    weights: Mapping[str, float],
    *,
    forced: Sequence[int],
    groups: Sequence[range],
    embed: Embed | None,
    room: Callable[[frozenset[int]], float] | None = None,
) -> Extract:
    """Choose `forced`, a sentence of each log, then of each group, and then the best of the rest.

    `room` returns the tokens that a summary of some sentences leaves unused. Without it, nothing
    follows the sentences of the logs. The first sentence of a note says what it is about. A
    conversation gets its best sentence, and only if none is chosen yet. Text that only a machine
    says gets none.
    """
    rows, method = place([s.shown for s in sentences] + list(before.last), weights, embed)
    selection = _Selection(sentences, before, weights, rows)
    for at in forced:
        selection.take(at)
    spoken = [g for g in groups if not all(sentences[at].by_machine for at in g)]
    for path in dict.fromkeys(sentences[at].path for group in spoken for at in group[:1]):
        own = [group for group in spoken if group and sentences[group.start].path == path]
        best = selection.best_first(own)
        if best is not None and all(sentences[at].path != path for at in selection.chosen):
            selection.take(best)
    if room:
        _fill(selection, spoken, room)
    return Extract(frozenset(selection.chosen), selection.confidence(), method)


def _fill(
    selection: _Selection, groups: Sequence[range], room: Callable[[frozenset[int]], float]
) -> None:
    """Choose the most of the best sentences for which there is room.

    Headings and citations need room too, so the number of sentences is found by trying.
    """
    states, order = [frozenset(selection.chosen)], list[int]()
    for best in selection.ranked(groups):
        order.append(best)
        selection.take(best)
        states.append(frozenset(selection.chosen))
        count = len(order)
        if count & (count - 1) == 0 and room(states[-1]) < 0:
            break
    most = max(0, bisect_left(states, 1, key=lambda state: room(state) < 0) - 1)
    selection.chosen = set(states[most])
    left = room(states[most])
    for at in order[most:]:
        if selection.cost(at) <= left:
            state = selection.chosen.union(selection.bundle(at))
            if (new := room(frozenset(state))) >= 0:
                selection.chosen, left = state, new


class _Selection:
    """The sentences chosen so far, and the worth of the others."""

    def __init__(
        self,
        sentences: Sequence[Sentence],
        before: SummaryLines,
        weights: Mapping[str, float],
        rows: Matrix,
    ) -> None:
        import numpy as np

        self.rows, others = rows[: len(sentences)], rows[len(sentences) :]
        self.sentences, self.weights, self.first = sentences, weights, recurring(sentences)
        self.is_new = [
            first == at and sentence.text not in before.text
            for at, (first, sentence) in enumerate(zip(self.first, sentences, strict=True))
        ]
        distinct = self.rows[self.is_new] if any(self.is_new) else self.rows
        self.near = self.rows @ centroid(distinct)
        self.words = [content(s.text) for s in sentences]
        self.costs = [quotient(s.shown) for s in sentences]
        self.needed = antecedents(sentences)
        self.is_able = [
            new and len(words) >= LEAST_TERMS and not sentence.is_corrected
            for new, words, sentence in zip(self.is_new, self.words, sentences, strict=True)
        ]
        self.is_other = [is_placeholder(s.text) for s in sentences]
        names = {s.speaker for s in sentences if s.speaker}
        answering = {at for at in range(1, len(sentences)) if _answers(sentences, at)}
        where, times = _positions(sentences), Counter(self.first)
        self.routine = _routine(sentences, self.rows)
        odds = [
            BASE
            + telling(sentence.text, names)
            + ANSWERS * (at in answering)
            - ASIDE * is_digression(sentence.text)
            - MACHINE * sentence.by_machine
            - LATE * (where[at] if sentence.speaker else 0)
            - RECURS * (times[at] > 1)
            - OF_ROUTINE * max(0.0, self.routine[at] - ROUTINE)
            for at, sentence in enumerate(sentences)
        ]
        self.odds = np.array(odds)
        self.alike = np.zeros(len(sentences), dtype=np.float32)
        for row in others:
            self.alike = np.maximum(self.alike, self.rows @ row)
        self.chosen: set[int] = set()
        self.values = [{*values(s.text), *names_in(s.text)} for s in sentences]
        self.used: set[str] = set()
        self.used_words: set[str] = set().union(*map(content, before.last))
        self.news, self.lengths = np.zeros(len(sentences)), np.zeros(len(sentences))
        self._weigh(range(len(sentences)))

    def _weigh(self, places: Iterable[int]) -> None:
        """Compute what some sentences add, with the sentences that they need."""
        for at in places:
            bundle = self.bundle(at)
            words = set().union(*(self.words[each] for each in bundle)) - self.used_words
            self.news[at] = min(MOST_NEWS, self._weight(words))
            self.lengths[at] = sum(self.costs[each] for each in bundle) + CITATION_TOKENS

    def take(self, at: int) -> None:
        """Choose a sentence, or the earlier one with the same words."""
        import numpy as np

        bundle = self.bundle(self.first[at])
        fresh = set().union(*(self.words[each] for each in bundle)) - self.used_words
        self.chosen.update(bundle)
        self.used_words |= fresh
        self.used.update(*(self.values[each] for each in bundle))
        for each in bundle:
            self.alike = np.maximum(self.alike, self.rows @ self.rows[each])
        self._weigh(
            at
            for at, words in enumerate(self.words)
            if self.needed[at] is not None or not fresh.isdisjoint(words)
        )

    def opens(self, at: int) -> bool:
        """Return whether the first sentence of an entry says what the entry is about."""
        sentence = self.sentences[at]
        return (
            self.is_able[at]
            and not (sentence.speaker or sentence.by_machine or self.is_other[at])
            and self.first.count(at) == 1
            and self.routine[at] <= ROUTINE
            and not sentence.text.endswith(("?", "？"))
            and not leans_on(sentence.text)
        )

    def first_choice(self, group: range) -> int | None:
        """Return the first sentence of a note, or the best one of a conversation.

        The best one replaces a first sentence that is like those of other notes. None if a sentence
        of the entry is chosen already. Prose comes before placeholders for code and tables.
        """
        if not self.chosen.isdisjoint(group):
            return None
        if group and self.opens(group.start) and self.alike[group.start] < ALIKE:
            return group.start
        able = [at for at in group if self.is_able[at]]
        return self.best([at for at in able if not self.is_other[at]] or able, OF_AN_ENTRY)

    def best_first(self, groups: Iterable[range]) -> int | None:
        """Return the best of the first choices of some groups."""
        firsts = (self.first_choice(group) for group in groups)
        return self.best([at for at in firsts if at is not None], OF_AN_ENTRY)

    def best(self, group: Iterable[int], by_length: float = BY_LENGTH) -> int | None:
        """Return the best sentence of a group that can still be chosen."""
        able = [at for at in group if at not in self.chosen]
        if not able:
            return None
        import numpy as np

        chances = 1 / (1 + np.exp(-self.odds - NEWS * self.news))
        repeat = np.array([REPEAT if each <= self.used else REPEATS_NEW for each in self.values])
        repeated = 1 - repeat * np.maximum(0, self.alike)
        worth = np.round(chances / self.lengths**by_length * repeated, 7).tolist()
        return max(able, key=lambda at: (worth[at], -at))

    def ranked(self, groups: Sequence[range]) -> Iterator[int]:
        """Yield the first choice of each group, the best first, and then the best of the rest.

        The caller takes each one before the next.
        """
        groups = list(groups)
        while (best := self.best_first(groups)) is not None:
            groups = [group for group in groups if best not in group]
            yield best
        left = [at for at, is_able in enumerate(self.is_able) if is_able]
        while (best := self.best(left)) is not None:
            left.remove(best)
            yield best

    def cost(self, at: int) -> float:
        """Count the tokens of a sentence with those that it needs."""
        return sum(self.costs[each] for each in self.bundle(at))

    def bundle(self, at: int) -> list[int]:
        """List a sentence and the sentences it needs before it that are not in the summary yet."""
        bundle = [at]
        while (needed := self.needed[bundle[-1]]) is not None and needed not in self.chosen:
            bundle.append(needed)
        return bundle

    def _weight(self, words: Iterable[str]) -> float:
        return fsum(self.weights.get(word, 0.0) for word in words)

    def confidence(self) -> float:
        """Return how well the chosen sentences represent the whole, from 0 to 1.

        The geometric mean of two values over new sentences, each counted once: the mean cosine of
        the chosen ones to the centroid, and their share of the information, the IDF of terms.
        """
        new = [words for words, is_new in zip(self.words, self.is_new, strict=True) if is_new]
        order = sorted(self.chosen)
        if not order:
            return 0.0
        whole, covered = set().union(*new), set().union(*(self.words[at] for at in order))
        information = self._weight(whole)
        share = self._weight(whole & covered) / information if information else 1.0
        cosine = max(0.0, float(self.near[order].mean()))
        return round(min(1.0, sqrt(cosine * share)), 4)


def _positions(sentences: Sequence[Sentence]) -> list[float]:
    """Say for each sentence how far from the beginning of its log it is, from 0 to 1."""
    count = Counter(sentence.path for sentence in sentences)
    seen = Counter[str]()
    positions = []
    for sentence in sentences:
        positions.append(seen[sentence.path] / count[sentence.path])
        seen[sentence.path] += 1
    return positions


def _routine(sentences: Sequence[Sentence], rows: Matrix) -> list[float]:
    """Return for each line of a note the share of the other logs that contain a similar line.

    0 for a line of a conversation, and if there are fewer than LEAST_LOGS.
    """
    import numpy as np

    notes = [at for at, sentence in enumerate(sentences) if not sentence.speaker]
    paths = {sentence.path for sentence in sentences}
    shares = np.zeros(len(sentences))
    if notes and len(paths) >= LEAST_LOGS:
        similar = rows[notes] @ rows[notes].T >= ALIKE
        logs = np.array([sentences[at].path for at in notes])
        count = sum(similar[:, logs == path].any(axis=1).astype(int) for path in paths)
        shares[notes] = np.maximum(0, count - 1) / (len(paths) - 1)
    return [float(share) for share in shares]


MOST_BEFORE = 2  # sentences that one may take along
LEAST_BEFORE = 4  # words of a sentence that can be one
SHORT_ANSWER = 6  # words of an answer that needs its question


def antecedents(sentences: Sequence[Sentence]) -> list[int | None]:
    """Return for each sentence the one before it that it needs, or None."""
    places: list[int | None] = [None]
    chain = 0  # sentences that the one before takes along
    for at, (before, here) in enumerate(pairwise(sentences)):
        is_near = before.path == here.path and 0 <= here.first - before.last <= MOST_BEFORE
        contains_text = len(terms(before.text)) >= LEAST_BEFORE and not is_digression(before.text)
        needs = is_near and contains_text and chain < MOST_BEFORE and _leans(before, here)
        chain = chain + 1 if needs else 0
        places.append(at if needs else None)
    return places[: len(sentences)]


def _answers(sentences: Sequence[Sentence], at: int) -> bool:
    """Return whether the line before a sentence is a question of somebody else."""
    here = sentences[at]
    before = next((s for s in sentences[at - 1 :: -1] if s.first != here.first), None)
    return (
        before is not None
        and before.path == here.path
        and here.first - before.last <= MOST_BEFORE
        and before.speaker != here.speaker
        and before.text.endswith(("?", "？"))
    )


def _leans(before: Sentence, here: Sentence) -> bool:
    """Return whether a sentence needs the one before: for a name, or as a bare answer."""
    if before.text.endswith(("?", "？")) and before.speaker != here.speaker:
        return len(here.text.split()) < SHORT_ANSWER and here.text.isascii()
    return leans_on(here.text)
