from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memcli.indexing.indexer import GROUP_BYTES, embed, index
from tests.hashing import HashingEncoder
from tests.store_check import assert_sound, dump, open_writer
from tests.support import by_night, make_settings

# Kills itself at the n-th change: after some of its statements, before its commit.
VICTIM = """
import os, signal, sys
from contextlib import contextmanager
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.hashing import HashingEncoder
from memcli.indexing import indexer
from memcli.indexing.indexer import embed, index
from memcli.store.sqlite.writer import Writer
from tests.support import FAR_FUTURE_NS, make_settings

left = int(sys.argv[4])
indexer.GROUP_BYTES = int(sys.argv[5])

class Mortal(Writer):
    @contextmanager
    def transaction(self, *, revise=True):
        global left
        with super().transaction(revise=revise):
            yield
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

writer = Mortal(sys.argv[3], lambda: FAR_FUTURE_NS)
index(writer, make_settings(Path(sys.argv[2])))
embed(writer, HashingEncoder())
"""
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory, workspaces: Path) -> str:
    store = str(tmp_path_factory.mktemp("rebuilt") / "index.sqlite")
    finish(workspaces / "engineer", store)
    return store


def finish(root: Path, store: str) -> int:
    writer = open_writer(store)
    report = index(writer, make_settings(root))
    embed(writer, HashingEncoder())
    writer.close()
    return report.unchanged


@pytest.mark.parametrize("changes", [1, 17, 36, *by_night(2, 5, 30, 35, 37, 38)])
@pytest.mark.parametrize("group_bytes", [1, GROUP_BYTES])
def test_a_killed_run_leaves_a_sound_file_and_is_resumed(
    tmp_path: Path, workspaces: Path, rebuilt: str, changes: int, group_bytes: int
) -> None:
    root, store = workspaces / "engineer", str(tmp_path / "index.sqlite")
    arguments = (str(REPOSITORY), str(root), store, str(changes), str(group_bytes))
    done = subprocess.run(
        [sys.executable, "-c", VICTIM, *arguments], check=False, capture_output=True, text=True
    )
    assert done.returncode == -9, done.stderr
    kept = Path(shutil.copytree(tmp_path, tmp_path / "kept")) / "index.sqlite"
    assert_sound(str(kept))
    unchanged, files = finish(root, store), len(list(root.rglob("*.md")))
    last = files + 2  # the change behind the files, which ends their last group
    if changes > last:
        assert unchanged == files
    elif group_bytes == 1:  # all but the file it was at, or the last one
        assert unchanged == (files - 1 if changes == last else max(0, changes - 2))
    else:
        assert unchanged == 0
    assert_sound(store)
    assert dump(store) == dump(rebuilt)
