from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memcli.indexing.indexer import embed, index
from tests.hashing import HashingEncoder
from tests.store_check import assert_sound, dump, open_writer
from tests.support import make_settings

# Kills itself at the n-th transaction: after some of its statements, before its commit.
VICTIM = """
import os, signal, sys
from contextlib import contextmanager
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.hashing import HashingEncoder
from memcli.indexing.indexer import embed, index
from memcli.store.sqlite.writer import Writer
from tests.support import FAR_FUTURE_NS, make_settings

left = int(sys.argv[4])

class Mortal(Writer):
    @contextmanager
    def transaction(self, *, revise=True):
        global left
        with super().transaction(revise=revise):
            yield
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

writer = Mortal.open(sys.argv[3], lambda: FAR_FUTURE_NS)
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


@pytest.mark.parametrize("transactions", [1, 2, 5, 17, 30, 35, 36, 37, 38])
def test_a_killed_run_leaves_a_sound_file_and_is_resumed(
    tmp_path: Path, workspaces: Path, rebuilt: str, transactions: int
) -> None:
    root, store = workspaces / "engineer", str(tmp_path / "index.sqlite")
    done = subprocess.run(
        [sys.executable, "-c", VICTIM, str(REPOSITORY), str(root), store, str(transactions)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == -9, done.stderr
    kept = Path(shutil.copytree(tmp_path, tmp_path / "kept")) / "index.sqlite"
    assert_sound(str(kept))
    unchanged = finish(root, store)
    assert unchanged == min(max(0, transactions - 2), len(list(root.rglob("*.md"))))
    assert_sound(store)
    assert dump(store) == dump(rebuilt)
