"""The shipped tokenizer against the `tokenizers` package."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from memcli.embedding.wordpiece import FIRST, LAST, UNKNOWN, VOCABULARY, WordPiece
from tests.support import loaded_by

PIECES = Path(VOCABULARY).read_text(encoding="utf-8").split("\n")[:-1]


def query_ids(text: str, limit: int) -> list[int]:
    return WordPiece().ids(text, limit)


def _reference() -> Tokenizer:
    vocabulary = {piece: number for number, piece in enumerate(PIECES)}
    model = models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=True, lowercase=True
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


REFERENCE = _reference()
WORDS = WordPiece()


def expected(text: str) -> list[int]:
    return [FIRST, *REFERENCE.encode(text).ids, LAST]


LINES = [
    "",
    " \t\n\r ",
    "The weather is lovely today.",
    "It's so sunny outside! (really; 100%) — naïve café, Zoë's résumé…",
    "## Decision 2026-02-10: move `users_v2` to PostgreSQL 16 @ eu-west-1",
    "- [x] call **Łukasz** about https://example.org/a?b=c&d=%20#frag",
    "Ǆ ﬁne ﬂow ﬃ Ⅷ ½ ²³ ™ ℌ Å Å é é ẛ̣ ſ ß ẞ",
    "ΟΔΟΣ Σίσυφος ΣΣ İstanbul ısı",
    "東京タワーへ行きました。我們搬到了上海。 서울에서 만나요 𠀀𠀁 㐀 豈 ｶﾀｶﾅ",
    "สวัสดีชาวโลก नमस्ते दुनिया שָׁלוֹם مَرْحَبًا Привет, Ёлка! Việt Nam",
    "👩‍👩‍👧‍👦 🏳️‍🌈 ❤️ 👍🏽 🇩🇪 ☃︎",
    "a\x00b\x01c\x0bd\x7fe\x85f\u00adg\u200bh\u200di\ufeffj\ufffdk\u2028l\u3000m",
    "x\u0301\u0302\u0323y q\u0336r\u20dd",
    "a" * 100 + " " + "a" * 101 + " " + "é" * 100 + " " + "水" * 120,
    "antidisestablishmentarianism electroencephalographically zzzzqqqxx",
    "\ufdfa \u1e9b\u0323 \u0958 \u2126 \u212b \uf900 \U0002f800 \U0002b820",
    "٣٤ ١٢ ⑴ ⒈ ㊀ 〇 ︵ ﹏ ＡＢＣ１２３！",
]


@pytest.mark.parametrize("line", LINES)
def test_ids_agree_with_the_reference(line: str) -> None:
    assert WORDS.ids(line) == expected(line)
    assert WORDS.count(line) == len(expected(line))
    assert query_ids(line, 512) == expected(line)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_ids_agree_on_any_text(text: str) -> None:
    assert WORDS.ids(text) == expected(text)


@given(st.text("aAbe stéÉ-#*.\u0301\u0308ﬁ水\u200dΣİ\n0", max_size=60))
def test_ids_agree_on_mixtures(text: str) -> None:
    assert WORDS.ids(text) == expected(text)
    assert query_ids(text, 256) == expected(text)


def test_code_points_agree_between_letters() -> None:
    # All of planes 0 and 1 and the tags, save that even blocks are sampled.
    even = ((0x3400, 0xD7A4), (0xE000, 0xF900), (0x12000, 0x16000), (0x17000, 0x1B000))
    codes = [*range(0xD800), *range(0xE000, 0x1FC00), *range(0x1FC00, 0x110000, 997)]
    codes += [*range(0xE0000, 0xE0200), 0x2B81F, 0x2B820, 0x2B91F, 0x2B920, 0x2CEAF, 0x2F800]
    sampled = [c for c in codes if c % 16 == 0 or not any(a <= c < b for a, b in even)]
    assert len(sampled) > 50_000
    text = " ".join(f"a{chr(code)}b" for code in sampled)
    assert WORDS.ids(text) == expected(text)


def test_every_piece_keeps_its_line_number() -> None:
    words = {p: n for n, p in enumerate(PIECES) if p.isascii() and p.isalpha() and p.islower()}
    assert len(words) > 20_000
    assert WORDS.ids(" ".join(words))[1:-1] == list(words.values())
    for word in list(words)[::4000]:
        assert query_ids(word, 256) == [FIRST, words[word], LAST]


def test_vocabulary_is_the_official_one() -> None:
    digest = hashlib.sha256(Path(VOCABULARY).read_bytes()).hexdigest()
    assert digest == "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
    assert max(map(len, PIECES)) == 18
    assert [PIECES[n] for n in (UNKNOWN, FIRST, LAST)] == ["[UNK]", "[CLS]", "[SEP]"]


def test_special_tokens_in_a_text_are_plain_text() -> None:
    for ids in (WORDS.ids("[SEP] [CLS] [MASK]"), query_ids("[SEP] [CLS] [MASK]", 256)):
        assert ids.count(LAST) == 1
        assert ids.count(FIRST) == 1


def test_lone_surrogates_are_dropped() -> None:
    assert WORDS.ids("a\ud800b") == WORDS.ids("ab") == query_ids("a\ud800b", 256)


@pytest.mark.parametrize("limit", [2, 3, 10, 256])
def test_a_limit_cuts_pieces_and_keeps_the_frame(limit: int) -> None:
    text = "unbelievably " * 300
    cut = [*WORDS.ids(text)[: limit - 1], LAST]
    assert WORDS.ids(text, limit) == cut == query_ids(text, limit)
    assert len(cut) == limit


def test_long_texts_count_as_their_lines_do() -> None:
    lines = [f"line {n} of naïve text, § {n * n}" for n in range(9_000)]
    whole = "\n".join(lines)
    assert len(whole) > 3 * (1 << 16)
    assert WORDS.count(whole) == 2 + sum(WORDS.count(line) - 2 for line in lines)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "é" * 1_000_000,
        "水" * 300_000,
        "\u0301" * 1_000_000,
        " ".join(hashlib.sha512(b"%d" % n).hexdigest()[:100] for n in range(1000)),
    ],
    ids=["one word", "accents", "ideographs", "marks", "words of many pieces"],
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    start = time.process_time()
    WORDS.count(text)
    query_ids(text, 256)
    assert time.process_time() - start < 2


def test_the_memo_stays_bounded() -> None:
    words = WordPiece()
    words.count(" ".join(f"w{n}" for n in range(120_000)))
    assert len(words) <= 50_000


def test_a_short_query_needs_no_heavy_import() -> None:
    loaded = loaded_by(
        "from memcli.embedding.wordpiece import WordPiece; WordPiece().ids('hello é', 256)"
    )
    assert loaded.isdisjoint({"numpy", "tokenizers", "pathlib"})
