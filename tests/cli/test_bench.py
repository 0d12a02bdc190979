"""The bench on real workspaces: gates, the nightly check, receipts, and what it never touches."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest

from memcli.cli import bench_speed
from memcli.cli.program import page
from tests.commands import checked, printed, record, valid
from tests.support import write

QUESTIONS = (
    '{"id": "ops", "query": "OPS-417", "category": "exact", "importance": "high",'
    ' "relevant": [{"path": "memory/2025-06-13.md", "start_line": 5, "end_line": 6}]}\n'
    '{"id": "pool", "query": "ERR_POOL_EXHAUSTED", "category": "exact",'
    ' "relevant": "memory/2025-06-12-incident-review.md"}\n'
    '{"id": "hinted", "query": "zebrafish", "hints": "OPS-417",'
    ' "relevant": [{"path": "memory/2025-06-13.md", "start_line": 5, "end_line": 6}]}\n'
)
CULPRIT = (
    '"OPS-417" (rank 1 -> not found, lost at files: memory/2025-06-13.md is not in the workspace)'
)


class Bench:
    """A copy of a workspace, questions beside it, and commands run there."""

    def __init__(self, folder: Path) -> None:
        self.notes, self.folder = folder / "notes", folder
        self.questions = folder / "questions.jsonl"
        self.questions.write_text(QUESTIONS)

    def __call__(self, *arguments: str, code: int = 0) -> tuple[str, str]:
        """Run a bench command and give stdout and stderr."""
        return printed("bench", *arguments, "-w", str(self.notes), code=code)

    def record(self, name: str, *arguments: str, code: int = 0) -> dict[str, Any]:
        """Run with --json and hold the object against its schema."""
        return checked(name, self(*arguments, "--json", code=code)[0])

    def check(self, day: int, *arguments: str, code: int = 0) -> tuple[str, str]:
        """Run the nightly check of a day of February 2026."""
        when = f"2026-02-{day:02}T03:17+00:00"
        return self(
            "check", str(self.questions), "--no-speed", "-q", "--now", when, *arguments, code=code
        )

    def lose_the_answer(self) -> None:
        (self.notes / "memory" / "2025-06-13.md").unlink()


@pytest.fixture(scope="module")
def indexed(workspaces: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of notes and the folder of its index."""
    made = tmp_path_factory.mktemp("indexed")
    shutil.copytree(workspaces / "engineer", made / "notes")
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
        environ.setenv("MEMCLI_STORE", str(made / "store" / "index.sqlite"))
        printed("index", "-q", "-w", str(made / "notes"))
    return made


