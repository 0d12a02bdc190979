"""A server of several workspaces: one is chosen by its name, and citations lead back to them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents

from memcli.mcp.definitions import tools_of
from tests.commands import valid
from tests.mcp.clients import MODES, Served, price, serve, serve_here, text_of

INCIDENT = "engineer:memory/2025-06-12-incident-review.md:10-18"
LOCK = "The pool of the garden is locked at nine.\n"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, workspaces: Path) -> Path:
    """The engineer's notes beside those of a house."""
    base = tmp_path_factory.mktemp("several")
    shutil.copytree(workspaces / "engineer", base / "engineer")
    (base / "house" / "memory").mkdir(parents=True)
    (base / "house" / "memory" / "2025-05-01.md").write_text(LOCK, "utf-8")
    secret = "---\nscope: private\n---\nThe pool has a code, 4711.\n"
    (base / "house" / "memory" / "2025-05-02.md").write_text(secret, "utf-8")
    for note in (base / "house" / "memory").iterdir():
        os.utime(note, (0, 0))  # what was written just now is read again
    return base


@pytest.fixture(scope="module")
def served(folders: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    base = tmp_path_factory.mktemp("served")
    named = ["-w", str(folders / "engineer"), "-w", str(folders / "house")]
    with serve_here(base, *named, "--structured") as made:
        yield made


def _cited(text: str) -> list[str]:
    return re.findall(r"^(\S+\.md:[\d,-]+)(?: \|.*)?$", text, re.MULTILINE)


def _names(served: Served) -> object:
    search = served.do(served.client.list_tools).tools[0]
    return search.input_schema["properties"].get("workspace", {}).get("enum")


def test_all_are_asked_and_citations_name_their_own(served: Served) -> None:
    assert _names(served) == ["engineer", "house"]
    text = served.text("memory_search", query="pool")
    assert text.startswith("match: strong; index: up to date\n")
    assert {INCIDENT, "house:memory/2025-05-01.md:1"} <= set(_cited(text))
    for citation in _cited(text):
        assert served.text("memory_get", path=citation).startswith(f"{citation} of ")


def test_one_is_asked_by_its_name(served: Served) -> None:
    text = served.text("memory_search", query="pool", workspace="house")
    assert _cited(text) == ["house:memory/2025-05-01.md:1"]
    found = _cited(served.text("memory_search", query="pool", workspace="engineer"))
    assert INCIDENT in found
    assert all(each.startswith("engineer:") for each in found)


def test_what_is_private_stays_with_its_own(served: Served) -> None:
    for chosen in ({}, {"workspace": "house"}):
        assert "4711" not in served.text("memory_search", query="pool code", **chosen)
    told = served.error("memory_get", path="house:memory/2025-05-02.md")
    assert "is private, and only its own workspace may read it" in told
    assert "4711" not in told


def test_several_at_once_are_told_what_each_alone_is(served: Served) -> None:
    questions = [
        {"query": query, **chosen}
        for query in ("pool", "carrier")
        for chosen in ({}, {"workspace": "house"}, {"workspace": "engineer"})
    ]
    alone = [served.text("memory_search", **each) for each in questions]
    together = [""] * len(questions)

    async def ask(at: int) -> None:
        together[at] = text_of(await served.client.call_tool("memory_search", questions[at]))

    async def at_once() -> None:
        async with anyio.create_task_group() as group:
            for at in range(len(questions)):
                group.start_soon(ask, at)

    served.do(at_once)
    assert together == alone


def test_settings_that_are_mended_are_read_anew(folders: Path, tmp_path: Path) -> None:
    shutil.copytree(folders / "house", tmp_path / "house")
    settings = tmp_path / "house" / "memcli.toml"
    settings.write_text("search.limit = 'many'\n", "utf-8")
    named = ["-w", str(folders / "engineer"), "-w", str(tmp_path / "house")]
    with serve_here(tmp_path, *named) as served:
        assert "house: " in served.text("memory_search", query="pool").partition("\n\n")[0]
        settings.unlink()
        text = served.text("memory_search", query="pool")
        assert "house: " not in text.partition("\n\n")[0]
        assert "house:memory/2025-05-01.md:1" in _cited(text)


def test_a_folder_that_is_missing_is_named_and_the_rest_answers(
    folders: Path, tmp_path: Path
) -> None:
    named = ["-w", str(folders / "house"), "-w", str(tmp_path / "missing")]
    with serve_here(tmp_path, *named) as served:
        assert _names(served) == ["house", "missing"]
        text = served.text("memory_search", query="pool")
        assert f"missing: there is no folder {tmp_path / 'missing'}; it is left out" in text
        assert "house:memory/2025-05-01.md:1" in _cited(text)
        (tmp_path / "missing" / "memory").mkdir(parents=True)
        (tmp_path / "missing" / "memory" / "2025-05-01.md").write_text("A zeppelin.\n", "utf-8")
        text = served.text("memory_search", query="zeppelin")
        assert "missing:memory/2025-05-01.md:1" in _cited(text)


def test_a_server_without_a_folder_asks_its_client(folders: Path, tmp_path: Path) -> None:
    with serve(tmp_path, mode="legacy", root=str(folders / "house")) as served:
        assert "\nmemory/2025-05-01.md:1 | " in served.text("memory_search", query="pool")
        assert "deprecated" not in served.log.read_text("utf-8")


@pytest.mark.parametrize("mode", MODES)
def test_a_folder_within_the_root_may_be_named(folders: Path, tmp_path: Path, mode: str) -> None:
    """Servers that clients start in the home folder find the notes of each project."""
    project = tmp_path / "project"
    shutil.copytree(folders / "house", project)
    (tmp_path / "elsewhere").mkdir()
    with serve_here(tmp_path, mode=mode, cwd=str(tmp_path)) as served:
        told = served.error("memory_search", query="pool")
        assert "no workspace at or above" in told
        hint = 'the same call with workspace "FOLDER", the path of a folder of notes'
        assert told.endswith(f"Try: {hint}")
        found = served.text("memory_search", query="pool", workspace=str(project))
        assert "\nmemory/2025-05-01.md:1 | " in found
        context = served.text("memory_context", workspace="project/memory")
        assert "locked at nine" in context
        for folder in ("/", str(folders), "project/../elsewhere"):
            told = served.error("memory_search", query="pool", workspace=folder)
            assert "is not a workspace in the folder of the server" in told


def test_a_name_that_there_is_not_is_refused(served: Served) -> None:
    assert served.error("memory_search", query="pool", workspace="hous") == (
        "no workspace here is called 'hous'; the names are engineer, house. Try: house"
    )


def test_a_page_is_of_the_workspaces_that_were_asked(served: Served) -> None:
    text = served.text("memory_search", query="tracker", budget=400, workspace="engineer")
    cursor = text.partition('cursor "')[2].partition('"')[0]
    more = {"query": "tracker", "budget": 400, "cursor": cursor}
    assert "of another question" in served.error("memory_search", **more)
    again = served.text("memory_search", **more, workspace="engineer")
    assert not {*_cited(text)} & {*_cited(again)}


def test_a_context_holds_all(served: Served) -> None:
    text = served.text("memory_context", query="pool", budget=900)
    assert "```engineer:memory/2025-06-12-incident-review.md" in text
    assert "```house:memory/2025-05-01.md:1" in text


def test_documents_are_read_by_the_names_of_their_workspaces(served: Served) -> None:
    async def read(uri: str) -> str:
        (contents,) = (await served.client.read_resource(uri)).contents
        assert isinstance(contents, TextResourceContents)
        return contents.text

    assert served.do(read, "memcli://house/memory/2025-05-01.md") == LOCK.rstrip("\n")
    with pytest.raises(MCPError, match="there is no document at memcli://barn/"):
        served.do(read, "memcli://barn/a.md")


@pytest.mark.parametrize("chosen", [{}, {"workspace": "house"}])
def test_records_are_those_of_json(served: Served, chosen: dict[str, str]) -> None:
    found = served.call("memory_search", query="pool", **chosen).structured_content
    assert found is not None
    valid(found, "memcli.search")
    asked = ["house"] if chosen else ["engineer", "house"]
    assert [each["name"] for each in found["workspaces"]] == asked


def test_one_that_vanishes_is_named_and_corrects_answer_when_it_returns(
    served: Served, folders: Path
) -> None:
    away = folders / "away"
    (folders / "house").rename(away)
    text = served.text("memory_search", query="pool")
    alone = served.text("memory_search", query="pool", workspace="engineer")
    away.rename(folders / "house")
    assert "\nhouse: . cannot be listed: No such file or directory; what is indexed" in text
    assert INCIDENT in _cited(text)
    assert "cannot be listed" not in alone
    assert "cannot be listed" not in served.text("memory_search", query="pool")


def test_names_of_the_configuration_choose_too(folders: Path, tmp_path: Path) -> None:
    config = tmp_path / "config" / "memcli" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(
        f"[workspaces]\nwork = '{folders / 'engineer'}'\nhome = '{folders / 'later'}'\n", "utf-8"
    )
    with serve_here(tmp_path, "--everywhere") as served:
        assert _names(served) == ["work", "home"]
        text = served.text("memory_search", query="pool")
        assert f"home: there is no folder {folders / 'later'}; it is left out" in text
        assert "there is no folder" in served.error("memory_search", query="a", workspace="home")
        shutil.copytree(folders / "house", folders / "later")
        assert "home:memory/2025-05-01.md:1" in _cited(
            served.text("memory_search", query="pool", workspace="home")
        )
        assert "left out" not in served.text("memory_search", query="pool")
    with serve_here(tmp_path, "-w", str(folders / "house"), "-w", "@work") as served:
        assert _names(served) == ["house", "work"]


def test_one_workspace_named_twice_is_one(folders: Path, tmp_path: Path) -> None:
    with serve_here(tmp_path, "-w", str(folders / "house"), "-w", str(folders / "house")) as served:
        assert _names(served) is None
        assert "pool" in served.text("memory_search", query="pool", workspace="house")
        assert "no workspace here is called 'barn'" in served.error(
            "memory_search", query="pool", workspace="barn"
        )


def test_the_project_of_the_agent_is_the_own_workspace(folders: Path, tmp_path: Path) -> None:
    named = ["-w", str(folders / "engineer"), "-w", str(folders / "house")]
    with serve_here(
        tmp_path, *named, CLAUDE_PROJECT_DIR=str(folders / "house" / "memory")
    ) as served:
        assert "4711" in served.text("memory_search", query="pool code")


def test_names_are_listed_as_far_as_they_can_be_paid_for(folders: Path, tmp_path: Path) -> None:
    config = tmp_path / "config" / "memcli" / "config.toml"
    config.parent.mkdir(parents=True)
    names = [f"workspace-{number:03}" for number in range(100)]
    dearest = max(n for n in range(2, 100) if tools_of(names[:n])[0].arguments[-1].choices)
    for count, listed in ((dearest, names[:dearest]), (dearest + 1, None)):
        lines = [f"{name} = '{folders / 'house'}/{name}'\n" for name in names[:count]]
        config.write_text("".join(["[workspaces]\n", *lines]), "utf-8")
        with serve_here(tmp_path, "--everywhere") as served:
            assert _names(served) == listed
            assert 580 < price(served) + 60 * (listed is None) <= 700
