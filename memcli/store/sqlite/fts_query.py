"""FTS5's tokenizer, and MATCH expressions in which every term is quoted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from memcli.language.words import stem
from memcli.types import Term, TermQuery

# Marks are part of a word: the default categories cut Thai and Hindi at every vowel sign.
TOKENIZER = ("porter", "unicode61", "remove_diacritics", "2", "categories", "L* N* Co Mn Mc")
TOKENIZE = " ".join(f"'{word}'" if " " in word else word for word in TOKENIZER)

# Porter has removed these from the indexed words, one or several. A prefix that ends inside one of
# them (`generat*`) begins no indexed stem (`gener`), so the query must also ask for the stem.
_SUFFIXES = """
    able ably ability al alism ality ally alize alization ance ancy ant ate ated ating ation
    ational ator ed ement ence ency ent er es ful fulness ible ic ical icate ication ied ies ing
    ion ional ism ist ity ive iveness ize ized izing ization izer ly ment ness ous ously
    ousness
"""
_STEM_MIN = 4  # shorter stems would match unrelated words


@lru_cache(maxsize=16)  # for one question to several indexes
def expression(query: TermQuery) -> str | None:
    """Write a keyword search as a MATCH expression; None if it is empty.

    Example: any of `pool` and `v0.1`, none of `dry` -> `("pool" OR "v0.1") NOT ("dry")`.
    """
    every = _join((_join(map(phrase, group), " OR ") for group in query.all), " AND ")
    text = _join([every, *map(phrase, query.any)], " OR ")
    unwanted = _join(map(phrase, query.none), " OR ")
    return f"({text}) NOT ({unwanted})" if text and unwanted else text


def phrase(term: Term) -> str:
    """Quote a term as an FTS5 phrase.

    Example: `v0.1` -> `"v0.1"`; `東京 京都` -> `"東京 京都"`; `東`, open at its end -> `"東"*`.
    """
    quoted = [_quote(term.text) + ("*" if term.prefix else "") for term in spellings(term)]
    return f"({' OR '.join(quoted)})" if len(quoted) > 1 else quoted[0]


def spellings(term: Term) -> list[Term]:
    """Return the terms that find a term: itself, and for a prefix the shorter stems."""
    if not term.prefix:
        return [term]
    if term.text.isascii() and term.text.isalpha():
        return list(dict.fromkeys([term, *_stems(term.text)]))
    whole = stem(term.text)
    return [term] if whole == term.text else [term, Term(whole)]


def _join(expressions: Iterable[str | None], operator: str) -> str | None:
    distinct = list(dict.fromkeys(e for e in expressions if e))
    return (
        f"({operator.join(distinct)})" if len(distinct) > 1 else (distinct[0] if distinct else None)
    )


def _stems(prefix: str) -> Iterator[Term]:
    """Yield the terms that find words beginning with `prefix` whose stem is shorter."""
    if prefix.endswith("y"):  # stemmed to i, but an e is taken off: deploye* is deploy*
        yield Term(prefix + "e", prefix=True)
    suffixes = _SUFFIXES.split()
    for n in range(len(prefix) - 1, _STEM_MIN - 2, -1):
        start, tail = prefix[:n], prefix[n:]
        doubled = tail[0] == start[-1]  # runn* is the word run in running
        if doubled and any(suffix.startswith(tail[1:]) for suffix in suffixes):
            yield Term(f"{start}{tail[0]}ing")
        elif n >= _STEM_MIN and any(suffix.startswith(tail) for suffix in suffixes):
            yield Term(start)
            yield Term(start + "e")  # the query is stemmed again: house is hous, hous would be hou


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""').replace("\0", " ").strip() + '"'
