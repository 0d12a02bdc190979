"""Lines that a newer note says are no longer so; pure, in linear time.

A newer line corrects an older one as `search.newer` and `compaction.superseded` know it: it speaks
of a change, and holds COVERED of the IDF of what the older one is about. The older one is a rule
or a decision and tells of no change itself, both have a date, and the newer one has a name, a
number or a turn of the meaning that the older one has not: else it only tells the same again. A
line that holds so much of another shares one of its heaviest terms, so each older line is looked up
by these alone.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping
from math import fsum, log

from memcli.compaction.superseded import COVERED
from memcli.language.change import speaks_of_change
from memcli.language.facts import adds, facets_of
from memcli.language.salience import DECISION, FACT, RULE, why_kept
from memcli.language.terms import content
from memcli.lint.findings import CONTRADICTION, Finding
from memcli.lint.inspected import Inspected, Saying

CROWD = 32  # lines that are compared for one term
FEWEST_TERMS = 4  # that an older line is about
# What tells of a change itself, though `search.newer` does not go by it.
_ANY_MORE = re.compile(r"\bany ?more\b", re.IGNORECASE)
# A change to code that two lines name is one event, told twice.
_EVENT = re.compile(r"/(?:pull|pulls|merge_requests|commit)/\w+")
MOST_CHARACTERS = 600  # of a line that decides something


class Contradicted:
    """Takes in one document after the other, and compares all at the end."""

    def __init__(self) -> None:
        """Begin with no line."""
        self._counts: Counter[str] = Counter()
        self._total = 0
        self._older: list[Saying] = []
        self._newer: list[Saying] = []

    def take(self, document: Inspected) -> None:
        """Keep the lines of a dated document that decide something, or take it back."""
        if document.is_summary or document.is_talk:
            return
        for saying in document.sayings:
            if len(saying.text) > MOST_CHARACTERS:
                continue
            self._total += 1
            self._counts.update(content(saying.text))
            kept = why_kept(saying.text)
            if saying.date is None or not kept or saying.box:
                continue
            if kept != FACT and speaks_of_change(saying.text):
                self._newer.append(saying)
            elif kept in (DECISION, RULE) and not _ANY_MORE.search(saying.text):
                self._older.append(saying)

    def findings(self) -> Iterator[Finding]:
        """Find for each older line the first newer one that corrects it."""
        weights = {term: log(1 + self._total / n) for term, n in self._counts.items()}
        by_term: defaultdict[str, deque[Saying]] = defaultdict(lambda: deque(maxlen=CROWD))
        for saying in self._older:
            for term in _heaviest(content(saying.text), weights):
                by_term[term].append(saying)
        done = set()
        for newer in sorted(self._newer, key=lambda each: (each.date or "", each.at)):
            held = content(newer.text)
            near = {older.at: older for term in held for older in by_term.get(term, ())}
            for spot, older in sorted(near.items()):
                if spot not in done and _corrects(newer, held, older, weights):
                    done.add(spot)
                    told = f"a note of {newer.date} says that this has changed"
                    yield Finding(CONTRADICTION, spot, told, (newer.at,))


def _heaviest(about: set[str], weights: Mapping[str, float]) -> list[str]:
    """Give so many terms that a line which has none of them holds too little."""
    terms = sorted(about, key=lambda term: (-weights[term], term))
    if len(terms) < FEWEST_TERMS:
        return []
    spare = (1.0 - COVERED) * fsum(weights[term] for term in terms)
    found = []
    for term in terms:
        found.append(term)
        spare -= weights[term]
        if spare < 0:
            break
    return found


def _corrects(newer: Saying, held: set[str], older: Saying, weights: Mapping[str, float]) -> bool:
    if (older.date or "") >= (newer.date or ""):
        return False
    if not set(_EVENT.findall(newer.text)).isdisjoint(_EVENT.findall(older.text)):
        return False
    about = content(older.text)
    whole = fsum(weights[term] for term in about)
    if fsum(weights[term] for term in about & held) < COVERED * whole:
        return False
    return adds(facets_of(newer.text), facets_of(older.text))
