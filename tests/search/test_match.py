"""When an answer is good: its confidence, its lead, and who says it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.api.ask import ask as search_memory
from memcli.api.memory import Memory
from memcli.embedding.models import Calibration
from memcli.search.confidence import THIRTIETH, judge, match_of, stands_out
from memcli.search.options import options_of
from memcli.search.question import Question
from memcli.search.ranked import RankedPassage
from memcli.types import Filters
from tests.benchmarks.corrections import rows_of, write_notes
from tests.commands import indexed, printed, record, say
from tests.search.makers import candidate, fused
from tests.support import write

CONSTANTS = Calibration(0.0, 0.0, 0.0, lead=0.05, background=0.25)
CLOSE = {"code": "close", "reason": "the tenth passage matches nearly as well as the first"}
Asked = Callable[..., tuple[dict[str, Any], str]]


def _passages(*scores: float) -> list[RankedPassage]:
    (passage,) = fused(candidate(1))
    return [passage._replace(score=score) for score in scores]


def _chunks(*cosines: float) -> list[RankedPassage]:
    (passage,) = fused(candidate(0))
    return [passage._replace(cosine=cosine) for cosine in cosines]


@pytest.mark.parametrize(
    ("first", "rest", "chunks", "is_so"),
    [
        (0.5, [0.375] * 9, [0.25] * 30, True),  # .125 over .05 + .25 * .25
        (0.5, [0.375] * 9, [0.25] * 29 + [0.5], True),  # the thirtieth counts, not the first
        (0.5, [0.375] * 9, [0.5] * 30, False),  # .125 under .05 + .25 * .5
        (0.5, [0.375] * 9, [0.5] * 29, True),  # fewer than thirty are no crowd
        (0.5, [0.5] * 8 + [0.25], [0.5] * 30, True),  # the tenth counts, not the second
        (0.5, [0.5] * 8, [0.5] * 30, True),  # fewer than ten: all of the score is lead
        (0.125, [], [0.5] * 30, False),
    ],
)
def test_the_first_passage_stands_out_by_its_lead_over_the_tenth(
    first: float, rest: list[float], chunks: list[float], is_so: bool
) -> None:
    assert stands_out(_passages(first, *rest), _chunks(*chunks), CONSTANTS) is is_so


def test_nothing_is_withheld_where_nothing_was_measured() -> None:
    assert stands_out(_passages(*[0.5] * 10), _chunks(*[0.9] * 30), None)
    assert stands_out([], [], CONSTANTS)


SHARE = st.floats(0, 1)


@given(
    st.lists(SHARE, min_size=1, max_size=12),
    st.lists(SHARE, max_size=THIRTIETH + 3),
    st.integers(0, THIRTIETH + 2),
    SHARE,
)
def test_a_better_first_passage_and_chunks_that_are_farther_never_take_it_away(
    scores: list[float], cosines: list[float], at: int, by: float
) -> None:
    scores.sort(reverse=True)
    passages, chunks = _passages(*scores), _chunks(*cosines)
    if not stands_out(passages, chunks, CONSTANTS):
        return
    raised = [passages[0]._replace(score=scores[0] + by), *passages[1:]]
    assert stands_out(raised, chunks, CONSTANTS)
    farther = [
        passage._replace(cosine=(passage.cosine or 0.0) * by) if place == at else passage
        for place, passage in enumerate(chunks)
    ]
    assert stands_out(passages, farther, CONSTANTS)


@pytest.mark.parametrize(
    ("cosine", "told"), [(0.39, "weak"), (0.41, "strong"), (0.21, "weak"), (0.19, "low")]
)
def test_the_verdict_follows_the_confidence_of_the_first(cosine: float, told: str) -> None:
    passages = judge(fused(candidate(1, cosines=(cosine,))), None, rarity=1.0)
    level, reason = match_of([passages[0]._replace(confidence=cosine)])
    assert (reason.code if reason else level) == told


TEA = "The kettle whistled and the keeper poured tea, cup {}.\n"
DIARY = {
    **{f"memory/2026-01-{day:02}.md": f"# Day {day}\n\n{TEA.format(day)}" for day in range(1, 25)},
    "memory/2026-02-01.md": "# Bees\n\nThe beekeeper lent us a smoker, KX-417.\n",
    "memory/2026-02-02.md": "# Leak\n\nThe kettle code is KX-417, and leaks.\n",
    **{
        f"memory/2026-02-{day:02}.md": f"# Parts\n\nOrdered part KX-500 no {day}.\n"
        for day in range(3, 15)
    },
}


@pytest.fixture(scope="module")
def diary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A diary in which every day says much the same, except one."""
    return indexed(tmp_path_factory.mktemp("diary"), DIARY, MEMCLI_EMBEDDING_ENCODER="none")


