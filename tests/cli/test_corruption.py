"""No damage of the index is a bug report: each cell and each page of a small one is spoilt in turn.

Every command then answers, or says with exit 4 what is wrong; and what the hint says mends it.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from memcli.cli.main import run

BYTES, WORD = b"\xff\xfe", "\x00x"
PAGE = 4096
COMMANDS = (
    ["search", "heron", "--no-sync"],
    ["search", "heron", "--explain", "--view", "active", "--expand"],
    ["context", "heron", "--budget", "300"],
    ["context", "--budget", "300"],
    ["status", "--deep"],
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with its index, which is copied for each spoilt cell."""
    home = tmp_path_factory.mktemp("sound")
    (home / "notes" / "memory" / "summaries").mkdir(parents=True)
    (home / "notes" / "MEMORY.md").write_text(
        "---\ntags: [birds]\n---\n# Facts\n\nThe heron nests in the reeds, see [[2026-01-02]].\n"
    )
    for day in range(1, 4):
        log = home / "notes" / "memory" / f"2026-01-0{day}.md"
        log.write_text(f"# Walk {day}\n\nA heron, {day} kingfishers and a mill.\n")
    with pytest.MonkeyPatch.context() as patch:
        _at(patch, home)
        assert _run("index") == (0, "")
        assert _run("compact", "--apply")[0] == 0
        assert _run("index")[0] == 0
    connection = sqlite3.connect(home / "index.sqlite")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    return home


def _at(patch: pytest.MonkeyPatch, home: Path) -> None:
    patch.chdir(home / "notes")
    patch.setenv("MEMCLI_STORE", str(home / "index.sqlite"))
    patch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    patch.setenv("MEMCLI_COMPACT_TAIL_RECORDS", "0")
    patch.setenv("MEMCLI_COMPACT_TAIL_TOKENS", "0")
    patch.setenv("MEMCLI_COMPACT_CLUSTER", "2")


def _run(*arguments: str) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([*arguments, "-q"] if arguments[0] == "index" else list(arguments))
    return code, err.getvalue()


def _spoilt(sound: Path, tmp_path: Path) -> Path:
    shutil.copytree(sound, tmp_path / "home", copy_function=shutil.copy2)
    return tmp_path / "home"


def _cells(sound: Path) -> Iterator[tuple[str, str]]:
    connection = sqlite3.connect(sound / "index.sqlite")
    for table in ("meta", "documents", "chunks", "parts", "vectors", "slots", "lineage"):
        for _, column, *_ in connection.execute(f"PRAGMA table_info({table})"):
            yield table, column
    connection.close()


def _is_answered_and_mended() -> None:
    for command in COMMANDS:
        code, told = _run(*command)
        assert code in (0, 4), (command, code, told)
    refused = [
        told for command in (["index"], *COMMANDS) for code, told in [_run(*command)] if code
    ]
    if refused:
        assert all("memcli index --full" in told for told in refused), refused
        assert _run("index", "--full")[0] == 0
        for command in COMMANDS:
            code, told = _run(*command)
            assert code == 0, (command, told)


@pytest.mark.parametrize("value", [BYTES, WORD], ids=["bytes", "word"])
def test_no_cell_leads_to_a_bug_report(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: object
) -> None:
    tried = 0
    for number, (table, column) in enumerate(_cells(sound)):
        home = _spoilt(sound, tmp_path / str(number))
        _at(monkeypatch, home)
        connection = sqlite3.connect(home / "index.sqlite")
        try:
            with connection:
                connection.execute(
                    f'UPDATE {table} SET "{column}" = ? WHERE rowid IN'
                    f" (SELECT max(rowid) FROM {table})"
                    if table != "meta"
                    else f'UPDATE meta SET "{column}" = ? WHERE key = (SELECT max(key) FROM meta)',
                    (value,),
                )
        except sqlite3.Error:  # a number of a row takes no text
            continue
        finally:
            connection.close()
        tried += 1
        try:
            _is_answered_and_mended()
        except AssertionError as error:
            raise AssertionError(f"{table}.{column} = {value!r}: {error}") from error
    assert tried > 50


def test_no_value_of_meta_leads_to_a_bug_report(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = sqlite3.connect(sound / "index.sqlite")
    keys = [key for (key,) in connection.execute("SELECT key FROM meta")]
    connection.close()
    assert len(keys) > 5
    for number, key in enumerate(keys):
        for value in (BYTES, WORD, "", "-1", "[1", "9" * 30):
            home = _spoilt(sound, tmp_path / f"{number}-{hash(value)}")
            _at(monkeypatch, home)
            connection = sqlite3.connect(home / "index.sqlite")
            with connection:
                connection.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))
            connection.close()
            try:
                _is_answered_and_mended()
            except AssertionError as error:
                raise AssertionError(f"meta {key} = {value!r}: {error}") from error


@pytest.mark.parametrize("filler", [b"\0", b"\x0a\x05"], ids=["zeros", "cells"])
def test_no_page_leads_to_a_bug_report(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filler: bytes
) -> None:
    pages = (sound / "index.sqlite").stat().st_size // PAGE
    assert pages > 20
    for page in range(pages):
        home = _spoilt(sound, tmp_path / str(page))
        _at(monkeypatch, home)
        with (home / "index.sqlite").open("r+b") as file:
            file.seek(page * PAGE)
            file.write((filler * PAGE)[:PAGE])
        try:
            _is_answered_and_mended()
        except AssertionError as error:
            raise AssertionError(f"page {page}: {error}") from error


@pytest.mark.parametrize("number", [-1, 999, 0])
def test_another_version_is_said(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    home = _spoilt(sound, tmp_path)
    _at(monkeypatch, home)
    connection = sqlite3.connect(home / "index.sqlite")
    connection.execute(f"PRAGMA user_version = {number}")
    connection.close()
    for command in COMMANDS:
        code, told = _run(*command)
        assert code in (0, 4), (command, code, told)
    if number == 999:  # that of a newer memcli is not touched
        code, told = _run("index")
        assert code == 4
        assert "newer memcli" in told
