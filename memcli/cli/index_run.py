"""One run of `memcli index`, as the command and the watcher do it.

Where a server asks to wait, the writer lock is let go and taken again, so that others can write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from memcli.cli.context import Context
from memcli.cli.patience import AskedToWaitError, Patience
from memcli.errors import LegMissingError

if TYPE_CHECKING:
    from memcli.embedding.registry import Opened
    from memcli.indexing.indexer import Progress, Report
    from memcli.indexing.planning import Settings
    from memcli.store.sqlite.writer import Writer


Made = TypeVar("Made")


class Job(NamedTuple):
    """What a run is to do besides bringing the index in step."""

    full: bool
    prune: bool
    wait_seconds: float  # for another writer
    texts: int | None  # most that are embedded; None: all


class Done(NamedTuple):
    """What a run did."""

    report: Report
    chunks: int
    embedded: int
    pending: int  # texts without a vector
    pruned: int


class Vectors:
    """The vectors that runs make; the encoder is opened once, when texts wait for one."""

    def __init__(self, context: Context, on_progress: Progress) -> None:
        """Take the settings from the context, and the sleep that waits for a server."""
        self.patience = Patience(context.sleep)
        self._context = context._replace(sleep=self.patience.ask)
        self._on_progress = on_progress
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
        return not self.can_embed and "openai" in self._context.encoders().names

    def make(self, writer: Writer, most: int | None = None) -> None:
        """Embed what is new, or learn why that cannot be; what was made before a fault is kept.

        AskedToWaitError where a server wants to be asked again later.
        """
        from memcli.embedding.choice import Remembered
        from memcli.embedding.query import is_verified, remember
        from memcli.embedding.registry import Opened, configured_fingerprint
        from memcli.indexing.indexer import embed, settle_vectors

        choice = self._context.encoders()
        known = Remembered(writer.meta("model"), writer.meta("fingerprint"))
        if is_verified(choice, known) and settle_vectors(
            writer, configured_fingerprint(choice, known)
        ):
            return
        if self._opened is None or self.may_come_back:
            self._opened = self._context.open_encoder()
        if self._opened.encoder is None:
            return
        writer.set_meta({"model": remember(choice, self._opened.encoder)})
        before = self.made

        def count(stage: str, done: int, total: int) -> None:
            self.made = before + done
            self.patience.rewarded()
            self._on_progress(stage, done, total)

        try:
            embed(writer, self._opened.encoder, most=most, on_progress=count)
        except LegMissingError as error:
            self._opened = Opened(None, error.message, error.hint)

    def pending(self, writer: Writer) -> int:
        """Count the texts that have no vector of the encoder, else of the index's own."""
        encoder = self._opened and self._opened.encoder
        fingerprint = encoder.fingerprint if encoder else writer.meta("fingerprint")
        return writer.unembedded(fingerprint) if fingerprint else 0


def run_once(
    context: Context,
    job: Job,
    vectors: Vectors,
    *,
    sleep: Callable[[float], None],
    on_progress: Progress,
) -> Done:
    """Bring the index in step under the writer lock."""
    settings, before = context.index_settings(), vectors.made
    report: Report | None = None

    def work(writer: Writer) -> Done:
        nonlocal report
        goes_on = report is not None
        if report is None:
            report = _bring_in(writer, context, settings, job, vectors, on_progress)
            if vectors.patience.is_asked:
                raise AskedToWaitError
        if goes_on or (job.texts != 0 and not job.full):
            vectors.make(writer, None if job.full else job.texts)
        pruned = writer.prune(unused_days=0) if job.prune else 0
        pending, chunks = vectors.pending(writer), writer.counts().chunks
        return Done(report, chunks, vectors.made - before, pending, pruned)

    return _under_lock(context, job, vectors.patience, sleep, work)


def _bring_in(
    writer: Writer,
    context: Context,
    settings: Settings,
    job: Job,
    vectors: Vectors,
    on_progress: Progress,
) -> Report:
    """Read what differs, or everything anew; a full run has its vectors before it is seen."""
    from memcli.indexing.indexer import index
    from memcli.indexing.rebuild import rebuild, sweep_stale

    if not job.full:
        sweep_stale(context.store, settings)
        return index(writer, settings, on_progress=on_progress)

    def embed_into(target: Writer) -> None:
        try:
            vectors.make(target)
        except AskedToWaitError:
            if target is not writer:  # half a new index, which the next attempt goes on with
                raise

    return rebuild(writer, settings, embed_into=embed_into, on_progress=on_progress)


def make_vectors(
    context: Context, job: Job, vectors: Vectors, *, sleep: Callable[[float], None]
) -> int:
    """Embed the next texts under the writer lock; give how many it pays to go on with."""

    def work(writer: Writer) -> int:
        vectors.make(writer, job.texts)
        return vectors.pending(writer) if vectors.can_embed else 0

    return _under_lock(context, job, vectors.patience, sleep, work)


def _under_lock(
    context: Context,
    job: Job,
    patience: Patience,
    sleep: Callable[[float], None],
    work: Callable[[Writer], Made],
) -> Made:
    """Do work on the index under the writer lock, again after each wait for a server."""
    from memcli.store.sqlite.lock import writer_lock
    from memcli.store.sqlite.writer import Writer

    while True:
        with writer_lock(context.store, wait_seconds=job.wait_seconds, sleep=sleep):
            writer, notice = Writer.open(context.store)
            if notice:
                context.terminal.warn(notice)
            try:
                return work(writer)
            except AskedToWaitError:
                pass
            finally:
                writer.close()
        patience.wait()
