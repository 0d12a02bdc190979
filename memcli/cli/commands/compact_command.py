"""`memcli compact`: turn old logs into short summaries that lead back to every line."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Optional

import typer

from memcli.cli import options
from memcli.cli.context import Context, Shared, make_context
from memcli.config.sources import nearest
from memcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from memcli.compaction.folder import Found
    from memcli.compaction.plan import Plan
    from memcli.compaction.summaries import Problem, Summary

Count = Optional[int]  # noqa: UP045  # Typer reads the annotation at run time
Number = Optional[float]  # noqa: UP045
SUMMARIZERS = ("extractive", "command")
LOCK_SECONDS = 60.0


class Options(NamedTuple):
    """What `compact` is asked to do."""

    action: str  # plan | apply | verify | undo
    summarizer: str
    depth: int
    show: bool
    as_json: bool


def command(
    apply: Annotated[bool, typer.Option("--apply", help="Write the summaries.")] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check every summary; exit 1 if one does not hold.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Remove what the last run wrote, unless edited.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("-n", "--dry-run", help="Say what would be written; the default.")
    ] = False,
    show: Annotated[bool, typer.Option("--show", help="Print the summaries too.")] = False,
    tail: Annotated[
        Count, typer.Option(metavar="COUNT", help="Newest records that stay as they are.")
    ] = None,
    tail_tokens: Annotated[
        Count, typer.Option(metavar="TOKENS", help="Keep more of them while they fit.")
    ] = None,
    cluster: Annotated[Count, typer.Option(metavar="COUNT", help="Records a summary.")] = None,
    ratio: Annotated[
        Number, typer.Option(metavar="SHARE", help="Tokens of a summary over its lines'.")
    ] = None,
    depth: Annotated[
        int, typer.Option(metavar="LEVEL", help="2 also makes summaries of summaries.")
    ] = 1,
    summarizer: Annotated[
        str, typer.Option(metavar="HOW", help="extractive, or command: your own program.")
    ] = "extractive",
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Turn old logs into short summaries; nothing is lost.

    Without --apply nothing is written. The logs stay as they are, and so do the newest records.

    Examples: memcli compact      memcli compact --apply
    """
    asked = [name for name, on in (("apply", apply), ("verify", verify), ("undo", undo),
                                   ("plan", dry_run)) if on]  # fmt: skip
    if len(asked) > 1:
        raise UsageError(
            "--apply, --verify, --undo and --dry-run go one at a time", hint="memcli compact --help"
        )
    if summarizer not in SUMMARIZERS:
        raise UsageError(
            f"--summarizer must be one of {', '.join(SUMMARIZERS)}, not {summarizer!r}",
            hint=f"--summarizer {nearest(summarizer, SUMMARIZERS)}",
        )
    if not 1 <= depth <= 9:
        raise UsageError(f"--depth goes from 1 to 9, not {depth}", hint="memcli compact --help")
    flags = {
        "compact.tail_records": tail,
        "compact.tail_tokens": tail_tokens,
        "compact.cluster": cluster,
        "compact.ratio": ratio,
    }
    context = make_context(Shared(workspace, quiet, verbose, color, now), flags)
    action = asked[0] if asked else "plan"
    return run(Options(action, summarizer, depth, show, as_json), context)


def run(wanted: Options, context: Context) -> int:
    """Plan, and do what was asked for; what writes holds the lock of the one writer."""
    does = {"apply": _apply, "undo": _undo, "verify": _verify, "plan": _plan}
    return does[wanted.action](wanted, context)


def _plan(wanted: Options, context: Context) -> int:
    _tell(_made(_found(context), wanted, context), wanted, context, written=False)
    return ExitCode.OK


def _apply(wanted: Options, context: Context) -> int:
    """Plan without the lock, since an encoder may take its time, and write under it."""
    from memcli.compaction import folder
    from memcli.store.sqlite.lock import writer_lock

    found = _found(context)
    while True:
        plan = _made(found, wanted, context)
        with writer_lock(context.store, wait_seconds=LOCK_SECONDS, sleep=context.sleep):
            planned, found = found, _found(context)
            if found.summaries == planned.summaries:  # else another run has written meanwhile
                _refuse_unread(found)
                folder.write(context.config.workspace, plan.drafts)
                break
    _tell(plan, wanted, context, written=True)
    return ExitCode.OK


def _found(context: Context) -> Found:
    """Read logs and summaries; the index tells which folders there should be."""
    from memcli.compaction import folder
    from memcli.errors import MemcliError
    from memcli.store.sqlite.reader import Reader
    from memcli.types import Known

    known: Mapping[tuple[str, str], Known] = {}
    mounts = None
    with suppress(MemcliError):  # there need not be one
        reader = Reader(context.store)
        try:
            known, mounts = reader.known(), reader.meta("mounts")
        finally:
            reader.close()
    return folder.read(context.index_settings(), known, mounts)


def _refuse_unread(found: Found) -> None:
    """Stop before lines are summarised that a summary may hold already."""
    for skip in found.unread:
        raise UsageError(
            f"{skip.path} may hold summaries and cannot be read: {skip.detail or skip.reason};"
            " nothing is compacted",
            hint="memcli compact --verify",
        )


def _made(found: Found, wanted: Options, context: Context) -> Plan:
    """Plan a run over what was found."""
    from memcli.compaction import folder
    from memcli.compaction.command import program
    from memcli.compaction.draft import Settings
    from memcli.compaction.plan import make_plan

    _refuse_unread(found)
    for skip in found.skips:
        context.terminal.warn(f"{skip.path}: {skip.reason}; it is left out")
    config = context.config
    settings = Settings(
        tail_records=config("compact.tail_records"),
        tail_tokens=config("compact.tail_tokens"),
        cluster=config("compact.cluster"),
        ratio=config("compact.ratio"),
        context_tokens=config("compact.context_tokens"),
        depth=wanted.depth,
    )
    rewrite = program(config("compact.command")) if wanted.summarizer == "command" else None
    return make_plan(
        found.logs,
        found.summaries,
        settings,
        folder=folder.folder_of(config.workspace),
        now=context.now,
        embed=_embed(context),
        rewrite=rewrite,
    )


