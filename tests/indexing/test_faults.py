"""What the machine can do to an index: each case ends in a defined answer and the next command."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memcli.errors import StoreError
from memcli.indexing.freshness import Bounds, Freshness, freshen, look
from memcli.indexing.indexer import Report, embed, index
from memcli.indexing.planning import Settings
from memcli.indexing.rebuild import rebuild
from memcli.store.open import store_at
from memcli.store.port import Change, Store
from memcli.store.sqlite import driver
from memcli.store.sqlite.driver import DAMAGED_SUFFIX, connect, is_network_type, type_of
from memcli.store.sqlite.reader import Reader
from memcli.store.sqlite.writer import Writer
from memcli.types import Source
from memcli.workspace.discover import discover
from memcli.workspace.locate import default_source
from tests.hashing import HashingEncoder
from tests.store_check import assert_sound, dump, frequency, open_writer
from tests.support import FAR_FUTURE_NS, make_settings, write

ENCODER = HashingEncoder()
REPOSITORY = Path(__file__).parents[2]
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from tests.hashing import register
register()
from memcli.cli.main import run
sys.exit(run(sys.argv[2:]))
"""
# Without capabilities root is bound by the permissions of its own files.
POWERLESS = """
import ctypes, sys
class Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]
libc = ctypes.CDLL(None)
if hasattr(libc, "capset"):
    libc.capset(ctypes.byref(Header(0x20080522, 0)), (ctypes.c_uint32 * 6)())
from tests.hashing import register
register()
from memcli.cli.main import run
sys.exit(run(sys.argv[2:]))
"""


class Place:
    def __init__(self, base: Path) -> None:
        self.root, self.store = base / "ws", str(base / "s" / "index.sqlite")
        (self.root / "memory").mkdir(parents=True)

    @property
    def settings(self) -> Settings:
        return make_settings(self.root, default_source(str(self.root)))

    def write(self, *names: str, text: str = "the fox\n") -> None:
        for name in names:
            write(self.root, f"memory/{name}.md", f"# {name}\n\n{text}")

    def index(self) -> Report:
        writer = open_writer(self.store)
        try:
            report = index(writer, self.settings)
            embed(writer, ENCODER)
            return report
        finally:
            writer.close()

    def rebuild(self) -> Report:
        writer = open_writer(self.store)
        try:
            return rebuild(writer, self.settings, embed_into=embed_by_words)
        finally:
            writer.close()

    def freshen(self) -> Freshness:
        bounds = Bounds(seconds=50, segments=5, first=100, wait_seconds=0, monotonic=lambda: 0)
        return freshen(self.opened(), self.settings, bounds, lambda: None, lambda seconds: None)

    def look(self) -> Freshness:
        return look(self.opened(), self.settings)

    def opened(self) -> Store:
        return store_at(self.store, lambda: FAR_FUTURE_NS)

    def found(self) -> int:
        reader = Reader(self.store)
        try:
            return frequency(reader, "fox")
        finally:
            reader.close()

    def memcli(
        self, *arguments: str, program: str = POWERLESS, limit: int = 0
    ) -> subprocess.CompletedProcess[str]:
        """Run memcli in a process that a program has bound."""
        return subprocess.run(
            [sys.executable, "-c", program, str(limit), *arguments, "-w", str(self.root)],
            env={
                **os.environ,
                "MEMCLI_STORE": self.store,
                "MEMCLI_EMBEDDING_ENCODER": "hashing",
                "PYTHONPATH": str(REPOSITORY),
            },
            capture_output=True, text=True, check=False, cwd=self.root,
        )  # fmt: skip


def embed_by_words(change: Change) -> None:
    embed(change, ENCODER)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_full_disk_ends_the_run_and_the_old_index_answers(place: Place) -> None:
    place.write("a", "b")
    assert place.memcli("index").returncode == 0
    place.write(
        *(f"n{number}" for number in range(30)),
        text=f"fox {random.Random(1).randbytes(6000).hex()}",
    )
    limit = Path(place.store).stat().st_size + 100_000
    for command in (("index",), ("index", "--full")):
        done = place.memcli(*command, program=LIMITED, limit=limit)
        assert (done.returncode, done.stdout) == (4, "")
        message, hint = done.stderr.splitlines()
        assert message.startswith(f"memcli: the index {place.store}")
        assert "cannot be written" in message
        assert hint == "Try: free some space, then run memcli index"
        assert_sound(place.store)
    search = ("search", "fox", "-n", "100", "--mode", "keyword", "--json")
    answer = json.loads(place.memcli(*search, program=LIMITED, limit=limit).stdout)
    assert {"memory/a.md", "memory/b.md"} <= {r["path"] for r in answer["results"]}
    assert answer["freshness"]["state"] == "out_of_date"
    assert place.memcli("index", "--full").returncode == 0
    assert_sound(place.store)
    found, place.store = dump(place.store), place.store + ".new"
    assert place.memcli("index").returncode == 0
    assert found == dump(place.store)


