"""An append is whole or not at all, whoever else writes, and nothing that stood is touched."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memcli.errors import BusyError, NotFoundError, UsageError
from memcli.remember import append
from memcli.remember.append import AppendedNote
from memcli.remember.block import Note, PlacedNote, place

OLD = "# Log\n\n- 09:00 one\n- 09:01 two\n"


def make(text: str) -> Callable[[bytes | None], PlacedNote]:
    return lambda data: place(data, Note(text), name="log.md", title="Log")


def at_once(seconds: float) -> None:
    """Wait for nobody."""


def add(
    root: Path, text: str, path: str = "memory/log.md", *, sleep: Callable[[float], None] = at_once
) -> AppendedNote:
    return append.append(str(root), path, make(text), announce=lambda made: None, sleep=sleep)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    file = tmp_path / "memory" / "log.md"
    file.write_text(OLD, "utf-8")
    return file


def test_a_note_is_written_behind_the_rest_and_taken_back_to_the_byte(
    log: Path, tmp_path: Path
) -> None:
    inode = log.stat().st_ino
    made = add(tmp_path, "three\nand more")
    assert log.read_text("utf-8") == f"{OLD}- three\n  and more\n"
    assert (made.first_line, made.last_line, made.before, made.is_new) == (5, 6, len(OLD), False)
    assert append.take_back(str(tmp_path), made, sleep=at_once) == ""
    assert (log.read_text("utf-8"), log.stat().st_ino) == (OLD, inode)
    new = add(tmp_path, "one", "a/b/log.md")
    assert (tmp_path / "a/b/log.md").read_text("utf-8") == "# Log\n\n- one\n"
    assert (new.is_new, new.first_line, names(tmp_path / "a/b")) == (True, 3, ["log.md"])
    (tmp_path / "a/b/other.md").touch()
    assert append.take_back(str(tmp_path), new, sleep=at_once) == ""
    assert not (tmp_path / "a/b/log.md").exists()
    assert append.take_back(str(tmp_path), new, sleep=at_once) == "the file is gone"


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (lambda text: text + "- four\n", f"{OLD}\n- four\n"),  # later lines keep their numbers
        (lambda text: text.replace("one", "eleven"), OLD.replace("one", "eleven")),
        (lambda text: "x" + text, f"x{OLD}"),
    ],
)
def test_a_note_is_removed_wherever_its_lines_are_now(
    log: Path, tmp_path: Path, change: Callable[[str], str], left: str
) -> None:
    made = add(tmp_path, "three")
    log.write_text(change(log.read_text("utf-8")), "utf-8")
    log.chmod(0o600)
    assert append.take_back(str(tmp_path), made, sleep=at_once) == ""
    assert log.read_text("utf-8") == left
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: text.replace("three", "THREE"), "its lines have changed since"),
        (lambda text: text[:-3], "its lines have changed since"),
        (lambda text: text.replace("\n- three", "- three"), "its lines have changed since"),
        (lambda text: f"- three\n{text}- four\n", "its lines are there twice"),
    ],
)
def test_a_note_with_changed_lines_is_left(
    log: Path, tmp_path: Path, change: Callable[[str], str], why: str
) -> None:
    made = add(tmp_path, "three")
    changed = change(log.read_text("utf-8"))
    log.write_text(changed, "utf-8")
    assert append.take_back(str(tmp_path), made, sleep=at_once) == why
    assert log.read_text("utf-8") == changed


def test_a_note_in_utf_16_is_removed_only_from_the_end(log: Path, tmp_path: Path) -> None:
    log.write_text(OLD, "utf-16")
    made = add(tmp_path, "three")
    log.write_text(f"# New\n{OLD}- three\n", "utf-16")
    assert append.take_back(str(tmp_path), made, sleep=at_once) == ""
    assert log.read_text("utf-16") == f"# New\n{OLD}"
    made = add(tmp_path, "three")
    changed = f"{OLD}- three\n- four\n".encode("utf-16")
    log.write_bytes(changed)
    assert append.take_back(str(tmp_path), made, sleep=at_once) == "its lines have changed since"
    assert log.read_bytes() == changed


@pytest.mark.parametrize("name", ["memory/log.md", "memory"])
def test_no_link_is_followed(log: Path, tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / name).rename(elsewhere)
    (tmp_path / name).symlink_to(elsewhere)
    with pytest.raises(NotFoundError, match="is a link"):
        add(tmp_path, "three")
    kept = elsewhere if elsewhere.is_file() else elsewhere / "log.md"
    assert kept.read_text("utf-8") == OLD


def test_no_pipe_and_no_folder_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    for name in ("pipe.md", "folder.md"):
        with pytest.raises(UsageError, match="cannot be written"):
            add(tmp_path, "three", name)


NOBODY = 65534


def _in_a_child(prepare: Callable[[], object], root: Path, text: str, path: str) -> str:
    """Append in a process that something was done to, and give what it says."""
    ours, theirs = os.pipe()
    if not (child := os.fork()):
        try:
            prepare()
            add(root, text, path)
            os.write(theirs, b"kept")
        except UsageError as error:
            os.write(theirs, f"{error.hint}: {error.message}".encode())
        finally:
            os._exit(0)
    os.close(theirs)
    os.waitpid(child, 0)
    with os.fdopen(ours, "rb") as told:
        return told.read().decode()


def test_a_file_of_another_user_is_refused(log: Path, tmp_path: Path) -> None:
    def another_user() -> None:
        if not os.getuid():  # whom no permission stops
            os.setuid(NOBODY)

    tmp_path.chmod(0o755)
    log.chmod(0o444)
    with _reachable(tmp_path):
        told = _in_a_child(another_user, tmp_path, "three", "memory/log.md")
        new = _in_a_child(another_user, tmp_path, "three", "memory/new.md")
        far = _in_a_child(another_user, tmp_path, "three", "new/and/new.md")
    assert told.endswith("cannot be written: Permission denied")
    assert told.startswith(f"ls -ld {log}: ")
    assert new.startswith(f"ls -ld {log.parent}: ")  # what is not there cannot be listed
    assert far.startswith(f"ls -ld {tmp_path}: ")
    assert log.read_text("utf-8") == OLD


@contextmanager
def _reachable(folder: Path) -> Iterator[None]:
    """Let everybody pass through the folders above one."""
    above = [each for each in folder.parents if each.stat().st_uid == os.getuid()]
    modes = [each.stat().st_mode for each in above]
    for each, mode in zip(above, modes, strict=True):
        each.chmod(mode | 0o111)
    try:
        yield
    finally:
        for each, mode in zip(above, modes, strict=True):
            each.chmod(mode)


def _with_room(root: Path, room: int, text: str, path: str) -> str:
    """Append in a process that may write files of so many bytes at most, as on a full disk."""

    def full() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    return _in_a_child(full, root, text, path)


@pytest.mark.parametrize("room", [0, 3, 10])
def test_what_a_full_disk_cuts_short_is_no_part_of_the_file(
    log: Path, tmp_path: Path, room: int
) -> None:
    for path, size in (("memory/log.md", len(OLD)), ("memory/new.md", 0)):
        told = _with_room(tmp_path, size + room, "a note of some length", path)
        assert "cannot be written: " in told
        assert told.startswith("make room, then the same command: ")
    assert log.read_text("utf-8") == OLD
    assert names(tmp_path / "memory") == ["log.md"]


def test_a_locked_file_is_waited_for_and_then_left(log: Path, tmp_path: Path) -> None:
    import fcntl

    with log.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(BusyError, match=r"another process is writing memory/log\.md"):
            add(tmp_path, "three")
    assert log.read_text("utf-8") == OLD


def test_a_file_that_an_editor_writes_anew_meanwhile_gets_the_note(
    log: Path, tmp_path: Path
) -> None:
    """The one that was opened is gone when its lock is there."""
    import fcntl

    other = log.open("rb")
    fcntl.flock(other, fcntl.LOCK_EX)

    def sleep(_: float) -> None:
        if not other.closed:
            (tmp_path / "new").write_text("# Anew\n", "utf-8")
            (tmp_path / "new").rename(log)
            other.close()

    append.append(
        str(tmp_path), "memory/log.md", make("three"), announce=lambda m: None, sleep=sleep
    )
    assert log.read_text("utf-8") == "# Anew\n\n- three\n"


@pytest.mark.parametrize("written", [1, 4, 7])
def test_a_write_that_was_killed_within_is_finished(
    log: Path, tmp_path: Path, written: int
) -> None:
    made = add(tmp_path, "three")
    whole = log.read_text("utf-8")
    os.truncate(log, made.before + written)
    append.finish(str(tmp_path), made, sleep=at_once)
    assert log.read_text("utf-8") == whole
    log.write_text(OLD + "- someone else\n", "utf-8")
    append.finish(str(tmp_path), made, sleep=at_once)
    assert log.read_text("utf-8") == OLD + "- someone else\n"


def test_leftovers_of_a_killed_process_are_removed_and_those_of_a_living_one_kept(
    tmp_path: Path,
) -> None:
    import fcntl

    dead, living = tmp_path / ".memcli-new-1-a.md", tmp_path / ".memcli-new-2-b.md"
    dead.write_text("half", "utf-8")
    living.write_text("half", "utf-8")
    with living.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        add(tmp_path, "one", "new.md")
    assert names(tmp_path) == [living.name, "new.md"]
