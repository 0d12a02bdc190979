"""Turns any text a user types into terms; it leaves FTS5 syntax to `store.text`.

Quoted phrases, `-word`, `-"a phrase"` and `prefix*` are operators, and only where they
cannot be anything else; everything else is plain text. Dates stay terms here: the caller
finds them with `search.dates` and hands their places in as soft.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memcli.search.stopwords import CHINESE, ENGLISH, GERMAN, GERMAN_SIGNS
from memcli.store import text as fts

MAX_TERMS = 64  # each term is a walk over its rows; no question asks for more
MAX_TERM_CHARS = 256  # a longer word or phrase stands in no document
MAX_WHOLE_RUN = 4  # characters of an unspaced run that are asked for as one phrase

_SOUGHT = {"identifier": 0, "phrase": 1, "prefix": 2}  # what a full list keeps first

# A quoted phrase, a word, or a stray quote; quotes at the inside of a Latin word are text.
_SCAN = re.compile(
    r'(?P<out>(?<!\S)-)?(?<![0-9A-Za-z])["“”„](?P<phrase>[^"“”„]*)["“”](?![0-9A-Za-z])'
    r'|(?P<word>(?:[^\s"“”„,;—…、，。；！？（）]|,(?=\d))+)'
)
# What an identifier has inside or at its ends: a sign between letters or digits, both cases
# within a word (not McDonald), letters beside digits, a leading #, the end of C++ and C#.
_MARKED = re.compile(
    r"\w[./:\\]+\w|[^\W_]_+[^\W_]|(?<!\bMc)(?<=[a-z])[A-Z]|[^\W\d_]-?\d|\d-?[^\W\d_]|^#\w|^\w(?:\+\+|#)$"
)
# What looks like one and is not: a quantity or ordinal, a date, a time, a decimal, e.g.
_PLAIN = re.compile(
    r"\d+[-.,]?\d*(?:st|nd|rd|th|-?[a-z]{1,2}|-[a-z]+)?"
    r"|\d{4}([-/])\d\d?(?:\1\d\d?)?|(?:19|20)\d{6}|\d\d?\.\d\d?\.\d{4}"
    r"|\d\d?:\d\d(?::\d\d)?|(?:[a-z]\.)+[a-z]?",
    re.IGNORECASE,
)
_LONG_NUMBER = 5  # digits from which a number is an id; 2026 and 8080 are not


class Term(NamedTuple):
    """One thing to look for."""

    text: str  # as typed, without the operator
    kind: str  # word | phrase | prefix | identifier | pair
    stop: bool = False  # a function word, or part of a date
    group: int = 0  # pairs of one long unspaced run share a number: any of them will do

    @property
    def match(self) -> str | None:
        """Give the term's FTS5 phrase."""
        return fts.phrase(self.text, prefix=self.kind == "prefix")


class ParsedQuery(NamedTuple):
    """What a query asks for."""

    text: str  # natural text to embed: operators and excluded words removed
    terms: tuple[Term, ...]  # distinct, in the order of the query
    excluded: tuple[Term, ...]
    unspaced: float  # share of its letters in scripts written without spaces, 0 to 1
    dropped: int  # distinct terms left out because there were too many

    @property
    def is_empty(self) -> bool:
        """Tell that there is nothing to search for: no letter and no digit."""
        return not self.terms

    @property
    def cjk(self) -> bool:
        """Tell that most of it is in a script written without spaces."""
        return self.unspaced >= 0.5

    @property
    def sought(self) -> tuple[Term, ...]:
        """Give the terms that count: stop words only when there is nothing else."""
        return tuple(term for term in self.terms if not term.stop) or self.terms

    @property
    def match_all(self) -> str | None:
        """Give the MATCH expression that wants every term, one of each group of pairs."""
        groups: dict[object, list[str | None]] = {}
        for term in self.sought:
            groups.setdefault(term.group or term, []).append(term.match)
        return self._with_exclusions(fts.all_of(map(fts.any_of, groups.values())))

    @property
    def match_any(self) -> str | None:
        """Give the MATCH expression that wants any term, or a piece of one."""
        pieces = [piece for term in self.sought for piece in _pieces(term)]
        return self._with_exclusions(fts.any_of(pieces))

    def _with_exclusions(self, wanted: str | None) -> str | None:
        return fts.without(wanted, fts.any_of(term.match for term in self.excluded))


def parse(text: str, *, soft: Iterable[tuple[int, int]] = ()) -> ParsedQuery:
    """Parse a query; terms that begin inside a `soft` (start, end) span count as stop words.

    Example: `"exact words" deploy* -draft` -> a phrase, a prefix, an exclusion.
    """
    text = text.encode("utf-8", "replace").decode().replace("\0", " ")
    scanned = [_Scanned.of(match) for match in _SCAN.finditer(text)]
    if not any(piece.out is False and fts.is_searchable(piece.text) for piece in scanned):
        scanned = [piece._replace(out=False) for piece in scanned]
    spans = tuple(soft)
    wanted, excluded, language = _Terms(spans), _Terms(), _stop_words(text)
    for piece in scanned:
        (excluded if piece.out else wanted).add(piece, language)
    terms, dropped = _capped(wanted.found.values())
    letters = sum(map(str.isalnum, text))
    run_letters = sum(len(run) for run, unspaced in fts.split_runs(text) if unspaced)
    return ParsedQuery(
        text=_natural(text, scanned),
        terms=terms,
        excluded=_capped(excluded.found.values())[0],
        unspaced=min(1.0, run_letters / letters) if letters else 0.0,
        dropped=dropped,
    )
