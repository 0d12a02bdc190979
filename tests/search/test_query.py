"""What a query asks for: operators, identifiers, stop words, runs, limits."""

from __future__ import annotations

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memcli.language.words import prepare
from memcli.search.query import (
    MAX_CHARS,
    MAX_MATCHES,
    MAX_TERM_CHARS,
    MAX_TERMS,
    ParsedQuery,
    QueryTerm,
    parse,
)
from memcli.store.sqlite.fts_query import TOKENIZE, expression
from memcli.types import TermQuery

QUERIES = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            [
                "-",
                '"',
                "*",
                "a",
                "the",
                "東京都",
                "v1.2",
                "-x",
                '-"',
                "“",
                "—",
                "\0",
                " ",
                "C++",
                "ไทย",
            ]
        ),
        max_size=25,
    ).map("".join),
)


def kinds(query: str) -> list[tuple[str, str]]:
    return [(term.text, term.kind) for term in parse(query).terms if not term.stop]


def words(query: str) -> list[str]:
    return [text for text, _ in kinds(query)]


def match_any(parsed: ParsedQuery) -> str | None:
    return expression(parsed.term_query)


def match_all(parsed: ParsedQuery) -> str | None:
    return expression(TermQuery(all=parsed.groups, none=parsed.unwanted))


def find(document: str, expression: str | None) -> bool:
    connection = apsw.Connection(":memory:")
    tokenize = TOKENIZE.replace("'", "''")
    connection.execute(f"CREATE VIRTUAL TABLE f USING fts5(x, content='', tokenize='{tokenize}')")
    connection.execute("INSERT INTO f (rowid, x) VALUES (1, ?)", (prepare(document),))
    if expression is None:
        return False
    return bool(list(connection.execute("SELECT rowid FROM f WHERE f MATCH ?", (expression,))))


@pytest.mark.parametrize(
    ("query", "terms", "excluded", "text"),
    [
        pytest.param("red fox", "red|fox", "", "red fox", id="words"),
        pytest.param('"red fox" den', "red fox|den", "", "red fox den", id="phrase"),
        pytest.param("“red fox” den", "red fox|den", "", "red fox den", id="curly-quotes"),
        pytest.param("fox -red", "fox", "red", "fox", id="excluded-word"),
        pytest.param('fox -"red den"', "fox", "red den", "fox", id="excluded-phrase"),
        pytest.param("fox -den*", "fox", "den", "fox", id="excluded-prefix"),
        pytest.param("东京 -大阪", "东京", "大阪", "东京", id="excluded-run"),
        pytest.param("deploy* now", "deploy|now", "", "deploy now", id="prefix"),
        pytest.param("-red", "red", "", "-red", id="nothing-positive"),
        pytest.param('-red -"a den"', "red|a den", "", "-red a den", id="nothing-positive-phrase"),
        pytest.param("-red !!!", "red", "", "-red !!!", id="punctuation-is-not-positive"),
        pytest.param("git --force", "git|force", "", "git --force", id="flag"),
        pytest.param("tar -x", "tar|x", "", "tar -x", id="one-letter-flag"),
        pytest.param("below -5 -3.5", "below|5|3.5", "", "below -5 -3.5", id="negative-number"),
        pytest.param("a1 - b2", "a1|b2", "", "a1 - b2", id="lone-dash"),
        pytest.param("well-known", "well-known", "", "well-known", id="hyphen"),
        pytest.param('say "red', "say|red", "", 'say "red', id="unbalanced"),
        pytest.param('5" disk 3" disk', "5|disk|3", "", '5" disk 3" disk', id="inches"),
        pytest.param('"" fox', "fox", "", '"" fox', id="empty-phrase"),
        pytest.param("**bold** fox", "bold|fox", "", "**bold** fox", id="markdown"),
        pytest.param("foo*bar", "foo*bar", "", "foo*bar", id="star-inside"),
        pytest.param("Caroline's status", "Caroline|status", "", "Caroline's status", id="'s"),
        pytest.param("Caroline’s dog", "Caroline|dog", "", "Caroline’s dog", id="curly-'s"),
        pytest.param("fox Fox FOX fox", "fox", "", "fox Fox FOX fox", id="distinct"),
        pytest.param("fox,den;hut", "fox|den|hut", "", "fox,den;hut", id="commas"),
        pytest.param("over 1,000 fox", "over|1,000|fox", "", "over 1,000 fox", id="thousands"),
        pytest.param("fox\0den", "fox|den", "", "fox den", id="nul"),
        pytest.param("ＡＢＣ ｶﾀ", "ABC|カタ", "", "ＡＢＣ ｶﾀ", id="fullwidth"),
    ],
)
def test_a_query_is_split_into_terms(query: str, terms: str, excluded: str, text: str) -> None:
    parsed = parse(query)
    assert "|".join(t.text for t in parsed.counted_terms) == terms
    assert "|".join(t.text for t in parsed.excluded) == excluded
    assert parsed.text == text


