"""`memcli remember`: append a note to the memory if it is worth it, or take the last one back."""

from __future__ import annotations

import sys

from memcli.checking import TYPE_CHECKING
from memcli.cli.skin import Shared, Skin, make_skin
from memcli.errors import ExitCode, UsageError
from memcli.types import MEMORY_SOURCE, cite

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from memcli.api.remember import Noted
    from memcli.cli import options
    from memcli.remember.gate import Check

MOST_BYTES = 1 << 20  # of standard input; a note may have far less
_HINT = 'memcli remember "The pool of api-7 holds 60 connections"'


def command(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT...|-]", help="The note; - reads stdin.")
    ] = None,
    to: Annotated[
        str,
        typer.Option(metavar="PATH", help="today, for the log of the day, or a file of yours."),
    ] = "today",
    heading: Annotated[
        str, typer.Option(metavar="TITLE", help="The section it belongs to, at the file's end.")
    ] = "",
    kind: Annotated[
        str,
        typer.Option("--type", metavar="TYPE", help="user, feedback, project or reference."),
    ] = "",
    gate: Annotated[
        bool, typer.Option("--gate", help="Refuse what is worth little: chatter, known things.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Keep it whatever the gate says.")] = False,
    dry_run: Annotated[
        bool, typer.Option("-n", "--dry-run", help="Write nothing; say what would be.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what each rule of the gate found.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take the last note back while it is unchanged.")
    ] = False,
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Append a note to the memory, unless it is a secret or known already (exit 1).

    It is written behind the last line of the file; nothing that stands there is changed.

    Examples: memcli remember "Deploys are on Tuesdays"      memcli remember - < note.md
    """
    from memcli.api.remember import Wish, record_of, remember

    if undo and words:
        raise UsageError("--undo takes no text", hint="memcli remember --undo")
    text = "" if undo else _text(words or [])
    skin = make_skin(Shared(workspace, quiet, verbose, color, now), {})
    if undo:
        return _undo(skin, as_json=as_json)
    wish = Wish(to, heading, kind, dry_run, force, gate)
    noted = remember(skin.memory, text, wish, skin.moment)
    for reason in noted.notices:
        skin.terminal.advise(reason)
    if as_json:
        from memcli.render.jsonio import dumps

        record = record_of(noted)
        if not explain:
            del record["checks"]
        skin.terminal.write(dumps(record) + "\n")
    else:
        _say(noted, skin, dry_run=dry_run, explain=explain)
    return ExitCode.OK if noted.start_line is not None else ExitCode.NEGATIVE


def _text(words: list[str]) -> str:
    """Give the words of the command line, or what stdin holds."""
    if words != ["-"]:
        if not words:
            raise UsageError("there is nothing to remember", hint=_HINT)
        return " ".join(words)
    data = sys.stdin.buffer.read(MOST_BYTES + 1) if sys.stdin else b""
    if len(data) > MOST_BYTES:
        raise UsageError(f"stdin holds more than {MOST_BYTES} bytes", hint=_HINT)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("stdin is not UTF-8", hint=_HINT) from None


def _say(noted: Noted, skin: Skin, *, dry_run: bool, explain: bool) -> None:
    """Write where the note stands, or why it does not; what belongs beside it goes to stderr."""
    terminal = skin.terminal
    if explain:
        for check in noted.checks:
            terminal.write_line(
                terminal.safe_line(f"{_verdict(check)}  {check.rule}: {_why(check)}")
            )
    if noted.citation is None:
        if noted.refusal is not None:
            terminal.warn(f"not remembered: {_why(noted.refusal)}")
        return
    name = f"{skin.name(MEMORY_SOURCE, noted.path)}:{noted.start_line}-{noted.end_line}"
    terminal.write(f"{terminal.safe_line(name)}\n")
    if dry_run:
        terminal.write(f"{terminal.safe(noted.text)}\n")
    if noted.refusal is not None:
        terminal.warn(f"kept all the same: {_why(noted.refusal)}")
    if noted.older is not None:
        terminal.say(f"An older note may say otherwise: {noted.older}")


def _verdict(check: Check) -> str:
    return "passed " if check.passed else "refused"


def _why(check: Check) -> str:
    return f"{check.reason}: {check.citation}" if check.citation else check.reason


def _undo(skin: Skin, *, as_json: bool) -> int:
    """Take the last note back; exit 1 where there is none, or it is no longer what was written."""
    done = skin.memory.take_back()
    terminal = skin.terminal
    is_gone = done.path is not None and not done.kept_because
    if as_json:
        from memcli.render.jsonio import dumps

        record = {"schema": "memcli.remember-undo/1", "taken_back": is_gone, **done._asdict()}
        terminal.write(dumps(record) + "\n")
    elif done.path is None:
        terminal.warn("there is no note to take back")
    else:
        lines = cite(MEMORY_SOURCE, done.path, done.start_line, done.end_line)
        if is_gone:
            terminal.say(f"Took back {lines}")
        else:
            terminal.warn(f"{lines} was left as it is: {done.kept_because}")
    return ExitCode.OK if is_gone else ExitCode.NEGATIVE