def _embed(context: Context) -> Any:  # noqa: ANN401
    from memcli.compaction.similarity import embedder

    opened = context.open_encoder()
    if opened.encoder is None:
        context.terminal.say(f"without vectors ({opened.reason}): by words alone")
        return None
    return embedder(opened.encoder)


def _unread(found: Found) -> list[Problem]:
    from memcli.compaction.summaries import Problem

    return [Problem(skip.path, "unread", skip.detail or skip.reason) for skip in found.unread]


def _verify(wanted: Options, context: Context) -> int:
    from memcli.compaction.summaries import problems

    read = _found(context)
    found = [*_unread(read), *problems(read.summaries)]
    if wanted.as_json:
        _write(context, action="verify", summaries=[_summary(s) for s in read.summaries],
               problems=[p._asdict() for p in found])  # fmt: skip
    else:
        for problem in found:
            where = context.terminal.safe_line(problem.path)
            detail = context.terminal.safe_line(problem.detail)
            context.terminal.write(f"{problem.kind:<9} {where}: {detail}\n")
        context.terminal.say(_verdict(len(read.summaries), len(found), len(read.unread)))
    return ExitCode.NEGATIVE if found else ExitCode.OK


def _verdict(summaries: int, problems: int, unread: int) -> str:
    checked = "1 summary" if summaries == 1 else f"{summaries} summaries"
    if not problems:
        return f"Checked {checked}: every line is as it was."
    told = [f"{problems - unread} do not hold; their lines are searched raw"] * (problems > unread)
    told += [f"{unread} could not be read"] * (unread > 0)
    return f"Checked {checked}: {', '.join(told)}."


def _undo(wanted: Options, context: Context) -> int:
    """Remove what the last run wrote, as far as it can be read."""
    from memcli.compaction import folder
    from memcli.store.sqlite.lock import writer_lock

    with writer_lock(context.store, wait_seconds=LOCK_SECONDS, sleep=context.sleep):
        found = _found(context)
        last = max((s.lineage.compacted for s in found.summaries), default="")
        run_ = [s for s in found.summaries if s.lineage.compacted == last]
        kept = [s for s in run_ if s.is_edited]
        gone = [s for s in run_ if not s.is_edited]
        folder.remove(context.config.workspace, [s.path for s in gone])
    unread = _unread(found)
    if wanted.as_json:
        _write(context, action="undo", summaries=[_summary(s) for s in gone],
               problems=[*({"path": s.path, "kind": "edited", "detail": "left as it is"}
                           for s in kept), *(p._asdict() for p in unread)])  # fmt: skip
    else:
        for summary in gone:
            context.terminal.write(f"removed  {context.terminal.safe_line(summary.path)}\n")
        for summary in kept:
            context.terminal.warn(f"{summary.path} was edited and is left as it is")
        for problem in unread:
            context.terminal.warn(f"{problem.path} cannot be read and stays: {problem.detail}")
        if not found.summaries and not unread:
            context.terminal.say("There is nothing to undo.")
    return ExitCode.NEGATIVE if kept or unread else ExitCode.OK


def _tell(plan: Plan, wanted: Options, context: Context, *, written: bool) -> None:
    terminal = context.terminal
    if wanted.as_json:
        _write(
            context,
            action="apply" if written else "plan",
            records=len(plan.records),
            tail=len(plan.tail),
            waiting=len(plan.waiting),
            summaries=[{**_described(d.path, d.lineage), "mode": d.mode, "records": d.items,
                        **({"text": d.text} if wanted.show else {})}
                       for d in plan.drafts],
            declined=[{"sources": [_lines(s) for s in d.sources], "tokens": d.tokens,
                       "reason": d.reason} for d in plan.declined],
        )  # fmt: skip
        return
    for draft in plan.drafts:
        lineage = draft.lineage
        terminal.write(
            f"{'wrote' if written else 'would write'}  {terminal.safe_line(draft.path)}"
            f"  {lineage.source_tokens} ->"
            f" {lineage.summary_tokens} tokens  {draft.items} records"
            f"  {terminal.safe_line(lineage.method)}"
            f"{'' if draft.mode in ('normal', 'command') else ', ' + draft.mode}"
            f"  confidence {lineage.confidence:.2f}\n"
        )
        if wanted.show:
            terminal.write(terminal.safe(draft.body) + "\n")
    for declined in plan.declined:
        ends = dict.fromkeys((declined.sources[0].path, declined.sources[-1].path))
        where = terminal.safe_line(" to ".join(ends))
        terminal.write(f"declined  {where}: {declined.reason}\n")
    before = sum(d.lineage.source_tokens for d in plan.drafts)
    after = sum(d.lineage.summary_tokens for d in plan.drafts)
    terminal.say(
        f"{len(plan.records)} records: {len(plan.tail)} in the tail, {len(plan.waiting)} wait for"
        f" more; {before} tokens become {after}."
        + ("" if written or not plan.drafts else " Try: memcli compact --apply")
    )


def _summary(summary: Summary) -> dict[str, Any]:
    return _described(summary.path, summary.lineage)


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


def _write(context: Context, **fields: object) -> None:
    from memcli.render.jsonio import dumps

    record = {"schema": "memcli.compact/1", "workspace": context.config.workspace, **fields}
    context.terminal.write(dumps(record) + "\n")
