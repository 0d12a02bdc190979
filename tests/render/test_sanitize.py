from __future__ import annotations

import json
import unicodedata

import pytest

from memcli.render.sanitize import escaped, one_line, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"), ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("naïve 東京 🙂", "naïve 東京 🙂"), ("a\x1b[31mred", "a␛[31mred"),
        ("title\x1b]0;gone\x07", "title␛]0;gone␇"), ("line end\r\n", "line end\n"),
        ("rubbed\x7fout", "rubbed␡out"), ("c1 \x9b31m", "c1 <U+009B>31m"),
        ("bidi \u202egnp.exe", "bidi <U+202E>gnp.exe"), ("zero\u200bwidth", "zero<U+200B>width"),
        ("tag \U000e0041", "tag <U+E0041>"), ("half \ud800", "half <U+D800>"),
        ("soft\u00adhyphen", "soft<U+00AD>hyphen"),
        ("blank\u2800\u3164\uffa0\u034f", "blank<U+2800><U+3164><U+FFA0><U+034F>"),
        ("x\ufe0f\ufe0ey", "x<U+FE0F><U+FE0E>y"), ("葛\U000e0100", "葛<U+E0100>"),
        ("✈\ufe0f ✈\ufe0e ©\ufe0f 🅰\ufe0f", "✈\ufe0f ✈\ufe0e ©\ufe0f 🅰\ufe0f"),
        ("✈\ufe0f\ufe0e", "✈\ufe0f<U+FE0E>"),
        ("1\ufe0f\u20e3 #\ufe0f\u20e3", "1\ufe0f\u20e3 #\ufe0f\u20e3"),
        ("1\ufe0f 2\ufe0e", "1<U+FE0F> 2<U+FE0E>"), ("\ufe0f", "<U+FE0F>"),
    ],
)  # fmt: skip
def test_what_cannot_be_seen_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_no_control_or_format_character_is_left() -> None:
    every = "".join(map(chr, [*range(0x3000), *range(0xD800, 0xE000), *range(0xFE00, 0x10000)]))
    left = {c for c in visible(every) if unicodedata.category(c) in ("Cc", "Cs")}
    assert left == {"\t", "\n"}
    bidi = {c for c in visible(every) if unicodedata.bidirectional(c) in
            ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")}  # fmt: skip
    assert bidi == set()


# They are Cf and yet seen: signs that stand over or under a number.
SEEN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}


def test_no_message_can_hide_in_what_is_not_seen() -> None:
    codes = [code for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf"]
    # Variation selectors, fillers, vowels that are never drawn, and what is set aside to be so.
    codes += [*range(0xFE00, 0xFE10), *range(0xE0000, 0xE1000), 0x34F, 0x115F, 0x1160, 0x17B4,
              0x17B5, *range(0x180B, 0x1810), 0x2065, 0x2800, 0x3164, 0xFFA0]  # fmt: skip
    assert len(codes) > 4000
    for code in codes:
        if code not in SEEN:
            assert visible(f"a{chr(code)}b") == f"a<U+{code:04X}>b"
    message = "".join(chr(0xFE00 + byte if byte < 16 else 0xE0100 + byte - 16) for byte in b"obey")
    assert visible(f"🙂{message}").isprintable()
    assert json.loads(escaped(json.dumps(message, ensure_ascii=False))) == message
    assert escaped(json.dumps(message, ensure_ascii=False)).isascii()


def test_a_name_is_one_line_for_a_program() -> None:
    every = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
    assert len(one_line(every).splitlines()) == 1
    assert one_line("b\nforged\r") == "b␊forged␍"
    assert one_line("naïve \u202e\x1b") == "naïve \u202e\x1b"


def test_making_safe_twice_is_making_safe_once() -> None:
    text = "a\x1b[31m\u202e\x9b\ud800"
    assert visible(visible(text)) == visible(text)
