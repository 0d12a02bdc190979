"""What is seen of a workspace: with the system's own events, and without any."""

from __future__ import annotations

import errno
import io
import logging
import os
import queue
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memcli.indexing.change_detector import MANY_EVENTS, ChangeDetector, Events, system_observer
from memcli.indexing.watch_folders import Folder
from memcli.workspace.locate import default_source
from tests.commands import NewWorkspace
from tests.support import make_settings, write

PATIENCE_SECONDS = 20.0  # how long a real event may take before the test fails


class Deaf:
    """An observer of a system that gives no watches."""

    def __init__(self, number: int) -> None:
        self.number = number

    def start(self) -> None:
        """Begin."""

    def schedule(self, *arguments: Any, **options: Any) -> None:
        raise OSError(self.number, os.strerror(self.number))

    def stop(self) -> None:
        """End."""

    def join(self) -> None:
        """Wait for the end."""


class Seen:
    """A sight of a workspace and the hints it gave."""

    def __init__(self, root: Path, open_observer: Any = system_observer) -> None:
        self.hints: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.settings = make_settings(root, default_source(str(root), memory_alone=True))
        self.detector = ChangeDetector(
            self.hints.put, places=(), files=(), open_observer=open_observer
        )
        self.notice = self.detector.watch(self.settings, retry=True)

    def next(self, *wanted: str | None) -> str | None:
        """Wait until one of the wanted hints comes."""
        while True:
            hint = self.hints.get(timeout=PATIENCE_SECONDS)
            if hint in wanted:
                return hint


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace({"memory/a.md": "# A\n"})


@pytest.fixture
def seen(notes: Path) -> Iterator[Seen]:
    found = Seen(notes)
    yield found
    found.detector.close()


def test_a_written_file_is_heard_of(notes: Path, seen: Seen) -> None:
    assert (seen.notice, seen.detector.polling) == ("", False)
    write(notes, "memory/a.md", "# A\n\nmore\n")
    assert seen.next("memory:memory/a.md")
    assert seen.detector.poll() == [], "where events come nothing is listed"


def test_an_atomic_save_is_heard_of_by_its_name(notes: Path, seen: Seen) -> None:
    temporary = write(notes, "memory/a.md.tmp~", "# A\n\nsaved\n")
    temporary.rename(notes / "memory" / "a.md")
    assert seen.next("memory:memory/a.md")


def test_a_tree_moved_in_is_heard_of_and_then_watched(
    notes: Path, seen: Seen, tmp_path: Path
) -> None:
    write(tmp_path, "tree/deep/b.md", "# B\n")
    (tmp_path / "tree").rename(notes / "memory" / "tree")
    seen.next(None)
    assert seen.detector.watch(seen.settings, retry=False) == ""
    write(notes, "memory/tree/deep/b.md", "# B\n\nmore\n")
    assert seen.next("memory:memory/tree/deep/b.md")
    (notes / "memory" / "tree").rename(notes / "memory" / "renamed")
    seen.next(None)
    assert seen.detector.watch(seen.settings, retry=False) == ""
    write(notes, "memory/renamed/deep/b.md", "# B\n\nagain\n")
    assert seen.next("memory:memory/renamed/deep/b.md")


def test_noise_is_not_heard_of(notes: Path, seen: Seen) -> None:
    for name in (".a.md.swp", "4913", "a.md~", "index.sqlite-wal"):
        write(notes, f"memory/{name}", "noise")
    write(notes, "other/x.md", "# X\n")
    write(notes, "memory/z.md", "# Z\n")
    assert seen.hints.get(timeout=PATIENCE_SECONDS) == "memory:memory/z.md"


def test_reading_is_not_heard_of(notes: Path, seen: Seen) -> None:
    (notes / "memory" / "a.md").read_bytes()
    list((notes / "memory").iterdir())
    write(notes, "memory/z.md", "# Z\n")
    assert seen.hints.get(timeout=PATIENCE_SECONDS) == "memory:memory/z.md"


def test_a_replaced_folder_is_found_by_a_probe_and_watched_again(notes: Path, seen: Seen) -> None:
    assert seen.detector.probe() == frozenset()
    (notes / "memory").rename(notes / "old")
    assert str(notes / "memory") in seen.detector.probe()
    write(notes, "memory/a.md", "# A\n\nnew folder\n")
    assert str(notes / "memory") in seen.detector.probe()
    assert seen.detector.watch(seen.settings, retry=False) == ""
    write(notes, "memory/a.md", "# A\n\nwatched again\n")
    assert seen.next("memory:memory/a.md")


