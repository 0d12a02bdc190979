"""`memcli compact`: turn old logs into short summaries that lead back to every line."""

from __future__ import annotations

import os
from typing import Any

from memcli.api import compact
from memcli.bench.summary_recall import SummaryRecall, suggested
from memcli.cli import bench_quality
from memcli.cli import options as rows
from memcli.cli.command_context import CommandContext, command_context, marked
from memcli.cli.options import Option, Options, words_of
from memcli.cli.side_files import own_file
from memcli.cli.stopping import ended_by_signals
from memcli.compaction.draft import WORTH, SummaryDraft
from memcli.compaction.plan import CompactionPlan
from memcli.errors import ExitCode, MemcliError, Reason, UsageError
from memcli.markdown.evidence import WORDED
from memcli.markdown.lineage import cited_lines, cited_name
from memcli.render.reasons import sentence
from memcli.render.text import counted
from memcli.types import lines_of

SUMMARIZER = Option(
    "--summarizer", "Summarizer: extractive, command or onnx.", "HOW",
    default="extractive", choices=("extractive", "command", "onnx"),
)  # fmt: skip
OPTIONS = (
    Option("--apply", "Write the summaries."),
    Option("--verify", "Check every summary. Exit 1 if one is invalid."),
    Option("--undo", "Remove what the last run wrote, except edited files."),
    Option("--dry-run", "Show what would be written. This is the default."),
    Option("--show", "Print the summaries instead of the lines kept."),
    Option("--tail-days", "Days before the newest entry to leave out.", "DAYS", int,
        setting="compact.tail_days"),
    Option("--tail", "Least number of newest entries to leave out.", "COUNT", int,
        setting="compact.tail_entries"),
    Option("--cluster", "Entries per summary.", "COUNT", int, setting="compact.cluster"),
    Option("--ratio", "Length of a summary, as a share of its lines.", "SHARE", float,
        setting="compact.ratio"),
    SUMMARIZER, *rows.STANDARD,
)  # fmt: skip

NORMAL = "normal"
MOST_ROWS = 12  # lines of the preview of one summary

# Options that a hint repeats, because they change the plan.
_REPEATED = (SUMMARIZER, *(each for each in OPTIONS if each.setting), rows.NOW, rows.ONE_WORKSPACE)


def run(options: Options) -> int:
    """Write short summaries of old logs. The logs stay as they are.

    Without --apply, nothing is written. The newest entries are not summarised.

    Examples: memcli compact      memcli compact --apply
    """
    actions = [name for name in ("apply", "verify", "undo", "dry_run") if getattr(options, name)]
    if len(actions) > 1:
        raise UsageError(
            "use only one of --apply, --verify, --undo and --dry-run", hint="memcli compact --help"
        )
    command = marked(command_context(options))
    if options.verify:
        return _verify(options, command)
    return _undo(options, command) if options.undo else _compact(options, command)


def _compact(options: Options, command: CommandContext) -> int:
    do = compact.apply_compaction if options.apply else compact.plan_compaction
    with ended_by_signals():  # a program that writes summaries ends together with memcli
        made = do(command.workspace, now=command.now, summarizer=options.summarizer)
    _warn(made, command)
    recall = _recall(command, silent=options.json) if options.apply and made.plan.drafts else None
    _tell(made.plan, options, command, recall=recall)
    return ExitCode.OK


def _recall(command: CommandContext, *, silent: bool) -> SummaryRecall | None:
    """Answer the workspace's own questions, if any, from logs and from summaries."""
    try:
        if not os.path.exists(own_file(bench_quality.QUESTIONS, command)):
            return None
        _, queries = bench_quality.questions(None, command, silent=silent)
        judged = [query for query in queries if query.relevant]
        if not judged:
            return None
        bench_quality.bring_up_to_date(command, silent=silent)
        return compact.measure_recall(command.workspace, judged, command.today)
    except MemcliError as error:  # memcli writes the summaries anyway
        command.terminal.warn(f"their recall is not measured: {error}")
        return None


def _warn(made: compact.Compaction, command: CommandContext) -> None:
    """Print what a plan could not take into account."""
    for skip in made.skips:
        command.terminal.warn(f"{skip.path} is left out: {skip.detail or skip.reason}")
    reason = made.without_vectors
    if reason is not None:
        text = f"without vectors ({reason.text}): compares keywords only"
        command.terminal.say(sentence(reason._replace(text=text)))


