"""Hostile arguments and files beside the memory, and Ctrl-C at any point of any command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memcli.cli.main import run as run_here
from memcli.errors import ExitCode
from tests.cli.processes import COMMAND, run
from tests.commands import NewWorkspace
from tests.store_check import assert_sound
from tests.support import by_night, write

REPOSITORY = Path(__file__).parents[2]
BUGS = (ExitCode.BUG, ExitCode.INTERRUPTED)
QUERIES = (
    "", " ", "\t\n", "the of and", "?!.,;:", "\x00", "a\x00b", "\x1b[31m", "\u202epool",
    'NEAR("a" b, 5)', "pool AND", "OR", "NOT pool", '"', '""', '"pool', "pool*", "*", "^pool",
    "body:pool", "{heading body}: pool", "-pool", "--", "pool'; DROP TABLE meta; --", "\\", "%s",
    "\ud800", "東京" * 5000, "pool " * 40_000, "a" * 130_000, "(" * 5000, "yesterday " * 5000,
    "-" * 5000 + "a", "\u200b" * 500, "a\u0301" * 3000, "🍞" * 3000,
)  # fmt: skip


@pytest.fixture
def notes(workspace: NewWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMCLI_STORE", str(tmp_path / "index.sqlite"))
    return workspace({
        f"memory/2025-01-{n + 1:02}.md": f"# Day {n}\n\n- the pool ran dry {n}\n" for n in range(12)
    }, encoder="hashing")  # fmt: skip


def test_no_query_is_an_error_but_of_usage(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_here(["index", "-q", "-w", str(notes)])
    for query in QUERIES:
        for command in (["search", "--json"], ["context"]):
            code = run_here([*command, "-w", str(notes), "--", query])
            told = capsys.readouterr().err
            assert code in (ExitCode.OK, ExitCode.USAGE), (query[:40], code, told)
    options = ("--path", "--source", "--heading", "--since", "--why-not")
    for value in (*QUERIES[:9:2], "../../etc/passwd", "/etc/passwd", "memory/../../x", "a/" * 2500):
        for option in options:
            code = run_here(["search", "pool", "-w", str(notes), f"{option}={value}"])
            told = capsys.readouterr().err
            assert code not in BUGS, (option, value[:40], told)


@pytest.mark.parametrize(
    "target",
    [
        "../outside.md", "/etc/passwd", "memory/../../outside.md", "memory/./2025-01-01.md",
        "memory//2025-01-01.md", "memory\\..\\x.md", "memory/2025-01-01.md\0", "a/" * 2500 + "a.md",
        "x" * 4096, "memory/2025-01-01.md:99999999999999999999", "memory/link.md", "memcli.toml",
    ],
)  # fmt: skip
def test_get_reads_nothing_but_documents(
    notes: Path, tmp_path: Path, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "outside.md", "outsidesecret\n")
    (notes / "memory" / "link.md").symlink_to(tmp_path / "outside.md")
    code = run_here(["get", "-w", str(notes), "--", target])
    out, _ = capsys.readouterr()
    assert "outsidesecret" not in out
    assert "root:" not in out
    assert code in (ExitCode.OK, ExitCode.NOT_FOUND, ExitCode.USAGE)


def test_bytes_that_are_no_text_are_an_argument_too(notes: Path) -> None:
    for argument in (b"\xff\xfe", b"pool\xed\xa0\x80", b"\x9b31m"):
        done = subprocess.run(
            [*COMMAND, "search", "-w", str(notes), "--", argument], capture_output=True, check=False
        )
        assert done.returncode in (0, 2), done.stderr
        done.stdout.decode()
        done.stderr.decode()


def test_a_planted_question_file_leads_nowhere(notes: Path, tmp_path: Path) -> None:
    secret = write(tmp_path, "secret.jsonl", "secretline\n")
    (notes / ".memcli").mkdir()
    planted = notes / ".memcli" / "questions.jsonl"
    planted.symlink_to(secret)
    done = run("bench", "quality", "-w", str(notes))
    assert (done.returncode, "not a plain file" in done.stderr) == (2, True)
    planted.unlink()
    os.mkfifo(planted)
    assert "not a plain file" in run("bench", "quality", "-w", str(notes)).stderr
    planted.unlink()
    (notes / ".memcli").rmdir()
    (notes / ".memcli").symlink_to(tmp_path)
    done = run("bench", "init", "-w", str(notes))
    assert "not a plain file" in done.stderr
    assert not (tmp_path / "questions.jsonl").exists()


def test_pipes_in_the_place_of_side_files_hang_nothing(notes: Path) -> None:
    store = os.environ["MEMCLI_STORE"]
    run("index", "-w", str(notes))
    os.mkfifo(f"{store}.watch")
    os.mkfifo(f"{store}.watch.lock")
    Path(f"{store}.bench").mkdir()
    os.mkfifo(f"{store}.bench/a.json")
    Path(f"{store}.lock").unlink(missing_ok=True)
    os.mkfifo(f"{store}.lock")
    assert run("status", "-w", str(notes)).returncode == 0
    assert run("bench", "report", "-w", str(notes)).returncode == 3
    done = run("index", "-w", str(notes))
    assert (done.returncode, "is no plain file" in done.stderr) == (4, True)


def test_a_great_configuration_is_refused(notes: Path) -> None:
    with (notes / "memcli.toml").open("wb") as file:
        file.truncate(1 << 40)
    done = run("status", "-w", str(notes))
    assert (done.returncode, "larger than 65536 bytes" in done.stderr) == (2, True)


def test_a_workspace_cannot_reach_out_or_run_anything(notes: Path) -> None:
    for line in (
        '[openai]\nurl = "http://192.0.2.1/v1"', '[embedding]\nencoder = "openai"',
        '[embedding]\nencoder = "onnx"', '[embedding]\nfallback = ["openai"]',
        '[onnx]\nfolder = "."', '[compact]\ncommand = ["sh", "-c", "touch stolen"]',
        '[store]\npath = "/etc/x"', '[openai]\nkey_variable = "HOME"',
        '[[source]]\nname = "x"\npath = "/etc"', '[[source]]\nname = "x"\npath = "../.."',
        '[[source]]\nname = "x"\npath = "docs"\nsource_kind = "web"\ntrust = "trusted"',
    ):  # fmt: skip
        (notes / "memcli.toml").write_text(line + "\n")
        done = run("index", "-w", str(notes))
        assert done.returncode == ExitCode.USAGE, line
        assert "your own configuration" in done.stderr
    (notes / "docs").symlink_to("/etc")
    (notes / "memcli.toml").write_text('[[source]]\nname = "x"\npath = "docs"\n')
    assert "is outside the workspace" in run("index", "-w", str(notes)).stderr


# Interrupts itself when a function is called for the n-th time, as Ctrl-C would there.
VICTIM = """
import importlib, os, signal, sys
sys.path.insert(0, sys.argv.pop(1))
from tests.hashing import register
register()
where, name, left = sys.argv[1], sys.argv[2], int(sys.argv[3])
module = importlib.import_module(where)
owner = module
for part in name.split(".")[:-1]:
    owner = getattr(owner, part)
