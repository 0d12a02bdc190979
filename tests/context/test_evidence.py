"""What answers a question goes before what is new, and a block says when it knows nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memcli.context.assemble import RetrievedPassages, Sharing, assemble, fix
from memcli.context.parts import PASSAGES, UNSURE, ContextPart, make_part
from memcli.context.retrieve import raw_first, split_by_worth
from memcli.errors import Reason
from memcli.language.tokens import estimate
from memcli.search.pipeline import NOTHING, Answer
from tests.commands import NewWorkspace
from tests.context.makers import context, put, record
from tests.records import make_excerpt
from tests.search.makers import candidate, fused

UNKNOWN = "what is the capital of Mongolia, say the herons"
RULES = "---\nalways: true\n---\nNever deploy on Fridays.\n"


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    day = "# Day\n\n" + "The keeper walked around the pond and wrote it all down. " * 10 + "\n"
    return workspace({
        "MEMORY.md": "# Memory\n\nHerons eat fish, frogs and the odd duckling.\n",
        **{f"memory/bird-{n}.md": f"Herons of the pond, group {n}, are grey.\n" for n in range(8)},
        "memory/2026-02-19.md": day,
    })  # fmt: skip


def sections(found: dict[str, Any]) -> list[str]:
    return [part["section"] for part in found["parts"]]


def test_a_block_without_a_sure_answer_says_so_first_and_is_short(notes: Path) -> None:
    put(notes, {"memory/rules.md": RULES})
    found = record(notes, UNKNOWN, "--budget", "800")
    assert (found["match"], found["match_reason"]["code"]) == ("weak", "low")
    assert sections(found) == ["passages", "passages", "always", "recent"]
    code, out, err = context(notes, UNKNOWN, "--budget", "800")
    assert (code, out.startswith(UNSURE)) == (0, True)
    assert "No sure match" not in err
    assert estimate(out) <= found["tokens"] < 400
    assert found["tokens_saved"] > 50
    sure = record(notes, "what do herons eat, frogs", "--budget", "800")
    assert sure["match"] != "none"
    assert not context(notes, "what do herons eat, frogs")[1].startswith(UNSURE)


def test_the_newest_records_count_among_the_few_of_an_unsure_block(notes: Path) -> None:
    found = record(notes, UNKNOWN, "--budget", "1500")
    assert sections(found) == ["passages", "passages", "recent"]
    found = record(notes, UNKNOWN, "--budget", "1500", "--tail", "0")
    assert sections(found) == ["passages", "passages", "passages"]


def test_rules_are_whole_where_the_sentence_has_no_room(notes: Path) -> None:
    put(notes, {"memory/rules.md": RULES})
    needed = record(notes, "--tail", "0", "--budget", "60")["tokens"]
    for budget in range(needed, needed + 30):
        found = record(notes, UNKNOWN, "--tail", "0", "--budget", str(budget))
        out = context(notes, UNKNOWN, "--tail", "0", "--budget", str(budget))[1]
        assert "Never deploy on Fridays." in out
        assert estimate(out) <= found["tokens"] <= budget
    assert out.startswith(UNSURE)


def test_a_block_of_nothing_says_that_nothing_is_sure(notes: Path) -> None:
    assert context(notes, "zebrafish", "--tail", "0")[1] == UNSURE.rstrip() + "\n"
    assert context(notes, "zebrafish", "--tail", "0", "--budget", "3")[1] == ""


def test_with_a_question_the_tail_keeps_to_its_share(notes: Path) -> None:
    asked = record(notes, "what do herons eat", "--budget", "300")
    assert "recent" not in sections(asked)
    assert asked["parts"][0]["path"] == "MEMORY.md"
    assert sections(record(notes, "what do herons eat", "--budget", "1500"))[-1] == "recent"
    # One that somebody wants is there, whatever its share.
    wanted = record(notes, "what do herons eat", "--budget", "300", "--tail", "1")
    assert sections(wanted)[-1] == "recent"
    # At the start of a session the newest record has to be there.
    assert "recent" in sections(record(notes, "--budget", "300"))


def test_the_best_passage_is_cut_down_where_it_does_not_fit(notes: Path) -> None:
    lines = [f"- On day {n} the keeper saw otters and voles near the weir." for n in range(12)]
    lines[7] = "- On day 7 the heron swallowed the keeper's lost ring."
    put(notes, {"memory/ring.md": "\n".join(lines) + "\n"})
    question = "who swallowed the lost ring of the keeper"
    (wide, *_) = record(notes, question, "--budget", "800", "--tail", "0")["parts"]
    assert wide["start_line"] < 8 < wide["end_line"]
    (narrow,) = record(notes, question, "--budget", "75", "--tail", "0")["parts"]
    assert narrow["start_line"] <= 8 <= narrow["end_line"]
    assert narrow["tokens"] < wide["tokens"]
    cited = lines[narrow["start_line"] - 1 : narrow["end_line"]]
    assert narrow["text"] == "\n".join(cited)


def part(number: int, score: float, size: int = 1) -> ContextPart:
    chunk = make_excerpt(chunk_id=number, path=f"{number}.md", text="A line of words.\n" * size)
    return make_part(PASSAGES, chunk, score=score)


def answer(*scores: float, sure: float | None = None) -> Answer:
    (passage,) = fused(candidate(1))
    passages = (passage._replace(score=score, confidence=sure) for score in scores)
    unknown = Reason("uncalibrated", "by words") if sure is None else None
    return NOTHING._replace(passages=tuple(passages), uncalibrated=unknown)


def test_what_scores_nothing_or_far_below_the_best_is_under_the_floor() -> None:
    (kept,), (below,) = split_by_worth([answer(0.9, 0.1, 0.0, 0.26, 0.28)])
    assert [passage.score for passage in kept.passages] == [0.9, 0.1, 0.28]
    assert [passage.score for passage in below.passages] == [0.0, 0.26]


def test_of_several_answers_one_that_is_far_less_sure_is_under_the_floor() -> None:
    """Scores of two models are not compared: .2 is the best of the second, and .05 is not."""
    sure, fair = answer(0.9, 0.3, sure=0.9), answer(0.2, 0.19, 0.18, 0.05, sure=0.3)
    far, unknown = answer(0.9, sure=0.2), answer(0.4)
    two = (
        sure.passages[0]._replace(confidence=0.0),
        *sure.passages,
    )  # the surest counts, not the first
    assert len(split_by_worth([sure._replace(passages=two), fair])[0][0].passages) == 3
    kept, below = split_by_worth([sure, fair, far, unknown])
    assert [[passage.score for passage in each.passages] for each in kept] == [
        [0.9, 0.3], [0.2, 0.19, 0.18], [], [0.4]
    ]  # fmt: skip
    assert [[passage.score for passage in each.passages] for each in below] == [
        [],
        [0.05],
        [0.9],
        [],
    ]


def test_what_has_no_room_gives_way_to_what_is_about_as_good() -> None:
    scores = (0.9, 0.8, 0.7, 0.6, 0.58, 0.3)
    found = [part(n, score, 40 if score == 0.6 else 1) for n, score in enumerate(scores)]
    asked = Sharing(200, 0, 0.3, 0.1, 0.2, has_question=True)
    made = assemble(fix([], [], [], asked), RetrievedPassages(found), asked)
    assert [p.score for p in made.parts] == [0.9, 0.8, 0.7, 0.58]
    assert [p.score for p in made.left_out] == [0.6, 0.3]
    assert 0 < made.saved <= 200 - made.tokens
    # Where nothing is asked, worth is a matter of age, and the room is used.
    free = asked._replace(has_question=False)
    made = assemble(fix([], [], [], free), RetrievedPassages(found), free)
    assert [p.score for p in made.parts] == [0.9, 0.8, 0.7, 0.58, 0.3]


def test_what_a_summary_says_of_lines_that_were_found_comes_last() -> None:
    told = "- The pool ran dry. (memory/1.md:1)"
    about = make_excerpt(chunk_id=9, path="memory/s.md", kind="summary", text=told)
    both = (about, part(5, 0.1).excerpt)
    summary, other = (make_part(PASSAGES, each, score=0.9) for each in both)
    raw = make_part(PASSAGES, make_excerpt(chunk_id=1, path="1.md", text="Dry."), score=0.5)
    assert raw_first([summary, other]) == [summary, other]
    raw = make_part(PASSAGES, make_excerpt(chunk_id=1, path="memory/1.md", text="Dry."), score=0.5)
    assert raw_first([summary, raw, other]) == [raw, other, summary]
