"""Which script a text is written in."""

from __future__ import annotations

import pytest

from memcli.embedding.models import readable
from memcli.language.tokens import latin_share


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("", 1),
        ("plain English, 2026", 1),
        ("1234 — … 👍", 1),
        ("Überraschung naïve Łódź ĳ ﬁ Ａ", 1),
        ("東京タワー", 0),
        ("서울에서", 0),
        ("ab東京", 0.5),
        ("Привет", 0),
        ("αβab", 0.5),
        ("人々 ｶﾅ", 0),
    ],
)
def test_the_share_of_latin_letters(text: str, share: float) -> None:
    assert latin_share(text) == share


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("budget of the server 预算", "budget of the server"),
        ("what did Анна say in Köln", "what did say in Köln"),
        ("the α of 5 µm steps – “quoted”", "the α of 5 µm steps – “quoted”"),
        ("iPhone手机壳 case", "iPhone手机壳 case"),
        ("plain words", "plain words"),
    ],
)
def test_a_model_of_english_is_given_what_it_can_read(text: str, left: str) -> None:
    assert readable(text, "bundled") == left
    assert readable(text, "multilingual") == text