def test_a_workspace_that_goes_and_comes_back_is_found_by_probes(notes: Path, seen: Seen) -> None:
    away = notes.rename(notes.with_name("away"))
    assert str(notes) in seen.detector.probe()
    assert seen.detector.watch(seen.settings, retry=False) == ""
    assert seen.detector.probe() == frozenset()
    away.rename(notes)
    assert str(notes) in seen.detector.probe()


@pytest.mark.parametrize(
    ("number", "limit"), [(errno.ENOSPC, "max_user_watches"), (errno.EMFILE, "max_user_instances")]
)
def test_without_watches_the_tree_is_listed_and_that_is_said_once(
    notes: Path, number: int, limit: str
) -> None:
    found = Seen(notes, lambda: Deaf(number))
    assert limit in found.notice
    assert found.detector.polling
    assert found.detector.watch(found.settings, retry=False) == ""
    assert found.detector.watch(found.settings, retry=True) == "", "said once"
    assert found.detector.poll() == []
    write(notes, "memory/b.md", "# B\n")
    write(notes, "memory/a.md", "# A\n\nmore\n")
    assert found.detector.poll() == ["memory:memory/a.md", "memory:memory/b.md"]
    assert found.detector.poll() == []


def test_events_are_taken_again_when_the_system_gives_them(notes: Path) -> None:
    from watchdog.observers import Observer

    answers = iter([Deaf(errno.ENOSPC), Observer()])
    found = Seen(notes, lambda: next(answers))
    assert found.detector.polling
    assert found.detector.watch(found.settings, retry=True) == "the system gives events again"
    write(notes, "memory/b.md", "# B\n")
    assert found.next("memory:memory/b.md")
    found.detector.close()


def test_the_same_folders_are_watched_once_and_no_longer_than_that(notes: Path) -> None:
    made: list[Any] = []

    def counted() -> Any:
        made.append(system_observer())
        return made[-1]

    found = Seen(notes, counted)
    assert found.detector.watch(found.settings, retry=True) == ""
    (observer,) = made
    assert observer.is_alive()
    found.detector.close()
    assert not observer.is_alive()


class Blind(Deaf):
    """An observer that watches nothing, and says so only where it has a number of an error."""

    def schedule(self, *arguments: Any, **options: Any) -> None:
        if self.number:
            super().schedule()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how many watches there are")
def test_folders_that_are_not_watched_are_noticed(notes: Path) -> None:
    answers, lost = iter([Blind(0), Blind(0), Blind(0), Blind(errno.ENOSPC)]), list[None]()
    elsewhere = Events(lambda path, is_folder: None, lambda: None)
    events = Events(lambda path, is_folder: None, lambda: lost.append(None), lambda: next(answers))
    some = [Folder(str(notes), True)]
    assert Events(lambda path, is_folder: None, lambda: None, lambda: Blind(0)).watch([]) == ""
    assert elsewhere.watch([Folder(str(notes / "memory"), False)]) == ""
    assert (events.watch(some), len(lost)) == ("", 1), "a folder may have come meanwhile"
    assert (events.watch(some), len(lost)) == ("", 1), "said once"
    assert "max_user_watches" in events.watch(some)
    assert next(answers, None) is None
    elsewhere.close()


def test_what_the_watching_library_says_is_not_shown(recwarn: pytest.WarningsRecorder) -> None:
    shown = logging.StreamHandler(io.StringIO())
    logging.getLogger("watchdog").propagate = True
    Events(lambda path, is_folder: None, lambda: None)
    logging.getLogger().addHandler(shown)
    logging.getLogger("watchdog.observers").error("a watch")
    logging.getLogger().removeHandler(shown)
    warnings.warn_explicit("a watch", RuntimeWarning, "a.py", 1, module="watchdog.observers")
    assert (shown.stream.getvalue(), list(recwarn)) == ("", [])


def test_a_flood_of_events_counts_as_lost_events(tmp_path: Path) -> None:
    class Event:
        src_path, dest_path, is_directory = str(tmp_path / "x"), "", False

    lost = threading.Semaphore(0)
    events = Events(lambda path, is_folder: None, lambda: lost.release())
    for _ in range(MANY_EVENTS - 1):
        events.dispatch(Event())
    assert not lost.acquire(blocking=False)
    events.dispatch(Event())
    assert lost.acquire(blocking=False)