@pytest.mark.parametrize(
    "query",
    [
        "v0.1.9", "PROJ-123", "ERR_TIMEOUT", "getUserName", "ValueError", "#tag", "C++", "C#",
        "src/main.py", "./run.sh", "C:\\temp\\x", "https://example.org/a", "memcli.store", "E0599",
        "0x80070005", "gpt-4", "12345", "3f9a1bc", "GitHub", "key:value", "10.0.0.1", "FTS5", "#42",
    ],
)  # fmt: skip
def test_an_identifier_is_recognised(query: str) -> None:
    ((_, kind),) = kinds(query)
    assert kind == "identifier"


@pytest.mark.parametrize(
    "query",
    [
        "word", "Word", "WORD", "well-known", "2026-02-10", "2026/02/10", "20260210", "2026-02",
        "10.02.2026", "12:30", "3rd", "10am", "5km", "2-year", "3.5", "404", "2026", "1,000", "50%",
        "McDonald", "e.g.", "U.S.", "(word)", "**word**", "`word`", "word!", "naïve", "Straße",
    ],
)  # fmt: skip
def test_a_plain_word_is_no_identifier(query: str) -> None:
    ((_, kind),) = kinds(query)
    assert kind == "word"


@pytest.mark.parametrize(
    ("query", "left"),
    [
        pytest.param("what is the status of the build", ["status", "build"], id="english"),
        pytest.param("what's up with Bob's dog", ["up", "Bob", "dog"], id="apostrophes"),
        pytest.param("was war das Problem mit dem Server", ["Problem", "Server"], id="german"),
        pytest.param("the war in die hard", ["war", "die", "hard"], id="german-words-in-english"),
        pytest.param("the IT and WHO report", ["IT", "WHO", "report"], id="names-in-capitals"),
        pytest.param("docker AND podman", ["docker", "podman"], id="operators-in-capitals"),
        pytest.param("WHAT IS THE STATUS", ["STATUS"], id="all-in-capitals"),
        pytest.param("this and/or that build", ["build"], id="slash"),
        pytest.param("¿Cuántos puntos dejaron?", ["puntos", "dejaron"], id="spanish"),
        pytest.param("donde vive Ana", ["vive", "Ana"], id="spanish-without-accents"),
        pytest.param("no es in el paso", ["no", "es", "el", "paso"], id="spanish-words-in-english"),
        pytest.param("Кто живёт в Берлине?", ["живёт", "Берлине"], id="russian"),
        pytest.param("أين ذهبت ليلى؟", ["ذهبت", "ليلى"], id="arabic"),
        pytest.param("बिल्ली का नाम क्या है।", ["बिल्ली", "नाम"], id="hindi"),
        pytest.param("מה שם החתול", ["שם", "החתול"], id="hebrew"),
        pytest.param("what is it", [], id="nothing-else"),
    ],
)
def test_stop_words_are_marked(query: str, left: list[str]) -> None:
    assert words(query) == left


