"""The whole surface works where every connection is refused, as no command needs one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.processes import run

# Python runs it before memcli: whoever looks up a name or connects has failed.
REFUSE = """
import os, sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.bind",
                 "socket.sendto", "urllib.Request", "http.client.connect"):
        os.write(2, f"reached out: {event} {arguments}".encode())
        os._exit(99)
sys.addaudithook(refuse)
"""
QUESTION = '{"query": "why did the pool run dry", "relevant": [{"path": "MEMORY.md"}]}\n'


@pytest.fixture
def notes(workspaces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(REFUSE)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'site'}{os.pathsep}{Path(__file__).parents[2]}")
    (tmp_path / "questions.jsonl").write_text(QUESTION)
    monkeypatch.chdir(tmp_path)
    return str(shutil.copytree(workspaces / "engineer", tmp_path / "notes"))


def test_a_connection_would_be_noticed(notes: str) -> None:
    done = run("index", "-w", notes, MEMCLI_OPENAI_URL="http://192.0.2.1/v1",
               MEMCLI_OPENAI_MODEL="m", MEMCLI_OPENAI_DIMENSION="8",
               MEMCLI_EMBEDDING_ENCODER="openai")  # fmt: skip
    assert (done.returncode, "reached out: " in done.stderr) == (99, True)


def test_no_command_connects_to_anything(notes: str) -> None:
    commands = (
        "index", "index --full", "search pool --receipt receipt.json --mode dense --expand",
        "search pool --why-not MEMORY.md", "context pool", "get MEMORY.md", "status --deep",
        "compact --apply", "compact --verify", "compact --undo", "config --init", "config",
        "bench init --out drafts.jsonl", "bench lane questions.jsonl --no-speed",
        "bench report --html report.html", "bench replay receipt.json", "help ranking",
        "--version", "--help",
    )  # fmt: skip
    for line in commands:
        words = line.split()
        where = [] if words[0] in ("help", "--version", "--help") else ["-w", notes]
        done = run(*words, *where)
        assert "reached out" not in done.stderr, (line, done.stderr)
        assert done.returncode in (0, 1), (line, done.returncode, done.stderr)


# What the runtime would tell its makers begins with a file in TMPDIR; its connections are beyond
# what Python sees.
@pytest.mark.parametrize(
    "opened",
    [
        "memory.query_encoder.encode_query('pool', Remembered(None, None))",
        "memory.open_encoder()",
        "open_model(locate()[0].path, 1)",
    ],
)
def test_the_model_runtime_reports_nothing(
    notes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: str
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    program = (
        "import contextlib, memcli\n"
        "from memcli.embedding.choice import Remembered\n"
        "from memcli.embedding.local import open_model\n"
        "from memcli.embedding.models import locate\n"
        f"memory = memcli.Memory.open({notes!r})\n"
        "with contextlib.suppress(memcli.errors.LegMissingError):\n"
        f"    {opened}\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert [*(tmp_path / "tmp").iterdir()] == []
