"""What the terminal is: its width, its colours, its links."""

from __future__ import annotations

import io
import re
import socket
from collections.abc import Mapping
from pathlib import Path

import pytest

from memcli.cli.options import Options
from memcli.cli.terminal import Terminal
from tests.cli.processes import on_terminal, run
from tests.commands import NewWorkspace, Screen
from tests.context.makers import put


def terminal(environ: Mapping[str, str], *, tty: bool = True, color: str = "auto") -> Terminal:
    out = Screen() if tty else io.StringIO()
    return Terminal(out, out, environ, Options(color=color))


@pytest.mark.parametrize(
    ("columns", "width"),
    [("", 80), ("x", 80), ("-3", 80), ("9", 20), ("40", 40), ("120", 120), ("200", 120)],
)
def test_the_width_is_bounded(columns: str, width: int) -> None:
    assert terminal({"COLUMNS": columns}).width == width


@pytest.mark.parametrize(
    ("environ", "links"),
    [
        ({}, False),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "dumb", "VTE_VERSION": "7000"}, False),
        ({"VTE_VERSION": "4999"}, False),
        ({"VTE_VERSION": "7600"}, True),
        ({"TERM_PROGRAM": "WezTerm"}, True),
        ({"TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"TERM_PROGRAM": "WezTerm", "TMUX": "/x"}, False),
        ({"TERM_PROGRAM": "WezTerm", "NO_COLOR": "1"}, False),
        ({"TERM_PROGRAM": "WezTerm", "FORCE_HYPERLINK": "0"}, False),
        ({"FORCE_HYPERLINK": "1"}, True),
    ],
)
def test_links_are_for_terminals_that_open_them(environ: dict[str, str], links: bool) -> None:
    assert terminal(environ).has_links is links
    assert terminal(environ, tty=False, color="always").has_links is False


def test_a_pipe_gets_text_exactly_unless_a_terminal_is_said_to_be_behind_it() -> None:
    text = "a\x1b[31m\nb"
    assert terminal({}, tty=False).safe(text) == text
    assert terminal({}, tty=False).safe_line(text) == "a\x1b[31m␊b"
    for shown in (terminal({}, tty=True), terminal({}, tty=False, color="always")):
        assert (shown.safe(text), shown.safe_line(text)) == ("a␛[31m\nb", "a␛[31m␊b")


def test_a_long_message_is_folded_on_a_terminal_and_its_command_stays_whole() -> None:
    text = "x" * 30 + " is not where it was expected to be. Try: memcli get " + "y" * 50
    for out, folded in ((Screen(), True), (io.StringIO(), False)):
        err = Screen()
        environ = {"COLUMNS": "40"}
        shown = Terminal(out, err, environ, Options(color="never"))
        shown.warn(text)
        shown.say("short. Try: memcli ls")
        *lines, command, short = err.getvalue().splitlines()
        assert short == "short. Try: memcli ls"
        if folded:
            assert all(len(line) <= 40 for line in lines)
            assert " ".join(lines) + f" {command}" == f"memcli: {text}"
            assert command == "Try: memcli get " + "y" * 50
        else:
            assert [*lines, command] == [f"memcli: {text}"]


SEARCH = ("search", "pool", "--mode", "keyword", "-q")
LINK = re.compile(r"\x1b]8;;([^\x1b]*)\x1b\\(.*?)\x1b]8;;\x1b\\")


@pytest.fixture
def notes(workspace: NewWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("FORCE_HYPERLINK", "1")
    return workspace({"MEMORY.md": "# Ports\n\n## Pool\n\nThe pool\n"}, name="my notes")


def _links(**environ: str) -> list[tuple[str, str]]:
    shown = on_terminal(*SEARCH, **environ)
    return [(url, re.sub(r"\x1b\[[\d;]*m", "", text)) for url, text in LINK.findall(shown)]


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("", "file://{host}{path}"),
        ("file", "file://{host}{path}"),
        ("vscode", "vscode://file{path}:1"),
        ("cursor", "cursor://file{path}:1"),
        ("zed", "zed://file{path}:1"),
        ("kitty", "file://{host}{path}#1"),
        ("editor://open?file={path}&line={line}", "editor://open?file={path}&line=1"),
    ],
)
def test_a_citation_links_to_its_line(notes: Path, value: str, url: str) -> None:
    path = str(notes / "MEMORY.md").replace(" ", "%20")
    links = _links(MEMCLI_TERMINAL_HYPERLINK=value)
    assert links == [(url.format(host=socket.gethostname(), path=path), "MEMORY.md:1-5")]


def test_none_links_nothing_and_a_pipe_never_holds_a_link(notes: Path) -> None:
    assert _links(MEMCLI_TERMINAL_HYPERLINK="none") == []
    assert _links(FORCE_HYPERLINK="0") == []
    assert "\x1b]8" not in run(*SEARCH, "--color", "always").stdout


def test_your_own_file_sets_it(notes: Path, tmp_path: Path) -> None:
    put(tmp_path / "config", {"memcli/config.toml": "[terminal]\nhyperlink = 'zed'\n"})
    assert [url.partition(":")[0] for url, _ in _links()] == ["zed"]
