"""The short way to a command gives the call that Typer gives, or leaves the line to Typer."""

from __future__ import annotations

import ast
import functools
import inspect
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from hypothesis import example, given
from hypothesis import strategies as st

from memcli.cli import main
from memcli.cli.options import NUMBER_OR_NONE, Option, Options, arguments_of
from memcli.cli.plain import plain_call
from memcli.cli.program import COMMANDS as TOP
from memcli.cli.program import GROUPS, module_of, topics
from memcli.cli.typer_program import typer_command
from memcli.errors import UsageError
from tests.cli.processes import run

Values = dict[str, Any]
# Click comes with Typer under a name of Typer's own.
ClickException: Any = typer.BadParameter.__mro__[2]
NAMES = [
    *((name,) for name in TOP if name not in GROUPS),
    *((group, name) for group in GROUPS for name in module_of(group).COMMANDS),
]
COMMANDS = {" ".join(name): module_of(*name) for name in NAMES}


@functools.cache
def parsed_by_typer(name: str) -> tuple[Any, list[Values]]:
    """Give the command of Typer, which only notes down what it is called with, and these notes."""
    module, calls = COMMANDS[name], []

    def noted(options: Options) -> int:
        calls.append(vars(options))
        return 0

    noting = SimpleNamespace(OPTIONS=module.OPTIONS, ARGUMENTS=arguments_of(module), run=noted)
    return typer_command(name, noting), calls


def by_typer(name: str, line: list[str]) -> Values | None:
    """Give what Typer calls the command with; None where it refuses the line."""
    command, calls = parsed_by_typer(name)
    calls.clear()
    with (
        suppress(ClickException, typer.Exit, UsageError),
        command.make_context(name, list(line)) as context,
    ):
        command.invoke(context)
    return calls[0] if calls else None


def by_table(name: str, line: list[str]) -> Values | None:
    """Give what the command is called with without Typer, defaults included."""
    call = None
    with suppress(UsageError):  # another word than the choices of an option
        call = plain_call([*name.split(), *line])
    assert call is None or call.command is COMMANDS[name]
    return vars(call.options) if call else None


def same(name: str, line: list[str]) -> bool:
    """Tell that both call the command alike; AssertionError where they differ."""
    found = by_table(name, line)
    if found is None:
        return False
    expected = by_typer(name, line)
    assert expected is not None, (name, line, found)
    # By their text: True is no 1, and what is no number equals nothing.
    assert {k: repr(v) for k, v in found.items()} == {k: repr(v) for k, v in expected.items()}
    return True


NAMESPACE = ("options", "self.options")  # the values of a line, as commands name them
WORDS = st.one_of(
    st.sampled_from(["pool", "", " ", "a b", "-", "ERR_POOL", "2026-02-10", "MEMORY.md:3-9", "5"]),
    st.text(max_size=4).filter(lambda text: not text.startswith("-")),
)


def right(option: Option) -> st.SearchStrategy[str]:
    """Draw values that an option takes."""
    if option.kind is int:
        return st.integers(option.least or 0, 10**9).map(str)
    if option.kind is float:
        return st.floats(option.least or 0, allow_nan=False).map(str)
    if option.values:
        return st.sampled_from(option.values)
    return WORDS.filter(lambda text: text != "-")


def plain_options(name: str) -> dict[str, Option]:
    """Give the options of a command that may stand in a plain line, by each of their names."""
    options = (each for each in COMMANDS[name].OPTIONS if each.metavar != NUMBER_OR_NONE)
    return {each: option for option in options for each in option.names.split()}


VALUES = st.one_of(
    WORDS,
    st.sampled_from(["-5", "--", "--json", "0", " 5", "5 ", "1_0", "+5", "٣", "1e3", "nan", "-inf",
                     "0x5", "9" * 5000, "=5", "--limit", "-n", "\udcff"]),
)  # fmt: skip
ODD = st.sampled_from(
    ["--", "-h", "--help", "-qv", "-q1", "--no-quiet", "--js", "--lim=5", "--nothing", "-x", "-5",
     "--json=1", "--json=", "-q=1", "---json", "-", "--open", "--open=2", "-n=5", "--="]
)  # fmt: skip