def _verify(options: Options, command: CommandContext) -> int:
    checked = compact.check_compaction(command.workspace)
    faults = (*checked.unread, *checked.problems)
    reworded = [(s.path, line) for s in checked.summaries if s.is_valid for line in s.reworded]
    if options.json:
        _write(
            command,
            action="verify",
            summaries=[_described(summary.path, summary.lineage) for summary in checked.summaries],
            problems=[problem._asdict() for problem in faults],
            **({"unchecked": [{"path": p, "detail": d} for p, d in reworded]} if reworded else {}),
        )
    else:
        for problem in faults:
            where = command.terminal.safe_line(problem.path)
            detail = command.terminal.safe_line(problem.detail)
            command.terminal.write(f"{problem.kind.replace('_', ' '):<11} {where}: {detail}\n")
        for path, line in reworded:
            text = f"{path}: {line.removeprefix('- ')}"
            command.terminal.write(f"unchecked   {command.terminal.safe_line(text)}\n")
        failed = len({problem.path for problem in checked.problems})  # one may have several
        command.terminal.say(_verdict(len(checked.summaries), failed, len(checked.unread)))
        if reworded:
            command.terminal.say(  # only a reader can check them
                f"{counted(len(reworded), 'line is', 'lines are')} in a program's own words and"
                " cannot be checked word for word; names, numbers and negations agree with the"
                " cited lines."
            )
    return ExitCode.NEGATIVE if faults else ExitCode.OK


def _verdict(summaries: int, failed: int, unread: int) -> str:
    checked = counted(summaries, "summary", "summaries")
    if not summaries:
        return "There are no summaries to check."
    if not failed + unread:
        return f"Checked {checked}: every line is unchanged."
    does = counted(failed, "is not valid; its", "are not valid; their")
    parts = [f"{does} lines are searched raw"] * (failed > 0)
    parts += [f"{unread} could not be read"] * (unread > 0)
    return f"Checked {checked}: {', '.join(parts)}."


def _undo(options: Options, command: CommandContext) -> int:
    undone = compact.undo_compaction(command.workspace)
    if options.json:
        _write(
            command,
            action="undo",
            summaries=[_described(summary.path, summary.lineage) for summary in undone.removed],
            problems=[
                *(
                    {"path": summary.path, "kind": "edited", "detail": "left as it is"}
                    for summary in undone.edited
                ),
                *(problem._asdict() for problem in undone.unread),
            ],
        )
    else:
        for summary in undone.removed:
            command.terminal.write(f"removed  {command.terminal.safe_line(summary.path)}\n")
        for summary in undone.edited:
            command.terminal.warn(f"{summary.path} was edited and is left as it is")
        for problem in undone.unread:
            command.terminal.warn(f"{problem.path} cannot be read and stays: {problem.detail}")
        if undone.is_empty:
            command.terminal.say("There is nothing to undo.")
    return ExitCode.NEGATIVE if undone.edited or undone.unread else ExitCode.OK


def _tell(
    plan: CompactionPlan, options: Options, command: CommandContext, *, recall: SummaryRecall | None
) -> None:
    terminal, (questions, answered) = command.terminal, suggested(plan)
    if options.json:
        _write(
            command,
            action="apply" if options.apply else "plan",
            entries=len(plan.entries),
            tail=len(plan.tail),
            waiting=len(plan.waiting),
            ratio={"target": command.config("compact.ratio"), "reached": plan.ratio},
            suggested={"questions": questions, "answered": answered},
            summaries=[_drafted(draft, has_text=options.show) for draft in plan.drafts],
            declined=[{"sources": [_lines(s) for s in d.sources], "tokens": d.tokens,
                       "reason": d.reason} for d in plan.declined],
            **({"recall": recall.as_record()} if recall else {}),
        )  # fmt: skip
        return
    for draft in plan.drafts:
        lineage, mode = draft.lineage, _mode(draft)
        items = ("entry", "entries") if lineage.level == 1 else ("summary", "summaries")
        how = "" if mode == NORMAL else f", {mode}, confidence {lineage.confidence:.2f}"
        terminal.write_line(
            f"{'wrote' if options.apply else 'would write'}  {terminal.safe_line(draft.path)}"
            f"  {lineage.source_tokens} -> {lineage.summary_tokens} tokens,"
            f" {counted(draft.items, *items)}{how}"
            f"{f'; {draft.unused}' if draft.unused else ''}"
            f"{f'; {draft.invented} invented lines dropped' if draft.invented else ''}"
        )
        if options.show:
            terminal.write(terminal.safe(draft.body) + "\n")
        elif not options.apply:
            for row in _diff(draft):
                terminal.write_line(f"  {terminal.safe_line(row)}")
    for declined in plan.declined:
        ends = dict.fromkeys((declined.sources[0].path, declined.sources[-1].path))
        where = terminal.safe_line(" to ".join(ends))
        terminal.write_line(f"declined  {where}: {declined.reason}")
    if plan.drafts:
        terminal.say(
            f"memcli drafted {questions} questions from these logs. The summaries answer {answered}"
            " of them. For the others, search --expand prints the source lines."
        )
    text = _outcome(plan, command, written=options.apply)
    if plan.drafts and options.apply:
        terminal.say(f"{text}. To undo: {_next_line(options)}")
    else:
        hint = _next_line(options) if plan.drafts else ""
        terminal.say(sentence(Reason("planned", text, hint)) + ("" if hint else "."))
    if recall:
        terminal.say(_recall_text(recall))


def _drafted(draft: SummaryDraft, *, has_text: bool) -> dict[str, Any]:
    items = "entries" if draft.lineage.level == 1 else "summaries"
    return {
        **_described(draft.path, draft.lineage),
        "mode": _mode(draft),
        items: draft.items,
        **({"unused": draft.unused} if draft.unused else {}),
        **({"invented": draft.invented} if draft.invented else {}),
        **({"text": draft.text} if has_text else {}),
    }


