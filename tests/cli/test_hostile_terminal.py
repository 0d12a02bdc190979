"""Nothing of a hostile workspace reaches a terminal raw, whichever command shows it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.processes import on_terminal, run
from tests.fuzz.targets import OWN_STYLES, RAW
from tests.support import write

# A title that changes the window, a colour, a cursor move, a C1 introducer, a link, a bidi
# override, zero width, a carriage return that hides what stands before it, a bell, DEL.
EVIL = (
    "\x1b]0;owned\x07 \x1b[31m \x1b[2J \x9b31m \x1b]8;;http://evil.example\x1b\\here"
    "\x1b]8;;\x1b\\ \u202egnp\u202c \u200b\u2066 hidden\rshown \x7f \U000e0041 poolfact"
    " a\ufe0f\ufe0e\U000e0121 b\u00ad\u034f\u2800\u3164"
)
NAME = "\x1b[31mred\u202e\nTry: evil\x9b1m"
# Ours: colours, and those of a bar of progress.
OURS = re.compile(r"\x1b\[(?:\?25[hl]|2K|1A|[0-9;]*m)|\r(?=\n|\x1b|[a-z]+ [━╸╺ ])")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    write(root, "MEMORY.md", f"---\nrelated: ['{NAME!r}']\n---\n# {EVIL}\n\n{EVIL}\n")
    for day in range(1, 30):
        text = f"# {EVIL}\n\n- decided: {EVIL} {day}\n- note: pool {day} {EVIL}\n"
        write(root, f"memory/2025-01-{day:02}.md", text)
    write(root, f"memory/{NAME}.md", f"# {EVIL}\n\n{EVIL}\n")
    write(root, f"memory/{NAME}-binary.md", b"\x00" * 400)
    (root / f"memory/{NAME}-link.md").symlink_to(f"/{NAME}")
    os.mkfifo(root / f"memory/{NAME}-fifo.md")
    write(root, "memcli.toml", f"[files]\nevergreen = {json.dumps([NAME])}\n")
    return root


def shown(root: Path, *arguments: str) -> str:
    environ = {"MEMCLI_EMBEDDING_ENCODER": "none", "TERM": "xterm-kitty", "FORCE_COLOR": "1"}
    return on_terminal(*arguments, "-w", str(root), **environ)


def assert_harmless(text: str) -> None:
    links = re.compile(r"\x1b\]8;;(?:file://[\w./%~-]*)?\x1b\\")
    plain = links.sub("", OURS.sub("", OWN_STYLES.sub("", text)))
    assert not RAW.search(plain), plain
    assert not re.search(r"^Try: evil", plain, re.MULTILINE), plain


def test_no_command_sends_memory_text_raw_to_a_terminal(hostile: Path, tmp_path: Path) -> None:
    receipt, questions = str(tmp_path / "receipt.json"), str(tmp_path / "questions.jsonl")
    search = ("search", "poolfact")
    commands = (
        ("index", "-v"),
        (*search, "--explain", "--trace", receipt),
        ("search", f"poolfact {EVIL}", "-v", "--full"),
        (*search, "--json", "--explain"),
        (*search, "--format", "jsonl", "--full"),
        (*search, "--format", "markdown"),
        (*search, "--format", "paths"),
        (*search, "--format", "paths0"),
        (*search, "--source", EVIL),
        (*search, "--since", EVIL),
        (*search, "--path", EVIL),
        (*search, "--why-not", f"memory/{NAME}.md"),
        ("context", "poolfact", "--explain"),
        ("context", "poolfact", "--json"),
        ("get", f"memory/{NAME}.md"),
        ("get", "memory/2025-01-01.md", "--json"),
        ("get", "memory/2025-01-01.md", "--hash", EVIL),
        ("get", f"memory/{NAME}.m"),
        ("get", f"memory/{NAME}-fifo.md"),
        ("get", f"memory/{NAME}.md#{EVIL}"),
        ("get", f"memory/{NAME}.md", "--expand"),
        ("status", "-v"),
        ("status", "--json"),
        ("config",),
        ("config", "--json"),
        ("config", EVIL),
        ("compact", "--show"),
        ("compact", "--verify"),
        ("bench", "init", "--out", questions),
        ("bench", "quality", questions),
        ("bench", "quality", str(hostile / f"memory/{NAME}.md")),
        ("bench", "replay", receipt),
        ("bench", EVIL),
        ("help", EVIL),
        (EVIL,),
        ("search", "x", f"--{NAME}"),
    )
    for arguments in commands:
        text = shown(hostile, *arguments)
        assert text
        assert_harmless(text)


def test_names_for_other_programs_are_exact_and_end_with_nul(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile)
    done = run(
        "search", "poolfact", "--path", "memory/*red*", "--format", "paths0", "--mode", "keyword",
        "-q", "-w", str(hostile),
    )  # fmt: skip
    assert done.stdout == f"memory/{NAME}.md\0"
    assert (hostile / done.stdout[:-1]).is_file()


def test_a_name_with_a_line_end_forges_no_line_in_a_listing(hostile: Path) -> None:
    run("index", "-q", "-w", str(hostile))
    write(hostile, f"memory/{NAME}.md", f"# {EVIL}\n\nanew {EVIL}\n")
    write(hostile, f"memory/{NAME}-new.md", f"# {EVIL}\n\n{EVIL}\n")
    (hostile / "memory" / "2025-01-03.md").rename(hostile / "memory" / f"{NAME}-moved.md")
    commands: tuple[tuple[str, ...], ...] = (
        ("status", "-v"),
        ("index", "--dry-run"),
        ("index", "-v"),
        ("search", "poolfact", "--path", "memory/*red*"),
        ("search", "poolfact", "--path", "memory/*red*", "--format", "paths"),
        ("search", "poolfact", "--path", "memory/*red*", "--format", "markdown"),
        ("search", "poolfact", "--why-not", f"memory/{NAME}.md"),
        ("context", "poolfact", "--explain"),
        ("config",),
        ("compact", "--verify"),
    )
    for arguments in commands:
        done = run(*arguments, "-w", str(hostile))
        for text in (done.stdout, done.stderr):
            assert not re.search(r"^Try: evil", text, re.MULTILINE), (arguments, text)
