"""Divide a budget of tokens among rules, the newest entries and passages; pure.

    C = I1 + I2* + P + T + Proj(rest, query)      no line twice

I1 are the documents marked `always`: all of them, never cut. T is the tail: the newest entries. I2*
is the longest beginning of the soft rules that fits, to the line. P are preferences that touch the
question. A budget of tau tokens is spent in the order I1, base tail, I2, more tail, P, passages:

    tau_I1 <= alpha1 * tau                                  else a warning
    tau_I2  = min(alpha2 * tau, tau - tau_I1 - base tail)
    tail    grows back while it costs no more than beta * tau
    P       costs no more than gamma * tau, nor than what these leave

The base tail is the `tail` newest entries. If I1 and the base tail cost more than tau, the context
fails. If there is a question, answers come before new entries: the tail is at most the base tail,
and at most beta * tau if `tail` is not set.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from math import ceil

from memcli.context.packing import ABOUT_AS_GOOD, packed
from memcli.context.parts import (
    ALWAYS,
    ANSWER_FIRST,
    CHANGED,
    PASSAGES,
    RECENT,
    SECTIONS,
    SOFT,
    TASKS,
    UNSURE,
    ChunkSpan,
    ContextPart,
    cost,
    frame,
    joined,
    make_part,
    notice_of,
    whole,
)
from memcli.errors import BudgetError, ConfigError
from memcli.language.tokens import price
from memcli.markdown.comments import comments
from memcli.record import Record
from memcli.types import Excerpt

# Parts that are shown next to the rules if no passage is a sure answer.
UNSURE_PARTS = 3
LASTING_SHARE = 0.4  # of the budget, for the lasting facts at the start of a session
_Divided = tuple[Sequence[ChunkSpan], Sequence[ChunkSpan]]  # those that fit, and the rest


class Sharing(Record):
    """The budget in tokens, and how it is shared."""

    budget: int
    tail: int  # the newest entries that must be shown; 0 is no tail
    always_share: float  # alpha1
    soft_share: float  # alpha2
    tail_share: float  # beta
    preference_share: float = 0.0  # gamma
    by_lines: bool = False  # chunks share lines, so lines decide what is shown already
    has_question: bool = False  # there is a question
    is_tail_set: bool = False  # the user has set the number of entries of the tail
    marks: int = 0  # tokens of the marks of corrected lines

    @property
    def reserve(self) -> float:
        """Count the tokens that soft rules and tail leave for marks and for a notice."""
        return self.marks + (price(UNSURE) if self.has_question else 0.0)


class RetrievedPassages(Record):
    """The passages for a context, best first."""

    parts: Sequence[ContextPart]
    below: Sequence[ContextPart] = ()  # less relevant; left out even if they would fit
    unsure: bool = False  # no passage is a sure answer
    not_by: Sequence[str] = ()  # speakers whom the question names, if others say what matches
    preferences: Sequence[ContextPart] = ()  # that touch the question's subject, best first
    is_of_one_scale: bool = True  # the scores of its parts can be compared


class FixedParts(Record):
    """The parts that a context contains for any question."""

    parts: tuple[ContextPart, ...]
    soft_left: tuple[ContextPart, ...]  # soft rules that had no room
    warning: str

    @property
    def chunk_ids(self) -> frozenset[int]:
        """List the chunks that are shown whole."""
        return frozenset(
            span.chunk.about.chunk_id for part in self.parts for span in part.spans if span.is_whole
        )

    @property
    def rules(self) -> frozenset[tuple[str, str]]:
        """List the documents of rules, shown or not, by source and path."""
        parts = (*(part for part in self.parts if part.section in (ALWAYS, SOFT)), *self.soft_left)
        return frozenset(part.excerpt.about.document for part in parts)

    @property
    def cut_ids(self) -> frozenset[int]:
        """List the chunks of soft rules that did not fit."""
        return frozenset(chunk for part in self.soft_left for chunk in part.chunk_ids)


class AssembledContext(Record):
    """A context: its parts in their order, and the parts that did not fit."""

    parts: tuple[ContextPart, ...]
    left_out: tuple[ContextPart, ...]  # soft rules, then passages, best first
    warning: str
    saved: int = 0  # tokens of parts that would have fitted but were not relevant enough
    notice: str = ""  # that it begins with

    @property
    def tokens(self) -> int:
        """Count the tokens of the context, with fences and citations."""
        return ceil(cost(self.parts, notice=self.notice))


def tokens(parts: Iterable[ContextPart]) -> int:
    """Count the tokens of a context of some parts."""
    return ceil(cost(parts))


def check_shares(sharing: Sharing) -> Sharing:
    """Raise ConfigError if the shares of the budget exceed 1."""
    total = sharing.always_share + sharing.soft_share + sharing.tail_share
    if total > 1 + 1e-9:
        raise ConfigError(
            "context.always_share, context.soft_share and context.tail_share must not exceed 1"
            f" together, as {total:g} does",
            hint="memcli config context",
        )
    return sharing


def fix(
    always: Sequence[Sequence[Excerpt]],
    soft: Sequence[Excerpt],
    newest: Iterable[Sequence[ChunkSpan]],
    sharing: Sharing,
    lasting: Sequence[Excerpt] = (),
) -> FixedParts:
    """Choose rules and tail; `newest` yields the entries of dated logs, newest first.

    `lasting` are facts that come before the soft rules, and have a share of their own. BudgetError
    says by how many tokens the rules and the base tail exceed the budget.
    """
    budget = sharing.budget
    rules = [part for document in always for part in joined(ALWAYS, map(whole, document))]
    entries = iter(newest)
    first = list(
        islice(entries, sharing.tail if not sharing.has_question or sharing.is_tail_set else 0)
    )
    while True:
        base = [span for entry in first[::-1] for span in entry]
        tail = joined(RECENT, base)
        fits_all = cost([*rules, *tail]) <= budget - sharing.reserve
        if fits_all or not first or not sharing.has_question:
            break
        first.pop()
    needed = tokens([*rules, *tail]) + sharing.marks
    if needed > budget:
        raise _too_much(needed, tokens(rules), budget, has_tail=bool(tail))

    def begin(chunks: Sequence[Excerpt], share: float, above: Sequence[ContextPart]) -> _Divided:
        def fits(spans: Sequence[ChunkSpan]) -> bool:
            parts = joined(SOFT, spans)
            is_within = _own(parts) <= share * budget
            return is_within and cost([*above, *parts, *tail]) <= budget - sharing.reserve

        return _beginning([whole(chunk) for chunk in chunks], fits)

    facts, rest = begin(lasting, LASTING_SHARE, rules)
    chosen = [*rules, *joined(SOFT, facts)]
    shown, soft_rest = begin(soft, sharing.soft_share, chosen)
    chosen += joined(SOFT, shown)
    if sharing.tail and not (sharing.has_question and sharing.is_tail_set):
        around = price(frame({*(part.section for part in chosen), RECENT}))
        free = budget - sharing.reserve - around - _own(chosen)
        older = islice(entries, sharing.tail) if sharing.has_question else entries
        tail = _grown(base, older, min(sharing.tail_share * budget, free))
    share = tokens(rules) / budget
    warning = (
        f"files marked always take {share:.0%} of the budget, more than context.always_share"
        if share > sharing.always_share
        else ""
    )
    return FixedParts((*chosen, *tail), tuple(joined(SOFT, [*rest, *soft_rest])), warning)


def _beginning(spans: Sequence[ChunkSpan], fits: Callable[[Sequence[ChunkSpan]], bool]) -> _Divided:
    """Divide spans after the last line that fits; headings stay with the text after them."""
    count = next((n for n in range(len(spans)) if not fits(spans[: n + 1])), len(spans))
    if count == len(spans):
        return spans, ()
    chunk, *others = spans[count:]
    text, hidden = chunk.chunk.text, comments(chunk.chunk.text)
    ends = [at for at, sign in enumerate(text) if sign == "\n"]
    for end in reversed(ends):
        line = text[text.rfind("\n", 0, end) + 1 : end]
        is_body = line.strip() and not line.startswith("#")
        if is_body and not any(start < end < stop for start, stop in hidden):
            head = [*spans[:count], chunk._replace(end=end)]
            if fits(head):
                return head, [chunk._replace(start=end + 1), *others]
    return spans[:count], spans[count:]


def assemble(fixed: FixedParts, retrieved: RetrievedPassages, sharing: Sharing) -> AssembledContext:
    """Add the passages that fit, in the order of their rank; see `packing`.

    If no passage is a sure answer, the context begins with a notice and shows few passages.
    """
    fixed = _with_preferences(fixed, retrieved.preferences, sharing)
    sections = {part.section for part in fixed.parts}
    heading = price(frame({*sections, PASSAGES})) - price(frame(sections))
    notices = [notice_of(unsure=retrieved.unsure, not_by=names) for names in (retrieved.not_by, ())]
    notice = next((n for n in notices if cost(fixed.parts, notice=n) <= sharing.budget), "")
    room = sharing.budget - cost(fixed.parts, notice=notice) - heading
    offered, below = list(retrieved.parts), list(retrieved.below)
    if retrieved.unsure:
        most = max(0, UNSURE_PARTS - sum(part.section == RECENT for part in fixed.parts))
        offered, below = offered[:most], [*offered[most:], *below]
    least = ABOUT_AS_GOOD if sharing.has_question and retrieved.is_of_one_scale else 0.0
    made = packed(offered, fixed.parts, room, by_lines=sharing.by_lines, least_share=least)
    saved = _fitting([*made.idle, *below], made.room)
    left = (*fixed.soft_left, *made.left, *made.idle)
    order = ANSWER_FIRST if sharing.has_question else SECTIONS
    parts = sorted((*fixed.parts, *made.parts), key=lambda part: order.index(part.section))
    return AssembledContext(tuple(parts), left, fixed.warning, int(saved), notice)


def _with_preferences(
    fixed: FixedParts, offered: Iterable[ContextPart], sharing: Sharing
) -> FixedParts:
    """Add the preferences that fit into their share, nearest first."""
    left = sharing.preference_share * sharing.budget
    parts = list(fixed.parts)
    for part in offered:
        fits = part.cost <= left and cost([*parts, part]) <= sharing.budget - sharing.reserve
        if fits and not any(part.overlaps(other, by_lines=sharing.by_lines) for other in parts):
            parts.append(part)
            left -= part.cost
    return fixed._replace(parts=tuple(parts))


def _fitting(parts: Iterable[ContextPart], room: float) -> float:
    """Count the tokens of the parts that would fit, one after another."""
    spent = 0.0
    for part in parts:
        if spent + part.cost <= room:
            spent += part.cost
    return spent


def _too_much(needed: int, rules: int, budget: int, *, has_tail: bool) -> BudgetError:
    over = needed - budget
    hint = f"memcli context --budget {needed}" + ("" if has_tail else " --tail 0")
    if has_tail and rules <= budget:
        return BudgetError(
            f"{'the rules and ' if rules else ''}the newest entries take {needed} tokens,"
            f" {over} more than the budget of {budget}; a tail of 0 leaves them out",
            hint=hint,
            needed=needed,
        )
    return BudgetError(
        f"the files marked always take {rules} tokens, {rules - budget} more than the budget of"
        f" {budget}; they are never cut",
        hint=hint,
        needed=rules,
    )


def _grown(
    base: Sequence[ChunkSpan], older: Iterable[Sequence[ChunkSpan]], room: float
) -> list[ContextPart]:
    """Add older entries before the base tail while the tail costs at most `room`."""
    first = [span for span in base if _document(span) == _document(base[0])]
    rest = joined(RECENT, base)[1:]
    for entry in older:
        same = bool(first) and _document(entry[0]) == _document(first[0])
        grown = [*entry, *first] if same else [*entry]
        behind = rest if same else joined(RECENT, first) + rest
        head = joined(RECENT, grown)
        if _own([*head, *behind]) > room:
            break
        first, rest = grown, behind
    return joined(RECENT, first) + rest


def _document(span: ChunkSpan) -> tuple[str, str]:
    return span.chunk.about.document


def _own(parts: Iterable[ContextPart]) -> float:
    """Count the tokens of parts without headings and notice."""
    return sum(part.cost for part in parts)


NEWEST_FILES = 200  # files to search for open tasks and changes
MOST_TASKS = 10
MOST_TASK_TOKENS = 60
_TASK = re.compile(r"(?m)^[ \t]*(?:[-*+]|\d+[.)])[ \t]+\[ \][ \t]+\S[^\n]*")


# A line that reports a task as done, and words with which it does not.
_DONE = re.compile(
    r"(?i)\[x\]|\b(?:live|shipped|merged|deployed|released|finished|done|on since|in place"
    r"|in production|erledigt|fertig|umgesetzt|aktiv seit)\b"
)
_NOT_DONE = re.compile(
    r"(?i)\[ \]|\?\s*$|\b(?:not|never|until|before|unless|if|once|when|will|should|must|todo|to be"
    r"|nicht|nie|noch|bis|bevor|wenn|wird|soll|muss)\b|n['’]t\b"
)
# What identifies the thing that a task is about: code, an id, a number.
_THING = re.compile(r"`([^`\n]+)`|\b(\w+(?:[._-]\w+)*\d[\w.-]*\w|\d+)\b")


def tasks_of(chunks: Sequence[Excerpt]) -> list[ContextPart]:
    """Return the first open tasks of some chunks, without those that a later note says are done."""
    tasks = (
        make_part(TASKS, each, window=at.span())
        for each in chunks
        if "[ ]" in each.text
        for at in _TASK.finditer(each.text)
        if len(at[0]) <= 4 * MOST_TASK_TOKENS
        and not _is_done(at[0], each.about.date or "9999", chunks)
    )
    return [*islice(tasks, MOST_TASKS)]


def _is_done(task: str, day: str, chunks: Iterable[Excerpt]) -> bool:
    """Return whether a line of a later day has all that identifies a task, and says it is done."""
    things = [code or name for code, name in _THING.findall(task)]
    if all(map(str.isdecimal, things)):
        things = [task.partition("]")[2].strip()]
    return any(
        all(thing in line for thing in things) and _DONE.search(line) and not _NOT_DONE.search(line)
        for chunk in chunks
        if day < (chunk.about.date or "") and all(thing in chunk.text for thing in things)
        for line in chunk.text.split("\n")
    )


def changed_parts(
    chunks: Sequence[Excerpt], changed: Collection[tuple[str, str]]
) -> Iterator[ContextPart]:
    """Yield the chunks of the changed documents, the newest document first.

    `chunks` are in this order too. A log grows at its end, so its last chunk comes first.
    """
    documents: dict[tuple[str, str], list[Excerpt]] = {}
    for each in chunks:
        if each.about.document in changed:
            documents.setdefault(each.about.document, []).append(each)
    for own in documents.values():
        for each in reversed(own):
            part = make_part(CHANGED, each)
            if part.text:
                yield part


def packed_in_order(
    fixed: Sequence[ContextPart], parts: Iterable[ContextPart], *, budget: int
) -> tuple[ContextPart, ...]:
    """Add parts in their order while they fit the budget; one that does not fit is left out."""
    packed, misses = [*fixed], 0
    for part in parts:
        if tokens([*packed, part]) <= budget:
            packed.append(part)
        else:
            misses += 1
            if misses > 5:  # the rest is as large
                break
    return tuple(packed)
