"""`memcli related`: find the passages most like the chunk at a place."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.api.ask import SearchResult
from memcli.api.related import RelatedResult, find_related
from memcli.checking import TYPE_CHECKING, Any
from memcli.cli import options as rows
from memcli.cli.command_context import CommandContext, command_context, progress_of
from memcli.cli.filters import filters_of, sync_of
from memcli.cli.options import CommandArgument, Option, Options, related_keys
from memcli.cli.search_form import Shape, shape_of
from memcli.cli.search_output import WRITERS, has_all, say_freshness, say_semantic
from memcli.errors import ExitCode, UsageError
from memcli.render import jsonio
from memcli.render.text import counted
from memcli.search.options import options_of
from memcli.search.passages import passages_of
from memcli.search.question import Question

if TYPE_CHECKING:
    from memcli.search.ranked import RankedPassage

STATEMENT = 2  # see `cursor.says`

ARGUMENTS = (
    CommandArgument(
        "place",
        "PATH[:LINE]",
        "A citation or ref, or a path for a whole document.",
        is_required=True,
        choices=rows.DOCUMENTS,
    ),
)
OPTIONS = (
    rows.LIMIT, rows.FORMAT,
    Option("--fields", "Only these JSON keys.", "KEYS", list, choices=related_keys),
    rows.JSON, rows.FULL, rows.BRIEF, rows.MORE,
    rows.MODE,
    rows.PATH, rows.SOURCE, rows.KIND, rows.TAG, rows.WHERE, rows.NO_SYNC, rows.SYNC,
    rows.WORKSPACE, rows.EVERYWHERE, rows.WORKSPACE_NAME, rows.TENANT, *rows.COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Find passages similar to the one at a place, best first.

    A score of 1 means the same text. See: memcli help ranking

    Examples: memcli related memory/2025-06-12.md:10      memcli related MEMORY.md --json
    """
    json_by = "--json" if options.json else ""
    shape = shape_of(options.format, options.fields or (), related_keys, json_by=json_by)
    if options.brief and shape.form != "text":
        raise UsageError("--brief works only with text", hint="--format text")
    is_fitted = not (options.more or options.limit)
    shape = shape._replace(brief=options.brief, full=options.full, is_fitted=is_fitted)
    wanted_sync = sync_of(options, "related")
    command = command_context(options)
    filters = filters_of(command, options)._replace(view=command.config("search.view"))
    search_options = options_of(
        command.config, filters=filters, whole=options.full, worthwhile=not options.more
    )
    with progress_of(command):
        result = find_related(
            command.memory, options.place, search_options, sync=wanted_sync, here=command.here
        )
    write(result, command, shape)
    return ExitCode.OK


def write(result: RelatedResult, command: CommandContext, shape: Shape) -> None:
    """Write the passages to stdout, then the messages to stderr."""
    terminal = command.terminal
    if shape.form in ("json", "jsonl"):
        _write_json(result, command, shape)
    elif shape.template is not None:
        for record in _results(result, command, shape):
            terminal.write(shape.template.filled(record, terminal.safe_line))
    else:
        question = Question(result.citation, command.today, (), result.query)
        answer = result.answer
        if shape.brief or shape.form == "vimgrep":
            words = tuple(term.text for term in result.query.counted_terms)
            best = tuple(_best_part(passage, words) for passage in answer.passages)
            answer = answer._replace(passages=best, words=words)
        search_result = SearchResult(question, result.freshness, answer)
        WRITERS[shape.form](search_result, command, shape)
    terminal.flush()
    _say(result, command)


def _best_part(passage: RankedPassage, words: Sequence[str]) -> RankedPassage:
    """Cut a passage down to the segment that is most like the place, which has these words.

    One of its lines is printed, so only the corrections of that line are kept. If the segment is
    only a heading, the passage stays as it is.
    """
    from memcli.search.cursor import corrections_at, cursor_of, says

    best = passage._replace(first=passage.best, last=passage.best)
    at = cursor_of(best, words)
    if says(at.text, 0) < STATEMENT:
        return passage
    return best._replace(corrected_by=corrections_at(passage, at.line))


def _write_json(result: RelatedResult, command: CommandContext, shape: Shape) -> None:
    lines = _results(result, command, shape)
    if shape.form == "json":
        whole: dict[str, Any] = {
            "schema": "memcli.related/1",
            "place": {
                "citation": result.citation,
                **jsonio.source_of(result.source),
                "path": result.path,
                "start_line": result.start_line,
                "end_line": result.end_line,
            },
            **jsonio.freshness_fields(result.freshness),
            "retrievers": jsonio.retrievers(result.answer),
            "results": lines,
        }
        if shape.fields:
            whole["fields"] = list(shape.fields)
        if result.answer.weaker:
            whole["weaker"] = result.answer.weaker
        if not has_all(command, shape):
            whole = jsonio.few_of_answer(whole | {"place": {"citation": result.citation}})
        if result.empty_reason is not None:
            whole["empty_reason"] = jsonio.reason(result.empty_reason)
        lines = [whole]
    for line in lines:
        command.terminal.write_json(line)


def _results(result: RelatedResult, command: CommandContext, shape: Shape) -> list[dict[str, Any]]:
    """Describe each passage as search does, with the parts of its score instead of a confidence."""
    passages, keys, made = result.answer.passages, shape.fields, []
    for passage, public in zip(passages, passages_of(passages), strict=True):
        source, path = passage.about.document
        file = None if command.file_of(source, path) is None else command.name(source, path)
        record = jsonio.result(public, file, full=shape.full or "text" in keys, explain=False)
        del record["confidence"]
        record |= {"cosine": passage.cosine, "coverage": passage.coverage}
        made.append({key: record[key] for key in keys or record if key in record})
    return made if keys or has_all(command, shape) else [*map(jsonio.few, made)]


def _say(result: RelatedResult, command: CommandContext) -> None:
    terminal, alike = command.terminal, result.answer
    if not say_freshness(result.freshness, terminal):
        return
    say_semantic(alike.semantic, command, result.freshness)
    if not alike.passages:
        terminal.say("No passages found.")
    if result.empty_reason is not None:
        terminal.advise(result.empty_reason)
    if terminal.verbose:
        if alike.weaker:
            weaker = counted(alike.weaker, "passage is", "passages are")
            shows = "--more shows it" if alike.weaker == 1 else "--more shows them"
            terminal.say(f"{weaker} hardly related; {shows}.")
        terminal.say(f"compared with {result.citation}, {alike.candidates} candidates")
