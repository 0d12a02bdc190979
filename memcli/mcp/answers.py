"""Write answers for a language model: the match, then passages marked as quotations; pure.

memcli writes the first line and the line above each fence. Text of notes is inside a fence that it
cannot close, or on one line, and without the tags that clients of models use.
"""

from __future__ import annotations

import re
import shlex
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

from memcli.api.ask import SearchResult
from memcli.api.listing import MOST_LISTED, counted
from memcli.checking import TYPE_CHECKING, Any
from memcli.errors import Reason
from memcli.indexing.freshness import Freshness
from memcli.language.tokens import estimate
from memcli.record import Record
from memcli.render import reasons
from memcli.render.sanitize import broken_up, fence_for, visible_line
from memcli.render.text import headings_of
from memcli.search.ranked import RankedPassage, mark_of
from memcli.search.retrievers import MODE_IS_KEYWORD, missing_vectors
from memcli.search.snippet import clipped, headings, marked, numbered
from memcli.types import EMPTY, UP_TO_DATE, lines_of, shown

if TYPE_CHECKING:
    from memcli.api.assemble import Assembly
    from memcli.api.listing import ListedDocuments
    from memcli.api.read import Lines
    from memcli.api.remember import RememberResult, UndoResult
    from memcli.dates.find import DateSpan
    from memcli.remember.admission import OlderLine
    from memcli.search.pipeline import Answer

LINE_CHARS = 800  # of a line of a list
_SAME = "a note says about the same"
LIKE = 0.5  # the share of its words in an older line from which a note may say the same
_NOTHING = "No passages found."
# For each command, the tool that does the same, and the argument that comes first.
_TOOLS = {
    "get": ("memory_get", "path"),
    "search": ("memory_search", "query"),
    "context": ("memory_context", "query"),
    "ls": ("memory_search", "path"),
}
_ARGUMENTS = ("query", "since", "until", "on", "path", "budget", "from", "lines")
_PLAINLY = {"memory_search": 'memory_search with query "" and path "*", which lists the notes'}
_NO_ROOM = "No passage fits the budget. Call memory_search with budget 500."


class ToolResult(Record):
    """An answer: a text for the model, and a function that makes the record for programs."""

    text: str
    record: Callable[[], dict[str, Any]]


def sentence(reason: Reason) -> str:
    """Return the reason and the tool that helps; the caller of a tool has no shell."""
    return reasons.sentence(reason._replace(hint=_hint_for_tools(reason.hint)))


def _hint_for_tools(hint: str) -> str:
    """Replace a command by the tool that does the same; "" if there is none.

    Example: `memcli get a.md --from 5` -> `memory_get with path "a.md", from "5"`
    """
    if hint.endswith("-w FOLDER"):  # of a workspace that was not found
        return 'the same call with workspace "FOLDER", the path of a folder of notes'
    hint = hint.partition(", or: --")[0]
    try:
        words = shlex.split(hint)
    except ValueError:
        return hint
    if words[:1] in (["ls"], ["mkdir"], ["-w"], ["correct"]):
        return ""
    if words[:1] == ["memcli"]:
        tool = _TOOLS.get(words[1] if len(words) > 1 else "")
        if tool is None:
            return ""
        name, argument, words = *tool, words[2:]
    elif hint.startswith("--"):
        name, argument = "", ""
    else:
        return hint
    values = {argument: words.pop(0)} if words and not words[0].startswith("-") else {}
    pairs = zip(words[::2], words[1::2], strict=False)
    values |= {option.lstrip("-"): value for option, value in pairs}
    known = [f'{key} "{value}"' for key, value in values.items() if key in _ARGUMENTS]
    if not name:
        return ", ".join(known)
    return f"{name} with {', '.join(known)}" if known else _PLAINLY.get(name, name)


def headline(match: str | None, comparison: Freshness) -> list[str]:
    """Write the match, and one line for each reason why the index is incomplete."""
    state = comparison.state.replace("_", " ")
    if state == UP_TO_DATE and any(each.code == "unlisted" for each in comparison.notices):
        state = "incomplete"
    if comparison.pending:
        files = visible_line(comparison.missing) or f"{comparison.pending} files"
        state = f"{state}, without {files}"
    first = f"match: {match}; index: {state}" if match else f"index: {state}"
    parts = [comparison.reason] if comparison.reason else []
    return [first, *(visible_line(sentence(each)) for each in (*parts, *comparison.notices))]


