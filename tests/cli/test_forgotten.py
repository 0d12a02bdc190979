"""What is deleted from the memory leaves every byte of what memcli keeps of it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from memcli.store.sqlite.driver import _inflated
from memcli.store.sqlite.store import SqliteStore
from tests.cli.processes import run
from tests.support import write

# Each stands in one place of the note alone; the keyword index may leave out the beginning that
# a word shares with its neighbour, so the end is looked for.
PLACES = {
    "title": "qaxtitleword", "heading": "wzheadingword", "body": "kjbodyword", "link": "vlinkword",
    "front matter": "hymatterword", "table header": "pbtableword", "fence": "gqfenceword",
    "file name": "xnameword", "folder": "zfolderword", "date word": "rjdatedword",
}  # fmt: skip
REPOSITORY = Path(__file__).parents[2]
OTHERS = ("sumbodyword", "zzlineageword")
NOTE = f"""---
title: {PLACES["title"]}
secret: {PLACES["front matter"]}
---
# {PLACES["heading"]}

{PLACES["body"]} and [a]({PLACES["link"]}.md) 蘭亭序

## 2025-01-02 {PLACES["date word"]}

| {PLACES["table header"]} | b |
|---|---|
""" + "| cell of a long table that needs several parts | d |\n" * 60 + f"""
```{PLACES["fence"]}
code
```
"""  # fmt: skip
SUMMARY = """---
schema: memcli.summary/1
earliest: "2025-01-01"
latest: "2025-01-01"
confidence: 0.5
level: 1
parents: []
compacted: "2025-02-01T00:00:00+00:00"
method: extractive
tokens: {sources: 9, summary: 3}
seal: "00000000000000000000000000000000"
lineage:
- "memory/zzlineageword.md:1-2 00000000000000000000000000000000"
---
sumbodyword
"""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    for number in range(20):
        write(root, f"memory/{number}.md", f"# Kept {number}\n\nkeptword {number}\n")
    write(root, f"memory/{PLACES['folder']}/{PLACES['file name']}.md", NOTE)
    write(root, "memory/summaries/2025-01-01--2025-01-01.md", SUMMARY)
    return root


def left(store: Path, texts: Iterable[bytes] = ()) -> set[str]:
    """Tell which words are in any file of the index's folder, without their first letters.

    The texts are those of chunks as they are stored.
    """
    data = b"".join(file.read_bytes() for file in store.parent.iterdir() if file.is_file())
    words = {word for word in (*PLACES.values(), *OTHERS) if word[3:].encode() in data}
    return words | {repr(text) for text in texts if text in data}


def stored_texts(store: Path) -> list[bytes]:
    """Read the deflated texts of the chunks that will be deleted."""
    with closing(sqlite3.connect(store)) as connection:
        texts = [text for (text,) in connection.execute("SELECT text FROM chunks")]
    return [text for text in texts if b"keptword" not in _inflated(text, -zlib.MAX_WBITS)]


def do(notes: Path, store: Path, *arguments: str) -> str:
    done = run(*arguments, "-w", str(notes), MEMCLI_STORE=str(store),
               MEMCLI_EMBEDDING_ENCODER="hashing")  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stderr


def forget(notes: Path) -> None:
    folder = notes / "memory" / PLACES["folder"]
    (folder / f"{PLACES['file name']}.md").unlink()
    folder.rmdir()
    (notes / "memory/summaries/2025-01-01--2025-01-01.md").unlink()


@pytest.mark.parametrize("how", ["index", "index --full", "search keptword"])
def test_no_byte_of_a_deleted_note_is_left(notes: Path, tmp_path: Path, how: str) -> None:
    store = tmp_path / "store" / "index.sqlite"
    do(notes, store, "index")
    texts = stored_texts(store)
    assert left(store, texts) == {*PLACES.values(), *OTHERS, *map(repr, texts)}
    assert len(texts) > 3
    forget(notes)
    do(notes, store, *how.split())
    assert left(store, texts) == set()


@pytest.mark.parametrize("change", ["edited", "not embedded yet"])
def test_nor_of_a_text_that_was_replaced(notes: Path, tmp_path: Path, change: str) -> None:
    store = tmp_path / "store" / "index.sqlite"
    if change == "edited":
        do(notes, store, "index")
    else:
        do(notes, store, "search", "keptword")  # the texts wait for their vectors
    for file in notes.rglob("*.md"):
        if "Kept" not in file.read_text():
            file.write_text("# Replaced\n\nother words\n")
    do(notes, store, "index")
    assert left(store) == {PLACES["file name"], PLACES["folder"]}  # the file is still there


# Ends as the power does, at the n-th commit of the run.
VICTIM = """
import os, signal, sys
from contextlib import contextmanager
sys.path.insert(0, sys.argv.pop(1))
from tests.hashing import register
register()
from memcli.store.sqlite.writer import Writer
real, left = Writer.transaction, int(sys.argv[1])
@contextmanager
def mortal(self, *, revise=True):
    global left
    with real(self, revise=revise):
        yield
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
Writer.transaction = mortal
from memcli.cli.main import run
sys.exit(run(sys.argv[2:]))
"""


def killed(how: str, commits: int, notes: Path, store: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", VICTIM, str(REPOSITORY), str(commits), *how.split(),
         "-w", str(notes)],
        env={**os.environ, "MEMCLI_STORE": str(store), "MEMCLI_EMBEDDING_ENCODER": "hashing"},
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL


@pytest.mark.parametrize("commits", [1, 3])
@pytest.mark.parametrize("how", ["index", "index --full"])
def test_the_run_after_a_killed_one_forgets_all_the_same(
    notes: Path, tmp_path: Path, how: str, commits: int
) -> None:
    store = tmp_path / "store" / "index.sqlite"
    do(notes, store, "index")
    forget(notes)
    killed(how, commits, notes, store)
    do(notes, store, "index")
    assert left(store) == set()


def test_half_a_full_run_keeps_nothing_that_is_deleted_later(notes: Path, tmp_path: Path) -> None:
    store = tmp_path / "store" / "index.sqlite"
    do(notes, store, "index")
    killed("index --full", 24, notes, store)
    assert Path(f"{store}.next").exists()
    forget(notes)
    do(notes, store, "search", "keptword")
    assert left(store) == set()


@pytest.mark.parametrize("next_run", ["search keptword", "index"])
def test_what_a_reader_kept_is_said_and_leaves_with_the_next_search(
    notes: Path, tmp_path: Path, next_run: str
) -> None:
    store = tmp_path / "store" / "index.sqlite"
    do(notes, store, "index")
    forget(notes)
    with SqliteStore(str(store), time.time_ns).snapshot() as reader:
        assert reader.counts().documents == 22
        told = do(notes, store, "index")
        assert left(store) == {*PLACES.values(), *OTHERS}
    assert told == (
        f"memcli: another process is reading {store}: what was deleted leaves the file"
        " with the next search or run\n"
        "Indexed: 2 removed, 20 unchanged; 20 chunks, 0 texts embedded.\n"
    )
    do(notes, store, *next_run.split())
    assert left(store) == set()
