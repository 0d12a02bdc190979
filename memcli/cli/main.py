"""Start memcli: choose the command, run it, turn every outcome into an exit code.

Only the command that is named is imported and built: each declared option costs time at every
start. The top-level help is stored text.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from memcli import __version__
from memcli.errors import ExitCode, MemcliError

if TYPE_CHECKING:
    import typer

COMMANDS = ("index", "search", "get", "status", "bench", "help")

TOP_HELP = """\
memcli - search over Markdown memory workspaces: hybrid, explained, offline

Usage: memcli COMMAND [OPTIONS]

  memcli search "why did the pool run dry"      find passages, best first
  memcli search ERR_POOL_EXHAUSTED --json       the same for a program
  memcli index                                  bring the index in step, embed what is new
  memcli status                                 what is indexed, what is behind and why

Commands:
  search   Find passages by words and meaning.
  get      Print lines of a document, by path, citation or record ref.
  index    Bring the index in step with the files.
  status   Show what the index knows, and what it does not.
  bench    Measure how well search finds things, on your own questions.
  help     Explain a topic: exit-codes, environment, json, query-syntax, ranking.

Options:
  --version    Show the version.
  -h, --help   Show this help; `memcli COMMAND --help` shows a command's options.

A workspace is a folder with MEMORY.md and dated logs memory/YYYY-MM-DD.md; memcli looks for it
at and above the current folder, or where -w or MEMCLI_WORKSPACE says.
"""


def main() -> NoReturn:
    """Run the process: the console script."""
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = ExitCode.OK
    os._exit(code)  # tearing down the model runtime would cost 10 to 25 ms


def run(arguments: Sequence[str]) -> int:
    """Run one command line and give its exit code."""
    try:
        if not arguments or arguments[0] in ("-h", "--help"):
            sys.stdout.write(TOP_HELP)
            return ExitCode.OK
        if arguments[0] == "--version":
            sys.stdout.write(f"memcli {__version__}\n")
            return ExitCode.OK
        return _run_command(arguments)
    except BrokenPipeError:
        return _silenced()
    except KeyboardInterrupt:
        _say("memcli: interrupted; what was done is kept\n")
        return ExitCode.INTERRUPTED
    except MemcliError as error:
        return _report(error, as_json="--json" in arguments)
    except Exception as error:
        if "--debug" in arguments:
            raise
        _say(
            f"memcli: internal error: {type(error).__name__}: {error}\n"
            "This is a bug. Try: run the same command with --debug and report what it prints.\n"
        )
        return ExitCode.BUG


def build_app(command: str | None = None) -> typer.Typer:
    """Build the command tree with one command, or with all of them."""
    import importlib

    import typer

    app = typer.Typer(
        name="memcli",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_nothing)
    for name in COMMANDS if command is None else (command,):
        module = importlib.import_module(f"memcli.cli.commands.{name}_command")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name)(module.command)
    return app


def _nothing() -> None:
    """Search over Markdown memory workspaces."""


def _run_command(arguments: Sequence[str]) -> int:
    name = next((word for word in arguments if not word.startswith("-")), "")
    if arguments[0] != name or name not in COMMANDS:
        from difflib import get_close_matches

        from memcli.errors import UsageError

        near = get_close_matches(name, COMMANDS, n=1)
        hint = f"memcli {near[0]}" if near else "memcli --help"
        wrong = arguments[0] if arguments[0] != name else name
        raise UsageError(f"there is no command {wrong!r}", hint=hint)

    import typer

    click_error = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
    try:
        result = build_app(name)(args=list(arguments), prog_name="memcli", standalone_mode=False)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except click_error as error:
        from memcli.errors import UsageError

        message = error.format_message().rstrip(".")  # type: ignore[attr-defined]
        raise UsageError(message, hint=f"memcli {name} --help") from None
    return int(result or 0)


def _report(error: MemcliError, *, as_json: bool) -> int:
    from memcli.render.sanitize import visible

    if as_json:
        import json

        record = {"code": error.code, "message": error.message, "hint": error.hint}
        _say(json.dumps(record, ensure_ascii=False) + "\n")
    else:
        hint = f"\nTry: {visible(error.hint)}" if error.hint else ""
        _say(f"memcli: {visible(error.message)}{hint}\n")
    return int(error.exit_code)


def _say(text: str) -> None:
    try:
        sys.stderr.write(text)
    except UnicodeEncodeError:
        sys.stderr.write(text.encode("ascii", "backslashreplace").decode())


def _silenced() -> int:
    """Treat a closed pipe as success, and keep the interpreter quiet about it."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    return ExitCode.OK
