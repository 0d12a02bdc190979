"""The short way to a command gives the call that Typer gives, or leaves the line to Typer."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from hypothesis import example, given
from hypothesis import strategies as st

from memcli.cli import main, plain_table, typer_command
from memcli.cli.plain import plain_call
from memcli.cli.plain_source import plain_table as written
from memcli.cli.plain_table import COMMANDS
from memcli.cli.topics import topics
from memcli.cli.typer_program import build
from tests.cli.processes import run

Values = dict[str, Any]
# Click comes with Typer under a name of Typer's own.
ClickException: Any = typer.BadParameter.__mro__[2]


@functools.cache
def parsed_by_typer(name: str) -> tuple[Any, list[Values]]:
    """Give the command of Typer, which only notes down what it is called with, and these notes."""
    command = importlib.import_module(COMMANDS[name][0]).command
    calls: list[Values] = []

    @functools.wraps(command)
    def noted(**values: Any) -> int:
        calls.append(values)
        return 0

    typer_command.add(typer.Typer(), name, command)  # reads the annotations
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    typer_command.add(app, name, noted)
    return typer.main.get_command(app), calls


def by_typer(name: str, line: list[str]) -> Values | None:
    """Give what Typer calls the command with; None where it refuses the line."""
    command, calls = parsed_by_typer(name)
    calls.clear()
    with suppress(ClickException, typer.Exit), command.make_context(name, list(line)) as context:
        command.invoke(context)
    return calls[0] if calls else None


def by_table(name: str, line: list[str]) -> Values | None:
    """Give what the command is called with without Typer, defaults included."""
    call = plain_call([*name.split(), *line])
    if call is None:
        return None
    assert call.module == COMMANDS[name][0]
    bound = inspect.signature(call.command()).bind(**call.values)
    bound.apply_defaults()
    return bound.arguments


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


WORDS = st.one_of(
    st.sampled_from(["pool", "", " ", "a b", "-", "ERR_POOL", "2026-02-10", "MEMORY.md:3-9", "5"]),
    st.text(max_size=4).filter(lambda text: not text.startswith("-")),
)
RIGHT = {
    "str": WORDS.filter(lambda text: text != "-"),
    "str*": WORDS.filter(lambda text: text != "-"),
    "int": st.integers(0, 10**9).map(str),
    "int>=0": st.integers(0, 10**9).map(str),
    "int>=1": st.integers(1, 10**9).map(str),
    "float": st.floats(0, allow_nan=False).map(str),
}
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
    _, arguments, options = COMMANDS[name]
    pieces = []
    for option in draw(st.lists(st.sampled_from(sorted(options)), max_size=5)):
        kind = options[option][1]
        if kind == "flag":
            pieces.append([option])
            continue
        value = draw(RIGHT[kind])
        joined = f"{option}={value}" if option.startswith("--") else f"{option}{value}"
        pieces.append(draw(st.sampled_from([[option, value], [joined] if value else [option, ""]])))
    dashes = draw(st.sampled_from([[], ["--"]]))  # behind them anything is an argument
    texts = st.one_of(WORDS, st.sampled_from(["--", "--json", "-x"])) if dashes else WORDS
    words = []
    for _, kind in arguments:
        least, most = kind[-1] not in "*?", 3 if kind[-1] in "*+" else 1
        words += draw(st.lists(texts, min_size=least, max_size=most))
    if not dashes:
        pieces += [[word] for word in words]
    line = [word for piece in draw(st.permutations(pieces)) for word in piece]
    return name, [*line, *dashes, *words] if dashes else line


@st.composite
def lines(draw: st.DrawFn) -> tuple[str, list[str]]:
    """Draw a line that has something of the command, right or wrong."""
    name, line = draw(right_lines())
    options = st.sampled_from(sorted(COMMANDS[name][2]))
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


def test_the_table_is_as_typers_declaration_makes_it() -> None:
    """`python -m memcli.cli.generate memcli/cli/plain_table.py` writes it anew."""
    assert written(build()) == Path(plain_table.__file__).read_text("utf-8")


class Kind(Enum):
    A = "a"


def _names_of(option: Any, default: Any = None) -> str:
    """Write the table of a program with one command, which has one option."""

    def command(option: Any, as_json: Any = False) -> int:
        return 0

    command.__annotations__ = {
        "option": option,
        "as_json": Annotated[bool, typer.Option("--json")],
        "return": int,
    }
    command.__defaults__ = (default, False)
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.callback()(lambda: None)
    app.command("only")(command)
    return written(typer.main.get_command(app)).partition("]] = {\n")[2]


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.split("\n") if ": (" in line)


@pytest.mark.parametrize(
    ("declared", "default"),
    [
        (Annotated[str, typer.Option(envvar="OPTION")], ""),
        (Annotated[str, typer.Option(prompt=True)], None),
        (Annotated[str, typer.Option(callback=lambda text: text)], ""),
        (Annotated[str, typer.Option(is_eager=True)], ""),
        (Annotated[str, typer.Option()], ...),
        (Annotated[int, typer.Argument()], 1),
        (typer.Context, None),
    ],
    ids=["environment", "prompt", "callback", "eager", "required", "number", "context"],
)
def test_a_command_that_needs_more_than_its_line_stays_with_typer(
    declared: Any, default: Any
) -> None:
    assert _names_of(declared, default) == "}\n"


@pytest.mark.parametrize(
    ("declared", "default", "listed"),
    [
        (Annotated[bool, typer.Option("--option/--no-option")], False, ""),
        (Annotated[int, typer.Option("--option", count=True)], 0, ""),
        (Annotated[int, typer.Option("--option", metavar="[N]")], 0, ""),
        (Annotated[int, typer.Option("--option", max=5)], 0, ""),
        (Annotated[Kind, typer.Option("--option")], Kind.A, ""),
        (Annotated[Path, typer.Option("--option")], Path(), ""),
        (Annotated[tuple[str, str], typer.Option("--option")], ("", ""), ""),
        (Annotated[list[int] | None, typer.Option("--option")], None, ""),
        (Annotated[int, typer.Option("--option", min=2)], 2, '("option", "int>=2")'),
        (Annotated[float, typer.Option("--option")], 2.0, '("option", "float")'),
        (Annotated[list[str] | None, typer.Option("--option")], None, '("option", "str*")'),
    ],
    ids=["two names", "count", "number or none", "most", "choice", "path", "pair", "numbers",
         "least", "float", "several"],
)  # fmt: skip
def test_an_option_that_is_not_plain_is_left_out(declared: Any, default: Any, listed: str) -> None:
    expected = [f'"--option": {listed},'] if listed else []
    assert list(_lines(_names_of(declared, default))) == [
        '"only": (',
        *expected,
        '"--json": ("as_json", "flag"),',
    ]


def test_both_ways_lead_to_the_same_answer(workspaces: Path) -> None:
    """The second line of each pair is not plain: its last switch is given together with another."""
    folder = str(workspaces / "engineer")
    for line in ("search pool --mode lexical", "ls", "status", "get MEMORY.md:1-3"):
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