@pytest.fixture
def ask(diary: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Search the diary by keywords only."""
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    monkeypatch.setenv("MEMCLI_STORE", str(diary / "index.sqlite"))

    def told(*arguments: str) -> tuple[dict[str, Any], str]:
        line = ("search", *arguments, "-w", str(diary / "notes"), "--now", "2026-03-01")
        found = record(*line, "-v")
        is_low = found.get("match_reason", {}).get("code") == "low"
        said = say(*line, "--exit-code", "--explain")
        assert said.code == (is_low or found["match"] == "none")
        return found, said.err

    return told


def test_confidence_and_match_describe_the_passages_that_are_shown(tmp_path: Path) -> None:
    rows = rows_of("fresh")
    write_notes(tmp_path, rows)
    moved = 0
    with Memory.open(tmp_path, settings={"embedding.encoder": "none"}) as memory:
        memory.index()
        options = options_of(memory.config, filters=Filters())
        for row in rows:
            question = Question.read(row["ask"], date(2026, 3, 1))
            answer = search_memory(memory.workspaces, question, options).answer
            shown = sorted(answer.passages, key=lambda passage: -passage.score)
            level, _ = match_of(shown, is_measured=False)
            assert answer.match == ("weak" if answer.match_reason else level)
            alone = judge(shown, answer.constants, rarity=answer.rarity)
            for passage, own in zip(shown, alone, strict=True):
                assert passage.confidence is not None
                assert own.confidence is not None
                # A newer line that comes first is as sure as what it corrects.
                is_moved = passage.is_moved_newer
                assert passage.confidence >= own.confidence
                assert is_moved or passage.confidence == own.confidence
                moved += is_moved
    assert moved > 9


def test_many_that_match_alike_make_no_good_answer_and_both_outputs_say_why(ask: Asked) -> None:
    record, said = ask("the keeper poured tea")
    assert (record["match"], record["match_reason"]) == ("weak", CLOSE)
    assert "match weak: the tenth passage matches nearly as well as the first\n" in said
    record, said = ask("who lent us a smoker")
    assert record["match"] == "strong"
    assert "match_reason" not in record
    assert "match weak" not in said


def test_what_is_asked_for_to_the_letter_need_not_stand_out(ask: Asked) -> None:
    for asked in ("KX-500", '"poured tea"', 'what is "poured tea"'):
        assert ask(asked)[0]["match"] == "strong", asked
    for asked in ("poured tea", "ordered part KX-500"):
        assert ask(asked)[0]["match_reason"] == CLOSE, asked


@pytest.mark.parametrize("leads", ["Odette", "Kate"])
def test_the_words_of_others_make_no_good_answer_by_however_little_they_lead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leads: str
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    words = [first + rest for first in "bdfgklmnprst" for rest in ("ando", "urvik", "elmar")]
    lines = {name: " ".join(words[: 30 + (name == leads)]) for name in ("Kate", "Odette")}
    said = "".join(f"- **{name}**: {line}\n" for name, line in lines.items())
    idle = "".join(f"- **{name}**: Fine, {n}.\n" for n in range(3) for name in lines)
    write(tmp_path, "memory/2026-01-01.md", f"# Call\n\n{said}{idle}")
    line = ("search", "Kate " + " ".join(words), "-w", str(tmp_path))
    whole, found = record(*line, "-v"), say(*line, "--json")
    assert 0 < abs(whole["speaker_match"]) < 0.05
    assert (whole["speaker_match"] < 0) == (leads == "Odette")
    if leads == "Kate":
        assert "match_reason" not in whole
        assert "What matches best is not said" not in found.err
        return
    assert whole["match"] == "weak"
    assert whole["match_reason"] == {"code": "others", "reason": "the best match is not by Kate"}
    assert "not by Kate" not in found.err  # nobody says it of himself


def test_a_day_alone_is_answered_by_its_records(ask: Asked) -> None:
    assert ask("2026-01")[0]["match"] == "strong"


@pytest.mark.parametrize(
    "ranked", [("--fusion", "rrf"), ("--profile", "convex"), ("--profile", "two-pass")]
)
def test_other_ways_to_rank_are_believed_by_confidence_alone(
    ask: Asked, ranked: tuple[str, str]
) -> None:
    record, _ = ask("the keeper poured tea", *ranked)
    assert record["match"] == "strong"
    assert "match_reason" not in record


@pytest.mark.parametrize("more", [("-n", "1"), ("--min-score", "0.9"), ("--budget", "60")])
def test_what_is_shown_of_the_passages_does_not_change_the_verdict(
    ask: Asked, more: tuple[str, ...]
) -> None:
    for asked in ("the keeper poured tea", "who lent us a smoker"):
        assert ask(asked, *more)[0]["match"] == ask(asked)[0]["match"]


def test_the_verdict_and_the_floor_are_of_what_is_left_after_age_counts(tmp_path: Path) -> None:
    write(tmp_path, "memory/2020-01-01.md", "# Log\n\nThe pool of the tracker ran dry at noon.\n")
    write(tmp_path, "memory/2020-01-02.md", "# Log\n\nWe bought bread and two baskets.\n")
    asked = ("search", "why was the pool empty", "-w", str(tmp_path))
    for more in (("--profile", "classic"), ("--min-score", "0.1")):
        assert record(*asked, *more, "--now", "2020-01-03")["results"], more
    old = record(*asked, "--profile", "classic", "--now", "2026-01-01")
    assert (old["match"], old["results"]) == ("none", [])


def test_a_literal_match_counts_as_much_as_its_age_leaves_of_it() -> None:
    (passage,) = fused(candidate(1, literal=True))
    for faded, told in ((1.0, "strong"), (0.3, "weak"), (0.0, "low")):
        level, reason = match_of([passage._replace(decay=faded, confidence=0.1 * faded)])
        assert (reason.code if reason else level) == told
    judged = judge([passage, passage._replace(decay=0.5)], CONSTANTS, rarity=1.0)
    assert [each.confidence for each in judged] == [0.5, 0.25]


def test_one_word_of_several_makes_no_good_answer(ask: Asked) -> None:
    record, _ = ask("why did the smoker burn through petrol")
    assert record["results"][0]["path"] == "memory/2026-02-01.md"
    assert record["match"] == "weak"
    assert record["match_reason"]["code"] == "one-word"
    assert ask("who lent us a smoker")[0]["match"] == "strong"


def test_stop_words_alone_get_a_low_confidence(ask: Asked) -> None:
    record, _ = ask("the of and")
    assert record["results"]
    assert (record["match"], record["match_reason"]["code"]) == ("weak", "low")


def test_a_weak_match_is_said_first_and_names_the_words_that_no_note_contains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    days = {n: f"# Log\n\nThe keeper saw a heron at pond {n}.\n" for n in range(1, 10)}
    for n, text in days.items():
        write(tmp_path, f"memory/2026-01-0{n}.md", text)
    place = ("-w", str(tmp_path), "--mode", "keyword", "--now", "2026-04-01")
    said = printed("search", "which kitten did the keeper adopt", *place)[1].split("\n")[0]
    assert said.endswith("No note contains: kitten, adopt.")
    question = "which kitten did the keeper adopt last winter"
    said, read = printed("search", question, *place)[1].split("\n")[:2]
    assert said.endswith("No note contains: kitten, adopt.")  # the days of winter are known
    assert read == 'Read "last winter" as 2025-12-01 to 2026-02-28.'
    said = printed("search", "which kitten-like heron/egret did the keeper adopt", *place)[1]
    assert "No note contains: adopt.\n" in said
    assert ": kitten.\n" in printed("search", "which kitten did the keeper see", *place)[1]
    assert printed("search", "heron at pond 3", *place)[1] == ""


def test_a_run_of_chinese_is_absent_only_if_none_of_its_pairs_is_in_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    write(tmp_path, "memory/2026-01-01.md", "# 项目\n\n订单数据存在 PostgreSQL，库存用 Redis。\n")
    place = ("-w", str(tmp_path), "--now", "2026-04-01")
    said = printed("search", "订单库用什么 kitten", *place)[1]  # two words and a function word
    assert "No note contains: kitten." in said
    assert "No note contains: 王小明." in printed("search", "订单 王小明", *place)[1]
