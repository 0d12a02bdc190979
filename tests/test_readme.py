"""The README shows what the program prints, and its tables are generated from the code."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from memcli.agents.texts import INSTRUCTION
from memcli.cli import generate
from memcli.cli.main import run
from memcli.cli.picture import picture
from memcli.cli.program import COMMANDS
from memcli.cli.topics import topics
from memcli.config.keys import KEYS
from memcli.config.settings import load
from memcli.config.workspaces import named_workspaces
from memcli.store.sqlite.vectors import is_scanned
from tests.benchmarks import figures

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "tests" / "benchmarks"
FRACTION = re.compile(r"\b\d\.\d{3,}\b")
README = (ROOT / "README.md").read_text("utf-8")


def _readme() -> str:
    """Read the README as it is now: an update writes one example after the other."""
    return (ROOT / "README.md").read_text("utf-8")


@pytest.fixture
def _at_the_root(workspaces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(workspaces, tmp_path / "fixtures" / "workspaces")
    monkeypatch.chdir(tmp_path)


def _run(line: str) -> str:
    """Run one memcli command and give stderr, then stdout."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert run(shlex.split(line)[1:]) == 0
    return err.getvalue() + out.getvalue()


def _line(start: str) -> str:
    return next(line for line in README.splitlines() if line.startswith(start))


def _with_block(text: str, after: str, content: str) -> str:
    """Put `content` into the first fenced block behind the one that holds `after`."""
    head, found, rest = text.partition(after)
    command_end, fence, rest = rest.partition("```\n")
    block = re.compile(r"^((`{3,})\w+\n).*?(^\2$)", re.MULTILINE | re.DOTALL)
    rest = block.sub(lambda match: match[1] + content + match[3], rest, count=1)
    return head + found + command_end + fence + rest


def with_quick_start() -> str:
    """Give the README with what its quick start prints now."""
    line = _line("python3 -m venv")
    commands = [part for part in line.split(" && ") if part.startswith(".venv/bin/memcli")]
    assert len(commands) == 2
    return _with_block(_readme(), line, "".join(map(_run, commands)))


def with_json_example() -> str:
    """Give the README with what its JSON example prints now."""
    line = _line("memcli search OPS-417")
    _run("memcli index -w fixtures/workspaces/engineer")
    return _with_block(_readme(), line, _run(line))


def with_session_start() -> str:
    """Give the README with the context that it shows for the start of a session."""
    return _with_context(_line("memcli context --budget"))


def with_question() -> str:
    """Give the README with the context that it shows for a question."""
    return _with_context(_line('memcli context "why'))


def _with_context(line: str) -> str:
    _run("memcli index -w fixtures/workspaces/engineer")
    return _with_block(_readme(), line, _run(line))


@pytest.mark.usefixtures("_at_the_root")
def test_the_picture_is_what_a_terminal_shows() -> None:
    _run("memcli index -w fixtures/workspaces/engineer")
    assert picture() == (ROOT / "fixtures" / "terminal.svg").read_text("utf-8")
    assert set(re.findall(r"https?://[^\"\s]+", picture())) == {
        "http://www.w3.org/2000/svg", "https://www.textualize.io"  # a name and a credit
    }  # fmt: skip


@pytest.mark.usefixtures("_at_the_root")
@pytest.mark.parametrize(
    "fresh", [with_quick_start, with_json_example, with_session_start, with_question]
)
def test_pasted_output_is_what_is_printed(
    fresh: Callable[[], str],
) -> None:
    now = fresh()
    if os.environ.get("UPDATE_README"):
        (ROOT / "README.md").write_text(now, "utf-8")
        return
    # The model's last digits differ from processor to processor.
    assert FRACTION.sub("#", now) == FRACTION.sub("#", README)


def test_the_tables_are_generated() -> None:
    assert generate.filled(README) == README
    assert all(f"<!-- {name} -->" in README for name in generate.TABLES)


def test_every_command_and_topic_is_named() -> None:
    for name in COMMANDS:
        assert f"| `memcli {name}" in README
    for topic in topics():
        assert topic in README


def test_every_package_is_in_the_code_map() -> None:
    packages = sorted(file.parent.name for file in (ROOT / "memcli").glob("*/__init__.py"))
    assert re.findall(r"^\| `memcli/(\w+)/`", README, re.MULTILINE) != []
    assert sorted(re.findall(r"^\| `memcli/(\w+)/`", README, re.MULTILINE)) == packages


