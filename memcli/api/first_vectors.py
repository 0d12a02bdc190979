"""Embed the best keyword matches of a question in a folder that is not embedded yet.

The vectors are stored, so the next questions and the next run of `memcli index` find them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import zip_longest

from memcli.checking import TYPE_CHECKING
from memcli.errors import BusyError, RetrieverError
from memcli.indexing.indexer import readable_of, text_of
from memcli.search.retrievers import BEST_MATCHES
from memcli.store.records import Scope
from memcli.system import cores
from memcli.threads import in_order

if TYPE_CHECKING:
    from memcli.api.workspace import Workspace
    from memcli.embedding.encoders import IndexModel
    from memcli.search.query import ParsedQuery
    from memcli.store.port import Snapshot
    from memcli.store.run_records import Pending
    from memcli.types import Encoder, Filters

SEGMENTS = 50  # per chunk, at most
SECONDS = 0.15  # for embedding


def embed_matches(
    workspace: Workspace,
    snapshot: Snapshot,
    query: ParsedQuery,
    filters: Filters,
    index: IndexModel,
) -> None:
    """Embed the most likely segment of each of the best keyword matches, then the second ones.

    Nothing happens if the model is on a server, or while another process writes the index.
    """
    matches = snapshot.by_keyword(query.term_query, BEST_MATCHES, Scope(filters))
    encoder = workspace.query_encoder.encoder(index) if matches else None
    if encoder is None:
        return
    fingerprint, clock = encoder.fingerprint, workspace.clock
    with suppress(BusyError), workspace.store.change(wait_seconds=0.0, sleep=clock.sleep) as change:
        if change.facts.fingerprint not in (None, fingerprint):
            return
        texts = _in_turn(
            _likeliest(
                readable_of(
                    change.pending(fingerprint, SEGMENTS, within=[ranked.chunk_id]), fingerprint
                ),
                query,
            )
            for ranked in matches
        )
        if texts:
            threads = cores(workspace.config("embedding.threads"))
            made = _made(encoder, texts, threads, clock.monotonic() + SECONDS, clock.monotonic)
            change.put_vectors(fingerprint, made)
            change.search_by(fingerprint, encoder.dimension)


def _in_turn(lists: Iterable[Sequence[Pending]]) -> list[Pending]:
    """Take the first text of each list, then the second of each, and so on; each text once."""
    turns = zip_longest(*lists)
    return list({item.hash: item for turn in turns for item in turn if item}.values())


def _likeliest(waiting: Sequence[Pending], query: ParsedQuery) -> list[Pending]:
    """Put the texts with most words of the query first."""
    words = {term.text.casefold() for term in query.counted_terms}

    def matches(item: Pending) -> int:
        text = item.text.casefold()
        return sum(word in text for word in words)

    return sorted(waiting, key=matches, reverse=True)


def _made(
    encoder: Encoder,
    texts: Sequence[Pending],
    threads: int,
    end: float,
    monotonic: Callable[[], float],
) -> list[tuple[bytes, bytes]]:
    """Embed until the time is up; return each vector with the hash of its text."""

    def embed(item: Pending) -> tuple[bytes, bytes] | None:
        if monotonic() >= end:
            return None
        with suppress(RetrieverError):  # another question may have closed the model
            return item.hash, encoder.encode([text_of(item)])[0]
        return None

    return [pair for pair in in_order(embed, texts, threads, ahead=threads) if pair is not None]
