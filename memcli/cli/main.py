"""Start memcli: choose the command, run it, turn every outcome into an exit code.

It imports and builds only the named command, because each declared option costs time at every
start. The top-level help is stored text.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from contextlib import suppress

from memcli import __version__
from memcli.checking import TYPE_CHECKING
from memcli.cli.program import ALIASES, COMMANDS, TOP_HELP, write_help, write_topic
from memcli.errors import (
    ERROR_SCHEMA,
    MORE_FILES,
    MORE_MEMORY,
    NO_MEMORY,
    ExitCode,
    MemcliError,
    Reason,
    quote,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn, TextIO

    Report = tuple[Reason, ExitCode]

# System errors for a full disk, for forbidden operations and for impossible ones.
NOT_WRITTEN = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
REFUSED = {
    errno.EACCES, errno.EPERM, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM,
    errno.ENAMETOOLONG, errno.ELOOP, errno.ESTALE, errno.EBUSY, errno.EIO, errno.EINTR,
    errno.ENOLCK,
}  # fmt: skip

LIBRARIES = (".so", ".dylib", ".pyd")  # compiled modules: the system loads them

# Imports make many objects and few cycles; collecting those costs a search 3 % (callgrind).
GC_THRESHOLD = 50_000


def main() -> NoReturn:
    """Run the command line of the process and end it."""
    import _signal  # type: ignore[import-not-found]  # without enums; see `entry`

    if sys.stdout is None:  # the caller has closed it, so nobody reads
        sys.stdout = _nowhere()
    if sys.stderr is None:
        sys.stderr = _nowhere()
    gc.set_threshold(GC_THRESHOLD)
    code: int = ExitCode.INTERRUPTED
    with suppress(KeyboardInterrupt):  # a second Ctrl-C during the report or at the end
        if _signal.getsignal(_signal.SIGINT) is not _signal.SIG_IGN:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        code = _written(run(sys.argv[1:]))
        if code and sys.argv[1:2] == ["hook"]:  # an agent would obey a failure
            from memcli.cli.hook_reply import REPLY

            code = REPLY.settle()
    os._exit(code)  # tearing down the model runtime would cost 10 to 25 ms


def _written(code: int) -> int:
    """Flush stdout; if the answer is lost, change the exit code."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = ExitCode.OK
    except OSError as error:
        code = _report(_cannot_write(error), as_json="--json" in sys.argv)
    with suppress(OSError):  # messages may be lost
        sys.stderr.flush()
    return code


def _commit() -> str:
    """Return the commit that is checked out, if memcli runs from its repository."""
    place = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, ".git")
    with suppress(MemcliError):
        if os.path.exists(place):
            from memcli.history.git import Git

            return f" ({Git(place, os.environ).commits('-1', '--abbrev-commit', 'HEAD')[0]})"
    return ""


def run(arguments: Sequence[str]) -> int:
    """Run one command line and give its exit code."""
    flags = list(arguments)
    flags = flags[: flags.index("--")] if "--" in flags else flags
    as_json, debug = "--json" in flags, "--debug" in flags
    try:
        if "_MEMCLI_COMPLETE" in os.environ:
            return _complete(arguments)
        if not flags or flags[0] in ("-h", "--help"):
            write_help(TOP_HELP)
            return ExitCode.OK
        if flags[0] == "--version":
            sys.stdout.write(f"memcli {__version__}{_commit()}\n")
            return ExitCode.OK
        return _run_command(arguments)
    except BrokenPipeError:
        return _silenced()
    except MemoryError:
        report = None  # the error keeps the data that filled the memory, so drop it first
    except KeyboardInterrupt:
        more = "; finished work is kept" if flags[0] == "index" else ""
        report = Reason("interrupted", f"interrupted{more}"), ExitCode.INTERRUPTED
    except MemcliError as error:
        text, hint = _without_keys(error.message), _without_keys(error.hint)
        report = Reason(error.code, text, hint), error.exit_code
    except Exception as error:  # the last resort: report it as a bug and exit 70
        if debug:
            raise
        report = _unexpected(error)
    return _report(report, as_json=as_json) if report else _short_of_memory(as_json=as_json)


