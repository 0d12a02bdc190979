"""Vectors that the indexes of one user share."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from memcli.api.memory import Memory
from memcli.api.sync import Job, RunResult, Vectors, sync
from memcli.api.workspace import Workspace
from memcli.store.open import VECTORS
from memcli.store.sqlite import vector_cache
from memcli.store.sqlite.driver import rows
from memcli.store.sqlite.vector_cache import VERSION, VectorCache
from tests.support import write

DAY = 86_400


def opened(root: Path) -> Workspace:
    settings = {"embedding.encoder": "hashing", "secrets": "off"}
    return Memory.open(root, settings=settings).workspaces.lead


def notes(root: Path) -> Path:
    for number in range(6):
        write(root, f"memory/{number}.md", f"# Note {number}\n\nthe pool ran dry {number} times\n")
    return root


def run(root: Path, *, prune: bool = False) -> RunResult:
    with closing(opened(root)) as memory:
        return sync(memory, Job(prune=prune), Vectors(memory))


def shared() -> Path:
    return Path(os.environ["XDG_CACHE_HOME"]) / "memcli" / VECTORS


def counted() -> int:
    connection = apsw.Connection(str(shared()))
    try:
        return len(rows(connection, "SELECT 1 FROM vectors"))
    finally:
        connection.close()


def test_a_clone_a_moved_folder_and_a_folder_below_embed_nothing(tmp_path: Path) -> None:
    first = notes(tmp_path / "notes")
    assert run(first).embedded == 6
    clone = tmp_path / "clone"
    shutil.copytree(first, clone)
    moved = tmp_path / "moved"
    for root in (clone, first.rename(moved), moved / "memory"):
        done = run(root)
        assert (done.embedded, done.borrowed, done.pending) == (0, 6, 0), root
    stores = opened(clone).store, opened(moved).store
    with stores[0].snapshot() as here, stores[1].snapshot() as there:
        ids = range(1, 7)
        assert here.vectors(ids) == there.vectors(ids) != {}


def test_private_notes_and_secrets_stay_in_their_own_index(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    write(root, "memory/a.md", "---\nscope: private\n---\nthe diagnosis\n")
    write(root, "memory/b.md", "the token is ghp_Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j\n")
    write(root, "memory/c.md", "the pool\n")
    assert run(root).embedded == 3
    assert counted() == 1
    shutil.copytree(root, tmp_path / "clone")
    assert run(tmp_path / "clone").borrowed == 1


@pytest.mark.parametrize("harm", ["damaged", "newer", "older", "foreign", "readable by others"])
def test_a_file_that_cannot_be_used_costs_nothing_but_the_sharing(
    tmp_path: Path, harm: str
) -> None:
    run(notes(tmp_path / "notes"))
    if harm == "damaged":
        shared().write_bytes(b"no database" * 1000)
    elif harm == "readable by others":
        shared().chmod(0o666)
    else:
        connection = apsw.Connection(str(shared()))
        if harm == "foreign":
            connection.execute("PRAGMA application_id = 7")
        else:
            connection.execute(f"PRAGMA user_version = {VERSION + (1 if harm == 'newer' else -1)}")
        connection.close()
    done = run(notes(tmp_path / "other"))
    assert (done.embedded, done.pending) == (6, 0)
    assert len(done.notices) == (harm != "older")
    assert all(str(shared()) in notice for notice in done.notices)
    if harm in ("older", "damaged"):  # the file is begun again, at once or by the next run
        run(tmp_path / "notes")
        assert (run(notes(tmp_path / "third")).embedded == 0) is (harm == "older")
        assert run(notes(tmp_path / "fourth")).embedded == 0


def test_the_vectors_that_were_not_used_for_longest_go_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_cache, "MOST_BYTES", 1 << 19)
    path = str(tmp_path / "c" / VECTORS)
    cache = VectorCache(path)
    made = [(number.to_bytes(16, "big"), bytes(384)) for number in range(2_000)]
    for day in range(20):
        cache.put("f", made[100 * day : 100 * day + 100], day * DAY)
        cache.get("f", [made[0][0]], day * DAY)
    kept = cache.get("f", [hash_ for hash_, _ in made], 20 * DAY)
    assert made[0][0] in kept
    assert made[-1][0] in kept
    assert made[1][0] not in kept
    assert 500 < len(kept) < 1_500
    assert cache.get("another", [made[0][0]], 0) == {}
    cache.close()
    assert not cache.problem


def test_pruning_forgets_what_no_run_has_used_today(tmp_path: Path) -> None:
    root = notes(tmp_path / "notes")
    run(root)
    connection = apsw.Connection(str(shared()))
    connection.execute("UPDATE vectors SET used_day = used_day - 1 WHERE id > 2")
    connection.close()
    run(root, prune=True)
    assert counted() == 2


def test_a_file_that_cannot_be_made_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file where the folder should be")
    full = VectorCache(str(tmp_path / "file" / VECTORS))
    full.put("f", [(b"h", b"v")], 0)
    assert "cannot be" in full.problem
