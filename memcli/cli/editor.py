"""Open a file at a line in the user's editor.

Only the environment names the editor: no file of a workspace may name a program.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from memcli.api.ask import SearchResult
from memcli.cli.command_context import CommandContext
from memcli.cli.stopping import ended_by_signals, unheeded
from memcli.errors import NotFoundError, UsageError
from memcli.render.text import counted
from memcli.search.cursor import cursor_of
from memcli.search.ranked import RankedPassage

VARIABLES = ("MEMCLI_EDITOR", "VISUAL", "EDITOR")

# How each program takes a line number; other editors open the first line.
_FORMS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys((
        "vi", "vim", "nvim", "gvim", "mvim", "view", "ex", "nano", "pico", "emacs", "emacsclient",
        "micro", "kak", "joe", "jed", "mg", "ne", "gedit", "xed", "pluma",
    ), ("+{line}", "{file}")),
    **dict.fromkeys((
        "code", "code-insiders", "codium", "vscodium", "cursor", "windsurf", "positron",
    ), ("--goto", "{file}:{line}")),
    **dict.fromkeys((
        "hx", "helix", "zed", "zeditor", "subl", "sublime_text", "lite-xl",
    ), ("{file}:{line}",)),
    **dict.fromkeys(("kate", "kwrite", "idea", "pycharm", "mate"), ("--line", "{line}", "{file}")),
}  # fmt: skip


def open_passage(result: SearchResult, number: int, command: CommandContext) -> None:
    """Open passage `number` (from 1) of a search at the line that matches best.

    NotFoundError if there are fewer passages, or the source is no longer configured; see `open_at`.
    """
    passage = numbered_passage(result, number)
    file = command.file_of(*passage.about.document)
    if file is None:
        raise NotFoundError(
            f"the source {passage.about.source} is no longer configured", hint="memcli config"
        )
    open_at(file, cursor_of(passage, result.answer.words).line, os.environ)


def numbered_passage(result: SearchResult, number: int) -> RankedPassage:
    """Return passage `number` of a search; NotFoundError if there are fewer."""
    passages = result.answer.passages
    if number > len(passages):
        count = counted(len(passages), "passage") if passages else "no passage"
        raise NotFoundError(
            f"there is no passage {number} to open: {count} found",
            hint=f"--open {len(passages)}" if passages else "memcli status",
        )
    return passages[number - 1]


def open_at(file: str, line: int, environ: Mapping[str, str]) -> None:
    """Open a file by its absolute path, and wait until the editor ends.

    UsageError if there is no editor, or it cannot run or fails; NotFoundError if there is no file.
    """
    if not os.path.isfile(file):
        raise NotFoundError(f"{file} no longer exists", hint="memcli index")
    arguments = command_line(_editor(environ), file, line)
    try:
        code = attended(arguments).returncode
    except OSError as error:
        raise UsageError(
            f"{arguments[0]} cannot be run: {error.strerror}", hint="export EDITOR=vim"
        ) from None
    if code:
        raise UsageError(f"{arguments[0]} ended with {code}", hint=shlex.join(arguments))


def command_line(editor: Sequence[str], file: str, line: int) -> list[str]:
    """Return the arguments that open a file at a line; `editor` is the program and its options.

    Example: ["vim"] becomes ["vim", "+12", "/notes/MEMORY.md"].
    """
    program = os.path.basename(editor[0]).lower().removesuffix(".exe").removesuffix(".cmd")
    form = _FORMS.get(program, ("{file}",))
    return [*editor, *(part.format(file=file, line=line) for part in form)]


def _editor(environ: Mapping[str, str]) -> list[str]:
    for variable in VARIABLES:
        try:
            words = shlex.split(environ.get(variable, ""))
        except ValueError as error:
            raise UsageError(
                f"{variable} cannot be read as a command: {error}", hint="export EDITOR=vim"
            ) from None
        if words:
            return words
    raise UsageError(
        f"no editor is named: {', '.join(VARIABLES)} are empty", hint="export EDITOR=vim"
    )


KIND_SECONDS = 5.0  # seconds to save, and to restore the terminal


def attended(
    command: Sequence[str],
    *,
    text: str | None = None,
    **how: Any,  # noqa: ANN401
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end. With `text`, it reads that, and memcli returns its output.

    `how` goes to Popen. OSError if the program cannot run, KeyboardInterrupt if Ctrl-C ended it.
    """
    pipe = None if text is None else subprocess.PIPE
    with _terminal_state() as put_right, ended_by_signals(), unheeded("SIGINT", "SIGQUIT"):
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8", **how)
        try:
            out, _ = process.communicate(text)
        except BaseException:
            _end(process)
            raise
        finally:
            if process.returncode is None or process.returncode < 0:
                put_right()
    if process.returncode == -signal.SIGINT:
        raise KeyboardInterrupt
    return subprocess.CompletedProcess(command, process.returncode, out)


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(KIND_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def _terminal_state() -> Iterator[Callable[[], None]]:
    """Return a function that restores the current state of the terminal."""
    try:
        import termios

        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except (ImportError, OSError):  # Windows, or no terminal
        yield lambda: None
        return
    state: list[Any] = []
    with suppress(termios.error):  # it was hung up
        state = termios.tcgetattr(terminal)

    def put_right() -> None:
        # If the shell has the terminal again, it restores the state itself.
        with suppress(OSError, termios.error):
            if state and os.tcgetpgrp(terminal) == os.getpgrp():
                termios.tcsetattr(terminal, termios.TCSADRAIN, state)

    try:
        yield put_right
    finally:
        os.close(terminal)
