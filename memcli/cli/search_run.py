"""Run `memcli search`: for a question, for each line of stdin, or to find where lines were lost."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Sequence

from memcli.checking import TYPE_CHECKING, Any
from memcli.cli.command_context import CommandContext, progress_of, warn_of_secrets
from memcli.errors import ERROR_SCHEMA, ExitCode, Reason, RetrieverError, UsageError
from memcli.record import Record
from memcli.types import EMPTY, cite

if TYPE_CHECKING:
    from memcli.api.ask import SearchResult
    from memcli.cli.options import Options
    from memcli.cli.search_form import Shape
    from memcli.search.options import SearchOptions
    from memcli.search.question import Question
    from memcli.search.why_not import Course, FollowedLines


class SearchRequest(Record):
    """A search, without the question."""

    command: CommandContext
    line: Options  # the options of the command line
    options: SearchOptions
    shape: Shape
    sync: bool | None  # the result of `sync_of`

    def answer(self, question: Question) -> SearchResult:
        """Answer a question."""
        from memcli.api.ask import ask

        command = self.command
        with progress_of(command) as observe:
            result = ask(
                command.memory, question, self.options,
                expand=self.line.expand, sync=self.sync, observe=observe,
            )  # fmt: skip
        if self.shape.after or self.shape.page_lines:
            result = _page(result, self.shape)
        passages, lines = result.answer.passages, self.shape.around
        if lines and passages:
            from memcli.api.superseded import corrections_around

            until = self.options.filters.until
            around = corrections_around(command.memory, passages, lines, until=until)
            result = result._replace(around=around)
        if not (self.shape.superseded and passages):
            return result
        from memcli.api.superseded import superseded_by

        return result._replace(superseded=superseded_by(command.memory, passages))

    def write(self, result: SearchResult) -> None:
        """Write the answer, or open a passage of it."""
        from memcli.cli import search_output

        if self.line.open is None:
            search_output.write(result, self.command, self.shape)
            return
        from memcli.cli.editor import open_passage

        search_output.say_index(result, self.command)
        search_output.say_match(result.answer, self.command.terminal)
        search_output.say(result, self.command, self.shape)
        open_passage(result, self.line.open, self.command)


def _page(result: SearchResult, shape: Shape) -> SearchResult:
    """Keep the passages of a page, which has those that the answer left out too."""
    left = () if shape.one_line else result.answer.left
    every = (*result.answer.passages, *left)[shape.after :]
    page, rest = every[: shape.page_lines or None], every[shape.page_lines or len(every) :]
    answer = result.answer._replace(
        passages=page, left=rest, weaker=0, omitted_over_budget=len(rest)
    )
    return result._replace(answer=answer.as_later_page() if shape.after else answer)


def deliver(question: Question, request: SearchRequest) -> SearchResult:
    """Write the trace, then the answer; RetrieverError if required vectors are missing."""
    result, line = _answered(question, request), request.line
    if line.trace is not None:
        from memcli.cli import side_files

        record = side_files.trace_of_search(
            result, request.command, request.options, expand=line.expand
        )
        side_files.write_trace(line.trace, record, request.command)
    _write(result, request)
    return result


def _answered(question: Question, request: SearchRequest) -> SearchResult:
    result = request.answer(question)
    semantic, is_empty = result.answer.semantic, result.freshness.state == EMPTY
    if request.line.require_semantic and not (semantic.ran or is_empty):
        reason = semantic.reason or Reason("", "nothing is indexed yet")
        text = f"semantic search did not run: {reason.text}"
        raise RetrieverError(text, hint=reason.hint or "memcli status")
    return result


def _write(result: SearchResult, request: SearchRequest) -> None:
    request.write(result)
    if request.command.config("secrets") == "warn":
        shown = ((request.command.cite(each), each.text) for each in result.answer.passages)
        warn_of_secrets(request.command, shown)


def deliver_each(texts: Sequence[str], request: SearchRequest) -> bool:
    """Answer several independent questions, and return whether each has a good match.

    The index is updated once, and the questions share the budget. A line that was printed for an
    earlier question is only cited. A statement after a question for several things counts as
    another wording of it, except in lists.
    """
    from memcli.cli.search_output import shares_of
    from memcli.dates.intent import asks
    from memcli.search.question import Question
    from memcli.search.reading_value import (
        MISS_OF_QUESTION,
        MISS_OF_STATEMENT,
        MISS_OF_WORDING,
        asks_for_several,
    )

    command, shape, results = request.command, request.shape, []
    if shape.form == "text" and not (shape.brief or command.terminal.out_is_terminal):
        shape = shape._replace(printed=set())
    questions = [Question.by(command.config, text, command.question_time) for text in texts]
    of_several = False
    for question in questions:
        if asks(question.text):
            of_several = asks_for_several(question.text) and not shape.one_line
            miss = MISS_OF_QUESTION
        else:
            miss = MISS_OF_WORDING if of_several else MISS_OF_STATEMENT
        options = request.options._replace(miss_tokens=miss, of_several=of_several)
        request = request._replace(options=options)
        results.append(_answered(question, request))
        request = request._replace(sync=False)
    budgets: list[int] | list[None] = [None] * len(results)
    needed = 0
    if shape.budget is not None:
        budgets, needed = shares_of(shape.budget, results, command, shape)
    for place, (result, budget) in enumerate(zip(results, budgets, strict=True), start=1):
        _write(result, request._replace(shape=shape._replace(place=place, budget=budget)))
    if needed:
        command.terminal.say(f"--budget {needed} shows the best one for each question.")
    return all(result.is_sure for result in results)


def each_line(request: SearchRequest) -> int:
    """Answer the lines of stdin in order, with an error for a line that is not a question.

    The index is updated once. Words such as "he" and "that day" take their names and dates from the
    last two questions.
    """
    import json

    from memcli.search.follow_up import EARLIER, question_after

    command, code = request.command, ExitCode.OK
    earlier: deque[Question] = deque(maxlen=EARLIER)
    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            text = line.decode("utf-8", "replace").strip()
            question = question_after(earlier, command.config, text, command.question_time)
        except UsageError as error:
            message = f"line {number} of stdin: {error.message}"
            record = {"schema": ERROR_SCHEMA, "code": error.code, "message": message,
                      "hint": "remove this line"}  # fmt: skip
            command.terminal.write(json.dumps(record) + "\n")
            code = error.exit_code
            continue
        request.write(request.answer(question))
        request = request._replace(sync=False)
    return code


def write_loss(question: Question, request: SearchRequest) -> int:
    """Print the stage at which some lines were lost."""
    from memcli.api.ask import ask
    from memcli.cli.search_output import say_freshness, say_repaired
    from memcli.search.why_not import Course

    command, course = request.command, Course()
    lines = _lines_of(request.line.why_not, command)
    with progress_of(command):
        result = ask(command.memory, question, request.options, sync=request.sync, observe=course)
    _write_course(lines, course, request)
    if say_freshness(result.freshness, command.terminal):
        say_repaired(result.answer.repaired, command.terminal, explain=True)
    return ExitCode.OK


def _lines_of(ref: str, command: CommandContext) -> FollowedLines:
    """Read the lines of a target; NotFoundError if it is not a document of the workspace."""
    from memcli.api import targets

    workspace, ref, before, _ = command.memory.owner_of(ref)
    settings = workspace.index_settings()
    target = targets.resolve(ref, settings, command.here)
    first, last = targets.lines_of(target, targets.read(target, settings), settings)
    return (before + target.source, target.path), first, last


def _write_course(lines: FollowedLines, course: Course, request: SearchRequest) -> None:
    from memcli.search.stages import STAGES
    from memcli.search.why_not import conclusion, follow

    (source, path), first, last = lines
    wide = max(map(len, STAGES))
    terminal, trail = request.command.terminal, follow(course, lines)
    text = conclusion(trail, request.options)
    if request.line.json:
        from memcli.render.jsonio import source_of

        record: dict[str, Any] = {
            "schema": "memcli.why-not/1",
            **source_of(source),
            "path": path,
            "start_line": first,
            "end_line": last,
            "conclusion": text,
            "stages": [each._asdict() for each in trail.waypoints],
        }
        terminal.write_json(record)
        return
    drawn = [f"{cite(source, path, first, last)}: {text}"]
    for at in trail.waypoints:
        if at.rank is None:
            drawn.append(f"    {at.stage:<{wide}} not among {at.passages}")
        else:
            where = f"{at.rank} of {at.passages}"
            score = "-" if at.score is None else f"{at.score:.3f}"
            drawn.append(f"    {at.stage:<{wide}} {where:<12} {score:<5}  {at.citation}")
    terminal.write("".join(f"{terminal.safe_line(line)}\n" for line in drawn))
