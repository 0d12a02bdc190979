"""`memcli bench`: measure search on judged questions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from memcli.cli import options
from memcli.cli.context import Context, Shared, make_context
from memcli.errors import ExitCode, UsageError
from memcli.types import Filters, Skip

if TYPE_CHECKING:
    from memcli.bench.metrics import LineCosts
    from memcli.bench.quality import Query
    from memcli.search.hits import Hit

app = typer.Typer(rich_markup_mode=None)
RUN_DEPTH = 100
LINE_END_TOKENS = 0.25  # one more character a line


@app.callback()
def group() -> None:
    """Measure how well search finds things, on your own questions."""


@app.command()
def quality(
    queries: Annotated[str, typer.Argument(metavar="QUERIES.jsonl", help="Judged questions.")],
    run_file: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--run", metavar="OUT.jsonl", help="Write the passages, 100 a query."),
    ] = None,
    mode: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="MODE", help="hybrid, lexical or dense."),
    ] = None,
    fusion: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="HOW", help="scaled, weighted or rrf."),
    ] = None,
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Ask every question through the pipeline of `search` and score the passages.

    Examples: memcli bench quality questions.jsonl      memcli bench quality q.jsonl --json
    """
    shared = Shared(workspace, quiet, verbose, color, now)
    flags = {"search.mode": mode, "search.fusion": fusion, "search.limit": RUN_DEPTH}
    return run(queries, run_file, make_context(shared, flags), as_json=as_json)


def run(queries_file: str, run_file: str | None, context: Context, *, as_json: bool) -> int:
    """Sync, ask, score, report."""
    from memcli.bench import quality as bench
    from memcli.render.jsonio import dumps

    try:
        with open(queries_file, encoding="utf-8") as file:
            queries = bench.read_queries(file, queries_file)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(
            f"{queries_file} cannot be read: {why}", hint="memcli bench quality --help"
        ) from None
    hits = _Searcher(context)
    try:
        asked = bench.ask(queries, hits, _line_costs(context))
    finally:
        hits.close()
    if run_file is not None:
        with open(run_file, "w", encoding="utf-8") as out:
            out.writelines(dumps(bench.run_line(each)) + "\n" for each in asked)
    summaries = bench.summary(asked)
    if as_json:
        record = {"schema": "memcli.bench-quality/1", "categories": summaries}
        context.terminal.write(dumps(record) + "\n")
    else:
        context.terminal.write(bench.table(summaries))
    return ExitCode.OK


class _Searcher:
    """The search pipeline on one open store and one open encoder."""

    def __init__(self, context: Context) -> None:
        from memcli.indexing.freshness import look
        from memcli.search.pipeline import options_of
        from memcli.store.reader import Reader

        freshness = look(context.store, context.index_settings())
        if freshness.state == "stale":
            context.terminal.warn(
                f"{freshness.pending} changed files are not in the index. Try: memcli index"
            )
        self._context = context
        self._options = options_of(context.config, filters=Filters())
        self._encoder = None if self._options.mode == "lexical" else context.open_encoder()
        self._reader = Reader(context.store)

    def __call__(self, query: Query) -> Sequence[Hit]:
        from memcli.embedding.script import fertility
        from memcli.embedding.wordpiece import SPECIAL_TOKENS
        from memcli.search.dates import find_dates
        from memcli.search.pipeline import Vector, search
        from memcli.search.query import parse
        from memcli.workspace.dating import age_days

        today = date.fromisoformat(query.date[:10]) if query.date else self._context.today
        spans = find_dates(query.text, today)
        parsed = parse(query.text, soft=[(s.at, s.at + len(s.text)) for s in spans])
        if parsed.is_empty:
            return ()

        def embed() -> Vector:
            if self._encoder is None or self._encoder.encoder is None:
                reason = self._encoder.reason if self._encoder else ""
                return Vector(None, "", reason, 1.0)
            encoder = self._encoder.encoder
            cut = fertility(encoder.count(parsed.text) - SPECIAL_TOKENS, parsed.text)
            return Vector(encoder.encode_query(parsed.text), encoder.fingerprint, "", cut)

        answer = search(
            self._reader,
            parsed,
            spans,
            self._options,
            embed_query=embed,
            age_days=lambda day: age_days(day, today.isoformat()),
        )
        return answer.hits

    def close(self) -> None:
        self._reader.close()


def _line_costs(context: Context) -> LineCosts:
    from memcli.markdown.tokens import quotient
    from memcli.workspace.reading import read_file

    costs: dict[str, list[float]] = {}

    def of(path: str) -> Sequence[float]:
        if path not in costs:
            costs[path] = []
            for source in context.config.sources:
                if not os.path.isfile(os.path.join(source.root, path)):
                    continue
                file = read_file(
                    source.root,
                    path,
                    source=source.name,
                    max_bytes=context.config("files.max_bytes"),
                )
                if not isinstance(file, Skip):
                    lines = file.text.split("\n")
                    costs[path] = [quotient(line) + LINE_END_TOKENS for line in lines]
                    break
        return costs[path]

    return of
