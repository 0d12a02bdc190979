"""Share a budget of tokens among rules, newest records and what retrieval finds; pure.

    C = I1 + I2* + T + Proj(rest, query)      no line twice

I1 are the documents marked always: all of them, never cut. T is the raw tail: the newest records,
at least `tail` of them. I2* is the longest prefix of the soft rules that fits. With a budget of
tau tokens they are served in the order I1, base tail, I2, more tail, retrieval:

    tau_I1 <= alpha1 * tau                                  else a warning
    tau_I2  = min(alpha2 * tau, tau - tau_I1 - base tail)
    tail    grows back while it costs no more than beta * tau

Where I1 and the base tail alone exceed tau there is no context, only an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from math import ceil

from memcli.context.packing import packed
from memcli.context.parts import ALWAYS, FOUND, RECENT, SOFT, ContextPart, cost, frame, joined
from memcli.errors import BudgetError, ConfigError
from memcli.markdown.tokens import quotient
from memcli.record import Record
from memcli.types import Excerpt


class Sharing(Record):
    """The budget in tokens, and how it is shared."""

    budget: int
    tail: int  # newest records that have to be there; 0 is no tail at all
    always_share: float  # alpha1
    soft_share: float  # alpha2
    tail_share: float  # beta
    by_lines: bool = False  # chunks share lines, so lines tell what is shown already


class Fixed(Record):
    """What a context holds whatever is asked."""

    parts: tuple[ContextPart, ...]
    soft_left: tuple[ContextPart, ...]  # soft rules that had no room
    warning: str

    @property
    def chunk_ids(self) -> frozenset[int]:
        """Give the chunks that are shown already."""
        return frozenset(chunk for part in self.parts for chunk in part.chunk_ids)


class Assembled(Record):
    """A context: its parts in the order they are shown, and what had no room."""

    parts: tuple[ContextPart, ...]
    left_out: tuple[ContextPart, ...]  # soft rules, then what was found, best first
    warning: str

    @property
    def tokens(self) -> int:
        """Count the tokens of the whole, fences and citations included."""
        return tokens(self.parts)


def tokens(parts: Iterable[ContextPart]) -> int:
    """Count the tokens that parts cost as a context."""
    return ceil(cost(parts))


def check_shares(wanted: Sharing) -> Sharing:
    """Raise ConfigError where more than the whole budget is shared out."""
    total = wanted.always_share + wanted.soft_share + wanted.tail_share
    if total > 1 + 1e-9:
        raise ConfigError(
            "context.always_share, context.soft_share and context.tail_share must not exceed 1"
            f" together, as {total:g} does",
            hint="memcli config context",
        )
    return wanted


def fix(
    always: Sequence[Sequence[Excerpt]],
    soft: Sequence[Excerpt],
    newest: Iterable[Excerpt],
    wanted: Sharing,
) -> Fixed:
    """Choose rules and tail; `newest` gives the records of dated logs, the newest first.

    BudgetError says by how many tokens the rules and the base tail exceed the budget.
    """
    budget = wanted.budget
    rules = [part for document in always for part in joined(ALWAYS, document)]
    records = iter(newest)
    base = list(islice(records, wanted.tail))[::-1]
    tail = joined(RECENT, base)
    needed = tokens([*rules, *tail])
    if needed > budget:
        raise _too_much(needed, tokens(rules), budget, has_tail=bool(tail))

    def fits(soft_parts: Sequence[ContextPart]) -> bool:
        within = sum(part.cost for part in soft_parts) <= wanted.soft_share * budget
        return within and tokens([*rules, *soft_parts, *tail]) <= budget

    kept = next((n for n in range(len(soft)) if not fits(joined(SOFT, soft[: n + 1]))), len(soft))
    chosen = [*rules, *joined(SOFT, soft[:kept])]
    if base:
        room = min(wanted.tail_share * budget, budget - cost([*chosen, *tail]) + _own(tail))
        tail = _grown(base, records, room)
    share = tokens(rules) / budget
    warning = (
        f"files marked always take {share:.0%} of the budget, more than context.always_share"
        if share > wanted.always_share
        else ""
    )
    return Fixed((*chosen, *tail), tuple(joined(SOFT, soft[kept:])), warning)


def assemble(fixed: Fixed, found: Iterable[ContextPart], wanted: Sharing) -> Assembled:
    """Add what was found, in the order of its rank, as far as it fits; see `packing`."""
    held = {part.section for part in fixed.parts}
    heading = quotient(frame({*held, FOUND})) - quotient(frame(held))
    room = wanted.budget - cost(fixed.parts) - heading
    kept, left = packed(found, fixed.parts, room, by_lines=wanted.by_lines)
    return Assembled((*fixed.parts, *kept), (*fixed.soft_left, *left), fixed.warning)


def _too_much(needed: int, rules: int, budget: int, *, has_tail: bool) -> BudgetError:
    over = needed - budget
    hint = f"memcli context --budget {needed}" + ("" if has_tail else " --tail 0")
    if has_tail and rules <= budget:
        return BudgetError(
            f"{'the rules and ' if rules else ''}the newest records take {needed} tokens,"
            f" {over} more than the budget of {budget}; --tail 0 leaves the records out",
            hint=hint,
        )
    return BudgetError(
        f"the files marked always take {rules} tokens, {rules - budget} more than the budget of"
        f" {budget}; they are never cut",
        hint=hint,
    )


def _grown(base: Sequence[Excerpt], older: Iterable[Excerpt], room: float) -> list[ContextPart]:
    """Put older records before the base tail while the tail costs no more than `room`."""
    documents = joined(RECENT, base)
    first = [excerpt for excerpt in base if excerpt.about.document == base[0].about.document]
    rest = documents[1:]
    for record in older:
        same = record.about.document == first[0].about.document
        grown = [record, *first] if same else [record]
        behind = rest if same else joined(RECENT, first) + rest
        head = joined(RECENT, grown)
        if _own([*head, *behind]) > room:
            break
        first, rest = grown, behind
    return joined(RECENT, first) + rest


def _own(parts: Iterable[ContextPart]) -> float:
    """Count what parts cost without what stands around them."""
    return sum(part.cost for part in parts)
