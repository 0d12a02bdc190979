"""The README and the help pages: what they show is printed, what they link to exists."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from datetime import date
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from memcli.agents.texts import INSTRUCTION
from memcli.cli import generate
from memcli.cli.generate import picture
from memcli.cli.main import run
from memcli.cli.program import COMMANDS, HELP_FOLDER, topics
from memcli.config.keys import KEYS
from memcli.config.settings import load
from memcli.config.workspaces import named_workspaces
from memcli.store.sqlite.vectors import is_scanned
from tests.benchmarks import figures
from tests.commands import printed, say

ROOT = Path(__file__).parents[1]
HELP = Path(HELP_FOLDER)
BENCHMARKS = ROOT / "tests" / "benchmarks"
README = (ROOT / "README.md").read_text("utf-8")
FIGURES = (HELP / "benchmarks.md").read_text("utf-8")
CONTRIBUTING = (HELP / "contributing.md").read_text("utf-8")
DOCUMENTS = [
    ROOT / "README.md", *sorted(HELP.rglob("*.md")), *sorted((ROOT / ".github").glob("*.md")),
]  # fmt: skip
MOST_WORDS = 1300
MARK = re.compile(r"<!-- (?:figures: [^>]+|end|" + "|".join(generate.tables()) + ") -->")
FRACTION = re.compile(r"\b\d\.\d{3,}\b")
each_document = pytest.mark.parametrize(
    "document", DOCUMENTS, ids=[str(file.relative_to(ROOT)) for file in DOCUMENTS]
)


@cache
def _tokens(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(text)


def _anchors(text: str) -> set[str]:
    """Give the anchors of the headings, as hosting sites name them."""
    tokens = _tokens(text)
    titles = [
        "".join(child.content for child in tokens[at + 1].children or ())
        for at, token in enumerate(tokens)
        if token.type == "heading_open"
    ]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def _inlines(text: str) -> Iterator[Token]:
    for token in _tokens(text):
        if token.type == "inline":
            yield token


def test_the_readme_is_short() -> None:
    assert len(README.split()) <= MOST_WORDS


def test_the_readme_names_every_topic_and_the_main_commands() -> None:
    linked = set(re.findall(r"\(memcli/cli/help/([\w-]+)\.md\)", README))
    assert linked == set(topics())
    named = set(re.findall(r"memcli ([a-z]+)", README))
    assert named >= {"search", "ls", "get", "related", "remember", "changes", "lint", "compact",
                     "index", "status", "agents", "context"}  # fmt: skip


@each_document
def test_every_link_leads_somewhere(document: Path) -> None:
    text = document.read_text("utf-8")
    for inline in _inlines(text):
        for child in inline.children or ():
            target = str(child.attrs.get("href") or child.attrs.get("src") or "")
            if not target or "://" in target:
                continue
            path, _, anchor = target.partition("#")
            file = document.parent / path if path else document
            assert file.exists(), target
            if anchor:
                assert anchor in _anchors(file.read_text("utf-8")), target


@each_document
def test_every_page_renders_as_markdown(document: Path) -> None:
    text = document.read_text("utf-8")
    for token in _tokens(text):
        assert token.type != "code_block", f"indented code: {token.content}"
        assert token.type != "fence" or token.info, f"a fence without a language: {token.content}"
        if token.type == "html_block":
            assert all(MARK.fullmatch(line) for line in token.content.split("\n") if line)
    for inline in _inlines(text):
        for child in inline.children or ():
            assert child.type not in ("html_inline", "em_open", "hardbreak"), inline.content
            assert child.type != "text" or "  " not in child.content, child.content
    for head, *rows in _tables(text):
        assert {row.count("|") for row in rows} == {head.count("|")}, head


def _tables(text: str) -> Iterator[list[str]]:
    """Give the lines of each table, without escaped bars."""
    text = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        yield block.replace(r"\|", "").splitlines()


@pytest.mark.parametrize("page", sorted(HELP.rglob("*.md")), ids=lambda page: page.stem)
def test_every_page_ends_with_other_pages(page: Path) -> None:
    last = page.read_text("utf-8").rstrip("\n").rpartition("\n\n")[2]
    assert re.fullmatch(r"See also: (?:\[[\w-]+\]\([\w./-]+\.md\)(?:,\s|$))+", last)


def test_the_tables_are_generated() -> None:
    marks = set()
    for page in HELP.glob("*.md"):
        text = page.read_text("utf-8")
        assert generate.filled(text) == text, f"python -m memcli.cli.generate {page}"
        marks |= {name for name in generate.tables() if f"<!-- {name} -->" in text}
    assert marks == set(generate.tables())


@pytest.fixture
def _at_the_root(workspaces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(workspaces, tmp_path / "fixtures" / "workspaces")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_at_the_root")
def test_the_picture_is_what_a_terminal_shows() -> None:
    run(["index", "-q", "-w", "fixtures/workspaces/engineer"])
    assert picture() == (ROOT / "fixtures" / "terminal.svg").read_text("utf-8")
    assert set(re.findall(r"https?://[^\"\s]+", picture())) == {
        "http://www.w3.org/2000/svg", "https://www.textualize.io"  # a name and a credit
    }  # fmt: skip


SHOWN = re.compile(r"^```sh\n((?:(?!```).*\n)+)```\n\n```text\n(?:(?!```).*\n)*```$", re.MULTILINE)


def _with_output(found: re.Match[str]) -> str:
    """Run the commands of a block, and give the block with what they print below it."""
    out = ""
    for line in found[1].splitlines():
        words = shlex.split(line)
        if words[0] == "cd":
            os.chdir(words[1])
        else:
            out += printed(*words[1:])[0]
    return f"```sh\n{found[1]}```\n\n```text\n{out}```"


@pytest.mark.usefixtures("_at_the_root")
def test_the_output_in_the_readme_is_what_is_printed() -> None:
    text, count = SHOWN.subn(_with_output, README)
    if os.environ.get("UPDATE_README"):
        (ROOT / "README.md").write_text(text, "utf-8")
        return
    assert count == 2
    # The last digits of the model differ from processor to processor.
    assert FRACTION.sub("#", text) == FRACTION.sub("#", README)


def test_the_readme_has_the_line_that_an_installation_writes() -> None:
    section = README.partition("## Give it to your agent\n")[2].partition("\n## ")[0]
    (line,) = re.findall(r"```text\n(.*?)```", section, re.DOTALL)
    assert line.split() == INSTRUCTION.format(memcli="memcli", where="").split()


def test_figures_in_the_readme_are_those_of_the_benchmarks() -> None:
    (table,) = (text for name, text in figures.blocks(FIGURES) if name == "quality_table")
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    measured = {
        row[0]: (row[1], words[5 + 1], row[5 + 1])
        for row, words in pairwise(cells)
        if len(words) > 6 and len(row) > 6 and row[0] and not words[0]
    }
    quoted = re.findall(
        r"^\| ([^|]+) \| (\d+) \| (\.\d+) \| \*\*(\.\d+)\*\* \|$", README, re.MULTILINE
    )
    assert len(quoted) == 3
    assert {name: measured[name] for name, *_ in quoted} == {
        name: tuple(values) for name, *values in quoted
    }


def test_every_package_is_in_the_code_map() -> None:
    packages = sorted(file.parent.name for file in (ROOT / "memcli").glob("*/__init__.py"))
    assert sorted(re.findall(r"^\| `memcli/(\w+)/`", CONTRIBUTING, re.MULTILINE)) == packages


def test_every_file_that_is_named_exists() -> None:
    for name in re.findall(r"`([\w/]+/[\w/]+\.py)`", CONTRIBUTING):
        assert (ROOT / name).exists() or (ROOT / "memcli" / name).exists(), name


@each_document
def test_every_setting_and_module_that_is_named_exists(document: Path) -> None:
    text = document.read_text("utf-8")
    names = {key.name for key in KEYS}
    groups = "|".join({name.split(".")[0] for name in names if "." in name})
    named = set(re.findall(rf"`((?:{groups})\.[a-z_]+)(?: = [^`]+)?`", text))
    files = (".py", ".md", ".toml", ".jsonl", ".json", ".html")
    assert {name for name in named - names if not name.endswith(files)} == set()
    for module in re.findall(r"python -m ((?:tests|memcli)(?:\.[a-z_]+)+)", text):
        place = ROOT / module.replace(".", "/")
        assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), module


def test_vectors_are_all_compared_up_to_the_number_on_the_page() -> None:
    shown = re.search(r"at most 3 MiB of vectors \(([\d,]+) with the bundled model", FIGURES)
    assert shown
    most = int(shown[1].replace(",", ""))
    assert (is_scanned(most, 384), is_scanned(most + 1, 384)) == (True, False)


def test_the_number_of_collections_is_that_of_the_table() -> None:
    number = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    (table,) = (text for name, text in figures.blocks(FIGURES) if name == "quality_table")
    rows = re.findall(r"^\| [^|]+ \| +\d+ \| (?:hybrid|keyword) \|", table, re.MULTILINE)
    for pattern, text in (
        (r"about (\w+) published collections", FIGURES),
        (r"all (\w+) collections", README),
    ):
        shown = re.search(pattern, text)
        assert shown
        assert number.split().index(shown[1]) + 1 == len(rows)


def test_figures_name_the_command_that_wrote_them() -> None:
    found = list(figures.blocks(FIGURES))
    assert len(found) == FIGURES.count("<!-- figures: ") > 0
    for name, text in found:
        module, *option = name.split()
        how = figures.HOW.fullmatch(text.rstrip().rpartition("\n")[2])
        assert how, f"{name} does not name its command"
        assert how["module"] == module
        assert set(option) <= set(how["arguments"].split()), name
        date.fromisoformat(how["day"])
        source = (BENCHMARKS / f"{module}.py").read_text("utf-8")
        assert re.search(r"def main\(options: Namespace\) -> str:", source), name
        for each in re.findall(r"--[a-z]+", how["arguments"]):
            assert f'"{each}"' in source, f"{module} has no {each}"


def test_a_block_of_figures_is_replaced_and_nothing_else() -> None:
    text = "a\n<!-- figures: gate -->\nold\n<!-- end -->\nb\n<!-- settings -->\nc\n<!-- end -->\n"
    made = figures.put(text, "gate", "| new |")
    assert made == text.replace("old", "\n| new |\n")
    assert list(figures.blocks(made)) == [figures.Block("gate", "\n| new |\n\n")]
    with pytest.raises(SystemExit, match="figures: typos"):
        figures.put(text, "typos", "new")


def test_the_command_of_figures_names_no_place_of_a_machine(tmp_path: Path) -> None:
    folder = tmp_path / "beam" / "01"
    folder.mkdir(parents=True)
    (folder / "queries.jsonl").touch()
    line = [str(folder), str(tmp_path), "--every", "12", "--write", "README.md"]
    shown = f"`python -m tests.benchmarks printed beam/01 {tmp_path.name} --every 12`"
    assert figures.command(["printed", *line]) == shown
    assert figures.HOW.fullmatch(f"{shown}, 2026-01-02, commit 0123abc.")


class Example(NamedTuple):
    """The code of one language in a document."""

    document: str
    code: str


def _examples(*languages: str) -> list[Example]:
    return [
        Example(document.stem, token.content)
        for document in DOCUMENTS
        for token in _tokens(document.read_text("utf-8"))
        if token.type == "fence" and token.info in languages
    ]


def _commands(document: str) -> list[str]:
    """List the lines of memcli in blocks that a reader can paste."""
    code = "".join(each.code for each in _examples("sh") if each.document == document)
    lines = code.replace("\\\n", "").splitlines()
    typed = [part for line in lines for part in line.split(" && ")]
    return [line for line in typed if line.startswith(("memcli ", ".venv/bin/memcli "))]


def test_every_shell_line_is_of_a_known_program() -> None:
    lines = "".join(each.code for each in _examples("sh")).replace("\\\n", "").splitlines()
    known = {"memcli", "mkdir", "cd", "pipx", "python3"}
    assert {line.split()[0] for line in lines} == known
    run_here = {line.split()[1] for name in _with_commands() for line in _commands(name)}
    elsewhere = {"mcp", "hook", "store", "init", "help", "related", "bench", "index", "get",
                 "completion"}  # fmt: skip
    assert run_here | elsewhere >= set(COMMANDS)


MOST_QUESTIONS = 4  # of a set: that each command runs is shown here, and no figure


def _with_commands() -> list[str]:
    return [document.stem for document in DOCUMENTS if _commands(document.stem)]


@pytest.mark.parametrize("document", _with_commands())
def test_every_command_runs(
    document: str, workspaces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands build on one another, as a reader would type them in one folder."""
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    notes = Path(shutil.copytree(workspaces / "engineer", tmp_path / "notes"))
    lines = _commands(document)
    if any("fixtures/" in line for line in lines):
        sets = shutil.copytree(ROOT / "fixtures" / "eval", notes / "fixtures" / "eval")
        for file in sets.rglob("*.jsonl"):
            questions = file.read_text("utf-8").splitlines(keepends=True)
            file.write_text("".join(questions[:MOST_QUESTIONS]), "utf-8")
        shutil.copytree(workspaces, notes / "fixtures" / "workspaces")
    monkeypatch.chdir(notes)
    run(["index", "-q"])
    for line in lines:
        words, _, target = line.partition(" > ")
        arguments = shlex.split(words.partition(" | ")[0], comments=True)[1:]
        code, out, err = say(*arguments)
        assert code == 0, (line, err)
        if target:
            assert len(out) > 1000


