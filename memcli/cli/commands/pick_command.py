"""`memcli pick`: choose a passage by eye, and open it in the editor or print it."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.options import (
    COMMON,
    JSON,
    WORKSPACE,
    CommandArgument,
    Option,
    Options,
    check,
    result_keys,
)
from memcli.cli.skin import Skin, make_skin, progress_of
from memcli.errors import ExitCode, UsageError
from memcli.types import Filters

if TYPE_CHECKING:
    from memcli.api.ask import Answered
    from memcli.render.template import Template


ARGUMENTS = (CommandArgument("query", "[QUERY]", "Any text; none asks while you type.", list),)
OPTIONS = (
    Option("-n --limit", "Passages to choose from, 1 to 100.", "N", int, setting="search.limit"),
    Option("--print", "Print this key of its JSON, or a template of keys.", "KEY",
        choices=result_keys),
    JSON, WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Choose a passage, and open it in the editor.

    With fzf the passages are shown beside their text, else as a numbered list.

    Examples: memcli pick "why did the pool run dry"      memcli pick --print file
    """
    if options.print is not None and options.json:
        raise UsageError("--print cannot be combined with --json", hint="--print file")
    template = _template(options.print)
    skin = make_skin(options)
    _check_terminal(skin)
    chosen = _chosen(" ".join(options.query or ()), skin, options.now)
    if chosen is None:
        return ExitCode.NEGATIVE
    found, rank = chosen
    from memcli.cli import editor

    if template is None and not options.json:
        editor.open_passage(found, rank, skin)
        return ExitCode.OK
    editor.passage(found, rank)  # notes may have changed since they were shown
    from memcli.cli.search_form import Shape
    from memcli.cli.search_output import described

    shape = Shape("json", fields=template.keys if template else ())
    record = described(found, skin, shape)[rank - 1]
    if template is None:
        skin.terminal.write_json(record)
    else:
        skin.terminal.write(template.filled(record, skin.terminal.safe_line))
    return ExitCode.OK


def _template(printed: str | None) -> Template | None:
    if printed is None:
        return None
    from memcli.render.jsonio import RESULT_KEYS
    from memcli.render.template import parse

    if "{" not in printed:
        check("--print", [printed], RESULT_KEYS)
        printed = f"{{{printed}}}"
    return parse(printed, RESULT_KEYS)


def _check_terminal(skin: Skin) -> None:
    """Raise UsageError where there is nobody to choose."""
    import sys

    if not (sys.stdin and sys.stdin.isatty() and skin.terminal.err_is_terminal):
        raise UsageError(
            "pick needs a terminal to ask on", hint="memcli search QUERY --format vimgrep"
        )


def _chosen(text: str, skin: Skin, now: str | None) -> tuple[Answered, int] | None:
    """Give an answer and the rank of the passage that was chosen of it."""
    from shutil import which

    from memcli.cli import picking
    from memcli.cli.search_form import Shape
    from memcli.cli.search_output import described, say

    fzf = which("fzf")
    if not text and fzf:
        search = ["-q", "--more", "-f", picking.ENTRY, "-n", str(skin.config("search.limit"))]
        search += ["-w", skin.config.workspace, *(("--now", now) if now else ())]
        told = picking.live(fzf, search, skin)
        return (_answer(told[0], skin), told[1]) if told else None
    found = _answer(text or picking.asked("Question: ", skin), skin)
    say(found, skin, Shape("text"))
    records = described(found, skin, Shape("json", fields=picking.KEYS))
    if not records:
        return None
    rank = (
        picking.by_fzf(fzf, picking.entries(records), skin)
        if fzf
        else picking.by_number(records, skin)
    )
    return (found, rank) if rank else None


def _answer(text: str, skin: Skin) -> Answered:
    from memcli.api.ask import ask
    from memcli.search.options import options_of
    from memcli.search.question import Question

    question = Question.by(skin.config, text, skin.asked)
    wanted = options_of(skin.config, filters=Filters(view=skin.config("search.view")))
    with progress_of(skin):
        return ask(skin.memory, question, wanted)