def of_context(assembly: Assembly, *, embeds: bool) -> list[str]:
    """Write the notices of a context, one per line; `embeds` as in `of_search`."""
    answer = assembly.answer
    lines = headline(answer.match if answer else None, assembly.freshness)
    read = _understood(answer, answer.dates, embeds=embeds) if answer else []
    remarks = filter(None, (*assembly.warnings, *read, assembly.remark))
    return [*lines, *map(visible_line, remarks)]


def of_search(
    result: SearchResult,
    shown_passages: Sequence[RankedPassage],
    bounds: Sequence[DateSpan],
    *,
    embeds: bool,
) -> list[str]:
    """Write the notices of an answer, one per line; `embeds`: texts are being embedded."""
    answer, question = result.answer, result.question
    lines = headline(answer.match, result.freshness)
    if result.freshness.state == EMPTY:
        return lines
    remarks = [f"read as: {question.text}"] if question.typed else []
    if re.match(r"\s*-\w", question.text) and not question.query.excluded:
        remarks.append("there are only words to exclude; they are searched for instead")
    remarks += _understood(answer, (*answer.dates, *bounds), embeds=embeds)
    if not answer.passages:
        why = result.empty_reason
        remarks += [_NOTHING, sentence(why) if why else reasons.absent(answer)]
    elif not shown_passages:
        remarks.append(_NO_ROOM)
    elif line := reasons.match_line(answer):
        remarks.append(line)
    elif answer.uncalibrated and answer.match == "weak":
        remarks.append(sentence(answer.uncalibrated))
    return [*lines, *map(visible_line, filter(None, remarks))]


def _understood(answer: Answer, dates: Sequence[DateSpan], *, embeds: bool) -> list[str]:
    """Report that vectors took no part, and how words and dates were read, if that is news."""
    from memcli.render.dates import line

    remarks = []
    semantic = answer.semantic
    if embeds and is_unembedded(answer):
        far = f"{semantic.embedded:,} of {semantic.total:,}"
        remarks.append(f"keywords only: semantic search is being prepared: {far}")
    elif not semantic.ran and semantic.reason is not None and semantic.reason != MODE_IS_KEYWORD:
        remarks.append(f"keywords only: {sentence(semantic.reason)}")
    elif missing := missing_vectors(semantic):
        remarks.append(missing.text)
    if repaired := [each for each in answer.repaired if each.is_another_word]:
        remarks.append(reasons.repaired(repaired))
    if read := line(dates):
        remarks.append(read)
    return remarks


def is_unembedded(answer: Answer) -> bool:
    """Return whether vectors took no part because they are not made yet."""
    reason = answer.semantic.reason
    return reason is not None and reason.code == "not-embedded"


def passages_text(passages: Sequence[RankedPassage]) -> str:
    """Write passages below their citation, which those below one heading share.

    The line above the fence also has the highest confidence, the date, the headings and the
    corrections. A line begins with its number.
    """
    groups: dict[tuple[Any, ...], list[RankedPassage]] = {}
    for passage in passages:
        about = passage.about
        groups.setdefault((about.document, headings(passage), about.trust), []).append(passage)
    return "".join(map(_passages_of_one, groups.values()))


def _passages_of_one(passages: Sequence[RankedPassage]) -> str:
    about = passages[0].about
    places = ",".join(lines_of(each.start_line, each.end_line) for each in passages)
    known = [each.confidence for each in passages if each.confidence is not None]
    trust = "" if about.trust == "trusted" else f"untrusted {about.source_kind}"
    marks = dict.fromkeys(mark_of(each.corrected_by) for each in passages if each.corrected_by)
    name = f"{shown(*about.document)}:{places}"
    days = "" if about.days in about.path else about.days
    parts = [name, f"{max(known):.2f}" if known else "", days, headings_of(passages[0])]
    parts += [trust, ", ".join(marks)]
    lines = [
        f"{number}: {line.text}" for each in passages for number, line in numbered(each, words=())
    ]
    return quoted(" | ".join(filter(None, parts)), "\n".join(lines))


def passage_line(passage: RankedPassage, words: Sequence[str]) -> str:
    """Write a line of a list: its citation, its date if the path has none, and its text.

    A text that is very long is cut as `clipped` does.
    """
    text = " ".join(broken_up("\n".join(t.text for _, t in numbered(passage, words=()))).split())
    days, mark = passage.about.days, mark_of(passage.corrected_by)
    days = "" if days in passage.about.path else days
    parts = passage.citation, days, mark, clipped(marked(text, words), LINE_CHARS).text
    return visible_line(" | ".join(filter(None, parts)))


