from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from memcli.errors import BusyError, StoreError
from memcli.store.lock import owner, show_work, writer_lock
from memcli.store.run_records import Work

HOLDER = """
import sys
from memcli.store.lock import writer_lock
with writer_lock(sys.argv[1], wait_seconds=0, sleep=lambda seconds: None):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(store: str, program: str = HOLDER) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", program, store],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def _pid(store: str) -> int | None:
    process = owner(store)
    return process.pid if process else None


def end(process: subprocess.Popen[str], *, kill: bool) -> None:
    if kill:
        process.send_signal(signal.SIGKILL)
    process.communicate("")


@pytest.mark.parametrize("kill", [False, True], ids=["ended", "killed"])
def test_one_process_writes_at_a_time_and_a_dead_one_frees_the_lock(
    tmp_path: Path, kill: bool
) -> None:
    store = str(tmp_path / "s" / "index.sqlite")
    process = hold(store)
    try:
        assert _pid(store) == process.pid
        holder = owner(store)
        assert holder is not None
        assert holder.since == Path(store + ".lock").stat().st_mtime
        at = datetime.fromtimestamp(holder.since).strftime("%Y-%m-%d %H:%M:%S")
        assert str(holder) == f"pid {process.pid}, since {at}"
        slept: list[float] = []
        with (
            pytest.raises(BusyError, match=f"pid {process.pid}, since 20"),
            writer_lock(store, wait_seconds=0.2, sleep=slept.append),
        ):
            pass
        assert len(slept) == 4
    finally:
        end(process, kill=kill)
    assert owner(store) is None
    with writer_lock(store, wait_seconds=0, sleep=slept.append):
        assert Path(store + ".lock").read_text() == str(os.getpid())
        with pytest.raises(BusyError), writer_lock(store, wait_seconds=0, sleep=slept.append):
            pass
    assert owner(store) is None


def test_the_lock_is_private_and_not_a_link(tmp_path: Path) -> None:
    store = str(tmp_path / "s" / "index.sqlite")
    with writer_lock(store, wait_seconds=0, sleep=lambda seconds: None):
        assert (tmp_path / "s").stat().st_mode & 0o777 == 0o700
        assert Path(store + ".lock").stat().st_mode & 0o777 == 0o600
    victim = tmp_path / "victim"
    victim.write_text("keep")
    Path(store + ".lock").unlink()
    Path(store + ".lock").symlink_to(victim)
    with pytest.raises(StoreError), writer_lock(store, wait_seconds=0, sleep=lambda seconds: None):
        pass
    assert victim.read_text() == "keep"
    assert owner(str(tmp_path / "nowhere" / "x")) is None


def test_a_lock_file_that_is_deleted_while_it_is_waited_for_is_made_anew(tmp_path: Path) -> None:
    store = str(tmp_path / "s" / "index.sqlite")
    process = hold(store)

    def lose(seconds: float) -> None:
        Path(store + ".lock").unlink()
        end(process, kill=True)

    with writer_lock(store, wait_seconds=1, sleep=lose):
        assert _pid(store) == os.getpid()


_UNLINK_BEFORE_LOCKING: list[Path] = []


def _unlink(event: str, _: tuple[object, ...]) -> None:
    if event in {"fcntl.flock", "msvcrt.locking"} and _UNLINK_BEFORE_LOCKING:
        _UNLINK_BEFORE_LOCKING.pop().unlink()


def test_a_lock_on_a_file_that_is_deleted_before_it_is_locked_does_not_count(
    tmp_path: Path,
) -> None:
    """What is locked then is no file that another process would find."""
    store = str(tmp_path / "s" / "index.sqlite")
    sys.addaudithook(_unlink)
    _UNLINK_BEFORE_LOCKING.append(Path(store + ".lock"))
    with writer_lock(store, wait_seconds=0, sleep=lambda seconds: None):
        assert not _UNLINK_BEFORE_LOCKING
        assert _pid(store) == os.getpid()


def test_a_holder_shows_how_far_it_is_and_the_dead_show_nothing(tmp_path: Path) -> None:
    store = str(tmp_path / "index.sqlite")
    with writer_lock(store, wait_seconds=0, sleep=lambda seconds: None):
        before = owner(store)
        assert before is not None
        for work in (Work("embedding", 14_882, 67_275, 360.5), Work("reading", 1, 2, None)):
            show_work(store, work)
            assert owner(store) == before._replace(work=work)
    assert "reading 1 2" in Path(store + ".lock").read_text()
    assert owner(store) is None