@pytest.fixture
def bench(indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    monkeypatch.setenv("MEMCLI_STORE", str(tmp_path / "store" / "index.sqlite"))
    shutil.copytree(indexed, tmp_path, dirs_exist_ok=True)
    return Bench(tmp_path)


def test_quality_brings_the_index_in_step_and_says_what_that_took(bench: Bench) -> None:
    shutil.rmtree(bench.folder / "store")
    out, err = bench("quality", str(bench.questions))
    assert "Updated the index: 33 added, " in err
    assert out.splitlines()[3].split()[:2] == ["all", "3"]
    assert bench("quality", str(bench.questions))[1] == ""


def test_quality_gives_the_figures_of_its_schema(bench: Bench) -> None:
    record = bench.record("memcli.bench-quality", "quality", str(bench.questions))
    assert record["hints"] == {"queries": 1, "missed": 1, "mended": 1, "rate": 1.0}
    ranks = {row["id"]: row["rank"] for row in record["queries"]}
    assert (ranks["ops"], ranks["pool"]) == (1, 1)
    assert record["index"]["segments"] == record["index"]["embedded"] > 0


def test_a_gate_that_passes_is_silent_and_one_that_does_not_is_one_line(bench: Bench) -> None:
    asked = ("quality", str(bench.questions))
    assert bench(*asked, "--fail-under", "hit@5=0.3", "--max-p95-ms", "1e9") == ("", "")
    for quiet in ((), ("-q",)):
        out, err = bench(*asked, "--fail-under", "Hit@5=1", *quiet, code=1)
        assert (out.count("\n"), err) == (1, "")
        assert out.startswith('memcli bench: Hit@5 is 0.667, below 1; worst: hinted "zebrafish" (')
    failed = bench.record("memcli.bench-quality", *asked, "--fail-under", "Hit@5=1", code=1)
    assert len(failed["failed"]) == 1


def test_a_drop_below_the_baseline_names_the_culprit(bench: Bench) -> None:
    asked = ("quality", str(bench.questions))
    baseline = bench.folder / "baseline.json"
    baseline.write_text(bench(*asked, "--json")[0])
    run_file = bench.folder / "run.jsonl"
    bench(*asked, "--run", str(run_file))
    gate = ("--baseline", str(baseline), "--max-drop", "0.02")
    assert bench(*asked, *gate) == ("", "")
    bench.lose_the_answer()
    for earlier in (baseline, run_file):
        out, _ = bench(*asked, "--baseline", str(earlier), "--max-drop", "0.02", code=1)
        assert out.startswith("memcli bench: nDCG@10 fell from ")
        assert out.endswith(f"; worst: ops {CULPRIT}\n")
    compared = bench.record("memcli.bench-quality", *asked, *gate, code=1)
    assert compared["baseline"]["moved"][0]["after"]["stage"] == "files"
    shown = bench(*asked, "--baseline", str(baseline))[0]
    assert "Against the baseline: 1 worse, 0 better, " in shown


def test_the_lane_is_silent_when_well_and_speaks_until_it_is_accepted(bench: Bench) -> None:
    assert bench.check(1) == ("", "")
    assert bench.check(2) == ("", "")
    bench.lose_the_answer()
    for day in (3, 4):
        out, err = bench.check(day, code=1)
        assert (out.count("\n"), err) == (1, "")
        assert out.startswith("memcli bench check: nDCG@10 is ")
        assert f"worst: ops {CULPRIT} (and 1 more: memcli bench report)" in out
    assert bench.check(5, "--accept") == ("", "")
    assert bench.check(6) == ("", "")
    out, err = bench("check", str(bench.questions), "--no-speed")
    assert re.fullmatch(r"nDCG@10 0\.\d+; nothing got worse, best since 2026-02-05\.\n", out + err)


def _history(bench: Bench) -> list[Path]:
    return sorted((bench.folder / "store" / "index.sqlite.bench").iterdir())


def test_the_history_lies_beside_the_index_private_and_bounded(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memcli.bench.runs.KEPT", 2)
    for day in (1, 2, 2):
        bench.check(day)
    kept = _history(bench)
    assert [file.name for file in kept] == [
        "20260202T031700Z_000.json", "20260202T031700Z_001.json"
    ]  # fmt: skip
    assert {file.stat().st_mode & 0o777 for file in kept} == {0o600}
    assert kept[0].parent.stat().st_mode & 0o777 == 0o700
    receipt = checked("memcli.bench-check", kept[1].read_text())
    valid(receipt["quality"], "memcli.bench-quality")
    assert receipt["failures"] == ["hinted"]


def test_a_receipt_that_was_damaged_is_named_and_passed_over(bench: Bench) -> None:
    bench.check(1)
    _history(bench)[0].write_text("{")
    _, err = bench("check", str(bench.questions), "--no-speed")
    assert "20260201T031700Z_000.json is not a result of bench check and was skipped" in err


def test_nothing_of_the_bench_is_ever_indexed(bench: Bench) -> None:
    bench("init")
    bench.check(1)
    bench("quality", str(bench.questions), "--run", str(bench.notes / ".memcli" / "run.jsonl"))
    before = (bench.notes / "MEMORY.md").read_text()
    receipt = bench.record("memcli.bench-check", "check", str(bench.questions), "--no-speed")
    assert receipt["sync"] == {"added": 0, "changed": 0, "removed": 0, "embedded": 0}
    for inside in ("MEMORY.md", "memory/deep/report.md"):
        _, err = bench("report", "--html", str(bench.notes / inside), code=2)
        assert "would become part of the notes that are measured" in err
    assert (bench.notes / "MEMORY.md").read_text() == before
    assert not (bench.notes / "memory" / "deep").exists()


def test_init_drafts_are_not_counted_until_confirmed_and_never_written_over(bench: Bench) -> None:
    drafted = bench.notes / ".memcli" / "questions.jsonl"
    record = bench.record("memcli.bench-init", "init", "--limit", "5")
    assert (record["drafts"], record["file"]) == (5, str(drafted))
    _, err = bench("quality", code=2)
    assert "all 5 queries" in err
    lines = drafted.read_text().split("\n")
    edited = "\n".join([lines[0].replace('"draft": true', '"draft": false'), *lines[1:]])
    drafted.write_text(edited)
    out, err = bench("quality")
    assert "4 of 5 questions are drafts: not counted." in err
    assert out.splitlines()[2].split()[:2] == ["all", "1"]
    _, err = bench("init", code=2)
    taken, free = (drafted.with_name(f"questions-{number}.jsonl") for number in (2, 3))
    assert f"not overwritten\nTry: memcli bench init --out {taken} -w " in err
    taken.touch()
    _, err = bench("init", code=2)
    assert f"not overwritten\nTry: memcli bench init --out {free} -w " in err
    _, err = bench("init", "--out", str(drafted / "in" / "questions.jsonl"), code=2)
    assert re.search(r"cannot be written: .*\nTry: memcli bench init --out \S+ -w ", err)
    assert drafted.read_text() == edited


def test_a_search_is_replayed_after_an_edit(bench: Bench) -> None:
    file = bench.folder / "receipt.json"
    search = ("search", "why did the pool run dry", "-n", "3", "--trace", str(file), "-q")
    printed(*search, "-w", str(bench.notes), "--now", "2026-02-20")
    receipt = checked("memcli.search-trace", file.read_text())
    assert len(receipt["passages"]) == 2
    assert receipt["flags"] == {"search.limit": 3}
    same = bench.record("memcli.bench-replay", "replay", str(file))
    assert (same["same"], same["changed"], same["now"]) == (True, [], receipt["now"])
    first = receipt["passages"][0]["citation"].partition(":")[0]
    (bench.notes / first).unlink()
    moved = bench.record("memcli.bench-replay", "replay", str(file))
    assert not moved["same"]
    assert moved["changed"][0].startswith("index revision ")
    assert moved["passages"][0]["after"] is None
    assert moved["passages"][0]["why"] == "neither retriever finds its chunk now"
    assert "gone: neither retriever finds its chunk now" in bench("replay", str(file))[0]


def test_the_lane_speaks_of_a_new_question_that_matters_and_misses(bench: Bench) -> None:
    """The figures do not fall by it, as no earlier run has asked it."""
    assert bench.check(1) == ("", "")
    asked = {"id": "new", "query": "zebrafish", "importance": "high", "relevant": "MEMORY.md"}
    with bench.questions.open("a") as file:
        file.write(json.dumps(asked) + "\n")
    for day in (2, 3):
        out, _ = bench.check(day, code=1)
        assert out.startswith(
            'memcli bench check: of high importance and missed: new "zebrafish" ('
        )
    assert bench.check(4, "--accept") == ("", "")
    assert bench.check(5) == ("", "")


def test_a_first_lane_speaks_of_what_matters_and_misses(bench: Bench) -> None:
    bench.questions.write_text(QUESTIONS.replace("OPS-417", "zebrafish", 1))
    assert 'of high importance and missed: ops "zebrafish" (' in bench.check(1, code=1)[0]


def test_the_lines_behind_summaries_stand_in_a_receipt_and_are_replayed(bench: Bench) -> None:
    notes, file = bench.notes, bench.folder / "receipt.json"
    place = ("-w", str(notes), "--now", "2026-02-20")
    wanted = ("--view", "active", "--expand", "-n", "3", "--trace", str(file))
    printed("compact", "--tail", "4", "--tail-days", "0", "--ratio", "0.9", "--apply", *place)
    told = record("search", "database migration", *wanted, *place)["expanded"]
    receipt = checked("memcli.search-trace", file.read_text())
    assert [each["citation"] for each in receipt["expanded"]] == [each["citation"] for each in told]
    assert {(each["trust"], each["source_kind"]) for each in receipt["expanded"]} == {
        ("trusted", "operator")
    }
    assert {each["summary"] for each in receipt["expanded"]} == {each["summary"] for each in told}
    same = bench.record("memcli.bench-replay", "replay", str(file))
    assert (same["same"], len(same["expanded"])) == (True, len(told))
    cited = notes / told[0]["path"]
    cited.write_text(cited.read_text().replace("migration", "move").replace("database", "data"))
    moved = bench.record("memcli.bench-replay", "replay", str(file))
    assert not moved["same"]
    assert moved["expanded"] != same["expanded"]


def test_report_and_compare_read_the_history(bench: Bench) -> None:
    _, err = bench("report", code=3)
    assert "Try: memcli bench check" in err
    bench.check(1)
    bench.lose_the_answer()
    bench.check(2, code=1)
    shown, _ = bench("report")
    assert shown.startswith("2 runs, 2026-02-01 to 2026-02-02\n")
    assert CULPRIT in shown
    assert len(bench.record("memcli.bench-report", "report")["runs"]) == 2
    old, new = map(str, _history(bench))
    compared = bench.record("memcli.bench-compare", "compare", old, new)
    assert compared["moved"][0]["after"]["id"] == "ops"
    assert compared["same_machine"] is True
    assert "changed: index " in bench("compare", old, new)[0]


def test_a_page_without_the_chart_library_names_the_extra(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.check(1)
    monkeypatch.delenv("MEMCLI_EMBEDDING_ENCODER")
    target = bench.folder / "report.html"
    program = (
        "import sys; sys.modules['pygal'] = None; from memcli.cli.main import run;"
        f"sys.exit(run(['bench', 'report', '--html', {str(target)!r}, '-w', {str(bench.notes)!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Try: {sys.executable} -m pip install 'pygal<4" in done.stderr
    assert not target.exists()


def test_speed_measures_made_up_notes_beside_the_floors(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMCLI_EMBEDDING_ENCODER")  # it starts memcli as it is installed
    record = bench.record(
        "memcli.bench-speed", "speed", "--documents", "5", "--runs", "2", "--mode", "keyword"
    )
    assert (record["documents"], record["generated"]) == (5, 5)
    assert set(record["ratios"]) >= {"help", "keyword"}
    assert min(record["ratios"]["help"], record["cold"]["keyword"]["peak_mb"]) > 0
    assert {row["runs"] for row in (*record["cold"].values(), record["index"])} == {2}
    assert {f"ratios.{name}" for name in record["ratios"]} <= set(record["spread"])


@pytest.mark.nightly
def test_speed_of_the_memory_works_on_a_copy(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def contents() -> dict[str, bytes]:
        found = (file for file in bench.notes.rglob("*") if file.is_file())
        return {str(file): file.read_bytes() for file in found}

    monkeypatch.delenv("MEMCLI_EMBEDDING_ENCODER")
    shutil.rmtree(bench.notes)
    write(bench.notes, "memory/2025-06-13.md", "# Day\n\nOPS-417 was closed.\n")
    write(bench.notes, "MEMORY.md", "# ***\n\nx\n\n# --dashed title\n\ny\n")
    bench("quality", str(bench.questions), "-q")
    before, store = contents(), (bench.folder / "store" / "index.sqlite").read_bytes()
    out, _ = bench("speed", "--runs", "2")
    assert "2 documents" in out
    assert "hybrid" in out
    assert contents() == before
    assert (bench.folder / "store" / "index.sqlite").read_bytes() == store


@pytest.mark.nightly
def test_speed_leaves_out_a_document_that_cannot_be_read(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(path: str, mode: str = "r", **named: Any) -> Any:
        if path.endswith("locked.md"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return Path(path).open(mode, **named)

    monkeypatch.delenv("MEMCLI_EMBEDDING_ENCODER")
    write(bench.notes, "locked.md", "# Locked\n\nx\n")
    monkeypatch.setattr(bench_speed, "open", locked, raising=False)
    out, err = bench("speed", "--runs", "2", "--mode", "keyword")
    assert "memcli: locked.md is left out: Permission denied\n" in err
    assert "documents/s by keywords" in out


def test_the_schedules_of_the_page_are_sound() -> None:
    text = page("bench")
    units = re.findall(r"^```ini\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    service, timer = (next(u for u in units if mark in u) for mark in ("[Service]", "[Timer]"))
    parsed = ConfigParser(interpolation=None)
    parsed.read_string(service)
    assert parsed["Service"]["ExecStart"] == "memcli bench check -q -w %h/notes"
    parsed = ConfigParser(interpolation=None)
    parsed.read_string(timer)
    assert parsed["Timer"]["Persistent"] == "true"
    cron = next(line for line in text.splitlines() if line.lstrip().startswith("17 3"))
    assert cron.split(maxsplit=5)[5] == 'memcli bench check -q -w "$HOME/notes"'


def test_questions_without_an_answer_are_counted(bench: Bench) -> None:
    with bench.questions.open("a") as file:
        file.write('{"query": "what is the answer", "answer": "nobody has looked"}\n')
    out, err = bench("quality", str(bench.questions))
    assert "1 of 4 questions name no lines in 'relevant': not counted." in err
    assert out.splitlines()[3].split()[:2] == ["all", "3"]
