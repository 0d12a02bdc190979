"""The status of a workspace: what is indexed, what is out of date and why, computed from disk.

`_gathered` reads, `_warnings` finds what is wrong, and `status` describes both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime

from memcli import types
from memcli.api.workspaces import Workspaces, for_folder
from memcli.checking import TYPE_CHECKING, Any
from memcli.embedding.encoders import OTHER_MODEL, IndexModel
from memcli.embedding.registry import announcement, fingerprint_of, open_encoder, resolve_auto
from memcli.errors import Reason, RetrieverError
from memcli.indexing.comparison import IndexComparison, PlannedChanges, compare_index
from memcli.indexing.notices import (
    broken_front_matter,
    incomplete,
    names_in,
    settings_changed,
    unlisted,
    unmatched,
    vectors_off,
)
from memcli.indexing.progress import indexing
from memcli.markdown.lineage import is_place
from memcli.record import Record
from memcli.render.reasons import sentence
from memcli.render.text import counted
from memcli.store.documents import SourceCounts, counts_by_source, skipped_files
from memcli.store.lock import living_watcher, owner
from memcli.store.open import new_orphans
from memcli.store.records import Counts, Facts, Scope
from memcli.store.run_records import Orphan, Owner, StoreDescription, VectorSearch, WatchRecord
from memcli.types import Listing, Skip

if TYPE_CHECKING:
    from memcli.api.workspace import Workspace
    from memcli.indexing.planning import Settings

# A watcher writes its record every 30 seconds, even during a run.
SILENT_SECONDS = 120.0


# Of an index whose files are on another machine.
AS_STORED = IndexComparison(
    Listing((), (), ()), {}, PlannedChanges(), is_indexed=True, is_read=True
)


class Findings(Record):
    """Everything that a status is computed from."""

    workspace: Workspace
    store: StoreDescription
    comparison: IndexComparison
    usable: str | None  # the fingerprint of the configured encoder; None if it cannot be used
    unusable: Reason | None  # why it cannot be used
    language: Reason | None  # how the language of the notes changes the choice of the model
    summaries: Mapping[str, int]  # by their state; those that could not be read are skipped files
    writer: Owner | None
    watcher: WatchRecord | None
    broken: Sequence[str] = ()  # documents whose front matter is not YAML
    replaced: Sequence[str] = ()  # documents with bytes that are not text
    orphans: Sequence[Orphan] = ()  # indexes of deleted folders, each reported once
    # What the index contains.
    counts: Counts = Counts(0, 0, 0, 0)
    by_source: Mapping[str, SourceCounts] = {}
    skipped: Sequence[Skip] = ()
    fingerprint: str | None = None  # of the vectors
    vectors: VectorSearch | None = None  # None before there is an index
    integrity: str | None = None  # None: the file was not checked

    @property
    def pending(self) -> int:
        """Count the texts that wait for a vector."""
        return self.counts.embeddable - self.counts.embedded

    @property
    def has_files(self) -> bool:
        """Return whether the files are on this machine."""
        return self.comparison is not AS_STORED

    @property
    def is_other_model(self) -> bool:
        """Return whether the vectors belong to another model than the configured one."""
        return None not in (self.fingerprint, self.usable) and self.fingerprint != self.usable


class StoreStatus(Record):
    """The index of a workspace."""

    path: str
    bytes: int
    shared_bytes: int  # of the vectors that all indexes of the user share
    integrity: str | None  # None: it was not checked
    writer_pid: int | None  # the process that is writing it


class SourceStatus(Record):
    """A source, on disk and in the index."""

    name: str
    path: str
    trust: str
    files: int
    documents: int
    chunks: int
    first_date: str | None
    last_date: str | None


class VectorStatus(Record):
    """The vectors of an index."""

    encoder: str  # the setting
    fingerprint: str | None  # of the model that made them
    search: str
    exact: bool
    segments: int
    embedded: int
    pending: int  # texts without a vector
    omitted: int  # texts that the model cannot read


class WorkspaceStatus(Record):
    """What is indexed, what is out of date and why: `memcli.status/1`."""

    schema: str
    workspace: str
    workspace_origin: str
    store: StoreStatus
    watcher: WatchRecord | None
    state: str  # up_to_date | out_of_date | empty | not_indexed
    sources: tuple[SourceStatus, ...]
    changes: PlannedChanges
    summaries: Mapping[str, int]  # by their state
    skipped: tuple[Skip, ...]
    unlisted: tuple[str, ...]  # folders that cannot be listed
    retrievers: Mapping[str, Mapping[str, Any]]
    vectors: VectorStatus
    warnings: tuple[str, ...]

    @property
    def is_behind(self) -> bool:
        """Return whether something is, or may be, missing in the index."""
        is_waiting = self.vectors.pending > 0 and self.vectors.encoder != "none"
        return (
            self.state not in (types.UP_TO_DATE, types.EMPTY, types.REMOTE)
            or is_waiting
            or bool(self.unlisted)
        )


def status(workspace: Workspace, *, deep: bool, is_named: bool = False) -> WorkspaceStatus:
    """Read files, index and encoder; with `deep` also run the model and check the store.

    If the server of the index is away, read the index of this machine. Without files, only describe
    the contents of the index. If it `is_named`, hints name the workspace.
    """
    memory = Workspaces(workspace)
    findings = memory.with_fallback(lambda each: _gathered(each.lead, deep=deep), mends=False)
    warnings: Iterable[Reason] = _warnings(findings)
    if is_named:
        warnings = (for_folder(each, workspace.config.workspace) for each in warnings)
    return _record(findings, tuple(map(sentence, warnings)))


def _gathered(workspace: Workspace, *, deep: bool) -> Findings:
    store, settings = workspace.store, workspace.index_settings()
    with ExitStack() as stack:
        snapshot = stack.enter_context(store.snapshot()) if store.exists() else None
        comparison = compare_index(snapshot, settings) if workspace.has_files else AS_STORED
        facts = snapshot.facts if snapshot else Facts()
        index = IndexModel(facts.model, facts.fingerprint, facts.language or "")
        usable, unusable = _usability(workspace, index, deep=deep)
        contents: dict[str, Any] = {}
        if snapshot:
            documents = snapshot.documents(Scope())
            contents = {
                "counts": snapshot.counts(),
                "by_source": counts_by_source(documents),
                "skipped": skipped_files(documents),
                "fingerprint": facts.fingerprint,
                "vectors": snapshot.vector_search(),
                "integrity": snapshot.integrity() if deep else None,
            }
    known = {types.shown(*key) for key in comparison.known}
    return Findings(
        workspace=workspace,
        store=store.describe(),
        comparison=comparison,
        usable=usable,
        unusable=unusable,
        language=announcement(workspace.encoders(), index, again=True),
        summaries=_summaries(comparison, settings),
        writer=owner(store.state_path),
        watcher=living_watcher(store.state_path),
        broken=names_in(facts.broken),
        replaced=[name for name in names_in(facts.replaced) if name in known],
        orphans=new_orphans(workspace.environ) if workspace.has_files else (),
        **contents,
    )


def _summaries(comparison: IndexComparison, settings: Settings) -> dict[str, int]:
    """Count the valid and invalid summaries on disk."""
    paths = [file.path for file in comparison.listing.files if file.source == types.MEMORY_SOURCE]
    if not any(map(is_place, paths)):
        return dict.fromkeys(types.STATES, 0)
    from memcli.compaction.folder import summaries_among

    states = [summary.state for summary in summaries_among(settings, paths)]
    return {state: states.count(state) for state in types.STATES}


def _usability(
    workspace: Workspace, index: IndexModel, *, deep: bool
) -> tuple[str | None, Reason | None]:
    """Look for the model's file; with `deep`, open and run it.

    Return its fingerprint, or why it cannot be used.
    """
    choice = resolve_auto(workspace.encoders(), index, fingerprint=index.fingerprint)
    configured = [fingerprint_of(name, choice, index) for name in choice.names]
    fingerprint = index.fingerprint if index.fingerprint in configured else configured[0]
    if fingerprint is not None and not deep:
        return fingerprint, None
    opened = open_encoder(choice, sleep=workspace.clock.sleep)
    if opened.encoder is None:
        return None, opened.reason
    try:
        opened.encoder.encode(["the model runs"])
    except RetrieverError as error:
        return None, error.reason
    return opened.encoder.fingerprint, None


def _warnings(findings: Findings) -> Iterator[Reason]:
    """Find the warnings: files first, then vectors, the store and the watcher."""
    workspace, store = findings.workspace, findings.store
    listed, vectors = findings.comparison.listing.files, findings.vectors
    yield from workspace.config.passed
    if workspace.fallback_reason:
        yield workspace.fallback_reason
    yield from _of_files(findings)
    yield from unmatched(workspace.config.sources, lambda: [(f.source, f.path) for f in listed])
    if spoilt := sum(findings.summaries.values()) - findings.summaries["valid"]:
        text = "1 summary is not valid; search uses its source lines"
        if spoilt > 1:
            text = f"{spoilt} summaries are not valid; search uses their source lines"
        yield Reason("summaries", text, "memcli compact --verify")
    yield from _of_vectors(findings)
    if store.set_aside:
        text = f"a damaged index is kept as {store.set_aside}; delete it when you like"
        yield Reason("damaged", text)
    if vectors and vectors.problem:
        yield Reason("no-vec", f"{vectors.problem}: vectors are compared one by one")
    if orphans := findings.orphans:
        indexes = counted(len(orphans), "index is", "indexes are")
        size = sum(orphan.bytes for orphan in orphans) / 1e6
        text = f"{indexes} of folders that are gone, {size:.1f} MB"
        yield Reason("orphans", text, "memcli index --clean")
    if findings.watcher:
        yield from _of_a_watcher(findings.watcher, workspace.clock.now_ns() / 1e9)


def _of_files(findings: Findings) -> Iterator[Reason]:
    comparison = findings.comparison
    yield from comparison.out_of_scope
    yield from map(unlisted, comparison.listing.unlisted)
    if work := indexing(findings.writer):
        yield work
        return
    if comparison.state == types.NOT_INDEXED:
        yield Reason("no-index", "there is no index yet", "memcli index")
        return
    if reason := settings_changed(comparison):
        yield reason
    if comparison.pending:
        files = counted(comparison.pending, "file differs", "files differ")
        yield Reason("not-synced", f"{files} from the index", "memcli index")
    if findings.broken:
        yield broken_front_matter(findings.broken)
    if findings.replaced:
        text = incomplete((), findings.replaced).text
        yield Reason("bytes", f"{text} (UTF-8 without NUL); memcli shows � in their place")


def _of_vectors(findings: Findings) -> Iterator[Reason]:
    has_files = findings.has_files
    if findings.is_other_model:
        yield OTHER_MODEL if has_files else OTHER_MODEL._replace(hint="")
    if findings.language is not None and has_files:
        yield findings.language
    if findings.unusable is not None:
        yield vectors_off(findings.unusable)
    if findings.pending and findings.usable and indexing(findings.writer) is None:
        what = counted(findings.pending, "segment has", "segments have")
        yield Reason("not-embedded", f"{what} no vector yet", "memcli index" * has_files)
    if (left := findings.counts.left_out) and findings.language is None:
        verb = "is" if left == 1 else "are"
        text = f"{left} of {findings.counts.segments} segments {verb} found by keywords only:"
        text += " the model cannot read them"
        yield Reason("script", text, "memcli help settings")


def _of_a_watcher(watcher: WatchRecord, now: float) -> Iterator[Reason]:
    """Report a watcher that runs but does not do its work; `now` in seconds since 1970."""
    silent = now - datetime.fromisoformat(watcher.beat).timestamp() if watcher.beat else 0.0
    if silent > SILENT_SECONDS:
        text = f"the watcher (pid {watcher.pid}) has not reported since {watcher.beat}"
        yield Reason("silent", text, "end it and run memcli index --watch")
    if watcher.failure:
        yield Reason("watcher-failed", f"the watcher's last run failed: {watcher.failure}")


def _record(findings: Findings, warnings: tuple[str, ...]) -> WorkspaceStatus:
    comparison = findings.comparison
    listing, store, config = comparison.listing, findings.store, findings.workspace.config
    reason = OTHER_MODEL if findings.is_other_model else findings.unusable
    semantic = {
        "available": bool(findings.usable) and not findings.is_other_model,
        "reason": reason.text if reason else "",
        "hint": reason.hint if reason else "",
    }
    named = {(skip.source, skip.path) for skip in listing.skips}
    no_text = [skip for skip in findings.skipped if (skip.source, skip.path) not in named]
    writer_pid = findings.writer.pid if findings.writer else None
    return WorkspaceStatus(
        schema="memcli.status/1",
        workspace=config.workspace,
        workspace_origin=config.by,
        store=StoreStatus(
            store.address, store.bytes, store.shared_bytes, findings.integrity, writer_pid
        ),
        watcher=findings.watcher,
        state=comparison.state if findings.has_files else types.REMOTE,
        sources=tuple(
            SourceStatus(
                source.name,
                source.root,
                source.trust,
                sum(file.source == source.name for file in listing.files),
                *findings.by_source.get(source.name, SourceCounts(0, 0, None, None)),
            )
            for source in config.sources
        ),
        changes=comparison.changes,
        summaries=findings.summaries,
        skipped=(*listing.skips, *no_text, *listing.unlisted),
        unlisted=tuple(types.shown(s.source, s.path or ".") for s in listing.unlisted),
        retrievers={"keyword": {"available": True}, "semantic": semantic},
        vectors=_vectors(findings),
        warnings=warnings,
    )


def _vectors(findings: Findings) -> VectorStatus:
    return VectorStatus(
        encoder=findings.workspace.config("embedding.encoder"),
        fingerprint=findings.fingerprint,
        search=findings.vectors.by if findings.vectors else findings.store.vectors_by,
        exact=findings.vectors is None or findings.vectors.is_exact,
        segments=findings.counts.segments,
        embedded=findings.counts.embedded,
        pending=findings.pending,
        omitted=findings.counts.left_out,
    )