def test_stop_words_count_when_nothing_else_is_there() -> None:
    assert [t.text for t in parse("what is it").counted_terms] == ["what", "is", "it"]
    assert match_all(parse("what is it")) == '("what" AND "is" AND "it")'
    assert match_all(parse('"to be or not to be"')) == '"to be or not to be"'


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        pytest.param("東京", "東京", id="two"),
        pytest.param("現股當沖", "現股當沖", id="four-stay-whole"),
        pytest.param("深度学习框架", "深度 度学 学习 习框 框架", id="long-run"),
        pytest.param("什么是茶", "茶", id="function-words-cut"),
        pytest.param("我的猫叫什么名字", "猫叫 名字", id="pieces"),
        pytest.param("目的地", "目的地", id="的-inside-a-word"),
        pytest.param("了解情况", "了解情况", id="了-inside-a-word"),
        pytest.param("什么", "什么", id="function-word-alone"),
        pytest.param("我很喜欢猫", "喜欢猫", id="adverb-cut"),
        pytest.param("也许会去", "也许会去", id="也-inside-a-word"),
        pytest.param("你还在吗", "还在", id="two-signs-are-no-rest"),
        pytest.param("猫的房间有什么", "猫 房间有", id="sign-behind-a-word"),
        pytest.param("有什么建议", "建议", id="sign-that-is-left-alone"),
        pytest.param("昨日の会議", "昨日 会議", id="japanese-particle"),
        pytest.param("会議について話す", "会議 話す", id="japanese-について"),
        pytest.param("会議はどこで行いますか", "会議 行い", id="japanese-question"),
        pytest.param(
            "引っ越しのあとの片付け", "引っ っ越 越し の片 片付 付け", id="hiragana-pairs-left-out"
        ),
        pytest.param("ありがとう", "あり りが がと とう", id="hiragana-alone"),
        pytest.param("학교에서", "학교", id="korean-particle"),
        pytest.param("집에서 뭐 했어요", "집", id="korean-question"),
        pytest.param("회의", "회의", id="korean-syllable-that-is-no-particle"),
        pytest.param("언제 고양이를 샀나요", "고양이 샀나요", id="korean-object"),
        pytest.param("หมอที่ไหน", "หมอ", id="thai-question"),
        pytest.param("ไฟไหม้", "ไฟ ฟไ ไห หม้", id="thai-tone-makes-another-word"),
        pytest.param("iPhone手机壳", "iPhone 手机壳", id="mixed"),
        pytest.param(
            "neoapitest 現股當沖 status code", "neoapitest 現股當沖 status code", id="card"
        ),
    ],
)
def test_an_unspaced_run_is_cut(query: str, terms: str) -> None:
    assert words(query) == terms.split()


def test_pairs_of_one_run_are_alternatives() -> None:
    parsed = parse("深度学习框架 预测股票价格")
    assert {term.group for term in parsed.terms} == {1, 2}
    assert match_all(parsed) == (
        '(("深度" OR "度学" OR "学习" OR "习框" OR "框架")'
        ' AND ("预测" OR "测股" OR "股票" OR "票价" OR "价格"))'
    )


def test_any_finds_pieces_of_runs_and_compounds() -> None:
    assert match_any(parse("現股當沖")) == '("現股 股當 當沖" OR "現股" OR "股當" OR "當沖")'
    assert match_any(parse("re-index")) == '("re-index" OR "index")'
    assert match_any(parse("v0.1.9")) == '"v0.1.9"'


def test_excluded_terms_are_taken_out_of_both_expressions() -> None:
    parsed = parse("fox -red")
    assert match_all(parsed) == match_any(parsed) == '("fox") NOT ("red")'
    assert not find("red fox", match_any(parsed))
    assert find("grey fox", match_any(parsed))


@pytest.mark.parametrize("query", ["", "  ", "*", "!!!", '""', "-", "—", "🚀", "\0", "  \n\t* "])
def test_a_query_without_letter_or_digit_is_empty(query: str) -> None:
    parsed = parse(query)
    assert parsed.is_empty
    assert match_all(parsed) is None
    assert match_any(parsed) is None


@pytest.mark.parametrize("query", ["a", "5", "東", "the", "-x", "C++", '"', "ก"])
def test_one_letter_or_digit_is_enough(query: str) -> None:
    assert parse(query).is_empty is (query == '"')


def test_soft_spans_count_as_stop_words() -> None:
    query = "standup notes last week"
    parsed = parse(query, soft=[(14, 23)])
    assert [t.text for t in parsed.counted_terms] == ["standup", "notes"]
    assert [t.text for t in parse("last week", soft=[(0, 9)]).counted_terms] == ["last", "week"]


def test_a_soft_span_may_lie_inside_a_run() -> None:
    parsed = parse("昨天会议记录", soft=[(0, 2)])
    assert parsed.terms == (QueryTerm("昨天", "word", stop=True), QueryTerm("会议记录", "word"))


def test_a_soft_span_leaves_no_possessive_behind() -> None:
    parsed = parse("yesterday's notes", soft=[(0, 9)])
    assert [t.text for t in parsed.counted_terms] == ["notes"]


@pytest.mark.parametrize(
    ("query", "share"), [("plain words", 0.0), ("東京都", 1.0), ("ab 東京", 0.5), ("!!!", 0.0)]
)
def test_the_share_of_unspaced_scripts_is_told(query: str, share: float) -> None:
    assert parse(query).unspaced == share


