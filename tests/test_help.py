"""Help says what is there: commands, options, exit codes, settings, schemas, completions."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import memcli
from memcli.cli import generate
from memcli.cli.commands.help_command import page, topics
from memcli.cli.main import COMMANDS, TOP_HELP, build_app, run
from memcli.config import KEYS
from memcli.errors import ExitCode, MemcliError

PACKAGE = Path(memcli.__file__).parent
COMPLETIONS = PACKAGE.parent / "completions"


def _tree() -> Any:
    return typer.main.get_command(build_app())


def _leaves(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    children = getattr(command, "commands", None)
    if children is None:
        yield name, command
    for child_name, child in (children or {}).items():
        yield from _leaves(child, f"{name} {child_name}".strip())


LEAVES = dict(_leaves(_tree()))


def _printed(*arguments: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run(arguments) == 0
    return out.getvalue()


def test_top_help_lists_exactly_the_commands() -> None:
    listed = re.search(r"Commands:\n(.*?)\n\n", TOP_HELP, re.DOTALL)
    assert listed
    names = [line.split()[0] for line in listed[1].splitlines()]
    assert sorted(names) == sorted(_tree().commands) == sorted(COMMANDS)
    assert max(map(len, TOP_HELP.splitlines())) <= 100


def test_top_help_lists_exactly_the_topics() -> None:
    listed = re.search(r"Explain a topic: (.*)\.", TOP_HELP)
    assert listed
    assert listed[1].split(", ") == topics()


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_has_a_sentence_and_two_examples(name: str) -> None:
    text = LEAVES[name].help
    assert text.split("\n")[0].endswith(".")
    examples = text.partition("Examples: ")[2]
    assert examples.count("memcli ") == 2
    assert f"memcli {name}" in examples


@pytest.mark.parametrize("name", LEAVES)
def test_every_option_has_help_and_is_shown(name: str) -> None:
    shown = _printed(*name.split(), "--help")
    for parameter in LEAVES[name].params:
        assert parameter.help, f"{name}: {parameter.name} has no help"
        if parameter.param_type_name == "option":
            assert parameter.opts[-1] in shown


@pytest.mark.parametrize("name", sorted(set(LEAVES) - {"help"}))
def test_every_data_command_has_the_shared_options(name: str) -> None:
    options = {option for parameter in LEAVES[name].params for option in parameter.opts}
    assert options >= {
        "-w", "--workspace", "--json", "-q", "--quiet", "-v", "--verbose", "--color", "--now",
        "--debug",
    }  # fmt: skip


def test_the_exit_codes_topic_lists_exactly_the_exit_codes() -> None:
    listed = re.findall(r"^    (\d+) ", page("exit-codes"), re.MULTILINE)
    assert [int(code) for code in listed] == [int(code) for code in ExitCode]
    assert set(generate.EXIT_MEANINGS) == {code.name for code in ExitCode}


def test_the_environment_topic_lists_exactly_the_settings() -> None:
    text = page("environment")
    listed = re.findall(r"^  ([a-z]+\.[a-z_]+)  (MEMCLI_[A-Z_]+)$", text, re.MULTILINE)
    assert listed == [(key.name, key.variable) for key in KEYS]
    code = "".join(file.read_text("utf-8") for file in PACKAGE.rglob("*.py"))
    named = set(re.findall(r"\"(MEMCLI_[A-Z_]+[A-Z])\"", code))
    assert {name for name in named if name not in text} == set()


def test_the_json_topic_lists_exactly_the_schemas_and_error_codes() -> None:
    text = page("json")
    schemas = {file.name.removesuffix(".1.json") for file in (PACKAGE / "schemas").iterdir()}
    assert set(re.findall(r"^  (memcli\.[a-z-]+)/1", text, re.MULTILINE)) == schemas
    listed = re.search(r"Codes: (.*?)\.", text, re.DOTALL)
    assert listed
    own = {error.code for error in MemcliError.__subclasses__()}
    assert set(re.split(r",\s", listed[1])) == own | {"write", "interrupted", "bug"}


@pytest.mark.parametrize("topic", topics())
def test_topics_are_plain_and_narrow(topic: str) -> None:
    text = page(topic)
    assert text.isascii()
    assert text.startswith("# ")
    assert max(map(len, text.splitlines())) <= 90


@pytest.mark.parametrize("topic", topics())
def test_topics_name_only_options_and_settings_that_exist(topic: str) -> None:
    text = page(topic).replace("systemctl --user", "systemctl")
    options = {o for leaf in LEAVES.values() for p in leaf.params for o in p.opts}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text)) - options - {"--help"} == set()
    names = {key.name for key in KEYS}
    groups = "|".join({name.split(".")[0] for name in names})
    named = set(re.findall(rf"(?<![\w.])((?:{groups})\.[a-z_]+)(?![\w*/])", text))
    assert {name for name in named if name not in names and not name.endswith(".md")} == set()


def test_help_of_a_command_is_its_help() -> None:
    assert _printed("help", "search") == _printed("search", "--help")
    assert _printed() == _printed("--help") == TOP_HELP


@pytest.mark.parametrize(
    ("shell", "name"), [("bash", "memcli.bash"), ("zsh", "_memcli"), ("fish", "memcli.fish")]
)
def test_completions_are_as_the_program_writes_them(shell: str, name: str) -> None:
    program = "from memcli.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"_MEMCLI_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == (COMPLETIONS / name).read_text("utf-8")


def test_completion_names_commands_and_options() -> None:
    def completed(words: str, at: int) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", "from memcli.cli.main import main; main()"],
            env={
                "_MEMCLI_COMPLETE": "complete_bash",
                "COMP_WORDS": words,
                "COMP_CWORD": str(at),
            },
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split()

    assert completed("memcli se", 1) == ["search"]
    assert completed("memcli search --no", 2) == ["--no-sync", "--now"]
