"""Whoever belongs to one tenant is told nothing of another, whose doings change no answer."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memcli.store.postgres import schema
from tests.commands import Said
from tests.postgres.conftest import Memcli, database, make_notes, sql
from tests.postgres.server import server
from tests.support import write

NOW = "--now 2025-03-01T09:00+00:00"
WRITTEN = rf"{datetime.now(UTC).year}-[-0-9:T+.]+"
# What the tenant blue asks: commands, and names, filters and paths that reach for the tenant red.
ASKED = (
    "search pool --json", "search secretword --json", "search secret* --mode keyword",
    "search connections --explain", "search pool --path * --json", "search pool --path ../**",
    "search pool --path [!x]*/red/**", "search pool --path memory:memory/red/**",
    "search pool --source red", "search pool --source red:memory", "search pool --kind red",
    "search pool --where title='or'1'='1", "search pool --where a.b->>'x'=red",
    "search pool --where $.tenant=red", "search pool --tag red", "search pool --tag %",
    "search pool --by Redman", "search pool --heading ');select(1)--",
    "search --why-not memory/red.md pool", "related MEMORY.md:3 --json", "related memory/red.md",
    "context pool --json", "context secretword", "get memory/red.md", "get red/ops:MEMORY.md",
    "get MEMORY.md#secretword", "ls --json", "ls --path *red*", "status --deep --json",
    "index --dry-run --json", "index --json", "store status --json", "store status",
    "compact", "compact --verify", "store attach red/ops --take-over",
    "search pool --tenant red --json", "context --tenant red", "get red/ops:MEMORY.md --tenant red",
    "search pool --tenant RED", "search secretword --tenant blue --json",
    "search secretword pool --everywhere --json", "search pool --everywhere --path red/ops:*",
    "context secretword --everywhere --json", "get red/ops:MEMORY.md --everywhere",
    *(
        f"{line} --workspace-name {name}"
        for name in ("red/ops", "red/nosuch", "blue/red", "RED/ops", "red.ops", "blue/ops")
        for line in ("search pool --json", "get MEMORY.md", "ls --json", "context")
    ),
)  # fmt: skip


@pytest.fixture
def agent(url: str) -> str:
    """The URL for a role that belongs to the tenant blue."""
    sql(url, "; ".join(schema.joining("bluebird", "blue", writes=True)))
    return server().url(database(url), "bluebird")


def answers(memcli: Memcli, folder: Path) -> dict[str, Said]:
    """Ask everything; the time at which the tenant itself has written is left out."""
    found = {}
    for line in ASKED:
        told = memcli(line if line.startswith("store") else f"{line} {NOW}", folder)
        out, err = (re.sub(WRITTEN, "TIME", text) for text in told[1:])
        found[line] = told._replace(out=out, err=err)
    return found


def test_what_another_tenant_does_changes_no_answer(
    memcli: Memcli, url: str, agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    red, blue = make_notes(tmp_path / "red"), make_notes(tmp_path / "blue")
    monkeypatch.setenv("MEMCLI_STORE_URL", agent)
    assert memcli("store attach blue/ops", blue).code == 0
    assert memcli("index", blue).code == 0
    for line in ("search secretword", "search secretword --tenant blue"):
        memcli(line, blue)  # says once what is said once
    before = answers(memcli, blue)
    assert before["search pool --json"].code == before["ls --json"].code == 0

    monkeypatch.setenv("MEMCLI_STORE_URL", url)
    assert memcli("store attach red/ops", red).code == 0
    for number in range(9):
        text = (
            f"---\ntags: [red]\n---\n# Secretword {number}\n\n**Redman:** the pool, connections\n"
        )
        write(red, f"memory/red{number or ''}.md", text)
    assert memcli("index", red).code == 0
    assert memcli("search secretword", red).code == 0

    monkeypatch.setenv("MEMCLI_STORE_URL", agent)
    after = answers(memcli, blue)
    assert after == before
    for name in ("search pool --json", "get MEMORY.md", "ls --json", "context"):
        there, nowhere = (after[f"{name} --workspace-name red/{w}"] for w in ("ops", "nosuch"))
        assert there.code == nowhere.code == 4
        assert there.err == nowhere.err.replace("nosuch", "ops")
    assert json.loads(after["store status --json"].out)["bytes"] is None


def test_a_clone_that_names_a_workspace_does_not_write_it(
    memcli: Memcli, url: str, tmp_path: Path
) -> None:
    own, clone = make_notes(tmp_path / "own"), make_notes(tmp_path / "clone")
    assert memcli("store attach ops", own).code == 0
    assert memcli("index", own).code == 0
    told = Path(os.environ["XDG_CONFIG_HOME"]) / "memcli" / "attached.json"
    known = json.loads(told.read_text())
    told.write_text(json.dumps({**known, str(clone): "ops"}))
    write(clone, "memory/planted.md", "# Planted\n\nthe pool is mine\n")
    state = "select revision, epoch, origin, (select count(*) from memcli.documents) from"
    before = sql(url, f"{state} memcli.workspaces")
    for line in ("index", "index --full", "index --prune", "search pool", "context", "ls"):
        memcli(line, clone)
        assert sql(url, f"{state} memcli.workspaces") == before, line
    assert memcli("index", clone).code == 5
    found = json.loads(memcli("search planted --json", own).out)["results"]
    assert "planted" not in json.dumps(found)
