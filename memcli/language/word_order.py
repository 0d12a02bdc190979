"""Compare the order of words in two lines that share them: another fact, or the same; pure.

The order says who acts on whom, and from where to where. Words that change places around a third
word state another fact, unless each takes along the preposition that marks its role. Chinese can
say the same thing with the same characters and one piece moved to the front. Both checks use the
tokens of a line: words, Chinese characters, and "," for the end of a clause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from memcli.language.stopwords import ENGLISH, GERMAN, table
from memcli.language.terms import has_han

MOST_TOKENS = 120  # of a line whose order is compared
_PARTICLES = frozenset("的了是在和，")
_GRAMMAR = ENGLISH | GERMAN | _PARTICLES
# Words that mark the role of the word after them; of articles, those that show a case.
_MARKS = table("""
    in on at by for from to with of into onto over under before after since until during than
    per via every each im am um bei vom zum zur von zu mit nach vor seit bis für auf an aus über
    unter durch gegen ohne den dem des einen einem eines jeden jedem
""") | frozenset("在从到对给向把被由比跟为于")
_NO_PART = _GRAMMAR | _MARKS  # words that have no role themselves
# Words between two equals, which may change places around them.
_EVEN = table("""
    and or und oder sowie is are was were be been ist sind war waren wird werden haben hat has
    have
""") | frozenset("和与是")
_BACK = 2  # tokens before a word that may be its mark

_FEWEST_SIGNS = 5
_FEWEST_MOVED, _FEWEST_LEFT = 2, 4  # tokens of the shorter and of the longer piece
_CLASSIFIERS = frozenset("只个条位些台家张本件种次")
_REASONS = frozenset("因由如虽为当")  # the first character of 因为, 由于, 如果, 虽然, 为了, 当


def exchanged(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """Return two words that changed places around a third, with the third; or an empty tuple.

    Example: the cat chased the dog, the dog chased the cat -> (cat, chased, dog)
    """
    if max(len(one), len(other)) > MOST_TOKENS:
        return ()
    places, theirs = _places(one, other), _places(other, one)
    order = sorted(places, key=places.__getitem__)
    for at, first in enumerate(order):
        if first in _NO_PART:
            continue
        turned = [each for each in order[at + 1 :] if theirs[each] < theirs[first]]
        farthest = -1  # place in the other line of the word in the middle
        for end, last in enumerate(turned):
            if farthest > theirs[last] and last not in _NO_PART:
                if not _keeps_its_part(one, other, first, last):
                    between = [t for t in turned[:end] if theirs[t] > theirs[last]]
                    return first, min(set(between) - _EVEN, key=between.index), last
            elif last not in _EVEN:
                farthest = max(farthest, theirs[last])
    return ()


def _places(one: Sequence[str], other: Sequence[str]) -> dict[str, int]:
    """Return the first places of shared words; function words count if they occur once."""
    mine, theirs = Counter(one), Counter(other)
    places: dict[str, int] = {}
    for at, token in enumerate(one):
        is_once = mine[token] == theirs[token] == 1
        if token != "," and token in theirs and (is_once or token not in _GRAMMAR):
            places.setdefault(token, at)
    return places


def _keeps_its_part(one: Sequence[str], other: Sequence[str], first: str, last: str) -> bool:
    """Return whether two words keep their different marks, and so their roles."""
    marks = [(_mark(line, first), _mark(line, last)) for line in (one, other)]
    return marks[0] == marks[1] and marks[0][0] != marks[0][1]


def _mark(line: Sequence[str], word: str) -> str:
    at = line.index(word)
    for back in reversed(line[max(0, at - _BACK) : at]):
        if back == ",":
            break
        if back in _MARKS:
            return back
    return ""


def is_moved(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether two Chinese lines differ only in the place of one piece.

    Example: 小王负责支付系统, 支付系统由小王负责
    """
    mine, theirs = list(_bare(one)), list(_bare(other))
    signs = sum(map(has_han, mine))
    if signs < _FEWEST_SIGNS or 2 * signs < len(mine):
        return False
    if _without_is(mine, theirs) == _without_is(theirs, mine):
        return True
    clauses, their_clauses = _clauses(mine), _clauses(theirs)
    if len(clauses) != len(their_clauses):
        return False
    pairs = zip(clauses, their_clauses, strict=True)
    if all(a == b or _is_in_front(a, b) or _is_in_front(b, a) for a, b in pairs):
        return True
    reasons = [clause for clause in clauses if clause[0] in _REASONS]
    return len(clauses) == 2 and len(reasons) == 1 and clauses == their_clauses[::-1]


def _bare(tokens: Sequence[str]) -> Iterator[str]:
    """Remove characters without meaning: 的, 候 in 时候, 这只 and others."""
    for before, token in pairwise(["", *tokens]):
        is_pointing = token in "这那" or (before in ("这", "那") and token in _CLASSIFIERS)
        if token != "的" and not is_pointing and (before, token) != ("时", "候"):
            yield token


def _without_is(tokens: Sequence[str], other: Collection[str]) -> list[str]:
    return [token for token in tokens if token != "是" or "是" in other]


def _clauses(tokens: Sequence[str]) -> list[list[str]]:
    clauses: list[list[str]] = [[]]
    for token in tokens:
        if token != ",":
            clauses[-1].append(token)
        elif clauses[-1]:
            clauses.append([])
    return [clause for clause in clauses if clause]


def _is_in_front(a: Sequence[str], b: Sequence[str]) -> bool:
    """Return whether `a` is X Y and `b` is Y X or Y 由 X, or X 在 Y becomes Y 有 X."""
    for cut in range(1, len(a)):
        head, tail = list(a[:cut]), list(a[cut:])
        if tail[0] == "在":
            tail, link = tail[1:], ["有"]
        else:
            link = ["由"] if "由" in b and "由" not in a else []
        short, long = sorted((len(head), len(tail)))
        if short >= _FEWEST_MOVED and long >= _FEWEST_LEFT and [*tail, *link, *head] == list(b):
            return True
    return False
