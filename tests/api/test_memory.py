"""`Memory` gives from Python what the commands print as JSON, to threads as to processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import memcli
from memcli.api.status import WorkspaceStatus
from memcli.api.sync import IndexRun
from memcli.errors import BudgetError, NotFoundError, UsageError
from memcli.record import plain
from tests.support import write

NOW = datetime(2026, 2, 20)
QUESTIONS = [
    "why did the pool run dry",
    "ERR_POOL_EXHAUSTED",
    "what did we decide about backups",
    "outage last June",
    "on-call rules",
    "who pages the platform team",
    "OPS-417",
    "monitoring bill in euros",
]


@pytest.fixture(scope="module")
def folder(workspaces: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that is indexed with the bundled model, beside its index."""
    home = tmp_path_factory.mktemp("python")
    (home / "notes").symlink_to(workspaces / "engineer")
    _printed(home, "index", "--json")
    return home


def _environ(home: Path) -> dict[str, str]:
    return {**os.environ, "MEMCLI_STORE": str(home / "index.sqlite")}


def _output(home: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "memcli", *arguments, "-w", str(home / "notes")]
    done = subprocess.run(command, env=_environ(home), capture_output=True, text=True, check=True)
    return done.stdout


def _printed(home: Path, *arguments: str) -> Any:
    return json.loads(_output(home, *arguments))


def _opened(home: Path, **settings: object) -> memcli.Memory:
    return memcli.Memory.open(home / "notes", environ=_environ(home), settings=settings)


def _told(passages: Any) -> list[tuple[object, ...]]:
    return [
        (p.citation, p.ref, p.title, p.score, p.confidence, p.snippet, p.tokens, p.trust)
        for p in passages
    ]


def _told_in_json(passages: Any) -> list[tuple[object, ...]]:
    keys = ("citation", "ref", "title", "score", "confidence", "snippet", "tokens", "trust")
    return [tuple(p[key] for key in keys) for p in passages]


def test_a_search_is_that_of_the_command(folder: Path) -> None:
    with _opened(folder) as memory:
        for question in QUESTIONS[:4]:
            found = memory.search(question, limit=4, now=NOW)
            asked = ("search", question, "--json", "-v", "-n", "4", "--now", NOW.isoformat())
            printed = _printed(folder, *asked)
            assert _told(found.results) == _told_in_json(printed["results"])
            assert found.match == printed["match"]
            assert found.now == printed["now"]
            assert found.freshness.state == printed["freshness"]["state"] == "up_to_date"
            assert found.retrievers.semantic.total == printed["retrievers"]["semantic"]["total"]


def test_filters_and_whole_chunks_are_those_of_the_options(folder: Path) -> None:
    with _opened(folder) as memory:
        found = memory.search("outage", since="2025-06-01", until="June 2025", full=True, now=NOW)
    arguments = ("--since", "2025-06-01", "--until", "2025-06-30", "--full")
    printed = _printed(folder, "search", "outage", "--json", "--now", "2026-02-20", *arguments)
    assert [p.text for p in found.results] == [p["text"] for p in printed["results"]]
    assert found.omitted_over_budget == printed["omitted_over_budget"]
    assert {p.date[:7] for p in found.results if p.date} == {"2025-06"}


@pytest.mark.parametrize("question", ["", "why did the pool run dry"])
def test_a_context_is_that_of_the_command(folder: Path, question: str) -> None:
    with _opened(folder) as memory:
        block = memory.context(question, budget=400, tail=1, now=NOW)
    asked = ("context", *([question] if question else []), "--now", NOW.isoformat())
    printed = _printed(folder, *asked, "--budget", "400", "--tail", "1", "--json", "--explain")
    assert [(p.section, p.citation) for p in block.parts] == [
        (p["section"], p["citation"]) for p in printed["parts"]
    ]
    assert (block.tokens, block.omitted) == (printed["tokens"], printed["omitted"])
    assert block.markdown == _output(folder, *asked, "--budget", "400", "--tail", "1")
    assert block.tokens <= 400


