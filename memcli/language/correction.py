"""Tell whether a line says otherwise what an older one says of the same thing; pure.

With a word of change (`search.newer`) it is enough that the newer line holds half of the content of
the older one. Without one the lines have to be the same but for one value or one turn of the
meaning, and what stands before the value has to be the same: it names the thing. Two events, two
tickets or an addition are no correction.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from memcli.language.change import speaks_of_change
from memcli.language.facts import Facets, facets_of, has_form
from memcli.language.stopwords import ENGLISH, GERMAN

HELD = 0.5  # of the content of the older line
LEAST_SHARED = 2  # words of content
BEFORE_A_NUMBER = 2  # words of content that name what a number is of
# The number of a ticket names another thing, it is no value.
_TICKET = re.compile(r"\b[A-Z][A-Za-z]+-\d+\b")
_ADDITION = re.compile(r"\b(?:also|too|as well|besides|auch|ebenfalls|zusätzlich)\b|也|还", re.I)


def correction(newer: str, older: str) -> float:
    """Give how much of an older line a newer one corrects, 0 to 1; 0 where it does not."""
    new, old = facets_of(newer), facets_of(older)
    if new.sequence == old.sequence or _ADDITION.search(newer):
        return 0.0
    if set(_TICKET.findall(older)) - set(_TICKET.findall(newer)):
        return 0.0
    gone, come = _left(old, new), _left(new, old)
    content = [term for term in old.sequence if _is_content(term)]
    shared = len(content) - len(gone)
    if shared < LEAST_SHARED:
        return 0.0
    held = shared / len(content)
    if speaks_of_change(newer):
        return held if held >= HELD else 0.0
    if not _is_one_value(gone, come, content):
        return 0.0
    return held if gone or come or new.telling != old.telling else 0.0


def _is_one_value(gone: Sequence[str], come: Sequence[str], content: Sequence[str]) -> bool:
    """Tell that one thing at most stands in the place of another, behind what names it."""
    if max(len(gone), len(come)) > 1:
        return False
    if not gone:
        return not come
    before = content.index(gone[0])
    if gone[0].isdigit():
        return before >= BEFORE_A_NUMBER
    return 2 * (before + 1) > len(content)


def _left(a: Facets, b: Facets) -> list[str]:
    """List the content of a line which the other has no form of, in its order."""
    terms = dict.fromkeys(term for term in a.sequence if _is_content(term))
    return [term for term in terms if term not in b.terms and not _has_form(term, b.terms)]


def _has_form(term: str, others: Collection[str]) -> bool:
    return not term.isdigit() and has_form(term, others)


def _is_content(term: str) -> bool:
    return term not in ENGLISH and term not in GERMAN
