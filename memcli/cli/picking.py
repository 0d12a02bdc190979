"""Let a person choose a passage: with fzf if it is installed, otherwise by number.

The list goes to the terminal, because stdout gets the chosen passage.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from memcli.api.ask import SearchResult
from memcli.cli import editor
from memcli.cli import options as rows
from memcli.cli.command_context import CommandContext
from memcli.cli.options import Options, words_of
from memcli.cli.search_form import Shape
from memcli.cli.search_output import described, say, say_index, say_match
from memcli.cli.search_run import SearchRequest
from memcli.errors import ExitCode, UsageError
from memcli.render.jsonio import RESULT_KEYS
from memcli.render.sanitize import visible_line
from memcli.render.template import parse
from memcli.render.width import shortened
from memcli.search.question import Question

# One line per passage: its rank (hidden in fzf), and its citation for the preview.
ENTRY = r"{rank}\t{file}:{start_line}-{end_line}\t{date}\t{heading_path}"
_LINE = parse(ENTRY, RESULT_KEYS)
KEYS = (*_LINE.keys, "snippet")
_NO_CHOICE = (1, 130)  # exit codes of fzf: no match, cancelled
_PLACE = (
    rows.WORKSPACE, rows.EVERYWHERE, rows.AGENT_MEMORIES, rows.WORKSPACE_NAME, rows.TENANT,
    rows.AS_OF, rows.NOW,
)  # fmt: skip


def choose(question: Question | None, request: SearchRequest, repeated: Sequence[str]) -> int:
    """Let a person choose a passage, then open it, or print it in another shape than text.

    Without a question, fzf runs a search at every key, with the `repeated` words of the line.
    """
    command, shape = request.command, request.shape
    if not (sys.stdin and sys.stdin.isatty() and command.terminal.err_is_terminal):
        words = shlex.quote(question.text) if question else "QUERY"
        raise UsageError("--interactive needs a terminal", hint=f"memcli search {words} -f vimgrep")
    chosen = _chosen(question, request, repeated)
    if chosen is None:
        return ExitCode.NEGATIVE
    result, rank = chosen
    if shape.form == "text":
        editor.open_passage(result, rank, command)
        return ExitCode.OK
    editor.numbered_passage(result, rank)  # notes may have changed since the list was shown
    record = described(result, command, shape)[rank - 1]
    if shape.template:
        command.terminal.write(shape.template.filled(record, command.terminal.safe_line))
    else:
        command.terminal.write_json(record)
    return ExitCode.OK


def _chosen(
    question: Question | None, request: SearchRequest, repeated: Sequence[str]
) -> tuple[SearchResult, int] | None:
    """Return an answer and the rank of the chosen passage."""
    from shutil import which

    command, options, fzf = request.command, request.line, which("fzf")
    if question is None:
        if fzf:
            typed = _typed(fzf, options, repeated)
            if typed is None:
                return None
            text, rank = typed
            return request.answer(Question.by(command.config, text, command.question_time)), rank
        question = Question.by(command.config, _read("Question: ", command), command.question_time)
    result = request.answer(question)
    say_index(result, command)
    say_match(result.answer, command.terminal)
    say(result, command, Shape("text"))
    records = described(result, command, Shape("json", fields=KEYS))
    if not records:
        return None
    number = _by_fzf(fzf, records, options) if fzf else _by_number(records, command)
    return (result, number) if number else None


def _by_fzf(program: str, records: Sequence[Mapping[str, Any]], options: Options) -> int | None:
    """Show the passages next to their text; return the rank of the chosen one."""
    lines = "".join(_LINE.filled(record, visible_line) for record in records)
    chosen = _fzf([program, *_preview(options)], lines.rstrip("\n"))
    return int(chosen[-1].partition("\t")[0]) if chosen else None


def _typed(program: str, options: Options, repeated: Sequence[str]) -> tuple[str, int] | None:
    """Search at every key; return the last question and the chosen rank."""
    words = (*repeated, *words_of(options, _PLACE))
    search = _memcli("search", "-q", "--more", "-f", ENTRY, *words, "--color", "always")
    binds = ("--bind", f"change:reload:{search} -- {{q}} 2>/dev/null || true")
    command = [program, "--disabled", "--print-query", *binds, "--prompt", "memcli> "]
    chosen = _fzf([*command, *_preview(options)], "")
    return (chosen[0], int(chosen[-1].partition("\t")[0])) if len(chosen) > 1 else None


def _by_number(records: Sequence[Mapping[str, Any]], command: CommandContext) -> int | None:
    """Print a numbered list with the start of each text; None for an empty answer."""
    err = command.terminal.err
    for record in records:
        place = f"{record['file']}:{record['start_line']}-{record['end_line']}"
        text = " ".join(record["snippet"].split())
        line = visible_line(f"{record['rank']:>3}. {place}  {text}")
        err.write(shortened(line, command.terminal.width) + "\n")
    while True:
        answer = _read(f"Which (1 to {len(records)}, nothing for none)? ", command)
        if not answer:
            return None
        if answer.isdecimal() and 1 <= int(answer) <= len(records):
            return int(answer)


def _read(prompt: str, command: CommandContext) -> str:
    command.terminal.err.write(prompt)
    command.terminal.err.flush()
    return sys.stdin.readline().strip()


def _preview(options: Options) -> list[str]:
    """Return the options of fzf that show the passages; fzf quotes the citation."""
    get = _memcli("get", "--color", "always", "-q", *words_of(options, _PLACE))
    return [
        "--delimiter", "\t", "--with-nth", "2..", "--no-multi", "--no-sort", "--layout", "reverse",
        "--preview", f"{get} -- {{2}}", "--preview-window", "down,60%,wrap",
    ]  # fmt: skip


def _memcli(*arguments: str) -> str:
    """Return a memcli command for the shell of fzf that imports nothing from the current folder."""
    return shlex.join([sys.executable, "-P", "-m", "memcli", *arguments])


def _fzf(command: Sequence[str], lines: str) -> list[str]:
    """Run fzf and return the lines it prints; none if nothing was chosen."""
    # The shell for its commands.
    environ = {**os.environ, "SHELL": "/bin/sh"}
    done = editor.attended(command, text=lines, env=environ)
    if done.returncode in _NO_CHOICE:
        return []
    if done.returncode:
        raise UsageError(
            f"{command[0]} ended with {done.returncode}",
            hint="memcli search QUERY --format vimgrep",
        )
    return done.stdout.split("\n")[:-1]
