"""One letter for what is read alike, one stem for the forms of a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.language.stems import letters, stems
from memcli.language.words import compose, fold, index_term, prepare, stem

RUSSIAN = st.text("абвгдежзийклмнопрстуфхцчшщъыьэюя", max_size=14)
ARABIC = st.text("ابتثجحخدذرزسشصضطظعغفقكلمنهويءؤئ", max_size=12)
VARIED = st.text("ёάςıأةىیک٣۳३๓５カナのxé ", max_size=12)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param("книга книги книге книгу книгой книг", "книг", id="noun"),
        pytest.param("дверь двери дверью дверям дверями", "двер", id="soft-noun"),
        pytest.param("обновление обновления обновлений обновлениями", "обновлен", id="ие"),
        pytest.param("красивая красивой красивых красивыми красивейший", "красив", id="adjective"),
        pytest.param("подписал подписала подписали подписать подписав", "подписа", id="verb"),
        pytest.param("улыбнулась улыбнулся улыбнулись", "улыбнул", id="reflexive"),
        pytest.param("готовность готовности", "готовн", id="abstract-noun"),
        pytest.param("гость гости", "гост", id="no-abstract-noun"),
        pytest.param("сделанный сделанного сделанными", "сдела", id="participle"),
        pytest.param("старинный старинного", "старин", id="doubled-n"),
        pytest.param("в к с вдв", "в к с вдв", id="no-vowel"),
        pytest.param("новини їжак", "новин їжак", id="letter-of-ukrainian"),
    ],
)
def test_forms_of_a_russian_word_have_one_stem(words: str, expected: str) -> None:
    assert dict.fromkeys(stems(words).split()) == dict.fromkeys(expected.split())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param("مدرسة المدرسة بالمدرسة للمدرسة والمدرسة مدرسه", "مدرس", id="articles"),
        pytest.param("سيارة سيارات السيارات", "سيار", id="feminine"),
        pytest.param("معلم المعلمون معلمين", "معلم", id="masculine"),
        pytest.param("كِتَابٌ كتــــاب الكتاب وكتاب کتاب", "كتاب", id="marks-and-letters"),
        pytest.param("أحمد احمد", "احمد", id="alef"),
        pytest.param("ولد", "ولد", id="no-and"),
        pytest.param("الف", "الف", id="too-short-for-an-article"),
    ],
)
def test_forms_of_an_arabic_word_have_one_stem(words: str, expected: str) -> None:
    assert {*prepare(words).split()} == {expected}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("٣٠٥ ۳۰۵ ३०५ ৩০৫ ๓๐๕ ３０５", "305 305 305 305 305 305"),
        ("Ёлка за́мок", "елка замок"),
        ("ΟΔΟΣ οδός Ελλάδα", "οδοσ οδοσ ελλαδα"),
        ("ığdır Iğdır", "iğdir iğdir"),
        ("リンゴ りんご ﾘﾝｺﾞ コーヒー", "りんご りんご りんご こーひー"),
    ],
)
def test_what_is_read_alike_is_written_alike(text: str, expected: str) -> None:
    assert fold(text) == expected


@given(VARIED)
def test_letters_are_made_one_once_and_for_all(text: str) -> None:
    assert letters(fold(text)) == fold(text) == fold(fold(text))


@given(RUSSIAN)
def test_a_russian_stem_begins_its_word(word: str) -> None:
    assert compose(word).startswith(stems(word))


@given(ARABIC)
def test_an_arabic_stem_is_in_its_word_and_no_single_letter(word: str) -> None:
    assert stems(word) in word
    assert len(stems(word)) >= min(2, len(word))


@given(st.one_of(RUSSIAN, ARABIC, VARIED))
def test_a_text_holds_what_is_sought_of_it(text: str) -> None:
    term = index_term(text)
    if term:
        assert f" {' '.join(prepare(text).split())}".find(f" {' '.join(term.text.split())}") >= 0


@given(st.text(st.characters(max_codepoint=0x2AF, exclude_characters="ı")))
def test_latin_words_are_left_to_the_tokenizer(text: str) -> None:
    assert stem(text) == text
