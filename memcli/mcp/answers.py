"""Write answers for a language model: what they rest on, then quotations it cannot mistake; pure.

The first line is ours, and so is the line above each fence: what comes from the memory stands on
one line there, and within a fence that no text can close.
"""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.errors import MemcliError
from memcli.record import Record
from memcli.render import reasons
from memcli.render.markdown import fence_for
from memcli.render.sanitize import visible_line
from memcli.search.legs import MODE_IS_LEXICAL
from memcli.search.snippet import make_snippet
from memcli.types import EMPTY, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from memcli.api.ask import Answered
    from memcli.api.assemble import Assembly
    from memcli.api.read import Lines
    from memcli.api.remember import Noted
    from memcli.dates.find import DateSpan
    from memcli.indexing.freshness import Freshness
    from memcli.search.hits import Hit
    from memcli.search.pipeline import Answer

_NEAREST = "No sure match; these are the nearest."
_NOTHING = "No passages found."
_NO_ROOM = "No passage fits the budget."


class Told(Record):
    """An answer: a text for the model, and what makes the record for a program that wants one."""

    text: str
    record: Callable[[], dict[str, Any]]


def headline(verdict: str | None, standing: Freshness) -> list[str]:
    """Write the first line, and one for each reason why the index is not all there is."""
    state = standing.state.replace("_", " ")
    if standing.pending:
        files = visible_line(standing.missing) or f"{standing.pending} files"
        state = f"{state}, without {files}"
    first = f"verdict: {verdict}; index: {state}" if verdict else f"index: {state}"
    told = [standing.reason] if standing.reason else []
    return [first, *(visible_line(reasons.sentence(each)) for each in (*told, *standing.notices))]


def of_context(found: Assembly) -> list[str]:
    """Write what a context rests on, a line each."""
    answer = found.answer
    lines = headline(answer.verdict if answer else None, found.freshness)
    remarks = [*found.warnings, *(_understood(answer, answer.dates) if answer else ())]
    return [*lines, *map(visible_line, remarks)]


def of_search(found: Answered, shown_hits: Sequence[Hit], bounds: Sequence[DateSpan]) -> list[str]:
    """Write what an answer rests on, a line each."""
    answer = found.answer
    lines = headline(answer.verdict, found.freshness)
    if found.freshness.state == EMPTY:
        return lines
    return [*lines, *map(visible_line, _remarks(found, shown_hits, bounds))]


def _remarks(found: Answered, hits: Sequence[Hit], bounds: Sequence[DateSpan]) -> list[str]:
    answer = found.answer
    remarks = _understood(answer, (*answer.dates, *bounds))
    if not answer.hits:
        remarks.append(_NOTHING)
        remarks += [reasons.sentence(found.nothing)] if found.nothing else []
    elif not hits:
        remarks.append(_NO_ROOM)
    else:
        remarks += _doubt(found, answer)
    return remarks


def _understood(answer: Answer, dates: Sequence[DateSpan]) -> list[str]:
    """Say that vectors took no part, and how words and dates were read, where that is news."""
    from memcli.render.dates import line

    remarks = []
    dense = answer.dense
    if not dense.ran and dense.reason is not None and dense.reason != MODE_IS_LEXICAL:
        remarks.append(f"keywords only: {reasons.sentence(dense.reason)}")
    if told := [each for each in answer.repaired if each.is_another_word]:
        remarks.append(reasons.repaired(told))
    if read := line(dates):
        remarks.append(read)
    return remarks


def _doubt(found: Answered, answer: Answer) -> list[str]:
    """Say how what was found is not what was asked for; nothing where it is."""
    if answer.absent:
        return [f"No passage contains {reasons.quoted(answer.absent)}; these match the rest."]
    if answer.apart:
        return [f"No passage contains all of {reasons.quoted(answer.apart)}."]
    if found.is_unsure:
        return [_NEAREST]
    if answer.uncalibrated and answer.verdict == "weak":
        return [reasons.sentence(answer.uncalibrated)]
    if answer.is_of_others:
        return [f"What matches best is not said by {' or '.join(answer.asked)}."]
    return []


def passage(hit: Hit) -> str:
    """Write a passage: citation, confidence, date and headings in a line, then its lines."""
    about = hit.about
    confidence = "" if hit.confidence is None else f"{hit.confidence:.2f}"
    trust = "" if about.trust == "trusted" else f"untrusted {about.source_kind}"
    parts = [hit.citation, confidence, about.days, " > ".join(about.heading_path), trust]
    return quoted(" | ".join(filter(None, parts)), make_snippet(hit, words=()).text)


def quoted(title: str, text: str) -> str:
    """Write lines in a fence below a title."""
    fence = fence_for(text)
    return f"{visible_line(title).replace('`', chr(39))}\n{fence}\n{text}\n{fence}\n"


def of_lines(lines: Lines) -> str:
    """Write lines of a document, and where to go on reading."""
    title = f"{lines.citation} of {lines.total_lines} lines"
    name = visible_line(shown(lines.source, lines.path))
    more = "" if lines.next_from is None else f"next: {name}:{lines.next_from}\n"
    return quoted(title, lines.text) + more


def of_note(noted: Noted) -> str:
    """Write where a note stands now, or why it does not."""
    if noted.citation is None:
        check = noted.refusal
        why = check.reason if check else "it is known"
        at = f": {visible_line(check.citation)}" if check and check.citation else ""
        return f"not remembered: {why}{at}\n"
    lines = [f"remembered: {visible_line(noted.citation)}"]
    if noted.older is not None:
        lines.append(f"an older note may say otherwise: {visible_line(noted.older)}")
    lines += map(reasons.sentence, noted.notices)
    return "\n".join([*lines, ""])


def of_error(error: MemcliError) -> str:
    """Write an error with its hint, as the command line does."""
    return reasons.sentence(error.reason)
