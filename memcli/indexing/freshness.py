"""Bring the index in step before a search, as far as that costs next to nothing.

A search walks and stats the tree, takes the writer lock only if it is free at once, and brings
in a bounded number of files and texts: counts, not time, so that answers are reproducible.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from memcli.errors import BusyError, IndexMissingError, StoreError
from memcli.indexing.indexer import Plan, Settings, apply, embed, index, plan, settings_meta
from memcli.indexing.lock import writer_lock
from memcli.store.driver import DamagedError
from memcli.store.reader import Reader
from memcli.store.schema import IncompleteError
from memcli.types import Encoder

SETTLE_PAGES = 250  # of the keyword index: 10 to 20 ms
CHANGED_SETTINGS = "settings that the whole index depends on have changed. Try: memcli index"


class Bounds(NamedTuple):
    """How much a search may do for the index."""

    files: int
    parts: int
    first: int
    wait_seconds: float  # 0: only if the lock is free at once


class Freshness(NamedTuple):
    """How far the index is behind the files as the answer is made."""

    state: str  # fresh | stale | not_indexed | empty
    pending: int  # files added, changed or removed that the answer does not know
    reason: str  # why they are pending
    notices: tuple[str, ...]


def freshen(
    store: str,
    settings: Settings,
    bounds: Bounds,
    open_encoder: Callable[[], Encoder | None],
    sleep: Callable[[float], None],
) -> Freshness:
    """Bring the index in step within bounds; `open_encoder` is called only when texts wait."""
    first = not os.path.exists(store)
    if first:
        planned = plan(settings, {})
        files = len(planned.listing.files)
        if files == 0:
            return Freshness("empty", 0, "", _unlisted(planned))
        if files > bounds.first:
            raise IndexMissingError(
                f"{files} files are not indexed yet, too many for a search to do in passing",
                hint="memcli index",
            )
    else:
        try:
            planned, again = _look(store, settings)
        except (DamagedError, IncompleteError):
            planned, again, first = plan(settings, {}), False, True
        if again and len(planned.listing.files) > bounds.first:
            return Freshness("stale", _behind(planned), CHANGED_SETTINGS, _unlisted(planned))
        if not _behind(planned) and not again:
            empty = not planned.listing.files and not planned.listing.unlisted
            return Freshness("empty" if empty else "fresh", 0, "", _unlisted(planned))
    try:
        with writer_lock(store, wait_seconds=bounds.wait_seconds, sleep=sleep):
            return _bring_in(store, settings, bounds, open_encoder, whole=first or again)
    except (BusyError, StoreError) as error:
        if first:
            raise
        return Freshness("stale", _behind(planned), error.message, _unlisted(planned))


def look(store: str, settings: Settings) -> Freshness:
    """Say how far the index is behind without changing anything."""
    if not os.path.exists(store):
        raise IndexMissingError(f"there is no index at {store}", hint="memcli index")
    planned, again = _look(store, settings)
    behind = _behind(planned)
    if again:
        return Freshness("stale", behind, CHANGED_SETTINGS, _unlisted(planned))
    state = "stale" if behind else "fresh" if planned.listing.files else "empty"
    return Freshness(state, behind, "not synced" if behind else "", _unlisted(planned))


def _look(store: str, settings: Settings) -> tuple[Plan, bool]:
    """Compare the files, and the settings that every stored document depends on."""
    reader = Reader(store)
    try:
        wanted = settings_meta(settings)
        again = any(reader.meta(key) != value for key, value in wanted.items())
        return plan(settings, reader.known()), again
    finally:
        reader.close()


def _bring_in(
    store: str,
    settings: Settings,
    bounds: Bounds,
    open_encoder: Callable[[], Encoder | None],
    *,
    whole: bool,
) -> Freshness:
    from memcli.store.writer import Writer

    writer, notice = Writer.open(store)
    try:
        notices = [notice] if notice else []
        if whole or notice:
            report = index(writer, settings)
            notices += report.notices
        else:
            known = writer.known()
            planned = plan(settings, known)
            report = apply(writer, settings, planned, known, most=bounds.files)
            writer.settle(SETTLE_PAGES)
        if bounds.parts and (report.added or report.changed or report.moved):
            encoder = open_encoder()
            if encoder is not None:
                embed(writer, encoder, most=bounds.parts)
    finally:
        writer.close()
    reason = f"more than {bounds.files} files have changed" if report.deferred else ""
    state = "stale" if report.deferred else "fresh"
    notices += [f"{skip.path or '.'}: {skip.detail}" for skip in report.unlisted]
    return Freshness(state, report.deferred, reason, tuple(notices))


def _behind(planned: Plan) -> int:
    return len(planned.diff.added) + len(planned.diff.suspect) + len(planned.diff.removed)


def _unlisted(planned: Plan) -> tuple[str, ...]:
    return tuple(f"{skip.path or '.'}: {skip.detail}" for skip in planned.listing.unlisted)
