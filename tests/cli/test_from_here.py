"""Paths are told from where the user stands, and `memcli get` reads them back from there."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memcli.api.targets import Target, _readings
from memcli.language.tokens import estimate
from memcli.workspace.names import documents_at, name_from
from tests.cli.processes import COMMAND
from tests.commands import run_here as run
from tests.context.makers import put
from tests.support import cited

SOURCES = """\
[[source]]
name = "handbook"
path = "docs"
[[source]]
name = "wiki"
path = "WIKI"
"""
FILES = {
    "MEMORY.md": "# Pool\n\nThe pool of the memory.\n",
    "memory/2026-02-05.md": "# Day\n\nThe pool of the log.\n",
    "memory/memory/2026-02-05.md": "# Day\n\nThe pool of the log below.\n",
    "docs/MEMORY.md": "# Pool\n\nThe pool of the handbook.\n",
    "docs/adr/a queue.md": "# Pool\n\nThe pool of the decision.\n",
}
ELSEWHERE = {"MEMORY.md": "# Pool\n\nThe pool of the wiki.\n"}
TEXTS = sorted([*FILES.values(), *ELSEWHERE.values()])


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A memory, a handbook inside it and a wiki outside; names that lie in two of them."""
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    put(tmp_path / "wiki", ELSEWHERE)
    config = tmp_path / "config"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    put(config, {"memcli/config.toml": SOURCES.replace("WIKI", str(tmp_path / "wiki"))})
    # The folders of the notes have marks of a workspace themselves.
    monkeypatch.setenv("MEMCLI_WORKSPACE", str(tmp_path / "notes"))
    return put(tmp_path / "notes", FILES)


def _run(folder: Path, *arguments: str, code: int = 0) -> str:
    done = run(*arguments, cwd=folder)
    assert done.returncode == code, done.stderr
    return done.stdout


def _names(folder: Path, *arguments: str) -> list[str]:
    return sorted(_run(folder, "search", "pool", "--more", "-f", "paths", *arguments).splitlines())


def test_paths_are_told_from_here(notes: Path) -> None:
    assert _names(notes) == [
        "../wiki/MEMORY.md", "MEMORY.md", "docs/MEMORY.md", "docs/adr/a queue.md",
        "memory/2026-02-05.md", "memory/memory/2026-02-05.md",
    ]  # fmt: skip
    # A bare name is the memory's first: what would be read as another file stands behind `./`.
    assert _names(notes / "memory") == [
        "../../wiki/MEMORY.md", "../MEMORY.md", "../docs/MEMORY.md", "../docs/adr/a queue.md",
        "./memory/2026-02-05.md", "2026-02-05.md",
    ]  # fmt: skip
    assert _names(notes / "docs") == [
        "../../wiki/MEMORY.md", "../MEMORY.md", "../memory/2026-02-05.md",
        "../memory/memory/2026-02-05.md", "./MEMORY.md", "adr/a queue.md",
    ]  # fmt: skip
    assert _names(notes.parent) == [
        "notes/MEMORY.md", "notes/docs/MEMORY.md", "notes/docs/adr/a queue.md",
        "notes/memory/2026-02-05.md", "notes/memory/memory/2026-02-05.md", "wiki/MEMORY.md",
    ]  # fmt: skip


FOLDERS = [".", "memory", "memory/memory", "docs", "docs/adr", "..", "../wiki", "../empty"]


