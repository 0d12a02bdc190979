"""Write a context as Markdown or JSON, and print its sources and what did not fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil

from memcli.checking import TYPE_CHECKING
from memcli.cli.search_output import (
    say_dates,
    say_freshness,
    say_match,
    say_repaired,
    say_reranked,
    say_semantic,
    say_uncalibrated,
)
from memcli.context.assemble import tokens
from memcli.context.parts import ALWAYS, PASSAGES, PREFERENCES, RECENT, SOFT, ContextPart, markdown

if TYPE_CHECKING:
    from typing import Any

    from memcli.api.assemble import Assembly
    from memcli.cli.command_context import CommandContext
    from memcli.context.assemble import AssembledContext, Sharing

SHOWN_LEFT_OUT = 10  # that --explain names; the rest is counted


def write(
    assembly: Assembly, sharing: Sharing, command: CommandContext, *, form: str, explain: bool
) -> None:
    """Write the context to stdout, then the messages to stderr."""
    WRITERS[form](assembly, sharing, command, explain)
    command.terminal.flush()
    _say(assembly, sharing, command, explain=explain and form != "json")


def _write_markdown(
    assembly: Assembly, sharing: Sharing, command: CommandContext, explain: bool
) -> None:
    made = assembly.assembled
    command.terminal.write(command.terminal.safe(markdown(made.parts, notice=made.notice)))


def _write_json(
    assembly: Assembly, sharing: Sharing, command: CommandContext, explain: bool
) -> None:
    command.terminal.write_json(_record(assembly, sharing, command, explain=explain))


WRITERS: Mapping[str, Callable[[Assembly, Sharing, CommandContext, bool], None]] = {
    "markdown": _write_markdown,
    "json": _write_json,
}


def _record(
    assembly: Assembly, sharing: Sharing, command: CommandContext, *, explain: bool
) -> dict[str, Any]:
    from memcli.api.assemble import context_record

    record = context_record(assembly, command.config, budget=sharing.budget, now=command.now)
    if explain:
        record["plan"] = {
            name: {"tokens": _tokens(assembly.assembled.parts, name), "reserve": reserve}
            for name, reserve in _reserves(sharing)
        }
        record["without_room"] = [_brief(part) for part in assembly.assembled.left_out]
    return record


def _brief(part: ContextPart) -> dict[str, Any]:
    return {
        "section": part.section,
        "citation": part.excerpt.about.citation,
        "tokens": ceil(part.cost),
    }


def _reserves(sharing: Sharing) -> list[tuple[str, int | None]]:
    """Return the reserve of each section; an unused reserve goes to the passages found."""
    shares = {
        ALWAYS: sharing.always_share,
        SOFT: sharing.soft_share,
        PREFERENCES: sharing.preference_share,
        RECENT: sharing.tail_share if sharing.tail else 0.0,
    }
    return [
        (name, int(shares[name] * sharing.budget) if name in shares else None)
        for name in (ALWAYS, SOFT, PREFERENCES, RECENT, PASSAGES)
    ]


def _tokens(parts: tuple[ContextPart, ...], section: str) -> int:
    return ceil(sum(part.cost for part in parts if part.section == section))


def _say(assembly: Assembly, sharing: Sharing, command: CommandContext, *, explain: bool) -> None:
    terminal, assembled = command.terminal, assembly.assembled
    for warning in assembly.warnings:
        terminal.warn(warning)
    if not say_freshness(assembly.freshness, terminal):
        return
    if assembly.answer is not None:
        say_semantic(assembly.answer.semantic, command, assembly.freshness)
        say_dates(assembly.answer.dates, terminal)
        say_repaired(assembly.answer.repaired, terminal, explain=explain)
        say_reranked(assembly.answer.reranked, terminal)
        say_uncalibrated(assembly.answer, command, explain=explain)
    soft = [part for part in assembled.left_out if part.section == SOFT]
    if soft:
        where = soft[0].excerpt.about.citation
        terminal.warn(f"files marked soft are cut from {where} on because of the budget")
    if not assembled.parts:
        terminal.say(_why_nothing(assembled.left_out))
    elif assembly.answer is not None:
        say_match(assembly.answer, terminal)
    if explain:
        _explain(assembly, sharing, command)


def _saved(made: AssembledContext) -> str:
    if not made.saved:
        return ""
    return f", {made.saved} saved: the other passages are too weak"


def _why_nothing(left_out: Sequence[ContextPart]) -> str:
    if not left_out:
        return "No passages found."
    needed = min(tokens([part]) for part in left_out)
    return f"Nothing fits the budget: the shortest part takes {needed} tokens."


def _explain(assembly: Assembly, sharing: Sharing, command: CommandContext) -> None:
    terminal, assembled = command.terminal, assembly.assembled
    terminal.say(f"{assembled.tokens} of {sharing.budget} tokens{_saved(assembled)}")
    for name, reserve in _reserves(sharing):
        count = sum(part.section == name for part in assembled.parts)
        room = "what is left" if reserve is None else f"reserve {reserve}"
        at_least = f", at least {sharing.tail}" if name == RECENT and sharing.tail else ""
        spent = _tokens(assembled.parts, name)
        terminal.say(f"  {name:<11} {spent:>6} tokens in {count} ({room}{at_least})")
    for part in assembled.parts:
        if part.via:
            terminal.say(f"  {part.excerpt.about.citation} is linked from {part.via}")
    for part in assembled.left_out[:SHOWN_LEFT_OUT]:
        cost = ceil(part.cost)
        terminal.say(f"  no room: {part.excerpt.about.citation} ({part.section}, {cost} tokens)")
    more = len(assembled.left_out) + assembly.more - SHOWN_LEFT_OUT
    if more > 0:
        terminal.say(f"  no room: {more} more")
