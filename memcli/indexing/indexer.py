"""Update the index to match the files: list, compare, read, chunk, store, embed.

Keyword rows are committed some documents at a time, before any vector is made. So keyword search
works while a first index still runs. Moves and reverts embed nothing: vectors are kept by hash.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Generator, Mapping, Sequence
from contextlib import closing

from memcli.checking import TYPE_CHECKING
from memcli.embedding.models import is_readable
from memcli.errors import DamagedError, Reason
from memcli.indexing.lineage import check_lineage
from memcli.indexing.notices import (
    broken_front_matter,
    has_broken_front_matter,
    names_in,
    replaced_bytes,
)
from memcli.indexing.planning import (
    BY_BYTES,
    Plan,
    RenamedFile,
    Settings,
    altered,
    make_document,
    pair_moves,
    plan,
    read,
    settings_meta,
)
from memcli.markdown.segments import embedded_again
from memcli.record import Record
from memcli.store.run_records import Pending, Stamp
from memcli.types import MEMORY_SOURCE, Diff, Encoder, FileStat, FileText, KnownFile, Skip, shown

if TYPE_CHECKING:
    from memcli.store.port import Change
    from memcli.store.records import Key
    from memcli.types import Document

# Vectors per transaction: a run that is killed loses at most half a second of them.
EMBED_BATCH = 32
# One transaction for files of so many bytes, a small one counting as LEAST_BYTES: under a second.
GROUP_BYTES, LEAST_BYTES = 1 << 19, 1 << 13
# Texts per listing; each listing looks at every segment.
LISTED = 4096
WEIGHED = "language"  # no encoder's fingerprint: all texts wait for it, so that it lists them
# Days before an unused vector is deleted; until then a revert can use it.
CACHE_DAYS = 30

Progress = Callable[[str, int, int], None]


class Report(Record):
    """The result of an index run, with sorted paths."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    moved: tuple[RenamedFile, ...]
    removed: tuple[str, ...]
    unchanged: int
    skips: tuple[Skip, ...]
    unlisted: tuple[Skip, ...]
    flaws: tuple[Reason, ...]  # of files that were read: bytes, front matter
    deferred: tuple[Key, ...]  # changed files left for a later run
    notices: tuple[str, ...] = ()
    out_of_scope: tuple[Reason, ...] = ()  # why documents were removed although their files exist


def apply(
    change: Change,
    settings: Settings,
    planned: Plan,
    known: Mapping[Key, KnownFile],
    *,
    is_over: Callable[[], bool] = lambda: False,
    again: Container[str] = (),
    on_progress: Progress = lambda stage, done, total: None,
) -> Report:
    """Store new files, newest first, and changed ones; remove documents whose files are gone.

    At least one file is read; once `is_over` returns true, the rest is deferred. `again` names the
    sources whose files are stored again even if their bytes are the same.
    """
    added: dict[Key, bytes | None] = {}
    changed: list[str] = []
    faults: list[Reason] = []
    skips: list[Skip] = []
    newest = sorted(planned.diff.added, key=lambda stat: stat.mtime_ns, reverse=True)
    todo = [*newest, *planned.diff.suspect]
    deferred: tuple[Key, ...] = ()
    unchanged = planned.diff.unchanged
    marks = _Marks(change)
    group = 0
    with change.together() as commit:
        for done, stat in enumerate(todo):
            if done and is_over():
                deferred = tuple((stat.source, stat.path) for stat in todo[done:])
                break
            on_progress("reading", done, len(todo))
            group += max(stat.size, LEAST_BYTES)
            if group > GROUP_BYTES:
                commit()
                group = 0
            name, before = shown(stat.source, stat.path), known.get((stat.source, stat.path))
            taken = _take_in(change, settings, stat, before, again=stat.source in again)
            if taken is None:
                unchanged += 1
            elif isinstance(taken, Skip):
                skips.append(taken)
                was_text = before is not None and before.hash != b""
                if was_text and taken.reason in (*BY_BYTES, "unparsable"):
                    changed.append(name)
                    marks.note(name)
            else:
                file, document = taken
                is_broken = has_broken_front_matter(file, document)
                faults += [replaced_bytes(name)] if file.damaged else []
                faults += [broken_front_matter([name])] if is_broken else []
                marks.note(name, broken=is_broken, replaced=file.damaged)
                if before:
                    changed.append(name)
                else:
                    added[stat.source, stat.path] = file.hash
        for key in planned.diff.removed:
            change.remove(key)
            marks.note(shown(*key))
        change.set_facts({"mounts": planned.mounts, **_folder(settings)}, revise=False)
    check_lineage(change, settings)
    moves = pair_moves(added, {key: known[key].hash for key in planned.diff.removed})
    return Report(
        **moves._asdict(),
        changed=tuple(sorted(changed)),
        unchanged=unchanged,
        skips=(*planned.listing.skips, *sorted(skips)),
        unlisted=planned.listing.unlisted,
        flaws=tuple(sorted(faults)),
        deferred=deferred,
        out_of_scope=planned.out_of_scope,
    )


