"""Summaries on disk: written whole, verified, undone to the byte, and a person's edit respected."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memcli.api.memory import Memory
from memcli.cli.main import run
from memcli.compaction import folder
from memcli.compaction.summaries import last_run
from memcli.errors import UsageError
from memcli.indexing.lineage import successors
from memcli.indexing.planning import Settings
from memcli.types import Source
from tests.cli.processes import COMMAND
from tests.commands import NewWorkspace, say
from tests.compaction.support import (
    lineage_of,
    make_log,
    plan_of,
    read_back,
    settings,
    write_level_two,
)
from tests.support import by_night, make_settings, write

# By itself a summary has to save 40 %; these tests are about files, and want one of each cluster.
SMALL = ("--tail", "4", "--tail-days", "0", "--ratio", "0.6")
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def notes(workspaces: Path, workspace: NewWorkspace) -> Path:
    return workspace(workspaces / "engineer", encoder="hashing")


@pytest.fixture
def summarised(compacted: Path, workspace: NewWorkspace) -> Path:
    """The notes after a run with SMALL."""
    return workspace(compacted, encoder="hashing")


def compact(notes: Path, *arguments: str) -> tuple[int, str, str]:
    return say("compact", "-w", str(notes), "--now", "2026-02-20", *arguments)


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
    assert "- We switch the order store to PostgreSQL 16. This replaces the decision of" in out
    assert "[[2025-03-03]]. [replaces 2025-03-03:9]" in out
    assert "- We will use MySQL 8.0 for the new order store. Reasons: The operations team" in out
    assert compact(notes, "--verify")[0] == 0
    assert tree(notes) == before


def test_apply_verify_undo_restores_the_tree(notes: Path) -> None:
    before = tree(notes)
    assert compact(notes, "--verify") == (0, "", "There are no summaries to check.\n")
    assert compact(notes, *SMALL, "--apply")[0] == 0
    after = tree(notes)
    assert {k: v for k, v in after.items() if k in before} == before
    assert len(summaries(notes)) == 5
    assert compact(notes, "--verify") == (0, "", "Checked 5 summaries: every line is unchanged.\n")
    assert compact(notes, *SMALL, "--apply")[1] == ""  # twice is once
    assert tree(notes) == after
    assert compact(notes, "--undo")[0] == 0
    assert tree(notes) == before


def test_every_folder_of_the_way_is_closed(tmp_path: Path) -> None:
    place = tmp_path / "memory" / "summaries"
    place.mkdir(parents=True)
    before = sorted(Path("/dev/fd").iterdir())
    folder.write(str(tmp_path), ())
    assert sorted(Path("/dev/fd").iterdir()) == before
    folder.remove(str(tmp_path), ())
    assert (sorted(Path("/dev/fd").iterdir()), place.exists()) == (before, False)


CLOCKS = {
    "in order": ("2026-02-20", "2026-02-21"),
    "told an earlier day": ("2026-02-20", "2026-01-01"),
    "at one time": ("2026-02-20", "2026-02-20"),
    "end of summer time": ("2026-10-25T02:30+02:00", "2026-10-25T02:10+01:00"),
}


def test_a_summary_of_a_month_begins_with_its_first_day_and_finds_it_renamed(notes: Path) -> None:
    (notes / "memory" / "2025-03-10.md").rename(notes / "memory" / "2025-03.md")
    assert compact(notes, *SMALL, "--apply")[0] == 0
    told = next(file for file in summaries(notes) if "memory/2025-03.md" in file.read_text())
    lineage = lineage_of(told.read_text())
    assert (told.name[:10], lineage.earliest) == ("2025-03-01", "2025-03-01")
    assert lineage.latest >= "2025-03-31"
    (notes / "memory" / "2025-03.md").rename(notes / "memory" / "2025-W10.md")
    paths = ["memory/2025-W10.md", "memory/2025-W08.md", "memory/2025-03-01.md", "memory/a.md"]
    assert successors(lineage, paths) == ["memory/2025-03-01.md", "memory/2025-W10.md"]


@pytest.mark.parametrize("clock", CLOCKS)
def test_the_run_that_was_made_last_is_undone_first(notes: Path, clock: str) -> None:
    bare = tree(notes)
    first, second = CLOCKS[clock]
    compact(notes, "--tail", "20", "--tail-days", "0", "--ratio", "0.6", "--apply", "--now", first)
    between = tree(notes)
    compact(notes, *SMALL, "--apply", "--now", second)
    assert len(between) < len(tree(notes))
    assert compact(notes, "--undo", "--now", "2025-01-01")[0] == 0
    assert tree(notes) == between
    assert compact(notes, "--undo")[0] == 0
    assert tree(notes) == bare


def test_of_runs_with_the_same_count_the_instant_decides() -> None:
    times = ["2026-10-25T02:30:00+02:00", "2026-10-25T02:10:00+01:00", "2026-10-24T09:00:00", "-"]
    logs = [make_log(f"2025-03-0{n}", f"We must never touch valve {n}. {'So. ' * 40}")
            for n in (1, 2)]  # fmt: skip
    (made,) = read_back(logs, plan_of(logs, settings(cluster=2)).drafts)
    runs = [made._replace(lineage=made.lineage._replace(compacted=time)) for time in times]
    assert [each.lineage.compacted for each in last_run(runs)] == [times[1]]


def test_an_edited_summary_is_left_and_named(summarised: Path) -> None:
    edited = summaries(summarised)[0]
    edited.write_text(edited.read_text() + "- my own words\n")
    mine = edited.read_bytes()
    code, out, _ = compact(summarised, "--verify")
    assert code == 1
    assert out == (
        "edited      memory/summaries/2025-03-03--2025-04-08.md: "
        "somebody has changed it; it is left as it is\n"
    )
    code, out, _ = compact(summarised, *SMALL, "--apply")  # it stands for its lines no more
    assert out.count("wrote") == 1
    assert out.startswith("wrote  memory/summaries/2025-03-03--2025-04-08~2.md")
    for _ in range(2):
        code, _, err = compact(summarised, "--undo")
    assert code == 1
    assert "2025-03-03--2025-04-08.md was edited and is left as it is" in err
    assert [p.read_bytes() for p in summaries(summarised)] == [mine]


def _link(path: Path) -> None:
    away = path.rename(path.parent.parent.parent / "away.md")
    path.symlink_to(away)


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "binary": (
        lambda path: path.write_bytes(b"\x00\x01" * 99),
        "99 control characters in the first 198 bytes",
    ),
    "link": (_link, "links are not followed"),
    "sparse": (lambda path: os.truncate(path, 1 << 24), "16777216 bytes, the limit is 8388608"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_summary_that_cannot_be_read_is_named_and_stops_the_rest(
    summarised: Path, how: str
) -> None:
    broken = summaries(summarised)[2]
    name = broken.relative_to(summarised).as_posix()
    damage, told = BROKEN[how]
    damage(broken)
    before = tree(summarised)
    code, out, err = compact(summarised, "--verify")
    assert (code, out) == (1, f"unread      {name}: {told}\n")
    assert err == "Checked 4 summaries: 1 could not be read.\n"
    for arguments in ((), ("--apply",), ("--apply", "--cluster", "3")):
        code, out, err = compact(summarised, *SMALL, *arguments)
        assert (code, out) == (2, "")
        assert f"{name} may contain summaries and cannot be read: {told}; nothing is comp" in err
        assert "Try: memcli compact --verify" in err
    assert tree(summarised) == before

    code, out, err = compact(summarised, "--undo")
    assert (code, out.count("removed"), err.count("cannot be read and stays")) == (1, 4, 1)
    code, out, _ = compact(summarised, "--undo", "--json")
    assert json.loads(out)["problems"] == [{"path": name, "kind": "unread", "detail": told}]
    assert code == 1
    assert [path.name for path in summaries(summarised)] == [broken.name]


def test_what_is_meant_to_be_left_out_stops_nothing(summarised: Path) -> None:
    (summarised / "memory" / "summaries" / "mine.md").write_text("mine\n")
    (summarised / ".memcliignore").write_text("mine.md\n")
    assert compact(summarised, "--verify")[0] == 0
    (summarised / ".memcliignore").write_text("summaries/\n")
    assert compact(summarised, "--verify")[1] == "unread      memory/summaries: .memcliignore\n"
    assert compact(summarised, *SMALL, "--apply")[0] == 2


@pytest.mark.parametrize("away", ["gone", "unmounted", "unlistable"])
def test_nothing_is_compacted_while_the_memory_is_away(notes: Path, away: str) -> None:
    run(["index", "-q", "-w", str(notes)])
    compact(notes, *SMALL, "--apply")
    memory = (notes / "memory").rename(notes.parent / "memory.away")
    if away == "unmounted":  # as the index remembers a mount
        (notes / "memory").mkdir()
        store = Memory.open(notes).workspaces.lead.store
        with store.change(wait_seconds=0, sleep=time.sleep) as change:
            change.set_facts({"mounts": '[["memory", "memory"]]'})
    elif away == "unlistable":
        (notes / "memory").write_text("no folder\n")
        os.mkfifo(notes / ".memcliignore")
    before = tree(notes)
    for arguments, code in ((("--apply",), 2), (("--undo",), 1), (("--verify",), 1)):
        found, out, err = compact(
            notes, "--tail", "0", "--tail-days", "0", "--ratio", "0.6", *arguments
        )
        assert (found, tree(notes)) == (code, before), err
        assert "There is nothing" not in err
        assert "as it was" not in err
        assert out.startswith("unread") == (arguments == ("--verify",))
    for path in ("memory", ".memcliignore"):
        with contextlib.suppress(OSError):
            (notes / path).unlink()
    with contextlib.suppress(OSError):
        (notes / "memory").rmdir()
    memory.rename(notes / "memory")
    assert compact(notes, "--verify")[0] == 0
    assert compact(notes, "--undo")[1].count("removed") == 5


def test_logs_that_others_may_have_written_are_never_compacted(tmp_path: Path) -> None:
    """Neither those of a source beside the memory nor one that calls itself untrusted."""
    log = "# Day\n\n- The pool ran dry again.\n"
    for path in ("a/memory/2025-01-01.md", "b/memory/2025-01-01.md"):
        write(tmp_path, path, log)
    write(tmp_path, "a/memory/2025-01-02.md", f"---\ntrust: untrusted\n---\n{log}")
    sources = (
        Source("memory", str(tmp_path / "a"), ("**/*.md",), kind="log", scope="session"),
        Source("team", str(tmp_path / "b"), ("**/*.md",), kind="log", scope="session"),
    )
    found = folder.read(make_settings(tmp_path, *sources), {}, None)
    assert [log.path for log in found.logs] == ["memory/2025-01-01.md"]


def test_a_memory_that_vanishes_at_the_last_moment_is_not_made_again(notes: Path) -> None:
    found = folder.read(_settings(notes), {}, None)
    drafts = plan_of(found.logs, settings(cluster=8)).drafts
    (notes / "memory").rename(notes.parent / "memory.away")
    before = tree(notes)
    with pytest.raises(UsageError, match="memory/summaries cannot be written: No such file"):
        folder.write(str(notes), drafts)
    assert tree(notes) == before


def _settings(notes: Path) -> Settings:
    return Memory.open(notes).workspaces.lead.index_settings()


def test_two_runs_at_once_write_no_line_twice(notes: Path, compacted: Path) -> None:
    arguments = ["compact", "--apply", *SMALL, "-q", "--now", "2026-02-20", "-w", str(notes)]
    both = [subprocess.Popen([*COMMAND, *arguments], stderr=subprocess.PIPE) for _ in range(2)]
    assert [each.communicate()[1] for each in both] == [b"", b""]
    made = [path.read_bytes() for path in summaries(notes)]
    assert made == [path.read_bytes() for path in summaries(compacted)]


def test_a_folder_that_cannot_be_made_is_named(notes: Path) -> None:
    (notes / "memory" / "summaries").write_text("in the way\n")
    before = tree(notes)
    code, _, err = compact(notes, *SMALL, "--apply")
    assert (code, tree(notes)) == (2, before)
    assert f"{notes}/memory/summaries cannot be written: Not a directory\nTry: ls -ld " in err


def test_a_summary_that_cannot_be_removed_is_named(summarised: Path) -> None:
    before = tree(summarised)
    program = (
        "import errno, os, sys\n"
        "def refused(*arguments, **named):\n"
        "    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))\n"
        "from memcli.cli.main import run\n"
        "os.remove = refused\n"
        "os.environ['MEMCLI_EMBEDDING_ENCODER'] = 'none'\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "compact", "--undo", "-w", str(summarised)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, tree(summarised)) == (2, before)
    assert f"{summarised}/memory/summaries/ cannot be written: Permission denied" in done.stderr


def test_a_changed_source_makes_its_summary_stale(summarised: Path) -> None:
    source = summarised / "memory" / "2025-03-10.md"
    source.write_text(source.read_text().replace("ULIDs", "UUIDs"))
    code, out, _ = compact(summarised, "--verify")
    assert code == 1
    assert out == (
        "out of date memory/summaries/2025-03-03--2025-04-08.md:"
        " memory/2025-03-10.md:1-11 has changed\n"
    )
    edited = summaries(summarised)[0]
    edited.write_text(edited.read_text() + "- my own words\n")
    _, out, err = compact(summarised, "--verify")
    assert out.count("memory/summaries/2025-03-03--2025-04-08.md:") == 2
    assert "1 is not valid; its lines are searched raw" in err


def test_a_summary_of_summaries_is_read_checked_and_undone(notes: Path) -> None:
    before = tree(notes)
    assert compact(notes, *SMALL, "--apply")[0] == 0
    below = [path.relative_to(notes).as_posix() for path in summaries(notes)][:2]
    top = write_level_two(notes, below)
    code, out, _ = compact(notes, "--verify", "--json")
    record = json.loads(out)
    assert (code, record["problems"]) == (0, [])
    assert [s["parents"] for s in record["summaries"] if s["level"] == 2] == [below]
    assert compact(notes, *SMALL, "--apply")[1] == ""  # what it covers is covered
    gone = (notes / below[0]).read_bytes()
    (notes / below[0]).unlink()
    code, out, _ = compact(notes, "--verify", "--json")
    kinds = {(p["path"], p["kind"]) for p in json.loads(out)["problems"]}
    assert (code, kinds) == (1, {(top, "orphan")})
    (notes / below[0]).write_bytes(gone)
    assert compact(notes, "--undo")[0] == 0
    assert tree(notes) == before


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
    assert "2025-03-03--2025-04-08.md exists and is not a summary" in err
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


def _but_run(path: Path) -> list[str]:
    """Read a summary without what tells which run wrote it."""
    lines = path.read_text().split("\n")
    return [line for line in lines if not line.startswith(("run: ", "seal: "))]


@pytest.mark.parametrize("at", [10, *by_night(1, 2, 5)])
def test_a_killed_apply_verifies_and_is_finished_by_the_next(
    notes: Path, compacted: Path, at: int
) -> None:
    before = tree(notes)
    _killed(at, notes, "--apply")
    assert compact(notes, "--verify")[0] == 0
    assert len(summaries(notes)) == at // 4  # fsync, link, remove, fsync of the folder
    assert compact(notes, *SMALL, "--apply")[0] == 0
    assert list(map(_but_run, summaries(notes))) == list(map(_but_run, summaries(compacted)))
    for _ in range(1 if at < 3 else 2):  # the run that was killed and the one that went on
        compact(notes, "--undo")
    assert tree(notes) == before


@pytest.mark.parametrize("at", [3, *by_night(1, 6)])
def test_a_killed_undo_is_finished_by_the_next(summarised: Path, workspaces: Path, at: int) -> None:
    _killed(at, summarised, "--undo")
    assert compact(summarised, "--verify")[0] == 0
    compact(summarised, "--undo")
    left = {k: v for k, v in tree(summarised).items() if k != "memory/summaries"}
    assert left == tree(workspaces / "engineer")


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
