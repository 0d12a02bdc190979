"""Several workspaces are asked as one; whoever cannot answer is named, and the rest does."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from memcli.config import settings
from memcli.store.open import store_path
from tests.commands import SCHEMAS, checked, printed
from tests.context.makers import put
from tests.history.repositories import begin, commit

SUMMARY = "memory/summaries/2025-02-03--2025-04-08.md"
SAME = "# Runbook\n\nRestart the courier with courierctl.\n"
FILES = {
    "notes": {
        "memory/2025-02-03.md": "# Pool\n\nThe pool ran dry because of OPS-417.\n",
        "memory/runbook.md": SAME,
    },
    "work": {
        "memory/2025-02-04.md": "# Pool at work\n\nThe pool at work was refilled by hand.\n",
        "memory/runbook.md": SAME,
    },
    "home": {"memory/garden.md": "# Garden\n\nThe tulips stand by the fence.\n"},
}


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three workspaces that have names; the current folder is in none of them."""
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name, files in FILES.items():
        put(tmp_path / name, files)
    name_them(tmp_path, **{name: str(tmp_path / name) for name in FILES})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def name_them(base: Path, **folders: str) -> None:
    lines = "".join(f"{name} = {json.dumps(folder)}\n" for name, folder in folders.items())
    put(base / "config", {"memcli/config.toml": f"[workspaces]\n{lines}"})


def record_of(schema: str, *arguments: str, code: int = 0) -> dict[str, Any]:
    return checked(schema, printed(*arguments, "--json", code=code)[0])


def cited(*arguments: str) -> list[str]:
    record = record_of("memcli.search", "search", "--more", *arguments)
    return [each["citation"] for each in record["results"]]


def store_of(folder: Path) -> Path:
    import os

    return Path(store_path(settings.load(str(folder), os.environ, {}), os.environ))


def test_a_citation_names_the_workspace_and_get_takes_it(base: Path) -> None:
    found = record_of("memcli.search", "search", "pool dry", "-v", "-w", "notes", "-w", "work")
    first, second = found["results"][:2]
    assert first["citation"] == "notes:memory/2025-02-03.md:1-3"
    assert first["ref"] == "notes:memory:memory/2025-02-03.md#pool"
    assert (first["workspace"], first["source"]) == ("notes", "memory")
    assert first["file"] == "notes/memory/2025-02-03.md"
    assert second["citation"] == "work:memory/2025-02-04.md:1-3"
    for place in (first["citation"], first["ref"]):
        lines, _ = printed("get", place, "-w", "notes", "-w", "work")
        assert lines == FILES["notes"]["memory/2025-02-03.md"]
        assert printed("get", place)[0] == lines  # nothing but the name says where it is
    told = record_of("memcli.get", "get", second["citation"])
    assert (told["workspace"], told["source"]) == ("work", "memory")


def test_every_form_names_what_its_reader_can_open(base: Path) -> None:
    both = ("search", "pool", "-w", "notes", "-w", "work")
    first = "notes:memory/2025-02-03.md  Pool\n3: The pool ran dry"
    assert printed(*both)[0].startswith(first)
    assert "work:memory/2025-02-04.md:1-3" in printed(*both, "-f", "markdown")[0]
    assert "notes/memory/2025-02-03.md" in printed(*both, "-f", "paths")[0].split("\n")
    assert printed(*both, "-f", "vimgrep")[0].startswith("notes/memory/2025-02-03.md:3:5:")
    assert printed(*both, "-f", "{workspace} {path}\n", "-n", "1")[0].startswith("notes memory/")


def test_a_name_alone_is_one_workspace(base: Path) -> None:
    assert cited("tulips", "-w", "@home") == ["memory/garden.md:1-3"]
    assert cited("tulips", "--everywhere")[0] == "home:memory/garden.md:1-3"
    _, told = printed("search", "tulips", "-w", "@hoem", code=2)
    assert "no workspace is called 'hoem'; the names are notes, work, home" in told
    assert "Try: -w @home" in told


def test_without_names_there_is_nowhere_to_ask(base: Path) -> None:
    (base / "config/memcli/config.toml").unlink()
    assert "no workspace has a name" in printed("search", "tulips", "--everywhere", code=2)[1]
    assert "has no table [workspaces]" in printed("search", "tulips", "-w", "@home", code=2)[1]