def quoted(title: str, text: str) -> str:
    """Write lines in a fence below a title."""
    text = broken_up(text)
    fence = fence_for(text)
    return f"{visible_line(broken_up(title)).replace('`', chr(39))}\n{fence}\n{text}\n{fence}\n"


def of_documents(listed: ListedDocuments, budget: int) -> str:
    """List documents, newest first, as far as the budget goes; then name one for all of them."""
    lines = headline(None, listed.freshness)
    lines += [sentence(listed.empty_reason)] if listed.empty_reason else []
    rows = [" | ".join(visible_line(cell) for cell in row if cell) for row in _rows(listed)]
    costs = [*accumulate(estimate(each) + 1 for each in (*lines, *rows))][len(lines) :]
    fitting = bisect_right(costs, budget)
    lines += rows[:fitting]
    if more := len(rows) - fitting:
        lines.append(f"{more} more did not fit; for all: budget {costs[-1]}")
    return "\n".join([*lines, ""])


def _rows(listed: ListedDocuments) -> list[tuple[str, ...]]:
    """Return one row per document; if there are very many, one per folder and months."""
    documents = listed.documents
    if len(documents) <= MOST_LISTED:
        return [(shown(each.source, each.path), each.date or "", each.title) for each in documents]
    rows = counted(listed)
    return [(row.folder, row.months, f"{row.number} documents", row.names) for row in rows]


def of_lines(lines: Lines) -> str:
    """Write lines of a document, and the line to continue at."""
    title = f"{lines.citation} of {lines.total_lines} lines"
    name = visible_line(shown(lines.source, lines.path))
    more = "" if lines.next_from is None else f"next: {name}:{lines.next_from}\n"
    marks = ""
    for older, newer in lines.marks:
        mark = f"{older} corrected by {newer['citation']} ({newer['date']})"
        marks += f"{visible_line(mark)}\n"
    return quoted(title, lines.text) + marks + more


def of_note(noted: RememberResult, *, corrects: str = "") -> str:
    """Write where a note was saved, or why it was not."""
    if noted.citation is None:
        check = noted.refusal
        why = check.reason if check else "it is known"
        at = f": {visible_line(check.citation)}" if check and check.citation else ""
        same = [each.text for each in noted.older if check and each.citation == check.citation]
        at += "".join(f": {visible_line(' '.join(broken_up(text).split()))}" for text in same)
        still = f"not marked as corrected: {visible_line(corrects)}\n" if corrects else ""
        return f"not saved: {why}{at}\n{still}"
    lines = [f"remembered: {visible_line(noted.citation)}"]
    if corrects:
        marked = "".join(f": {broken_up(each.text)}" for each in noted.older if each.text)
        lines.append(visible_line(" ".join(f"marked as corrected: {corrects}{marked}".split())))
    elif noted.older:
        labels = [_label(noted.text, each) for each in noted.older]
        for label, each in zip(labels, noted.older, strict=True):
            parts = filter(None, (label, each.citation, broken_up(each.text)))
            lines.append(visible_line(" ".join(": ".join(parts).split())))
        lines.append(
            "If it replaces one of these: memory_correct with that citation and the same text"
        )
        if _SAME in labels:
            lines.append(f"If it says nothing new: memory_forget with {noted.citation}")
    lines += map(reasons.sentence, noted.notices)
    return "\n".join([*lines, ""])


def _label(text: str, older: OlderLine) -> str:
    """Say how an older line relates to a note."""
    from memcli.language.facts import adds, containment, facets_of

    if older.differs:
        return "an older note may differ"
    note, other = facets_of(text), facets_of(older.text)
    is_of_another = bool(note.opening) and note.opening not in other.terms
    is_like = containment(note, other) >= LIKE
    return _SAME if is_like and not (adds(note, other) or is_of_another) else "a related note"


def of_forgotten(done: UndoResult) -> str:
    """Write which note was removed, or why it stays."""
    lines = visible_line(f"{done.path}:{lines_of(done.start_line, done.end_line)}")
    return f"not removed: {lines}: {done.reason}\n" if done.reason else f"removed: {lines}\n"
