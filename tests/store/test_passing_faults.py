"""What passes is no damage: an index that is sound at a second look is kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from memcli.store.sqlite.driver import DAMAGED_SUFFIX
from tests.commands import typed
from tests.faults.disk import FAULTS, Disk, Position, faulty_disk
from tests.store.damage import AFTER, make_index, results
from tests.support import by_night

SAMPLE = 12  # of the reads of a run


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    monkeypatch.setenv("MEMCLI_STORE", "")  # set by what makes the index, and put back
    root = tmp_path / "ws"
    make_index(root)
    return root


@pytest.fixture
def disk(notes: Path) -> Iterator[Disk]:
    with faulty_disk(notes.parent / "store") as made:
        yield made


@pytest.mark.parametrize("fault", FAULTS["read"])
@pytest.mark.parametrize(
    "command", ["status --deep", *by_night("index", "index --full", "search pool")]
)
def test_one_read_that_fails_costs_no_index(
    notes: Path, disk: Disk, command: str, fault: str
) -> None:
    store = Path(os.environ["MEMCLI_STORE"])
    before, (_, out, notice) = store.read_bytes(), typed(f"{AFTER} -w {notes}")
    right = results(out)
    assert "memory/binary.md is not searched" in notice
    disk.arm(None)
    assert typed(f"{command} -w {notes}")[0] == 0
    reads = disk.counts["read"]
    assert reads >= 10
    struck = 0
    for number in range(1, reads + 1, max(1, reads // SAMPLE)):
        for file in store.parent.iterdir():
            file.unlink()
        store.write_bytes(before)
        store.chmod(0o600)
        disk.arm(Position("read", fault, number))
        code, _, err = typed(f"{command} -w {notes}")
        struck += disk.struck
        disk.arm(None)
        assert code == 0 or (code, "\nTry: " in err) == (4, True), err
        assert "not an error" not in err
        assert not Path(f"{store}{DAMAGED_SUFFIX}").exists(), err
        code, out, err = typed(f"{AFTER} -w {notes}")
        assert (code, results(out), err) == (0, right, notice)
        assert " 0 texts embedded" in typed(f"index -w {notes}")[2]
    assert struck


def test_a_half_built_index_that_cannot_be_removed_is_named(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder may be one whose files nobody may remove."""
    beside = f"{os.environ['MEMCLI_STORE']}.next"
    real = os.remove

    def refusing(path: str) -> None:
        if path == beside:
            raise PermissionError(13, "Permission denied", path)
        real(path)

    Path(beside).write_bytes(b"half of an index")
    os.utime(beside, (1, 1))
    (notes / "memory" / "pool.md").unlink()
    monkeypatch.setattr("os.remove", refusing)
    note = f"memcli: {beside} cannot be removed: Permission denied; it may contain deleted text\n"
    code, out, err = typed(f"search handles -w {notes}")
    assert (code, "memory/pool.md" in out, err.count(note)) == (0, False, 1)
    (notes / "memory" / "2025-01-01.md").unlink()
    code, _, err = typed(f"index -w {notes}")
    assert (code, err.count(note)) == (0, 1)
    assert "1 removed" in err
