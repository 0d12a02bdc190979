"""Commands on a shared index print what they print of a local index."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.commands import checked
from tests.postgres.conftest import Memcli, database, make_notes, sql
from tests.postgres.server import server
from tests.support import write

LINES = (
    "index", "search pool", "search pool --json", "search fo*", "search dry -1", "search 東京",
    "search pool --since 2025-02-01", "search nosuch --mode keyword", "related MEMORY.md:3",
    "ls", "ls --json",
    "context pool", "context", "get MEMORY.md:1-3", "index --dry-run", "index --full", "index",
    "search pool --explain", "compact --apply --tail 0 --tail-days 0 --cluster 2 --ratio 0.9",
    "search pool", "compact --verify", "compact --undo", "search --why-not MEMORY.md fox",
)  # fmt: skip


def test_commands_print_the_same(
    memcli: Memcli, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = make_notes(tmp_path / "here"), make_notes(tmp_path / "ther")
    assert memcli("store attach team/ops", there).code == 0
    for line in LINES:
        asked = f"{line} --now 2025-03-01T09:00+00:00"
        monkeypatch.delenv("MEMCLI_STORE_URL")
        expected = memcli(asked, here)
        monkeypatch.setenv("MEMCLI_STORE_URL", url)
        found = memcli(asked, there)
        assert found.code == expected.code, (line, found, expected)
        assert _rounded(found.out) == _rounded(expected.out), line
        assert found.err == expected.err.replace("/here", "/ther"), line


def _rounded(text: str) -> str:
    """Cut numbers off where 32 bits end, which is where an engine sums a vector in its own way."""
    text = re.sub(r"\d(?:\.\d+)?e-\d\d", "0.00000", text.replace("/here", "/ther"))
    return re.sub(r"(\d\.\d{5})\d+", r"\1", text)


def test_what_is_done_is_told_to_programs(memcli: Memcli, url: str, notes: Path) -> None:
    told = {
        line: checked("memcli.store", memcli(f"store {line} --json", notes).out)
        for line in ("init", "upgrade", "attach team/ops", "detach")
    }
    assert [each["changed"] for each in told.values()] == [False, False, True, True]
    assert {each["store"] for each in told.values()} == {url}
    assert told["detach"]["name"] == "team/ops"
    memcli("store attach ops", notes)
    memcli("index", notes)
    checked("memcli.store-status", memcli("store status --json", notes).out)
    for name, line in (("search", "search pool"), ("context", "context pool"), ("ls", "ls")):
        found = memcli(f"{line} --json --workspace-name ops", notes).out
        assert checked(f"memcli.{name}", found)["freshness"]["state"] == "remote"


def test_status_tells_of_the_store(memcli: Memcli, url: str, notes: Path) -> None:
    memcli("store attach ops", notes)
    memcli("index", notes)
    found = json.loads(memcli("status --deep --json", notes).out)
    assert found["store"]["path"] == f"{url} (ops)"
    assert found["store"]["integrity"] == "ok"
    assert (found["state"], found["vectors"]["search"]) == ("up_to_date", "pgvector")
    told = json.loads(memcli("store status --json", notes).out)
    assert told["attached"] == "ops"
    (workspace,) = told["workspaces"]
    assert (workspace["name"], workspace["documents"], workspace["writer"]) == ("ops", 4, "")
    assert workspace["origin"].endswith(f":{notes}")
    # The server tidies up between two questions, so sizes differ.
    alone, named = (
        re.sub(r"[\d.]+ [kM]B", "", memcli(line, notes).out) for line in ("store", "store status")
    )
    assert alone == named
    assert named.count("\n") == 5


def test_a_folder_that_is_not_attached_has_its_local_index(
    memcli: Memcli, url: str, notes: Path
) -> None:
    memcli("index", notes)
    path = json.loads(memcli("status --json", notes).out)["store"]["path"]
    assert path.endswith("index.sqlite")
    assert sql(url, "select count(*) from memcli.workspaces") == "0"


def test_one_folder_writes_a_workspace(memcli: Memcli, url: str, tmp_path: Path) -> None:
    one, other = make_notes(tmp_path / "one"), make_notes(tmp_path / "other")
    memcli("store attach ops", one)
    memcli("index", one)
    refused = memcli("store attach ops", other)
    assert refused.code == 5
    assert "is written by" in refused.err
    assert refused.err.endswith("Try: memcli store attach ops --take-over\n")
    assert memcli("store attach ops --take-over", other).code == 0
    write(one, "new.md", "# New\n\nunheard of\n")
    late = memcli("index", one)
    assert late.code == 5
    assert "--take-over" in late.err
    write(other, "own.md", "# Own\n\nunheard of\n")
    assert memcli("index", other).code == 0
    found = json.loads(memcli("search unheard --json --limit 1", other).out)["results"]
    assert [each["path"] for each in found] == ["own.md"]


def test_a_folder_is_detached_and_attached_again(memcli: Memcli, url: str, notes: Path) -> None:
    memcli("store attach ops", notes)
    memcli("index", notes)
    assert memcli("store attach other", notes).code == 2
    assert memcli("store detach", notes).code == 0
    assert memcli("store detach", notes).code == 3
    assert json.loads(memcli("status --json", notes).out)["state"] == "not_indexed"
    assert memcli("store attach ops", notes).code == 0
    assert json.loads(memcli("status --json", notes).out)["state"] == "up_to_date"


@pytest.mark.parametrize("name", ["", "a/b/c", "../x", "-x", "a b", "x" * 70, "ops/"])
def test_odd_names_are_refused(memcli: Memcli, url: str, notes: Path, name: str) -> None:
    from memcli.config.attached import named
    from memcli.errors import UsageError

    with pytest.raises(UsageError):
        named(name)


def test_statements_are_printed_without_a_server(memcli: Memcli, notes: Path, empty: str) -> None:
    told = memcli("store init --print-sql --partitions 2", notes)
    assert told.code == 0
    sql(empty, told.out)
    assert sql(empty, "select count(*) from pg_policies where schemaname = 'memcli'") == "21"
    assert sql(empty, "select relkind from pg_class where relname = 'chunks'") == "p"


def test_partitions_answer_as_one_table_does(
    memcli: Memcli, notes: Path, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_STORE_URL", empty)
    assert memcli("store init --partitions 3", notes).code == 0
    assert "nothing was changed" in memcli("store init", notes).err
    for line in ("--role agent --write --apply", "--role agent --write --apply"):  # twice is well
        assert memcli(f"store grants {line}", notes).code == 0
    monkeypatch.setenv("MEMCLI_STORE_URL", server().url(database(empty), "agent"))
    assert memcli("store attach ops", notes).code == 0
    assert memcli("index", notes).code == 0
    assert memcli("index --full", notes).code == 0
    found = json.loads(memcli("search pool --json", notes).out)["results"]
    assert {each["path"] for each in found} >= {"MEMORY.md", "memory/2025-01-02.md"}


def test_workspaces_are_renamed_and_deleted(memcli: Memcli, url: str, tmp_path: Path) -> None:
    one, other = make_notes(tmp_path / "one"), make_notes(tmp_path / "other")
    for folder in (one, other):
        assert memcli(f"store attach team/{folder.name}", folder).code == 0
        assert memcli("index", folder).code == 0
    assert memcli("store rename team/one team/other", one).code == 2
    assert memcli("store rename team/one team/one", one).code == 2
    assert memcli("store rename team/nosuch ops", one).code == 4
    assert memcli("store rename team/one secret/one", one).code == 4  # not a tenant of this role
    moved = checked("memcli.store", memcli("store rename team/one ops --json", one).out)
    assert moved["name"] == "ops"
    assert "fox" in memcli("search fox --workspace-name ops", other).out
    assert json.loads(memcli("status --json", one).out)["state"] == "up_to_date"
    shown = memcli("store delete ops", one)
    assert "--apply deletes ops" in shown.err
    assert "4 documents" in shown.err
    assert "fox" in memcli("search fox --workspace-name ops", other).out
    assert checked("memcli.store", memcli("store delete ops --apply --json", one).out)["changed"]
    assert memcli("search fox --workspace-name ops", other).code == 4
    assert memcli("store delete ops --apply", one).code == 4
    assert sql(url, "select count(distinct workspace) from memcli.vectors") == "1"
    assert sql(url, "select count(*) from memcli.documents") == "4"
    assert json.loads(memcli("status --json", one).out)["state"] == "not_indexed"  # and detached
    assert "fox" in memcli("search fox", one).out


def test_roles_are_let_in_and_kept_out(
    memcli: Memcli, url: str, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert memcli("store attach ops", notes).code == 0
    assert memcli("index", notes).code == 0
    line = "store grants --role guest"
    assert 'create role "guest" login' in memcli(line, notes).out
    assert memcli(f"{line} --apply", notes).code == 4  # only the owner
    monkeypatch.setenv("MEMCLI_STORE_URL", server().url(database(url)))
    assert memcli(f"{line} --apply", notes).code == 0
    listed = checked("memcli.store-members", memcli("store members --json", notes).out)
    assert {"role": "guest", "tenant": "default", "writes": False} in listed["members"]
    monkeypatch.setenv("MEMCLI_STORE_URL", server().url(database(url), "guest"))
    assert memcli("store members", notes).out == "default: guest reads\n"
    assert memcli("search fox --workspace-name ops", notes).code == 0
    refused = memcli("index", notes)
    assert (refused.code, "lets this user read ops, not write it" in refused.err) == (4, True)
    missed = memcli("search fox --workspace-name ops --tag nosuch", tmp_path)
    assert missed.err.endswith("Try: memcli ls --workspace-name ops\n")
    assert memcli("ls --workspace-name ops", tmp_path).code == 0
    monkeypatch.setenv("MEMCLI_STORE_URL", server().url(database(url)))
    assert memcli(f"{line} --revoke --apply", notes).code == 0
    monkeypatch.setenv("MEMCLI_STORE_URL", server().url(database(url), "guest"))
    assert memcli("search fox --workspace-name ops", notes).code == 4
    for odd in ("x;y", "1x", 'a"b'):
        assert memcli(f"store grants --role {odd}", notes).code == 2
    line = "store grants --role guest --tenant other --apply"
    monkeypatch.setenv("MEMCLI_STORE_URL", server().url(database(url)))
    assert memcli(line, notes).code == 0
    monkeypatch.setenv("MEMCLI_STORE_URL", server().url(database(url), "guest"))
    found = memcli("search fox", notes)  # the server shows this user other workspaces only
    assert (found.code, "fox 1" in found.out) == (0, True)
    assert "or not for this user; the index of this machine answers instead" in found.err


def test_a_tenant_embeds_a_text_once(
    memcli: Memcli, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = {name: make_notes(tmp_path / name) for name in ("one", "other", "apart")}
    names = {"one": "team/one", "other": "team/other", "apart": "rest/apart"}
    write(folders["other"], "own.md", "# Own\n\nunheard of\n")
    for name, folder in folders.items():
        assert memcli(f"store attach {names[name]}", folder).code == 0
    made = {name: checked("memcli.index", memcli("index --json", folders[name]).out)
            for name in folders}  # fmt: skip
    first = made["one"]["embedded"]
    assert [(told["embedded"], told.get("vectors_reused", 0)) for told in made.values()] == [
        (first, 0), (1, first), (first, 0)
    ]  # fmt: skip
    assert {told["pending"] for told in made.values()} == {0}
    assert f"{first + 1} vectors reused" in _indexed_again(memcli, folders["other"])
    assert sql(url, "select count(*) from memcli.vectors where unused_since is not null") == "0"
    full = checked("memcli.index", memcli("index --full --json", folders["apart"]).out)
    assert "vectors_reused" not in full  # it is its own


def _indexed_again(memcli: Memcli, folder: Path) -> str:
    """Attach a folder by another name and index it; give what is said."""
    memcli("store detach", folder)
    memcli("store attach team/again", folder)
    return memcli("index", folder).err
