"""Help says what is there: commands, options, exit codes, settings, schemas, completions."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

import memcli
from memcli.cli import generate
from memcli.cli.command_help import command_tree, default_of
from memcli.cli.help_text import folded, laid_out
from memcli.cli.options import GENERAL
from memcli.cli.program import COMMANDS, OTHER_NAMES, TOP_HELP, page, topics
from memcli.config.keys import FLAGS, KEYS
from memcli.errors import ExitCode, MemcliError
from memcli.language.tokens import estimate
from memcli.markdown.parse import parse
from memcli.types import DATE_KEYS
from memcli.workspace.dating import document_days, heading_days
from tests.commands import printed, say

PACKAGE = Path(memcli.__file__).parent


LEAVES = {command.name: command for command in command_tree()}
OPTIONS = {name for leaf in LEAVES.values() for each in leaf.options for name in each.names.split()}


def _printed(*arguments: str) -> str:
    return printed(*arguments)[0]


def test_top_help_lists_exactly_the_commands() -> None:
    listed = re.findall(r"^  ([a-z]+)  +[A-Z]", TOP_HELP, re.MULTILINE)
    assert listed == list(COMMANDS)
    assert max(map(len, TOP_HELP.splitlines())) < 80


def test_every_example_of_a_date_is_read_as_help_says() -> None:
    rows = re.findall(
        r"^\| (name|heading|front matter) \| `(.+?)` \| (.+) \|$", page("front-matter"), re.M
    )
    assert {where for where, _, _ in rows} == {"name", "heading", "front matter"}
    told = {(where, example): days for where, example, days in rows}
    read = {(where, example): _days_as_told(where, example) for where, example, _ in rows}
    assert len(told) == len(rows) > 20
    assert {key: days.partition(",")[0] for key, days in told.items()} == read


def _days_as_told(where: str, example: str) -> str:
    if where == "name":
        days, _ = document_days({}, example, DATE_KEYS)
    elif where == "heading":
        (heading, *_) = parse(f"{example}\n").blocks
        days = heading_days(heading.title)
    else:
        days, _ = document_days(parse(f"---\n{example}\n---\n").front_matter, "a.md", DATE_KEYS)
    if days is None:
        return "none"
    return days[0] if days[0] == days[1] else " to ".join(days)


def test_help_lists_exactly_the_topics() -> None:
    listed = re.search(r"Topics:\n(.*?)\n\n", _printed("help"), re.DOTALL)
    assert listed
    assert listed[1].split() == topics()
    assert _printed("help") == _printed("help", "--")
    assert say("help", "") == (2, "", "memcli: there is no topic ''\nTry: memcli help\n")


@pytest.mark.parametrize("name", LEAVES)
def test_help_of_a_command(name: str) -> None:
    """A sentence, two examples, each option with its help, the common ones at the end."""
    command, (short, long) = LEAVES[name], (_printed(*name.split(), f) for f in ("-h", "--help"))
    assert command.about.split("\n")[0].endswith(".")
    examples = command.about.partition("Examples:\n")[2]
    assert examples.count("memcli ") == 2
    assert f"memcli {name}" in examples
    lines = long.partition("Examples:\n")[2].split("\n\n")[0].split("\n")
    assert [line[:11] for line in lines] == ["    memcli "] * 2
    assert all(option.help for option in command.options)
    assert all(argument.help for argument in command.arguments)
    assert all(option.long in long for option in command.options)
    own, _, shared = long.partition(f"{GENERAL}:\n")
    flags = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", own.partition("Options:\n")[2], re.MULTILINE)
    assert not set(flags) & {"--workspace", "--quiet", "--now", "--debug", "--help"}
    assert shared.splitlines()[-1].split()[:2] == ["-h,", "--help"]
    shown = re.findall(r"^  (?:-., )?(--[a-z0-9-]+)", short, re.MULTILINE)
    all_options = [option.long for option in command.options]
    assert set(shown) <= set(all_options)
    assert len(shown) <= 20
    end = f"memcli {name} --help shows all {len(all_options)} options.\n"
    assert short.endswith(end) if len(shown) < len(all_options) else short == long


@pytest.mark.parametrize("group", sorted(name for name in COMMANDS if name not in LEAVES))
def test_help_of_a_group_lists_its_commands(group: str) -> None:
    listed = _printed(group, "--help").partition("Commands:\n")[2].partition("\n\n")[0]
    shown = dict(re.findall(r"^  (\S+) +(\S+ \S+)", listed, re.MULTILINE))
    own = {name.split()[1]: LEAVES[name] for name in LEAVES if name.startswith(f"{group} ")}
    assert shown == {name: " ".join(leaf.about.split()[:2]) for name, leaf in own.items()}


@pytest.mark.parametrize(
    "name", sorted(set(LEAVES) - {"help", "hook", "mcp", "completion", "agents export"})
)
def test_every_data_command_has_the_shared_options(name: str) -> None:
    options = {each for option in LEAVES[name].options for each in option.names.split()}
    assert options >= {
        "-w", "--workspace", "--json", "-q", "--quiet", "-v", "--verbose", "--color", "--now",
        "--debug",
    }  # fmt: skip


def test_the_exit_codes_topic_lists_exactly_the_exit_codes() -> None:
    listed = re.findall(r"^\| (\d+) \|", page("exit-codes"), re.MULTILINE)
    assert [int(code) for code in listed] == [int(code) for code in ExitCode]
    assert set(generate.EXIT_MEANINGS) == {code.name for code in ExitCode}


def test_the_page_of_settings_lists_exactly_the_settings() -> None:
    text = page("settings")
    listed = re.findall(r"^\| `([a-z]+(?:\.[a-z_]+)?)` \| `", text, re.MULTILINE)
    assert listed == [key.name for key in KEYS]
    ruled = {key.variable: f"MEMCLI_{key.name.upper().replace('.', '_')}" for key in KEYS}
    assert [found for found, name in ruled.items() if found != name] == ["MEMCLI_STORE"]
    text += " ".join(key.variable for key in KEYS)  # by the rule on the page
    code = "".join(file.read_text("utf-8") for file in PACKAGE.rglob("*.py"))
    named = set(re.findall(r"\"(MEMCLI_[A-Z_]+[A-Z])\"", code))
    assert {name for name in named if name not in text} == set()


def test_the_json_topic_lists_exactly_the_schemas_and_error_codes() -> None:
    text = page("json")
    schemas = {file.name.removesuffix(".1.json") for file in (PACKAGE / "schemas").iterdir()}
    assert set(re.findall(r"^\| `(memcli\.[a-z-]+)/1` \|", text, re.MULTILINE)) == schemas
    listed = re.search(r"Codes: (.*?)\.", text, re.DOTALL)
    assert listed
    own = {error.code for error in MemcliError.__subclasses__()}
    assert set(re.split(r",\s", listed[1])) == own | {"write", "interrupted", "bug"}


def test_the_page_for_agents_is_short() -> None:
    assert estimate(page("agents")) <= 600


@pytest.mark.parametrize("topic", topics())
def test_topics_are_plain_and_narrow(topic: str) -> None:
    text = page(topic)
    assert text.isascii()
    assert text.startswith("# ")
    assert max(map(len, laid_out(text, 80).splitlines())) <= 80


@pytest.mark.parametrize("topic", topics())
def test_topics_name_only_options_and_settings_that_exist(topic: str) -> None:
    text = re.sub(
        r"(?:python -m|systemctl|pytest|pip install)[^`\n]*|<!--.*-->|--hash-->", "", page(topic)
    )
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text)) - OPTIONS == set()
    names = {key.name for key in KEYS}
    groups = "|".join({name.split(".")[0] for name in names})
    named = set(re.findall(rf"(?<![\w.])((?:{groups})\.[a-z_]+)(?![\w*/])", text))
    assert {
        name for name in named if name not in names and not name.endswith((".md", ".py"))
    } == set()


def test_help_of_a_command_is_its_help() -> None:
    assert _printed("help", "search") == _printed("search", "--help")
    assert _printed() == _printed("--help") == TOP_HELP


def test_every_flag_of_a_setting_is_the_option_that_overrides_it() -> None:
    rows = [option for leaf in LEAVES.values() for option in leaf.options if option.setting]
    assert {(option.setting, option.long) for option in rows} == set(FLAGS.items())
    assert set(FLAGS) <= {key.name for key in KEYS}


def test_pick_is_another_name_for_an_interactive_search() -> None:
    assert _printed("pick", "--help") == _printed("search", "--help")
    assert "pick" not in _printed("--help")


MANUAL = _printed("help", "--man")


@pytest.mark.parametrize("name", LEAVES)
def test_the_manual_has_every_command_and_option(name: str) -> None:
    section = MANUAL.partition(f'.SS "memcli {name}"\n')[2].partition("\n.S")[0]
    assert section
    for option in LEAVES[name].options:
        for each in option.names.split():
            assert rf"\fB{each}\fR".replace("-", r"\-") in section


def test_the_manual_has_every_topic_as_on_a_terminal() -> None:
    for topic in topics():
        section = MANUAL.partition(f'.SH "{topic.upper()}"\n.nf\n'.replace("-", r"\-"))[2]
        shown = section.partition("\n.fi\n")[0].replace(r"\&", "").replace(r"\-", "-")
        assert shown.replace(r"\e", "\\") == "\n".join(
            laid_out(page(topic), 78).split("\n")[2:]
        ).rstrip("\n")


def test_no_line_of_the_manual_is_an_unknown_request() -> None:
    known = {"TH", "SH", "SS", "PP", "TP", "nf", "fi", "RS", "RE", "B"}
    requests = {line[1:].split()[0] for line in MANUAL.split("\n") if line.startswith(".")}
    assert requests == known
    assert not re.search(r"^'", MANUAL, re.MULTILINE)


@pytest.mark.parametrize(
    ("command", "option", "default"),
    [
        ("search", "--limit", "10"),
        ("context", "--budget", "2000"),
        ("context", "--tail", "1"),
        ("compact", "--tail", "5"),
        ("compact", "--tail-days", "30"),
        ("index", "--debounce", "1500"),
        ("bench init", "--limit", "30"),
    ],
)
def test_a_default_is_that_of_the_setting_of_the_command(
    command: str, option: str, default: str
) -> None:
    [found] = [each for each in LEAVES[command].options if option in each.names.split()]
    assert default_of(found) == default
    assert f"[default: {default}]" in _printed(*command.split(), "--help")


@pytest.mark.parametrize("width", [40, 60, 79])
@pytest.mark.parametrize("name", LEAVES)
def test_help_keeps_to_the_width(name: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown = _printed(*name.split(), "--help")
    lines = shown.partition("Examples:")[0], shown.partition("Arguments:")[2]
    long = [line for part in lines for line in part.split("\n") if len(line) > width]
    assert [line for line in long if len(line.split()) > 1] == []
    monkeypatch.setenv("COLUMNS", "120")
    assert shown.split() == _printed(*name.split(), "--help").split()


@pytest.mark.parametrize("width", [60, 72])
@pytest.mark.parametrize("topic", topics())
def test_pages_fold_their_prose_and_leave_code_alone(topic: str, width: int) -> None:
    text = page(topic)
    shown = laid_out(text, width)
    for code in re.findall(r"^```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        assert textwrap.indent(code, "  ") in shown
    prose = re.sub(r"^  .*$", "", shown, flags=re.MULTILINE)  # neither code nor tables
    assert [line for line in prose.splitlines() if len(line) > width and " help " not in line] == []


def test_a_page_is_laid_out_for_a_terminal() -> None:
    text = """# Page

