"""Questions in several sets, of documents behind links, and of two sources with the same paths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import NewWorkspace, checked, printed
from tests.context.makers import put
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


def test_a_receipt_without_a_common_question_says_so(sets: list[str], tmp_path: Path) -> None:
    record = json.loads(asked(*sets, "--mode", "keyword", "--json")[0])
    record["sets"] = {"other": record["sets"]["one"]}
    write(tmp_path, "before.json", json.dumps(record))
    message = asked(*sets, "--mode", "keyword", "--against", "before.json", code=2)[1]
    assert "no question was asked in both runs" in message
    message = asked(*sets, "--against", "one/queries.jsonl", code=2)[1]
    assert "one/queries.jsonl is not a trace of several sets" in message


TWO = '[[source]]\nname = "handbook"\npath = "handbook"\n'
TWINS = {
    "MEMORY.md": "# Heron\n\nThe heron stands in the pond.\n",
    "memory/2026-02-05.md": "# Otter\n\nThe otter sleeps on its back.\n",
    "handbook/MEMORY.md": "# Badger\n\nThe badger digs in the wood.\n",
    "handbook/memory/2026-02-05.md": "# Beaver\n\nThe beaver fells a birch.\n",
    "memcli.toml": TWO,
}


def _bench(*arguments: str) -> str:
    return printed("bench", *arguments)[0]


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace({})


def _quality(notes: Path, *lines: str, more: tuple[str, ...] = ()) -> dict[str, Any]:
    """Ask the judged questions and give the record, its rows by question."""
    file = notes.parent / "questions.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines))
    record = json.loads(_bench("quality", str(file), "--json", *more))
    return {**record, "rows": {row["query"]: row for row in record["queries"]}}


@pytest.fixture
def linked(notes: Path) -> Path:
    """A memory whose one document is a link to a file beside it."""
    put(notes, {
        "archive/heron.txt": "# The grey heron\n\nWe decided to leave the heron in peace.\n",
        "memcli.toml": '[files]\nscope = "memory"\nfollow_symlinks = true\n',
    })  # fmt: skip
    (notes / "memory").mkdir()
    (notes / "memory" / "heron.md").symlink_to("../archive/heron.txt")
    return notes


def test_what_a_link_leads_to_counts_by_its_tokens(linked: Path) -> None:
    record = _quality(linked, "heron -> memory/heron.md")
    scores = record["rows"]["heron"]["scores"]
    assert {scores[name] for name in ("Hit@1", "Recall@500tok", "Recall@1000tok")} == {1.0}


def test_init_drafts_questions_of_what_a_link_leads_to(linked: Path) -> None:
    _bench("init", "-q")
    drafts = (linked / ".memcli" / "questions.jsonl").read_text().splitlines()
    assert {json.loads(line)["relevant"][0]["path"] for line in drafts} == {"memory/heron.md"}


def test_a_judged_path_is_not_hit_by_another_source(notes: Path) -> None:
    put(notes, TWINS)
    record = _quality(notes, "badger -> MEMORY.md", "beaver -> handbook:memory/2026-02-05.md")
    badger, beaver = record["rows"]["badger"], record["rows"]["beaver"]
    assert (badger["rank"], badger["scores"]["nDCG@10"], badger["stage"]) == (None, 0.0, "recall")
    assert (beaver["rank"], beaver["scores"]["Recall@500tok"]) == (1, 1.0)
    (notes / "MEMORY.md").unlink()
    gone = _quality(notes, "badger -> MEMORY.md")["rows"]["badger"]
    assert (gone["rank"], gone["why"]) == (None, "MEMORY.md is not in the workspace")


def test_a_source_may_stand_beside_the_path(notes: Path) -> None:
    put(notes, TWINS)
    judged = {"query": "badger", "relevant": [{"path": "MEMORY.md", "source": "handbook"}]}
    assert _quality(notes, json.dumps(judged))["rows"]["badger"]["rank"] == 1


def test_run_lines_name_other_sources_alone_and_serve_as_baseline(notes: Path) -> None:
    put(notes, TWINS)
    questions = ("heron OR badger -> handbook:MEMORY.md", "otter -> memory/2026-02-05.md")
    run_file = notes.parent / "run.jsonl"
    _quality(notes, *questions, more=("--run", str(run_file)))
    first, second = map(json.loads, run_file.read_text().splitlines())
    found = [{name: r.get(name) for name in ("path", "source")} for r in first["results"]]
    assert sorted(found, key=str) == [
        {"path": "MEMORY.md", "source": "handbook"}, {"path": "MEMORY.md", "source": None}
    ]  # fmt: skip
    assert second["results"] == [{"path": "memory/2026-02-05.md", "start_line": 1, "end_line": 3}]
    again = _quality(notes, *questions, more=("--baseline", str(run_file)))
    assert (again["baseline"]["queries"], again["baseline"]["moved"]) == (2, [])


def test_every_draft_is_answered_by_its_own_document(notes: Path) -> None:
    put(notes, TWINS)
    _bench("init", "-q")
    drafted = (notes / ".memcli" / "questions.jsonl").read_text()
    paths = [json.loads(line)["relevant"][0]["path"] for line in drafted.splitlines()]
    assert paths == ["MEMORY.md", "handbook:MEMORY.md", "handbook:memory/2026-02-05.md",
                     "memory/2026-02-05.md"]  # fmt: skip
    record = _quality(notes, *drafted.replace('"draft": true', '"draft": false').splitlines())
    assert {row["rank"] for row in record["queries"]} == {1}


def test_a_judged_path_that_leads_outside_is_not_in_the_memory(notes: Path) -> None:
    put(notes, TWINS)
    (notes.parent / "outside.md").write_text("# Outside\n\nThe lynx.\n")
    row = _quality(notes, "lynx -> ../outside.md")["rows"]["lynx"]
    assert (row["stage"], row["why"]) == ("files", "../outside.md is not in the workspace")
