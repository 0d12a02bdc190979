"""`memcli search`: find passages by words and meaning."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from memcli.cli import options
from memcli.cli.context import Context, Shared, make_context
from memcli.errors import ExitCode, LegMissingError, UsageError
from memcli.types import Filters

if TYPE_CHECKING:
    from memcli.indexing.freshness import Freshness
    from memcli.search.hits import Hit
    from memcli.search.pipeline import Answer
    from memcli.search.query import ParsedQuery

FORMATS = ("text", "json", "jsonl", "markdown", "paths")
Words = Optional[list[str]]  # noqa: UP045
Word = Optional[str]  # noqa: UP045


def command(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="Any text.")],
    limit: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("-n", "--limit", help="Passages shown, 1 to 100; default 10."),
    ] = None,
    form: Annotated[
        Word,
        typer.Option("-f", "--format", metavar="FORM", help="text, json, jsonl, markdown, paths."),
    ] = None,
    as_json: options.Json = False,
    full: Annotated[bool, typer.Option("--full", help="Show whole chunks.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show how scores came about.")] = False,
    since: Annotated[Word, typer.Option(metavar="DATE", help="Only records from then on.")] = None,
    until: Annotated[Word, typer.Option(metavar="DATE", help="Only records up to then.")] = None,
    on: Annotated[Word, typer.Option(metavar="DATE", help="Only records of that time.")] = None,
    undated: Annotated[bool, typer.Option(help="Keep undated records among dated.")] = False,
    path: Annotated[Words, typer.Option(metavar="GLOB", help="Only these paths.")] = None,
    source: Annotated[Words, typer.Option(metavar="NAME", help="Only these sources.")] = None,
    kind: Annotated[Words, typer.Option(metavar="KIND", help="Only these kinds.")] = None,
    scope: Annotated[Words, typer.Option(metavar="SCOPE", help="Only these scopes.")] = None,
    trust: Annotated[Words, typer.Option(metavar="TRUST", help="Only this trust.")] = None,
    heading: Annotated[Words, typer.Option(metavar="TEXT", help="Only below headings.")] = None,
    mode: Annotated[Word, typer.Option(metavar="MODE", help="hybrid, lexical or dense.")] = None,
    fusion: Annotated[Word, typer.Option(metavar="HOW", help="scaled, weighted or rrf.")] = None,
    budget: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(metavar="TOKENS", help="Stop before the passages cost more."),
    ] = None,
    min_score: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(help="Least confidence, 0 to 1; literal matches stay."),
    ] = None,
    exit_code: Annotated[
        bool, typer.Option("-e", "--exit-code", help="Exit 1 when nothing is found.")
    ] = False,
    require_dense: Annotated[
        bool, typer.Option("--require-dense", help="Exit 6 when vectors cannot take part.")
    ] = False,
    no_sync: Annotated[bool, typer.Option("--no-sync", help="Leave the index as it is.")] = False,
    sync: Annotated[bool, typer.Option("--sync", help="Bring in everything first.")] = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Find passages by words and meaning, best first.

    "a phrase", -without and prefix* are honoured; see: memcli help query-syntax

    Examples: memcli search "why did the pool run dry"      memcli search OPS-417 --json
    """
    if form is not None and form not in FORMATS:
        raise UsageError(f"--format must be one of {', '.join(FORMATS)}, not {form!r}")
    shared = Shared(workspace, quiet, verbose, color, now)
    flags = {
        "search.limit": limit,
        "search.mode": mode,
        "search.fusion": fusion,
        "search.min_score": min_score,
    }
    context = make_context(shared, flags)
    if on is not None and (since is not None or until is not None):
        raise UsageError("--on goes without --since and --until")
    filters = Filters(
        since=_bound(since or on, context, last=False),
        until=_bound(until or on, context, last=True),
        paths=tuple(path or ()),
        sources=tuple(source or ()),
        kinds=tuple(kind or ()),
        scopes=tuple(scope or ()),
        trusts=tuple(trust or ()),
        headings=tuple(heading or ()),
        undated=undated,
    )
    freshness, parsed, answer = _answer(
        " ".join(query), context, filters, budget=budget, whole=full, sync=sync, no_sync=no_sync
    )
    form = "json" if as_json else form or "text"
    _write(parsed, freshness, answer, context, form=form, full=full, explain=explain)
    if require_dense and not answer.dense.ran:
        raise LegMissingError(f"the dense leg did not run: {answer.dense.reason}")
    return ExitCode.NEGATIVE if exit_code and not answer.hits else ExitCode.OK


def _bound(text: str | None, context: Context, *, last: bool) -> str | None:
    if text is None:
        return None
    from memcli.search.dates import parse_date

    try:
        span = parse_date(text, context.today)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return span.end if last else span.start


