"""Find lines that appear more than once, in the same or nearly the same words; pure.

Two lines are near duplicates if they share SAME_WORDS of their terms and state the same fact:
another number, name, day or negation is another fact, as for the gate of `remember`. Lines that
share so many terms share at least one of their rarest terms, so a line is compared only with the
last NEWEST lines that have one of these. The time is linear in the number of lines.

All copies of a line are one finding, and so are copied lines that follow each other. Tasks,
conversations and quotations in summaries are left out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from math import ceil

from memcli.language.facts import differs, facets_of, replaces, says_more
from memcli.lint.document import LintDocument
from memcli.lint.findings import DUPLICATE, NEAR_DUPLICATE, Finding, Location
from memcli.markdown.segments import digest
from memcli.record import Record
from memcli.remember.admission import SAME_WORDS

FEWEST_WORDS = 8  # shorter lines are repeated on purpose
FEWEST_CONTENT = 4  # how many of them must be content words
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]{2}")
_WORDS_OF_PAIRS = 2 / 3  # words per pair of characters, in scripts without spaces
MOST_WORDS = 400  # longer lines are not compared
NEWEST = 16
# Characters that may follow the colon of a line that introduces others.
_ENDS = "*_`'\"”’»)] "
# The target of a link does not count as words.
_ADDRESS = re.compile(r"\]\([^()\s]{1,512}\)|\bhttps?://[^\s<>()]{1,512}")


class Line(Record):
    """A line that may have copies."""

    at: Location
    text: str
    order: int  # its index among the statements of its document
    terms: frozenset[str]


class Duplicates:
    """Collects the lines of all documents, and compares them at the end."""

    def __init__(self) -> None:
        self._texts: dict[bytes, Location] = {}
        self._copies: defaultdict[Location, list[Location]] = defaultdict(list)
        self._groups: dict[tuple[tuple[str, ...], frozenset[str]], list[Line]] = {}

    def take(self, document: LintDocument) -> None:
        """Collect the lines of a document, or note that the whole document is a copy."""
        if document.is_summary or document.is_talk:
            return
        whole = Location(document.source, document.path)
        text = "\n".join(document.lines).strip()
        first = self._texts.setdefault(digest(text), whole)
        if first != whole and document.statements:
            self._copies[first].append(whole)
            return
        for order, statement in enumerate(document.statements):
            if statement.box:
                continue
            facets = facets_of(statement.text)
            bare = _ADDRESS.sub(" ", statement.text)
            own = facets if bare == statement.text else facets_of(bare)
            is_long = _words(own.sequence) >= FEWEST_WORDS and len(facets.sequence) <= MOST_WORDS
            leads_on = statement.text.rstrip(_ENDS).endswith((":", "："))
            if is_long and len(own.content) >= FEWEST_CONTENT and not leads_on:
                line = Line(statement.at, statement.text, order, facets.terms)
                self._groups.setdefault((facets.sequence, facets.telling), []).append(line)

    def findings(self) -> Iterator[Finding]:
        """Yield the findings."""
        for first, copies in self._copies.items():
            what = _again("the whole text appears", copies)
            yield Finding(DUPLICATE, first, what, tuple(copies))
        exact = [group for group in self._groups.values() if len(group) > 1]
        for at, others in _runs(exact):
            yield Finding(DUPLICATE, at, _again("it appears", others), others)
        for group in _alike([group[0] for group in self._groups.values()]):
            spots = tuple(line.at for line in group[1:])
            what = _again("it appears in nearly the same words", spots)
            yield Finding(NEAR_DUPLICATE, group[0].at, what, spots)


def _words(terms: Sequence[str]) -> float:
    """Count words; scripts without spaces are cut into pairs of characters."""
    pairs = sum(bool(_UNSPACED.fullmatch(term)) for term in terms)
    return len(terms) - pairs + _WORDS_OF_PAIRS * pairs


def _again(what: str, others: Sequence[Location]) -> str:
    return f"{what} once more" if len(others) == 1 else f"{what} {len(others)} more times"


def _runs(groups: Sequence[Sequence[Line]]) -> Iterator[tuple[Location, tuple[Location, ...]]]:
    """Join groups whose lines follow each other in all their places."""
    open_runs: dict[tuple[tuple[str, str, int], ...], list[Location]] = {}
    for group in groups:
        ends = tuple((line.at.source, line.at.path, line.order) for line in group)
        before = tuple((source, path, order - 1) for source, path, order in ends)
        run = open_runs.pop(before, None)
        if run is None:
            open_runs[ends] = [line.at for line in group]
        else:
            open_runs[ends] = [
                spot._replace(last=line.at.last) for spot, line in zip(run, group, strict=True)
            ]
    for run in open_runs.values():
        yield run[0], tuple(run[1:])


def _alike(lines: Sequence[Line]) -> Iterator[list[Line]]:
    counts = Counter(term for line in lines for term in line.terms)
    seen: defaultdict[str, deque[int]] = defaultdict(lambda: deque(maxlen=NEWEST))
    groups: dict[int, list[Line]] = {}
    leader: dict[int, int] = {}
    for number, line in enumerate(lines):
        rare = _rarest(line.terms, counts)
        near = sorted({at for term in rare for at in seen[term]})
        like = next((at for at in near if _is_same(line, lines[at])), None)
        if like is not None:
            first = leader[number] = leader.get(like, like)
            groups.setdefault(first, [lines[first]]).append(line)
        for term in rare:
            seen[term].append(number)
    yield from groups.values()


def _rarest(terms: frozenset[str], counts: Counter[str]) -> list[str]:
    """Return the rarest terms; a line without any of them cannot be a near duplicate."""
    ordered = sorted(terms, key=lambda term: (counts[term], term))
    return ordered[: len(terms) - ceil(SAME_WORDS * len(terms)) + 1]


def _is_same(line: Line, other: Line) -> bool:
    shared = len(line.terms & other.terms)
    if shared < SAME_WORDS * (len(line.terms) + len(other.terms) - shared):
        return False
    one, two = facets_of(line.text), facets_of(other.text)
    if differs(one, two) or replaces(one, two):
        return False
    # In one file, a line that only adds a word means something else.
    is_near = (line.at.source, line.at.path) == (other.at.source, other.at.path)
    return not is_near or not (says_more(one, two) or says_more(two, one))