def test_lines_and_state_are_those_of_the_commands(folder: Path) -> None:
    with _opened(folder) as memory:
        lines = memory.get("memory/2025-06-12-incident-review.md:12-13")
        state = memory.status()
    printed = _printed(folder, "get", lines.citation, "--json")
    assert (lines.text, lines.text_hash) == (printed["text"], printed["text_hash"])
    assert isinstance(state, WorkspaceStatus)
    assert plain(state) == _printed(folder, "status", "--json")
    assert state.state == "up_to_date"
    assert not state.is_behind


def test_changes_lint_compact_and_check_are_those_of_the_commands(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    log = "The rota lasts two weeks.\n\n[gone](gone.md)\n"
    write(tmp_path / "notes", "memory/2026-02-18.md", log)
    before = sorted((tmp_path / "notes").rglob("*"))
    with _opened(tmp_path, **{"embedding.encoder": "none"}) as memory:
        changed = memory.changes(now=NOW)
        printed = _printed(tmp_path, "changes", "--json", "--now", NOW.isoformat())
        assert [each.day for each in changed.days] == [each["day"] for each in printed["days"]]
        report = memory.lint(now=NOW)
        found = json.loads(_output(tmp_path, "lint", "--json", "--now", NOW.isoformat()))
        assert [each.code for each in report.findings] == ["broken-link"]
        assert [each["code"] for each in found["findings"]] == ["broken-link"]
        assert report.documents == found["documents"] == 1
        planned = memory.compact(now=NOW)
        assert planned.plan.drafts == ()
        (weighed,) = memory.check("The rota lasts two weeks.")
        assert weighed.judged.refusal is not None
        assert weighed.judged.refusal.rule == "duplicate"
    assert sorted((tmp_path / "notes").rglob("*")) == before


def test_it_keeps_in_step_and_says_what_is_behind(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("# Facts\n\nThe heron nests in the reeds.\n", "utf-8")
    environ = {**os.environ, "MEMCLI_STORE": str(tmp_path / "index.sqlite")}
    with memcli.Memory.open(tmp_path, environ=environ) as memory:
        done = memory.index()
        assert isinstance(done, IndexRun)
        assert done.files.added == ("MEMORY.md",)
        printed = json.loads(
            (Path(memcli.__file__).parent / "schemas/memcli.index.1.json").read_text()
        )
        assert set(plain(done)) == set(printed["properties"])
        (tmp_path / "memory").mkdir()
        (tmp_path / "memory" / "2026-02-01.md").write_text("The kingfisher dived.\n", "utf-8")
        behind = memory.search("kingfisher", sync=False)
        assert (behind.freshness.state, behind.freshness.pending) == ("out_of_date", 1)
        assert behind.freshness.reason is not None
        assert behind.freshness.reason.hint
        found = memory.search("kingfisher")
        assert found.results[0].citation == "memory/2026-02-01.md:1"
        assert found.freshness.state == "up_to_date"


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda memory: memory.search(""), UsageError),
        (lambda memory: memory.get("memory/none.md"), NotFoundError),
        (lambda memory: memory.context(budget=1), BudgetError),
        (lambda memory: memory.search("pool", scopes=["secret"]), UsageError),
        (lambda memory: memory.search("pool", where=["severity!="]), UsageError),
        (lambda memory: memory.documents(tag="call"), UsageError),
        (lambda memory: memory.only("work"), UsageError),
    ],
)
def test_what_cannot_be_answered_is_an_error(
    folder: Path, ask: Callable[[memcli.Memory], object], error: type[Exception]
) -> None:
    with _opened(folder) as memory, pytest.raises(error):
        ask(memory)


