"""A context never shows a line that a newer note corrects without a mark."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memcli.language.correction import corrects
from memcli.search.claims import claims_of
from tests.commands import say
from tests.context.makers import NOW, put, record

QUESTIONS = """which database do we use; how long do we keep logs; who is on call; when do we deploy
what is the pool size; how many jobs a second; which message broker; what is the keepalive
where are the dumps; what does monitoring cost; who approves the budget; when is the retrospective
which host is the primary database; what is the rate limit; how do we cache rates; what is next
which version of go; where is the incident review; what did the vendor say; who has the keys
when is the conference; how is the cutover planned; what is the timeout; which linter do we use
how do we name branches; what does Odette decide; how do we print labels; when do we meet
what happened in the outage; which ports are open"""


def test_no_corrected_line_is_unmarked(workspaces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    root = workspaces / "engineer"
    lines = [
        (day[0], unit.text)
        for path in sorted(root.rglob("*.md"))
        if (day := re.match(r"\d{4}-\d\d-\d\d", path.name))
        for unit in claims_of(re.sub(r"\A---\n.*?\n---\n", "", path.read_text("utf-8"), flags=re.S))
    ]
    corrected = {
        (day, older)
        for day, older in lines
        if any(later > day and corrects(newer, older) for later, newer in lines)
    }
    assert len(corrected) == 4, corrected
    marked = 0
    for question in re.split(r"; |\n", QUESTIONS):
        made = record(root, question, "--budget", "1000")
        assert made["tokens"] <= 1000
        for part in made["parts"]:
            own = {older for day, older in corrected if day in part["path"]}
            is_corrected = any(unit.text in own for unit in claims_of(part["text"]))
            assert not is_corrected or part["corrected_by"], (question, part["citation"])
            marked += is_corrected
    assert marked > 0


def test_a_rule_without_a_date_is_marked_as_in_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    newer = "# Day\n\n- From August the hourly rate is 68 francs instead of 62.\n"
    root = put(tmp_path, {
        "MEMORY.md": "# Money\n\n- Hourly rate: 62 francs.\n- Invoices are paid in francs.\n",
        "memory/2026-01-30.md": newer, "memory/2026-02-01.md": "# Day\n\nThe heron was fed.\n",
    })  # fmt: skip
    _, out, _ = say("search", "hourly rate", "--json", "-v", "-w", str(root), "--now", NOW)
    (searched,) = (e for e in json.loads(out)["results"] if e["path"] == "MEMORY.md")
    rules, *_ = record(root, "--tail", "0")["parts"]
    assert rules["path"] == "MEMORY.md"
    for each in (searched, rules):
        (line,) = each["corrected_by"]
        assert (line["line"], line["citation"]) == (3, "memory/2026-01-30.md:3")


def test_a_sure_context_ends_where_a_search_does(workspaces: Path) -> None:
    root, question = workspaces / "engineer", "when may we deploy"
    made = record(root, question, "--budget", "800", "--tail", "0")
    _, out, _ = say("search", question, "--json", "-w", str(root), "--now", NOW)
    found = json.loads(out)
    assert (made["match"], found["match"]) == ("strong", "strong")
    places = [each["citation"] for each in made["parts"]]
    searched = [each["citation"] for each in found["results"]]
    assert places[: len(searched)] == searched
    assert (places[0], len(places) <= 3) == ("memory/2025-04-08.md:11-14", True)


def test_what_a_link_replaces_is_left_out_unless_a_question_is_about_the_past(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    old = "# Store\n\nOrders are in MySQL.\n\n## Why\n\nOrders are queried by two teams.\n"
    new = "# Store\n\nOrders are in PostgreSQL. This replaces [[2025-01-01]].\n"
    two = "# Day\n\nThe depot closes at six. The lamp of the depot is red.\n"
    root = put(tmp_path, {
        "memory/2025-01-01.md": old, "memory/2025-03-01.md": new, "memory/2025-04-01.md": two,
        "memory/2025-05-01.md": "# Day\n\nThe depot closes at eight instead of six.\n",
    })  # fmt: skip

    def marks(question: str) -> dict[str, bool]:
        made = record(root, question, "--budget", "1000", "--tail", "0")
        return {each["path"][7:14]: "corrected_by" in each for each in made["parts"]}

    assert marks("where are orders") == {"2025-03": False}
    assert marks("where were orders") == {"2025-03": False, "2025-01": True}
    assert marks("when does the depot close") == {"2025-05": False}
    assert marks("when did the depot close") == {"2025-05": False, "2025-04": True}
