"""What each tool does with the memory, in a thread of its own."""

from __future__ import annotations

import os

from memcli.checking import TYPE_CHECKING
from memcli.errors import NotFoundError
from memcli.markdown.parts import digest
from memcli.markdown.tokens import estimate, quotient
from memcli.mcp import answers
from memcli.mcp.answers import Told
from memcli.mcp.paging import Cursor
from memcli.types import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from memcli.api.ask import Answered
    from memcli.api.memory import Memory
    from memcli.api.read import Lines
    from memcli.mcp.held import HeldMemory
    from memcli.search.dates import DateSpan
    from memcli.search.hits import Hit
    from memcli.search.options import SearchOptions

MOST_TOKENS = 8000  # of the lines that are read at once
SCHEME = "memcli://"  # of the addresses of documents


class StoppedError(Exception):
    """Nobody waits for the answer any more."""


def call_search(held: HeldMemory, given: Mapping[str, Any], is_stopped: Callable[[], bool]) -> Told:
    """Search; between two stages it is looked whether anybody still waits."""
    from memcli.api.ask import ask
    from memcli.render.jsonio import unmarked
    from memcli.search.date_filters import bounds_of
    from memcli.search.options import options_of
    from memcli.search.question import Question

    memory = held.warm()
    moment = memory.clock.now()
    day_first = memory.config("search.date_order") == "dmy"
    question = Question.read(
        given["query"], moment.date(), day_first=day_first, hint="memory_search with words in query"
    )
    dates = {name: given[name] for name in ("since", "until", "on") if given[name] is not None}
    bounds = bounds_of(dates, moment.date(), day_first=day_first)
    options = options_of(
        memory.config, filters=_filters(memory, given, bounds), budget=given["budget"]
    )

    def observe(stage: str, hits: Sequence[Hit]) -> None:
        if is_stopped():
            raise StoppedError(stage)

    # A page is cut here, for a later one goes on behind what it holds.
    found = ask(memory, question, options._replace(budget=None), observe=observe)
    asked = [given[name] for name in ("query", "since", "until", "on", "path", "kind")]
    cursor = Cursor.of(found.answer.revision, asked)
    if given["cursor"] is not None:
        cursor = cursor.moved_to(given["cursor"])
    text, page = _page(found, options, cursor, bounds)
    record = _record(page, bounds, moment.isoformat(timespec="seconds"))
    return Told(text, record | unmarked(memory.config))


def _filters(memory: Memory, given: Mapping[str, Any], bounds: Sequence[DateSpan]) -> Any:  # noqa: ANN401
    from memcli.search.date_filters import span_of
    from memcli.types import Filters
    from memcli.workspace.here import globs_of

    first, last = span_of(bounds)
    roots = {source.name: source.root for source in memory.config.sources}
    paths = [given["path"]] if given["path"] is not None else []
    return Filters(
        since=first,
        until=last,
        paths=globs_of(paths, memory.config.workspace, roots),
        kinds=(given["kind"],) if given["kind"] is not None else (),
        view=memory.config("search.view"),
    )


def _page(
    found: Answered, options: SearchOptions, cursor: Cursor, bounds: Sequence[DateSpan]
) -> tuple[str, Answered]:
    """Write as many passages as the budget has room for, all that is said of them included.

    Beside the text the answer with these passages alone.
    """
    from memcli.search.pack import pack

    budget = room = options.budget or 0
    hits = found.answer.hits
    rest = cursor.rest(hits)
    free = max(0, options.free - (len(hits) - len(rest)))
    while True:
        kept, dropped, far = pack(rest, budget=max(0, room), free=free)
        lines = answers.of_search(found, kept, bounds)
        if dropped and kept:
            after = cursor.behind(hits, kept).text
            lines.append(f'{dropped} more did not fit; for them: cursor "{after}"')
        text = "\n".join([*lines, "", *map(answers.passage, kept)])
        over = estimate(text) - budget
        if over <= 0 or not kept:
            answer = found.answer._replace(hits=tuple(kept), dropped=dropped, far=far)
            return text, found._replace(answer=answer)
        room -= over


def _record(found: Answered, bounds: Sequence[DateSpan], now: str) -> dict[str, Any]:
    from memcli.render import jsonio
    from memcli.search.passages import passages_of

    results = [
        jsonio.result(each, shown(each.source, each.path), full=False, explain=False)
        for each in passages_of(found.answer.hits, words=found.words)
    ]
    dates = (*found.answer.dates, *bounds)
    record = jsonio.search_envelope(
        found.question.text, results, found.freshness, found.answer, dates=dates, now=now
    )
    return record | ({"nothing": jsonio.reason(found.nothing)} if found.nothing else {})


def call_get(held: HeldMemory, given: Mapping[str, Any], is_stopped: Callable[[], bool]) -> Told:
    """Read lines of a document from disk, as many as a model can take."""
    lines = _within_reach(
        held.opened().get(given["path"], first=given["from"], count=given["lines"])
    )
    record = {"schema": "memcli.get/1", **lines._asdict()}
    record["file"] = shown(lines.source, lines.path)
    del record["expanded"]
    return Told(answers.of_lines(lines), record)


def _within_reach(lines: Lines) -> Lines:
    """Leave out the lines that are more than MOST_TOKENS; of one that alone is, its end."""
    texts = lines.text.split("\n")
    left, count = float(MOST_TOKENS), 0
    for text in texts:
        left -= quotient(f"{text}\n")
        if left < 0:
            break
        count += 1
    if count == len(texts):
        return lines
    text = "\n".join(texts[:count]) if count else f"{texts[0][:MOST_TOKENS]}…"
    end = lines.start_line + max(count, 1) - 1
    return lines._replace(
        text=text,
        text_hash=digest(text).hex(),
        end_line=end,
        truncated=True,
        next_from=end + 1 if end < lines.total_lines else None,
    )


def call_context(
    held: HeldMemory, given: Mapping[str, Any], is_stopped: Callable[[], bool]
) -> Told:
    """Assemble the memory for a prompt."""
    from memcli.api.assemble import context_of, wanted_of
    from memcli.api.context_record import context_record
    from memcli.context.assemble import check_shares
    from memcli.context.parts import markdown

    memory = held.warm()
    moment = memory.clock.now()
    config = memory.config
    if given["budget"] is not None:
        config = config.having({"context.budget": given["budget"]})
    wanted = check_shares(wanted_of(config))
    found = context_of(memory, given["query"] or "", moment.date(), wanted)
    lines = answers.of_context(found)
    body = markdown(found.assembled.parts, notice=found.assembled.notice)
    record = context_record(
        found, config, budget=wanted.budget, now=moment.isoformat(timespec="seconds")
    )
    return Told("\n".join([*lines, "", body or "The memory has nothing for this.\n"]), record)


def read_document(
    held: HeldMemory, given: Mapping[str, Any], is_stopped: Callable[[], bool]
) -> Told:
    """Read the whole document at an address, memcli://WORKSPACE/PATH."""
    from urllib.parse import quote, unquote

    memory = held.opened()
    name = os.path.basename(memory.config.workspace)
    workspace, _, path = given["uri"].removeprefix(SCHEME).partition("/")
    # Some clients write what they take for the name of a host in small letters.
    if unquote(workspace).casefold() != name.casefold() or not path:
        raise NotFoundError(
            f"there is no document at {given['uri']}", hint=f"{SCHEME}{quote(name)}/PATH"
        )
    return Told(memory.get(unquote(path)).text, {})


CALLS = {
    "memory_search": call_search,
    "memory_get": call_get,
    "memory_context": call_context,
}