def _unexpected(error: Exception) -> Report | None:
    """Report a system error, or else a bug; None if there is too little memory for a report."""
    if isinstance(error, OSError) and error.errno in NOT_WRITTEN:
        _silenced()
        return _cannot_write(error)
    if isinstance(error, OSError) and error.errno in REFUSED:
        what = f"{error.filename}: " if error.filename else ""
        text = f"the system reports: {what}{error.strerror}"
        return Reason("system", text, _next_step(error)), ExitCode.USAGE
    if isinstance(error, ImportError) and (error.path or "").endswith(LIBRARIES):
        lacks_files = os.strerror(errno.EMFILE) in str(error)
        hint = MORE_FILES if lacks_files else f"{MORE_MEMORY}; or install memcli again"
        return Reason("system", f"the system reports: {error}", hint), ExitCode.USAGE
    from memcli import system

    if system.is_short_of_memory():
        return None
    text = f"internal error: {type(error).__name__}: {error}"
    hint = "the same command with --debug, and report what it prints; this is a bug"
    return Reason("bug", text, hint), ExitCode.BUG


def _next_step(error: OSError) -> str:
    """Return the command that shows the cause or makes room."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return MORE_FILES
    if error.errno in (errno.EACCES, errno.EPERM) and isinstance(error.filename, str):
        at = error.filename
        while not os.path.lexists(at) and os.path.dirname(at) != at:  # its folder is not writable
            at = os.path.dirname(at) or "."
        return f"ls -ld {quote(at)}"
    return "the same command again"


def _run_command(arguments: Sequence[str]) -> int:
    """Run a command with the fast parser if its line is plain, or else with Typer."""
    arguments = [*ALIASES.get(arguments[0], arguments[:1]), *arguments[1:]]
    if arguments[0] not in COMMANDS:
        from memcli.cli.usage import no_command

        raise no_command(arguments)
    if arguments[0] == "help" and len(arguments) < 3 and write_topic(*arguments[1:]):
        return ExitCode.OK

    from memcli import system

    if system.is_short_of_memory():
        raise MemoryError

    from memcli.cli.plain import plain_call

    call = plain_call(arguments)
    if call is None:
        from memcli.cli import typer_program

        return typer_program.run_line(arguments)
    return call.run()


def _complete(arguments: Sequence[str]) -> int:
    """Print the words that a completion script asks for."""
    from memcli.cli.commands.completion_command import words

    sys.stdout.write("".join(f"{word}\n" for word in words(arguments, os.environ)))
    return ExitCode.OK


def _cannot_write(error: OSError) -> Report:
    where = f" {error.filename}" if error.filename else ""
    hint = "make room, then the same command" if error.errno in NOT_WRITTEN else "the same command"
    text = f"cannot write{where}: {error.strerror}"
    return Reason("write", text, hint), ExitCode.USAGE


def _report(report: Report, *, as_json: bool) -> int:
    """Write an error to stderr: two lines, or one JSON object."""
    (code, message, hint), exit_code = report
    if as_json:
        import json

        record = {"schema": ERROR_SCHEMA, "code": code, "message": message, "hint": hint}
        _say(json.dumps(record) + "\n")
    else:
        from memcli.render.sanitize import visible_line

        tail = f"\nTry: {visible_line(hint)}" if hint else ""
        _say(f"memcli: {visible_line(message)}{tail}\n")
    return int(exit_code)


def _without_keys(text: str) -> str:
    """Redact a key in the line, unless there is too little memory to load the rules."""
    with suppress(OSError, ImportError):
        from memcli.secrets.finding import redacted

        return redacted(text)
    return text


def _short_of_memory(*, as_json: bool) -> int:
    """Report the shortage without imports, which could fail too."""
    text = f"memcli: the system reports: {NO_MEMORY}\nTry: {MORE_MEMORY}\n"
    if as_json:
        fields = f'"message": "the system reports: {NO_MEMORY}", "hint": "{MORE_MEMORY}"'
        text = f'{{"schema": "{ERROR_SCHEMA}", "code": "system", {fields}}}\n'
    with suppress(MemoryError):
        _say(text)
    return ExitCode.USAGE


def _say(text: str) -> None:
    with suppress(OSError):  # a message that nobody can read changes nothing
        try:
            sys.stderr.write(text)
        except UnicodeEncodeError:
            sys.stderr.write(text.encode("ascii", "backslashreplace").decode())


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # it lives as long as this process


def _silenced() -> int:
    """Treat a closed pipe as success, and stop Python from reporting it."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    return ExitCode.OK
