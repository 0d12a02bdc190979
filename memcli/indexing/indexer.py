"""Bring the index in step with the files: list, compare, read, chunk, store, embed.

Keyword rows are committed document by document before any vector is made, so words are found
while a first index still runs. Moves and reverts embed nothing: vectors are kept by hash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memcli.checking import TYPE_CHECKING
from memcli.errors import DamagedError
from memcli.indexing.lineage import check_lineage
from memcli.indexing.planning import (
    BY_BYTES,
    Plan,
    Settings,
    changed_settings,
    make_document,
    pair_moves,
    plan,
    read,
    settings_meta,
)
from memcli.markdown.parts import embedded_again
from memcli.record import Record
from memcli.store.run_records import Pending, Stamp
from memcli.types import Diff, Encoder, FileStat, FileText, Known, Skip, shown

if TYPE_CHECKING:
    from memcli.store.port import Change

# One transaction for so many vectors: other writers wait at most a second or two.
EMBED_BATCH = 32
# Files looked at for each that may be stored: a fresh checkout looks changed and is not.
LOOKS = 20
# Texts listed at a time: each listing looks at every part.
LISTED = 4096
# Days that a vector no text uses is kept for a revert.
CACHE_DAYS = 30

Progress = Callable[[str, int, int], None]


class Report(Record):
    """What an index run did, paths sorted."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    moved: tuple[tuple[str, str], ...]
    removed: tuple[str, ...]
    unchanged: int
    skips: tuple[Skip, ...]
    unlisted: tuple[Skip, ...]
    damaged: tuple[str, ...]  # files with bytes that had to be replaced
    deferred: int  # changed files left for a later run
    notices: tuple[str, ...] = ()


def apply(
    change: Change,
    settings: Settings,
    planned: Plan,
    known: Mapping[tuple[str, str], Known],
    *,
    most: int | None = None,
    again: bool = False,
    on_progress: Progress = lambda stage, done, total: None,
) -> Report:
    """Read what was added or may have changed and store it; remove what is gone.

    `most` bounds how many files are stored; those left over are counted as deferred. `again`
    stores a file anew even where its bytes are the same.
    """
    added: dict[str, bytes] = {}
    changed: list[str] = []
    damaged: list[str] = []
    skips = list(planned.listing.skips)
    todo = [*planned.diff.added, *planned.diff.suspect]
    deferred = 0
    unchanged = planned.diff.unchanged
    for done, stat in enumerate(todo):
        if most is not None and (len(added) + len(changed) >= most or done >= most * LOOKS):
            deferred = len(todo) - done
            break
        on_progress("reading", done, len(todo))
        name, before = shown(stat.source, stat.path), known.get((stat.source, stat.path))
        file = _take_in(change, settings, stat, before, again=again)
        if file is None:
            unchanged += 1
        elif isinstance(file, Skip):
            skips.append(file)
            if file.reason in (*BY_BYTES, "unparsable") and before and before.hash:  # it was text
                changed.append(name)
        else:
            if file.damaged:
                damaged.append(name)
            if before:
                changed.append(name)
            else:
                added[name] = file.hash
    removed: dict[str, bytes] = {}
    for source, path in planned.diff.removed:
        removed[shown(source, path)] = known[source, path].hash
        change.remove((source, path))
    change.remember({"mounts": planned.mounts}, revise=False)
    check_lineage(change, settings)
    moved = pair_moves(added, removed)
    olds, news = {old for old, _ in moved}, {new for _, new in moved}
    return Report(
        added=tuple(sorted(added.keys() - news)),
        changed=tuple(sorted(changed)),
        moved=moved,
        removed=tuple(sorted(removed.keys() - olds)),
        unchanged=unchanged,
        skips=tuple(skips),
        unlisted=planned.listing.unlisted,
        damaged=tuple(sorted(damaged)),
        deferred=deferred,
    )


