"""Summaries on disk: written whole, verified, undone to the byte, and a person's edit respected."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memcli.cli.main import run

SMALL = ("--tail", "4", "--tail-tokens", "0")
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def notes(workspaces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    return Path(shutil.copytree(workspaces / "engineer", tmp_path / "notes"))


def compact(notes: Path, *arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(["compact", "-w", str(notes), "--now", "2026-02-20", *arguments])
    return code, out.getvalue(), err.getvalue()


def tree(root: Path) -> dict[str, tuple[str, int]]:
    """Give every file with the hash of its bytes and its time, and every folder."""
    found = {}
    for path in sorted(root.rglob("*")):
        is_file = path.is_file()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if is_file else ""
        found[path.relative_to(root).as_posix()] = (digest, path.stat().st_mtime_ns * is_file)
    return found


def summaries(notes: Path) -> list[Path]:
    return sorted((notes / "memory" / "summaries").glob("[!.]*.md"))


def test_nothing_is_written_without_apply(notes: Path) -> None:
    before = tree(notes)
    code, out, _ = compact(notes, *SMALL, "--show")
    assert code == 0
    assert out.count("would write") == 5
    assert "- We will use MySQL 8.0 for the new order store. (memory/2025-03-03.md:9)" in out
    assert compact(notes, "--verify")[0] == 0
    assert tree(notes) == before


def test_apply_verify_undo_restores_the_tree(notes: Path) -> None:
    before = tree(notes)
    assert compact(notes, *SMALL, "--apply")[0] == 0
    after = tree(notes)
    assert {k: v for k, v in after.items() if k in before} == before
    assert len(summaries(notes)) == 5
    assert compact(notes, "--verify") == (0, "", "Checked 5 summaries: every line is as it was.\n")
    assert compact(notes, *SMALL, "--apply")[1] == ""  # twice is once
    assert tree(notes) == after
    assert compact(notes, "--undo")[0] == 0
    assert tree(notes) == before


def test_a_later_run_is_undone_alone(notes: Path) -> None:
    compact(notes, *SMALL, "--apply")
    first = tree(notes)
    for day in range(1, 10):
        text = f"# Log\n\n{'The river was high and the boats stayed in. ' * 9}\n"
        (notes / "memory" / f"2026-03-0{day}.md").write_text(text)
    code, out, _ = compact(notes, *SMALL, "--apply", "--now", "2026-04-01")
    assert code == 0
    assert out.count("wrote") >= 1
    compact(notes, "--undo")
    assert {k: v for k, v in tree(notes).items() if "/2026-03-" not in k} == first


def test_an_edited_summary_is_left_and_named(notes: Path) -> None:
    compact(notes, *SMALL, "--apply")
    edited = summaries(notes)[0]
    edited.write_text(edited.read_text() + "- my own words\n")
    mine = edited.read_bytes()
    code, out, _ = compact(notes, "--verify")
    assert code == 1
    assert out == (
        "edited    memory/summaries/2025-03-03--2025-04-08.md: "
        "somebody has changed it; it is left as it is\n"
    )
    assert compact(notes, *SMALL, "--apply")[1] == ""
    code, _, err = compact(notes, "--undo")
    assert code == 1
    assert "2025-03-03--2025-04-08.md was edited and is left as it is" in err
    assert [p.read_bytes() for p in summaries(notes)] == [mine]


def test_a_changed_source_makes_its_summary_stale(notes: Path) -> None:
    compact(notes, *SMALL, "--apply")
    source = notes / "memory" / "2025-03-10.md"
    source.write_text(source.read_text().replace("ULIDs", "UUIDs"))
    code, out, _ = compact(notes, "--verify")
    assert code == 1
    assert out == (
        "stale     memory/summaries/2025-03-03--2025-04-08.md:"
        " memory/2025-03-10.md:1-11 has changed\n"
    )


def test_what_is_missing_below_a_summary_of_summaries_is_named(notes: Path) -> None:
    assert compact(notes, "--tail", "0", "--tail-tokens", "0", "--cluster", "2", "--depth", "2",
                   "--ratio", "0.2", "--apply")[0] == 0  # fmt: skip
    code, out, _ = compact(notes, "--verify", "--json")
    record = json.loads(out)
    assert (code, record["problems"]) == (0, [])
    tops = [s for s in record["summaries"] if s["level"] == 2]
    assert tops
    (notes / tops[0]["parents"][0]).unlink()
    code, out, _ = compact(notes, "--verify", "--json")
    kinds = {(p["path"], p["kind"]) for p in json.loads(out)["problems"]}
    assert (code, kinds) == (1, {(tops[0]["path"], "orphan")})


@pytest.mark.parametrize("place", ["memory", "memory/summaries"])
def test_nothing_is_written_through_a_link(notes: Path, tmp_path: Path, place: str) -> None:
    outside = tmp_path / "outside"
    if place == "memory":
        (notes / "memory").rename(outside)
        (notes / "memory").symlink_to(outside)
    else:
        outside.mkdir()
        (notes / place).symlink_to(outside)
    before = tree(outside)
    compact(notes, *SMALL, "--apply", "--json")
    assert tree(outside) == before


def test_a_file_in_the_way_is_left(notes: Path) -> None:
    own = notes / "memory" / "summaries" / "2025-03-03--2025-04-08.md"
    own.parent.mkdir()
    own.write_text("my own overview\n")
    code, _, err = compact(notes, *SMALL, "--apply")
    assert code == 2
    assert "2025-03-03--2025-04-08.md exists and is no summary" in err
    assert own.read_text() == "my own overview\n"


# Kills itself at the n-th call of the system that changes the folder.
VICTIM = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from tests.hashing import register
register()
left = int(sys.argv[2])

def mortal(name):
    real = getattr(os, name)
    def call(*arguments, **named):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **named)
    setattr(os, name, call)

from memcli.cli.main import run
for name in ("fsync", "link", "remove", "rmdir"):
    mortal(name)
sys.exit(run(sys.argv[3:]))
"""


