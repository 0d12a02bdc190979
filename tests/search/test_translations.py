"""A page in the language of the question stands before its translations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.search.ranked import RankedPassage
from memcli.search.translations import language_of, own_language_first
from tests.render.test_text import PASSAGE

PATHS = (
    "book/a.md", "de/book/a.md", "fr/book/a.md", "book/b.md", "de/book/b.md", "zh-CN/book/b.md",
    "notes/it/c.md", "c.md", "book/a.fr.md",
)  # fmt: skip


def _passages(*paths: str) -> list[RankedPassage]:
    about = PASSAGE.about
    return [
        PASSAGE._replace(
            candidate=PASSAGE.candidate._replace(about=about._replace(path=path)),
            score=1.0 - 0.05 * rank,
        )
        for rank, path in enumerate(paths)
    ]


def _paths(passages: list[RankedPassage]) -> list[str]:
    return [passage.about.path for passage in passages]


def test_an_english_question_gets_the_original_before_its_translations() -> None:
    passages = _passages(
        "de/book/a.md", "de/book/a.md", "fr/book/a.md", "x.md", "book/a.md", "book/a.md"
    )
    ranked = own_language_first(passages, "how do I install it on windows")
    assert _paths(ranked) == [
        "book/a.md", "de/book/a.md", "de/book/a.md", "fr/book/a.md", "x.md", "book/a.md"
    ]  # fmt: skip
    assert [passage.score for passage in ranked] == [passage.score for passage in passages]
    step = ranked[0].trace[-1]
    assert (step.stage, step.inputs) == ("language", (("before", passages[0].citation),))


def test_a_german_question_gets_the_german_page_and_an_unknown_one_the_original() -> None:
    passages = _passages("book/a.md", "de/book/a.md")
    assert _paths(own_language_first(passages, "wie richte ich das ein")) == [
        "de/book/a.md",
        "book/a.md",
    ]
    assert own_language_first(passages, "hooks") == passages
    assert _paths(own_language_first(passages[::-1], "hooks")) == ["book/a.md", "de/book/a.md"]
    passages = _passages("book/b.md", "zh-CN/book/b.md")
    assert _paths(own_language_first(passages, "如何安装"))[0] == "zh-CN/book/b.md"
    passages = _passages("de/hooks.md", "hooks.en.md", "hooks.md")
    assert _paths(own_language_first(passages, "where are the hooks"))[0] == "hooks.en.md"


def test_what_has_no_translation_keeps_its_rank() -> None:
    passages = _passages("notes/it/c.md", "de/z.md", "c.md", "js/a.md", "book/a.md")
    assert own_language_first(passages, "what is in it") == passages


@given(
    st.lists(st.sampled_from(PATHS), max_size=12), st.sampled_from(["the", "der das", "x", "文"])
)
def test_nothing_is_lost_and_the_own_language_comes_first(paths: list[str], question: str) -> None:
    passages = [passage._replace(moment=str(at)) for at, passage in enumerate(_passages(*paths))]
    ranked = own_language_first(passages, question)
    assert {int(passage.moment) for passage in ranked} == set(range(len(passages)))
    assert [passage.score for passage in ranked] == [passage.score for passage in passages]
    for own, other in (("book/a.md", "fr/book/a.md"), ("book/b.md", "zh-CN/book/b.md")):
        found = _paths(ranked)
        has_better = "de/" + own in found and question == "der das"
        if own in found and other in found and question != "文" and not has_better:
            assert found.index(own) < found.index(other)
    again = own_language_first(ranked, question)
    assert _paths(again) == _paths(ranked)


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("how do I install it", "en"),
        ("wie installiere ich es", "de"),
        ("hooks", ""),
        ("フックの使い方", "ja"),
        ("如何使用", "zh"),
        ("как установить", "ru"),
        ("설치", "ko"),
    ],
)
def test_the_language_of_a_question(question: str, code: str) -> None:
    assert language_of(question) == code
