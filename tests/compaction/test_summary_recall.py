"""`compact --apply` says what summaries keep of recall on the workspace's own questions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from memcli.bench.summary_recall import SummaryRecall
from tests.commands import NewWorkspace, printed
from tests.compaction.test_news import EVENTS, stand_up
from tests.support import write

QUESTIONS = ".memcli/questions.jsonl"


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace({
        f"memory/2025-03-{day:02}.md": stand_up(event) for day, event in enumerate(EVENTS, start=1)
    })  # fmt: skip


def ask(notes: Path, **more: object) -> None:
    """Judge the stand-up of 5 March and a line that there is not."""
    rows = [
        {"id": "1", "query": "Who asked for the invoices of the summer?",
         "relevant": [{"path": "memory/2025-03-05.md", "start_line": 3, "end_line": 3}]},
        {"id": "2", "query": "What did the lightning strike kill?",
         "relevant": [{"path": "memory/2025-03-30.md", "start_line": 1, "end_line": 1}]},
    ]  # fmt: skip
    write(notes, QUESTIONS, "\n".join(json.dumps({**row, **more}) for row in rows))


def compact(notes: Path, *arguments: str) -> tuple[str, str]:
    return printed("compact", "-w", str(notes), "--tail", "0", "--tail-days", "0", "--ratio", "0.9",
                   "--cluster", "8", "--now", "2026-02-20", *arguments)  # fmt: skip


def test_what_is_kept_is_told_for_what_is_saved(notes: Path) -> None:
    ask(notes)
    record: dict[str, Any] = json.loads(compact(notes, "--apply", "--json")[0])
    recall, tokens = record["recall"], record["recall"]["tokens"]
    found = (recall["questions"], recall["recall"], recall["ratio"])
    assert found == (2, {"raw": 0.5, "active": 0.5}, 1)
    assert tokens["raw"] == sum(each["tokens"]["sources"] for each in record["summaries"])
    assert tokens["active"] < 0.6 * tokens["raw"]
    assert recall["ratio_per_1000_saved"] == 1000 / (tokens["raw"] - tokens["active"])


def test_a_person_is_told_in_a_sentence(notes: Path) -> None:
    ask(notes)
    last = compact(notes, "--apply")[1].splitlines()[-1]
    assert re.fullmatch(
        r"Your 2 questions find 1\.000 of what the logs find \(0\.500 of 0\.500\), with \d{3}"
        r" tokens instead of \d{3}, \d\.\d{3} for every 1000 saved\.",
        last,
    )


def test_nothing_is_told_where_there_are_no_questions_or_nothing_was_written(notes: Path) -> None:
    assert "Your" not in compact(notes, "--apply")[1]
    compact(notes, "--undo")
    ask(notes)
    assert "Your" not in compact(notes)[1]
    assert compact(notes, "--apply")[1].count("Your 2 questions") == 1
    assert "Your" not in compact(notes, "--apply")[1]  # they are as they were


@pytest.mark.parametrize(
    ("text", "why"),
    [("{", "questions.jsonl:1 is not a judged query"), (None, "drafts are not counted")],
)
def test_questions_that_cannot_be_asked_are_named_and_the_summaries_stay(
    notes: Path, text: str | None, why: str
) -> None:
    ask(notes, draft=True)
    if text is not None:
        write(notes, QUESTIONS, text)
    out, err = compact(notes, "--apply")
    assert out.count("wrote") == 2
    assert "their recall is not measured: " in err
    assert why in err


def test_what_saves_nothing_has_no_price() -> None:
    assert SummaryRecall(1, 0.5, 0.5, 100, 100).per_thousand is None
    assert SummaryRecall(1, 0.0, 0.0, 100, 50).ratio == 1.0


def test_a_hint_names_the_workspace_once(notes: Path) -> None:
    _, err = compact(notes)
    assert " --workspace " in err
    assert " -w " not in err