def _killed(at: int, notes: Path, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", VICTIM, str(REPOSITORY), str(at), "compact", "-w", str(notes),
         "--now", "2026-02-20", *SMALL, *arguments],
        env={**os.environ}, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == -9, done.stderr


@pytest.mark.parametrize("at", [1, 2, 5, 10])
def test_a_killed_apply_verifies_and_is_finished_by_the_next(notes: Path, at: int) -> None:
    before = tree(notes)
    whole = Path(shutil.copytree(notes, notes.parent / "whole"))
    compact(whole, *SMALL, "--apply")
    _killed(at, notes, "--apply")
    assert compact(notes, "--verify")[0] == 0
    assert len(summaries(notes)) == at // 3  # fsync, link, remove
    assert compact(notes, *SMALL, "--apply")[0] == 0
    assert [p.read_bytes() for p in summaries(notes)] == [p.read_bytes() for p in summaries(whole)]
    compact(notes, "--undo")
    assert tree(notes) == before


@pytest.mark.parametrize("at", [1, 3, 6])
def test_a_killed_undo_is_finished_by_the_next(notes: Path, at: int) -> None:
    before = tree(notes)
    compact(notes, *SMALL, "--apply")
    _killed(at, notes, "--undo")
    assert compact(notes, "--verify")[0] == 0
    compact(notes, "--undo")
    assert {k: v for k, v in tree(notes).items() if k != "memory/summaries"} == before


def test_logs_of_an_inner_source_are_not_the_memory_s(notes: Path) -> None:
    """A folder of pages from the web inside the memory stays what it is: nothing trusts it."""
    logs = compact(notes, *SMALL, "--show")[1]
    web = notes / "memory" / "web"
    shutil.copytree(notes / "memory", web)
    assert compact(notes, *SMALL, "--show")[1] != logs
    (notes / "memcli.toml").write_text(
        '[[source]]\nname = "web"\npath = "memory/web"\nsource_kind = "web"\n'
    )
    assert compact(notes, *SMALL, "--show")[1] == logs
