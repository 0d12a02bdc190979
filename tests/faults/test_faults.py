"""A spread sample of what `python -m tests.faults` tries wholly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from memcli.errors import IncompleteError, StoreError
from memcli.store.sqlite.driver import translated
from memcli.store.sqlite.reader import Reader
from tests.faults.disk import ANY, Disk, Position, faulty_disk
from tests.faults.power import RUNS, Blackout, Loss, Platter
from tests.faults.slow import READING, WRITING, problems
from tests.faults.trial import Trial
from tests.faults.verbs import VERBS, indexed, place, run
from tests.store_check import open_writer

pytestmark = pytest.mark.nightly
LIKE_OTHERS = ("condensed", "search")  # that the long form tries


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with place(tmp_path / "place"), faulty_disk(tmp_path / "place" / "store") as made:
        yield made


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in LIKE_OTHERS])
def test_one_fault_of_the_disk_costs_one_run_at_most(tmp_path: Path, disk: Disk, verb: str) -> None:
    trial = Trial(VERBS[verb], tmp_path, disk)
    found = [each for at in trial.positions(6) for each in trial.findings(at)]
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize(
    ("verb", "line"),
    [("edit", READING[0]), ("full", WRITING[1]), ("remote edit", READING[0]),
     ("search", WRITING[0])],
)  # fmt: skip
def test_others_that_come_in_where_the_disk_is_slow_get_their_answer_or_are_told(
    tmp_path: Path, disk: Disk, verb: str, line: str
) -> None:
    trial = Trial(VERBS[verb], tmp_path, disk)
    steps = trial.counts[ANY]
    found = [each for at in range(7) for each in problems(trial, line, 1 + at * steps // 7)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("run", "network"),
    [("edit", False), ("edit", True), ("full", False), ("begun", False), ("migrate", True)],
)
def test_a_loss_of_power_leaves_what_the_next_run_brings_in_step(
    tmp_path: Path, disk: Disk, run: str, network: bool
) -> None:
    cut = Blackout(RUNS[run], tmp_path, disk, network=network)
    tried = [(loss, cut.findings(loss, files)) for loss, files in cut.losses(25)]
    assert len(tried) >= 6
    assert not [found for _, found in tried if found]


def test_a_file_that_is_cut_shorter_stays_so_where_its_journal_is_gone(
    tmp_path: Path, disk: Disk
) -> None:
    """On a network mount VACUUM does it in this order, and a disk may keep the second alone."""
    cut = Blackout(RUNS["migrate"], tmp_path, disk, network=True)
    done = [(event.operation, event.path.endswith("-journal")) for event in cut.events]
    after = done.index(("truncate", False), done.index(("delete", True)))
    assert done[after - 1] == ("delete", True)
    tried = [(loss, files) for loss, files in cut.losses() if loss.event == after]
    assert tried
    assert [told for loss, files in tried for told in cut.findings(loss, files)] == []


def test_a_reader_takes_a_change_that_was_cut_off_for_what_it_is(
    tmp_path: Path, disk: Disk
) -> None:
    """On a network mount the half of a change stands in the file until a writer takes it back."""
    cut = Blackout(RUNS["edit"], tmp_path, disk, network=True)
    ends = [n for n, event in enumerate(cut.events) if event.operation == "delete"]
    platter = Platter(cut.before)
    for event in cut.events[: ends[0]]:
        platter.take(event)
    files = platter.after(Loss(ends[0] - 1, "all"))
    assert files[cut.store] != cut.before[cut.store]
    cut.lay_out(files)
    with pytest.raises(IncompleteError, match=r"a change of the index .* was cut off"):
        Reader(cut.store)
    code, out, err = run("search pool --no-sync", tmp_path / "place")
    assert (code, out) == (4, "")
    assert err.endswith(f"was cut off\nTry: memcli index -w {tmp_path / 'place' / 'ws'}\n")
    assert run("search pool", tmp_path / "place")[0] == 0
    assert run("search pool --no-sync", tmp_path / "place")[0] == 0


def test_a_read_that_fails_before_the_vectors_are_searched_is_an_error_of_the_index(
    tmp_path: Path, disk: Disk
) -> None:
    base = tmp_path / "place"
    base.mkdir()
    indexed(base)
    store = str(base / "store" / "index.sqlite")
    for number in range(1, 20):
        writer = open_writer(store)
        facts = writer.facts
        assert facts.fingerprint is not None
        assert facts.dimension is not None
        writer.connection.release_memory()
        disk.arm(Position("read", "unread", number))
        told = ""
        try:
            writer.search_by(facts.fingerprint, facts.dimension)
        except StoreError as error:
            told = error.message
        struck = disk.struck
        disk.arm(None)
        writer.close()
        assert ("cannot be read: disk I/O error" in told) == struck
        if not struck:
            break
    assert number > 2


def test_a_full_disk_below_sqlite_vec_is_told_as_one(tmp_path: Path, disk: Disk) -> None:
    """It has an error of its own where a page that makes room for its rows cannot be written."""
    trial = Trial(VERBS["remote edit"], tmp_path, disk)
    writes = [at for at in trial.positions(None) if (at.operation, at.kind) == ("write", "full")]
    tried = writes[len(writes) * 3 // 4 : len(writes) * 6 // 7 : 2]
    assert len(tried) > 7
    assert [each for at in tried for each in trial.findings(at)] == []


@pytest.mark.parametrize(
    ("kind", "code", "told"),
    [
        (apsw.FullError, apsw.SQLITE_FULL, "written: x; free some space, then run memcli index"),
        (apsw.IOError, apsw.SQLITE_IOERR_SHMSIZE, "written: x; free some space"),
        (apsw.IOError, apsw.SQLITE_IOERR_LOCK, "read: x; run the command again, and memcli"),
        (apsw.IOError, apsw.SQLITE_IOERR_CORRUPTFS, "read: x; run the command again"),
    ],
)
def test_a_fault_is_told_with_what_helps(kind: type[apsw.Error], code: int, told: str) -> None:
    for text in ("x", "not an error"):
        fault = kind(text)
        fault.extendedresult = code  # type: ignore[attr-defined]
        with pytest.raises(StoreError) as caught, translated("i.sqlite"):
            raise fault
        said = f"{caught.value.message}; {caught.value.hint}"
        told_ = told.replace("x;", "disk I/O error;") if text != "x" else told
        assert f"the index i.sqlite cannot be {told_}" in said
