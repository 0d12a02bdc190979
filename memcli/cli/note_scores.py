"""`memcli remember --check`: score each paragraph of a file as a note; nothing is written."""

from __future__ import annotations

import os
import sys

from memcli.checking import TYPE_CHECKING
from memcli.cli.skin import make_skin
from memcli.errors import ExitCode, NotFoundError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from memcli.api.worth import Weighed
    from memcli.cli.options import Options
    from memcli.cli.skin import Skin

SHOWN = 60  # characters of a paragraph
_HINT = "memcli remember --check MEMORY.md"


def check(options: Options) -> int:
    """Print a score from 0 to 1 for each paragraph of a file, and the rule that refuses it."""
    from memcli.api.worth import weigh

    skin = make_skin(options)
    text = _read(options.check, skin)
    found, notices = weigh(skin.memory, text, place=_place(options.check, skin))
    for reason in notices:
        skin.terminal.advise(reason)
    if options.json:
        record = {
            "schema": "memcli.remember-check/1",
            "file": None if options.check == "-" else options.check,
            "results": [_record(each) for each in found],
        }
        skin.terminal.write_json(record)
    else:
        _write(options.check, found, skin)
    return ExitCode.OK


def _read(file: str, skin: Skin) -> str:
    from memcli.workspace.reading import decode

    most = skin.config("files.max_bytes")
    try:
        if file == "-":
            data = sys.stdin.buffer.read(most + 1) if sys.stdin else b""
        else:
            with open(file, "rb") as stream:
                data = stream.read(most + 1)
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {file}", hint=_HINT) from None
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}", hint=_HINT) from error
    decoded = decode(data) if len(data) <= most else f"more than {most} bytes"
    if isinstance(decoded, str):
        name = "stdin" if file == "-" else file
        raise UsageError(f"{name} cannot be checked: {decoded}", hint=_HINT)
    return decoded[0]


def _place(file: str, skin: Skin) -> tuple[str, str] | None:
    """Name the document that a file is, so that it is not a duplicate of itself."""
    if file == "-":
        return None
    real = os.path.realpath(file)
    for source in skin.config.sources:
        below = os.path.realpath(source.root) + os.sep
        if real.startswith(below):
            return source.name, real[len(below) :].replace(os.sep, "/")
    return None


def _write(file: str, found: Sequence[Weighed], skin: Skin) -> None:
    """Print one line per paragraph: its score, keep or the rule that refuses it, and its place."""
    terminal = skin.terminal
    for each in found:
        refusal = each.judged.refusal
        where = f"{file}:{each.start_line}-{each.end_line}"
        rule = refusal.rule if refusal else "keep"
        at = f" {refusal.citation}" if refusal and refusal.citation else ""
        text = each.text if len(each.text) <= SHOWN else f"{each.text[: SHOWN - 1]}…"
        line = f"{each.judged.worth.value:.2f}  {rule}{at}  {where}  {text}"
        terminal.write_line(terminal.safe_line(line))
    if not found:
        terminal.say(f"{file} has no paragraphs.")


def _record(each: Weighed) -> dict[str, Any]:
    judged = each.judged
    return {
        "start_line": each.start_line,
        "end_line": each.end_line,
        "text": each.text,
        "worth": judged.worth.value,
        "novelty": judged.worth.novelty,
        "specificity": judged.worth.specificity,
        "kind": judged.worth.kind,
        "refusal": judged.refusal._asdict() if judged.refusal else None,
        "older": judged.older,
    }
