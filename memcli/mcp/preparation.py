"""Prepare the index in a thread of the server, so that calls need not wait for it.

It first asks a question, which indexes new files and loads the model; calls wait for that. Then it
embeds every text, a few at a time. Between two batches, other writers and calls go first. A call
waits for the batch that is being embedded, because that batch would keep it from reading changed
files. A process that ends in the middle loses one batch.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock, Thread

from memcli.api.memory import Memory
from memcli.api.sync import Job, Vectors, embed_next, sync
from memcli.api.workspace import Workspace
from memcli.checking import TYPE_CHECKING
from memcli.errors import BusyError, MemcliError
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.api.workspaces import Workspaces

_ANY_QUESTION = "memory"
TEXTS = 16  # per batch: some tenths of a second with the bundled model
PAUSE_SECONDS = 0.1  # after each batch, for another writer
IDLE_SECONDS = 2.0  # most that a batch waits for calls
TURN_SECONDS = 1.0  # most that a call waits for a batch
BUSY_SECONDS = 5.0  # until the next try, while another process writes


class IndexProgress(Record):
    """How far a first question has brought the index: files that are read, texts embedded."""

    stage: str  # reading | embedding
    done: int
    total: int  # grows when the texts of the files are counted


class Preparation:
    """Brings one opened memory up to date and embeds its texts."""

    progress: IndexProgress | None = None  # of the first question

    def __init__(self, memory: Workspaces, idle: Event) -> None:
        """Take the memory, and an event that is set while no call is answered."""
        self.memory, self._idle = memory, idle
        self.is_readable, self.ended = Event(), Event()
        self.error: Exception | None = None  # of the first question
        self.has_failed = False  # texts cannot be embedded: the next try would fail too
        self.turn = Lock()  # one writer at a time
        self._stopped = Event()
        self._thread: Thread | None = None

    def start(self) -> None:
        """Begin, or begin again after files have changed, unless it runs already."""
        if self.has_failed or (self._thread is not None and self._thread.is_alive()):
            return
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def wait_for_turn(self) -> None:
        """Wait for the batch that is being embedded, for a moment."""
        if self.turn.acquire(timeout=TURN_SECONDS):
            self.turn.release()

    def stop(self) -> None:
        """End after the batch that is being embedded."""
        self._stopped.set()

    @property
    def is_embedding(self) -> bool:
        """Return whether texts are being embedded, or will be."""
        is_running = self.is_readable.is_set() and not self.ended.is_set()
        return is_running and self.may_embed

    @property
    def may_embed(self) -> bool:
        """Return whether this server makes vectors for some workspace, as far as is known."""
        return not self.has_failed and any(map(_may_embed, self.memory.opened))

    def _run(self) -> None:
        self.ended.clear()
        try:
            is_first = not self.is_readable.is_set()
            if is_first:
                self._ask()
            for member in self.memory.opened:
                self._embed(member, brings_in=not is_first)
        finally:
            self.ended.set()

    def _ask(self) -> None:
        """Ask a first question, and keep its `progress`; a later call reports what fails here."""
        counts: dict[str, tuple[int, int]] = {}

        def note(stage: str, done: int, total: int) -> None:
            counts[stage] = done, total
            self.progress = IndexProgress(stage, *map(sum, zip(*counts.values(), strict=True)))

        try:
            with self.memory.showing(note):
                Memory(self.memory).search(_ANY_QUESTION, limit=1)
        except Exception as error:  # in a thread: the call that waits raises it
            self.error = error
            self.has_failed = True
        finally:
            self.progress = None
            self.is_readable.set()

    def _embed(self, member: Workspace, *, brings_in: bool) -> None:
        """Bring a workspace up to date and embed its texts, as far as its settings allow that."""
        config = member.config
        if self.has_failed or not (member.has_files and config("sync.on_search")):
            return
        vectors = Vectors(member, sleep=self._sleep, threads=config("watch.threads"))
        job = Job(wait_seconds=PAUSE_SECONDS, texts=TEXTS)
        if brings_in:
            self._patiently(lambda: sync(member, job._replace(texts=0), vectors))
        if not _may_embed(member):
            return
        while self._patiently(lambda: embed_next(member, job, vectors)):
            self._sleep(PAUSE_SECONDS)
        self.has_failed = self.has_failed or not vectors.can_embed

    def _patiently(self, work: Callable[[], object]) -> object:
        """Work, again and again while another process writes; None if it fails or is stopped."""
        while not (self._stopped.is_set() or self.has_failed):
            self._idle.wait(IDLE_SECONDS)
            try:
                with self.turn:
                    return work()
            except BusyError:
                self._sleep(BUSY_SECONDS)
            except (MemcliError, OSError):  # a call reports the error
                self.has_failed = True
        return None

    def _sleep(self, seconds: float) -> None:
        self._stopped.wait(seconds)


def _may_embed(member: Workspace) -> bool:
    config = member.config
    is_by_keywords = config("embedding.encoder") == "none" or config("search.mode") == "keyword"
    return bool(config("sync.segments")) and not is_by_keywords
