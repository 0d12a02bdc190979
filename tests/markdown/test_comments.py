from __future__ import annotations

import pytest

from memcli.markdown.comments import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a <!-- x --> b", "a   b"),
        ("<!-- a\n\nsecret -->\nb", " \nb"),
        ("<!-- never closed\n\nsecret", " "),
        ("- <!-- a\n\n  b --> c", "-   c"),
        ("<!--> x", "  x"),
        ("a <!-- never closed", "a <!-- never closed"),
        ("a <!-- open\n\nnew paragraph -->", "a <!-- open\n\nnew paragraph -->"),
        ("`<!--` opens, `-->` closes", "`<!--` opens, `-->` closes"),
        ("<!-- ` --> a <!-- ` --> b", "  a   b"),
        ("a\r\nb\rc", "a\nb c"),
    ],
)
def test_what_is_left_of_a_text_without_its_comments(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "<!--" * 50_000,
        "a <!--" * 50_000,
        "a <!--" * 50_000 + "\n\n-->",
        "`" * 100_000 + "<!--",
        "a <!-- x\n\n" * 30_000 + "-->",
    ],
    ids=["openers", "inline", "behind-a-gap", "backticks", "gaps"],
)
def test_runs_of_openers_take_linear_time(text: str) -> None:
    visible(text)
