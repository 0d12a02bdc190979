"""One watcher a store, and what is known of it: the lock is the proof, the record the detail."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from memcli.errors import BusyError
from memcli.store.lock import Watching, living_watcher, watching
from memcli.store.run_records import WatchRecord
from tests.store.test_lock import hold

HOLDER = """
import os, sys
from memcli.store.run_records import WatchRecord
from memcli.store.lock import watching
with watching(sys.argv[1], sleep=lambda seconds: None) as watch:
    watch.tell(WatchRecord(os.getpid(), since="2026-02-20T09:00:00+00:00", backlog=3))
    print("held", flush=True)
    sys.stdin.read()
"""


def _never(seconds: float) -> None:
    raise AssertionError("a watcher's lock is never waited for")


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "s" / "index.sqlite")


def test_a_second_watcher_is_refused_and_a_killed_one_is_none(store: str) -> None:
    process = hold(store, HOLDER)
    try:
        since = "2026-02-20T09:00:00+00:00"
        assert living_watcher(store) == WatchRecord(process.pid, since=since, backlog=3)
        with (
            pytest.raises(BusyError, match=f"pid {process.pid}.* watches this workspace"),
            watching(store, sleep=_never),
        ):
            pass
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert Path(store + ".watch").exists(), "the dead one's record is still there"
    assert living_watcher(store) is None
    with watching(store, sleep=_never):
        assert living_watcher(store) == WatchRecord(os.getpid()), (
            "and says nothing of its successor"
        )
    assert Path(store + ".watch").exists(), "nor is it the successor's to remove"


def test_the_record_is_private_whole_and_removed(store: str) -> None:
    record = WatchRecord(os.getpid(), backlog=1, mode="polling", failure="no space")
    with watching(store, sleep=_never) as watch:
        watch.tell(record)
        assert living_watcher(store) == record
        assert Path(store + ".watch").stat().st_mode & 0o777 == 0o600
        assert not Path(store + ".watch.new").exists()
    assert not Path(store + ".watch").exists()
    assert living_watcher(store) is None


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"[" * 9000, b'{"pid": 1, "odd": 2}', b"\xff\xfe"]
)
def test_a_damaged_record_leaves_the_pid(store: str, content: bytes) -> None:
    with watching(store, sleep=_never):
        Path(store + ".watch").write_bytes(content)
        assert living_watcher(store) == WatchRecord(os.getpid(), backlog=0)
        Path(store + ".watch").write_text(f'{{"pid": {os.getpid()}, "mode": [1]}}')
        assert living_watcher(store) == WatchRecord(os.getpid(), mode="events")


def test_a_record_is_not_read_through_a_link(store: str) -> None:
    with watching(store, sleep=_never):
        Path(store + ".elsewhere").write_text(f'{{"pid": {os.getpid()}, "backlog": 7}}')
        Path(store + ".watch").symlink_to(store + ".elsewhere")
        assert living_watcher(store) == WatchRecord(os.getpid())


def test_a_record_that_cannot_be_written_is_no_reason_to_stop(store: str) -> None:
    watch = Watching(store)
    watch.tell(WatchRecord(1))  # the folder does not exist
    Path(store).parent.mkdir()
    Path(store + ".watch.new").symlink_to(Path(store).parent / "victim")
    watch.tell(WatchRecord(1))
    assert not (Path(store).parent / "victim").exists()
    assert not Path(store + ".watch").exists()


def test_the_watcher_does_not_hold_the_writer_lock(store: str) -> None:
    with watching(store, sleep=_never) as watch:
        assert watch.files == (f"{store}.watch.lock",)
        assert [file.name for file in Path(store).parent.iterdir()] == ["index.sqlite.watch.lock"]
