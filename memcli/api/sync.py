"""Bring the index in step and embed what is new: one run, for the command, watcher and bench."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from memcli.api.opened import OpenedWorkspace
from memcli.errors import LegMissingError

if TYPE_CHECKING:
    from memcli.embedding.opener import Opened
    from memcli.indexing.indexer import Progress, Report
    from memcli.store.port import Change


def unseen(stage: str, done: int, total: int) -> None:
    """Take no notice of progress."""


class Job(NamedTuple):
    """What a run is to do besides bringing the index in step."""

    full: bool = False
    prune: bool = False
    wait_seconds: float = 60.0  # for another writer
    texts: int | None = None  # most that are embedded; None: all


class Done(NamedTuple):
    """What a run did."""

    report: Report
    chunks: int
    embedded: int
    pending: int  # texts without a vector
    pruned: int
    notices: tuple[str, ...]  # what had to be mended in the index


class Vectors:
    """The vectors that runs make; the encoder is opened once, when texts wait for one."""

    def __init__(
        self,
        memory: OpenedWorkspace,
        on_progress: Progress = unseen,
        *,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        """Take the settings of a memory; `sleep` waits for a server in place of its clock's."""
        self._memory, self._on_progress, self._sleep = memory, on_progress, sleep
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
        """Embed what is new, or learn why that cannot be; what was made before a fault is kept."""
        from memcli.embedding.choice import Remembered
        from memcli.embedding.opener import Opened
        from memcli.embedding.registry import configured_fingerprint, is_verified, remember
        from memcli.indexing.indexer import embed, settle_vectors

        choice = self._memory.encoders()
        facts = change.facts
        known = Remembered(facts.model, facts.fingerprint)
        if is_verified(choice.names[0], choice, known) and settle_vectors(
            change, configured_fingerprint(choice, known)
        ):
            return
        if self._opened is None or self.may_come_back:
            self._opened = self._memory.open_encoder(self._sleep)
        if self._opened.encoder is None:
            return
        change.remember({"model": remember(choice, self._opened)})
        before = self.made

        def count(stage: str, done: int, total: int) -> None:
            self.made = before + done
            self._on_progress(stage, done, total)

        try:
            embed(change, self._opened.encoder, most=most, on_progress=count)
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
    from memcli.indexing.indexer import index
    from memcli.indexing.rebuild import STALE_SECONDS, rebuild

    settings, before, pruned = memory.index_settings(), vectors.made, 0
    sleep = sleep or memory.clock.sleep
    with memory.store.change(wait_seconds=job.wait_seconds, sleep=sleep) as change:
        if job.full:
            report = rebuild(change, settings, embed_into=vectors.make, on_progress=on_progress)
        else:
            change.drop_rebuild(older_than_seconds=STALE_SECONDS)
            report = index(change, settings, on_progress=on_progress)
            if job.texts != 0:
                vectors.make(change, job.texts)
        if job.prune:
            pruned = change.prune(unused_days=0)
        pending, chunks = vectors.pending(change), change.counts().chunks
    notices = (*change.notices, *report.notices)
    return Done(report, chunks, vectors.made - before, pending, pruned, notices)


def embed_next(
    memory: OpenedWorkspace, job: Job, vectors: Vectors, *, sleep: Callable[[float], None]
) -> int:
    """Embed the next texts as the one writer; give how many it pays to go on with."""
    with memory.store.change(wait_seconds=job.wait_seconds, sleep=sleep) as change:
        vectors.make(change, job.texts)
        return vectors.pending(change) if vectors.can_embed else 0
