"""A match is strong only if one line has what the question names and a value that it asks for."""

from __future__ import annotations

import pytest

from memcli.embedding.models import Calibration
from memcli.language.stopwords import ENGLISH, GERMAN
from memcli.language.terms import terms
from memcli.search.focus import WeightedTerm
from memcli.search.pipeline import NOTHING
from memcli.search.support import is_supported
from tests.search.makers import candidate, fused

FAR, NEAR = 0.3, 0.6
MODEL = Calibration(bias=-5.0, cosine=5.0, coverage=12.0)


def supported(
    question: str, *lines: str, cosine: float = FAR, calibration: Calibration | None = MODEL
) -> bool:
    idf = {term: 0.2 if term in ENGLISH | GERMAN else 1.0 for term in terms(question)}
    answer = NOTHING._replace(
        passages=tuple(fused(candidate(1, lines=lines, cosines=(cosine,) * len(lines)))),
        terms=tuple(WeightedTerm((term,), idf[term], text=term) for term in idf),
        constants=calibration,
    )
    return is_supported(question, answer)


@pytest.mark.parametrize(
    ("question", "line", "is_answer"),
    [
        ("Where does Tomas live?", "- Tomas lives in Graz.", True),
        ("Where does Tomas live?", "- Tomas says the cache is live.", False),
        ("Where does Tomas keep the spare key?", "- Tomas keeps the key under the mat.", True),
        ("When do we move the laptop rack?", "- You may move the laptop rack.", False),
        ("When do we move the laptop rack?", "- We move the laptop rack in May.", True),
        ("How many racks does Mira own?", "- Mira owns two racks.", True),
        ("How many racks does Mira own?", "- Mira owns racks.", False),
        ("When did Odette buy the bicycle?", "- Ruben bought a bicycle on Monday.", False),
    ],
)
def test_a_line_has_the_names_and_the_kind_of_value(
    question: str, line: str, is_answer: bool
) -> None:
    assert supported(question, "# Notes", line) is is_answer


def test_german_nouns_are_not_names() -> None:
    line = "Der Chor trifft sich im Pfarrsaal am Markt, Montag um 19 Uhr."
    assert supported("Wann trifft sich der Chor mit Gästen im Pfarrsaal?", line)
    assert not supported("When does the Chor meet Levente im Pfarrsaal?", line)


def test_a_near_passage_may_answer_in_other_words_if_the_cosines_are_measured() -> None:
    question, line = "Where does Tomas live?", "- Tomas says the cache is live."
    assert supported(question, line, cosine=NEAR)
    assert not supported(question, line, cosine=NEAR, calibration=None)
    assert not supported("Where does Levente live?", line, cosine=NEAR)
