"""Which questions are about the past, and which about what holds now."""

from __future__ import annotations

import pytest

from memcli.language.tense import asks_about_past
from memcli.search.question import asks_about_now


@pytest.mark.parametrize(
    "question",
    [
        "What broke on Monday?",
        "Who kept the key?",
        "What has Kim said on Monday?",
        "Has anyone broken the oven?",
        "Was it Kim? Did we deploy on Monday?",
        "What are the things that I did on Monday?",
        "Wer hat am Montag angerufen?",
        "Wer hat angerufen am Montag?",
        "Was ist am Montag passiert?",
        "Wer ist am Montag nicht gekommen?",
        "Wann ist Kim umgezogen?",
        "Was sagte Kim?",
        "周三发生了什么",
        "之前谁负责部署",
        "谁周三見過客戶",
    ],
)
def test_a_verb_of_the_past_makes_a_question_about_the_past(question: str) -> None:
    assert asks_about_past(question)
    assert not asks_about_now(question)


@pytest.mark.parametrize(
    "question",
    [
        "Which database is used for billing?",
        "Who is paid on Monday?",
        "Where is the key kept?",
        "What do we have planned on Monday?",
        "Do I have to be done on Monday?",
        "Where do we need it, indeed?",
        "Wer hat am Montag Bereitschaft?",
        "Wann hat der Laden am Montag geöffnet?",
        "Ist der Laden am Montag gesperrt?",
        "Was haben wir am Montag zu besprechen?",
        "Was gilt am Montag?",
        "谁周三过生日",
        "周三过敏药吃几片",
        "为了部署需要什么",
        "周三之前要做什么",
    ],
)
def test_a_participle_of_a_state_and_a_noun_do_not(question: str) -> None:
    assert not asks_about_past(question)
    assert asks_about_now(question)


def test_the_last_verb_decides() -> None:
    assert not asks_about_past("We had a long Friday. Can we deploy on Monday?")
    assert not asks_about_past("Who said that we may deploy on Monday?")