def test_a_disk_that_is_full_before_the_tables_stand_is_no_bug(place: Place) -> None:
    place.write("a", "b")
    refused = 0
    for room in range(0, 300_000, 40_000):
        for command in (("index",), ("search", "fox", "--mode", "keyword", "-f", "paths")):
            done = place.memcli(*command, program=LIMITED, limit=room)
            if done.returncode == 0:
                continue
            refused += 1
            assert done.returncode == 4, done.stderr
            message, *_, hint = done.stderr.splitlines()
            assert message.startswith(f"memcli: the index {place.store} cannot be written"), message
            assert hint == "Try: free some space, then run memcli index"
    assert refused >= 6
    assert place.memcli("index").returncode == 0
    assert_sound(place.store)
    assert place.found() == 2


def test_a_damaged_index_that_has_no_place_to_go_names_it_and_the_way_out(place: Place) -> None:
    place.write("a")
    assert place.memcli("index").returncode == 0
    aside = Path(place.store + DAMAGED_SUFFIX)
    for beside in Path(place.store).parent.glob("index.sqlite-*"):
        beside.unlink()
    Path(place.store).write_bytes(b"no database " * 1000)
    (aside / "kept").mkdir(parents=True)
    done = place.memcli("index", "--full")
    assert (done.returncode, done.stdout) == (4, "")
    message, hint = done.stderr.splitlines()
    reason = os.strerror(errno.EISDIR)
    assert (
        message == f"memcli: the damaged index {place.store} cannot be moved to {aside}: {reason}"
    )
    assert hint == f"Try: move {aside} away, then run memcli index"
    aside.rename(aside.with_suffix(".away"))
    assert place.memcli("index").returncode == 0
    assert place.found() == 1


def test_a_search_on_a_damaged_store_says_so_and_mends_it_unless_told_not_to(place: Place) -> None:
    place.write("a")
    for damage, code in ((b"garbage", "is damaged"), (b"", "is not complete")):
        place.index()
        Path(place.store).write_bytes(damage)
        done = place.memcli("search", "fox", "--no-sync")
        assert (done.returncode, done.stdout) == (4, "")
        assert code in done.stderr
        assert "Try: memcli index" in done.stderr
        done = place.memcli("search", "fox", "-f", "paths")
        assert (done.returncode, done.stdout) == (0, "memory/a.md\n")
        assert ("kept as" in done.stderr) == bool(damage)


def test_a_folder_that_cannot_be_written_is_read_and_no_more(place: Place) -> None:
    place.write("a")
    place.index()
    folder = Path(place.store).parent
    Path(place.store + ".lock").touch()
    for file in folder.iterdir():
        file.chmod(0o400)
    folder.chmod(0o500)
    before = sorted(p.name for p in folder.iterdir())
    try:
        assert place.memcli("search", "fox", "--no-sync").returncode == 0
        place.write("b")
        done = place.memcli("search", "fox", "-f", "paths", "--mode", "keyword")
        assert (done.returncode, done.stdout) == (0, "memory/a.md\n")
        assert "1 new file (memory/b.md) is not in this answer" in done.stderr
        assert "cannot be written: Permission denied" in done.stderr
        for command in (("index",), ("index", "--full")):
            done = place.memcli(*command)
            assert (done.returncode, done.stdout) == (4, "")
            assert f"the index folder {folder} cannot be written" in done.stderr
            assert "Try: set MEMCLI_STORE to a file in a folder that can be written" in done.stderr
        assert sorted(p.name for p in folder.iterdir()) == before
    finally:
        folder.chmod(0o700)


def test_changes_beside_an_index_that_nobody_can_fold_are_not_passed_over(place: Place) -> None:
    place.write("a")
    place.index()
    folder = Path(place.store).parent
    Path(place.store + "-wal").write_bytes(b"page")
    folder.chmod(0o500)
    try:
        done = place.memcli("search", "fox", "--no-sync")
        assert (done.returncode, done.stdout) == (4, "")
        assert done.stderr.startswith(f"memcli: the index {place.store} cannot be opened\n")
        folder.chmod(0o700)
        Path(place.store + "-wal").write_bytes(b"")
        folder.chmod(0o500)
        done = place.memcli("search", "fox", "--no-sync", "-f", "paths")
        assert (done.returncode, done.stdout) == (0, "memory/a.md\n")
    finally:
        folder.chmod(0o700)


