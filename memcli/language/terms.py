"""Split a text into terms to compare: folded words, pairs of Chinese characters; pure."""

from __future__ import annotations

import re

from memcli.language.stopwords import ENGLISH, GERMAN
from memcli.language.words import prepare

_WORD = re.compile(r"\w+")


def terms(text: str) -> list[str]:
    """Give the words of a text, folded; pairs of characters where a script has no spaces."""
    return _WORD.findall(prepare(text).lower())


def content(text: str) -> set[str]:
    """Give the terms of a text that are no grammar."""
    return {term for term in terms(text) if term not in ENGLISH and term not in GERMAN}
