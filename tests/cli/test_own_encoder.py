"""An encoder that a program has registered goes through every command, as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli import processes
from tests.support import write

PROGRAM = (sys.executable, str(Path(__file__).parent / "own_encoder.py"))
QUESTION = '{"id": "dry", "query": "why did the pool run dry", "relevant": "memory/pool.md"}\n'


class Program:
    """A workspace, and commands run there by a program with an encoder of its own."""

    def __init__(self, base: Path) -> None:
        self.notes, self.log = base / "ws", base / "log"
        write(self.notes, "memory/pool.md", "# Pool\n\nThe pool ran dry.\n")
        write(self.notes, "memory/train.md", "# Train\n\nA train was late.\n")

    def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*PROGRAM, *arguments, "-w", str(self.notes)],
            env={**os.environ, "LETTERS_LOG": str(self.log)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done

    def record(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run(*arguments, "--json").stdout)
        return found

    def logged(self) -> list[str]:
        lines = self.log.read_text("utf-8").splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "letters")
    return Program(tmp_path)


def test_it_indexes_and_answers_by_its_quick_way(program: Program) -> None:
    assert program.record("index")["embedded"] == 2
    assert program.logged() == ["opens, check=True"]
    found = program.record("search", "why did the pool run dry", "-v")
    assert found["retrievers"]["semantic"] == {"ran": True, "embedded": 2, "total": 2}
    assert found["results"][0]["path"] == "memory/pool.md"
    # Its files are those that the index remembers, so they are not read again.
    asked = ["opens quickly, check=False", "embeds why did the pool run dry"]
    assert program.logged() == asked
    assert program.run("context", "why did the pool run dry").stdout
    assert program.logged() == asked
    assert program.record("index")["embedded"] == 0
    assert program.logged() == []


def test_what_is_known_of_its_model_counts(program: Program) -> None:
    program.run("index")
    found = program.record("search", "pool")["results"][0]
    assert 0 < found["confidence"] < 1
    assert "reads English" in program.record("search", "東京")["retrievers"]["semantic"]["reason"]


def test_status_and_bench_know_it(program: Program, tmp_path: Path) -> None:
    program.run("index")
    status = program.record("status", "--deep")
    assert status["vectors"]["encoder"] == "letters"
    assert status["vectors"]["fingerprint"] == "letters;dim=26"
    assert (status["state"], status["warnings"]) == ("up_to_date", [])
    questions = tmp_path / "questions.jsonl"
    questions.write_text(QUESTION)
    quality = program.record("bench", "quality", str(questions))
    assert quality["index"]["fingerprint"] == "letters;dim=26"
    assert quality["queries"][0]["rank"] == 1


def test_it_stands_in_for_another(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMCLI_EMBEDDING_ENCODER")
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "memcli" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[embedding]\nencoder = "onnx"\nfallback = ["letters"]\n')
    told = program.run("index").stderr
    assert "onnx.folder is not set" in told
    assert "memcli uses letters instead" in told


def test_the_file_of_a_workspace_cannot_choose_it(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMCLI_EMBEDDING_ENCODER")
    (program.notes / "memcli.toml").write_text('[embedding]\nencoder = "letters"\n')
    done = program.run("search", "pool", code=2)
    assert "embedding.encoder = 'letters' is allowed only in your own" in done.stderr


def test_only_its_program_knows_it(program: Program) -> None:
    refused = processes.run("index", "-w", str(program.notes))
    assert refused.returncode == 2
    listed = "must be one of auto, bundled, multilingual, onnx, openai, none, not 'letters'"
    assert listed in refused.stderr
    assert (
        listed.replace("letters", "words")
        in program.run("index", "--encoder", "words", code=2).stderr
    )
    shown = subprocess.run([*PROGRAM, "help", "settings"], capture_output=True, text=True)
    assert (shown.returncode, "letters" in shown.stdout) == (0, False)