@pytest.mark.parametrize("word", ["e-mail", "c++", "ERR_42"])
def test_what_stands_behind_a_dash_is_excluded_whatever_its_second_letter(word: str) -> None:
    assert [term.text for term in parse(f"pool -{word}").excluded] == [word]


def test_too_many_terms_keep_identifiers_and_long_words() -> None:
    short = [f"q{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(200)]
    parsed = parse(" ".join([*short, "extraordinary", "ERR_42", '"a phrase"']))
    kept = [term.text for term in parsed.terms]
    assert kept == [*short[: MAX_TERMS - 3], "extraordinary", "ERR_42", "a phrase"]
    phrases = " ".join(f'"a phrase {word}"' for word in short)
    assert "ERR_42" in [term.text for term in parse(f"{phrases} ERR_42").terms]


def test_a_query_has_so_many_characters_and_excluded_words_at_most() -> None:
    assert words("fox " * (MAX_CHARS // 4) + "one two three") == ["fox"]
    excluded = " ".join(f"-word{n}" for n in range(MAX_TERMS + 5))
    assert len(parse(f"fox {excluded}").excluded) == MAX_TERMS


def test_the_possessive_of_an_identifier_is_left_out() -> None:
    assert kinds("ERR_42's cause") == [("ERR_42", "identifier"), ("cause", "word")]


def test_a_word_that_is_too_long_is_left_out() -> None:
    assert words("x" * (MAX_TERM_CHARS + 1) + " fox") == ["fox"]


def test_a_phrase_that_is_too_long_is_read_as_words() -> None:
    parsed = parse('"' + "red fox " * MAX_TERM_CHARS + '"')
    assert kinds(parsed.text) == [("red", "word"), ("fox", "word")]
    assert [term.kind for term in parsed.terms] == ["word", "word"]


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("x" * 1_000_000, id="one-word"),
        pytest.param(" ".join(map(str, range(150_000))), id="numbers"),
        pytest.param('"' * 1_000_000, id="quotes"),
        pytest.param('"a"b' * 250_000, id="quotes-that-do-not-close"),
        pytest.param("-a " * 300_000, id="exclusions"),
        pytest.param("東京" * 170_000, id="one-run"),
        pytest.param("_a" * 500_000, id="underscores"),
        pytest.param("a." * 500_000, id="dots"),
        pytest.param("1" * 1_000_000, id="digits"),
        pytest.param("," * 1_000_000, id="commas"),
    ],
)
def test_a_megabyte_is_a_query(query: str) -> None:
    parsed = parse(query, soft=[(0, 5), (10, 500_000)])
    assert len(parsed.terms) <= MAX_TERMS
    find("a", match_any(parsed))


@given(QUERIES, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=3))
@example("\ud800", [])
@example('-"', [])
@example("* AND NEAR(", [(3, 2)])
def test_no_query_breaks(query: str, soft: list[tuple[int, int]]) -> None:
    parsed = parse(query, soft=soft)
    find("東京 a b", match_all(parsed))
    find("東京 a b", match_any(parsed))
    parsed.text.encode()
    assert parsed.is_empty == (not parsed.terms)
    assert not parsed.is_empty or not parsed.excluded
    assert len({*parsed.terms}) == len(parsed.terms) <= MAX_TERMS
    assert (match_any(parsed) or "").count('" OR "') < MAX_MATCHES * 4


@given(st.text(st.sampled_from("東京都会議日本検索한국어カタ"), min_size=2, max_size=2), st.data())
def test_every_two_character_query_finds_a_document_with_it(pair: str, data: st.DataObject) -> None:
    around = st.text(st.sampled_from("東京都会議日本検索한국어カタ x,。"), max_size=8)
    document = data.draw(around) + pair + data.draw(around)
    assert find(document, match_all(parse(pair)))
    assert find(document, match_any(parse(pair)))


@given(st.lists(st.sampled_from(["fox", "v1.2", "東京都庁", "well-known", "running"]), min_size=1))
def test_a_document_of_the_terms_matches_all(terms: list[str]) -> None:
    assert find(" ".join(terms), match_all(parse(" ".join(reversed(terms)))))


def test_plain_words_are_those_that_may_be_misspelt() -> None:
    query = 'gone odd 3,000 999 1000 e-mail 会议记录 straße x_y_z "red door" sail* four the'
    assert [term.text for term in parse(query).plain] == [
        "gone", "3,000", "1000", "e-mail", "straße", "four",
    ]  # fmt: skip