def _next_line(options: Options) -> str:
    """Return the command that writes the plan or reverts it.

    It repeats the options that changed the plan.
    """
    from shlex import join  # people paste hints

    if options.apply:
        return join(("memcli", "compact", "--undo", *words_of(options, (rows.ONE_WORKSPACE,))))
    return join(("memcli", "compact", "--apply", *words_of(options, _REPEATED)))


def _mode(draft: SummaryDraft) -> str:
    """Name what wrote a summary; NORMAL if it quotes the logs."""
    return draft.lineage.method if draft.lineage.method in WORDED else NORMAL


def _diff(draft: SummaryDraft) -> list[str]:
    """List what a summary keeps (+) and leaves out (-), in the order of the logs."""
    cites = [(cite, cited_name(cite.path)) for _, cite in cited_lines(draft.body)]
    added = [(c.path, c.first, "+", f"{c.text} ({name}:{lines_of(c.first, c.last)})")
             for c, name in cites]  # fmt: skip
    left = [(s.path, s.first, "-", f"{s.shown} ({s.citation})") for s in draft.omitted]
    days = {source.path: at for at, source in enumerate(draft.lineage.sources)}
    rows = sorted((*added, *left), key=lambda row: (days.get(row[0], -1), row[1]))
    lines = [f"{sign} {text}" for _, _, sign, text in rows]
    rest = len(lines) - MOST_ROWS
    if rest < 2:
        return lines
    return [*lines[:MOST_ROWS], f"... {rest} more lines. --show prints the summary"]


def _recall_text(recall: SummaryRecall) -> str:
    """Return the recall that summaries keep, and the tokens that they save."""
    questions = counted(recall.questions, "question finds", "questions find")
    price = f", {recall.per_thousand:.3f} for every 1000 saved" if recall.per_thousand else ""
    return (
        f"Your {questions} {recall.ratio:.3f} of what the logs find"
        f" ({recall.recall_active:.3f} of {recall.recall_raw:.3f}), with {recall.tokens_active}"
        f" tokens instead of {recall.tokens_raw}{price}."
    )


def _outcome(plan: CompactionPlan, command: CommandContext, *, written: bool) -> str:
    """Return what happens to the entries, and why the rest stay as they are."""
    cluster, ratio = command.config("compact.cluster"), command.config("compact.ratio")
    tail, waiting = len(plan.tail), len(plan.waiting)
    if not plan.entries:
        return "Nothing to compact: there are no dated logs"
    rest = [f"{waiting} {'waits' if waiting == 1 else 'wait'} until there are {cluster}"]
    newest = "the newest one stays as it is" if tail == 1 else f"the newest {tail} stay as they are"
    rest = [*rest * (waiting > 0), *[newest] * (tail > 0)]
    remaining = ", and ".join(rest)
    if plan.drafts:
        before, after = plan.tokens
        entries = sum(d.items for d in plan.drafts if d.lineage.level == 1)
        done = "are now summarised by" if written else "would be summarised by"
        what = counted(entries, "entry", "entries") if entries else "summaries"
        made = f"{what} {done} {counted(len(plan.drafts), 'summary', 'summaries')}"
        share = f"{before} -> {after} tokens ({plan.ratio:.0%}, compact.ratio asks for {ratio:.0%}"
        is_long = after > (ratio + 0.005) * before
        share += ": rules, decisions and a line of each log stay)" if is_long else ")"
        return f"{made}, {share}" + (f"; {remaining}" if remaining else "")
    if tail == len(plan.entries):
        if tail == 1:
            return "Nothing to compact: there is one entry, and it stays as it is"
        return (
            f"Nothing to compact: all {tail} entries are among the newest, which stay as they are"
            " (--tail-days, --tail)"
        )
    if plan.declined:
        each = "and each further" if plan.covered else "each"
        remaining = (
            f"{each} summary would save less than {1 - max(WORTH, ratio):.0%} of its tokens,"
            " because these logs consist of facts and decisions"
        )
    covered = f"summaries already cover {counted(plan.covered, 'entry', 'entries')}"
    remaining = ", ".join([*[covered] * (plan.covered > 0), *[remaining] * bool(remaining)])
    return f"Nothing to compact{f': {remaining}' if remaining else ''}"


def _described(path: str, lineage: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "path": path,
        "earliest": lineage.earliest,
        "latest": lineage.latest,
        "level": lineage.level,
        "method": lineage.method,
        "confidence": lineage.confidence,
        "tokens": {"sources": lineage.source_tokens, "summary": lineage.summary_tokens},
        "parents": list(lineage.parents),
        "sources": [_lines(source) for source in lineage.sources],
    }


def _lines(source: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"path": source.path, "start_line": source.start_line, "end_line": source.end_line}


def _write(command: CommandContext, **fields: object) -> None:
    record = {"schema": "memcli.compact/1", "workspace": command.config.workspace, **fields}
    command.terminal.write_json(record)
