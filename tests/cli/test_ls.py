"""`memcli ls` lists what is indexed: all of it, by every filter, in every form."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import memcli
from memcli.api.listing import list_documents
from memcli.config import settings as config
from memcli.mcp.answers import of_documents
from memcli.record import plain
from memcli.types import Filters, shown
from memcli.workspace.discover import discover
from tests.cli.processes import on_terminal
from tests.commands import NewWorkspace, printed, record
from tests.commands import run_here as run
from tests.support import write

NAMES = (
    "MEMORY.md",
    "memory/2025-06-12.md",
    "memory/a b.md",
    "memory/deep/über.md",
    "memory/-x.md",
)
TEXTS = (
    "# Pool\n\nThe pool is full.\n",
    "",
    "---\ntags: [infra, Infra/db]\nstatus: open\n---\n",
    "---\ndate: 2025-03-03\ntag: infra\n---\nA fox.\n",
    "---\nbroken: [\n---\nA train.\n",
    "\0\0\0\0not text",
)


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace({
        "MEMORY.md": "# Memory\n\nThe pool.\n",
        "memory/2025-06-12.md": "---\ntags: [infra/db, Call]\n---\n# Dry pool\n\nIt was.\n",
        "memory/plan \x1b[31m\n.md": "---\ntags: call\ntitle: A \u202e plan\n---\nIt is.\n",
    })  # fmt: skip


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(TEXTS), min_size=1))
def test_what_is_listed_is_what_discovery_finds(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, str]
) -> None:
    root = tmp_path_factory.mktemp("any")
    (root / "memory").mkdir()
    for path, text in files.items():
        write(root, path, text)
    settled = config.load(str(root), os.environ, {})
    listing = discover(settled.sources, max_bytes=1 << 20, follow_symlinks=False)
    texts = {
        shown(each.source, each.path) for each in listing.files if "\0" not in files[each.path]
    }
    asked = memcli.Memory.open(str(root), settings={"embedding.encoder": "none"})
    with asked as memory:
        listed = memory.documents().documents
    assert {shown(each.source, each.path) for each in listed} == texts
    assert len(listed) == len(texts)


def listed(*arguments: str) -> list[str]:
    return printed("ls", "-f", "paths", *arguments)[0].splitlines()


def test_every_form_names_the_same_documents(notes: Path) -> None:
    documents = record("ls")["documents"]
    names = [each["name"] for each in documents]
    assert names == ["MEMORY.md", "memory/2025-06-12.md", "memory/plan \x1b[31m\n.md"]
    lines = run("ls", "-f", "jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == documents
    assert run("ls", "-f", "paths0").stdout == "".join(f"{name}\0" for name in names)
    assert run("ls", "-f", "paths").stdout == (
        "MEMORY.md\nmemory/2025-06-12.md\nmemory/plan \x1b[31m␊.md\n"
    )
    assert run("ls").stdout == (
        "-           note  MEMORY.md  Memory\n"
        "2025-06-12  log   memory/2025-06-12.md  Dry pool  #infra/db  #Call\n"
        "-           note  memory/plan \x1b[31m␊.md  A \u202e plan  #call\n"
    )
    for name in names:
        assert run("get", name).returncode == 0


def test_a_terminal_sees_nothing_that_it_obeys(notes: Path) -> None:
    shown_there = on_terminal("ls")
    assert "\x1b[31m" not in shown_there
    assert "\u202e" not in shown_there
    assert "#infra/db" in shown_there


@pytest.mark.parametrize("order", ["path", "date", "newest"])
def test_documents_come_in_the_order_that_was_asked_for(notes: Path, order: str) -> None:
    for day in ("2024-01-01", "2026-01-01"):
        write(notes, f"memory/{day}.md", "x\n")
    paths = listed("--sort", order)
    dated = [path[7:17] for path in paths if path.startswith("memory/2")]
    assert dated == sorted(dated, reverse=order == "newest")
    assert (paths[0] == "MEMORY.md") == (order == "path")
    assert len(paths) == 5


def test_documents_are_counted_by_what_they_say(notes: Path) -> None:
    def counted(what: str) -> list[str]:
        return run("ls", "--count", what).stdout.splitlines()

    assert counted("tag") == ["     2  Call", "     1  infra/db"]
    assert counted("kind") == ["     2  note", "     1  log"]
    assert counted("source") == ["     3  memory"]
    assert counted("key") == ["     2  tags", "     1  title"]


def test_filters_are_those_of_search(notes: Path) -> None:
    log, plan = "memory/2025-06-12.md", "memory/plan \x1b[31m␊.md"
    assert listed("--tag", "infra") == [log]
    assert listed("--tag", "CALL") == [log, plan]
    assert listed("--where", "!tags") == ["MEMORY.md"]
    assert listed("--since", "2025-06") == [log]
    assert listed("--since", "2026", "--undated") == ["MEMORY.md", plan]
    assert listed("--kind", "note", "memory") == [plan]
    assert listed("./memory/") == [log, plan]
    assert listed(".") == ["MEMORY.md", log, plan]
    assert listed("nosuch") == []


def test_how_a_date_was_read_is_said_where_it_is_not_an_iso_day(notes: Path) -> None:
    def said(*filters: str) -> str:
        return run("ls", *filters, "--now", "2025-06-20").stderr

    assert record("ls", "--since", "last week", "--now", "2025-06-20")["dates"] == [
        {"text": "--since last week", "start": "2025-06-09", "end": None}
    ]
    read = 'Read "--since last week" as 2025-06-09 and later.\n'
    assert said("--since", "last week") == read
    assert said("--since", "last week", "--json") == read
    read = 'Read "--on the last 30 days" as 2025-05-21 to 2025-06-20.\n'
    assert said("--on", "the last 30 days") == read
    assert said("--since", "2025-06", "--until", "2025-06-12") == ""


def test_places_are_those_where_one_stands(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(notes, "memory/deep/MEMORY.md", "x\n")
    write(notes, "memory/deep/2026-01-01.md", "x\n")
    monkeypatch.chdir(notes / "memory" / "deep")
    monkeypatch.setenv("MEMCLI_WORKSPACE", str(notes))  # the folder has a mark too
    own = ["2026-01-01.md", "./MEMORY.md"]
    assert listed(".") == listed("./") == listed(str(notes / "memory/deep")) == own
    assert listed("*.md")[:2] == ["../../MEMORY.md", "../2025-06-12.md"]  # the memory's, and these
    assert listed("./*.md") == own
    assert listed("MEMORY.md") == ["../../MEMORY.md", "./MEMORY.md"]
    assert listed("./MEMORY.md") == ["./MEMORY.md"]
    assert listed("..", "../../MEMORY.md")[0] == "../../MEMORY.md"
    assert listed("memory/deep") == own
    assert len(listed("../..")) == len(listed()) == 5
    for name in run("ls", "-f", "paths0").stdout.split("\0")[:-1]:
        assert run("get", name).returncode == 0
    monkeypatch.chdir(notes.parent)
    assert run("ls", ".", "-f", "paths", "-w", "notes").stdout.count("\n") == 5


def test_a_changed_file_is_listed_as_it_is_now(notes: Path) -> None:
    assert run("ls", "--tag", "new").stdout == ""
    write(notes, "memory/new.md", "---\ntags: new\n---\n")
    assert run("ls", "--tag", "new", "--no-sync").stdout == ""
    assert run("ls", "--tag", "new").stdout == (
        "-  note  memory/new.md  #new\n".replace("-  ", "-           ")
    )


def test_a_workspace_without_documents_says_so(workspace: NewWorkspace) -> None:
    workspace({"memory/.keep": ""})
    hint = 'memcli remember "A first note."'
    assert printed("ls") == ("", f"There are no Markdown files here. Try: {hint}\n")


def test_python_lists_the_same(notes: Path) -> None:
    with memcli.Memory.open(str(notes), settings={"embedding.encoder": "none"}) as memory:
        found = memory.documents(tags=["call"], order="newest")
        told = record("ls", "--tag", "call")
        asked = [{**each._asdict(), "tags": [*each.tags]} for each in found.documents]
        assert {each.pop("date_from") for each in asked} == {None}
        assert asked == [
            {key: value for key, value in each.items() if key not in ("name", "file")}
            for each in told["documents"]
        ]
        none = memory.documents(tags=["nosuch"])
    assert none.documents == ()
    assert none.empty_reason is not None
    assert none.empty_reason.text == "no document has the tag nosuch"


def test_the_first_of_a_list_are_shown_and_the_rest_is_counted(notes: Path) -> None:
    everything = listed("--sort", "newest")
    for limit in (1, 2, 3, 9):
        out, err = printed("ls", "-f", "paths", "--sort", "newest", "-n", str(limit))
        more = max(0, 3 - limit)
        assert out.splitlines() == everything[:limit]
        said = f"{more} more {'is' if more == 1 else 'are'} not listed.\n" if more else ""
        assert err == said
        found = record("ls", "-n", str(limit))
        assert (len(found["documents"]), found.get("more", 0)) == (3 - more, more)
    counted = record("ls", "--count", "tag", "-n", "1")
    assert counted["counts"] == [{"value": "Call", "documents": 2}]
    assert (counted["more"], "documents" in counted) == (1, False)


def test_a_list_is_written_by_a_template(notes: Path) -> None:
    out = printed("ls", "-f", "{date}\\t{name}\\t{tags}")[0]
    assert out == (
        "\tMEMORY.md\t\n2025-06-12\tmemory/2025-06-12.md\tinfra/db, Call\n"
        "\tmemory/plan \x1b[31m␊.md\tcall\n"
    )


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_a_list_fits_its_screen_and_cuts_no_name(notes: Path, columns: int) -> None:
    name = "memory/" + "a-long-name-" * 5 + ".md"
    write(notes, name, "---\ntags: [infrastructure, database, incident, postmortem]\n---\nText.\n")
    run("index", "-q")  # so that no bar is drawn
    shown = on_terminal("ls", COLUMNS=str(columns))
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    lines = plain.replace("\r\n", "\n").split("\n")
    assert all(len(line) <= columns for line in lines)
    assert name in "".join(line.removeprefix("    ") for line in lines)
    assert "#postmortem" in plain


def test_a_long_list_in_a_pipe_is_counted_by_folder_and_month(workspace: NewWorkspace) -> None:
    days = [f"2025-{month:02}-{day:02}" for month in (5, 6) for day in range(1, 29)]
    names = [f"{folder}/{day}.md" for folder in ("memory", "notes") for day in days]
    root = workspace(dict.fromkeys(names, "The pool.\n") | {"MEMORY.md": "# Memory\n"})

    def printed_list(*more: str) -> str:
        return printed("ls", *more)[0]

    out, err = printed("ls")
    assert err == "113 documents, counted by folder and month; --all lists them.\n"
    assert out == (
        "     1  -        ./\n    28  2025-05  memory/\n    28  2025-06  memory/\n"
        "    28  2025-05  notes/\n    28  2025-06  notes/\n"
    )
    assert len(listed()) == printed_list("--all").count("\n") == 113
    assert printed_list("-n", "101").count("\n") == 101
    assert printed_list("--since", "2025-06").count("\n") == 56
    with memcli.Memory.open(root) as memory:
        listing = list_documents(memory.workspaces, Filters(), order="newest")
        told = of_documents(listing, 1000)
        documents = plain(memory.documents())
    assert "name" not in json.loads(json.dumps(documents))["freshness"]
    assert list(documents) == ["freshness", "documents", "empty_reason"]
    assert "memory/ | 2025-06 | 28 documents\n" in told
    assert told.count("\n") == 6
    few = of_documents(listing, 40)
    more = re.search(r"(\d) more did not fit; for all: budget (\d+)\n$", few)
    assert more
    assert few.count("\n") + int(more[1]) == 7
    assert of_documents(listing, int(more[2])) == told

    # With many months, a folder is one line, with the speakers of its conversations.
    for month in range(1, 13):
        chat = "- **Ann**: Is it yours?\n- **Bo**: Yes.\n- **Ann**: Fair.\n- **Bo**: So it is.\n"
        write(root, f"chats/memory/2024-{month:02}-03.md", f"# Chat\n\n{chat * 2}")
        write(root, f"notes/2024-{month:02}-03.md", "The pool.\n")
    write(root, "chats/MEMORY.md", "# Ann and Bo\n")  # counted with the chats below it
    assert printed_list() == (
        "     1  -                   ./\n"
        "    13  2024-01 to 2024-12  chats/  Ann, Bo\n"
        "    56  2025-05 to 2025-06  memory/\n"
        "    68  2024-01 to 2025-06  notes/\n"
    )
    write(root, "chats/memory/old/2023-01-03.md", "The pool.\n")  # so that it has two folders
    rows = [row.split()[-1] for row in printed_list().splitlines() if "chats" in row]
    assert rows == ["chats/", "Bo", "chats/memory/old/"]


def test_a_hint_lists_tags_and_keys_only_if_there_are_any(workspace: NewWorkspace) -> None:
    root = workspace({"memory/1.md": "# Day\n\nA hedge.\n"})
    for option in ("--tag", "--where"):
        assert printed("ls", option, "nosuch")[1].endswith("Try: memcli ls\n")
    write(root, "memory/2.md", "---\ntags: [garden]\n---\n# Day\n\nA rose.\n")
    for option, what in (("--tag", "tag"), ("--where", "key")):
        assert printed("ls", option, "nosuch")[1].endswith(f"Try: memcli ls --count {what}\n")