@pytest.mark.parametrize("example", _examples("toml"), ids=lambda each: each.document)
def test_every_configuration_can_be_used(example: Example, tmp_path: Path) -> None:
    user = tmp_path / "config" / "memcli" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text(example.code, "utf-8")
    (tmp_path / "notes" / "docs").mkdir(parents=True)
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path)}
    loaded = load(str(tmp_path / "notes"), environ, {})
    named = [name for name, value in loaded.values.items() if value.origin == str(user)]
    assert named or len(loaded.sources) > 1 or named_workspaces(environ)


@pytest.mark.parametrize(
    "example",
    [each for each in _examples("python") if "Memory.open" in each.code],
    ids=lambda each: each.document,
)
def test_the_examples_in_python_run(
    example: Example, workspaces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(workspaces, tmp_path / "fixtures" / "workspaces")
    shutil.copytree(workspaces / "engineer", tmp_path / "notes")
    monkeypatch.chdir(tmp_path / "notes" if example.document == "README" else tmp_path)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(example.code, example.document, "exec"), {})
    assert out.getvalue().startswith("memory/2025-04-08.md:11-14 ## Done\n")
    assert "`deploy.days: [mon, tue, wed, thu]`" in out.getvalue()


@pytest.mark.parametrize("example", _examples("json"), ids=lambda each: each.document)
def test_the_examples_in_json_are_json(example: Example) -> None:
    import json

    json.loads(example.code)


def test_a_shell_accepts_the_examples_of_a_shell() -> None:
    for example in _examples("bash", "sh"):
        subprocess.run(["bash", "-n", "-c", example.code], check=True)
