"""Estimate how many language-model tokens a text costs, without a tokenizer.

tokens = ceil(sum over scripts of characters / chi), chi = 1.6 for CJK, 2.5 for Cyrillic,
Arabic, Hebrew and Thai, 4.0 for the rest; one ceil of the sum, so mixed text is counted
better than with one chi for all. Budgets use this; the limits of a model do not.
"""

from __future__ import annotations

import re
from math import ceil

CHARS_PER_TOKEN = 4.0
CHARS_PER_TOKEN_CJK = 1.6
CHARS_PER_TOKEN_DENSE = 2.5

# Compiled at first use: most text is ASCII and needs neither.
_CJK = "[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
_DENSE = "[\u0400-\u052f\u0590-\u06ff\u0750-\u077f\u0e00-\u0e7f]"


def quotient(text: str) -> float:
    """Give the unrounded token estimate of a text."""
    if text.isascii():
        return len(text) / CHARS_PER_TOKEN
    cjk, dense = len(re.findall(_CJK, text)), len(re.findall(_DENSE, text))
    rest = len(text) - cjk - dense
    return cjk / CHARS_PER_TOKEN_CJK + dense / CHARS_PER_TOKEN_DENSE + rest / CHARS_PER_TOKEN


def estimate(text: str) -> int:
    """Estimate the tokens of a text, rounded up. Example: "four" * 10 -> 10, "東京" -> 2."""
    return ceil(quotient(text))
