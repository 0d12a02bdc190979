"""What is marked in a snippet, and where it is cut."""

from __future__ import annotations

import pytest

from memcli.search.snippet import make_snippet


@pytest.mark.parametrize(
    ("text", "words", "marked"),
    [
        ("pools and pooling", ["pool"], ["pools", "pooling"]),
        ("db_pool_wait_ms", ["pool"], ["pool"]),
        ("whirlpool", ["pool"], []),
        ("ERR_POOL_EXHAUSTED", ["pool", "err_pool_exhausted"], ["ERR_POOL_EXHAUSTED"]),
        ("immigration, migration", ["mig"], ["mig"]),
        ("去东京塔", ["东京"], ["东京"]),
        ("a+b a.b", ["a.b"], ["a.b"]),
    ],
)
def test_what_is_marked(text: str, words: list[str], marked: list[str]) -> None:
    snippet = make_snippet(text, words=words)
    assert [snippet.text[start:end] for start, end in snippet.marks] == marked


def test_a_long_text_is_cut_at_the_end_of_a_sentence() -> None:
    assert make_snippet("One is here. Two is there.", words=(), limit=20).text == "One is here.…"
    assert make_snippet("Short.", words=(), limit=20).text == "Short."