A line of prose
that goes on, see [other](other.md#part).

- an item of a list
- another

| Name | What it does | |
|---|---|---|
| `a` | one \\| two words | 3 |

<!-- marks -->
```sh
memcli search "a query that is not folded"
```
"""
    assert (
        laid_out(text, 24)
        == """# Page

A line of prose that
goes on, see
`memcli help other`.

- an item of a list
- another

  Name  What it does
  ----  -------------  -
  a     one | two      3
        words

  memcli search "a query that is not folded"
"""
    )


def test_a_table_that_is_too_wide_is_cut_into_several() -> None:
    text = "| Name | First | Second |\n|---|---|---|\n| a/long/path | 1234567 | 7654321 |\n"
    assert (
        laid_out(text, 18)
        == """\
  Name     First
  -------  -------
  a/long/  1234567
  path

  Name     Second
  -------  -------
  a/long/  7654321
  path
"""
    )


def test_a_list_hangs_below_its_second_column() -> None:
    text = "  one   first things come first\n  two   short\n\nA line of prose that goes on\n"
    assert folded(text, 20) == (
        "  one   first things\n        come first\n  two   short\n\nA line of prose that\ngoes on\n"
    )
    assert folded("  --an-option  what it is\n", 16) == "  --an-option\n      what it is\n"
    assert folded("   a b   c\nfits\n", 80) == "   a b   c\nfits\n"


def test_examples_are_folded_one_by_one() -> None:
    assert folded("  memcli ls\n  memcli search pool\n", 18) == (
        "  memcli ls\n  memcli search\n  pool\n"
    )


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["watch"], "memcli index --watch"),
        (["search", "x", "--mode", "lexcal"], "--mode keyword"),
        (["search", "x", "--format", "jsn"], "--format json"),
        (["search", "x", "--profile", "clasic"], "--profile classic"),
        (["search", "x", "--source", "memry"], "--source memory"),
        (["search", "x", "--scope", "glbal"], "--scope global"),
        (["search", "x", "--trust", "truste"], "--trust trusted"),
        (["search", "x", "--color", "nevr"], "--color never"),
        (["context", "x", "--format", "markdwn"], "--format markdown"),
        (["compact", "--summarizer", "comand"], "--summarizer command"),
        (["index", "--encoder", "bundeld"], "--encoder bundled"),
    ],
    ids=lambda each: each if isinstance(each, str) else " ".join(each),
)
def test_a_near_miss_is_named(words: list[str], hint: str, workspaces: Path) -> None:
    code, _, err = say(*words, folder=workspaces / "engineer")
    assert (code, err.split("\n")[1]) == (2, f"Try: {hint}")


def test_other_names_lead_to_commands() -> None:
    assert {name.split()[0] for name in OTHER_NAMES.values()} - {"--version"} <= set(COMMANDS)
    assert not set(OTHER_NAMES) & set(COMMANDS)