def test_a_file_that_cannot_be_read_keeps_its_rows_and_is_named(place: Place) -> None:
    place.write("a", "b")
    place.index()
    place.write("a", "c", text="a train\n")
    for name in "ac":
        (place.root / "memory" / f"{name}.md").chmod(0o000)
    for flag in ("--no-sync", "--mode=keyword"):
        done = place.memcli("search", "fox", "--json", flag)
        answer = json.loads(done.stdout)
        assert {r["path"] for r in answer["results"]} == {"memory/a.md", "memory/b.md"}
        assert "pending" not in answer.get("freshness", {})
        for name in "ac":
            assert f"memory/{name}.md cannot be read: Permission denied" in done.stderr
    for command in ("index", "index --full"):
        done = place.memcli(*command.split())
        assert done.returncode == 0
        assert "skipped memory/a.md: unreadable (Permission denied)" in done.stderr
        assert place.found() == 2
    assert_sound(place.store)


@pytest.mark.parametrize("gone", ["deleted", "replaced"])
def test_a_store_that_is_deleted_while_it_is_written_is_an_error(place: Place, gone: str) -> None:
    place.write("a", "b", "c")
    writer = open_writer(place.store)
    folder = Path(place.store).parent

    def lose(stage: str, done: int, total: int) -> None:
        if done == 1:
            shutil.rmtree(folder)
            if gone == "replaced":
                open_writer(place.store).close()

    with pytest.raises(StoreError, match="deleted or replaced while it was written") as caught:
        index(writer, place.settings, on_progress=lose)
    assert caught.value.hint == "memcli index"
    writer.close()
    assert len(place.index().added) == 3
    assert_sound(place.store)


def test_a_full_run_that_loses_the_old_index_publishes_nothing(place: Place) -> None:
    place.write("a")
    place.index()
    writer = open_writer(place.store)

    def lose(side: Change) -> None:
        Path(place.store).unlink()

    with pytest.raises(StoreError, match="deleted or replaced"):
        rebuild(writer, place.settings, embed_into=lose)
    writer.close()
    assert not Path(place.store).exists()
    assert place.index().added == ("memory/a.md",)


def test_a_memory_folder_comes_and_goes_alone(place: Place) -> None:
    write(place.root, "README.md", "about the fox\n")
    assert place.index().added == ("README.md",)
    place.write("a", "b")
    assert place.index()[:4] == (("memory/a.md", "memory/b.md"), (), (), ())
    shutil.rmtree(place.root / "memory")
    report = place.index()
    assert report[:4] == ((), (), (), ("memory/a.md", "memory/b.md"))
    assert (report.unlisted, report.out_of_scope, place.freshen().notices) == ((), (), ())


def test_an_unmounted_folder_keeps_its_rows(place: Place) -> None:
    """What `meta` remembers stands for the mount, which a test cannot make."""
    place.write("a", "disk/b", "disk/c")
    place.index()
    writer = open_writer(place.store)
    assert writer.fact("mounts") == "[]"
    writer.set_facts({"mounts": '[["memory", "memory/disk"]]'})
    writer.close()
    before = dump(place.store)
    disk, away = place.root / "memory" / "disk", place.root.parent / "away"
    disk.rename(away)
    disk.mkdir()
    for run in (place.index, place.rebuild, place.index):
        report = run()
        assert [(s.path, s.detail) for s in report.unlisted] == [
            ("memory/disk", "nothing is mounted there now")
        ]
        assert report.removed == ()
        assert dump(place.store) == before
    write(disk, "d.md", "somebody writes into the folder itself\n")
    assert place.index().removed == ("memory/disk/b.md", "memory/disk/c.md")


def test_mount_points_are_seen() -> None:
    """Every system has one below its root."""
    root = Path("/")
    mount = next(p.name for p in sorted(root.iterdir()) if p.is_mount() and not p.is_symlink())
    listing = discover([Source("s", "/", (f"{mount}/*.md",))], max_bytes=100)
    assert listing.mounts == (("s", mount),)


