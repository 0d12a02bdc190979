"""Print the passages most similar to a place, in the forms of a search."""

from __future__ import annotations

from memcli.api.ask import Answered
from memcli.checking import TYPE_CHECKING
from memcli.cli.search_output import WRITERS, say_freshness, say_semantic
from memcli.search.pipeline import NOTHING
from memcli.search.question import Question

if TYPE_CHECKING:
    from typing import Any

    from memcli.api.related import Likenesses
    from memcli.cli.command_context import CommandContext
    from memcli.cli.search_form import Shape


def write(found: Likenesses, command: CommandContext, shape: Shape) -> None:
    """Write the passages to stdout, then the messages to stderr."""
    terminal = command.terminal
    if shape.form in ("json", "jsonl"):
        _write_json(found, command, shape)
    elif shape.template is not None:
        for record in _results(found, command, shape):
            terminal.write(shape.template.filled(record, terminal.safe_line))
    else:
        answer = NOTHING._replace(passages=found.alike.passages)
        question = Question(found.citation, command.today, (), found.alike.query)
        WRITERS[shape.form](Answered(question, found.freshness, answer), command, shape)
    terminal.flush()
    _say(found, command)


def _write_json(found: Likenesses, command: CommandContext, shape: Shape) -> None:
    from memcli.render import jsonio

    alike, lines = found.alike, _results(found, command, shape)
    if shape.form == "json":
        place = ("citation", "source", "path", "start_line", "end_line")
        whole: dict[str, Any] = {
            "schema": "memcli.related/1",
            "place": {key: getattr(found, key) for key in place},
            "freshness": jsonio.freshness_of(found.freshness),
            "retrievers": jsonio.retrievers(
                NOTHING._replace(keyword=alike.keyword, semantic=alike.semantic)
            ),
            "results": lines,
        }
        if shape.fields:
            whole["fields"] = list(shape.fields)
        if found.empty_reason is not None:
            whole["empty_reason"] = jsonio.reason(found.empty_reason)
        lines = [whole]
    for line in lines:
        command.terminal.write_json(line)


def _results(found: Likenesses, command: CommandContext, shape: Shape) -> list[dict[str, Any]]:
    """Describe each passage as search does, with the parts of its score instead of a confidence."""
    from memcli.render import jsonio
    from memcli.search.passages import passages_of

    passages, keys, made = found.alike.passages, shape.fields, []
    for passage, public in zip(passages, passages_of(passages), strict=True):
        source, path = passage.about.document
        file = None if command.file_of(source, path) is None else command.name(source, path)
        record = jsonio.result(public, file, full="text" in keys, explain=False)
        del record["confidence"]
        record |= {"cosine": passage.cosine, "coverage": passage.coverage}
        made.append({key: record[key] for key in keys or record if key in record})
    return made


def _say(found: Likenesses, command: CommandContext) -> None:
    terminal, alike = command.terminal, found.alike
    if not say_freshness(found.freshness, terminal):
        return
    say_semantic(alike.semantic, command)
    if not alike.passages:
        terminal.say("No passages found.")
    if found.empty_reason is not None:
        terminal.advise(found.empty_reason)
    if terminal.verbose:
        terminal.say(f"compared with {found.citation}, {alike.candidates} candidates")
