"""Several sets of questions in one run: a row each, one of all, and what moved since."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import checked, printed
from tests.support import write

FIXTURES = Path(__file__).parents[2] / "fixtures" / "eval"
ASKED = '{"id": "1", "query": "boiler", "relevant": "memory/2026-02-05.md"}\n'


@pytest.fixture
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two sets, each with its workspace; the questions have the same ids."""
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for name, text in (("one", "The boiler leaks.\n"), ("two", "The oven is cold.\n")):
        write(tmp_path / name / "workspace", "memory/2026-02-05.md", text)
        write(tmp_path / name, "queries.jsonl", ASKED)
    return ["one/queries.jsonl", "two/queries.jsonl"]


def asked(*arguments: str, code: int = 0) -> tuple[str, str]:
    return printed("bench", "quality", *arguments, "--now", "2026-02-10", code=code)


def test_people_find_their_notes_and_their_documentation() -> None:
    """The bundled model answers the public questions from a vault and from documentation."""
    files = [str(FIXTURES / name / "queries.jsonl") for name in ("vault", "docs")]
    sets = json.loads(asked(*files, "--json")[0])["sets"]
    found = {name: each["categories"]["all"] for name, each in sets.items()}
    assert {name: each["queries"] for name, each in found.items()} == {"vault": 80, "docs": 46}
    assert found["vault"]["Hit@1"] >= 0.85
    assert found["docs"]["Hit@1"] >= 0.85
    assert all(each["Hit@10"] >= 0.97 for each in found.values())


def test_each_set_is_asked_of_the_workspace_beside_it(sets: list[str]) -> None:
    record = checked("memcli.bench-sets", asked(*sets, "--mode", "keyword", "--json")[0])
    passages = {name: each["categories"]["all"]["Hit@1"] for name, each in record["sets"].items()}
    assert passages == {"one": 1.0, "two": 0.0}
    assert record["pooled"]["queries"] == 2
    assert record["pooled"]["metrics"]["Hit@1"] == {"mean": 0.5, "low": 0.0, "high": 1.0}


def test_a_table_has_a_row_a_set_and_what_moved_since(sets: list[str], tmp_path: Path) -> None:
    before = asked(*sets, "--mode", "keyword", "--json")[0]
    write(tmp_path, "before.json", before)
    write(tmp_path / "two" / "workspace", "memory/2026-02-05.md", "The boiler leaks.\n")
    out, _ = asked(*sets, "--mode", "keyword", "--against", "before.json")
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[1:5]] == ["one", "two", "all", "+-"]
    assert lines[6].startswith("Moved since 2026-02-10T00:00:00: ")
    moved = {line.split()[0]: line.split()[4:6] for line in lines[8:]}
    assert moved["one"] == ["+.000", "[+.000,+.000]"]
    assert moved["two"] == ["+1.000", "[+1.000,+1.000]"]
    assert moved["all"] == ["+.500", "[+.000,+1.000]"]
    record = checked(
        "memcli.bench-sets",
        asked(*sets, "--mode", "keyword", "--against", "before.json", "--json")[0],
    )
    assert record["against"]["pooled"]["metrics"]["Hit@1"]["mean"] == 0.5


def test_one_set_may_be_held_against_an_earlier_run_too(sets: list[str], tmp_path: Path) -> None:
    write(tmp_path, "before.json", asked(*sets, "--mode", "keyword", "--json")[0])
    out, _ = asked(sets[0], "--mode", "keyword", "--against", "before.json")
    assert "one" in out


def test_a_gate_judges_all_questions_together(sets: list[str]) -> None:
    out, _ = asked(*sets, "--mode", "keyword", "--fail-under", "Hit@1=0.6", code=1)
    assert out.startswith("memcli bench: Hit@1 is 0.500, below 0.6; worst: two 1 ")
    assert asked(*sets, "--mode", "keyword", "--fail-under", "Hit@1=0.5") == ("", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--run", "run.jsonl"], "--run cannot be combined with several files of questions"),
        (["--ablate"], "--ablate cannot be combined with several files of questions"),
        (["--against", "queries.jsonl"], "queries.jsonl cannot be read"),
        (["--against", "one/queries.jsonl"], "one/queries.jsonl is not a trace of several sets"),
    ],
)
def test_what_does_not_go_together_is_refused(
    sets: list[str], arguments: list[str], message: str
) -> None:
    assert message in asked(*sets, *arguments, code=2)[1]


def test_a_set_is_given_once(sets: list[str]) -> None:
    assert "one/queries.jsonl is given twice" in asked(*sets, "./one/queries.jsonl", code=2)[1]
    assert "--against needs the files" in asked("--against", "x.json", code=2)[1]


def test_a_receipt_without_a_common_question_says_so(sets: list[str], tmp_path: Path) -> None:
    record = json.loads(asked(*sets, "--mode", "keyword", "--json")[0])
    record["sets"] = {"other": record["sets"]["one"]}
    write(tmp_path, "before.json", json.dumps(record))
    message = asked(*sets, "--mode", "keyword", "--against", "before.json", code=2)[1]
    assert "no question was asked in both runs" in message
