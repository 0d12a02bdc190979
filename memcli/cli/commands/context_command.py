"""`memcli context`: collect notes for a prompt, within a token budget."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from memcli.api.assemble import Assembly, context_of, context_record, sharing_of
from memcli.checking import Any
from memcli.cli import options as rows
from memcli.cli import search_output
from memcli.cli.command_context import CommandContext, command_context, progress_of, warn_of_secrets
from memcli.cli.filters import check_as_of, sync_of
from memcli.cli.options import CommandArgument, Option, Options, words_of
from memcli.context.assemble import Sharing, check_shares, tokens
from memcli.context.packing import CUT_DOWN, narrower, shortest
from memcli.context.parts import (
    ALWAYS,
    PASSAGES,
    PREFERENCES,
    RECENT,
    SOFT,
    ContextPart,
    cost,
    markdown,
    notice_of,
)
from memcli.errors import BudgetError, ExitCode
from memcli.language.tokens import estimate
from memcli.render.reasons import sentence

ARGUMENTS = (
    CommandArgument("query", "[QUERY]", "A question, or none for rules and new entries.", list),
)
OPTIONS = (
    Option("--budget", "Maximum tokens to print.",
        "TOKENS", int, setting="context.budget"),
    Option("--tail", "Number of newest entries to include.", "COUNT", int,
        setting="context.tail"),
    Option("-f --format", "Output: markdown or json.",
        "FORM", default="markdown", choices=("markdown", "json")),
    rows.JSON,
    Option("--explain", "Print the tokens of each part and what was left out."),
    rows.MODE, rows.PROFILE, rows.RERANK, rows.AS_OF,
    Option("--no-sync", "Do not update the index."),
    Option("--sync", "Index all changes first."),
    Option("--trace", "Write a trace, for bench replay.", "FILE", choices=rows.FILES),
    *rows.SEVERAL,
)  # fmt: skip


def run(options: Options) -> int:
    """Collect notes for a prompt: rules, the newest entries, passages for a question.

    Files marked `always` are included in full. See: memcli help context

    Examples: memcli context --budget 1500      memcli context "why did the pool run dry" --json
    """
    form = "json" if options.json else options.format
    wanted_sync = sync_of(options, "context")
    check_as_of(options, "trace")
    command = command_context(options)
    sharing = check_shares(sharing_of(command.config))
    text = " ".join(options.query or ())
    with progress_of(command) as observe:
        assembly = context_of(
            command.memory, text, command.question_time, sharing, sync=wanted_sync, observe=observe
        )
    if options.trace is not None:
        from memcli.cli import side_files

        record = side_files.trace_of_context(assembly, command, budget=sharing.budget)
        side_files.write_trace(options.trace, record, command)
    made, is_whole = assembly.assembled, options.explain or command.terminal.verbose
    if made.left_out and not made.parts and (form != "json" or is_whole):
        if form != "json":  # an error in JSON is all of stderr
            _say(assembly, sharing, command, explain=options.explain)
        best = _shortest_of(assembly)
        needed = ceil(cost([best], notice=_notice(assembly)))
        raise _too_small([best], needed, sharing.budget, options)
    write(assembly, sharing, command, form=form, options=options)
    if command.config("secrets") == "warn":
        parts = assembly.assembled.parts
        warn_of_secrets(command, ((part.excerpt.about.citation, part.text) for part in parts))
    return ExitCode.OK


SHOWN_LEFT_OUT = 10  # how many --explain names; it counts the rest


def write(
    assembly: Assembly, sharing: Sharing, command: CommandContext, *, form: str, options: Options
) -> None:
    """Write the context to stdout, then the messages to stderr."""
    explain = options.explain
    if form == "json" and (explain or command.terminal.verbose):
        command.terminal.write_json(_whole_record(assembly, sharing, command, explain=explain))
    elif form == "json":
        assembly, record = _json_within_budget(assembly, sharing, command, options)
        command.terminal.write_json(record)
    else:
        made = assembly.assembled
        command.terminal.write(command.terminal.safe(markdown(made.parts, notice=made.notice)))
    command.terminal.flush()
    _say(assembly, sharing, command, explain=explain and form != "json")


def _json_within_budget(
    assembly: Assembly, sharing: Sharing, command: CommandContext, options: Options
) -> tuple[Assembly, dict[str, Any]]:
    """Leave out parts until the JSON fits the budget; `always` files stay, or the best line.

    BudgetError if these do not fit. It names a budget for the best line, or for the line that
    this budget chooses instead.
    """
    from memcli.render.jsonio import dumps

    def written(parts: Sequence[ContextPart]) -> tuple[Assembly, dict[str, Any], int]:
        left = (*(each for each in made.parts if each not in parts), *made.left_out)
        fewer = assembly._replace(assembled=made._replace(parts=tuple(parts), left_out=left))
        record = context_record(fewer, command.config, budget=sharing.budget, now=command.now)
        return fewer, record, estimate(f"{dumps(record)}\n")

    made = assembly.assembled
    parts, best = list(made.parts), written(made.parts)
    always = [each for each in parts if each.section == ALWAYS]
    while best[2] > sharing.budget and len(parts) > max(1, len(always)):
        parts = _without_one(parts)
        best = written(parts)
    every = sorted((*parts, *made.left_out), key=lambda each: -(each.score or 0.0))
    shorter = narrower((parts or every)[0]) if every and not always else iter(())
    while (best[2] > sharing.budget or not parts) and (line := next(shorter, None)):
        parts = [line]
        best = written(parts)
    if best[2] <= sharing.budget:
        return best[:2]
    needed, text = best[2], " ".join(options.query or ())
    enough = sharing._replace(budget=needed)
    try:
        again = context_of(command.memory, text, command.question_time, enough, sync=False)
        _json_within_budget(again, enough, command, options)
    except BudgetError as error:
        needed = error.needed
    raise _too_small(parts, needed, sharing.budget, options)


def _without_one(parts: Sequence[ContextPart]) -> list[ContextPart]:
    """Leave out the last part that is not of an `always` file, or the oldest new entry."""
    last = [each for each in parts if each.section != ALWAYS][-1]
    out = next(each for each in parts if each is last or each.section == last.section == RECENT)
    return [each for each in parts if each is not out]


def _whole_record(
    assembly: Assembly, sharing: Sharing, command: CommandContext, *, explain: bool
) -> dict[str, Any]:
    """Describe the block that the budget allows; the description itself is longer."""
    record = context_record(
        assembly, command.config, budget=sharing.budget, now=command.now, whole=True
    )
    if explain:
        record["plan"] = {
            name: {"tokens": _tokens(assembly.assembled.parts, name), "reserve": reserve}
            for name, reserve in _reserves(sharing)
        }
        record["without_room"] = [
            {"section": each.section, "citation": each.excerpt.about.citation,
             "tokens": ceil(each.cost)}
            for each in assembly.assembled.left_out
        ]  # fmt: skip
    return record


def _reserves(sharing: Sharing) -> list[tuple[str, int | None]]:
    """Return the reserve of each section; passages get what a section does not use."""
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
    if not search_output.say_freshness(assembly.freshness, terminal):
        terminal.say(sentence(search_output.NO_DOCUMENTS))
        return
    if assembly.answer is not None:
        search_output.say_semantic(assembly.answer.semantic, command, assembly.freshness)
        search_output.say_dates(assembly.answer.dates, terminal)
        search_output.say_repaired(assembly.answer.repaired, terminal, explain=explain)
        search_output.say_reranked(assembly.answer.reranked, terminal)
        search_output.say_uncalibrated(assembly.answer, command, explain=explain)
    soft = [part for part in assembled.left_out if part.section == SOFT]
    if soft and assembled.parts:
        where = soft[0].excerpt.about.citation
        terminal.warn(f"rules are cut from {where} on because of the budget")
    if assembly.remark:
        terminal.say(terminal.safe_line(assembly.remark))
    if not (assembled.parts or assembled.left_out):
        terminal.say("No passages found.")
    if explain:
        _explain(assembly, sharing, command)


def _shortest_of(assembly: Assembly) -> ContextPart:
    """Return the best line of the parts that did not fit and that packing cuts down."""
    left = assembly.assembled.left_out
    cut = [each for each in left if each.section == PASSAGES][:CUT_DOWN]
    shortened = map(shortest, cut or left)
    return max(shortened, key=lambda part: (part.score or 0.0, -tokens([part])))


def _notice(assembly: Assembly) -> str:
    answer = assembly.answer
    not_by = answer.named_speakers if answer and answer.is_of_others else ()
    return notice_of(unsure=answer is not None and answer.is_doubtful, not_by=not_by)


def _too_small(
    parts: Sequence[ContextPart], needed: int, budget: int, options: Options
) -> BudgetError:
    """Return the error for a budget that is too small for some parts."""
    from shlex import join  # people paste hints

    words = words_of(options, [row for row in OPTIONS if row.name not in ("budget", "trace")])
    question = ["--", " ".join(options.query)] if options.query else []
    what = parts[0].excerpt.about.citation if parts else "an answer without passages"
    return BudgetError(
        f"{what} needs {needed} tokens, and the budget is {budget}",
        hint=join(["memcli", "context", *words, "--budget", str(needed), *question]),
        needed=needed,
    )


def _explain(assembly: Assembly, sharing: Sharing, command: CommandContext) -> None:
    terminal, assembled = command.terminal, assembly.assembled
    saved = assembled.saved
    more = f", {saved} saved: the other passages are too weak" if saved else ""
    terminal.say(f"{assembled.tokens} of {sharing.budget} tokens{more}")
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
    rest = len(assembled.left_out) + assembly.more - SHOWN_LEFT_OUT
    if rest > 0:
        terminal.say(f"  no room: {rest} more")
