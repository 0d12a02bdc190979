"""What stands in a memory more than once, in the same words or nearly; pure, in linear time.

Lines are near duplicates where they share SAME_WORDS of their terms and say no two facts, as the
gate of `remember` judges it: another number, name, day or negation is another fact. Two lines that
share so many terms share one of their rarest, so each is looked up by these alone; of a term that
many lines have among their rarest the last CROWD are compared.

What is told over and over is found once: the first place, with the others behind it, and lines
that follow each other in both places are one finding. Tasks, what is said in a conversation, and
what a summary quotes stand twice rightly.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from math import ceil

from memcli.digests import blake2b
from memcli.language.facts import differs, facets_of, replaces, says_more
from memcli.lint.findings import DUPLICATE, NEAR_DUPLICATE, Finding, Location
from memcli.lint.inspected import Inspected
from memcli.record import Record
from memcli.remember.gate import SAME_WORDS

FEWEST_WORDS = 8  # of a line that says enough to be told twice by mistake
FEWEST_CONTENT = 4  # of them are no grammar
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]{2}")
_WORDS_OF_PAIRS = 2 / 3  # what pairs of signs count for where no space parts words
MOST_WORDS = 400  # of a line that is compared; a longer one is a text
CROWD = 16
# What may stand behind the colon of a line that leads on.
_ENDS = "*_`'\"”’»)] "
# What a link leads to is no word of a line.
_ADDRESS = re.compile(r"\]\([^()\s]{1,512}\)|\bhttps?://[^\s<>()]{1,512}")


class Line(Record):
    """A line that may be told again."""

    at: Location
    text: str
    order: int  # among the sayings of its document
    terms: frozenset[str]


class Repeated:
    """Takes in one document after the other, and compares all at the end."""

    def __init__(self) -> None:
        """Begin with no line."""
        self._texts: dict[bytes, Location] = {}
        self._copies: defaultdict[Location, list[Location]] = defaultdict(list)
        self._groups: dict[tuple[tuple[str, ...], frozenset[str]], list[Line]] = {}

    def take(self, document: Inspected) -> None:
        """Keep the lines of a document; one that is a copy of another is kept as that."""
        if document.is_summary or document.is_talk:
            return
        whole = Location(document.source, document.path)
        text = "\n".join(document.lines).strip()
        key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        first = self._texts.setdefault(key, whole)
        if first != whole and document.sayings:
            self._copies[first].append(whole)
            return
        for order, saying in enumerate(document.sayings):
            if saying.box:
                continue
            facets = facets_of(saying.text)
            bare = _ADDRESS.sub(" ", saying.text)
            own = facets if bare == saying.text else facets_of(bare)
            is_long = _words(own.sequence) >= FEWEST_WORDS and len(facets.sequence) <= MOST_WORDS
            leads_on = saying.text.rstrip(_ENDS).endswith((":", "："))
            if is_long and len(own.content) >= FEWEST_CONTENT and not leads_on:
                line = Line(saying.at, saying.text, order, facets.terms)
                self._groups.setdefault((facets.sequence, facets.telling), []).append(line)

    def findings(self) -> Iterator[Finding]:
        """Compare what was taken in."""
        for first, copies in self._copies.items():
            yield Finding(DUPLICATE, first, _again("the whole text occurs", copies), tuple(copies))
        exact = [group for group in self._groups.values() if len(group) > 1]
        for at, others in _runs(exact):
            yield Finding(DUPLICATE, at, _again("it occurs", others), others)
        for group in _alike([group[0] for group in self._groups.values()]):
            spots = tuple(line.at for line in group[1:])
            told = _again("it is said in nearly the same words", spots)
            yield Finding(NEAR_DUPLICATE, group[0].at, told, spots)


def _words(terms: Sequence[str]) -> float:
    """Count words; a script without spaces is cut into pairs of signs, and has fewer words."""
    pairs = sum(bool(_UNSPACED.fullmatch(term)) for term in terms)
    return len(terms) - pairs + _WORDS_OF_PAIRS * pairs


def _again(what: str, others: Sequence[Location]) -> str:
    return f"{what} once more" if len(others) == 1 else f"{what} {len(others)} times more"


def _runs(groups: Sequence[Sequence[Line]]) -> Iterator[tuple[Location, tuple[Location, ...]]]:
    """Join groups whose lines follow each other in all of their places."""
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
    """Give each line that has others nearly like it, with them."""
    counts = Counter(term for line in lines for term in line.terms)
    seen: defaultdict[str, deque[int]] = defaultdict(lambda: deque(maxlen=CROWD))
    found: dict[int, list[Line]] = {}
    leader: dict[int, int] = {}
    for number, line in enumerate(lines):
        rare = _rarest(line.terms, counts)
        near = sorted({at for term in rare for at in seen[term]})
        like = next((at for at in near if _is_same(line, lines[at])), None)
        if like is not None:
            first = leader[number] = leader.get(like, like)
            found.setdefault(first, [lines[first]]).append(line)
        for term in rare:
            seen[term].append(number)
    yield from found.values()


def _rarest(terms: frozenset[str], counts: Counter[str]) -> list[str]:
    """Give so many terms that a line which has none of them cannot be alike."""
    ordered = sorted(terms, key=lambda term: (counts[term], term))
    return ordered[: len(terms) - ceil(SAME_WORDS * len(terms)) + 1]


def _is_same(line: Line, other: Line) -> bool:
    shared = len(line.terms & other.terms)
    if shared < SAME_WORDS * (len(line.terms) + len(other.terms) - shared):
        return False
    one, two = facets_of(line.text), facets_of(other.text)
    if differs(one, two) or replaces(one, two):
        return False
    # Who writes one line below the other with a word more means another thing.
    is_near = (line.at.source, line.at.path) == (other.at.source, other.at.path)
    return not is_near or not (says_more(one, two) or says_more(two, one))
