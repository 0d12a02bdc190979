"""The whole surface works where every connection is refused, and writes what the help says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from memcli.cli.command_help import command_tree
from memcli.cli.commands import store_command
from tests.cli.processes import run
from tests.commands import say
from tests.namespace import has_namespaces, run_inside
from tests.support import by_night

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
    found = QUESTION.replace("MEMORY.md", "memory/2025-06-12-incident-review.md")
    many = (found.replace("dry", f"dry {number}") for number in range(10))
    (tmp_path / "many.jsonl").write_text("".join(many))
    monkeypatch.chdir(tmp_path)
    return str(shutil.copytree(workspaces / "engineer", tmp_path / "notes"))


def test_a_connection_would_be_noticed(notes: str) -> None:
    done = run("index", "-w", notes, MEMCLI_OPENAI_URL="http://192.0.2.1/v1",
               MEMCLI_OPENAI_MODEL="m", MEMCLI_OPENAI_DIMENSION="8",
               MEMCLI_EMBEDDING_ENCODER="openai")  # fmt: skip
    assert (done.returncode, "reached out: " in done.stderr) == (99, True)


APPLY = "compact --apply --tail 4 --tail-days 0 --ratio 0.9"
COMMANDS = (
    "init", "index", "index --full", "index --dry-run",
    "search pool --trace receipt.json --mode semantic --expand",
    "search pool --why-not MEMORY.md",
    "search pool --rerank tokens", "related MEMORY.md:1", "context pool", "get MEMORY.md", "ls",
    "status --deep", APPLY, "compact --verify", "compact --undo",
    "config set search.limit 5",
    "config unset search.limit",
    "remember nobody", "remember --undo", "remember --check notes/MEMORY.md", "changes", "inbox",
    "agents list", "lint",
    "agents install codex --with mcp,skill --apply",
    "agents uninstall codex --apply",
    "agents export codex", "completion bash", "config get search",
    "config", "bench init --out drafts.jsonl", "bench check questions.jsonl --no-speed",
    "bench quality questions.jsonl --json", "bench report --html report.html",
    "bench replay receipt.json",
    "bench calibrate many.jsonl",
    "bench compare quality.json quality.json", "bench init", "help ranking", "--version", "--help",
    "hook session-start",  # last, as what limits its time would end the process
)  # fmt: skip
# It starts twenty processes, each a command that is tried by itself.
SLOW = ("bench speed --documents 20 --runs 2 --mode keyword",)
# What goes on until it is stopped, needs a person, or is about a server: by tests of their own.
ELSEWHERE = {"mcp", *(f"store {name}" for name in store_command.COMMANDS)}
# What comes into the folder of the notes, by `memcli help files`, and what takes it out again.
WRITTEN = {
    "config set search.limit 5": "memcli.toml",
    "config unset search.limit": "memcli.toml",
    APPLY: "memory/summaries/",
    "compact --undo": "memory/summaries/",
    "remember nobody": "memory/20",
    "remember --undo": "memory/20",
    "bench init": ".memcli/questions.jsonl",
}
HOME = {".codex", ".agents", "cache", "config"}  # below it


def _arguments(line: str, notes: str) -> list[str]:
    words = line.split()
    is_anywhere = words[0] in ("help", "completion", "--version", "--help")
    is_anywhere |= words[:2] in (["bench", "compare"], ["agents", "export"])
    return words if is_anywhere else [*words, "-w", notes]


def test_every_command_is_tried() -> None:
    tried = {" ".join(w for w in line.split()[:2] if w.isalpha()) for line in (*COMMANDS, *SLOW)}
    names = {command.name for command in command_tree()} - ELSEWHERE
    assert {name for name in names if not any(t.startswith(name) for t in tried)} == set()


def _files(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def try_all(notes: str, *lines: str) -> None:
    """Run command lines; Python's own attempts to connect end this process."""
    receipt = say("bench", "quality", "questions.jsonl", "--json", "-w", notes)
    Path("quality.json").write_text(receipt.out)
    after = _files(Path(notes))
    for line in lines:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
        said = say(*_arguments(line, notes))
        assert said.code in (0, 1), (line, said)
        before, after = after, _files(Path(notes))
        moved = {path for path, _ in before.items() ^ after.items()}
        assert bool(moved) == (line in WRITTEN), (line, moved)
        assert all(path.startswith(WRITTEN[line]) for path in moved), (line, moved)
        notes_moved = moved - {"memcli.toml"}
        assert notes_moved.isdisjoint(before.keys() & after.keys()), "no note is changed"
    sys.stdout.write("all were tried\n")


@pytest.mark.parametrize("lines", [COMMANDS, *by_night(SLOW)], ids=["usual", "slow"])
def test_no_command_connects_to_anything_and_none_changes_a_note(
    notes: str, lines: Sequence[str]
) -> None:
    """In one process without a network, whose kernel counts the attempts of native code."""
    program = "import sys; from tests.cli.test_offline import try_all; try_all(*sys.argv[1:])"
    command = [sys.executable, "-c", program, notes, *lines]
    if has_namespaces():
        code, attempts, output = run_inside(command)
    else:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        code, attempts, output = done.returncode, 0, done.stdout + done.stderr
    assert (code, attempts) == (0, 0), output
    assert output.endswith("all were tried\n"), output
    assert {path.name for path in Path(os.environ["HOME"]).iterdir()} <= HOME


NATIVE = """
import ctypes, socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
libc = ctypes.CDLL(None)
address = (ctypes.c_ubyte * 16)(2, 0, 0, 53, 192, 0, 2, 1)
made = libc.socket(2, 2, 0)
libc.sendto(made, b"x", 1, 0, address, 16)
"""

if has_namespaces():

    def test_native_code_that_reaches_out_is_counted() -> None:
        found = run_inside([sys.executable, "-c", NATIVE])
        assert (found.code, found.attempts) == (0, 1), found


# What the runtime would tell its makers begins with a file in TMPDIR; its connections are beyond
# what Python sees.
@pytest.mark.parametrize(
    "opened",
    [
        "workspace.query_encoder.encode_query('pool', IndexModel(None, None))",
        "workspace.open_encoder()",
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
        "from memcli.embedding.encoders import IndexModel\n"
        "from memcli.embedding.runtime import open_model\n"
        "from memcli.embedding.models import locate\n"
        f"workspace = memcli.Memory.open({notes!r}).workspaces.lead\n"
        "with contextlib.suppress(memcli.errors.RetrieverError):\n"
        f"    {opened}\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert [*(tmp_path / "tmp").iterdir()] == []
