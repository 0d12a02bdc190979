"""What the terminal is: its width, its colours, its links."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pytest

from memcli.cli.terminal import Terminal


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(environ: Mapping[str, str], *, tty: bool = True, color: str = "auto") -> Terminal:
    out = Screen() if tty else io.StringIO()
    return Terminal(out, out, environ=environ, color=color, quiet=False, verbose=False)


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
        shown = Terminal(out, err, environ=environ, color="never", quiet=False, verbose=False)
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
