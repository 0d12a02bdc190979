"""Names, events and plans tell more than compliments; what leans on a sentence takes it along."""

from __future__ import annotations

import pytest

from memcli.compaction.entries import cut
from memcli.compaction.extract import SHORT_ANSWER, SummaryLines, antecedents, extract
from memcli.compaction.sentences import Sentence, sentences
from memcli.compaction.similarity import idf
from memcli.language.discourse import is_digression, telling
from memcli.language.salience import names_in
from tests.compaction.support import make_log


def said(text: str) -> list[Sentence]:
    return [each for entry in cut(make_log("2025-03-01", text)) for each in sentences(entry)]


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("I went to the pottery fair in Lund.", "The fair was really a very fine one."),
        ("We finished the roof yesterday.", "The roof is a rather fine one."),
        ("I plan to study law next year.", "The law is such a fine subject."),
        ("My sister sings in a choir.", "Your sister must be so happy about the choir."),
        ("我们昨天去了厦门。", "厦门很美。"),
    ],
)
def test_what_happened_tells_more_than_what_is_said_about_it(more: str, less: str) -> None:
    assert telling(more, ()) > telling(less, ())


def test_who_speaks_is_no_news() -> None:
    text = "It was nice to see Ann there."
    assert telling(text, {"Ann"}) < telling(text, {"Bo"})


def test_names_stand_in_the_middle_of_a_sentence() -> None:
    text = "Then I drove with Odette to Lake Bled, and I'm sure Odette will drive back."
    assert names_in(text) == ["Odette", "Lake Bled"]


CHAIN = "We adopted a puppy from the shelter in Lund. He sleeps on the sofa all day. It suits him."


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (CHAIN, [None, 0, 1]),
        # Two are enough to take along.
        (f"{CHAIN[:-1]} and the whole family. He snores.", [None, 0, 1, None]),
        ("We adopted a puppy in Lund.\n\n## Later\n\nHe sleeps all day.", [None, None]),
        ("- **Ann**: Shall we take the puppy home today?\n- **Bo**: Yes, of course!", [None, 0]),
        ("[image: a puppy on a very old sofa]\n\nHe sleeps there.", [None, None]),
        ("Yes.\n\nHe sleeps on the sofa.", [None, None]),
    ],
    ids=["chain", "its end", "another section", "answer", "aside", "filler"],
)
def test_what_a_sentence_leans_on(text: str, wanted: list[int | None]) -> None:
    assert antecedents(said(text)) == wanted


def test_what_leans_takes_its_sentence_along_into_the_summary() -> None:
    told = said(f"{CHAIN}\n\nThe weather was mild and nobody complained about anything.")
    weights = idf([each.text for each in told])
    found = extract(told, SummaryLines(), weights, forced=[2], groups=(), embed=None)
    assert found.chosen == {0, 1, 2}


def test_brackets_are_an_aside() -> None:
    assert is_digression("[image: a puppy]")
    assert not is_digression("[sic] he said")


def test_an_answer_is_bare_by_its_words() -> None:
    question = Sentence("Where does the puppy sleep at night?", "a.md", 1, 1, "Ann", "", "")
    for words, leans in ((SHORT_ANSWER - 1, True), (SHORT_ANSWER, False)):
        answer = Sentence(" ".join(["Downstairs"] * words), "a.md", 2, 2, "Bo", "", "")
        assert antecedents([question, answer]) == [None, 0 if leans else None]
        assert antecedents([question, answer._replace(speaker="Ann")]) == [None, None]
