"""Whatever names a place names its source: `memcli get` of it prints that document and no other."""

from __future__ import annotations

import contextlib
import io
import json
import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memcli.api.targets import Target, _readings
from memcli.cli.main import run
from memcli.cli.options import Options
from memcli.cli.terminal import Terminal
from memcli.cli.watch import Log
from memcli.indexing.indexer import Report
from memcli.types import MEMORY_SOURCE, Skip, cite, shown, split_name
from tests.commands import NewWorkspace, Screen, printed, record
from tests.context.makers import put
from tests.support import cited

TWO = "[[source]]\nname = 'handbook'\npath = 'handbook'\nkinds = {'memory/**' = 'log'}\n"
TWINS = {
    f"{folder}{path}": f"# Pool\n\nThe pool {text} of the {source}.\n"
    for source, folder in (("memory", ""), ("handbook", "handbook/"))
    for path, text in (
        ("MEMORY.md", "runs dry in June, say the rules"),
        ("memory/2026-02-05.md", "was empty at noon, says the log"),
    )
}
CITED = {
    "MEMORY.md:1-3",
    "memory/2026-02-05.md:1-3",
    "handbook:MEMORY.md:1-3",
    "handbook:memory/2026-02-05.md:1-3",
}
# The same from the workspace, as paths that other programs open.
FROM_HERE = {citation.replace("handbook:", "handbook/") for citation in CITED}
NAMES = {citation.removesuffix(":1-3") for citation in FROM_HERE}
_CITATION = re.compile(r"(?:handbook:)?[\w/-]+\.md:\d+-\d+")


@pytest.fixture
def empty(workspace: NewWorkspace) -> Path:
    return workspace({})


@pytest.fixture
def twins(empty: Path) -> Path:
    """A memory and a handbook with the same paths, the same lines and other words."""
    return put(empty, {**TWINS, "memcli.toml": TWO})


def _places(value: Any) -> Iterator[dict[str, Any]]:
    """Give every object inside a JSON value that has a citation."""
    if isinstance(value, dict):
        if value.get("citation"):
            yield value
        for each in value.values():
            yield from _places(each)
    elif isinstance(value, list):
        for each in value:
            yield from _places(each)


def _holds_what_it_cites(place: dict[str, Any]) -> None:
    got = record("get", place["citation"])
    if "source" in place:
        assert (got["source"], got["path"]) == (place["source"], place["path"])
    if "text_hash" in place:
        assert got["text_hash"] == place["text_hash"]
    if "text" in place:
        assert place["text"] in got["text"]
    if "ref" in place:
        by_ref = record("get", place["ref"])
        assert (by_ref["source"], by_ref["path"]) == (got["source"], got["path"])


def test_a_citation_gives_the_lines_of_its_own_source(twins: Path) -> None:
    for citation in CITED:
        source = "handbook" if citation.startswith("handbook:") else "memory"
        assert f"of the {source}." in printed("get", citation)[0]
        assert f"of the {source}." in printed("get", citation.removesuffix(":1-3"))[0]


@pytest.mark.parametrize("form", ["text", "markdown", "json", "jsonl"])
def test_every_form_of_search_cites_the_source(twins: Path, form: str) -> None:
    out, _ = printed("search", "pool", "-f", form)
    found = cited(out) if form == "text" else _CITATION.findall(out)
    below = {each.replace(":1-", ":3-") for each in FROM_HERE}  # the heading is above the text
    assert set(found) == {"text": below, "markdown": FROM_HERE}.get(form, CITED)
    if form == "json":
        places = list(_places(json.loads(printed("search", "pool", "-f", form, "--full")[0])))
        assert len(places) == len(CITED)
        for place in places:
            _holds_what_it_cites(place)


