"""Bring the index in step before a search, as far as that costs next to nothing.

A search walks and stats the tree, takes the writer lock only if it is free at once, and brings
in a bounded number of files and texts: counts, not time, so that answers are reproducible.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from memcli.errors import BusyError, IndexMissingError, LegMissingError, StoreError
from memcli.indexing.planning import Plan, Settings, plan, read, settings_meta
from memcli.store.sqlite.driver import DamagedError
from memcli.store.sqlite.lock import writer_lock
from memcli.store.sqlite.reader import Reader
from memcli.store.sqlite.schema import IncompleteError
from memcli.types import Encoder, FileText, Known, Listing, Skip, shown

if TYPE_CHECKING:
    from memcli.indexing.indexer import Report

NOTICES = 5  # files and folders that are named; the rest is counted
LOOKED_AT = 400  # files hashed at most: 20 to 50 ms
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
            return _state(planned, False)
        if files > bounds.first:
            raise IndexMissingError(
                f"{files} files are not indexed yet, too many for a search to do in passing",
                hint="memcli index",
            )
    else:
        try:
            planned, again, _ = _look(store, settings)
        except (DamagedError, IncompleteError):
            planned, again, first = plan(settings, {}), False, True
        if again and len(planned.listing.files) > bounds.first:
            return _state(planned, again)
        if not _behind(planned) and not again:
            return _state(planned, again)
    try:
        with writer_lock(store, wait_seconds=bounds.wait_seconds, sleep=sleep):
            return _bring_in(store, settings, bounds, open_encoder, whole=first or again)
    except (BusyError, StoreError) as error:
        if first and isinstance(error, StoreError):
            raise
        return _as_it_is(store, settings, len(planned.listing.files), error.message)


def _as_it_is(store: str, settings: Settings, files: int, reason: str) -> Freshness:
    """Let what there is answer; somebody else may be building the first index just now."""
    try:
        found = look(store, settings)
    except (IndexMissingError, IncompleteError):
        return Freshness("not_indexed", files, reason, ())
    return found._replace(reason=reason) if found.pending else found


def look(store: str, settings: Settings) -> Freshness:
    """Say how far the index is behind without changing anything."""
    if not os.path.exists(store):
        raise IndexMissingError(f"there is no index at {store}", hint="memcli index")
    planned, again, known = _look(store, settings)
    return _state(settled(planned, known, settings), again)


def _look(store: str, settings: Settings) -> tuple[Plan, bool, Mapping[tuple[str, str], Known]]:
    """Compare the files, and the settings that every stored document depends on."""
    reader = Reader(store)
    try:
        wanted = settings_meta(settings)
        again = any(reader.meta(key) != value for key, value in wanted.items())
        known = reader.known()
        return plan(settings, known, reader.meta("mounts")), again, known
    finally:
        reader.close()


def _state(planned: Plan, again: bool) -> Freshness:
    behind, unseen = _behind(planned), _unseen(planned.listing)
    if again:
        return Freshness("stale", behind, CHANGED_SETTINGS, unseen)
    if behind:
        return Freshness("stale", behind, "not synced", unseen)
    empty = not planned.listing.files and not planned.listing.unlisted
    return Freshness("empty" if empty else "fresh", 0, "", unseen)


def settled(planned: Plan, known: Mapping[tuple[str, str], Known], settings: Settings) -> Plan:
    """Hash the files whose stat proves nothing: those with the same bytes have not changed.

    Beyond some hundred the rest stays suspect. What cannot be read is moved to the skips.
    """
    if not planned.diff.suspect:
        return planned
    changed, unread, same = [], [], 0
    for at, stat in enumerate(planned.diff.suspect):
        file = read(settings, stat.source, stat.path) if at < LOOKED_AT else None
        if isinstance(file, Skip) and file.reason == "unreadable":
            unread.append(file)
        elif file is not None and _hash(file) == known[stat.source, stat.path].hash:
            same += 1
        else:
            changed.append(stat)
    unchanged = planned.diff.unchanged + same
    return planned._replace(
        listing=planned.listing._replace(skips=(*planned.listing.skips, *unread)),
        diff=planned.diff._replace(suspect=tuple(changed), unchanged=unchanged),
    )


def _hash(file: FileText | Skip) -> bytes:
    return b"" if isinstance(file, Skip) else file.hash


def _bring_in(
    store: str,
    settings: Settings,
    bounds: Bounds,
    open_encoder: Callable[[], Encoder | None],
    *,
    whole: bool,
) -> Freshness:
    from memcli.indexing.indexer import apply, embed, index
    from memcli.store.sqlite.writer import Writer

    writer, notice = Writer.open(store)
    try:
        notices = [notice] if notice else []
        if whole or notice:
            report = index(writer, settings)
            notices += report.notices
        else:
            known = writer.known()
            planned = plan(settings, known, writer.meta("mounts"))
            report = apply(writer, settings, planned, known, most=bounds.files)
            writer.settle(SETTLE_PAGES)
        if bounds.parts and (report.added or report.changed or report.moved):
            encoder = open_encoder()
            if encoder is not None:
                try:
                    embed(writer, encoder, most=bounds.parts)
                except LegMissingError as error:
                    notices.append(f"new texts have no vector yet: {error.message}")
    finally:
        writer.close()
    reason = f"more than {bounds.files} files have changed" if report.deferred else ""
    state = "stale" if report.deferred else "fresh"
    return Freshness(state, report.deferred, reason, (*notices, *_unseen(report)))


def _behind(planned: Plan) -> int:
    found = planned.diff
    return len(found.added) + len(found.suspect) + len(found.removed)


def _unseen(found: Listing | Report) -> tuple[str, ...]:
    """Say what could not be seen: folders that were not listed, files that were not read."""
    skips = [*found.unlisted, *(skip for skip in found.skips if skip.reason == "unreadable")]
    told = [f"{shown(skip.source, skip.path or '.')}: {skip.detail}" for skip in skips[:NOTICES]]
    if len(skips) > NOTICES:
        told.append(f"{len(skips) - NOTICES} more cannot be read. Try: memcli status")
    return tuple(told)
