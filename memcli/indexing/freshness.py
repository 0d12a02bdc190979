"""Bring the index up to date before a search, within bounds.

A search lists the files and reads changed ones for some seconds; a notice names the rest. The first
reading of a folder has no such bound. If another process is doing it, a search waits for that.
Later it takes the writer lock only if it is free at once.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress

from memcli.checking import TYPE_CHECKING
from memcli.errors import (
    BusyError,
    DamagedError,
    IncompleteError,
    IndexMissingError,
    Reason,
    RetrieverError,
    StoreError,
)
from memcli.indexing.comparison import NOT_TEXT, IndexComparison, compare_index
from memcli.indexing.planning import BY_BYTES, Settings, altered, plan, settings_meta
from memcli.record import Record
from memcli.types import EMPTY, OUT_OF_DATE, UP_TO_DATE, Encoder, KnownFile, Listing, Skip, shown

if TYPE_CHECKING:
    from memcli.indexing.indexer import Progress, Report
    from memcli.store.port import Change, Store
    from memcli.store.records import Key

NOTICES = 5  # files and folders that are named; the rest is counted
LOOKED_AT = 400  # files hashed at most: 20 to 50 ms
SETTLE_PAGES = 250  # of the keyword index: 10 to 20 ms
WAIT_SECONDS = 60.0  # for another process that reads the files for the first time
SAY_AFTER_SECONDS, RETRY_SECONDS = 0.5, 0.1  # of such a wait
NOT_SYNCED = Reason("not-synced", "not synced", "memcli index")


class Bounds(Record):
    """How much a search may do for the index."""

    seconds: float  # for reading what has changed
    segments: int
    first: int
    wait_seconds: float  # 0: only if the lock is free at once
    monotonic: Callable[[], float]  # the clock that counts the seconds


class Freshness(Record):
    """How far the index is out of date when the answer is made."""

    state: str  # one of `memcli.types`: up_to_date, out_of_date, …
    pending: int  # files added, changed, moved or removed that the answer does not know
    reason: Reason | None  # why it is out of date
    notices: tuple[Reason, ...]
    workspaces: tuple[Freshness, ...] = ()  # one per workspace, if there are several
    missing: str = ""  # the pending files by kind and name, as `notices.missing_files` writes it
    name: str = ""  # this and the next two: of one of several workspaces
    folder: str = ""
    is_own: bool = False  # it belongs to the workspace that asks

    @property
    def json_omits(self) -> tuple[str, ...]:
        """Return the fields that JSON of only one workspace does not have."""
        return () if self.name else ("name", "folder", "is_own")

    @property
    def is_whole(self) -> bool:
        """Return whether every file was searched, as far as it is text."""
        codes = ("incomplete", "unread", "unlisted")
        return not self.pending and not any(each.code in codes for each in self.notices)


def freshen(
    store: Store,
    settings: Settings,
    bounds: Bounds,
    open_encoder: Callable[[], Encoder | None],
    sleep: Callable[[float], None],
    *,
    on_progress: Progress = lambda stage, done, total: None,
) -> Freshness:
    """Bring the index up to date within bounds; `open_encoder` is called only when texts wait.

    `on_progress` learns of files, of vectors, and of a wait for another process. BusyError if that
    takes too long and the index contains nothing yet.
    """
    notices: list[Reason] = []
    while True:
        comparison, unembedded = _beginning(store, settings, bounds)
        waited = 0.0
        if not comparison.is_read:
            if not comparison.is_indexed and comparison.state == EMPTY:
                return _freshness(comparison)
            if obstacle := _obstacle(comparison, bounds):
                return _without(store, settings, obstacle)
            if waited := _wait(store, sleep, on_progress):
                comparison, unembedded = _beginning(store, settings, bounds)
        if comparison.is_read and comparison.state != OUT_OF_DATE:
            _fold(store, sleep)
            state, has_new = _freshness(comparison), False
            break
        if comparison.changes.settings and len(comparison.listing.files) > bounds.first:
            return look(store, settings)
        try:
            with store.change(wait_seconds=bounds.wait_seconds, sleep=sleep) as change:
                from memcli.indexing.progress import published_progress

                show = published_progress(store, bounds.monotonic, on_progress)
                is_whole = not comparison.is_read
                state, has_new = _bring_in(change, settings, bounds, show, whole=is_whole)
        except (BusyError, StoreError) as error:
            is_lost = isinstance(error, StoreError) or waited >= WAIT_SECONDS
            if comparison.is_read or is_lost:
                return _without(store, settings, error)
            sleep(RETRY_SECONDS)  # another process came between
        else:
            notices += [Reason("store", notice) for notice in change.notices]
            break
    if bounds.segments and (has_new or 0 < unembedded <= bounds.segments):
        notices += _embed(store, bounds, open_encoder, sleep, on_progress)
    return state._replace(notices=(*notices, *state.notices))


def _beginning(store: Store, settings: Settings, bounds: Bounds) -> tuple[IndexComparison, int]:
    """Compare the index with the files, and count the texts that wait if any may be embedded."""
    if store.exists():
        with suppress(DamagedError, IncompleteError), store.snapshot() as snapshot:
            comparison = compare_index(snapshot, settings, most=0)
            counts = snapshot.counts() if bounds.segments else None
            return comparison, counts.embeddable - counts.embedded if counts else 0
    return compare_index(None, settings, most=0), 0


def _fold(store: Store, sleep: Callable[[float], None]) -> None:
    """Remove deleted text that an open reader preserved in the store, if the lock is free."""
    if store.has_deleted_text():
        with suppress(BusyError, StoreError), store.change(wait_seconds=0.0, sleep=sleep):
            pass


def _wait(store: Store, sleep: Callable[[float], None], on_progress: Progress) -> float:
    """Wait while another process reads the files for the first time; return the seconds."""
    from memcli.store.lock import owner

    waited = 0.0
    while waited < WAIT_SECONDS and (writer := owner(store.state_path)) and not _is_read(store):
        if waited >= SAY_AFTER_SECONDS:
            on_progress("waiting", *(writer.work[1:3] if writer.work else (0, 0)))
        sleep(RETRY_SECONDS)
        waited += RETRY_SECONDS
    return waited


def _is_read(store: Store) -> bool:
    if store.exists():
        with suppress(DamagedError, IncompleteError), store.snapshot() as snapshot:
            return snapshot.facts.mounts is not None
    return False


def _obstacle(comparison: IndexComparison, bounds: Bounds) -> IndexMissingError | None:
    """Return why a search cannot read the files for the first time."""
    unread = len(comparison.changes.added)
    if not (comparison.is_indexed or unread):
        skip = comparison.listing.unlisted[0]
        folder = shown(skip.source, skip.path or ".")
        text = f"nothing is indexed yet, and {folder} cannot be listed: {skip.detail}"
        return IndexMissingError(text, hint="memcli status")
    if unread <= bounds.first:
        return None
    text = f"{unread} files are not indexed yet, too many for a search to index on its way"
    return IndexMissingError(text, hint="memcli index")


def _without(
    store: Store, settings: Settings, error: IndexMissingError | BusyError | StoreError
) -> Freshness:
    """Answer from what the index contains and give the reason; raise if it is empty."""
    from memcli.indexing.progress import indexing
    from memcli.store.lock import owner

    work = indexing(owner(store.state_path))
    with suppress(IndexMissingError, IncompleteError):
        comparison = _stock(store, settings)
        if comparison.is_read or comparison.known:
            state = _freshness(comparison)
            return state._replace(reason=work or error.reason) if state.pending else state
    if not (work or isinstance(error, BusyError)):
        raise error
    text = f"nothing is indexed yet ({work.text if work else error.message})"
    raise BusyError(text, hint="memcli index --wait 600")


def look(store: Store, settings: Settings) -> Freshness:
    """Report how far the index is out of date without changing anything."""
    return _freshness(_stock(store, settings))


def _stock(store: Store, settings: Settings) -> IndexComparison:
    with store.snapshot() as snapshot:
        return compare_index(snapshot, settings, most=LOOKED_AT)


def _freshness(comparison: IndexComparison) -> Freshness:
    reason: Reason | None = None
    missing = ""
    if comparison.pending:
        from memcli.indexing.notices import missing_files

        reason, changes = NOT_SYNCED, comparison.changes
        moved = [each.to for each in changes.moved]
        missing = missing_files(
            new=changes.added, changed=changes.changed, moved=moved, removed=changes.removed
        )
    if comparison.changes.reindexed:
        from memcli.indexing.notices import settings_changed

        reason = settings_changed(comparison)
    skips, known = comparison.listing.skips, comparison.known
    unsearched = _incomplete(skips, known, comparison.replaced, comparison.changes.removed)
    notices = (*comparison.out_of_scope, *_unseen(comparison.listing), *unsearched)
    return Freshness(comparison.state, comparison.pending, reason, notices, missing=missing)


def _bring_in(
    change: Change, settings: Settings, bounds: Bounds, on_progress: Progress, *, whole: bool
) -> tuple[Freshness, bool]:
    """Store what differs, and return whether texts may now need a vector."""
    from memcli.indexing.indexer import apply, index
    from memcli.indexing.notices import missing_files

    notices: list[Reason] = []
    known: Mapping[Key, KnownFile] = {}
    if whole or change.notices or altered(settings, change.facts):
        report = index(change, settings, on_progress=on_progress)
        notices += [Reason("damaged", notice) for notice in report.notices]
    else:
        known = change.known()
        planned = plan(settings, known, change.facts.mounts)
        end = bounds.monotonic() + bounds.seconds
        report = apply(
            change,
            settings,
            planned,
            known,
            is_over=lambda: bounds.monotonic() >= end,
            on_progress=on_progress,
        )
        change.set_facts(settings_meta(settings), revise=False)
        change.tidy(pages=SETTLE_PAGES)
    flaws = [each for each in report.flaws if each.code != "bytes"]  # which `_incomplete` names
    notices += (*report.out_of_scope, *flaws[:NOTICES], *_unseen(report))
    notices += _incomplete(report.skips, change.known(), change.facts.replaced)
    has_new = bool(report.added or report.changed or report.moved)
    if not report.deferred:
        return Freshness(UP_TO_DATE, 0, None, tuple(notices)), has_new
    missing = missing_files(
        new=[shown(*key) for key in report.deferred if key not in known],
        changed=[shown(*key) for key in report.deferred if key in known],
    )
    seconds = f"{bounds.seconds:g} second{'' if bounds.seconds == 1 else 's'}"
    why = Reason("bounds", f"a search reads changed files for {seconds}", "memcli index")
    state = Freshness(OUT_OF_DATE, len(report.deferred), why, tuple(notices), missing=missing)
    return state, has_new


def _embed(
    store: Store,
    bounds: Bounds,
    open_encoder: Callable[[], Encoder | None],
    sleep: Callable[[float], None],
    on_progress: Progress,
) -> list[Reason]:
    """Embed the waiting texts, unless there are more than the bound.

    Vectors of them in other indexes are taken first. The lock is free while a server answers. If
    another process writes meanwhile, nothing is reported: it has embedded the texts itself.
    """
    from memcli.indexing.indexer import EMBED_BATCH, embed, readable_of, text_of

    encoder = open_encoder()
    if encoder is None:
        return []
    try:
        with store.change(wait_seconds=bounds.wait_seconds, sleep=sleep) as change:
            has_borrowed = change.borrow(encoder.fingerprint) > 0
            if change.unembedded(encoder.fingerprint) > bounds.segments:
                if has_borrowed:
                    embed(change, encoder, most=0)  # store the vectors that other indexes had
                return []
            first = change.pending(encoder.fingerprint, min(bounds.segments, EMBED_BATCH))
        texts = [text_of(item) for item in readable_of(first, encoder.fingerprint)]
        made = dict(zip(texts, encoder.encode(texts), strict=True)) if texts else {}
        with store.change(wait_seconds=bounds.wait_seconds, sleep=sleep) as change:
            embed(change, encoder, most=bounds.segments, made=made, on_progress=on_progress)
    except RetrieverError as error:
        return [error.reason._replace(text=f"new texts have no vector yet: {error.message}")]
    except BusyError:
        return []
    except StoreError as error:
        return [error.reason]
    return []


def _incomplete(
    skips: Iterable[Skip],
    known: Mapping[Key, KnownFile],
    replaced: str | None,
    removed: Container[str] = (),
) -> tuple[Reason, ...]:
    """Return a warning of files that are not searched, or not as they are."""
    unsearched = {shown(*key) for key, file in known.items() if file.hash == NOT_TEXT}
    unsearched |= {shown(skip.source, skip.path) for skip in skips if skip.reason in BY_BYTES}
    if not unsearched and replaced in (None, "[]"):
        return ()
    from memcli.indexing.notices import incomplete, names_in

    names = sorted(name for name in unsearched if name not in removed)
    mangled = [name for name in names_in(replaced) if name not in removed]
    return (incomplete(names, mangled),) if names or mangled else ()


def _unseen(listing: Listing | Report) -> tuple[Reason, ...]:
    """Return what is missing: folders that were not listed, files that were not read."""
    unread = [skip for skip in listing.skips if skip.reason == "unreadable"]
    if not (listing.unlisted or unread):
        return ()
    from memcli.indexing.notices import not_read, unlisted

    notices = [*map(unlisted, listing.unlisted), *map(not_read, unread)]
    if len(notices) > NOTICES:
        more = Reason("unread", f"{len(notices) - NOTICES} more cannot be read", "memcli status")
        return (*notices[:NOTICES], more)
    return tuple(notices)
