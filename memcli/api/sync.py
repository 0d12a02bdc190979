"""Update the index and embed what is new: one run, for the command, the watcher and bench.

If a server asks to wait, the writer lock is released until then, so that others can write.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from memcli import system
from memcli.checking import TYPE_CHECKING
from memcli.embedding.encoders import AUTO, IndexModel, OpenedEncoder
from memcli.errors import AwayError, Reason, RetrieverError, RetryLaterError
from memcli.indexing.notices import broken_front_matter, names_in, unmatched
from memcli.indexing.progress import published_progress
from memcli.record import Record
from memcli.store.run_records import AWAITED_SECONDS
from memcli.types import Skip

if TYPE_CHECKING:
    from typing import TypeVar

    from memcli.api.workspace import Workspace
    from memcli.indexing.indexer import Progress, Report
    from memcli.indexing.planning import RenamedFile, Settings
    from memcli.store.port import Change

    Made = TypeVar("Made")
    from typing import NoReturn


def unseen(stage: str, done: int, total: int) -> None:
    """Ignore progress."""


class Job(Record):
    """What a run does besides updating the index."""

    full: bool = False
    prune: bool = False
    wait_seconds: float = 60.0  # seconds to wait for another writer
    texts: int | None = None  # maximum of texts to embed; None: all


class IndexedFiles(Record):
    """The changes of a run to the indexed files."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    moved: tuple[RenamedFile, ...]
    removed: tuple[str, ...]
    unchanged: int
    skipped: tuple[Skip, ...]


class IndexRun(Record):
    """The result of `index`: `memcli.index/1`."""

    schema: str
    workspace: str
    store: str
    files: IndexedFiles
    chunks: int
    embedded: int  # texts
    vectors_reused: int  # vectors from another workspace
    pending: int  # texts without a vector
    pruned: int  # vectors that were deleted
    warnings: tuple[str, ...]


def files_of(report: Report) -> IndexedFiles:
    """Describe the changes of a run to the indexed files."""
    return IndexedFiles(
        report.added,
        report.changed,
        report.moved,
        report.removed,
        report.unchanged,
        (*report.skips, *report.unlisted),
    )


def run_record(done: RunResult, workspace: Workspace) -> IndexRun:
    """Describe a run."""
    from memcli.render.reasons import sentence

    return IndexRun(
        schema="memcli.index/1",
        workspace=workspace.config.workspace,
        store=workspace.store.describe().address,
        files=files_of(done.report),
        chunks=done.chunks,
        embedded=done.embedded,
        vectors_reused=done.borrowed,
        pending=done.pending,
        pruned=done.pruned,
        warnings=tuple(map(sentence, done.warnings)),
    )


class RunResult(Record):
    """The result of a run."""

    report: Report
    chunks: int
    embedded: int
    pending: int  # texts without a vector
    pruned: int
    notices: tuple[str, ...]  # repairs of the index
    warnings: tuple[Reason, ...] = ()  # of the settings
    borrowed: int = 0  # vectors taken from other workspaces


class Vectors:
    """Makes the vectors of runs; opens the encoder once, when a text needs it."""

    def __init__(
        self,
        workspace: Workspace,
        on_progress: Progress = unseen,
        *,
        sleep: Callable[[float], None] | None = None,
        threads: int | None = None,
    ) -> None:
        """Take a workspace; `sleep` replaces its clock's, to wait for a server or a writer.

        `threads` replaces `embedding.threads`.
        """
        self.sleep = sleep or workspace.clock.sleep
        self.patience = Patience(self.sleep)
        self._choice = workspace.encoders()
        if threads is not None:
            self._choice = self._choice._replace(threads=threads)
        self.on_progress = published_progress(
            workspace.store, workspace.clock.monotonic, on_progress
        )
        self.opened: OpenedEncoder | None = None  # or why there is none; None until it is needed
        self.language: Reason | None = None  # how the notes' language changes the model
        self.made = self.borrowed = 0

    @property
    def can_embed(self) -> bool:
        """Return whether embedding is possible, as far as is known."""
        return self.opened is None or self.opened.encoder is not None

    @property
    def may_come_back(self) -> bool:
        """Return whether a server refuses or is away, so that it may work again by itself."""
        from memcli.embedding.registry import may_come_back

        return not self.can_embed and may_come_back(self._choice)

    def make(self, change: Change, most: int | None = None) -> None:
        """Embed new texts, or record why that is impossible. Finished vectors are stored.

        AskedToWaitError if a server asks for a later attempt, MemoryError if there is no room for
        the modules that embed: Python could end in the middle of an import.
        """
        if system.is_short_of_memory():
            raise MemoryError
        from memcli.embedding.registry import (
            announcement,
            configured_fingerprint,
            is_verified,
            open_encoder,
            remember,
            resolve_auto,
        )
        from memcli.indexing.indexer import embed, finish_without_encoder

        facts = change.facts
        known = IndexModel(facts.model, facts.fingerprint, facts.language or "")
        self.language = announcement(self._choice, known)
        choice = resolve_auto(self._choice, known)
        if facts.fingerprint:
            self.borrowed += change.borrow(facts.fingerprint)
        if is_verified(choice.names[0], choice, known) and finish_without_encoder(
            change, configured_fingerprint(choice, known)
        ):
            return
        if (
            self.opened is None
            or (self.opened.encoder is not None and self.opened.name not in choice.names)
            or self.may_come_back
        ):
            self.opened = open_encoder(self._choice, sleep=self.patience.ask, remembered=known)
        if self.opened.encoder is None:
            return
        change.set_facts({"model": remember(choice, self.opened)})
        self.borrowed += change.borrow(self.opened.encoder.fingerprint)
        before = self.made

        def count(stage: str, done: int, total: int) -> None:
            self.made = before + done
            self.patience.rewarded()
            self.on_progress(stage, done, total)

        try:
            embed(
                change,
                self.opened.encoder,
                most=most,
                at_once=self.opened.at_once,
                per_call=self.opened.texts,
                on_progress=count,
            )
        except RetrieverError as error:
            self.opened = OpenedEncoder(None, error.reason)

    def pending(self, change: Change) -> int:
        """Count the texts without a vector of the encoder, or else of the index's model."""
        encoder = self.opened and self.opened.encoder
        fingerprint = encoder.fingerprint if encoder else change.facts.fingerprint
        return change.unembedded(fingerprint) if fingerprint else 0


