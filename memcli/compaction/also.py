"""Name what the sentences that were left out are about: their rarest words; pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memcli.compaction.similarity import terms
from memcli.markdown.tokens import quotient
from memcli.search.stopwords import ENGLISH, GERMAN

LEAST_CHARS = 3
COMMA_TOKENS = 0.5
GRAMS = (2, 3, 4)

# Clauses of scripts without spaces, words of the others.
_CLAUSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\w]{2,14}")
# Han between characters that are grammar more often than not.
_RUN = re.compile(
    "[^\\W的了是我你您他她它们們这這那就也都很么麼吗嗎呢吧啊会會可以在有不和与與或及而但因为為所被把给給对對"
    "到去来來说說要想能让讓从從向还還又再更最些个個什怎样樣点點上下中时時候过過着著得地之其已经經a-zA-Z0-9_]{2,}"
)
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_WORD = re.compile(r"[^\W_][\w'’-]*[^\W_]")


def words(
    texts: Sequence[str], said: Iterable[str], weights: Mapping[str, float], budget: float
) -> tuple[str, ...]:
    """Choose words of `texts` that `said` does not hold, within `budget` tokens, in their order."""
    known = {term for text in said for term in terms(text)}
    recurring = _recurring(texts)
    found: dict[str, tuple[bool, float, float]] = {}  # does it recur, value, tokens
    for word in [*recurring, *_candidates(texts)]:
        own = set(terms(word)) - known
        cost = quotient(word) + COMMA_TOKENS
        if own and word not in found:
            value = sum(weights.get(term, 0.0) for term in own) / cost**0.5
            found[word] = word in recurring, value, cost
    chosen: set[str] = set()
    for word in sorted(found, key=lambda w: (not found[w][0], -round(found[w][1], 5), w)):
        cost, own = found[word][2], set(terms(word))
        if cost <= budget and not own <= known:
            budget -= cost
            known |= own
            chosen.add(word)
    return tuple(word for word in found if word in chosen)


def _recurring(texts: Sequence[str]) -> list[str]:
    """List what a text without spaces says more than once: what it is about.

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


def _candidates(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        if _WIDE.search(text):
            yield from (m[0] for m in _CLAUSE.finditer(text) if _WIDE.search(m[0]))
            continue
        for match in _WORD.finditer(text):
            word = match[0]
            if len(word) >= LEAST_CHARS and word.casefold() not in ENGLISH | GERMAN:
                yield word
