"""Past sessions of an agent as a source: found on request, cited by line, and never offered."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from memcli.api.workspaces import NOT_SHARED, Selection
from tests.cli import processes
from tests.hook.test_process import run, told
from tests.support import write

PROMPT = "Remember that the okapi cluster deploys from Monday to Thursday"
WITH = ("--with", "claude-code:transcripts")
QUESTION = "when does the okapi cluster deploy"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace in which Claude Code ran once."""
    root = Path(os.path.realpath(tmp_path)) / "shop"
    write(root, "MEMORY.md", "# Shop\n\nThe shop sells bicycles.\n")
    slug = re.sub("[^A-Za-z0-9]", "-", str(root))
    said = {"role": "user", "content": PROMPT}
    entries = [
        {"type": "queue-operation"},
        {"type": "user", "message": said, "timestamp": "2026-11-26T03:48:00.362Z"},
    ]
    text = "".join(json.dumps(entry) + "\n" for entry in entries)
    write(Path(os.environ["HOME"]), f".claude/projects/{slug}/one.jsonl", text)
    return root


def test_a_past_session_is_found_and_cited_by_its_line(shop: Path) -> None:
    assert "okapi" not in processes.run("search", QUESTION, "-w", str(shop)).stdout
    found = json.loads(processes.run("search", QUESTION, "-w", str(shop), *WITH, "--json").stdout)
    (passage, *_) = found["results"]
    assert (passage["source"], passage["path"], passage["date"], passage["trust"]) == (
        "claude-code.transcripts", "one.jsonl", "2026-11-26", "untrusted",
    )  # fmt: skip
    assert (passage["start_line"], passage["end_line"]) == (1, 2)
    citation = "claude-code.transcripts:one.jsonl:2"
    shown = processes.run("get", citation, "-w", str(shop), *WITH).stdout
    assert shown == f"- **User**: {PROMPT}\n"
    assert (
        json.loads(Path(passage["file"]).read_text().split("\n")[1])["message"]["content"] == PROMPT
    )


def test_a_past_session_is_never_offered_unasked_or_elsewhere(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f'[files]\nagent_memories = ["claude-code:transcripts"]\n[workspaces]\nshop = "{shop}"\n'
    write(Path(os.environ["XDG_CONFIG_HOME"]), "memcli/config.toml", text)
    assert PROMPT in processes.run("search", QUESTION, "-w", str(shop)).stdout
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    assert "okapi" not in processes.run("context", "-w", str(shop)).stdout
    assert run(told(cwd=str(shop), prompt=QUESTION), "prompt") == ({}, "")
    other = write(tmp_path, "other/MEMORY.md", "# Other\n").parent
    everywhere = processes.run("search", QUESTION, "--everywhere", "-w", str(other)).stdout
    assert "okapi" not in everywhere
    # What has to be asked for is named only then.
    assert "transcripts" not in processes.run("init", "-w", str(other)).stdout


def test_a_folder_without_a_mark_does_not_search_past_sessions(shop: Path) -> None:
    (shop / "MEMORY.md").rename(shop / "notes.md")
    assert "okapi" not in processes.run("search", QUESTION, cwd=str(shop)).stdout
    missing = processes.run("search", QUESTION, "-w", str(shop), "--with", "codex:transcripts")
    assert missing.returncode == 3
    assert f"codex:transcripts: it keeps no transcripts of {shop}" in missing.stderr


def test_a_shared_index_never_gets_past_sessions(shop: Path) -> None:
    attached = json.dumps({str(shop): "team/shop"})
    write(Path(os.environ["XDG_CONFIG_HOME"]), "memcli/attached.json", attached)
    environ = {**os.environ, "MEMCLI_STORE_URL": "postgresql://me@localhost/notes"}
    memories = {"MEMCLI_FILES_AGENT_MEMORIES": "claude-code:transcripts"}
    for url, names, passed in (
        (environ, ["memory"], (NOT_SHARED,)),
        (dict(os.environ), ["memory", "claude-code.transcripts"], ()),
    ):
        opened = Selection(environ=url | memories).open(str(shop))
        assert [source.name for source in opened.config.sources] == names
        assert opened.config.passed == passed