def _answer(
    text: str,
    context: Context,
    filters: Filters,
    *,
    budget: int | None,
    whole: bool,
    sync: bool,
    no_sync: bool,
) -> tuple[Freshness, ParsedQuery, Answer]:
    from memcli.embedding.script import latin_share
    from memcli.indexing.freshness import Bounds, freshen, look
    from memcli.search.dates import find_dates
    from memcli.search.pipeline import LATIN_LIMIT, options_of, search
    from memcli.search.query import parse
    from memcli.search.query_vector import QueryVector
    from memcli.store.reader import Reader

    spans = find_dates(text, context.today)
    parsed = parse(text, soft=[(span.at, span.at + len(span.text)) for span in spans])
    if parsed.is_empty:
        raise UsageError(
            "the query holds nothing to search for", hint='memcli search "some words"'
        )
    wanted = options_of(context.config, budget=budget, whole=whole, filters=filters)
    config = context.config
    vector = QueryVector(config("embedding.encoder"), parsed.text, verified=_verified(context))
    if wanted.mode != "lexical" and latin_share(parsed.text) >= LATIN_LIMIT:
        vector.start()
    if no_sync or not (config("sync.on_search") or sync):
        freshness = look(context.store, context.index_settings())
    else:
        bounds = Bounds(
            files=10**9 if sync else config("sync.files"),
            parts=10**9 if sync else config("sync.parts"),
            first=10**9 if sync else config("sync.first"),
            wait_seconds=60.0 if sync else 0.0,
        )
        freshness = freshen(
            context.store,
            context.index_settings(),
            bounds,
            lambda: None if wanted.mode == "lexical" else context.open_encoder().encoder,
            context.sleep,
        )
    if freshness.state == "empty":
        from memcli.search.pipeline import NOTHING

        return freshness, parsed, NOTHING
    reader = Reader(context.store)
    try:
        answer = search(
            reader, parsed, spans, wanted, embed_query=vector.result, age_days=context.age_days
        )
    finally:
        reader.close()
    return freshness, parsed, answer


def _verified(context: Context) -> str | None:
    """Read which model file was verified when the index was made."""
    from memcli.store.reader import Reader

    if not os.path.exists(context.store):
        return None
    reader = Reader(context.store)
    try:
        return reader.meta("model")
    finally:
        reader.close()


def _write(
    parsed: ParsedQuery,
    freshness: Freshness,
    answer: Answer,
    context: Context,
    *,
    form: str,
    full: bool,
    explain: bool,
) -> None:
    from memcli.search.snippet import Snippet, make_snippet

    terminal = context.terminal
    words = [term.text for term in parsed.sought]

    def snippet_of(hit: Hit) -> Snippet:
        text = hit.text
        limit = len(text) if full else None
        return make_snippet(text, words=words, limit=limit)

    shown = [(rank, hit, snippet_of(hit)) for rank, hit in enumerate(answer.hits, start=1)]
    if form in ("json", "jsonl"):
        from memcli.render import jsonio

        results = [jsonio.result(r, h, s, full=full, explain=explain) for r, h, s in shown]
        if form == "jsonl":
            for record in results:
                terminal.write(jsonio.dumps(record) + "\n")
        else:
            terminal.write(
                jsonio.dumps(
                    jsonio.search_envelope(parsed.text, results, freshness, answer, context.now)
                )
                + "\n"
            )
    elif form == "paths":
        for path in dict.fromkeys(hit.candidate.path for hit in answer.hits):
            terminal.write(terminal.safe(path) + "\n")
    elif form == "markdown":
        from memcli.render.markdown import passage as markdown_passage

        for _, hit, snippet in shown:
            terminal.write(terminal.safe(markdown_passage(hit, snippet)))
    else:
        from memcli.render import text as plain

        for rank, hit, snippet in shown:
            terminal.write(
                plain.passage(rank, hit, snippet, style=terminal.style, safe=terminal.safe)
            )
            if explain:
                terminal.write(terminal.safe(plain.trace(hit.trace)))
    terminal.flush()
    _say(freshness, answer, context)


def _say(freshness: Freshness, answer: Answer, context: Context) -> None:
    """Say what the answer rests on where that is less than everything."""
    terminal = context.terminal
    for notice in freshness.notices:
        terminal.warn(notice)
    if freshness.state == "stale":
        reason = f" ({freshness.reason})" if freshness.reason else ""
        terminal.warn(
            f"{freshness.pending} changed files are not in this answer{reason}. Try: memcli index"
        )
    if freshness.state == "empty":
        return
    if not answer.dense.ran and answer.dense.reason != "mode is lexical":
        terminal.warn(f"by keywords alone: {answer.dense.reason}")
    elif answer.dense.ran and answer.dense.embedded < answer.dense.total:
        terminal.warn(
            f"{answer.dense.embedded} of {answer.dense.total} texts are embedded. "
            "Try: memcli index"
        )
    if not answer.hits:
        terminal.say("No passages found.")
    elif answer.verdict == "none":
        terminal.say("Nothing good was found; these are the nearest.")
    if answer.dropped:
        terminal.say(f"{answer.dropped} more passages did not fit the budget.")
    if terminal.verbose:
        terminal.say(
            f"{len(answer.hits)} of {answer.candidates} candidates, verdict {answer.verdict}, "
            f"index {freshness.state}, revision {answer.revision}"
        )
        if answer.unmatched:
            terminal.say("in no chunk: " + ", ".join(answer.unmatched))
