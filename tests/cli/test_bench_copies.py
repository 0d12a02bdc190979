"""What `bench speed` copies is removed, however the run ends."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memcli.cli.bench_speed import MARK, PREFIX, sweep, temporary_folder
from memcli.cli.stopping import Terminated
from memcli.errors import UsageError
from tests.cli.processes import run, start
from tests.support import write

pytestmark = pytest.mark.skipif(os.name != "posix", reason="bench speed needs POSIX")

# Runs in every Python of a bench: the one that measures tells its id, and the first one that works
# in the copy ends it, then stays until it is killed or told to go on.
SITE = """
import os
if not os.environ.get("MEMCLI_STORE", "").startswith(os.environ["TMPDIR"]):
    os.environ["BENCH"] = str(os.getpid())
elif os.path.exists(os.environ["ALIVE"]):
    alive = os.open(os.environ["ALIVE"], os.O_WRONLY)
    os.unlink(os.environ["ALIVE"])
    os.kill(int(os.environ["BENCH"]), int(os.environ["KILL"]))
    os.read(os.open(os.environ["GO_ON"], os.O_RDONLY), 1)
"""
SPEED = ("bench", "speed", "--documents", "3", "--runs", "2", "--mode", "keyword")
LEFT = "memcli: removed a copy of notes that runs of bench speed left when killed\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary place, and a workspace without notes."""
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    (tmp_path / "tmp").mkdir()
    write(tmp_path, "site/sitecustomize.py", SITE)
    for name in ("alive", "go-on"):
        os.mkfifo(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMCLI_WORKSPACE", str(tmp_path / "notes"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("ALIVE", str(tmp_path / "alive"))
    monkeypatch.setenv("GO_ON", str(tmp_path / "go-on"))
    yield tmp_path / "tmp"
    assert [*(tmp_path / "tmp").iterdir()] == []


def _killed(place: Path, number: signal.Signals) -> subprocess.Popen[str]:
    """Run a bench that is sent a signal while a process it started works in the copy."""
    site = str(place.parent / "site")
    bench = start(*SPEED, KILL=str(int(number)), PYTHONPATH=site)
    bench.wait()
    return bench


def _listen(place: Path) -> int:
    """Give what ends when the process that works in the copy has ended."""
    worker = os.open(place.parent / "alive", os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(worker, True)
    return worker


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_no_copy_and_no_process(place: Path, number: signal.Signals) -> None:
    worker = _listen(place)
    bench = _killed(place, number)
    told = bench.communicate()[1]
    assert os.read(worker, 1) == b""
    os.close(worker)
    if number == signal.SIGINT:
        assert (bench.returncode, told) == (130, "memcli: interrupted\n")
    else:
        assert (bench.returncode, told) == (-number, "")


def test_a_copy_that_a_kill_left_is_removed_once_nobody_uses_it(place: Path) -> None:
    worker = _listen(place)
    bench = _killed(place, signal.SIGKILL)
    (folder,) = place.iterdir()
    used = run("bench", "speed")
    assert "removed" not in used.stderr
    assert (folder / "notes" / "memory").is_dir()
    (place.parent / "go-on").write_text("!")
    assert os.read(worker, 1) == b""
    os.close(worker)
    bench.communicate()
    assert run("bench", "speed").stderr.startswith(LEFT)
    assert "removed" not in run("bench", "speed").stderr


def test_only_what_is_marked_and_our_own_is_removed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(place))
    kept = place.parent / "kept"
    write(kept, MARK, "")
    write(kept, "notes/a.md", "# A\n")
    (place / f"{PREFIX}link").symlink_to(kept)
    write(place, f"{PREFIX}results/notes/a.md", "# A\n")
    write(place, f"{PREFIX}file", "")
    (place / f"{PREFIX}odd" / MARK).mkdir(parents=True)
    write(place, f"{PREFIX}left/{MARK}", "")
    write(place, f"{PREFIX}left/notes/memory/a.md", "# A\n")
    (place / f"{PREFIX}left" / "outside").symlink_to(kept)
    others = {entry.name for entry in place.iterdir()} - {f"{PREFIX}left"}
    with monkeypatch.context() as another_user:
        another_user.setattr("os.geteuid", lambda: 1234567)
        assert sweep() == 0
    assert sweep() == 1
    assert {entry.name for entry in place.iterdir()} == others
    assert sorted(entry.name for entry in kept.iterdir()) == [MARK, "notes"]
    (place / f"{PREFIX}odd" / MARK).rmdir()
    (place / f"{PREFIX}results/notes/a.md").unlink()
    (place / f"{PREFIX}results/notes").rmdir()
    for entry in place.iterdir():
        entry.rmdir() if entry.is_dir() and not entry.is_symlink() else entry.unlink()


def test_a_folder_that_is_in_use_is_left_alone(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(place))
    with temporary_folder() as (folder, _):
        write(Path(folder), "notes/a.md", "# A\n")
        assert sweep() == 0
        assert (Path(folder) / "notes" / "a.md").exists()


def test_a_second_signal_does_not_disturb_the_tidying_up(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(place))
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))
    try:
        with pytest.raises(Terminated):
            _work_and_be_ended_twice()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert came == [signal.SIGTERM]


def _work_and_be_ended_twice() -> None:
    with temporary_folder() as (folder, _):
        write(Path(folder), "notes/a.md", "# A\n")
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGHUP)


def test_the_current_folder_is_no_place_to_import_from(place: Path) -> None:
    write(place.parent, "typer.py", "open('was-imported', 'w')\n")
    assert run(*SPEED).returncode == 0
    assert not (place.parent / "was-imported").exists()


def test_no_place_for_a_copy_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone" / "away"))
    with pytest.raises(UsageError, match="no temporary folder can be written"), temporary_folder():
        pass
