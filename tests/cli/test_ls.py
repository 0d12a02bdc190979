"""`memcli ls` lists what is indexed: all of it, by every filter, in every form."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
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
from tests.commands import NewWorkspace, printed
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
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    root = tmp_path / "notes"
    write(root, "MEMORY.md", "# Memory\n\nThe pool.\n")
    write(root, "memory/2025-06-12.md", "---\ntags: [infra/db, Call]\n---\n# Dry pool\n\nIt was.\n")
    write(root, "memory/plan \x1b[31m\n.md", "---\ntags: call\ntitle: A \u202e plan\n---\nIt is.\n")
    return root


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


def test_every_form_names_the_same_documents(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = ("-w", str(notes))
    monkeypatch.chdir(notes)
    documents = json.loads(run("ls", "--json", *where).stdout)["documents"]
    names = [each["name"] for each in documents]
    assert names == ["MEMORY.md", "memory/2025-06-12.md", "memory/plan \x1b[31m\n.md"]
    lines = run("ls", "-f", "jsonl", *where).stdout.splitlines()
    assert [json.loads(line) for line in lines] == documents
    assert run("ls", "-f", "paths0", *where).stdout == "".join(f"{name}\0" for name in names)
    assert run("ls", "-f", "paths", *where).stdout == (
        "MEMORY.md\nmemory/2025-06-12.md\nmemory/plan \x1b[31m␊.md\n"
    )
    assert run("ls", *where).stdout == (
        "-           note  MEMORY.md  Memory\n"
        "2025-06-12  log   memory/2025-06-12.md  Dry pool  #infra/db  #Call\n"
        "-           note  memory/plan \x1b[31m␊.md  A \u202e plan  #call\n"
    )
    for name in names:
        assert run("get", name, *where).returncode == 0


def test_a_terminal_sees_nothing_that_it_obeys(notes: Path) -> None:
    shown_there = on_terminal("ls", "-w", str(notes))
    assert "\x1b[31m" not in shown_there
    assert "\u202e" not in shown_there
    assert "#infra/db" in shown_there


@pytest.mark.parametrize("order", ["path", "date", "newest"])
def test_documents_come_in_the_order_that_was_asked_for(
    notes: Path, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes)
    for day in ("2024-01-01", "2026-01-01"):
        write(notes, f"memory/{day}.md", "x\n")
    listed = run("ls", "--sort", order, "-f", "paths", "-w", str(notes)).stdout.splitlines()
    dated = [line[7:17] for line in listed if line.startswith("memory/2")]
    assert dated == sorted(dated, reverse=order == "newest")
    assert (listed[0] == "MEMORY.md") == (order == "path")
    assert len(listed) == 5


def test_documents_are_counted_by_what_they_say(notes: Path) -> None:
    def counted(what: str) -> list[str]:
        return run("ls", "--count", what, "-w", str(notes)).stdout.splitlines()

    assert counted("tag") == ["     2  Call", "     1  infra/db"]
    assert counted("kind") == ["     2  note", "     1  log"]
    assert counted("source") == ["     3  memory"]
    assert counted("key") == ["     2  tags", "     1  title"]
    found = json.loads(run("ls", "--count", "tag", "--json", "-w", str(notes)).stdout)
    assert found["counts"] == [
        {"value": "Call", "documents": 2},
        {"value": "infra/db", "documents": 1},
    ]
    assert "documents" not in found
    documents = json.loads(run("ls", "--json", "-w", str(notes)).stdout)["documents"]
    assert Counter(tag.lower() for each in documents for tag in each["tags"]) == {
        "call": 2,
        "infra/db": 1,
    }


def test_filters_are_those_of_search(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(notes)

    def listed(*arguments: str) -> list[str]:
        return run("ls", "-f", "paths", *arguments, "-w", str(notes)).stdout.splitlines()

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
        return run("ls", *filters, "-w", str(notes), "--now", "2025-06-20").stderr

    listed = ("ls", "--since", "last week", "--now", "2025-06-20", "--json", "-w", str(notes))
    assert json.loads(run(*listed).stdout)["dates"] == [
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
    where = ("-w", str(notes))

    def listed(*places: str) -> list[str]:
        return run("ls", *places, "-f", "paths", *where).stdout.splitlines()

    own = ["2026-01-01.md", "./MEMORY.md"]
    assert listed(".") == listed("./") == listed(str(notes / "memory/deep")) == own
    assert listed("*.md")[:2] == ["../../MEMORY.md", "../2025-06-12.md"]  # the memory's, and these
    assert listed("./*.md") == own
    assert listed("MEMORY.md") == ["../../MEMORY.md", "./MEMORY.md"]
    assert listed("./MEMORY.md") == ["./MEMORY.md"]
    assert listed("..", "../../MEMORY.md")[0] == "../../MEMORY.md"
    assert listed("memory/deep") == own
    assert len(listed("../..")) == len(listed()) == 5
    for name in run("ls", "-f", "paths0", *where).stdout.split("\0")[:-1]:
        assert run("get", name, *where).returncode == 0
    assert run("ls", "nosuch", *where).stderr == (
        f"No documents.\nmemcli: no path matches nosuch. Try: memcli ls -w {notes}\n"
    )
    monkeypatch.chdir(notes.parent)
    assert run("ls", ".", "-f", "paths", "-w", "notes").stdout.count("\n") == 5


def test_a_changed_file_is_listed_as_it_is_now(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes)
    assert run("ls", "--tag", "new", "-w", str(notes)).stdout == ""
    write(notes, "memory/new.md", "---\ntags: new\n---\n")
    assert run("ls", "--tag", "new", "--no-sync", "-w", str(notes)).stdout == ""
    assert run("ls", "--tag", "new", "-w", str(notes)).stdout == (
        "-  note  memory/new.md  #new\n".replace("-  ", "-           ")
    )


def test_a_workspace_without_documents_says_so(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    done = run("ls", "-w", str(tmp_path), MEMCLI_EMBEDDING_ENCODER="none")
    assert (done.returncode, done.stdout) == (0, "")
    hint = f'memcli remember "A first note." -w {tmp_path}'
    assert done.stderr == f"There are no Markdown files here. Try: {hint}\n"


def test_python_lists_the_same(notes: Path) -> None:
    with memcli.Memory.open(str(notes), settings={"embedding.encoder": "none"}) as memory:
        found = memory.documents(tags=["call"], order="newest")
        told = json.loads(run("ls", "--tag", "call", "--json", "-w", str(notes)).stdout)
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


def _told(root: Path, *arguments: str) -> tuple[str, str]:
    done = run("ls", *arguments, "-w", str(root), cwd=str(root))
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_the_first_of_a_list_are_shown_and_the_rest_is_counted(notes: Path) -> None:
    everything = _told(notes, "-f", "paths", "--sort", "newest")[0].splitlines()
    for limit in (1, 2, 3, 9):
        out, err = _told(notes, "-f", "paths", "--sort", "newest", "-n", str(limit))
        more = max(0, 3 - limit)
        assert out.splitlines() == everything[:limit]
        said = f"{more} more {'is' if more == 1 else 'are'} not listed.\n" if more else ""
        assert err == said
        listed = json.loads(_told(notes, "--json", "-n", str(limit))[0])
        assert (len(listed["documents"]), listed.get("more", 0)) == (3 - more, more)
    counted = json.loads(_told(notes, "--count", "tag", "--json", "-n", "1")[0])
    assert counted["counts"] == [{"value": "Call", "documents": 2}]
    assert (counted["more"], "documents" in counted) == (1, False)


def test_a_list_is_written_by_a_template(notes: Path) -> None:
    out = _told(notes, "-f", "{date}\\t{name}\\t{tags}")[0]
    assert out == (
        "\tMEMORY.md\t\n2025-06-12\tmemory/2025-06-12.md\tinfra/db, Call\n"
        "\tmemory/plan \x1b[31m␊.md\tcall\n"
    )


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_a_list_fits_its_screen_and_cuts_no_name(
    notes: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.chdir(notes)
    name = "memory/" + "a-long-name-" * 5 + ".md"
    write(notes, name, "---\ntags: [infrastructure, database, incident, postmortem]\n---\nText.\n")
    run("index", "-q", "-w", str(notes))  # so that no bar is drawn
    shown = on_terminal("ls", "-w", str(notes), COLUMNS=str(columns))
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    lines = plain.replace("\r\n", "\n").split("\n")
    assert all(len(line) <= columns for line in lines)
    assert name in "".join(line.removeprefix("    ") for line in lines)
    assert "#postmortem" in plain


def test_a_long_list_in_a_pipe_is_counted_by_folder_and_month(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    days = [f"2025-{month:02}-{day:02}" for month in (5, 6) for day in range(1, 29)]
    for day in days:
        write(tmp_path, f"memory/{day}.md", "The pool.\n")
        write(tmp_path, f"notes/{day}.md", "The pool.\n")
    write(tmp_path, "MEMORY.md", "# Memory\n")

    def listed(*more: str) -> str:
        return run("ls", "-w", str(tmp_path), *more).stdout

    done = run("ls", "-w", str(tmp_path))
    assert (done.returncode, done.stderr) == (
        0,
        "113 documents, counted by folder and month; --all lists them.\n",
    )
    assert done.stdout == (
        "     1  -        ./\n    28  2025-05  memory/\n    28  2025-06  memory/\n"
        "    28  2025-05  notes/\n    28  2025-06  notes/\n"
    )
    assert listed("--all").count("\n") == listed("-f", "paths").count("\n") == 113
    assert listed("-n", "101").count("\n") == 101
    assert listed("--since", "2025-06").count("\n") == 56
    with memcli.Memory.open(str(tmp_path)) as memory:
        listing = list_documents(memory.workspaces, Filters(), order="newest")
        told = of_documents(listing, 1000)
        record = plain(memory.documents())
    assert "name" not in json.loads(json.dumps(record))["freshness"]
    assert list(record) == ["freshness", "documents", "empty_reason"]
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
        write(tmp_path, f"chats/memory/2024-{month:02}-03.md", f"# Chat\n\n{chat * 2}")
        write(tmp_path, f"notes/2024-{month:02}-03.md", "The pool.\n")
    write(tmp_path, "chats/MEMORY.md", "# Ann and Bo\n")  # counted with the chats below it
    assert listed() == (
        "     1  -                   ./\n"
        "    13  2024-01 to 2024-12  chats/  Ann, Bo\n"
        "    56  2025-05 to 2025-06  memory/\n"
        "    68  2024-01 to 2025-06  notes/\n"
    )
    write(tmp_path, "chats/memory/old/2023-01-03.md", "The pool.\n")  # so that it has two folders
    rows = [row.split()[-1] for row in listed().splitlines() if "chats" in row]
    assert rows == ["chats/", "Bo", "chats/memory/old/"]


def test_a_hint_lists_tags_and_keys_only_if_there_are_any(workspace: NewWorkspace) -> None:
    root = workspace({"memory/1.md": "# Day\n\nA hedge.\n"})
    for option in ("--tag", "--where"):
        assert printed("ls", option, "nosuch")[1].endswith("Try: memcli ls\n")
    write(root, "memory/2.md", "---\ntags: [garden]\n---\n# Day\n\nA rose.\n")
    for option, what in (("--tag", "tag"), ("--where", "key")):
        assert printed("ls", option, "nosuch")[1].endswith(f"Try: memcli ls --count {what}\n")
