"""Bring the index in step before a search, as far as that costs next to nothing.

A search walks and stats the tree, takes the writer lock only if it is free at once, and brings
in a bounded number of files and texts: counts, not time, so that answers are reproducible.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from memcli.checking import TYPE_CHECKING
from memcli.errors import (
    BusyError,
    DamagedError,
    IncompleteError,
    IndexMissingError,
    LegMissingError,
    Reason,
    StoreError,
)
from memcli.indexing.look import Standing, take_stock
from memcli.indexing.planning import Settings, altered, plan, settings_meta
from memcli.record import Record
from memcli.types import Encoder, Listing, shown

if TYPE_CHECKING:
    from memcli.indexing.indexer import Progress, Report
    from memcli.store.port import Change, Store
    from memcli.store.union import StoreState

NOTICES = 5  # files and folders that are named; the rest is counted
LOOKED_AT = 400  # files hashed at most: 20 to 50 ms
SETTLE_PAGES = 250  # of the keyword index: 10 to 20 ms
NOT_SYNCED = Reason("not-synced", "not synced", "memcli index")


class Bounds(Record):
    """How much a search may do for the index."""

    files: int
    parts: int
    first: int
    wait_seconds: float  # 0: only if the lock is free at once


class Freshness(Record):
    """How far the index is behind the files as the answer is made."""

    state: str  # fresh | stale | not_indexed | empty | remote: the files are elsewhere
    pending: int  # files added, changed, moved or removed that the answer does not know
    reason: Reason | None  # why it is stale or not indexed
    notices: tuple[Reason, ...]
    stores: tuple[StoreState, ...] = ()  # each of them, where several workspaces are asked as one


def freshen(
    store: Store,
    settings: Settings,
    bounds: Bounds,
    open_encoder: Callable[[], Encoder | None],
    sleep: Callable[[float], None],
    *,
    on_progress: Progress = lambda stage, done, total: None,
) -> Freshness:
    """Bring the index in step within bounds; `open_encoder` is called only when texts wait.

    `on_progress` is told of a whole index and of vectors.
    """
    first = not store.exists()
    standing, waiting = _beginning(None if first else store, settings, bounds)
    files = len(standing.listing.files)
    if first and standing.state == "empty":
        return _freshness(standing)
    if first and files == 0:
        hidden = standing.listing.unlisted[0]
        folder = shown(hidden.source, hidden.path or ".")
        raise IndexMissingError(
            f"nothing is indexed yet, and {folder} cannot be listed: {hidden.detail}",
            hint="memcli status",
        )
    if first and files > bounds.first:
        raise IndexMissingError(
            f"{files} files are not indexed yet, too many for a search to index on its way",
            hint="memcli index",
        )
    if standing.is_indexed and standing.state != "stale":
        if store.has_unfolded():
            _fold(store, sleep)
        found = _freshness(standing)
        if 0 < waiting <= bounds.parts:
            told = _embed(store, bounds, open_encoder, sleep, on_progress)
            found = found._replace(notices=(*told, *found.notices))
        return found
    if standing.settings and files > bounds.first:
        return look(store, settings)
    try:
        with store.change(wait_seconds=bounds.wait_seconds, sleep=sleep) as change:
            is_whole = not standing.is_indexed
            found, has_new = _bring_in(change, settings, bounds, on_progress, whole=is_whole)
    except (BusyError, StoreError) as error:
        if not standing.is_indexed and isinstance(error, StoreError):
            raise
        return _as_it_is(store, settings, files, error.reason)
    notices = [Reason("store", notice) for notice in change.notices]
    if has_new and bounds.parts:
        notices += _embed(store, bounds, open_encoder, sleep, on_progress)
    return found._replace(notices=(*notices, *found.notices))


def _beginning(store: Store | None, settings: Settings, bounds: Bounds) -> tuple[Standing, int]:
    """Look where the index stands, and count the texts that wait if any may be embedded."""
    if store is not None:
        with suppress(DamagedError, IncompleteError), store.snapshot() as snapshot:
            standing = take_stock(snapshot, settings, most=0)
            counts = snapshot.counts() if bounds.parts else None
            return standing, counts.embeddable - counts.embedded if counts else 0
    return take_stock(None, settings, most=0), 0


def _fold(store: Store, sleep: Callable[[float], None]) -> None:
    """Rid the store of deleted text that a reader kept it from folding away, if it is free."""
    with suppress(BusyError, StoreError), store.change(wait_seconds=0.0, sleep=sleep):
        pass


def _as_it_is(store: Store, settings: Settings, files: int, why: Reason) -> Freshness:
    """Let what there is answer; somebody else may be building the first index just now."""
    try:
        found = look(store, settings)
    except (IndexMissingError, IncompleteError):
        reason = why._replace(text=f"nothing is indexed yet ({why.text})")
        return Freshness("not_indexed", files, reason, ())
    return found._replace(reason=why) if found.pending else found


def look(store: Store, settings: Settings) -> Freshness:
    """Say how far the index is behind without changing anything."""
    return _freshness(_stock(store, settings, most=LOOKED_AT))


def _stock(store: Store, settings: Settings, *, most: int) -> Standing:
    with store.snapshot() as snapshot:
        return take_stock(snapshot, settings, most=most)


def _freshness(standing: Standing) -> Freshness:
    reason = NOT_SYNCED if standing.pending else None
    if standing.changes.again:
        from memcli.indexing.notices import settings_changed

        reason = settings_changed(standing)
    notices = (*standing.left, *_unseen(standing.listing))
    return Freshness(standing.state, standing.pending, reason, notices)


def _bring_in(
    change: Change, settings: Settings, bounds: Bounds, on_progress: Progress, *, whole: bool
) -> tuple[Freshness, bool]:
    """Store what differs, and tell whether texts may wait for a vector now."""
    from memcli.indexing.indexer import apply, index
    from memcli.indexing.notices import replaced

    notices: list[Reason] = []
    if whole or change.notices or altered(settings, change.facts):
        report = index(change, settings, on_progress=on_progress)
        notices += [Reason("damaged", told) for told in report.notices]
    else:
        known = change.known()
        planned = plan(settings, known, change.facts.mounts)
        report = apply(change, settings, planned, known, most=bounds.files)
        change.remember(settings_meta(settings), revise=False)
        change.settle(SETTLE_PAGES)
    notices += (*report.left, *map(replaced, report.damaged[:NOTICES]), *_unseen(report))
    has_new = bool(report.added or report.changed or report.moved)
    if not report.deferred:
        return Freshness("fresh", 0, None, tuple(notices)), has_new
    why = Reason("bounds", f"more than {bounds.files} files have changed", "memcli index")
    return Freshness("stale", report.deferred, why, tuple(notices)), has_new


def _embed(
    store: Store,
    bounds: Bounds,
    open_encoder: Callable[[], Encoder | None],
    sleep: Callable[[float], None],
    on_progress: Progress,
) -> list[Reason]:
    """Embed the texts that wait, unless they are more than the bound; a part of them helps nobody.

    Nobody else waits while a server is asked. Of another writer that comes between, nothing is
    told: it has embedded what it found.
    """
    from memcli.indexing.indexer import EMBED_BATCH, embed, readable_of, text_of

    encoder = open_encoder()
    if encoder is None:
        return []
    try:
        with store.change(wait_seconds=bounds.wait_seconds, sleep=sleep) as change:
            if change.unembedded(encoder.fingerprint) > bounds.parts:
                return []
            first = change.pending(encoder.fingerprint, min(bounds.parts, EMBED_BATCH))
        texts = [text_of(item) for item in readable_of(first, encoder.fingerprint)]
        made = dict(zip(texts, encoder.encode(texts), strict=True)) if texts else {}
        with store.change(wait_seconds=bounds.wait_seconds, sleep=sleep) as change:
            embed(change, encoder, most=bounds.parts, made=made, on_progress=on_progress)
    except LegMissingError as error:
        return [error.reason._replace(text=f"new texts have no vector yet: {error.message}")]
    except BusyError:
        return []
    except StoreError as error:
        return [error.reason]
    return []


def _unseen(found: Listing | Report) -> tuple[Reason, ...]:
    """Say what was not seen: folders that were not listed, files that were not read."""
    unread = [skip for skip in found.skips if skip.reason in ("unreadable", "too-large")]
    if not (found.unlisted or unread):
        return ()
    from memcli.indexing.notices import not_read, unlisted

    told = [*map(unlisted, found.unlisted), *map(not_read, unread)]
    if len(told) > NOTICES:
        more = Reason("unread", f"{len(told) - NOTICES} more cannot be read", "memcli status")
        return (*told[:NOTICES], more)
    return tuple(told)
