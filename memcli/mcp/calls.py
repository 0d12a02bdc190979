"""What each tool does with the memory, in a thread per call."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate

from memcli.api.ask import WITHOUT_BOUND, SearchResult, ask
from memcli.api.listing import list_documents
from memcli.api.records import search_record
from memcli.api.targets import bare
from memcli.checking import TYPE_CHECKING, Any
from memcli.errors import BudgetError, NotFoundError, UsageError
from memcli.language.tokens import estimate, price
from memcli.markdown.segments import digest
from memcli.mcp import answers
from memcli.mcp.answers import ToolResult
from memcli.record import Record
from memcli.render.sanitize import broken_up
from memcli.render.text import count
from memcli.search.budget import fit_budget, shortened
from memcli.search.options import SearchOptions, options_of
from memcli.search.pipeline import OFF_TOPIC, cut_to_worthwhile
from memcli.search.ranked import RankedPassage
from memcli.types import AGENT, Filters, cite, shown

if TYPE_CHECKING:
    from memcli.api.assemble import Assembly
    from memcli.api.read import Lines
    from memcli.api.workspaces import Workspaces
    from memcli.dates.find import DateSpan
    from memcli.mcp.shared_memory import SharedMemory
    from memcli.search.pipeline import Answer

    Arguments = Mapping[str, Any]  # of a call, all of them with a value or None
    IsStopped = Callable[[], bool]  # whether the client has stopped to wait
    # Writes the lines above some passages of an answer.
    Notices = Callable[[SearchResult, Sequence[RankedPassage]], list[str]]

MOST_TOKENS = 8000  # per call
HEADLINE_TOKENS = 14  # of the first line of a context
SCHEME = "memcli://"  # of the addresses of documents
_CURSOR = re.compile(
    r"(?P<revision>[0-9]{1,20})\.(?P<question>[0-9a-f]{8})\.(?P<seen>[0-9a-f]{1,256})"
)
_AGAIN = "memory_search with the same arguments and no cursor"
# The arguments that a page and the next one have in common.
_ASKED = ("query", "since", "until", "on", "path", "workspace", "brief", "limit")


class Cursor(Record):
    """How far a client has read the answer to a question.

    A page leaves out passages that do not fit its budget, so it is not a run of ranks.
    """

    revision: str  # of the index that the ranks are of
    question: str  # 8 hexadecimal digits of the question's digest
    seen: int  # bit n: the passage of rank n, from 0, has been shown

    @classmethod
    def of(cls, revision: str, question: Sequence[object]) -> Cursor:
        """Start before the first passage of a question and its filters."""
        text = "\0".join("" if each is None else f"={each}" for each in question)
        return cls(revision, hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8], 0)

    @property
    def text(self) -> str:
        """Write it as a client hands it back."""
        return f"{self.revision}.{self.question}.{self.seen:x}"

    def moved_to(self, text: str) -> Cursor:
        """Continue after the passages that a cursor lists.

        UsageError if the text is not a cursor, belongs to another question, or if the index has
        changed since, because its ranks no longer apply.
        """
        match = _CURSOR.fullmatch(text)
        if match is None:
            raise UsageError(f"{text!r:.80} is not a cursor of an answer", hint=_AGAIN)
        if match["question"] != self.question:
            raise UsageError("the cursor is of another question", hint=_AGAIN)
        if match["revision"] != self.revision:
            raise UsageError("the memory has changed since that answer", hint=_AGAIN)
        return self._replace(seen=int(match["seen"], 16))

    def rest(self, passages: Sequence[RankedPassage]) -> list[RankedPassage]:
        """Leave out the passages that were shown."""
        return [passage for rank, passage in enumerate(passages) if not self.seen >> rank & 1]

    def behind(self, passages: Sequence[RankedPassage], shown: Sequence[RankedPassage]) -> Cursor:
        """Return the cursor after a page; `shown` may be cut down to the best lines."""
        seen = self.seen
        for rank, passage in enumerate(passages):
            if any(map(passage.contains, shown)):
                seen |= 1 << rank
        return self._replace(seen=seen)


class StoppedError(Exception):
    """Nobody waits for the answer any more."""


def call_search(shared: SharedMemory, arguments: Arguments, is_stopped: IsStopped) -> ToolResult:
    """Search; after each stage memcli checks whether the client still waits."""
    from memcli.api.filters import DATES, filters_of
    from memcli.render import jsonio
    from memcli.search.follow_up import question_after
    from memcli.search.passages import passages_of
    from memcli.search.reading_value import asks_for_several

    memory = shared.warm(arguments.get("workspace"))
    moment = memory.clock.now()
    wishes = {"paths": arguments["path"], **{name: arguments[name] for name in DATES}}
    filters, bounds = filters_of(memory.config, wishes, moment.date(), hint="only one of them")
    if not arguments["query"].strip() and (bounds or arguments["path"] is not None):
        return _list(memory, filters, bounds, arguments["budget"])
    hint = "memory_search with words in query"
    try:
        question = question_after(
            shared.questions, memory.config, arguments["query"], moment, hint=hint
        )
    except UsageError as error:
        raise _too_long(error, arguments["query"]) from None
    brief = arguments["brief"]
    brief = asks_for_several(question.text) if brief is None else brief
    options = options_of(memory.config, filters=filters, budget=arguments["budget"], one_line=brief)

    # The page is cut here, because the next one continues after the passages of this one.
    result = ask(
        memory, question, options._replace(budget=None), observe=_while_awaited(is_stopped)
    )
    if result.answer.passages and result.answer.is_off_topic:
        result = result._replace(answer=result.answer.without_passages(OFF_TOPIC))
    limit = arguments["limit"] or options.limit
    if arguments["limit"] and not brief:  # of a list it is the limit of each page
        first = result.answer.passages[:limit]
        result = result._replace(answer=result.answer._replace(passages=first))
    values = [arguments.get(name) for name in _ASKED]
    cursor = Cursor.of(result.answer.revision, values)
    if arguments["cursor"] is not None:
        cursor = cursor.moved_to(arguments["cursor"])
    embeds = shared.embeds(
        is_outdated=result.freshness.pending > 0,
        has_vectors=not answers.is_unembedded(result.answer),
    )
    write = _list_page if brief else _page
    notices = partial(answers.of_search, bounds=bounds, embeds=embeds)
    text, page = write(result, options._replace(limit=limit), cursor, notices)
    for passage in page.answer.passages:
        shared.seen.add(passage.about.source, passage.about.path, passage.text)

    def record() -> dict[str, Any]:
        results = [
            jsonio.few(
                jsonio.result(each, shown(each.source, each.path), full=False, explain=False)
            )
            for each in passages_of(page.answer.passages)
        ]
        now, dates = moment.isoformat(timespec="seconds"), (*page.answer.dates, *bounds)
        made = search_record(page, results, memory.config, now=now, dates=dates)
        return {**made, "count": len(result.answer.passages)} if brief else made

    return ToolResult(text, record)


def _too_long(error: UsageError, query: str) -> UsageError:
    """Return the error of a query without terms; if it has letters, its words are too long."""
    if not any(map(str.isalnum, query)):
        return error
    from memcli.search.query import MAX_TERM_CHARS

    return UsageError(
        f"each word of the query is longer than {MAX_TERM_CHARS} characters, and memcli does not"
        " index such words",
        hint="memory_search with shorter words in query",
    )


def _list(
    memory: Workspaces, filters: Filters, bounds: Sequence[DateSpan], budget: int
) -> ToolResult:
    """List the documents that filters let through, the newest first."""
    from memcli.render import jsonio

    result = list_documents(memory, filters, order="newest")

    def record() -> dict[str, Any]:
        names = [shown(each.source, each.path) for each in result.documents]
        return {
            "schema": "memcli.ls/1",
            "dates": jsonio.dates_of(bounds),
            "freshness": jsonio.freshness_of(result.freshness),
            "documents": [
                {"name": name, "file": name, **each._asdict()}
                for name, each in zip(names, result.documents, strict=True)
            ],
        }

    return ToolResult(answers.of_documents(result, budget), record)


def _while_awaited(is_stopped: IsStopped) -> Callable[[str, Sequence[RankedPassage]], None]:
    """Return a function that ends an answer after a stage if the client no longer waits."""

    def observe(stage: str, passages: Sequence[RankedPassage]) -> None:
        if is_stopped():
            raise StoppedError(stage)

    return observe


def _page(
    result: SearchResult, options: SearchOptions, cursor: Cursor, notices: Notices
) -> tuple[str, SearchResult]:
    """Write as many passages as fit the budget, with their notices.

    Without a sure passage the first page has three, and no later one is offered. Also returns the
    answer with only these passages; its match is that of the page.
    """
    budget = room = options.budget or 0
    answer, passages = result.answer, result.answer.passages
    page = _after(cursor, answer, options)
    result, rest, more = result._replace(answer=page), page.passages, 0
    free = len(rest) if cursor.seen else max(0, options.free - (len(passages) - len(rest)))
    has_more = bool(cursor.seen) or result.is_sure
    while True:
        fitting, dropped, far = fit_budget(rest, budget=max(0, room), free=free)
        if rest and far == len(rest):  # none is near, whatever the budget
            result = result._replace(answer=page.without_passages(None))
        lines = notices(result, fitting)
        if whole := shortened(fitting):
            lines.append(f"shown only in part: {whole}")
        if rest and not fitting and cursor.seen:
            lines.append(f'the same page: cursor "{cursor.text}"')
        if fitting and has_more:
            after = cursor.behind(passages, fitting)
            if more := len(_after(after, answer, options).passages):
                what = "more did not fit" if dropped else "weaker passages"
                lines.append(f'{more} {what}; for them: cursor "{after.text}"')
        text = "\n".join([*lines, "", answers.passages_text(fitting)])
        over = estimate(text) - budget
        if over <= 0 or not fitting:
            made = result.answer._replace(
                passages=tuple(fitting),
                omitted_over_budget=dropped,
                omitted_low_confidence=far,
                weaker=max(0, more - dropped),
            )
            return text, result._replace(answer=made)
        room -= max(1, over // 3)  # a passage less takes its notices with it


def _list_page(
    result: SearchResult, options: SearchOptions, cursor: Cursor, notices: Notices
) -> tuple[str, SearchResult]:
    """Write as many lines of a list as fit the budget, with their number; as `_page` does."""
    budget, passages = options.budget or 0, result.answer.passages
    page = _after(cursor, result.answer, options)
    result, rest = result._replace(answer=page), page.passages
    rows = [answers.passage_line(each, page.words) for each in rest]
    number = min(options.limit, bisect_right([*accumulate(map(estimate, rows))], budget))
    while True:
        lines = notices(result, rest[:number])
        if number:
            again = f'cursor "{cursor.behind(passages, rest[:number]).text}"'
            more = len(rest) - number
            lines.append(count(len(passages) - len(rest), number, more, again).rstrip())
        text = "\n".join([*lines, "", *rows[:number]])
        if not number or estimate(text) <= budget:
            made = page._replace(passages=rest[:number], omitted_over_budget=len(rest) - number)
            return text, result._replace(answer=made)
        number -= 1


def _after(cursor: Cursor, answer: Answer, options: SearchOptions) -> Answer:
    """Return an answer with the passages after a cursor, and on a later page their match.

    A client that turns the page gets all that are near, also those that are not worth reading.
    """
    rest = answer._replace(passages=tuple(cursor.rest(answer.passages)))
    if cursor.seen and not options.one_line:
        near, *_ = fit_budget(answer.passages, budget=WITHOUT_BOUND, free=options.free)
        near_ids = {*map(id, near)}
        passages = tuple(each for each in rest.passages if id(each) in near_ids)
        rest = rest._replace(passages=passages, is_measured=False)
    rest = rest if options.one_line else cut_to_worthwhile(rest)
    return rest.as_later_page() if cursor.seen else rest


def call_get(shared: SharedMemory, arguments: Arguments, is_stopped: IsStopped) -> ToolResult:
    """Read lines of a document from disk, at most MOST_TOKENS."""
    from memcli.api.read import with_newer_lines

    memory = shared.opened(arguments.get("workspace"))
    lines = with_newer_lines(memory, _within_limit(_lines(memory, arguments)))
    shared.seen.add(lines.source, lines.path, lines.text)

    def record() -> dict[str, Any]:
        file = shown(lines.source, lines.path)
        made = {"schema": "memcli.get/1", **lines._asdict(), "file": file}
        del made["expanded"]
        if not lines.corrected_by:
            del made["corrected_by"]
        return made

    return ToolResult(answers.of_lines(lines), record)


def _lines(memory: Workspaces, arguments: Arguments) -> Lines:
    """Read the lines of a citation; models may leave out the folders of its document."""
    from memcli.api.read import get

    first, count = arguments["from"], arguments["lines"]
    try:
        return get(memory, arguments["path"], first=first, count=count)
    except NotFoundError as error:
        path, lines = re.split("(?=[:#])|$", bare(arguments["path"]), maxsplit=1)
        words = shlex.split(error.hint)
        meant = words[2] if words[:2] == ["memcli", "get"] and len(words) == 3 else ""
        if path and meant.endswith(f"/{path}"):
            return get(memory, meant + lines, first=first, count=count)
        raise


def _within_limit(lines: Lines) -> Lines:
    """Leave out the lines above MOST_TOKENS; of a single longer line, its end."""
    texts = lines.text.split("\n")
    left, count = float(MOST_TOKENS), 0
    for text in texts:
        left -= price(f"{text}\n")
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


def call_context(shared: SharedMemory, arguments: Arguments, is_stopped: IsStopped) -> ToolResult:
    """Assemble the memory for a prompt."""
    from memcli.api.assemble import context_of, context_record, sharing_of
    from memcli.context.assemble import check_shares
    from memcli.context.parts import markdown

    memory = shared.warm(arguments.get("workspace"))
    moment = memory.clock.now()
    config = memory.config
    if arguments["budget"] is not None:
        config = config.having({"context.budget": arguments["budget"]})
    sharing = check_shares(sharing_of(config))
    if is_stopped():
        raise StoppedError("warm")
    text, observe = arguments["query"] or "", _while_awaited(is_stopped)
    room = sharing._replace(budget=max(1, sharing.budget - HEADLINE_TOKENS))
    without: list[str] = []
    try:
        assembly = context_of(memory, text, moment, room, observe=observe)
    except BudgetError as error:
        try:
            assembly = context_of(memory, text, moment, room._replace(tail=0), observe=observe)
        except BudgetError as still:
            raise BudgetError(
                f"the files marked always take {still.needed} tokens, and the budget is"
                f" {sharing.budget}; they are never cut",
                hint=f"memcli context --budget {still.needed + HEADLINE_TOKENS}",
            ) from None
        needed = error.needed + HEADLINE_TOKENS
        without = [f"The newest entries do not fit; they need a budget of {needed}."]
    embeds = shared.embeds(is_outdated=assembly.freshness.pending > 0, has_vectors=True)

    def written(made: Assembly) -> str:
        body = markdown(made.assembled.parts, notice=made.assembled.notice)
        lines = [*answers.of_context(made, embeds=embeds), *without]
        return "\n".join([*lines, "", body or "The memory has nothing for this.\n"])

    if (over := estimate(written(assembly)) - sharing.budget) > 0:  # because of the notices
        with suppress(BudgetError):
            room = room._replace(
                budget=max(1, room.budget - over), tail=0 if without else room.tail
            )
            assembly = context_of(memory, text, moment, room, observe=observe)
    for part in assembly.assembled.parts:
        shared.seen.add(*part.excerpt.about.document, part.text)
    now = moment.isoformat(timespec="seconds")
    record = partial(context_record, assembly, config, budget=sharing.budget, now=now)
    return ToolResult(written(assembly), record)


def call_remember(shared: SharedMemory, arguments: Arguments, is_stopped: IsStopped) -> ToolResult:
    """Append a note, and mark the line that it corrects; or say why not."""
    from memcli.api.remember import RememberOptions, record_of, remember

    shared.warm()
    memory = shared.own()
    if is_stopped():
        raise StoppedError("warm")
    older = arguments.get("citation")
    options = RememberOptions(
        gate=True,
        was_shown=shared.seen,
        by=AGENT,
        corrects=_own_citation(shared, older) if older else "",
    )
    noted = remember(memory, arguments["text"], options, memory.clock.now())
    return ToolResult(answers.of_note(noted, corrects=options.corrects), lambda: record_of(noted))


def call_forget(shared: SharedMemory, arguments: Arguments, is_stopped: IsStopped) -> ToolResult:
    """Remove a note that an agent appended, or say why it stays."""
    from memcli.api.remember import forget

    shared.warm()
    citation = bare(arguments["citation"])
    with suppress(NotFoundError):  # the lines may be gone already
        citation = _own_citation(shared, citation)
    done = forget(shared.own(), citation, by=AGENT)
    return ToolResult(answers.of_forgotten(done), done._asdict)


def _own_citation(shared: SharedMemory, citation: str) -> str:
    """Cite lines of the workspace that receives notes, however a model cites them."""
    from memcli.api.workspaces import Workspaces

    own = shared.own()
    for each in shared.opened().members:
        if each.workspace is own:
            citation = citation.removeprefix(f"{each.name}:")
    lines = _lines(Workspaces(own), {"path": citation, "from": None, "lines": None})
    return cite(lines.source, lines.path, lines.start_line, lines.end_line)


def read_document(shared: SharedMemory, arguments: Arguments, is_stopped: IsStopped) -> ToolResult:
    """Read the whole document at an address, memcli://WORKSPACE/PATH, and when it was changed."""
    from urllib.parse import quote, unquote

    from memcli.api.read import get

    memory = shared.opened()
    # The prefix of a document's path, by the name of its workspace.
    names = {name: f"{name}:" for name, *_ in memory.members}
    names = names or {os.path.basename(memory.config.workspace): ""}
    workspace, _, path = arguments["uri"].removeprefix(SCHEME).partition("/")
    # Some clients write the name in lower case, because they take it for a host.
    meant = [name for name in names if name.casefold() == unquote(workspace).casefold()]
    if not meant or not path:
        raise NotFoundError(
            f"there is no document at {arguments['uri']}",
            hint=f"{SCHEME}{quote(next(iter(names)))}/PATH",
        )
    name = unquote(workspace) if unquote(workspace) in meant else meant[0]
    lines = get(memory, names[name] + unquote(path))
    changed = _changed_at(memory, lines)
    return ToolResult(broken_up(lines.text), lambda: {"lastModified": changed})


def _changed_at(memory: Workspaces, lines: Lines) -> str:
    """Return the second of a document's last change, in UTC."""
    root = next(each.root for each in memory.config.sources if each.name == lines.source)
    changed = os.stat(os.path.join(root, lines.path)).st_mtime_ns // 10**9
    return datetime.fromtimestamp(changed, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


CALLS = {
    "memory_search": call_search,
    "memory_get": call_get,
    "memory_context": call_context,
    "memory_remember": call_remember,
    "memory_correct": call_remember,
    "memory_forget": call_forget,
}
