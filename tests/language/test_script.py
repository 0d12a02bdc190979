"""Which script a text is written in."""

from __future__ import annotations

import pytest

from memcli.embedding.models import readable
from memcli.language.tokens import Shares, latin_share, script_shares


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("", Shares(1, 0)),
        ("plain English, 2026", Shares(1, 0)),
        ("1234 — … 👍", Shares(1, 0)),
        ("Überraschung naïve Łódź ĳ ﬁ Ａ", Shares(1, 0)),
        ("東京タワー", Shares(0, 1)),
        ("서울에서", Shares(0, 1)),
        ("ab東京", Shares(0.5, 0.5)),
        ("Привет", Shares(0, 0)),
        ("αβab", Shares(0.5, 0)),
        ("人々 ｶﾅ", Shares(0, 1)),
    ],
)
def test_shares(text: str, shares: Shares) -> None:
    assert script_shares(text) == shares
    assert latin_share(text) == shares.latin


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
