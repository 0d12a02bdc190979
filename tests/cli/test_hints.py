"""What to do next is told once, by one function; programs get it in a field of its own."""

from __future__ import annotations

import ast
import contextlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memcli
from memcli.store.lock import writer_lock
from tests.commands import say
from tests.support import by_night, write

PACKAGE = Path(memcli.__file__).parent
QUESTION = '{"query": "pool", "relevant": "memory/2025-05-06.md"}\n'

CHUNKING = "the settings of chunks have changed: 33 files are to be stored again"
ENVIRONMENT = "memcli help settings"


def _run(*arguments: str) -> tuple[str, str]:
    return say(*arguments)[1:]


def _here(base: Path, environ: pytest.MonkeyPatch) -> None:
    environ.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    environ.setenv("MEMCLI_STORE", str(base / "index.sqlite"))
    environ.setenv("MEMCLI_WORKSPACE", str(base / "notes"))


@pytest.fixture(scope="module")
def indexed(workspaces: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Notes with a question, their index, and the receipt of a search."""
    base = tmp_path_factory.mktemp("indexed")
    folder = Path(shutil.copytree(workspaces / "engineer", base / "notes"))
    (folder / ".memcli").mkdir()
    (folder / ".memcli" / "questions.jsonl").write_text(QUESTION)
    with pytest.MonkeyPatch.context() as environ:
        _here(base, environ)
        _run("search", "pool", "--trace", str(base / "receipt.json"))
        _run("index")
    return base


@pytest.fixture
def notes(indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    _here(tmp_path, monkeypatch)
    return Path(shutil.copytree(indexed, tmp_path, dirs_exist_ok=True)) / "notes"


@pytest.fixture
def receipt(notes: Path, tmp_path: Path) -> str:
    return str(tmp_path / "receipt.json")


@pytest.fixture(
    params=["settings", "files", "not embedded", "model", "encoder", "lock", *by_night("both")]
)
def trouble(
    request: pytest.FixtureRequest, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Something that every command has to say a word about."""
    what, store = request.param, str(tmp_path / "index.sqlite")
    if what in ("settings", "both"):
        monkeypatch.setenv("MEMCLI_CHUNK_TOKENS", "90")
    if what in ("files", "both", "lock"):
        (notes / "memory" / "2026-02-18.md").write_text("# New\n\nA zebrafish in the pool.\n")
    if what == "not embedded":
        Path(store).unlink()
        monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
        _run("index")
        monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    if what == "model":
        monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "bundled")
    if what == "encoder":
        monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "openai")
    with contextlib.ExitStack() as held:
        if what == "lock":
            held.enter_context(writer_lock(store, wait_seconds=0, sleep=lambda _: None))
        yield what


COMMANDS = [
    ("status",),
    ("search", "pool", "--no-sync"),
    ("search", "pool", "--no-sync", "--require-semantic"),
    ("context", "pool", "--no-sync"),
    ("bench", "quality", "--no-sync"),
    ("index", "--dry-run"),
    ("compact",),
    ("search", "pool"),
    ("context", "pool"),
    ("index", "--wait", "0"),
]


def test_each_hint_is_printed_once_and_programs_get_it_in_a_field(
    trouble: str, tmp_path: Path
) -> None:
    def files() -> list[Path]:
        return [path for path in tmp_path.glob("index.sqlite*") if path.suffix != ".lock"]

    index = {path: path.read_bytes() for path in files()}
    for command in COMMANDS:
        for text in _run(*command):
            assert [line for line in text.splitlines() if line.count("Try:") > 1] == [], command
            assert text.count("changed files are not in") <= 1
        for path in files():
            path.unlink()
        for path, data in index.items():
            path.write_bytes(data)
    for command in COMMANDS[1:4]:
        out, err = _run(*command, "--json", "-v")
        assert "Try:" not in out
        _check_fields(trouble, json.loads(out or err.splitlines()[-1]))


def _check_fields(trouble: str, record: dict[str, Any]) -> None:
    if "retrievers" not in record:
        assert record["code"] == "no-retriever"
        assert record["hint"]
        return
    freshness, semantic = record["freshness"], record["retrievers"]["semantic"]
    told = {
        "settings": (freshness, CHUNKING, "memcli index"),
        "files": (freshness, "not synced", "memcli index"),
        "both": (freshness, CHUNKING, "memcli index"),
        "lock": (freshness, "not synced", "memcli index"),
        "not embedded": (semantic, "nothing is embedded yet", "memcli index"),
        "model": (semantic, "the index has vectors of another model", "memcli index"),
        "encoder": (semantic, "openai.url is not set in your own configuration", ENVIRONMENT),
    }
    where, reason, hint = told[trouble]
    assert (where["reason"], where["hint"]) == (reason, hint)


def test_a_replay_tells_of_a_stale_index_as_a_search_does(
    receipt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_CHUNK_TOKENS", "90")
    assert _run("bench", "replay", receipt, "--no-sync")[1] == (
        f"memcli: {CHUNKING}. Try: memcli index\n"
    )


def test_a_search_beside_a_writer_says_who_it_is_and_how_long_to_wait(
    notes: Path, tmp_path: Path
) -> None:
    (notes / "memory" / "2026-02-18.md").write_text("# New\n\nA zebrafish.\n")
    with writer_lock(str(tmp_path / "index.sqlite"), wait_seconds=0, sleep=lambda _: None):
        said = say("search", "zebrafish", "--mode", "keyword")
    assert (said.code, said.out) == (0, "")
    line = said.err.splitlines()[0]
    assert line.startswith(
        "memcli: 1 new file (memory/2026-02-18.md) is not in this answer (another memcli (pid "
    )
    assert line.endswith(" is writing the index). Try: memcli index --wait 600")


def _strings(code: str) -> Iterator[str]:
    """Give every string of a module that is not a docstring."""
    tree = ast.parse(code)
    documented = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node not in documented:
            yield str(node.value)


def test_hints_are_joined_to_texts_in_one_place() -> None:
    """The errors that end a command have theirs on a line of its own."""
    found = {
        file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.rglob("*.py")
        if "Try:" in (code := file.read_text("utf-8"))
        if any("Try:" in text for text in _strings(code))
    }
    assert found == {"render/reasons.py", "cli/main.py"}


def test_messages_say_what_an_answer_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other days, removed files, a cache that is no absolute path, a budget, a foreign path."""
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    notes = tmp_path / "notes"
    write(notes, "memory/2025-05-06.md", "# Log\n\n- We deploy the pool on Tuesdays.\n")
    write(notes, "MEMORY.md", "# Rules\n\nKeep it dry.\n")
    found = say("search", "deploy the pool in 2024", folder=notes)
    assert "None of these is of that time." in found.err
    found = say("search", "deploy the pool in 2025", folder=notes)
    assert "None of these" not in found.err
    assert not (notes / "relative").exists()
    found = say("get", str(tmp_path / "else" / "a.md"), folder=notes)
    assert found.err.startswith(f"memcli: {tmp_path}/else/a.md is outside of {notes}\n")
    (notes / "MEMORY.md").unlink()
    assert "memory: 1 file, 1 removed since" in say("status", folder=notes).out
    needed = re.search(
        r"needs (\d+) tokens", say("context", "pool", "--budget=9", folder=notes).err
    )
    assert needed
    assert "Tuesdays" in say("context", "pool", "--budget", needed[1], folder=notes).out
