"""List what the left-out sentences are about: people, places, dates, amounts; pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import fsum

from memcli.language import salience
from memcli.language.salience import names_in
from memcli.language.terms import terms
from memcli.language.tokens import quotient

MOST_NAMES = 8  # a list of more is read by nobody
MOST_COUNTED = 12  # characters of the noun after a number
COMMA_TOKENS = 0.5
GRAMS = (2, 3, 4)

# Clauses of scripts without spaces.
_CLAUSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\w]{2,14}")
# Han between characters that are grammar more often than not.
_RUN = re.compile(
    "[^\\W的了是我你您他她它们們这這那就也都很么麼吗嗎呢吧啊会會可以在有不和与與或及而但因为為所被把给給对對"
    "到去来來说說要想能让讓从從向还還又再更最些个個什怎样樣点點上下中时時候过過着著得地之其已经經a-zA-Z0-9_]{2,}"
)
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def names(
    texts: Sequence[str],
    said: Iterable[str],
    weights: Mapping[str, float],
    budget: float,
    *,
    speakers: Collection[str] = (),
) -> tuple[str, ...]:
    """Choose names of `texts` that `said` does not contain, within `budget` tokens, in their order.

    Names of `speakers`, whole or short, are left out.
    """
    known = {term for text in said for term in terms(text)}
    recurring = _recurring(texts)
    found: dict[str, tuple[bool, float, float]] = {}  # does it recur, value, tokens
    for name in [*recurring, *_candidates(texts)]:
        own = set(terms(name)) - known
        cost = quotient(name) + COMMA_TOKENS
        if own and name not in found and not any(who.startswith(name) for who in speakers):
            value = fsum(weights.get(term, 0.0) for term in own) / cost**0.5
            found[name] = name in recurring, value, cost
    chosen: set[str] = set()
    for name in sorted(found, key=lambda w: (not found[w][0], -round(found[w][1], 5), w)):
        cost, own = found[name][2], set(terms(name))
        if cost <= budget and not own <= known and len(chosen) < MOST_NAMES:
            budget -= cost
            known |= own
            chosen.add(name)
    return tuple(name for name in found if name in chosen)


def _recurring(texts: Sequence[str]) -> list[str]:
    """List what a text without spaces repeats: its subjects.

    Example: 我去了厦门。厦门有鼓浪屿，鼓浪屿很美。 -> 鼓浪屿, 厦门
    """
    counts: Counter[str] = Counter()
    for text in texts:
        for run in _RUN.findall(text):
            counts.update(run[at : at + n] for n in GRAMS for at in range(len(run) - n + 1))
    often = {gram: count for gram, count in counts.items() if count > 1}
    longer = {
        part
        for gram, count in often.items()
        for part in (gram[1:], gram[:-1])
        if often.get(part) == count
    }
    kept = [gram for gram in often if gram not in longer]
    return sorted(kept, key=lambda gram: (-len(gram) * often[gram], gram))


def _counted(value: str, text: str) -> str:
    """Return a bare number with its noun. Example: 240 in "It cost 240 EUR." -> 240 EUR."""
    if not value[-1].isdigit() or not value[0].isdigit():
        return value
    found = re.search(rf"(?<!\w){re.escape(value)} ?[^\W\d_]{{1,{MOST_COUNTED}}}\b", text)
    return found[0] if found else value


def _candidates(texts: Iterable[str]) -> Iterator[str]:
    """Yield dates, amounts, identifiers and proper names; clauses if capitals mean nothing."""
    for text in texts:
        values = [_counted(value, text) for value in salience.values(text)]
        yield from values
        if _WIDE.search(text):
            yield from (m[0] for m in _CLAUSE.finditer(text) if _WIDE.search(m[0]))
        else:
            yield from (name for name in names_in(text) if not any(name in v for v in values))