@st.composite
def right_lines(draw: st.DrawFn) -> tuple[str, list[str]]:
    """Draw a line that is plainly right: options with values of their kind, and arguments."""
    name = draw(st.sampled_from(sorted(COMMANDS)))
    arguments, options = arguments_of(COMMANDS[name]), plain_options(name)
    pieces = []
    for option in draw(st.lists(st.sampled_from(sorted(options)), max_size=5)):
        if options[option].is_switch:
            pieces.append([option])
            continue
        value = draw(right(options[option]))
        joined = f"{option}={value}" if option.startswith("--") else f"{option}{value}"
        pieces.append(draw(st.sampled_from([[option, value], [joined] if value else [option, ""]])))
    dashes = draw(st.sampled_from([[], ["--"]]))  # behind them anything is an argument
    texts = st.one_of(WORDS, st.sampled_from(["--", "--json", "-x"])) if dashes else WORDS
    words = []
    for argument in arguments:
        least, most = int(argument.is_required), 3 if argument.kind is list else 1
        words += draw(st.lists(texts, min_size=least, max_size=most))
    if not dashes:
        pieces += [[word] for word in words]
    line = [word for piece in draw(st.permutations(pieces)) for word in piece]
    return name, [*line, *dashes, *words] if dashes else line


@st.composite
def lines(draw: st.DrawFn) -> tuple[str, list[str]]:
    """Draw a line that has something of the command, right or wrong."""
    name, line = draw(right_lines())
    options = st.sampled_from(sorted(plain_options(name)))
    piece = st.one_of(
        VALUES.map(lambda value: [value]),
        options.map(lambda option: [option]),
        ODD.map(lambda word: [word]),
        st.tuples(options, VALUES).map(list),
        st.tuples(options, VALUES).map(lambda pair: [f"{pair[0]}={pair[1]}"]),
        st.tuples(options, VALUES).map(lambda pair: ["".join(pair)]),
        options.map(lambda option: [option[:-1]]),
    )
    for added in draw(st.lists(piece, max_size=3)):
        at = draw(st.integers(0, len(line)))
        line = [*line[:at], *added, *line[at:]]
    return name, line


@given(lines())
@example(("search", ["-n5", "pool", "--limit=6", "--", "-w", "--help"]))
@example(("search", ["--path", "--json", "pool"]))
@example(("search", ["-w", "--", "pool"]))
@example(("search", ["pool", "-n"]))
@example(("search", ["pool", "--tag", "a", "--tag=", "--tag=b=c"]))
@example(("search", ["-1.5"]))
@example(("ls", ["-n", "0"]))
@example(("get", ["--", "-"]))
@example(("get", []))
@example(("config", ["a", "b"]))
@example(("bench compare", ["a", "--json"]))
@example(("bench compare", ["a", "--json", "b"]))
def test_the_call_is_typers_or_none(drawn: tuple[str, list[str]]) -> None:
    same(*drawn)


@given(right_lines())
def test_a_line_that_is_plainly_right_is_never_left_to_typer(drawn: tuple[str, list[str]]) -> None:
    assert same(*drawn)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_reads_only_values_that_its_table_has(name: str) -> None:
    """A misspelt name would be seen only by the line that uses it."""
    module = COMMANDS[name]
    tree = ast.parse(inspect.getsource(module if inspect.ismodule(module) else module.run))
    read = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in NAMESPACE
    }
    rows = (*arguments_of(module), *module.OPTIONS)
    assert read - {row.name for row in rows} - {"having", "settings"} == set()
    assert len({row.name for row in rows}) == len(rows)


def test_both_ways_lead_to_the_same_answer(workspaces: Path) -> None:
    """The second line of each pair is not plain: its last switch is given together with another."""
    folder = str(workspaces / "engineer")
    for line in ("search pool --mode keyword", "ls", "status", "get MEMORY.md:1-3"):
        plain = run(*line.split(), "-w", folder, "-q", "-v")
        typers = run(*line.split(), "-w", folder, "-qv")
        assert (plain.stdout, plain.stderr) == (typers.stdout, typers.stderr)
        assert plain.returncode == typers.returncode == 0


@pytest.mark.parametrize("topic", topics())
def test_a_topic_is_what_typer_gives_too(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["help", topic]) == 0
    quick = capsys.readouterr()
    assert main.run(["help", "--", topic]) == 0  # no plain line
    assert capsys.readouterr() == quick