def test_a_terminal_cites_the_source_and_links_its_file(
    twins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index may hold documents of a source that is no longer configured: they have no link."""
    monkeypatch.setenv("FORCE_HYPERLINK", "1")
    for is_there in (True, False):
        out, err = Screen(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            assert run(["search", "pool", "--more", *(() if is_there else ("--no-sync",))]) == 0
        told = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
        assert set(_CITATION.findall(told)) == (FROM_HERE if is_there else CITED)
        linked = re.findall(r"]8;;file://[^/]*([^\x1b]+)\x1b", told)
        kept = TWINS if is_there else [path for path in TWINS if not path.startswith("handbook/")]
        assert sorted(linked) == sorted(f"{twins}/{path}" for path in kept)
        (twins / "memcli.toml").unlink(missing_ok=True)


def test_what_is_skipped_is_named_with_its_source(twins: Path) -> None:
    for folder in ("", "handbook/"):
        (twins / folder / "memory" / "link.md").symlink_to("2026-02-05.md")
    for command in (("index", "-v"), ("status", "-v")):
        told = "".join(printed(*command))
        for name in ("memory/link.md", "handbook:memory/link.md"):
            assert re.search(rf"skipped +{name}: symlink \(links are not followed\)\n", told)
    _, err = printed("get", "handbook:memory/link.md", code=3)
    assert err == (
        "memcli: handbook:memory/link.md is not a document: symlink (links are not followed)\n"
        "Try: memcli ls\n"
    )


def test_a_watcher_tells_the_folders_of_two_sources_apart() -> None:
    err = io.StringIO()
    terminal = Terminal(io.StringIO(), err, {}, Options(color="never"))
    log = Log(terminal, lambda: 0, as_json=False)
    lost = [Skip(source, "", "unreadable", "gone") for source in ("memory", "handbook")]
    for unlisted in (lost, lost[:1]):
        report = Report((), (), (), (), 0, (), tuple(unlisted), (), ())
        log.synced("change", report, {}, chunks=0, embedded=0, pending=0, seconds=0.0)
    told = [line.partition(" ")[2] for line in err.getvalue().splitlines()]
    assert told == [
        ". cannot be listed: gone; what is indexed of it stays",
        "handbook:. cannot be listed: gone; what is indexed of it stays",
        "handbook:. can be listed again",
    ]


@pytest.mark.parametrize(("form", "end"), [("paths", "\n"), ("paths0", "\0")])
def test_paths_name_the_document_for_get(twins: Path, form: str, end: str) -> None:
    names = printed("search", "pool", "-f", form)[0].removesuffix(end).split(end)
    assert len(names) == len(set(names))
    assert set(names) == NAMES
    for name in names:
        source = "handbook" if name.startswith("handbook/") else "memory"
        assert f"of the {source}." in printed("get", name)[0]


def test_duplicates_cite_the_source(empty: Path) -> None:
    said = "# Twin\n\nThe grey heron stands at the pond and looks for frogs.\n"
    put(empty, {"MEMORY.md": said, "handbook/MEMORY.md": said, "memcli.toml": TWO})
    (result,) = record("search", "heron")["results"]
    cited = {result["citation"], *result["duplicates"]}
    assert cited == {"MEMORY.md:1-3", "handbook:MEMORY.md:1-3"}
    told = printed("search", "heron", "--why-not", result["duplicates"][0])[0]
    assert f"folded into {result['citation']}" in told


@pytest.mark.parametrize("form", [(), ("--json", "--explain")])
def test_every_form_of_a_context_cites_the_source(twins: Path, form: tuple[str, ...]) -> None:
    printed("index")
    out, _ = printed("context", "pool", "--tail", "0", *form)
    assert set(_CITATION.findall(out)) == CITED
    if form:
        for place in _places(json.loads(out)):
            _holds_what_it_cites(place)


@pytest.mark.parametrize("command", ["search", "context"])
def test_receipts_and_their_replay_cite_the_source(
    twins: Path, tmp_path: Path, command: str
) -> None:
    file = tmp_path / "receipt.json"
    tail = ("--tail", "0") if command == "context" else ()
    printed(command, "pool", *tail, "--trace", str(file), "--now", "2026-02-20")
    places = list(_places(json.loads(file.read_text())["passages"]))
    assert {place["citation"] for place in places} == CITED
    for place in places:
        _holds_what_it_cites(place)
    (twins / "handbook" / "MEMORY.md").unlink()
    again = record("bench", "replay", str(file))
    (gone,) = [each["before"] for each in again["passages"] if each["after"] is None]
    assert gone["citation"] == "handbook:MEMORY.md:1-3"
    assert "handbook:MEMORY.md:1-3  gone: " in printed("bench", "replay", str(file))[0]


def test_why_not_names_the_source(twins: Path) -> None:
    for citation in CITED:
        out, _ = printed("search", "pool", "--why-not", citation)
        assert out.startswith(f"{citation}: shown, rank ")
        told = record("search", "pool", "--why-not", citation)
        assert cite(told["source"], told["path"], 1, 3) == citation
        assert {stage["citation"] for stage in told["stages"]} == {citation}


def test_messages_of_get_name_the_source(twins: Path) -> None:
    where = "handbook:MEMORY.md"
    _, err = printed("get", f"{where}:1-3", "--hash", "0" * 32, code=1)
    assert err.startswith("memcli: handbook/MEMORY.md:1-3 has changed: its hash is ")
    _, err = printed("get", f"{where}:3-1", code=2)
    assert err.endswith(f"Try: memcli get {where}:1-3\n")
    _, err = printed("get", f"{where}#nowhere", code=3)
    assert err == (f"memcli: {where} has no heading or anchor 'nowhere'\nTry: memcli get {where}\n")
    _, err = printed("get", where, "--expand", code=2)
    assert err.endswith(f"Try: memcli get {where}\n")
    _, err = printed("get", "handbook:MEMORI.md", code=3)
    assert err.endswith(f"Try: memcli get {where}\n")


def test_a_file_name_without_folder_and_suffix_names_the_only_document_with_it(empty: Path) -> None:
    put(empty, {
        "memory/2026-02-05.md": "# Day\n\nThe pool was empty.\n",
        "memory/pool.md": "One.\n", "memory/old/pool.md": "Two.\n",
    })  # fmt: skip
    for name in ("2026-02-05:3", "2026-02-05.md:3", "`2026-02-05:3`"):
        assert printed("get", name)[0] == "The pool was empty.\n"
    assert "there is no document pool" in printed("get", "pool", code=3)[1]


def test_a_bare_path_is_another_source_s_only_where_the_memory_has_none_and_that_is_said(
    twins: Path,
) -> None:
    (twins / "MEMORY.md").unlink()
    out, err = printed("get", "MEMORY.md:3")
    assert "of the handbook." in out
    assert err == "memcli: the memory has no MEMORY.md; this is handbook:MEMORY.md\n"
    for exactly in ("memory:MEMORY.md", "./MEMORY.md"):
        _, err = printed("get", exactly, code=3)
        assert err.endswith("Try: memcli get handbook:MEMORY.md\n")


LOGS = {
    f"memory/2025-03-0{day}.md": f"# Day {day}\n\nWe decided to keep queue {day} for the orders.\n"
    "\nThe rest of the day was spent on slides, lunch, and a long walk in the park at noon.\n"
    for day in range(1, 5)
}


def test_what_stands_behind_a_summary_is_of_the_memory(empty: Path) -> None:
    """The handbook has the paths of the logs, which are then deleted."""
    others = {f"handbook/{path}": text.replace("queue", "topic") for path, text in LOGS.items()}
    put(empty, {**LOGS, **others, "memcli.toml": TWO})
    small = ("--tail", "0", "--tail-days", "0", "--cluster", "2", "--ratio", "0.9")
    (made, *_) = record("compact", *small, "--apply")["summaries"]
    behind = record("get", made["path"], "--expand")["expanded"]
    assert {each["source"] for each in behind} == {"memory"}
    for each in behind:
        _holds_what_it_cites(each)
    out, _ = printed("get", made["path"], "--expand")
    assert re.findall(r"^==> (.*) <==$", out, re.MULTILINE) == [e["citation"] for e in behind]
    found = record("search", "queue", "--view", "active", "--expand", "--source", "memory")
    assert found["expanded"]
    for place in _places(found):
        _holds_what_it_cites(place)
    (empty / behind[0]["path"]).unlink()
    _, err = printed("get", made["path"], "--expand", code=3)
    assert err == (
        f"memcli: there is no document {behind[0]['path']}\n"
        f"Try: memcli get handbook:{behind[0]['path']}\n"
    )


def test_a_kind_of_another_source_may_be_called_summary(empty: Path) -> None:
    """Nothing stands behind it, and the summary of the same path lends it no confidence."""
    put(empty, {**LOGS, "memcli.toml": TWO.replace("kinds", "kind = 'summary'\nkinds")})
    small = ("--tail", "0", "--tail-days", "0", "--cluster", "2", "--ratio", "0.9")
    (made, *_) = record("compact", *small, "--apply")["summaries"]
    put(empty, {f"handbook/{made['path']}": "# Orders\n\nThe queue of the orders is long.\n"})
    found = record("search", "queue of the orders", "--view", "active", "--expand", "--explain")
    stages = {
        result["source"]: {step["stage"] for step in result["trace"]}
        for result in found["results"]
        if result["path"] == made["path"]
    }
    assert "quality" in stages["memory"]
    assert "quality" not in stages["handbook"]


@pytest.mark.skipif(sys.platform == "win32", reason="no colons in names there")
def test_names_that_look_like_more_than_a_path_are_read_back(empty: Path) -> None:
    names = (
        "handbook:MEMORY.md", "C#.md", "a.md", "a.md:1-3.md", "a.md#top.md", "#.md", ":.md",
        "handbook/MEMORY.md", "handbook/a.md", "handbook/a.md:1-3.md", "handbook/C#.md", "x y.md",
        "memory:a.md", "a:b/c.md", "MEMORY.md", "two\nlines.md", "-n.md",
    )  # fmt: skip
    files = {name: f"# Pool\n\nThe pool in file {at}.\n" for at, name in enumerate(names)}
    put(empty, {**files, "memcli.toml": f"[files]\ninclude = ['**/*']\n{TWO}"})
    named = printed("search", "pool", "-n", "100", "--more", "-f", "paths0")[0].split("\0")[:-1]
    assert {printed("get", name)[0] for name in named} == set(files.values())
    found = record("search", "pool", "-n", "100", "--full")["results"]
    assert len(found) == len(files)
    for place in found:
        _holds_what_it_cites(place)


SOURCES = ("memory", "a", "a.md", "1")
_FOLDERS = st.sampled_from(["", "a/", "a:b/", "a.md/", "a:b/memory:1/", "C#/", "x\ny/"])
_NAMES = st.sampled_from(
    ["a", "b", "a:b", "a.md", "a.md:1-3", "1-3", "C#", "a#top", "memory:a", "x\ny", "#", ":", "1:1"]
) | st.text(alphabet="ab1-:#.", min_size=1, max_size=8).filter(lambda name: name[0] != ".")
_PATHS = st.builds("{}{}{}".format, _FOLDERS, _NAMES, st.sampled_from([".md", ".markdown", ".MD"]))
DOCUMENTS = st.sets(st.tuples(st.sampled_from(SOURCES), _PATHS), min_size=1, max_size=12)
ANCHORS = st.sampled_from(["top", "a/b-c", "x~2", "3", "1-3"])


def _read(text: str, known: set[tuple[str, str]]) -> Target:
    return next(
        each for each in _readings(text, SOURCES, lambda name: []) if each.document in known
    )


@settings(deadline=None)
@given(known=DOCUMENTS, anchor=ANCHORS)
@example({("a.md", "a.md"), ("memory", "a.md")}, "top")
@example({("a", "b.md"), ("memory", "a:b.md")}, "top")
def test_names_citations_and_refs_are_read_back_whatever_else_there_is(
    known: set[tuple[str, str]], anchor: str
) -> None:
    for source, path in known:
        whole = Target(source, path)
        assert _read(shown(source, path), known) == whole
        assert _read(cite(source, path, 3, 9), known) == whole._replace(first=3, last=9)
        assert _read(f"{source}:{path}#{anchor}", known) == whole._replace(anchor=anchor)


@given(path=_PATHS)
def test_a_name_of_the_memory_opens_the_file_from_the_workspace(path: str) -> None:
    name = shown(MEMORY_SOURCE, path)
    assert posixpath.normpath(name) == path
    assert not name.startswith("-")
    assert split_name(name, SOURCES) == (MEMORY_SOURCE, name)


@pytest.mark.parametrize("path", ["MEMORY.md", "memory/2026-02-05.md", "C#.md", "a/b:c.md"])
def test_a_usual_name_is_the_path_alone(path: str) -> None:
    assert shown(MEMORY_SOURCE, path) == path


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system takes both for one name")
def test_a_name_is_found_however_its_accents_are_composed(empty: Path) -> None:
    kept, typed = "memory/Mu\u0308ller.md", "memory/M\u00fcller.md"
    put(empty, {kept: "# M\n\nOne pool.\n", "memory/fox.md": "# F\n\nOne fox.\n"})
    assert printed("get", f"{typed}:3")[0] == "One pool.\n"
    assert printed("related", f"{typed}:3", "-q")[0]
    put(empty, {typed: "# M\n\nAnother pool.\n"})
    assert printed("get", f"{typed}:3")[0] == "Another pool.\n"
    assert printed("get", f"{kept}:3")[0] == "One pool.\n"


@pytest.mark.parametrize(
    "form", ["a.md:2,4", "a.md:4,2-3", "a.md:2, 4", "a.md#L2-L4", "[why](a.md:2-4)", "(a.md:2-4)"]
)
def test_citations_of_other_programs_and_of_several_places_are_read_everywhere(
    empty: Path, form: str
) -> None:
    put(empty, {"a.md": "The\npool\nis\ndry.\n", "b.md": "The pool is dry again.\n"})
    assert printed("get", form)[0] == "pool\nis\ndry.\n"
    assert record("related", form)["results"][0]["path"] == "b.md"
    missed = record("search", "pool", "--why-not", form)
    assert (missed["start_line"], missed["end_line"]) == (2, 4)
    put(empty, {"a.md:2,4.md": "A name like a citation.\n"})
    assert printed("get", "a.md:2,4.md")[0] == "A name like a citation.\n"