@pytest.mark.parametrize("here", FOLDERS)
def test_xargs_opens_them_and_get_reads_them_back(notes: Path, here: str) -> None:
    folder = notes / here
    folder.mkdir(exist_ok=True)
    names = _run(folder, "search", "pool", "--more", "-f", "paths0")
    done = subprocess.run(
        ["xargs", "-0", "cat", "--"], cwd=folder, input=names, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    texts = [(folder / name).read_text() for name in names.split("\0")[:-1]]
    assert done.stdout == "".join(texts)
    assert sorted(texts) == TEXTS
    for name, text in zip(names.split("\0"), texts, strict=False):
        assert _run(folder, "get", name) == text
        assert _run(folder, "get", f"{name}:3") == text.split("\n")[2] + "\n"
        assert _run(folder, "get", f"{name}#{'pool' if 'Pool' in text else 'day'}") == text


@pytest.mark.parametrize("here", ["memory", "docs", ".."])
@pytest.mark.parametrize("form", ["text", "markdown"])
def test_citations_are_read_back_from_where_they_were_printed(
    notes: Path, here: str, form: str
) -> None:
    out = _run(notes / here, "search", "pool", "--more", "-f", form)
    quoted = re.findall(r"^\*\*(.*\.md:\d+-\d+)", out, re.MULTILINE)
    found = cited(out) if form == "text" else quoted
    texts = [_run(notes / here, "get", each) for each in found]
    bodies = [text.partition("\n\n")[2] for text in TEXTS]  # of text: the heading is above it
    assert sorted(texts) == (sorted(bodies) if form == "text" else TEXTS)


def test_json_has_no_file_that_is_its_path_below_the_folder_of_w(notes: Path) -> None:
    search = ("search", "pool", "--more", "--json")
    for folder in (str(notes), ".."):
        for each in json.loads(_run(notes / "memory", *search, "-w", folder))["results"]:
            is_of_memory = "source" not in each
            assert is_of_memory == ("file" not in each)
            root = notes if is_of_memory else notes / "docs"
            assert (root / each["path"]).is_file()
    every = json.loads(_run(notes / "memory", *search, "-w", "..", "-v"))["results"]
    assert all("file" in each for each in every)
    unnamed = json.loads(_run(notes / "memory", *search))["results"]
    assert all("file" in each for each in unnamed)


@pytest.mark.parametrize("here", FOLDERS)
def test_json_keeps_the_path_in_the_workspace_and_adds_the_one_from_here(
    notes: Path, here: str
) -> None:
    folder = notes / here
    folder.mkdir(exist_ok=True)
    there = json.loads(_run(notes, "search", "pool", "--more", "--json", "-v"))["results"]
    results = json.loads(_run(folder, "search", "pool", "--more", "--json", "-v"))["results"]
    for place, same in zip(results, there, strict=True):
        file = (folder / place.pop("file")).resolve()
        assert file == (notes / same.pop("file")).resolve()
        assert file.read_text().rstrip("\n") == place["snippet"]
        assert place == same
        got = json.loads(_run(folder, "get", place["citation"], "--json"))
        assert (folder / got["file"]).resolve() == file
        assert got["text_hash"] == place["text_hash"]


def test_a_bare_name_of_two_files_is_the_memory_s_and_that_is_said(notes: Path) -> None:
    done = run("get", "MEMORY.md:3", cwd=notes / "docs")
    assert done.stdout == "The pool of the memory.\n"
    assert done.stderr == (
        "memcli: this is ../MEMORY.md; the file of that name here is ./MEMORY.md\n"
    )
    done = run("get", "adr/a queue.md:3", cwd=notes / "docs")
    assert (done.stdout, done.stderr) == ("The pool of the decision.\n", "")


def test_get_reads_absolute_paths_and_no_others_than_documents(notes: Path) -> None:
    assert _run(notes.parent, "get", f"{notes}/docs/MEMORY.md:3") == ("The pool of the handbook.\n")
    put(notes.parent, {"secret.md": "# Secret\n"})
    for name in ("../secret.md", f"{notes.parent}/secret.md", "docs/../../secret.md"):
        assert _run(notes, "get", name, code=3) == ""


def test_in_a_folder_that_was_deleted_names_are_absolute(notes: Path) -> None:
    script = 'mkdir gone; cd gone; rmdir ../gone; exec "$@"'
    shell = ["sh", "-c", script, "sh", *COMMAND]
    search = ("search", "pool", "-f", "paths", "--path", "MEMORY.md")
    done = subprocess.run(
        [*shell, *search],
        cwd=notes.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    named = done.stdout.splitlines()
    assert sorted(named) == [
        f"{notes}/MEMORY.md",
        f"{notes}/docs/MEMORY.md",
        f"{notes.parent}/wiki/MEMORY.md",
    ]
    for name in named:
        got = subprocess.run(
            [*shell, "get", name], cwd=notes.parent, capture_output=True, text=True, check=True
        )
        assert got.stdout == Path(name).read_text()


def test_why_not_takes_a_path_from_here(notes: Path) -> None:
    out = _run(notes / "docs", "search", "pool", "--why-not", "./MEMORY.md:3")
    assert out.startswith("handbook:MEMORY.md:3: shown, rank ")


def test_the_name_of_a_source_stands_for_all_of_it(notes: Path) -> None:
    for folder in (notes, notes / "memory", notes.parent):
        for place in ("handbook", "handbook/"):
            listed = json.loads(_run(folder, "ls", place, "--json"))["documents"]
            assert sorted(each["path"] for each in listed) == ["MEMORY.md", "adr/a queue.md"]
            assert {each["source"] for each in listed} == {"handbook"}
        found = json.loads(_run(folder, "search", "pool", "--path", "wiki", "--json"))["results"]
        assert [each["source"] for each in found] == ["wiki"]


def test_tokens_count_the_lines_whatever_their_name(notes: Path) -> None:
    first = ("search", "pool", "-n", "1", "--json", "-v")
    for here in (".", "docs/adr", ".."):
        results = json.loads(_run(notes / here, *first))["results"]
        assert [place["tokens"] for place in results] == [estimate(results[0]["snippet"])]


ROOTS = {"memory": "/n", "docs": "/n/docs", "a": "/w"}
_PATHS = st.builds(
    "{}{}.md".format,
    st.sampled_from(["", "memory/", "memory/memory/", "docs/", "a:b/", "-a/", "x y/"]),
    st.sampled_from(["a", "a.md:1-3", "a#top", "docs:a", "memory:a", "-n", "1-3", "two\nlines"]),
)


@given(
    known=st.sets(st.tuples(st.sampled_from(list(ROOTS)), _PATHS), min_size=1, max_size=12),
    here=st.sampled_from(["/", "/n", "/n/memory", "/n/docs", "/n/docs/memory", "/w", "/else"]),
)
@example({("memory", "a.md"), ("docs", "a.md")}, "/n/docs")
@example({("memory", "memory/memory/a.md"), ("memory", "memory/a.md")}, "/n/memory")
def test_what_is_printed_from_here_is_read_back_from_here(
    known: set[tuple[str, str]], here: str
) -> None:
    known = {each for each in known if each[0] != "memory" or not each[1].startswith("docs/")}
    files = {f"{ROOTS[source]}/{path}": (source, path) for source, path in known}
    for file, document in files.items():
        name = name_from(here, file, memory="/n", exists=files.__contains__)
        for text, whole in (
            (name, Target(*document)),
            (f"{name}:3-9", Target(*document, None, 3, 9)),
        ):
            readings = _readings(text, ROOTS, lambda each: documents_at(here, each, ROOTS))
            assert next(each for each in readings if each.document in known) == whole


@pytest.mark.parametrize(
    ("typed", "folder"),
    [("memory", "memory"), ("./memory/", "memory"), ("docs/adr", "handbook:adr")],
)
def test_a_folder_in_the_place_of_a_document_is_listed_by_the_hint(
    notes: Path, typed: str, folder: str
) -> None:
    done = run("get", typed, cwd=notes)
    told = f"memcli: {folder} is a folder, not a document\nTry: memcli ls {folder}\n"
    assert (done.returncode, done.stderr) == (3, told)
    assert folder.rpartition(":")[2] in _run(notes, "ls", folder)


@pytest.mark.parametrize(
    "form", ["{}:3", "{}:3-3", "{}#L3", "{}#L3-L3", "`{}:3`", "[{}:3] ", "<{}>"]
)
def test_an_absolute_citation_is_read_from_any_folder(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.delenv("MEMCLI_WORKSPACE")
    monkeypatch.setenv("HOME", str(tmp_path / "config"))
    put(tmp_path / "other", {"MEMORY.md": "# Other\n", "memory/2026-02-05.md": "# Another\n"})
    target = form.format(notes / "memory/2026-02-05.md")
    for folder in ("other", "config"):
        found = _run(tmp_path / folder, "get", target)
        assert found.splitlines()[-1] == "The pool of the log."
        record = json.loads(_run(tmp_path / folder, "get", target, "--json"))
        assert record["file"] == "../notes/memory/2026-02-05.md"
    missing = str(notes / "memory/none.md")
    assert _run(tmp_path / "other", "get", missing, code=3) == ""