def _take_in(
    change: Change, settings: Settings, stat: FileStat, before: Known | None, *, again: bool
) -> FileText | Skip | None:
    """Store a file; give its text, why it has no document, or None where it is as it was.

    A file without a document keeps a row without text: what was known of it is no longer so, and
    it is not read or parsed again until it changes. One that cannot be read keeps what it has.
    """
    from memcli.indexing.document import skipped_document

    indexed_ns = settings.now_ns()
    file = read(settings, stat.source, stat.path)
    if isinstance(file, FileText):
        stamp = Stamp(file.stat, file.hash, indexed_ns)
        if before and before.hash == file.hash and not again:
            change.touch((stat.source, stat.path), stamp)
            return None
        document = make_document(settings, file)
        if not isinstance(document, Skip):
            change.put(document, stamp)
            return file
        skip = document
    else:
        stamp, skip = Stamp(stat, b"", indexed_ns), file
        if skip.reason not in BY_BYTES:
            return skip
        if before and before.hash == b"" and not again:
            change.touch((stat.source, stat.path), stamp)
            return skip
    change.put(skipped_document(settings.source(stat.source), stat.path), stamp, skip=skip.reason)
    return skip


def index(
    change: Change,
    settings: Settings,
    *,
    on_progress: Progress = lambda stage, done, total: None,
) -> Report:
    """Bring the keyword rows of the whole workspace in step.

    A damaged store is set aside and built again.
    """
    try:
        return bring_in_step(change, settings, on_progress=on_progress)
    except DamagedError as error:
        notice = change.start_over(error.message)
    return bring_in_step(change, settings, on_progress=on_progress)._replace(notices=(notice,))


def bring_in_step(
    change: Change,
    settings: Settings,
    *,
    on_progress: Progress = lambda stage, done, total: None,
) -> Report:
    """Do what `index` does on a store that is sound; DamagedError where it is not."""
    known = change.known()
    planned = plan(settings, known, change.facts.mounts)
    wanted = settings_meta(settings)
    if not known:  # a first run that is killed goes on where it was
        change.remember(wanted)
    again = bool(changed_settings(settings, change.facts))
    if again:
        planned = planned._replace(diff=_everything(planned, known))
    report = apply(change, settings, planned, known, again=again, on_progress=on_progress)
    change.remember(wanted)
    change.settle()
    change.prune(unused_days=CACHE_DAYS)
    return report


def settle_vectors(change: Change, fingerprint: str | None) -> bool:
    """Finish what needs no encoder; tell whether every text now has its vector."""
    facts = change.facts
    if fingerprint is None or facts.fingerprint != fingerprint:
        return False
    if change.is_embedded(fingerprint):
        return True
    if change.unembedded(fingerprint):
        return False
    change.search_by(fingerprint, facts.dimension or 0)
    change.mark_embedded()
    return True


def embed(
    change: Change,
    encoder: Encoder,
    *,
    most: int | None = None,
    made: Mapping[str, bytes] | None = None,
    on_progress: Progress = lambda stage, done, total: None,
) -> int:
    """Make the vectors that are missing and search by them; give how many were made.

    Of some texts they may have been `made` before.
    """
    fingerprint = encoder.fingerprint
    waiting = change.unembedded(fingerprint)
    total = waiting if most is None else min(most, waiting)
    switching = change.facts.fingerprint not in (None, fingerprint)
    if not switching or total == 0:
        change.search_by(fingerprint, encoder.dimension)
    done = 0
    while done < total:
        listed = change.pending(fingerprint, min(LISTED, total - done))
        if not listed:
            break
        for at in range(0, len(listed), EMBED_BATCH):
            batch = listed[at : at + EMBED_BATCH]
            texts = [text_of(item) for item in batch]
            vectors = dict(made or {})
            if missing := [text for text in texts if text not in vectors]:
                vectors |= zip(missing, encoder.encode(missing), strict=True)
            pairs = [(item.hash, vectors[text]) for item, text in zip(batch, texts, strict=True)]
            change.put_vectors(fingerprint, pairs)
            done += len(batch)
            on_progress("embedding", done, total)
        if not switching:
            change.search_by(fingerprint, encoder.dimension)
    if done == waiting:
        if switching:
            change.search_by(fingerprint, encoder.dimension)
        change.mark_embedded()
    return done


def text_of(item: Pending) -> str:
    """Give the text that is embedded for what waits."""
    context = (item.title, item.heading_path, item.date)
    return embedded_again(item.hash, context, item.prefix, item.text)


def _everything(planned: Plan, known: Mapping[tuple[str, str], Known]) -> Diff:
    files = planned.listing.files
    return planned.diff._replace(
        added=tuple(f for f in files if (f.source, f.path) not in known),
        suspect=tuple(f for f in files if (f.source, f.path) in known),
        unchanged=0,
    )