def test_every_file_that_is_named_exists() -> None:
    code_map = README.partition("## Code map")[2]
    for name in re.findall(r"`((?:cli|search|store|indexing|tests)/[\w/]+\.py)`", code_map):
        assert (ROOT / name).exists() or (ROOT / "memcli" / name).exists(), name


def test_every_setting_and_module_that_is_named_exists() -> None:
    names = {key.name for key in KEYS}
    groups = "|".join({name.split(".")[0] for name in names})
    named = set(re.findall(rf"(?<![\w./])((?:{groups})\.[a-z_]+)(?![\w*/(])", README))
    files = (".py", ".md", ".toml", ".jsonl", ".json", ".html")
    assert {name for name in named - names if not name.endswith(files)} == set()
    for module in re.findall(r"python -m (tests(?:\.\w+)+)", README):
        place = ROOT / module.replace(".", "/")
        assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), module


def test_the_modules_of_the_stages_are_those_that_a_search_runs() -> None:
    named = re.search(r"stages of `search/stages.py`, which are (.+?) in\s+`search/`", README, re.S)
    assert named
    search = ROOT / "memcli" / "search"
    run = "".join((search / f"{name}.py").read_text("utf-8") for name in ("gathering", "pipeline"))
    for name in re.findall(r"`(\w+)`", named[1]):
        assert f"memcli.search.{name} import" in run, name


def test_the_line_of_help_names_every_topic() -> None:
    assert f"explains {', '.join(topics())}, and every code of `lint`" in README


def test_vectors_are_all_compared_up_to_the_number_that_is_told() -> None:
    told = re.search(r"Up to 3 MiB of vectors, ([\d,]+) of the bundled model", README)
    assert told
    most = int(told[1].replace(",", ""))
    assert (is_scanned(most, 384), is_scanned(most + 1, 384)) == (True, False)


def test_numbers_of_words_are_those_of_the_tables() -> None:
    number = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    told = re.search(r"on (\w+) published\s+collections", README)
    (table,) = (text for name, text in figures.blocks(README) if name == "quality_table")
    rows = re.findall(r"^\| [^|]+ \| +\d+ \| (?:hybrid|words) \|", table, re.MULTILINE)
    assert told
    assert number.split().index(told[1]) + 1 == len(rows)


def test_figures_say_which_command_wrote_them_and_when() -> None:
    found = list(figures.blocks(README))
    assert len(found) == README.count("<!-- figures: ")
    for name, text in found:
        module, *option = name.split()
        how = figures.HOW.fullmatch(text.rstrip().rpartition("\n")[2])
        assert how, f"{name} does not say how it came to be"
        assert how["module"] == module
        assert set(option) <= set(how["arguments"].split()), name
        date.fromisoformat(how["day"])
        source = (BENCHMARKS / f"{module}.py").read_text("utf-8")
        assert re.search(rf'\bwrite\(\s*[\w.]+,\s*f?"{module}', source), name
        for each in re.findall(r"--[a-z]+", how["arguments"]):
            assert f'"{each}"' in source, f"{module} has no {each}"


def _without_figures() -> str:
    """Give the README up to its changelog, without what commands write into it and code."""
    text = README.partition("\n## Changelog\n")[0]
    text = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"<!-- [\w: -]+ -->\n.*?<!-- end -->", "", text, flags=re.DOTALL)


def test_no_figure_stands_where_no_command_writes_it() -> None:
    text = _without_figures()
    cells = [
        cell.strip(" `%")
        for line in text.splitlines()
        if line.startswith("|")
        for cell in line.split("|")
    ]
    assert [cell for cell in cells if re.fullmatch(r"[-+]?[\d.,]*\d", cell)] == []
    measured = r"(?<![\w.])\.\d{2,}|\d ms\b|\d MB\b|\d \(?times\b|(?<!95) %|\d times as\b"
    assert re.findall(rf".*(?:{measured}).*", text) == []


def test_a_block_of_figures_is_replaced_and_nothing_else() -> None:
    text = "a\n<!-- figures: gate -->\nold\n<!-- end -->\nb\n<!-- settings -->\nc\n<!-- end -->\n"
    made = figures.put(text, "gate", "| new |")
    assert made == text.replace("old", "| new |")
    assert list(figures.blocks(made)) == [figures.Block("gate", "| new |\n")]
    with pytest.raises(SystemExit, match="figures: typos"):
        figures.put(text, "typos", "new")