def test_the_own_workspace_wins_ties(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = ("courierctl", "--everywhere", "--fields", "citation,duplicates")
    found = record_of("memcli.search", "search", *wanted)["results"]
    assert found[0]["citation"] == "notes:memory/runbook.md:1-3"
    assert "work:memory/runbook.md:1-3" in found[0]["duplicates"]
    monkeypatch.chdir(base / "work")
    found = record_of("memcli.search", "search", *wanted)["results"]
    assert found[0]["citation"] == "work:memory/runbook.md:1-3"
    assert "notes:memory/runbook.md:1-3" in found[0]["duplicates"]
    stores = record_of("memcli.search", "search", *wanted)["workspaces"]
    assert [(each["name"], each["primary"]) for each in stores] == [
        ("work", True), ("notes", False), ("home", False)
    ]  # fmt: skip


def test_folders_of_one_name_get_names_of_their_own(base: Path) -> None:
    put(base / "other", {"work/memory/a.md": "# Pool\n\nA pool.\n"})
    found = cited("pool", "-w", "work", "-w", "other/work")
    assert {citation.partition(":")[0] for citation in found} == {"work", "work-2"}
    assert {c.partition(":")[0] for c in cited("pool", "-w", "other/work", "-w", "work")} == {
        "work-2", "work"
    }  # fmt: skip
    assert len(cited("pool", "-w", "work", "-w", "@work", "-w", str(base / "work"))) == 2


def test_filters_may_name_a_workspace(base: Path) -> None:
    assert {c.partition(":")[0] for c in cited("pool", "--everywhere")} >= {"notes", "work"}
    only = cited("pool courierctl", "--everywhere", "--source", "work:memory")
    assert {citation.partition(":")[0] for citation in only} == {"work"}
    only = cited("pool courierctl", "--everywhere", "--path", "work:memory/2025-*")
    assert only == ["work:memory/2025-02-04.md:1-3"]
    only = cited("pool courierctl", "--everywhere", "--path", "work/memory/2025-02-04.md")
    assert only == ["work:memory/2025-02-04.md:1-3"]
    assert len(cited("pool courierctl", "--everywhere", "--path", "memory/2025-*")) == 2


def test_what_cannot_be_asked_is_named_and_the_rest_answers(base: Path) -> None:
    printed("index", "--everywhere")
    put(base / "broken", {"memory/a.md": "a pool\n", "memcli.toml": "nonsense = 1\n"})
    put(base / "new", {"memory/a.md": "a pool\n"})
    store_of(base / "work").write_bytes(b"no index at all" * 1000)
    name_them(
        base, notes=str(base / "notes"), work=str(base / "work"), gone=str(base / "gone"),
        broken=str(base / "broken"), new=str(base / "new"),
    )  # fmt: skip
    found = record_of("memcli.search", "search", "pool", "--everywhere", "--no-sync", "--more")
    assert found["results"][0]["citation"] == "notes:memory/2025-02-03.md:1-3"
    assert {each["workspace"] for each in found["results"]} == {"notes"}
    faults = {each["name"]: each["error"] for each in found["workspaces"] if "error" in each}
    assert {name: error["code"] for name, error in faults.items()} == {
        "work": "damaged", "gone": "not-found", "broken": "config", "new": "no-index"
    }  # fmt: skip
    _, told = printed("search", "pool", "--everywhere", "--no-sync")
    for name in faults:
        assert f"memcli: {name}: " in told
    assert f"memcli index --full -w {base / 'work'}" in told
    record = record_of("memcli.context", "context", "pool", "--everywhere", "--no-sync")
    assert {part["workspace"] for part in record["parts"]} == {"notes"}
    assert len(record["workspaces"]) == 5


def test_hints_are_followed(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, told = printed("search", "pool", "--everywhere", "--no-sync", code=4)
    assert told.endswith("Try: memcli status --everywhere\n")
    assert "memcli index -w " in printed("status", "--everywhere")[0]
    printed("index", "--everywhere")
    printed("search", "pool", "--everywhere", "--no-sync")
    monkeypatch.setenv("MEMCLI_STORE", str(base / "index.sqlite"))
    _, told = printed("search", "pool", "--everywhere", code=2)
    assert "each of several workspaces needs an index of its own" in told
    assert told.endswith("Try: memcli config store.path\n")
    assert "MEMCLI_STORE" in printed("config", "store.path", "-w", "notes")[0]
    (base / "config/memcli/config.toml").unlink()
    _, told = printed("search", "pool", "--everywhere", code=2)
    assert told.endswith("Try: memcli help workspaces\n")
    assert "[workspaces]" in printed("help", "workspaces")[0]


def test_texts_that_wait_for_a_vector_are_named_with_what_embeds_them(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_SYNC_SEGMENTS", "0")
    _, told = printed("search", "pool", "-w", "notes", "-w", "@work")
    assert "Try: memcli index -w notes -w @work\n" in told
    printed("index", "-w", "notes", "-w", "@work")
    assert printed("search", "pool", "--more", "-w", "notes", "-w", "@work")[1] == ""


def test_where_none_can_answer_there_is_no_answer(base: Path) -> None:
    _, told = printed("search", "pool", "--everywhere", "--no-sync", code=4)
    assert "none of the workspaces can answer: notes: there is no index" in told
    name_them(base, gone="/nowhere/at/all")
    assert "there is no folder /nowhere/at/all" in printed("search", "x", "--everywhere", code=3)[1]
    put(base / "broken", {"memcli.toml": "nonsense = 1\n"})
    name_them(base, broken=str(base / "broken"))
    assert "unknown setting nonsense" in printed("search", "x", "--everywhere", code=2)[1]


def test_a_document_of_a_workspace_that_cannot_be_opened_is_refused_for_its_reason(
    base: Path,
) -> None:
    put(base / "broken", {"memcli.toml": "nonsense = 1\n"})
    name_them(base, gone="/nowhere", broken=str(base / "broken"), notes=str(base / "notes"))
    told = printed("get", "gone:MEMORY.md", "--everywhere", code=3)[1]
    assert told.startswith("memcli: gone: there is no folder /nowhere\n")
    told = printed("get", "broken:MEMORY.md", "--everywhere", code=2)[1]
    assert told.startswith("memcli: broken: ")


def test_damage_that_shows_in_the_middle_of_a_question_is_named_too(base: Path) -> None:
    import apsw

    printed("index", "--everywhere")
    connection = apsw.Connection(str(store_of(base / "work")))
    connection.execute("UPDATE chunks SET heading_path = 'no JSON'")
    connection.close()
    found = record_of("memcli.search", "search", "pool", "--everywhere", "--no-sync", "--more")
    assert {each["workspace"] for each in found["results"]} == {"notes", "home"}
    (fault,) = (each for each in found["workspaces"] if "error" in each)
    assert (fault["name"], fault["error"]["code"]) == ("work", "damaged")


def test_changes_and_neighbours_of_several(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(base / "home", {"memory/2025-02-03.md": "---\nscope: private\n---\n# Salary\n\nMine.\n"})
    commit(begin(base / "home"), "2025-02-10", {"memory/shed.md": "# Shed\n\nIt is new.\n"})
    line = ("changes", "--since", "2025-02-01", "--until", "2025-03-01")
    both = ("-w", "notes", "-w", "home")
    for several in (both, ("--everywhere",)):
        found = record_of("memcli.changes", *line, *several)
        told = [(day["day"], e["new"]["citation"]) for day in found["days"] for e in day["changes"]]
        assert ("2025-02-10", "home:memory/shed.md:3") in told
        assert ("2025-02-03", "notes:memory/2025-02-03.md:3") in told
        assert "Salary" not in str(told)
    nothing = printed("changes", "--now", "2026-01-01", "-w", "notes", "-w", "work")[1]
    assert "work: no note has a date from 2025-12-25 to 2026-01-01; the newest" in nothing
    put(base / "home", {"memcli.toml": "broken ["})
    assert "it is left out" in printed(*line, *both)[1]
    (base / "home/memcli.toml").unlink()
    monkeypatch.chdir(base / "home")
    assert "Mine." in printed(*line, "--everywhere")[0]
    both = ("-w", "@notes", "-w", "@work")
    near = record_of("memcli.related", "related", "work:memory/runbook.md", *both)["results"]
    assert near[0]["citation"] == "notes:memory/runbook.md:1-3"
    listed = record_of("memcli.ls", "ls", *both)["documents"]
    assert {each["name"].partition(":")[0] for each in listed} == {"notes", "work"}


def test_a_private_document_is_told_to_its_own_workspace_alone(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "---\nscope: private\nalways: true\n---\n# Salary\n\nThe salary of the pool.\n"
    put(base / "work", {"memory/salary.md": secret})
    private = "work:memory/salary.md:5-7"
    for everywhere in (("--everywhere",), ("-w", "notes", "-w", "work")):
        assert private not in cited("salary pool", *everywhere)
        assert "salary of" not in printed("context", *everywhere)[0]
        assert "salary of" not in printed("context", "salary", *everywhere)[0]
    assert cited("salary", "--everywhere", "--scope", "private") == []
    out, err = printed("get", "work:memory/salary.md:7", "--everywhere", code=3)
    assert out == ""
    assert err == (
        "memcli: work:memory/salary.md is private, and only its own workspace may read it\n"
        f"Try: memcli get memory/salary.md -w {base / 'work'}\n"
    )
    monkeypatch.chdir(base / "work")
    own, _ = printed("get", "work:memory/salary.md:7", "--everywhere")
    assert own == "The salary of the pool.\n"
    assert private in cited("salary pool", "--everywhere")
    assert "salary of" in printed("context", "salary", "--everywhere")[0]
    assert "salary of" not in printed("context", "--everywhere")[0]  # nobody asked for it
    assert cited("salary", "--scope", "private") == ["memory/salary.md:5-7"]


def test_words_of_a_private_document_are_counted_as_those_of_others(base: Path) -> None:
    """How rare a word is tells nobody whether a document that holds it is private."""

    def scores() -> dict[str, float]:
        told = record_of("memcli.search", "search", "pool refill", "--everywhere", "--explain")
        return {each["citation"]: each["trace"][0]["bm25"] for each in told["results"]}

    text = "# Salary\n\nThe pool and the salary.\n"
    put(base / "work", {"memory/salary.md": f"---\nscope: user\n---\n{text}"})
    before = scores()
    assert before.pop("work:memory/salary.md:4-6")
    put(base / "work", {"memory/salary.md": f"---\nscope: private\n---\n{text}"})
    assert scores() == before


def test_a_summary_of_what_is_private_is_told_to_its_own_workspace_alone(
    base: Path, workspaces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its logs may have been marked when they were told of already."""
    shutil.copytree(workspaces / "engineer", base / "home", dirs_exist_ok=True)
    printed("compact", "-w", "home", "--tail", "4", "--tail-days", "0", "--ratio", "0.9", "--apply")
    of_all = ("--everywhere", "--view", "active", "--more", "-n", "50")

    def summaries() -> set[str]:
        found = record_of("memcli.search", "search", "connection pool", *of_all)["results"]
        return {each["path"] for each in found if each["path"].startswith("memory/summ")}

    told = min(summaries())
    log = re.findall(r'path: "(memory/\S+\.md)"', (base / "home" / told).read_text("utf-8"))[0]
    text = (base / "home" / log).read_text("utf-8")
    put(base / "home", {log: f"---\nscope: private\n---\n{text}"})
    assert told not in summaries()
    assert all(log not in (base / "home" / each).read_text("utf-8") for each in summaries())
    citation = f"home:{told}"
    assert "is private" in printed("get", citation, "--everywhere", code=3)[1]
    behind = ("get", citation, "--expand", "--everywhere")
    out, err = printed(*behind, code=3)
    assert out == ""
    assert err.startswith(f"memcli: {citation} is private, and only its own workspace")
    monkeypatch.chdir(base / "home")
    assert told in summaries()
    assert printed("get", citation, "--everywhere")[0]
    assert text.split("---\n")[-1].strip() in printed(*behind)[0]


def test_no_word_and_no_speaker_of_a_private_document_is_told(base: Path) -> None:
    """A word that only it holds is none that a misspelt one is taken for."""
    chat = "**Wolfram**: quagmirella\n\n**Kate**: The merger.\n\n" * 3
    put(base / "work", {"memory/chat.md": f"---\nscope: private\n---\n{chat}"})
    for typed in ("quagmirela", "mergre"):
        assert "Searched for" not in printed("search", typed, "--everywhere")[1]
        assert "Searched for" in printed("search", typed, "-w", "work")[1]
    assert "Wolfram" not in printed("search", "pool", "--everywhere", "--by", "Wolfran", code=2)[1]
    assert "Wolfram" in printed("search", "pool", "-w", "work", "--by", "Wolfran", code=2)[1]


def test_an_untrusted_document_may_be_private_and_nothing_else(base: Path) -> None:
    for scope in ("private", "user"):
        text = f"---\ntrust: untrusted\nscope: {scope}\n---\nA page about the walrus.\n"
        put(base / "work", {f"memory/{scope}.md": text})
    assert cited("walrus", "--everywhere")[0] == "work:memory/user.md:5"
    assert "work:memory/private.md:5" not in cited("walrus", "--everywhere")
    assert cited("walrus", "-w", "work", "--scope", "private") == ["memory/private.md:5"]
    assert cited("walrus", "-w", "work", "--scope", "user") == []


def test_a_context_holds_the_rules_of_all(base: Path) -> None:
    put(base / "work", {"memory/rules.md": "---\nalways: true\n---\nAsk before a deploy.\n"})
    put(base / "home", {"memory/rules.md": "---\nalways: true\n---\nWater on Mondays.\n"})
    block, _ = printed("context", "pool dry", "--everywhere")
    assert "work:memory/rules.md:4" in block
    assert "home:memory/rules.md:4" in block
    assert "notes:memory/2025-02-03.md:1-3" in block
    record = record_of("memcli.context", "context", "pool dry", "--everywhere")
    assert {part["workspace"] for part in record["parts"]} == {"notes", "work", "home"}


def test_status_and_index_tell_of_each(base: Path) -> None:
    name_them(base, notes=str(base / "notes"), gone=str(base / "gone"))
    told, _ = printed("status", "--everywhere")
    assert told.startswith(f"==> notes <==\nworkspace  {base / 'notes'}")
    assert f"memcli index -w {base / 'notes'}" in told
    printed("status", "--everywhere", "--check", code=1)
    plan = record_of("memcli.index-plan-several", "index", "--everywhere", "--dry-run", code=3)
    assert plan["workspaces"][0]["index-plan"]["added"] == [
        "memory/2025-02-03.md",
        "memory/runbook.md",
    ]
    done = record_of("memcli.index-several", "index", "--everywhere", code=3)
    assert done["workspaces"][0]["index"]["chunks"] == 2
    assert done["workspaces"][1]["error"]["code"] == "not-found"
    found = record_of("memcli.status-several", "status", "--everywhere")
    assert [each.get("status", {}).get("state") for each in found["workspaces"]] == [
        "up_to_date",
        None,
    ]
    _, messages = printed("index", "-w", "notes", "-w", "work")
    assert "==> notes <==\nIndexed: 2 unchanged" in messages


@pytest.mark.parametrize(("gone_is", "code"), [("aa", 3), ("bb", 2)])
def test_an_index_run_of_all_exits_like_the_first_that_failed(
    base: Path, gone_is: str, code: int
) -> None:
    put(base / "broken", {"memcli.toml": "nonsense = 1\n"})
    gone, broken = str(base / "gone"), str(base / "broken")
    both = {"aa": gone, "bb": broken} if gone_is == "aa" else {"aa": broken, "bb": gone}
    name_them(base, **both, cc=str(base / "notes"))
    _, messages = printed("index", "--everywhere", code=code)
    assert "==> cc <==\nIndexed" in messages


@pytest.mark.parametrize("what", ["status", "index", "index-plan"])
def test_of_each_is_told_what_is_told_of_one(what: str) -> None:
    one, several = (
        json.loads((SCHEMAS / f"memcli.{name}.1.json").read_text("utf-8"))
        for name in (what, f"{what}-several")
    )
    told = several["properties"]["workspaces"]["items"]["properties"][what]
    assert told.pop("description") == f"The object of memcli.{what}/1."
    assert told == {key: one[key] for key in one if key not in ("$schema", "$id", "title")}


def test_lines_of_any_workspace_are_followed(base: Path) -> None:
    told = record_of(
        "memcli.why-not", "search", "pool", "--everywhere", "--why-not",
        "work:memory/2025-02-04.md:1-3",
    )  # fmt: skip
    assert (told["workspace"], told["source"]) == ("work", "memory")
    assert told["stages"][0]["citation"] == "work:memory/2025-02-04.md:1-3"


def test_lines_around_a_passage_are_read_where_it_stands(base: Path) -> None:
    put(base / "work", {"memory/long.md": "# A\n\nbefore\n\n# Zebra\n\nA zebra.\n\n# B\n\nb\n"})
    shown, _ = printed("search", "zebra", "--everywhere", "-n", "1", "-C", "2")
    assert "before" in shown


@pytest.mark.parametrize("line", [("search", "pool"), ("context", "pool")])
def test_a_trace_of_several_is_refused_before_its_file_is_touched(
    base: Path, line: tuple[str, ...]
) -> None:
    (base / "kept.json").write_text("mine")
    for name in ("kept.json", "r.json"):
        told = printed(*line, "--everywhere", "--trace", name, code=2)[1]
        assert "--trace works on one workspace" in told
    assert (base / "kept.json").read_text() == "mine"
    assert not (base / "r.json").exists()


def test_summaries_stay_with_their_workspace(base: Path, workspaces: Path) -> None:
    """The same path in another workspace is another document: nothing stands for its lines."""
    for name in ("notes", "work"):
        shutil.copytree(workspaces / "engineer", base / name, dirs_exist_ok=True)
    printed(
        "compact", "-w", "notes", "--tail", "4", "--tail-days", "0", "--ratio", "0.9", "--apply"
    )
    wanted = ("search", "MySQL", "--everywhere", "--mode", "keyword", "-n", "100")
    found = cited(*wanted[1:], "--view", "active")
    places = {citation.rpartition(":")[0] for citation in found}
    assert "work:memory/2025-03-03.md" in places
    assert "notes:memory/2025-03-03.md" not in places
    assert f"notes:{SUMMARY}" in places
    behind = record_of("memcli.search", *wanted, "--view", "active", "--expand")["expanded"]
    assert behind
    assert all(each["citation"].startswith("notes:memory/") for each in behind)
    assert all(each["summary"].startswith("notes:memory/summaries/") for each in behind)
    shown, _ = printed(*wanted, "--view", "active", "--expand")
    assert f"notes:{SUMMARY}" in shown
    assert "./notes:" not in shown
    raw = record_of("memcli.get", "get", f"notes:{SUMMARY}", "--expand")["expanded"]
    assert {each["citation"].partition(":")[0] for each in raw} == {"notes"}


def test_a_watcher_stays_with_one(base: Path) -> None:
    assert "one workspace" in printed("index", "--watch", "--everywhere", code=2)[1]


def test_no_workspace_names_others(base: Path) -> None:
    put(base / "notes", {"memcli.toml": '[workspaces]\nwork = "/etc"\n'})
    _, told = printed("search", "pool", "-w", "notes", code=2)
    assert "[workspaces] is allowed only in your own configuration" in told


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ('workspaces = "/srv"', "write [workspaces] as lines of"),
        ('[workspaces]\nwork = 3\n', "must be the whole path of a folder, not 3"),
        ('[workspaces]\nwork = "notes"\n', "must be the whole path of a folder, not 'notes'"),
        ('[workspaces]\n"a:b" = "/srv"\n', "unlike 'a:b'"),
        ('[workspaces]\nc = "/srv"\n', "unlike 'c'"),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_read_is_named(base: Path, table: str, why: str) -> None:
    put(base / "config", {"memcli/config.toml": table})
    assert why in printed("search", "pool", "--everywhere", code=2)[1]


HOLDING = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("PRAGMA locking_mode = EXCLUSIVE")
connection.execute("BEGIN EXCLUSIVE")
connection.execute("UPDATE meta SET value = value")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("held", ["work", "notes"])
def test_an_index_that_another_process_holds_is_named_within_a_bounded_time(
    base: Path, monkeypatch: pytest.MonkeyPatch, held: str
) -> None:
    """The rest answers, and what of it is private is not told in place of the one that is held."""
    put(base / "home", {"memory/secret.md": "---\nscope: private\n---\nThe pool code is 4711.\n"})
    printed("index", "--everywhere")
    monkeypatch.setattr("memcli.store.sqlite.driver.BUSY_TIMEOUT_MS", 300)
    command = [sys.executable, "-c", HOLDING, str(store_of(base / held))]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        for line in ("search", "context"):
            began = time.monotonic()
            told, messages = printed(line, "pool", "--everywhere")
            assert time.monotonic() - began < 5
            assert f"memcli: {held}: the index " in messages
            assert "is in use by another process; it is left out" in messages
            assert ("notes" if held == "work" else "work") + ":memory/2025-02-0" in told
            assert "4711" not in told
        holder.communicate("")
    assert f"{held}:memory/2025-02-0" in printed("search", "pool", "--everywhere")[0]


def test_no_other_is_told_what_is_private_where_the_own_one_cannot_be_asked(base: Path) -> None:
    put(base / "work", {"memory/secret.md": "---\nscope: private\n---\nThe pool code is 4711.\n"})
    put(base / "notes", {"memcli.toml": "nonsense = 1\n"})
    for line in ("search", "context"):
        assert "4711" not in printed(line, "pool code", "-w", "notes", "-w", "work")[0]
        assert "4711" in printed(line, "pool code", "-w", "work")[0]