class _Marks:
    """The documents with a flaw, which the index remembers by name."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._names = {
            "broken": set(names_in(change.facts.broken)),
            "replaced": set(names_in(change.facts.replaced)),
        }

    def note(self, name: str, **flaws: bool) -> None:
        """Remember which flaws a document has: `broken`, `replaced`."""
        for flaw, names in self._names.items():
            if flaws.get(flaw, False) != (name in names):
                names.symmetric_difference_update([name])
                self._change.set_facts({flaw: json.dumps(sorted(names))}, revise=False)


def _take_in(
    change: Change, settings: Settings, stat: FileStat, before: KnownFile | None, *, again: bool
) -> tuple[FileText, Document] | Skip | None:
    """Store a file; return it, the reason for no document, or None if it is unchanged.

    A file without a document keeps a row without text, so that its old text is gone and it is not
    read again until it changes. A file that cannot be read keeps its old text.
    """
    from memcli.indexing.document import document_without_text

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
            return file, document
        skip = document
    else:
        stamp, skip = Stamp(stat, b"", indexed_ns), file
        if skip.reason not in BY_BYTES:
            return skip
        if before and before.hash == b"" and not again:
            change.touch((stat.source, stat.path), stamp)
            return skip
    document = document_without_text(settings.source(stat.source), stat.path)
    change.put(document, stamp, skip=skip.reason)
    return skip


def index(
    change: Change, settings: Settings, *, on_progress: Progress = lambda stage, done, total: None
) -> Report:
    """Update the keyword rows of the whole workspace.

    A damaged store is set aside and built again.
    """
    try:
        return bring_up_to_date(change, settings, on_progress=on_progress)
    except DamagedError as error:
        notice = change.start_over(error.message)
    return bring_up_to_date(change, settings, on_progress=on_progress)._replace(notices=(notice,))


def bring_up_to_date(
    change: Change, settings: Settings, *, on_progress: Progress = lambda stage, done, total: None
) -> Report:
    """Do the work of `index` on a sound store; DamagedError if it is not."""
    known = change.known()
    planned = plan(settings, known, change.facts.mounts)
    meta = settings_meta(settings)
    if not known:  # a first run that was killed continues
        change.set_facts({**meta, **_folder(settings)})
    again = frozenset[str]().union(*altered(settings, change.facts).values())
    if again:
        planned = planned._replace(diff=_with_all_of(again, planned, known))
    report = apply(change, settings, planned, known, again=again, on_progress=on_progress)
    change.set_facts(meta)
    if settings.weighs_languages:
        _weigh_languages(change)
    change.tidy(unused_days=CACHE_DAYS)
    return report


def _folder(settings: Settings) -> dict[str, str]:
    """Name the folder of the memory: `index --clean` finds the indexes of folders that are gone."""
    roots = {source.name: source.root for source in settings.sources}
    return {"workspace": roots.get(MEMORY_SOURCE, "")}


def _weigh_languages(change: Change) -> None:
    """Remember the language of most texts, if it may have changed."""
    from memcli.embedding.registry import MOST, is_due, weigh

    before, count = change.facts.language, change.counts().segments
    if is_due(before, count):
        waiting = change.pending(WEIGHED, MOST)
        change.set_facts(
            {"language": weigh((i.text for i in waiting), before, count)}, revise=False
        )


def finish_without_encoder(change: Change, fingerprint: str | None) -> bool:
    """Finish what needs no encoder; return whether every text now has its vector."""
    facts = change.facts
    if fingerprint is None or facts.fingerprint != fingerprint:
        return False
    if change.unembedded(fingerprint):
        return False
    change.search_by(fingerprint, facts.dimension or 0, none_waits=True)
    return True


def embed(
    change: Change,
    encoder: Encoder,
    *,
    most: int | None = None,
    made: Mapping[str, bytes] | None = None,
    at_once: int = 1,
    per_call: int = EMBED_BATCH,
    on_progress: Progress = lambda stage, done, total: None,
) -> int:
    """Make the missing vectors and search by them; return how many were made.

    The encoder gets `per_call` texts and is called by `at_once` threads. Texts that it cannot read
    get no vector. Some vectors may already be `made`. Vectors made before an error are kept.
    """
    fingerprint = encoder.fingerprint
    waiting = change.unembedded(fingerprint)
    total = waiting if most is None else min(most, waiting)
    switching = change.facts.fingerprint not in (None, fingerprint)
    if not switching or waiting == 0:
        change.search_by(fingerprint, encoder.dimension)
    done = 0
    while done < total:
        if not (listed := change.pending(fingerprint, LISTED)):
            break
        texts = readable_of(listed, fingerprint)
        if len(texts) < len(listed):
            hashes = {item.hash for item in texts}
            unread = [(item.hash, None) for item in listed if item.hash not in hashes]
            change.put_vectors(fingerprint, unread)
            waiting -= len(unread)
            total = min(total, waiting)
        first = texts[: total - done]
        with closing(_batches(encoder, first, made or {}, at_once, per_call)) as batches:
            for batch in batches:
                change.put_vectors(fingerprint, batch)
                done += len(batch)
                on_progress("embedding", done, total)
        if not switching:
            change.search_by(fingerprint, encoder.dimension)
    if done == waiting:
        change.search_by(fingerprint, encoder.dimension, none_waits=True)
    return done


def readable_of(listed: Sequence[Pending], fingerprint: str) -> Sequence[Pending]:
    """Leave the texts out that the encoder cannot read: no query reaches their vectors."""
    return [item for item in listed if is_readable(text_of(item), fingerprint)]


def _batches(
    encoder: Encoder,
    listed: Sequence[Pending],
    made: Mapping[str, bytes],
    at_once: int,
    per_call: int,
) -> Generator[list[tuple[bytes, bytes]]]:
    """Yield hashes and vectors to store together; the next batch is made meanwhile."""
    from memcli.threads import in_order

    def encode(items: Sequence[Pending]) -> list[tuple[bytes, bytes]]:
        texts = [text_of(item) for item in items]
        vectors = dict(made)
        if missing := [text for text in texts if text not in made]:
            vectors |= zip(missing, encoder.encode(missing), strict=True)
        return [(item.hash, vectors[text]) for item, text in zip(items, texts, strict=True)]

    calls = [listed[at : at + per_call] for at in range(0, len(listed), per_call)]
    ahead = at_once + EMBED_BATCH // per_call
    batch: list[tuple[bytes, bytes]] = []
    with closing(in_order(encode, calls, at_once, ahead=ahead)) as results:
        try:
            for pairs in results:
                batch += pairs
                if len(batch) >= EMBED_BATCH:
                    yield batch
                    batch = []
        except Exception:  # store the finished vectors, then raise what the encoder raised
            if batch:
                yield batch
            raise
    if batch:
        yield batch


def text_of(item: Pending) -> str:
    """Return the text that is embedded for a pending item."""
    context = (item.title, item.heading_path, item.days, item.description)
    return embedded_again(item.hash, context, item.prefix, item.text)


def _with_all_of(sources: Container[str], planned: Plan, known: Mapping[Key, KnownFile]) -> Diff:
    """Add all known files of some sources to those to look at."""
    suspect = {(f.source, f.path) for f in planned.diff.suspect}
    more = [
        f
        for f in planned.listing.files
        if f.source in sources and (key := (f.source, f.path)) in known and key not in suspect
    ]
    diff = planned.diff
    return diff._replace(suspect=(*diff.suspect, *more), unchanged=diff.unchanged - len(more))
