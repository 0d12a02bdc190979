"""Look for words that nothing holds as they are most likely meant.

A word that is in the vocabulary of the bundled model is a word of English which the notes do not
use, and stays as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memcli.embedding.wordpiece import whole_words
from memcli.markdown.words import fold, sought
from memcli.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memcli.search.query import ParsedQuery, QueryTerm
    from memcli.store.port import Snapshot
    from memcli.types import Term

MOST_REPAIRED = 8  # words of a query; some 500 spellings are looked up for each
SHORTEST_STEM = 4  # letters of what is found: a shorter stem is one letter from too many words
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Repair(Record):
    """A word of the query, and what was looked for in its place."""

    typed: str
    searched: str
    how: str  # spelling


def repair(
    snapshot: Snapshot, query: ParsedQuery, lacking: Sequence[QueryTerm]
) -> tuple[ParsedQuery, tuple[Repair, ...]]:
    """Put what the index holds in the place of words that it lacks, as far as it is near enough."""
    known = whole_words(fold(term.text) for term in lacking)
    doubtful = [term for term in lacking if fold(term.text) not in known]
    made = [
        Repair(term.text, spelling, "spelling")
        for term in doubtful[:MOST_REPAIRED]
        if (spelling := _respelt(snapshot, fold(term.text)))
    ]
    return _rewritten(query, {each.typed: each.searched for each in made}), tuple(made)


def _rewritten(query: ParsedQuery, searched: Mapping[str, str]) -> ParsedQuery:
    """Put words in the place of others, in the terms and in the text that is embedded."""
    if not searched:
        return query
    terms = (
        term._replace(text=searched[term.text]) if term.text in searched else term
        for term in query.terms
    )
    typed = "|".join(map(re.escape, sorted(searched, key=len, reverse=True)))
    text = re.sub(rf"(?<!\w)(?:{typed})(?!\w)", lambda found: searched[found[0]], query.text)
    return query._replace(text=text, terms=tuple(dict.fromkeys(terms)))


def _respelt(snapshot: Snapshot, word: str) -> str | None:
    """Give the spelling at one edit that the notes use; None where they use none.

    A word of the vocabulary comes first, then the one in most chunks, then the likelier mistake.
    """
    spellings: dict[Term, str] = {}
    for spelling in spellings_of(word):
        term = sought(spelling)
        if term is not None:
            spellings.setdefault(term, spelling)
    held = snapshot.occurring([*spellings])
    found = [(term, spelling) for term, spelling in spellings.items() if term in held]
    stems = snapshot.tokens([spelling for _, spelling in found])
    long = [each for each, stem in zip(found, stems, strict=True) if len(stem[0]) >= SHORTEST_STEM]
    if not long:
        return None
    english = whole_words(spelling for _, spelling in long)
    chunks = snapshot.frequencies([term for term, _ in long])
    ranked = [
        (spelling not in english, -count, at, spelling)
        for at, ((_, spelling), count) in enumerate(zip(long, chunks, strict=True))
    ]
    return min(ranked)[-1]


def spellings_of(word: str) -> Iterator[str]:
    """Give what one edit makes of a word, its first letter kept, likelier mistakes first.

    Two letters that were swapped, one too many, one too few, a wrong one.
    """
    cuts = range(1, len(word))
    yield from (word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1))
    yield from (word[:at] + word[at + 1 :] for at in cuts)
    yield from (word[:at] + letter + word[at:] for at in (*cuts, len(word)) for letter in LETTERS)
    yield from (word[:at] + letter + word[at + 1 :] for at in cuts for letter in LETTERS)
