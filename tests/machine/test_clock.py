"""A clock that is put back a day or on by a year, between two commands and in the middle of one."""

from __future__ import annotations

import json
import os
import shutil
import time
from itertools import cycle
from pathlib import Path

import pytest

from memcli.errors import ExitCode
from tests.machine.verbs import COMPACT, Place, notes
from tests.store.damage import results
from tests.store_check import assert_sound, dump_without_times

DAY_NS = 86_400 * 10**9
NOON_NS = 1_770_724_800 * 10**9  # 2026-02-10 12:00 UTC
JUMPS = (0, -DAY_NS, 365 * DAY_NS, -3650 * DAY_NS, 0, 20_000 * DAY_NS)
ASKED = "search 'heron pool team' --json --no-sync"


class WallClock:
    """What the time is said to be: at each look another of some times, in turn."""

    def __init__(self) -> None:
        self.set(0)

    def set(self, *days: float) -> None:
        self._jumps = cycle([round(each * DAY_NS) for each in days])

    def __call__(self) -> int:
        return NOON_NS + next(self._jumps)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    made = WallClock()
    monkeypatch.setattr(time, "time_ns", made)
    monkeypatch.setenv("TZ", "UTC")
    return made


@pytest.fixture
def place(tmp_path: Path, clock: WallClock) -> Place:
    made = Place(tmp_path / "place")
    notes(made)
    return made


def edit(place: Place) -> None:
    memory = place.notes / "memory"
    (memory / "2026-02-01.md").unlink()
    (memory / "2026-02-02.md").rename(memory / "renamed.md")
    (memory / "2026-02-05.md").write_text("# Day 5\n\nA heron at the pool.\n")
    text = (memory / "2026-02-04.md").read_text()
    kept = (memory / "2026-02-04.md").stat()
    (memory / "2026-02-04.md").write_text(text.replace("delta", "heron"))  # as long as before
    os.utime(memory / "2026-02-04.md", ns=(kept.st_atime_ns, kept.st_mtime_ns))


def index_of(place: Place) -> dict[str, object]:
    """Give what is indexed, without the times of files and runs."""
    (store,) = place.home.rglob("index.sqlite")
    assert_sound(str(store))
    return dump_without_times(str(store))


@pytest.mark.nightly
@pytest.mark.parametrize("line", ["index", "index --full"])
def test_an_index_is_the_same_by_a_clock_that_jumps_at_every_look(
    place: Place, clock: WallClock, line: str
) -> None:
    clock.set(*(each / DAY_NS for each in JUMPS))
    edit(place)
    for _ in range(2):
        outcome = place.run(line)
        assert (outcome.code, outcome.err.count("Try: ")) == (ExitCode.OK, 0)
    found, answer = index_of(place), place.run(ASKED).out
    assert "heron" in answer
    shutil.rmtree(place.home / "cache")
    clock.set(0)
    assert place.run("index").code == ExitCode.OK
    assert index_of(place) == found
    assert results(place.run(ASKED).out) == results(answer)


@pytest.mark.parametrize("first", [0.0, 365.0])
@pytest.mark.parametrize("then", [-1.0, 0.0, 365.0])
def test_no_note_is_lost_and_the_last_one_is_taken_back(
    place: Place, clock: WallClock, first: float, then: float
) -> None:
    logs = []
    for days, text in ((first, "The heron left at noon."), (then, "The stork came by train.")):
        clock.set(days)
        logs.append(remembered(place, text))
    texts = [log.read_text() for log in logs]
    assert "heron" in texts[0]
    assert "stork" in texts[1]
    assert [log.stem for log in logs] == [day_of(first), day_of(then)]
    clock.set(first - 1)
    outcome = place.run("remember --undo --now 2026-02-10")
    assert outcome.code == ExitCode.OK, outcome.err
    assert not logs[1].exists() or "stork" not in logs[1].read_text()
    assert "heron" in logs[0].read_text()


def remembered(place: Place, text: str) -> Path:
    before = {path: path.read_text() for path in place.notes.rglob("*.md")}
    with place.entered():
        from memcli.cli.main import run

        assert run(["remember", text]) == ExitCode.OK
    (path,) = (p for p in place.notes.rglob("*.md") if before.get(p) != p.read_text())
    return path


def day_of(days: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(NOON_NS / 1e9 + days * 86_400))


def test_compact_takes_back_the_run_that_was_made_last(place: Place, clock: WallClock) -> None:
    summaries = place.notes / "memory" / "summaries"
    tree = place.tree()
    for at, days in enumerate((365.0, 0.0)):
        clock.set(days)
        with place.entered():
            from memcli.cli.main import run

            assert run(COMPACT.split()) == ExitCode.OK
        made = {path.name for path in summaries.iterdir()}
        if not at:
            first = made
            for day in (6, 7):
                text = (place.notes / "memory" / "2026-02-03.md").read_text()
                log = place.notes / "memory" / f"2026-02-0{day}.md"
                log.write_text(text.replace("case", f"heron {day}"))
    assert made > first
    assert place.run("compact --undo").code == ExitCode.OK
    assert {path.name for path in summaries.iterdir()} == first
    assert place.run("compact --undo").code == ExitCode.OK
    now = place.tree()
    assert {path: now[path] for path in tree if path.startswith("home/notes/")} == {
        path: data for path, data in tree.items() if path.startswith("home/notes/")
    }


def test_a_note_of_a_day_to_come_is_found_whole_and_told_as_such(place: Place) -> None:
    log = place.notes / "memory" / "2062-01-01.md"
    log.write_text("# Later\n\nThe stork is back at the pool.\n")
    assert place.run("index").code == ExitCode.OK
    (first, *_) = json.loads(place.run("search stork --json --explain").out)["results"]
    assert first["path"] == "memory/2062-01-01.md"
    (decay,) = (step for step in first["trace"] if step["stage"] == "decay")
    assert decay["factor"] == 1
    assert ", 2026-02-01 to 2062-01-01 (to come)\n" in place.run("status").out
    assert "to come" not in place.run("status --now 2061-12-30").out
