"""What a word may be meant as, worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.language.spelling import (
    ENGLISH_NUMBERS,
    OTHER_NUMBERS,
    are_forms,
    compounds,
    grouped,
    numbers,
    spellings,
)


def test_one_edit_keeps_the_first_letter_unless_it_was_swapped() -> None:
    found = spellings("abc")
    assert {"bac", "acb", "ac", "ab", "abxc", "abcx", "axc", "abx"} <= set(found)
    assert {"bc", "xabc", "xbc", "abc"}.isdisjoint(found)
    assert {spelling for spelling in found if spelling[0] != "a"} == {"bac"}


@pytest.mark.parametrize(
    ("typed", "meant", "likely"),
    [
        ("wrod", "word", 1.0),  # two letters swapped
        ("wrd", "word", 1.0),  # one left out
        ("worrd", "word", 1 / 2),
        ("wortd", "word", 1 / 6),  # t is beside r
        ("wotd", "word", 1 / 6),
        ("werd", "word", 1 / 6),  # a vowel for another
        ("wozd", "word", 1 / 26),
        ("wozrd", "word", 1 / 26),
        ("pltanet", "planet", 1 / 26),  # the t at the end is beside nothing of it
        ("слво", "слово", 1.0),
        ("λγος", "λογος", 1.0),
    ],
)
def test_how_likely_a_mistake_is(typed: str, meant: str, likely: float) -> None:
    assert spellings(typed)[meant] == likely


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=12), st.data())
def test_a_letter_that_is_left_out_or_typed_besides_is_found_again(
    word: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(1, len(word) - 1))
    shorter = word[:at] + word[at + 1 :]
    assert shorter == word or word in spellings(shorter)
    assert word in spellings(word[:at] + data.draw(st.sampled_from("aqz")) + word[at:])


def test_singulars_and_plurals_that_the_stemmer_leaves_apart() -> None:
    pairs = {"wolves": "wolf", "knives": "knife", "women": "woman", "indices": "index",
             "analyses": "analysis", "criteria": "criterion", "phenomena": "phenomenon",
             "mice": "mouse", "children": "child", "feet": "foot"}  # fmt: skip
    for plural, singular in pairs.items():
        assert singular in numbers(plural, ENGLISH_NUMBERS)
        assert plural in numbers(singular, ENGLISH_NUMBERS)
    assert "sitzung" in numbers("sitzungen", OTHER_NUMBERS)
    assert list(numbers("men", ENGLISH_NUMBERS)) == []  # too short to tell


def test_two_words_are_forms_only_if_they_share_a_root() -> None:
    assert are_forms("entrepreneurial", "entrepreneur")
    assert are_forms("describen", "describes")
    for one, other in (("topic", "top"), ("metal", "met"), ("only", "on"), ("music", "mus")):
        assert not are_forms(one, other)


def test_a_compound_is_cut_with_and_without_what_links_it() -> None:
    found = list(compounds("arbeitszimmer"))
    assert ("arbeits", "zimmer") in found
    assert found.index(("arbeit", "zimmer")) < found.index(("arbeits", "zimmer"))
    assert ("ice", "cream") in compounds("icecream")
    assert ("mentor", "hip") not in compounds("mentorship")
    assert list(compounds("sunrise")) == []


@pytest.mark.parametrize(
    ("number", "other"),
    [
        ("1290", "1,290"),
        ("1,290", "1290"),
        ("1.290", "1290"),
        ("1.290.000", "1290000"),
        ("1290000", "1,290,000"),
        ("129", None),
        ("0129", None),
        ("1.29", None),
        ("12,34", None),
    ],
)
def test_thousands_are_set_apart_or_not(number: str, other: str | None) -> None:
    assert grouped(number) == other


def test_keys_touch_in_their_row_and_across_rows() -> None:
    near = {"s": "adqwezxc", "p": "ol", "q": "was", "m": "nhjk"}
    for typed, others in near.items():
        found = spellings(f"t{typed}")
        beside = {word[1] for word, likely in found.items() if len(word) == 2 and likely == 1 / 6}
        assert beside == {*others}, typed
