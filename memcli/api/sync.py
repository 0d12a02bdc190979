"""Bring the index in step and embed what is new: one run, for the command, watcher and bench.

Where a server asks to wait, the right to write is given up and taken again, so that others can.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from memcli import room
from memcli.api.patience import AskedToWaitError, Patience
from memcli.checking import TYPE_CHECKING
from memcli.errors import LegMissingError, Reason
from memcli.indexing.notices import unmatched
from memcli.record import Record

if TYPE_CHECKING:
    from typing import TypeVar

    from memcli.api.opened import OpenedWorkspace
    from memcli.embedding.opener import Opened
    from memcli.indexing.indexer import Progress, Report
    from memcli.indexing.planning import Settings
    from memcli.store.port import Change

    Made = TypeVar("Made")


def unseen(stage: str, done: int, total: int) -> None:
    """Take no notice of progress."""


class Job(Record):
    """What a run is to do besides bringing the index in step."""

    full: bool = False
    prune: bool = False
    wait_seconds: float = 60.0  # for another writer
    texts: int | None = None  # most that are embedded; None: all


class Done(Record):
    """What a run did."""

    report: Report
    chunks: int
    embedded: int
    pending: int  # texts without a vector
    pruned: int
    notices: tuple[str, ...]  # what had to be mended in the index
    warnings: tuple[Reason, ...] = ()  # of the settings


class Vectors:
    """The vectors that runs make; the encoder is opened once, when texts wait for one."""

    def __init__(
        self,
        memory: OpenedWorkspace,
        on_progress: Progress = unseen,
        *,
        sleep: Callable[[float], None] | None = None,
        threads: int | None = None,
    ) -> None:
        """Take the settings of a memory; `sleep` waits for a server in place of its clock's.

        `threads` stand in the place of `embedding.threads`.
        """
        self.patience = Patience(sleep or memory.clock.sleep)
        self._threads = threads
        self._memory, self._on_progress = memory, on_progress
        self._opened: Opened | None = None
        self.made = 0

    @property
    def opened(self) -> Opened | None:
        """Give the encoder or why there is none; None while it was not needed."""
        return self._opened

    @property
    def can_embed(self) -> bool:
        """Tell that no fault stands in the way, as far as is known."""
        return self._opened is None or self._opened.encoder is not None

    @property
    def may_come_back(self) -> bool:
        """Tell that a server refuses, or is away: that passes without a change of settings."""
        from memcli.embedding.registry import may_come_back

        return not self.can_embed and may_come_back(self._memory.encoders())

    def make(self, change: Change, most: int | None = None) -> None:
        """Embed what is new, or learn why that cannot be; what was made before a fault is kept.

        AskedToWaitError where a server wants to be asked again later, MemoryError where there is
        no room for the modules that embed: Python may end in the middle of an import.
        """
        if room.is_short():
            raise MemoryError
        from memcli.embedding.choice import Remembered
        from memcli.embedding.opener import Opened
        from memcli.embedding.registry import configured_fingerprint, is_verified, remember
        from memcli.indexing.indexer import Calling, embed, settle_vectors

        choice = self._memory.encoders()
        facts = change.facts
        known = Remembered(facts.model, facts.fingerprint)
        if is_verified(choice.names[0], choice, known) and settle_vectors(
            change, configured_fingerprint(choice, known)
        ):
            return
        if self._opened is None or self.may_come_back:
            self._opened = self._memory.open_encoder(self.patience.ask, threads=self._threads)
        if self._opened.encoder is None:
            return
        change.remember({"model": remember(choice, self._opened)})
        before = self.made

        def count(stage: str, done: int, total: int) -> None:
            self.made = before + done
            self.patience.rewarded()
            self._on_progress(stage, done, total)

        try:
            calling = Calling(self._opened.at_once, self._opened.texts)
            embed(change, self._opened.encoder, most=most, calling=calling, on_progress=count)
        except LegMissingError as error:
            self._opened = Opened(None, error.reason)

    def pending(self, change: Change) -> int:
        """Count the texts that have no vector of the encoder, else of the index's own."""
        encoder = self._opened and self._opened.encoder
        fingerprint = encoder.fingerprint if encoder else change.facts.fingerprint
        return change.unembedded(fingerprint) if fingerprint else 0


def sync(
    memory: OpenedWorkspace,
    job: Job,
    vectors: Vectors,
    *,
    sleep: Callable[[float], None] | None = None,
    on_progress: Progress = unseen,
) -> Done:
    """Bring the index in step as its one writer; `sleep` waits for another one."""
    settings, before = memory.index_settings(), vectors.made
    report: Report | None = None

    def work(change: Change) -> Done:
        nonlocal report
        goes_on = report is not None
        if report is None:
            report = _bring_in(change, settings, job, vectors, on_progress)
            if vectors.patience.is_asked:
                raise AskedToWaitError
        if goes_on or (job.texts != 0 and not job.full):
            vectors.make(change, None if job.full else job.texts)
        pruned = change.prune(unused_days=0) if job.prune else 0
        pending, chunks = vectors.pending(change), change.counts().chunks
        warnings = unmatched(settings.sources, change.known)
        made = vectors.made - before
        return Done(report, chunks, made, pending, pruned, report.notices, warnings)

    done, notices = _as_writer(memory, job, vectors.patience, sleep or memory.clock.sleep, work)
    return done._replace(notices=(*notices, *done.notices))


def embed_next(
    memory: OpenedWorkspace, job: Job, vectors: Vectors, *, sleep: Callable[[float], None]
) -> int:
    """Embed the next texts as the one writer; give how many it pays to go on with."""

    def work(change: Change) -> int:
        vectors.make(change, job.texts)
        return vectors.pending(change) if vectors.can_embed else 0

    return _as_writer(memory, job, vectors.patience, sleep, work)[0]


def _bring_in(
    change: Change, settings: Settings, job: Job, vectors: Vectors, on_progress: Progress
) -> Report:
    """Read what differs, or everything anew; a full run has its vectors before it is seen."""
    from memcli.indexing.indexer import index
    from memcli.indexing.rebuild import STALE_SECONDS, rebuild

    if not job.full:
        change.drop_rebuild(older_than_seconds=STALE_SECONDS)
        return index(change, settings, on_progress=on_progress)

    def embed_into(target: Change) -> None:
        try:
            vectors.make(target)
        except AskedToWaitError:
            if target is not change:  # half a new index, which the next attempt goes on with
                raise

    return rebuild(change, settings, embed_into=embed_into, on_progress=on_progress)


def _as_writer(
    memory: OpenedWorkspace,
    job: Job,
    patience: Patience,
    sleep: Callable[[float], None],
    work: Callable[[Change], Made],
) -> tuple[Made, list[str]]:
    """Do work as the one writer, again after each wait for a server.

    Gives what was made, and what had to be mended or could not be until the index was closed.
    """
    notices: list[str] = []
    while True:
        made = None
        with (
            memory.store.change(wait_seconds=job.wait_seconds, sleep=sleep) as change,
            suppress(AskedToWaitError),
        ):
            made = work(change)
        notices += change.notices
        if made is not None:
            return made, notices
        patience.wait()
