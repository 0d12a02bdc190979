"""Let a person choose one of the passages: by fzf where it is installed, else by a number.

What is shown goes to the terminal, so that stdout is free for the choice.
"""

from __future__ import annotations

import os
import shlex
import sys

from memcli.checking import TYPE_CHECKING
from memcli.cli.attended import attended
from memcli.errors import UsageError
from memcli.render.jsonio import RESULT_KEYS
from memcli.render.sanitize import visible_line
from memcli.render.template import parse
from memcli.render.width import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from memcli.cli.skin import Skin

# A passage in a line: its rank, which is not shown, and its citation for the preview.
ENTRY = r"{rank}\t{file}:{start_line}-{end_line}\t{date}\t{heading_path}"
_LINE = parse(ENTRY, RESULT_KEYS)
KEYS = (*_LINE.keys, "snippet")
_NO_CHOICE = (1, 130)  # exit codes of fzf: nothing matches, given up


def entries(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write a line for each passage."""
    return [_LINE.filled(record, visible_line).rstrip("\n") for record in records]


def by_fzf(program: str, lines: Sequence[str], skin: Skin) -> int | None:
    """Show the passages beside their text; give the rank of the one that was chosen."""
    chosen = _fzf([program, *_shown(skin)], "\n".join(lines))
    return int(chosen[-1].partition("\t")[0]) if chosen else None


def live(program: str, search: Sequence[str], skin: Skin) -> tuple[str, int] | None:
    """Search anew at every key; give the question in the end and the rank that was chosen."""
    reload = (
        f"reload:{_memcli('search', *search, '--color', 'always')} -- {{q}} 2>/dev/null || true"
    )
    binds = ("--bind", f"change:{reload}", "--prompt", "memcli> ")
    chosen = _fzf([program, "--disabled", "--print-query", *binds, *_shown(skin)], "")
    return (chosen[0], int(chosen[-1].partition("\t")[0])) if len(chosen) > 1 else None


def by_number(records: Sequence[Mapping[str, Any]], skin: Skin) -> int | None:
    """Show a numbered list with the beginning of each text; None for an empty answer."""
    err = skin.terminal.err
    for record in records:
        place = f"{record['file']}:{record['start_line']}-{record['end_line']}"
        text = " ".join(record["snippet"].split())
        line = visible_line(f"{record['rank']:>3}. {place}  {text}")
        err.write(shortened(line, skin.terminal.width) + "\n")
    while True:
        answer = asked(f"Which (1 to {len(records)}, nothing for none)? ", skin)
        if not answer:
            return None
        if answer.isdecimal() and 1 <= int(answer) <= len(records):
            return int(answer)


def asked(prompt: str, skin: Skin) -> str:
    """Ask for a line."""
    skin.terminal.err.write(prompt)
    skin.terminal.err.flush()
    return sys.stdin.readline().strip()


def _shown(skin: Skin) -> list[str]:
    """Give the options of fzf that show the passages; it quotes what it puts into the preview."""
    get = _memcli("get", "--color", "always", "-q", "-w", skin.config.workspace)
    return [
        "--delimiter", "\t", "--with-nth", "2..", "--no-multi", "--no-sort", "--layout", "reverse",
        "--preview", f"{get} -- {{2}}", "--preview-window", "down,60%,wrap",
    ]  # fmt: skip


def _memcli(*arguments: str) -> str:
    """Write a command line for the shell that fzf runs; modules of the current folder stay out."""
    return shlex.join([sys.executable, "-P", "-m", "memcli", *arguments])


def _fzf(command: Sequence[str], lines: str) -> list[str]:
    """Run fzf, and give the lines it ends with; none where nothing was chosen."""
    # Its commands are written for this shell, whatever the user's own.
    environ = {**os.environ, "SHELL": "/bin/sh"}
    done = attended(command, given=lines, env=environ)
    if done.returncode in _NO_CHOICE:
        return []
    if done.returncode:
        raise UsageError(
            f"{command[0]} ended with {done.returncode}",
            hint="memcli search QUERY --format vimgrep",
        )
    return done.stdout.split("\n")[:-1]