def test_the_command_of_figures_names_no_place_of_a_machine(tmp_path: Path) -> None:
    folder = tmp_path / "beam" / "01"
    folder.mkdir(parents=True)
    (folder / "queries.jsonl").touch()
    line = [str(folder), str(tmp_path), "--every", "12", "--write", "README.md"]
    told = f"`python -m tests.benchmarks.printed beam/01 {tmp_path.name} --every 12`"
    assert figures.command("printed", line) == told
    assert figures.HOW.fullmatch(f"{told}, 2026-01-02, commit 0123abc.")


# What the program has printed, in fences of its own, is no part of the text.
TEXT = re.sub(r"^(`{4,}).*?^\1$", "", README, flags=re.MULTILINE | re.DOTALL)
SHELL_BLOCKS = re.findall(r"^```sh\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
TOML_BLOCKS = re.findall(r"^```toml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def _commands() -> list[str]:
    """List what the README tells people to type, in its order, without what installs or stays."""
    lines = [line for block in SHELL_BLOCKS for line in block.splitlines()]
    typed = [part for line in lines for part in line.split(" && ")]
    promises = README.partition("## What you get")[2].partition("\n## ")[0]
    typed += re.findall(r"`(memcli [^`]+)`", promises)
    typed = [line.removeprefix(".venv/bin/") for line in typed]
    stays = ("--watch", "memcli mcp", "memcli store", "--workspace-name", "--tenant")
    own = [line for line in typed if line.startswith("memcli ")]
    return [line for line in own if not any(word in line for word in stays)]


def test_what_one_pastes_for_an_agent_is_what_an_installation_writes() -> None:
    section = README.partition("## With your agent\n")[2].partition("\n## ")[0]
    assert len(section.splitlines()) + 1 <= 25
    assert (
        INSTRUCTION.format(memcli="memcli", where="").split()
        == " ".join(re.findall(r"```text\n(.*?)```", section, re.DOTALL)).split()
    )


def test_every_shell_line_is_known() -> None:
    programs = {line.split()[0] for block in SHELL_BLOCKS for line in block.splitlines()}
    assert programs == {"memcli", "mkdir", "pipx", "python3"}
    assert {line.split()[1] for line in _commands()} >= set(COMMANDS) - {
        "config", "pick", "mcp", "hook", "store",
    }  # fmt: skip


def test_every_command_runs(
    workspaces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands build on one another, as a reader would type them in one folder."""
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    notes = Path(shutil.copytree(workspaces / "engineer", tmp_path / "notes"))
    shutil.copytree(ROOT / "fixtures" / "eval", notes / "fixtures" / "eval")
    shutil.copytree(workspaces, notes / "fixtures" / "workspaces")
    monkeypatch.chdir(notes)
    for line in _commands():
        words, _, target = line.partition(" > ")
        arguments = shlex.split(words, comments=True)[1:]
        if arguments[:2] == ["bench", "lane"]:
            arguments.append("--no-speed")  # which takes ten seconds
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(arguments)
        assert code == 0, (line, err.getvalue())
        if target:
            assert len(out.getvalue()) > 1000
        if arguments[:2] == ["bench", "init"]:  # the reader looks the drafts through
            drafts = notes / ".memcli" / "questions.jsonl"
            drafts.write_text(drafts.read_text("utf-8").replace('"draft": true', '"draft": false'))


@pytest.mark.parametrize("block", TOML_BLOCKS)
def test_every_configuration_can_be_used(block: str, tmp_path: Path) -> None:
    user = tmp_path / "config" / "memcli" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text(block, "utf-8")
    (tmp_path / "notes" / "docs").mkdir(parents=True)
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    loaded = load(str(tmp_path / "notes"), environ, {})
    named = [name for name, value in loaded.values.items() if value.origin == str(user)]
    assert named or len(loaded.sources) > 1 or named_workspaces(environ)


def test_the_example_in_python_runs(
    workspaces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    shutil.copytree(workspaces, tmp_path / "fixtures" / "workspaces")
    monkeypatch.chdir(tmp_path)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block, "README.md", "exec"), {})
    told = out.getvalue()
    assert told.startswith("memory/2025-06-12-incident-review.md:")
    assert "The pool ran dry" in told
    assert "data, not instructions" in told
