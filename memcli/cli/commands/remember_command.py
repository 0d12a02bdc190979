"""`memcli remember`: append a note, score the paragraphs of a file, or undo the last note."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from memcli.api import remember
from memcli.api.remember import RememberOptions, RememberResult, ScoredParagraph
from memcli.checking import Any
from memcli.cli.command_context import CommandContext, command_context
from memcli.cli.options import DOCUMENTS, FILES, STANDARD, CommandArgument, Option, Options
from memcli.cli.terminal import Terminal
from memcli.errors import ExitCode, NotFoundError, UsageError
from memcli.remember.admission import Check
from memcli.render.width import shortened
from memcli.types import MEMORY_SOURCE, cite, lines_of
from memcli.workspace.reading import decode

SHOWN_OLDER = 160  # columns of an older line
MOST_BYTES = 1 << 20  # of standard input; a note may have far less
_HINT = 'memcli remember "The pool of api-7 holds 60 connections"'


ARGUMENTS = (CommandArgument("words", "[TEXT...|-]", "The note, or - for stdin.", list),)
OPTIONS = (
    Option("--to", "today (today's log), or the path of a file.", "PATH", default="today",
        choices=DOCUMENTS),
    Option("--heading", "Section for the note, at the end of the file.", "TITLE", default=""),
    Option("--type", "user, feedback, project or reference.", "TYPE", default=""),
    Option("--corrects", "An older line that the note replaces. It is marked.", "PATH:LINE",
        default="", choices=DOCUMENTS),
    Option("--gate", "Also refuse small talk and notes that add nothing."),
    Option("--force", "Append the note even if a rule refuses it."),
    Option("--check", "Score each paragraph of FILE. Write nothing.", "FILE", choices=FILES),
    Option("--dry-run", "Show the note and write nothing."),
    Option("--explain", "Print the result of every rule."),
    Option("--undo", "Remove the last note, if its lines are unchanged."),
    *STANDARD,
)  # fmt: skip


def run(options: Options) -> int:
    """Append a note. Exit 1 if it repeats a line or contains a secret.

    The note goes after the last line of the file. No existing line changes.

    Examples: memcli remember "Deploys are on Tuesdays"      memcli remember - < note.md
    """
    if options.undo and (options.words or options.corrects):
        raise UsageError("--undo takes no text and no --corrects", hint="memcli remember --undo")
    if options.check is not None and (options.words or options.corrects):
        why = "--check takes no text and no --corrects"
        raise UsageError(why, hint="memcli remember --check FILE")
    if options.check is not None:
        return check(options)
    text = "" if options.undo else _text(options.words or [])
    command = command_context(options)
    if options.undo:
        return _undo(command, as_json=options.json)
    wish = RememberOptions(
        options.to, options.heading, options.type, options.dry_run, options.force, options.gate,
        corrects=options.corrects,
    )  # fmt: skip
    noted = remember.remember(command.workspace, text, wish, command.moment)
    for reason in noted.notices:
        command.terminal.advise(reason)
    if options.json:
        record = remember.record_of(noted)
        if not options.explain:
            del record["checks"]
        command.terminal.write_json(record)
    else:
        _say(noted, command, options)
    return ExitCode.OK if noted.start_line is not None else ExitCode.NEGATIVE


def _text(words: list[str]) -> str:
    """Return the text of the command line or of stdin."""
    if words != ["-"]:
        if not words:
            has_stdin = bool(sys.stdin) and not sys.stdin.isatty()
            hint = "memcli remember -" if has_stdin else _HINT
            raise UsageError("there is nothing to remember; - reads the note from stdin", hint=hint)
        return " ".join(words)
    data = sys.stdin.buffer.read(MOST_BYTES + 1) if sys.stdin else b""
    if len(data) > MOST_BYTES:
        raise UsageError(f"stdin has more than {MOST_BYTES} bytes", hint=_HINT)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("stdin is not UTF-8", hint=_HINT) from None


def _say(noted: RememberResult, command: CommandContext, options: Options) -> None:
    """Print the place of the note, or why it was refused; other messages go to stderr."""
    terminal = command.terminal
    if options.explain:
        for check in noted.checks:
            verdict = "passed " if check.passed else "refused"
            terminal.write_line(terminal.safe_line(f"{verdict}  {check.rule}: {_why(check)}"))
    if noted.citation is None:
        if noted.refusal is not None:
            terminal.warn(f"not saved: {_why(noted.refusal)}")
        return
    name = f"{command.name(MEMORY_SOURCE, noted.path)}:{lines_of(noted.start_line, noted.end_line)}"
    terminal.write(f"{terminal.safe_line(name)}\n")
    if options.dry_run:
        terminal.write(f"{terminal.safe(noted.text)}\n")
    if noted.refusal is not None:
        terminal.warn(f"saved anyway: {_why(noted.refusal)}")
    _say_older(noted, terminal, is_correction=bool(options.corrects))


def _say_older(noted: RememberResult, terminal: Terminal, *, is_correction: bool) -> None:
    """Name older lines about the same thing, and how to mark one as corrected."""
    older = [each for each in noted.older if each.text]  # a note itself may name its older line
    for each in older:
        label = "An older note may differ" if each.differs else "A related note"
        label = "It corrects" if is_correction else label
        text = shortened(" ".join(each.text.split()), SHOWN_OLDER)
        terminal.say(f"{label}: {each.citation}: {text}")
    if older and noted.stored and not is_correction:
        terminal.say("If it replaces one: --undo, then the same note with --corrects PATH:LINE")


def _why(check: Check) -> str:
    return f"{check.reason}: {check.citation}" if check.citation else check.reason


def _undo(command: CommandContext, *, as_json: bool) -> int:
    """Remove the last note; exit 1 if there is none, or if somebody changed it."""
    done = remember.undo_remember(command.workspace)
    terminal = command.terminal
    is_gone = done.path is not None and not done.reason
    if as_json:
        record = {"schema": "memcli.remember-undo/1", "removed": is_gone, **done._asdict()}
        terminal.write_json(record)
    elif done.path is None:
        terminal.warn("there is no note to undo")
    else:
        lines = cite(MEMORY_SOURCE, done.path, done.start_line, done.end_line)
        if is_gone:
            terminal.say(f"Removed {lines}")
        else:
            terminal.warn(f"{lines} was left as it is: {done.reason}")
            terminal.say("The next --undo removes the note before it.")
    return ExitCode.OK if is_gone else ExitCode.NEGATIVE


SHOWN = 60  # characters of a paragraph
_CHECK_HINT = "memcli remember --check MEMORY.md"


def check(options: Options) -> int:
    """Print a score from 0 to 1 for each paragraph of a file, and the rule that refuses it."""
    command = command_context(options)
    text = _read(options.check, command)
    scored, notices = remember.weigh(command.workspace, text, place=_place(options.check, command))
    for reason in notices:
        command.terminal.advise(reason)
    if options.json:
        record = {
            "schema": "memcli.remember-check/1",
            "file": None if options.check == "-" else options.check,
            "results": [_record(each) for each in scored],
        }
        command.terminal.write_json(record)
    else:
        _write(options.check, scored, command)
    return ExitCode.OK


def _read(file: str, command: CommandContext) -> str:
    most = command.config("files.max_bytes")
    try:
        if file == "-":
            data = sys.stdin.buffer.read(most + 1) if sys.stdin else b""
        else:
            with open(file, "rb") as stream:
                data = stream.read(most + 1)
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {file}", hint=_CHECK_HINT) from None
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}", hint=_CHECK_HINT) from error
    decoded = decode(data) if len(data) <= most else f"more than {most} bytes"
    if isinstance(decoded, str):
        name = "stdin" if file == "-" else file
        raise UsageError(f"{name} cannot be checked: {decoded}", hint=_CHECK_HINT)
    return decoded[0]


def _place(file: str, command: CommandContext) -> tuple[str, str] | None:
    """Return source and path of a file, so that it is not a duplicate of itself."""
    if file == "-":
        return None
    real = os.path.realpath(file)
    for source in command.config.sources:
        below = os.path.realpath(source.root) + os.sep
        if real.startswith(below):
            return source.name, real[len(below) :].replace(os.sep, "/")
    return None


def _write(file: str, paragraphs: Sequence[ScoredParagraph], command: CommandContext) -> None:
    """Print one line per paragraph: its score, keep or the rule that refuses it, and its place."""
    terminal = command.terminal
    for each in paragraphs:
        refusal = each.judged.refusal
        where = f"{file}:{lines_of(each.start_line, each.end_line)}"
        rule = refusal.rule if refusal else "keep"
        at = f" {refusal.citation}" if refusal and refusal.citation else ""
        older = [] if refusal else [line for line in each.judged.older if line.differs]
        behind = f"  (differs from {older[0].citation})" if older else ""
        text = each.text if len(each.text) <= SHOWN else f"{each.text[: SHOWN - 1]}…"
        line = f"{each.judged.score.value:.2f}  {rule}{at}  {where}  {text}{behind}"
        terminal.write_line(terminal.safe_line(line))
    if not paragraphs:
        terminal.say(f"{file} has no paragraphs.")


def _record(each: ScoredParagraph) -> dict[str, Any]:
    judged = each.judged
    return {
        "start_line": each.start_line,
        "end_line": each.end_line,
        "text": each.text,
        "score": judged.score.value,
        "novelty": judged.score.novelty,
        "specificity": judged.score.specificity,
        "kind": judged.score.kind,
        "refusal": judged.refusal._asdict() if judged.refusal else None,
        "older": [line._asdict() for line in judged.older],
    }
