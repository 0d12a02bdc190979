"""Assemble a context: bring the index in step, read what is fixed, find the rest."""

from __future__ import annotations

from typing import NamedTuple

from memcli.cli.context import Context
from memcli.cli.search_run import bring_in_step, remembered
from memcli.context.assemble import Assembled, Wanted, assemble, fix
from memcli.context.retrieve import find, rank_all
from memcli.errors import UsageError
from memcli.indexing.freshness import Freshness
from memcli.search.options import options_of
from memcli.search.pipeline import Answer
from memcli.search.query import ParsedQuery, parse
from memcli.store.sqlite.context_reader import ContextReader
from memcli.types import Filters

NOTHING = Assembled((), (), "")


class Found(NamedTuple):
    """A context and what it rests on."""

    query: ParsedQuery | None
    freshness: Freshness
    answer: Answer | None  # of the query
    assembled: Assembled
    more: int  # chunks of the memory that were not ranked for lack of room
    filters: Filters
    revision: str  # of the index


def wanted_of(context: Context) -> Wanted:
    """Read how the budget is shared."""
    setting = context.config
    return Wanted(
        budget=setting("context.budget"),
        tail=setting("context.tail"),
        always_share=setting("context.always_share"),
        soft_share=setting("context.soft_share"),
        tail_share=setting("context.tail_share"),
        by_lines=setting("chunk.overlap") > 0,
    )


def make(text: str, context: Context, wanted: Wanted, *, sync: bool, no_sync: bool) -> Found:
    """Assemble the context for a question, or without one for the start of a session."""
    if not text.strip():
        return _start(context, wanted, sync=sync, no_sync=no_sync)
    from memcli.embedding.known import is_readable
    from memcli.search.dates import find_dates
    from memcli.search.query_vector import QueryVector

    spans = find_dates(text, context.today)
    parsed = parse(text, soft=[(span.at, span.at + len(span.text)) for span in spans])
    if parsed.is_empty:
        raise UsageError("the query holds nothing to search for", hint="memcli context")
    filters = Filters(view=context.config("search.view"))
    options = options_of(context.config, filters=filters)
    index = remembered(context)
    vector = QueryVector(context.query_encoder, parsed.text, index)
    if options.mode != "lexical" and is_readable(parsed.text, index.fingerprint or options.encoder):
        vector.start()
    freshness = bring_in_step(context, index, options.mode, sync=sync, no_sync=no_sync)
    if freshness.state in ("empty", "not_indexed"):
        return Found(parsed, freshness, None, NOTHING, 0, filters, "0")
    reader = ContextReader(context.store)
    try:
        with reader.snapshot():
            fixed = fix(reader.always(), reader.soft(), reader.newest(), wanted)
            answer, found = find(
                reader,
                parsed,
                spans,
                options,
                fixed,
                roots={source.name: source.root for source in context.config.sources},
                embed_query=vector.result,
                age_days=context.age_days,
            )
    finally:
        reader.close()
    assembled = assemble(fixed, found, wanted)
    return Found(parsed, freshness, answer, assembled, 0, filters, answer.revision)


def _start(context: Context, wanted: Wanted, *, sync: bool, no_sync: bool) -> Found:
    """Assemble what matters most when nothing is asked: summaries stand for their lines."""
    view = context.config("search.view")
    filters = Filters(view="active" if view == "all" else view)
    freshness = bring_in_step(context, remembered(context), "lexical", sync=sync, no_sync=no_sync)
    if freshness.state in ("empty", "not_indexed"):
        return Found(None, freshness, None, NOTHING, 0, filters, "0")
    reader = ContextReader(context.store)
    try:
        with reader.snapshot():
            fixed = fix(reader.always(), reader.soft(), reader.newest(), wanted)
            revision = reader.meta("revision") or "0"
            found, rest = rank_all(
                reader, fixed, filters, budget=wanted.budget, age_days=context.age_days
            )
    finally:
        reader.close()
    assembled = assemble(fixed, found, wanted)
    more = max(0, rest - len(found))
    return Found(None, freshness, None, assembled, more, filters, revision)
