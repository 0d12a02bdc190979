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
    from memcli.cli.search_form import Shape
    from memcli.cli.skin import Skin


def write(found: Likenesses, skin: Skin, shape: Shape) -> None:
    """Write the passages to stdout, then the messages to stderr."""
    terminal = skin.terminal
    if shape.form in ("json", "jsonl"):
        _write_json(found, skin, shape)
    elif shape.template is not None:
        for record in _results(found, skin, shape):
            terminal.write(shape.template.filled(record, terminal.safe_line))
    else:
        answer = NOTHING._replace(hits=found.alike.hits)
        question = Question(found.citation, skin.today, (), found.alike.query)
        WRITERS[shape.form](Answered(question, found.freshness, answer), skin, shape)
    terminal.flush()
    _say(found, skin)


def _write_json(found: Likenesses, skin: Skin, shape: Shape) -> None:
    from memcli.render import jsonio

    alike, lines = found.alike, _results(found, skin, shape)
    if shape.form == "json":
        lines_of_place = {key: getattr(found, key) for key in ("path", "start_line", "end_line")}
        whole: dict[str, Any] = {
            "schema": "memcli.related/1",
            "place": {
                "citation": found.citation,
                **jsonio.source_of(found.source),
                **lines_of_place,
            },
            "freshness": jsonio.freshness_of(found.freshness),
            **jsonio.workspaces_of(found.freshness),
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
        skin.terminal.write_json(line)


def _results(found: Likenesses, skin: Skin, shape: Shape) -> list[dict[str, Any]]:
    """Describe each passage as search does, with the parts of its score instead of a confidence."""
    from memcli.render import jsonio
    from memcli.search.passages import passages_of

    hits, keys, made = found.alike.hits, shape.fields, []
    for hit, passage in zip(hits, passages_of(hits), strict=True):
        source, path = hit.about.document
        file = None if skin.file_of(source, path) is None else skin.name(source, path)
        record = jsonio.result(passage, file, full="text" in keys, explain=False)
        del record["confidence"]
        record |= {"cosine": hit.cosine, "coverage": hit.coverage}
        made.append({key: record[key] for key in keys or record if key in record})
    return made


def _say(found: Likenesses, skin: Skin) -> None:
    terminal, alike = skin.terminal, found.alike
    if not say_freshness(found.freshness, terminal):
        return
    say_semantic(alike.semantic, skin)
    if not alike.hits:
        terminal.say("No passages found.")
    if found.empty_reason is not None:
        terminal.advise(found.empty_reason)
    if terminal.verbose:
        terminal.say(f"compared with {found.citation}, {alike.candidates} candidates")
