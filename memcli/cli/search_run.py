"""Answer a query: bring the index in step while the query is embedded, then ask the pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memcli.cli.context import Context
from memcli.embedding.choice import Remembered
from memcli.errors import IndexMissingError, StoreError, UsageError
from memcli.indexing.freshness import Bounds, Freshness, freshen, look
from memcli.search.options import options_of
from memcli.search.pipeline import NOTHING, Answer, Observer, search, unobserved
from memcli.search.query import ParsedQuery, parse
from memcli.store.sqlite.reader import Reader
from memcli.types import Filters

if TYPE_CHECKING:
    from memcli.search.views import Expanded
    from memcli.types import Encoder

WITHOUT_BOUND = 10**9
SYNC_WAIT_SECONDS = 60.0


class Found(NamedTuple):
    """The answer to a query, and how far the index stood behind the files."""

    query: ParsedQuery
    freshness: Freshness
    answer: Answer
    expanded: tuple[Expanded, ...] = ()

    @property
    def is_unsure(self) -> bool:
        """Tell that no hit deserves trust, as far as confidence is known at all."""
        known = any(hit.confidence is not None for hit in self.answer.hits)
        return self.answer.verdict == "none" and known


def answer(
    text: str,
    context: Context,
    filters: Filters,
    *,
    budget: int | None,
    whole: bool,
    expand: bool,
    sync: bool,
    no_sync: bool,
    observe: Observer = unobserved,
) -> Found:
    """Answer `text` from the index of the context's workspace."""
    from memcli.embedding.known import is_readable
    from memcli.search.dates import find_dates
    from memcli.search.query_vector import QueryVector

    spans = find_dates(text, context.today)
    parsed = parse(text, soft=[(span.at, span.at + len(span.text)) for span in spans])
    if parsed.is_empty:
        raise UsageError("the query holds nothing to search for", hint='memcli search "some words"')
    wanted = options_of(context.config, budget=budget, whole=whole, filters=filters)
    index = remembered(context)
    vector = QueryVector(context.query_encoder, parsed.text, index)
    if wanted.mode != "lexical" and is_readable(parsed.text, index.fingerprint or wanted.encoder):
        vector.start()
    freshness = bring_in_step(context, index, wanted.mode, sync=sync, no_sync=no_sync)
    if freshness.state in ("empty", "not_indexed"):
        return Found(parsed, freshness, NOTHING)
    reader = Reader(context.store)
    try:
        if expand:
            from memcli.search.expansion import search_expanded

            found, expanded = search_expanded(
                reader,
                parsed,
                spans,
                wanted,
                tokens=context.config("expand.tokens"),
                embed_query=vector.result,
                age_days=context.age_days,
            )
        else:
            found, expanded = (
                search(
                    reader,
                    parsed,
                    spans,
                    wanted,
                    embed_query=vector.result,
                    age_days=context.age_days,
                    observe=observe,
                ),
                [],
            )
    finally:
        reader.close()
    return Found(parsed, freshness, found, tuple(expanded))


def bring_in_step(
    context: Context, index: Remembered, mode: str, *, sync: bool, no_sync: bool
) -> Freshness:
    """Bring the index in step as far as the flags and settings allow."""
    config = context.config
    if no_sync or not (config("sync.on_search") or sync):
        return look(context.store, context.index_settings())

    def encoder() -> Encoder | None:
        return None if mode == "lexical" else context.open_encoder_of(index).encoder

    bounds = Bounds(
        files=WITHOUT_BOUND if sync else config("sync.files"),
        parts=WITHOUT_BOUND if sync else config("sync.parts"),
        first=WITHOUT_BOUND if sync else config("sync.first"),
        wait_seconds=SYNC_WAIT_SECONDS if sync else 0.0,
    )
    return freshen(context.store, context.index_settings(), bounds, encoder, context.sleep)


def remembered(context: Context) -> Remembered:
    """Read which model has made the index, and its file that was verified then."""
    try:
        reader = Reader(context.store)
    except (IndexMissingError, StoreError):  # freshness says it, or mends it
        return Remembered(None, None)
    try:
        return Remembered(reader.meta("model"), reader.meta("fingerprint"))
    finally:
        reader.close()
