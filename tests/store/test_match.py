"""The text FTS5 indexes and the MATCH expressions it is asked, tried on FTS5 itself."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memcli.language import words
from memcli.store.sqlite import fts_query
from memcli.store.sqlite.fts_query import TOKENIZE, expression
from memcli.types import Term, TermQuery

Find = Callable[[str | None], list[int]]


def phrase(text: str, *, prefix: bool = False) -> str | None:
    term = words.index_term(text, prefix=prefix)
    return fts_query.phrase(term) if term else None


def terms(texts: list[str], *, prefix: bool = False) -> tuple[Term, ...]:
    return tuple(term for text in texts if (term := words.index_term(text, prefix=prefix)))


SCRIPTS = {
    "ascii": (0x20, 0x7E),
    "latin": (0xA1, 0x17F),
    "combining": (0x300, 0x36F),
    "hebrew": (0x591, 0x5F4),
    "arabic": (0x610, 0x6D3),
    "devanagari": (0x900, 0x97F),
    "thai": (0xE01, 0xE3A),
    "khmer": (0x1780, 0x17D3),
    "hiragana": (0x3041, 0x3096),
    "katakana": (0x30A1, 0x30FA),
    "han": (0x4E00, 0x4E40),
    "hangul": (0xAC00, 0xAC40),
    "fullwidth": (0xFF01, 0xFF9D),
}
CHARS = st.one_of(
    *(st.characters(min_codepoint=low, max_codepoint=high) for low, high in SCRIPTS.values())
)
MIXED = st.text(CHARS, max_size=30)
ANY_TEXT = st.one_of(
    MIXED, st.text(max_size=30), st.text(st.sampled_from('"*()-+:^{}NEAROT\0 a東'))
)
CJK = st.text(
    st.sampled_from("東京都会議の日本語検索한국어学校カタカナー々"), min_size=2, max_size=12
)


def table(*documents: str) -> Find:
    """Index documents as rows 1, 2, … and give the function that asks for them."""
    connection = apsw.Connection(":memory:")
    tokenize = TOKENIZE.replace("'", "''")
    connection.execute(
        f"CREATE VIRTUAL TABLE f USING fts5(x, content='', contentless_delete=1, "
        f"tokenize='{tokenize}')"
    )
    for row, document in enumerate(documents, 1):
        connection.execute("INSERT INTO f (rowid, x) VALUES (?, ?)", (row, words.prepare(document)))

    def find(expression: str | None) -> list[int]:
        if expression is None:
            return []
        rows = connection.execute("SELECT rowid FROM f WHERE f MATCH ? ORDER BY 1", (expression,))
        return [row for (row,) in rows]

    return find


@pytest.mark.parametrize(
    ("text", "indexed"),
    [
        pytest.param("Plain ASCII", "Plain ASCII", id="ascii-as-it-is"),
        pytest.param("Café STRASSE Straße", "café strasse strasse", id="case-folded"),
        pytest.param("ＡＢＣ１２", "abc12", id="fullwidth-composed"),
        pytest.param("東", "東", id="one-character"),
        pytest.param("東京", "東京 京", id="pair-and-last"),
        pytest.param("東京都", "東京 京都 都", id="pairs-and-last"),
        pytest.param("v2東京x", "v2 東京 京 x", id="run-between-latin"),
        pytest.param("한국어", "한국 국어 어", id="hangul"),
        pytest.param("ｶﾀｶﾅ", "かた たか かな な", id="halfwidth-kana"),
        pytest.param("Ёлки ٣٠٥", "елк 305", id="stem-and-digits"),
        pytest.param("กินข้าว", "กิน นข้ ข้า าว ว", id="thai-clusters"),
        pytest.param("co\u00adoperate é", "cooperate é", id="soft-hyphen-dropped"),
        pytest.param("مُحَمَّد", "محمد", id="arabic-vowels-dropped"),
        pytest.param("Acme™ tool é", "acme tool é", id="trade-mark-stands-apart"),
    ],
)
def test_text_is_prepared_for_the_index(text: str, indexed: str) -> None:
    assert words.prepare(text).split() == indexed.split()


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        pytest.param("word", '"word"', id="word"),
        pytest.param("v0.1.9", '"v0.1.9"', id="version"),
        pytest.param('a"b', '"a""b"', id="quote-doubled"),
        pytest.param("a\0b", '"a b"', id="nul"),
        pytest.param("東京都", '"東京 京都"', id="run"),
        pytest.param("東", '"東"*', id="one-character-is-a-prefix"),
        pytest.param("東京。", '"東京"', id="stop-behind-the-run"),
        pytest.param("東京v2", '"東京 京 v2"', id="run-that-ends-inside"),
        pytest.param("हिन्दी", '"हिन्दी"', id="vowel-sign-at-the-end-stays"),
        pytest.param("NEAR(a b, 2)", '"near(a b, 2)"', id="operator-is-text"),
        pytest.param("", None, id="empty"),
        pytest.param("*", None, id="star"),
        pytest.param("!!! — …", None, id="punctuation"),
        pytest.param("🚀", None, id="emoji"),
    ],
)
def test_a_term_becomes_one_quoted_phrase(term: str, expected: str | None) -> None:
    got = phrase(term)
    assert got == expected or (got and expected and got.split() == expected.split())


def test_nothing_is_left_out_of_a_combination() -> None:
    a, b, c = Term("a"), Term("b"), Term("c")
    assert expression(TermQuery()) is None
    assert expression(TermQuery(any=(a, b, a))) == '("a" OR "b")'
    assert expression(TermQuery(all=((a,), (b,)))) == '("a" AND "b")'
    assert expression(TermQuery(any=(c,), all=((a, b), (c,)))) == '((("a" OR "b") AND "c") OR "c")'
    assert expression(TermQuery(any=(a,), none=(b,))) == '("a") NOT ("b")'
    assert expression(TermQuery(none=(b,))) is None


@pytest.mark.parametrize(
    ("document", "term"),
    [
        pytest.param("release v0.1.9 is out", "v0.1.9", id="version"),
        pytest.param("a well known fact", "well-known", id="hyphen"),
        pytest.param("set max_token_count here", "token_count", id="underscore"),
        pytest.param("naïve CAFÉ", "cafe", id="accents"),
        pytest.param("we were running", "run", id="stem"),
        pytest.param("昨日東京都で会議", "京都", id="inside-a-run"),
        pytest.param("昨日東京", "京", id="last-character"),
        pytest.param("昨日東京", "昨", id="first-character"),
        pytest.param("ฉันไปกินข้าวแล้ว", "กินข้าว", id="thai"),
        pytest.param("ខ្ញុំចង់ស្វែងរក", "ស្វែង", id="khmer"),
        pytest.param("हिन्दी भाषा", "हिन्दी", id="hindi"),
        pytest.param("مُحَمَّد", "محمد", id="arabic"),
        pytest.param("版本v2发布了", "版本v2发布", id="mixed-run"),
        pytest.param("Cafe\u0301 au lait", "café", id="decomposed"),
    ],
)
def test_a_term_is_found_in_a_text_that_has_it(document: str, term: str) -> None:
    assert table("nothing of it 無関係", document)(phrase(term)) == [2]


@pytest.mark.parametrize(
    ("prefix", "word"),
    [
        pytest.param("deploy", "deployment", id="y-would-become-i"),
        pytest.param("deploym", "deployment", id="inside-ment"),
        pytest.param("generat", "generation", id="inside-ation"),
        pytest.param("runn", "running", id="doubled-letter"),
        pytest.param("embeddi", "embedding", id="doubled-letter-and-suffix"),
        pytest.param("authentic", "authentication", id="ic"),
        pytest.param("memor", "memories", id="plain"),
        pytest.param("housi", "housing", id="stem-ends-in-s"),
        pytest.param("東", "東京", id="han"),
        pytest.param("Caf", "café", id="accent"),
    ],
)
def test_a_prefix_finds_words_whose_stem_is_shorter(prefix: str, word: str) -> None:
    assert table("unrelated", word)(phrase(prefix, prefix=True)) == [2]


@pytest.mark.parametrize("word", ["car", "win", "plan", "tes", "dep"])
def test_a_prefix_does_not_find_words_that_are_shorter(word: str) -> None:
    longer = terms(["care", "wind", "planet", "test", "deploy"], prefix=True)
    assert table(word)(expression(TermQuery(any=longer))) == []


@given(st.lists(ANY_TEXT, max_size=4), st.lists(ANY_TEXT, max_size=3), st.booleans())
@example(['"'], ["\0"], True)
@example(["\ud800"], ["\udcff a"], False)
@example(["᧐ᦰ"], ["\u0e31"], False)
def test_no_text_breaks_a_match_expression(
    wanted: list[str], unwanted: list[str], prefix: bool
) -> None:
    find = table("東京 a b")
    pieces, none = terms(wanted, prefix=prefix), terms(unwanted)
    find(expression(TermQuery(any=pieces, none=none)))
    find(expression(TermQuery(all=tuple((piece,) for piece in pieces), none=none)))


@given(MIXED)
def test_every_document_is_found_by_itself(text: str) -> None:
    expected = phrase(text)
    if expected is not None and words.is_searchable(unicodedata.normalize("NFKD", text)):
        assert table(text)(expected) == [1]


@given(CJK, st.data())
def test_every_two_characters_of_a_run_find_it(run: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(run) - 2))
    length = data.draw(st.integers(1, len(run) - start))
    find = table(f"note {run}。")
    assert find(phrase(run[start : start + 2])) == [1]
    assert find(phrase(run[start : start + length])) == [1]


def test_a_megabyte_is_prepared_and_asked_for() -> None:
    for text in ("東" * 350_000, "ก้" * 170_000, '"' * 1_000_000, "é" * 500_000, "ก" + "้" * 300_000):
        assert len(words.prepare(text)) < 4 * len(text)
        table("x")(phrase(text))
