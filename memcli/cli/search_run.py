"""Run `memcli search`: for a question, for each line of stdin, or to find where lines were lost."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.skin import progress_of
from memcli.errors import ERROR_SCHEMA, ExitCode, RetrieverError, UsageError
from memcli.record import Record
from memcli.types import EMPTY, Filters, cite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from memcli.api.ask import Answered
    from memcli.cli.search_form import Shape
    from memcli.cli.skin import Skin
    from memcli.search.options import SearchOptions
    from memcli.search.question import Question
    from memcli.search.retrievers import RetrieverUse
    from memcli.search.why_not import Course, Followed


class Asking(Record):
    """The options of a search, without the question."""

    skin: Skin
    wanted: SearchOptions
    shape: Shape
    expand: bool
    sync: bool | None  # as `sync_of` returns it
    opened: int | None  # the passage to open instead of writing any

    def answer(self, question: Question) -> Answered:
        """Answer a question."""
        from memcli.api.ask import ask

        skin = self.skin
        with progress_of(skin) as observe:
            found = ask(
                skin.memory,
                question,
                self.wanted,
                expand=self.expand,
                sync=self.sync,
                observe=observe,
            )
        if not (self.shape.superseded and found.answer.hits):
            return found
        from memcli.api.superseded import superseded_by

        return found._replace(superseded=superseded_by(skin.memory, found.answer.hits))

    def write(self, found: Answered) -> None:
        """Write the answer, or open a passage of it."""
        from memcli.cli import search_output

        if self.opened is None:
            search_output.write(found, self.skin, self.shape)
            return
        from memcli.cli.editor import open_passage

        search_output.say_match(found.answer, self.skin.terminal)
        search_output.say(found, self.skin, self.shape)
        open_passage(found, self.opened, self.skin)


def deliver(
    question: Question, asked: Asking, *, receipt: str | None, require_semantic: bool
) -> Answered:
    """Write the receipt, then the answer; RetrieverError if vectors had to take part."""
    found = asked.answer(question)
    if receipt is not None:
        from memcli.cli import search_receipt

        record = search_receipt.make(found, asked.skin, asked.wanted, expand=asked.expand)
        search_receipt.write(receipt, record, asked.skin)
    if require_semantic and not found.answer.semantic.ran and found.freshness.state != EMPTY:
        raise _without_semantic(found.answer.semantic)
    asked.write(found)
    if asked.skin.config("secrets") == "warn":
        from memcli.cli.skin import warn_of_secrets

        shown = ((asked.skin.cite(hit), hit.text) for hit in found.answer.hits)
        warn_of_secrets(asked.skin, shown)
    return found


def deliver_each(texts: Sequence[str], asked: Asking, *, require_semantic: bool) -> bool:
    """Answer several questions in order, and return whether each has a good match.

    The index is updated once, and the questions share the budget equally.
    """
    from collections import deque

    from memcli.search.follow_up import EARLIER, question_after

    skin, shape, are_sure = asked.skin, asked.shape, True
    if shape.budget is not None:
        shape = shape._replace(budget=max(1, shape.budget // len(texts)))
    earlier: deque[Question] = deque(maxlen=EARLIER)
    questions = [question_after(earlier, skin.config, text, skin.question_time) for text in texts]
    for place, question in enumerate(questions, start=1):
        asked = asked._replace(shape=shape._replace(place=place))
        found = deliver(question, asked, receipt=None, require_semantic=require_semantic)
        are_sure = are_sure and found.is_sure
        asked = asked._replace(sync=False)
    return are_sure


def each_line(asked: Asking) -> int:
    """Answer the lines of stdin in order, with an error for a line that is not a question.

    The index is updated once. Words such as "he" and "that day" take their names and dates from the
    last two questions.
    """
    import json
    import sys
    from collections import deque

    from memcli.search.follow_up import EARLIER, question_after

    skin, code = asked.skin, ExitCode.OK
    earlier: deque[Question] = deque(maxlen=EARLIER)
    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            text = line.decode("utf-8", "replace").strip()
            question = question_after(earlier, skin.config, text, skin.question_time)
        except UsageError as error:
            told = f"line {number} of stdin: {error.message}"
            record = {
                "schema": ERROR_SCHEMA,
                "code": error.code,
                "message": told,
                "hint": "remove this line",
            }
            skin.terminal.write(json.dumps(record) + "\n")
            code = error.exit_code
            continue
        asked.write(asked.answer(question))
        asked = asked._replace(sync=False)
    return code


def write_loss(ref: str, question: Question, asked: Asking, *, as_json: bool) -> int:
    """Print the stage at which some lines were lost."""
    from memcli.api.ask import ask
    from memcli.cli.search_output import say_freshness, say_repaired
    from memcli.search.why_not import Course

    skin, course = asked.skin, Course()
    lines = _lines_of(ref, skin)
    with progress_of(skin):
        found = ask(skin.memory, question, asked.wanted, sync=asked.sync, observe=course)
    _write_course(lines, course, skin, as_json=as_json)
    if say_freshness(found.freshness, skin.terminal):
        say_repaired(found.answer.repaired, skin.terminal, explain=True)
    return ExitCode.OK


def _without_semantic(semantic: RetrieverUse) -> RetrieverError:
    """Return the error for an answer that needed vectors but had none."""
    text, hint = (
        (semantic.reason.text, semantic.reason.hint)
        if semantic.reason
        else ("nothing is indexed yet", "")
    )
    return RetrieverError(f"semantic search did not run: {text}", hint=hint or "memcli status")


def _lines_of(ref: str, skin: Skin) -> Followed:
    """Read the lines of a target; NotFoundError if it is not a document of the workspace."""
    from memcli.api import targets
    from memcli.search.why_not import Followed

    workspace, ref, before, _ = skin.memory.owner_of(ref)
    settings = workspace.index_settings()
    target = targets.resolve(ref, settings, skin.here)
    first, last = targets.lines_of(target, targets.read(target, settings), settings)
    return Followed(before + target.source, target.path, first, last)


def _write_course(lines: Followed, course: Course, skin: Skin, *, as_json: bool) -> None:
    """Write the stages and the verdict."""
    from memcli.search.options import options_of
    from memcli.search.stages import STAGES
    from memcli.search.why_not import follow, verdict

    wide = max(map(len, STAGES))
    terminal, trail = skin.terminal, follow(course, lines.are_in)
    told = verdict(trail, options_of(skin.config, filters=Filters()))
    if as_json:
        from memcli.render.jsonio import source_of

        record: dict[str, Any] = {
            "schema": "memcli.why-not/1",
            **source_of(lines.source),
            "path": lines.path,
            "start_line": lines.first,
            "end_line": lines.last,
            "verdict": told,
            "stages": [each._asdict() for each in trail.waypoints],
        }
        terminal.write_json(record)
        return
    drawn = [f"{cite(*lines)}: {told}"]
    for at in trail.waypoints:
        if at.rank is None:
            drawn.append(f"    {at.stage:<{wide}} not among {at.hits}")
        else:
            where = f"{at.rank} of {at.hits}"
            score = "-" if at.score is None else f"{at.score:.3f}"
            drawn.append(f"    {at.stage:<{wide}} {where:<12} {score:<5}  {at.citation}")
    terminal.write("".join(f"{terminal.safe_line(line)}\n" for line in drawn))