def sync(workspace: Workspace, job: Job, vectors: Vectors) -> RunResult:
    """Update the index as its only writer."""
    workspace.need_files()
    is_auto = AUTO in workspace.encoders().names
    settings = workspace.index_settings()._replace(weighs_languages=is_auto)
    before = vectors.made, vectors.borrowed
    report: Report | None = None

    def work(change: Change) -> RunResult:
        nonlocal report
        continues_after = report is not None
        if report is None:
            report = _bring_in(change, settings, job, vectors)
            if vectors.patience.is_waiting:
                raise RetryLaterError
        if continues_after or (job.texts != 0 and not job.full):
            vectors.make(change, None if job.full else job.texts)
        pruned = change.tidy(unused_days=0) if job.prune else 0
        pending, chunks = vectors.pending(change), change.counts().chunks
        broken = names_in(change.facts.broken)
        warnings = (
            *([broken_front_matter(broken)] if broken else ()),
            *unmatched(settings.sources, change.known),
            *filter(None, [vectors.language]),
        )
        made, borrowed = vectors.made - before[0], vectors.borrowed - before[1]
        notices = report.notices
        return RunResult(report, chunks, made, pending, pruned, notices, warnings, borrowed)

    done, notices = _as_writer(workspace, job, vectors, work)
    if job.prune:
        from memcli.history.side_indexes import drop_side_indexes

        drop_side_indexes(workspace.store.state_path)
    return done._replace(notices=(*notices, *done.notices))


def embed_next(workspace: Workspace, job: Job, vectors: Vectors) -> int:
    """Embed the next texts while holding the writer lock; return how many are left."""

    def work(change: Change) -> int:
        vectors.make(change, job.texts)
        return vectors.pending(change) if vectors.can_embed else 0

    return _as_writer(workspace, job, vectors, work)[0]


def _bring_in(change: Change, settings: Settings, job: Job, vectors: Vectors) -> Report:
    """Read the changed files, or all of them; a full run embeds before its result is visible."""
    from memcli.indexing.indexer import index
    from memcli.indexing.rebuild import rebuild

    if not job.full:
        change.drop_rebuild(awaited_seconds=AWAITED_SECONDS)
        return index(change, settings, on_progress=vectors.on_progress)

    def embed_into(target: Change) -> None:
        try:
            vectors.make(target)
        except RetryLaterError:
            if target is not change:  # half of a new index; the next attempt continues it
                raise

    return rebuild(change, settings, embed_into=embed_into, on_progress=vectors.on_progress)


def _as_writer(
    workspace: Workspace, job: Job, vectors: Vectors, work: Callable[[Change], Made]
) -> tuple[Made, list[str]]:
    """Do work while holding the writer lock, again after each wait for a server.

    If the store becomes unreachable, it tries once more, perhaps with another configured server.
    The work continues, because whole documents were stored.

    Returns the result and the repairs of the index.
    """
    notices: list[str] = []
    went_away = False
    while True:
        made = None
        try:
            with (
                workspace.store.change(
                    wait_seconds=job.wait_seconds, sleep=vectors.sleep
                ) as change,
                suppress(RetryLaterError),
            ):
                made = work(change)
        except AwayError as error:
            if went_away or not error.was_there:
                raise
            went_away = True
            continue
        notices += change.notices
        if made is not None:
            return made, notices
        vectors.patience.wait()


MOST_WAITS = 4  # without an answer between them


class Patience:
    """How often in a row a server has asked to wait, and how long.

    An encoder that has to wait calls `ask` instead of sleeping, which ends the work. The holder of
    the writer lock releases it, calls `wait` and repeats the work, which continues because the
    vectors are stored.
    """

    def __init__(self, sleep: Callable[[float], None]) -> None:
        self._sleep = sleep
        self._waits = 0
        self._seconds: float | None = None

    @property
    def is_waiting(self) -> bool:
        """Return whether a server has asked to wait."""
        return self._seconds is not None

    def ask(self, seconds: float) -> NoReturn:
        """Note the request and stop the work; RetrieverError after too many requests."""
        if self._waits == MOST_WAITS:
            self._waits = 0
            raise RetrieverError(
                f"the endpoint stays busy: it has asked to wait {MOST_WAITS} times in a row",
                hint="memcli index, later",
            )
        self._seconds = max(seconds, 2.0**self._waits)  # at least twice as long each time
        self._waits += 1
        raise RetryLaterError

    def wait(self) -> None:
        """Wait as long as the server asked for."""
        seconds, self._seconds = self._seconds, None
        self._sleep(seconds or 0.0)

    def rewarded(self) -> None:
        """Note that the server has answered."""
        self._waits = 0
