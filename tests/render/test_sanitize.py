from __future__ import annotations

import unicodedata

import pytest

from memcli.render.sanitize import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("naïve 東京 🙂", "naïve 東京 🙂"),
        ("a\x1b[31mred", "a␛[31mred"),
        ("title\x1b]0;gone\x07", "title␛]0;gone␇"),
        ("line end\r\n", "line end\n"),
        ("rubbed\x7fout", "rubbed␡out"),
        ("c1 \x9b31m", "c1 <U+009B>31m"),
        ("bidi \u202egnp.exe", "bidi <U+202E>gnp.exe"),
        ("zero\u200bwidth", "zero<U+200B>width"),
        ("tag \U000e0041", "tag <U+E0041>"),
        ("half \ud800", "half <U+D800>"),
    ],
)
def test_what_cannot_be_seen_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_no_control_or_format_character_is_left() -> None:
    every = "".join(map(chr, [*range(0x3000), *range(0xD800, 0xE000), *range(0xFE00, 0x10000)]))
    left = {c for c in visible(every) if unicodedata.category(c) in ("Cc", "Cs")}
    assert left == {"\t", "\n"}
    bidi = {c for c in visible(every) if unicodedata.bidirectional(c) in
            ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")}  # fmt: skip
    assert bidi == set()


def test_making_safe_twice_is_making_safe_once() -> None:
    text = "a\x1b[31m\u202e\x9b\ud800"
    assert visible(visible(text)) == visible(text)