LASTING = """
import json, resource, sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
import memcli

folder, questions = sys.argv[1], json.loads(sys.argv[2])
memory = memcli.Memory.open(folder)

def ask(question):
    found = memory.search(question, limit=5, now=datetime(2026, 2, 20))
    return [[p.citation, p.score, p.confidence] for p in found.results]

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

with memory, ThreadPoolExecutor(4) as threads:
    answers = list(threads.map(ask, questions * 5))
    before = resident()
    again = list(threads.map(ask, questions * 25))
    grown = resident() - before
assert again[: len(questions)] == answers[: len(questions)]
assert all(again[i] == again[i % len(questions)] for i in range(len(again)))
print(json.dumps({"grown": grown, "answers": answers[: len(questions)]}))
"""


@pytest.mark.nightly
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_threads_share_one_memory_that_does_not_grow(folder: Path) -> None:
    """240 questions, and after the first 40 less than 20 MB more; each answer as by a process."""
    command = [sys.executable, "-c", LASTING, str(folder / "notes"), json.dumps(QUESTIONS)]
    done = subprocess.run(command, env=_environ(folder), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["grown"] < 20_000_000
    for question, answer in zip(QUESTIONS, told["answers"], strict=True):
        asked = ("search", question, "--json", "-v", "-n", "5", "--now", "2026-02-20")
        printed = _printed(folder, *asked)
        assert answer == [[p["citation"], p["score"], p["confidence"]] for p in printed["results"]]


def test_threads_ask_while_the_files_change(tmp_path: Path) -> None:
    """An answer is of one state of the index, and the last change is found in the end."""
    (tmp_path / "memory").mkdir()
    environ = {**os.environ, "MEMCLI_STORE": str(tmp_path / "index.sqlite")}
    log = tmp_path / "memory" / "2026-01-01.md"
    log.write_text("heron 0\n", "utf-8")
    keyword = {"search.mode": "keyword", "embedding.encoder": "none"}
    with memcli.Memory.open(tmp_path, environ=environ, settings=keyword) as memory:
        memory.index()

        def ask(_: int) -> int:
            return len(memory.search("heron").results)

        with ThreadPoolExecutor(4) as threads:
            for turn in range(1, 6):
                asked = threads.map(ask, range(8))
                (tmp_path / "written").write_text(f"heron {turn}\n", "utf-8")
                (tmp_path / "written").replace(log)
                assert set(asked) == {1}
        assert memory.search("heron").results[0].snippet == "heron 5"


def test_a_date_in_slashes_is_read_as_the_memory_is_set(folder: Path) -> None:
    text = "the pool on 12/6/2025"
    for order, day in (("mdy", "2025-12-06"), ("dmy", "2025-06-12")):
        memory = _opened(folder, **{"search.date_order": order})
        (span,) = memory.search(text, now=NOW, sync=False).dates
        assert (span.start, span.end, span.text) == (day, day, "12/6/2025")


def test_a_question_that_is_only_a_date_is_answered_by_that_day(folder: Path) -> None:
    found = _opened(folder).search("what happened on 12 June 2025?", now=NOW, sync=False)
    assert found.match == "strong"
    assert {each.date for each in found.results} == {"2025-06-12"}
    assert [each.start_line for each in found.results] == sorted(
        each.start_line for each in found.results
    )
    nothing = _opened(folder).search("14 June 2025", now=NOW, sync=False)
    assert nothing.match != "strong"


def test_everything_that_matches_is_sorted_and_not_only_the_best(tmp_path: Path) -> None:
    days = [f"2025-0{month}-1{day}" for month in range(1, 5) for day in range(1, 5)]
    for at, day in enumerate(days):
        # The older a note is, the more it speaks of the pool.
        said = " ".join(["The pool of the tracker ran dry."] + ["The pool."] * (15 - at))
        write(tmp_path / "notes", f"memory/{day}.md", f"# {day}\n\n{said}\n")
        write(tmp_path / "notes", f"memory/2025-06-{at + 10}.md", "# Bread\n\nBaskets.\n")
    asked = ("search", "tracker pool", "-n", "3", "--json", "-v")
    for how, placed in (("date", days), ("newest", days[::-1])):
        found = _printed(tmp_path, *asked, "--sort", how)["results"]
        assert [each["date"] for each in found] == placed[:3], how