def test_a_clock_that_was_put_back_hides_no_edit(place: Place) -> None:
    """The edit has the size, the time and the inode of what was read."""
    place.write("a", text="the fox\n")
    file = place.root / "memory" / "a.md"
    place.index()
    late = FAR_FUTURE_NS
    writer = open_writer(place.store)
    before = file.stat()
    file.write_text("# a\n\nthe cat\n")
    os.utime(file, ns=(before.st_mtime_ns, before.st_mtime_ns))
    after = file.stat()
    writer.connection.execute(  # a file system that keeps no finer time of change
        "UPDATE documents SET ctime_ns = ? WHERE path = 'memory/a.md'", (after.st_ctime_ns,)
    )
    assert index(writer, place.settings).changed == ()
    earlier = place.settings._replace(now_ns=lambda: late - 1)
    assert index(writer, earlier).changed == ("memory/a.md",)
    assert index(writer, earlier).changed == ()
    writer.close()


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/u/x", "ext4"),
        ("/mnt/n a/deep", "nfs4"),
        ("/mnt/n a", "nfs4"),
        ("/mnt/n ab", "ext4"),
        ("/mnt/n a/local", "tmpfs"),
        ("/mnt/late", "cifs"),
    ],
)
def test_the_mount_that_holds_a_folder(folder: str, kind: str) -> None:
    table = (
        "/dev/a / ext4 rw 0 0\nhost:/x /mnt/n\\040a nfs4 rw 0 0\nx\n"
        "t /mnt/n\\040a/local tmpfs rw 0 0\nt /mnt/late tmpfs rw 0 0\n//h/s /mnt/late cifs rw 0 0\n"
    )
    assert type_of(folder, table) == kind


def test_which_file_systems_are_remote() -> None:
    names = ("nfs", "cifs", "fuse.sshfs", "fuse.rclone", "9p", "ext4", "tmpfs", "fuse.ntfs-3g", "")
    assert [n for n in names if is_network_type(n)] == list(names[:5])


def test_a_store_on_a_network_mount_goes_without_a_write_ahead_log(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write("a", "b")
    place.index()
    folder = Path(place.store).parent
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/a / ext4 rw 0 0\nhost:/x {folder} nfs4 rw 0 0\n")
    monkeypatch.setattr(driver, "MOUNTS", str(tmp_path / "no-such-table"))
    assert not driver.is_network(str(folder))

    def journal() -> str:
        connection = connect(place.store, write=False).connection
        try:
            return str(connection.pragma("journal_mode"))
        finally:
            connection.close()

    assert journal() == "wal"
    monkeypatch.setattr(driver, "MOUNTS", str(mounts))
    assert driver.is_network(str(folder))
    place.write("b", "c", text="the fox again\n")
    writer = Writer(place.store, lambda: FAR_FUTURE_NS)
    reader = Reader(place.store)
    assert writer.notices == []
    index(writer, place.settings)
    embed(writer, ENCODER)
    assert frequency(reader, "fox") == 3
    place.write("d")
    rebuild(writer, place.settings, embed_into=embed_by_words)
    assert (frequency(reader, "fox"), journal()) == (4, "delete")
    reader.close()
    writer.close()
    assert sorted(p.name for p in folder.iterdir()) == ["index.sqlite"]
    assert_sound(place.store)
    monkeypatch.setattr(driver, "MOUNTS", str(tmp_path / "no-such-table"))
    assert place.index().unchanged == 4
    assert journal() == "wal"


@pytest.mark.parametrize(
    ("line", "code"), [("status", 4), ("get memory/n0.md", 0), ("changes", 0), ("ls", 0)]
)
def test_with_a_damaged_page_a_command_answers_or_names_the_one_that_mends_it(
    place: Place, line: str, code: int
) -> None:
    place.write("n0", "n1")
    place.index()
    data = Path(place.store).read_bytes()[: 2 * 4096]
    Path(place.store).write_bytes(data.ljust(20 * 4096, b"\xff"))
    done = place.memcli(*line.split())
    assert done.returncode == code, done.stderr
    if code:
        assert "Try: memcli index --full" in done.stderr
        assert place.memcli("index", "--full").returncode == 0
        assert place.memcli(*line.split()).returncode == 0


def test_a_damaged_page_is_built_again_by_the_search_that_meets_it(place: Place) -> None:
    place.write(*(f"n{number}" for number in range(40)))
    place.index()
    data = bytearray(Path(place.store).read_bytes())
    schema = 2 * 4096
    data[schema:] = b"\xff" * len(data[schema:])
    Path(place.store).write_bytes(data)
    line = ("search", "fox", "-f", "paths", "-n", "100", "--more", "--mode", "keyword")
    done = place.memcli(*line)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 40), done.stderr
    assert done.stderr.count("kept as") == 1
    assert Path(place.store + DAMAGED_SUFFIX).read_bytes() == bytes(data)
    assert "kept as" not in place.memcli(*line).stderr
    assert_sound(place.store)