last = name.split(".")[-1]
real = getattr(owner, last)
def call(*arguments, **named):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGINT)
    return real(*arguments, **named)
setattr(owner, last, call)
from memcli.cli.main import run
sys.exit(run(sys.argv[4:]))
"""
PHASES = {
    "listing": ("memcli.workspace.discover", "_Walk.folder", 2, "index"),
    "reading": ("memcli.workspace.openat", "read_bytes", 5, "index"),
    "parsing": ("memcli.markdown.parse", "split", 5, "index"),
    "writing rows": ("memcli.store.sqlite.documents", "put_document", 4, "index"),
    "vectors": ("tests.hashing", "HashingEncoder.encode", 1, "index"),
    "storing vectors": ("memcli.store.sqlite.writer", "Writer.put_vectors", 1, "index"),
    "merging words": ("memcli.store.sqlite.writer", "Writer.tidy", 1, "index"),
    "full run": ("memcli.store.sqlite.documents", "put_document", 4, "index --full"),
    "publishing": ("memcli.store.sqlite.writer", "ReplacementIndex.publish", 1, "index --full"),
    "search": ("memcli.store.sqlite.reader", "Reader.candidates", 1, "search pool"),
    "bringing in step": ("memcli.store.sqlite.documents", "put_document", 2, "search pool"),
    "context": ("memcli.store.sqlite.reader", "Reader.newest", 1, "context pool"),
    "status": ("memcli.store.sqlite.reader", "Reader.integrity", 1, "status --deep"),
    "compaction": ("memcli.compaction.folder", "read", 1, "compact --apply"),
}  # fmt: skip


BY_DAY = ("full run", "publishing", "search", "compaction")


@pytest.mark.parametrize(
    "phase", [*BY_DAY, *by_night(*(phase for phase in PHASES if phase not in BY_DAY))]
)
def test_ctrl_c_anywhere_leaves_a_sound_store(notes: Path, tmp_path: Path, phase: str) -> None:
    module, name, at, line = PHASES[phase]
    if line != "index":
        run("index", "-q", "-w", str(notes))
    for number in range(3):
        write(notes, f"memory/2025-02-0{number + 1}.md", f"# New {number}\n\nthe pool {number}\n")
    done = subprocess.run(
        [sys.executable, "-c", VICTIM, str(REPOSITORY), module, name, str(at), *line.split(),
         "-w", str(notes)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    more = "; finished work is kept" if line.startswith("index") else ""
    assert (done.returncode, done.stderr) == (130, f"memcli: interrupted{more}\n")
    store = os.environ["MEMCLI_STORE"]
    if Path(store).exists() and Path(store).stat().st_size:
        kept = shutil.copytree(Path(store).parent, tmp_path / "kept")
        assert_sound(str(kept / "index.sqlite"))
    assert run("index", "-q", "-w", str(notes)).returncode == 0
    assert_sound(store)
    assert not list(notes.rglob(".memcli-new-*"))
