"""One opened workspace: its settings, files, index and encoder, shared by all questions.

Only this module reads the environment and the clock; everything below gets them as arguments.
"""

from __future__ import annotations

import os
import time
from _thread import allocate_lock as Lock
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache

from memcli.checking import TYPE_CHECKING, Any
from memcli.config import settings
from memcli.config.keys import BY_NAME
from memcli.embedding.encoders import Choice, Endpoint, IndexModel, LocalModel, OpenedEncoder
from memcli.errors import AwayError, BusyError, DamagedError, IndexMissingError, Reason, StoreError
from memcli.record import Record
from memcli.types import MEMORY_SOURCE, PRIVATE, FileText, Limits, Skip

if TYPE_CHECKING:
    from typing import Protocol

    from memcli.api.targets import Target
    from memcli.embedding.models import Calibration
    from memcli.embedding.query import QueryEncoder
    from memcli.embedding.rerankers import SharedReranker
    from memcli.embedding.wordpiece import WordPiece
    from memcli.indexing.freshness import Freshness
    from memcli.indexing.indexer import Progress
    from memcli.indexing.planning import Settings
    from memcli.store.port import Store
    from memcli.workspace.place import DocumentFiles

    # Returns the encoder of some settings, which the first caller opens.
    EncoderSource = Callable[[object, Callable[[], OpenedEncoder]], OpenedEncoder]

    class WorkspaceState(Protocol):
        """The state of a workspace that is read instead of its present files."""

        @property
        def files(self) -> DocumentFiles | None:
            """The files of that state; None if only their stored text can be read."""

        @property
        def moment(self) -> datetime | None:
            """The moment of questions that name none; None for now."""

        def reason(self, store: Store) -> Reason:
            """Return the notice that names the state."""

        def freshness(self, workspace: Workspace, *, sync: bool | None) -> Freshness:
            """Return the freshness of an answer; build the index of the state if it is missing."""

        def close(self) -> None:
            """Close what is open."""


# Segments are cut to the limit of the bundled model, whatever the encoder, so that another model
# moves no citation.
PART_MAX = 256
MOST_NS = (1 << 63) - 1  # from 1970, as the index stores times: from 1678 to 2261
# Settings that decide how an encoder is opened.
ENCODER_SETTINGS = ("embedding.", "onnx.", "openai.")
RERANKER_SETTINGS = ("rerank.", "search.rerank")


LOCAL_FALLBACK = "stand-in"  # code of the reason why the index of this machine answers


class Clock(Record):
    """The functions that read the time and wait."""

    now_ns: Callable[[], int]  # nanoseconds since 1970
    monotonic: Callable[[], float]  # seconds, independent of changes of the clock
    sleep: Callable[[float], None]

    def now(self) -> datetime:
        """Return the time of day in the zone of this machine."""
        return local(datetime.fromtimestamp(self.now_ns() / 1e9, UTC))


def local(moment: datetime) -> datetime:
    """Return a moment in local time; unchanged if it has no time zone."""
    try:
        return moment.astimezone()
    except (ValueError, OverflowError, OSError):  # TZ=X-99, or the ends of the calendar
        return moment


def current_folder() -> str | None:
    """Return the current folder, None if it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return None


def _now_ns() -> int:
    """Read the clock, within the range that the index can store."""
    return max(-MOST_NS, min(time.time_ns(), MOST_NS))


SYSTEM_CLOCK = Clock(_now_ns, time.monotonic, time.sleep)


class Workspace:
    """An opened workspace: its settings, files and index, and the models it needs.

    Threads may share it; `close` closes index and models. It reads nothing before it is needed.
    Each question has its own day, so a process that runs over midnight answers as of today.
    """

    def __init__(
        self,
        config: settings.Config,
        store: Store,
        *,
        environ: Mapping[str, str],
        clock: Clock = SYSTEM_CLOCK,
        state: WorkspaceState | None = None,
        shared: EncoderSource | None = None,
    ) -> None:
        """Put a workspace together from its parts; `Selection.open` finds them.

        `state` is read instead of the present files. `shared` are the encoders that several
        workspaces use together.
        """
        self.config, self.store, self.clock = config, store, clock
        self.environ, self.state, self._shared = environ, state, shared
        self._guard = Lock()
        self._query_encoder: QueryEncoder | None = None
        self._reranker: SharedReranker | None = None
        # How many of the uses in `api.usage_counts` count; None: all.
        self.accesses_at: int | None = None
        # Why the index of this machine answers instead of an unreachable one.
        self.fallback_reason: Reason | None = None
        # Repairs of a damaged index, which the next answer reports.
        self.repair_notices: tuple[Reason, ...] = ()
        # Shows the work on the index that a question waits for; see `Workspaces.showing`.
        self.on_progress: Progress = lambda stage, done, total: None

    @property
    def has_files(self) -> bool:
        """Return whether the documents themselves can be read."""
        return self.state is None or self.state.files is not None

    def need_files(self) -> None:
        """Raise UsageError if only the stored text of the files can be read."""
        if not self.has_files:
            from memcli.errors import UsageError

            name = self.config.workspace
            raise UsageError(
                f"the files of {name} are not on this machine, only what the index stores of them",
                hint=f"memcli search QUERY --workspace-name {name}",
            )

    def moment(self) -> datetime:
        """Return the moment of questions that name none."""
        return (self.state and self.state.moment) or self.clock.now()

    def provenance(self) -> Reason | None:
        """Describe the past or stored state that is read; None for the files as they are now."""
        return self.state.reason(self.store) if self.state else None

    def start_over(self, error: DamagedError) -> bool:
        """Set a damaged index aside, so that the next question builds it; False if that fails.

        Another process may have done that meanwhile. The next answer has a notice about it.
        """
        from memcli.indexing.freshness import WAIT_SECONDS

        if not (self.has_files and self.config("sync.on_search")):
            return False
        self.store.close()
        try:
            with self.store.change(wait_seconds=WAIT_SECONDS, sleep=self.clock.sleep) as change:
                notices = change.notices or (change.start_over(error.message),)
                if not change.known():  # otherwise another process has built it already
                    self.repair_notices = tuple(Reason("damaged", notice) for notice in notices)
        except (BusyError, StoreError):
            return False
        return True

    def with_local_index(self, error: StoreError) -> Workspace | None:
        """Return the workspace with its index on this machine, because a server failed.

        None if it has no other index.
        """
        local = self.store.local_fallback()
        if local is None:
            return None
        made = self.having(store=local)
        made.on_progress = self.on_progress
        text = f"{error.message}; the index of this machine answers instead"
        made.fallback_reason = Reason(LOCAL_FALLBACK, text, error.hint)
        return made

    def find(self, target: str, here: str | None) -> tuple[Target, FileText]:
        """Find the document that a target names, and read it.

        Relative paths start at `here`.
        """
        if not self.has_files:
            from memcli.api.targets import stored_document

            return stored_document(self.store, target)
        from memcli.api import targets

        settings = self.index_settings()
        place = targets.resolve(target, settings, here)
        return place, targets.read(place, settings)

    def is_private(self, file: FileText) -> bool:
        """Return whether a document, or a source of a summary, is private to its workspace.

        A document that cannot be parsed counts as private.
        """
        if not self.has_files:
            from memcli.api.targets import is_stored_as_private

            return is_stored_as_private(self.store, file)
        from memcli.errors import NotFoundError
        from memcli.indexing.planning import make_document, read

        settings, waiting = self.index_settings(), [file]
        seen = {file.stat.path}
        while waiting:
            document = make_document(settings, waiting.pop())
            if isinstance(document, Skip) or document.scope == PRIVATE:
                return True
            rests_on = document.lineage.sources if document.lineage else ()
            for path in {lines.path for lines in rests_on} - seen:
                seen.add(path)
                with suppress(NotFoundError):  # a summary may name any path
                    content = read(settings, MEMORY_SOURCE, path)
                    waiting += [] if isinstance(content, Skip) else [content]
        return False

    def having(
        self, *, config: settings.Config | None = None, store: Store | None = None
    ) -> Workspace:
        """Return a workspace with other settings or another index; both share an open encoder."""
        made = Workspace(
            config or self.config,
            store or self.store,
            environ=self.environ,
            clock=self.clock,
            state=self.state,
            shared=self._shared,
        )

        def shares(names: tuple[str, ...]) -> bool:
            return encoder_settings(made.config, names) == encoder_settings(self.config, names)

        if shares(ENCODER_SETTINGS):
            made._query_encoder = self.query_encoder
            if shares(RERANKER_SETTINGS):
                made._reranker = self._reranker
        return made

    def sharing_encoder(self, other: Workspace) -> Workspace:
        """Return this workspace with the query encoder of another with equal settings."""
        made = self.having()
        made._query_encoder = other.query_encoder
        return made

    def close(self) -> None:
        """Close index and models; a later question opens them again."""
        with self._guard:
            encoder, self._query_encoder = self._query_encoder, None
            reranker, self._reranker = self._reranker, None
        if encoder is not None:
            encoder.close()
        if reranker is not None:
            reranker.close()
        self.store.close()
        if self.state is not None:
            self.state.close()

    def index_model(self) -> IndexModel:
        """Read which model made the index, and what is known about its verified files."""
        try:
            with self.store.snapshot() as snapshot:
                facts = snapshot.facts
        except AwayError:  # an attempt may take seconds, so ask once
            raise
        except (IndexMissingError, StoreError):  # freshness reports or repairs it
            return IndexModel(None, None)
        return IndexModel(facts.model, facts.fingerprint, facts.language or "")

    @property
    def query_encoder(self) -> QueryEncoder:
        """Return the encoder of questions, which threads share."""
        from memcli.embedding.query import QueryEncoder

        with self._guard:
            if self._query_encoder is None:
                self._query_encoder = QueryEncoder(self.encoders())
            return self._query_encoder

    def reranker(self, index: IndexModel) -> SharedReranker | None:
        """Return the reranker, None if none is configured.

        Threads share it until the index has another model.
        """
        name = self.config("search.rerank")
        if name == "none":
            return None
        from memcli.embedding.rerankers import Reranking, SharedReranker

        environ, variable = self.environ, self.config("rerank.key_variable")
        with self._guard:
            shared = self._reranker
            if shared is None or shared.index != index:
                if shared is not None:
                    shared.close()
                table = self._table("rerank", Reranking._fields)
                reranking = Reranking(name, key=lambda: environ.get(variable), **table)
                shared = self._reranker = SharedReranker(reranking, self.encoders(), index)
            return shared

    @property
    def cache_folder(self) -> str:
        """Return the cache folder of this workspace."""
        return settings.folder_of(self.config.workspace, self.environ)

    def calibrations(self) -> Mapping[str, Calibration]:
        """Read the constants that the user fitted, by fingerprint; ConfigError for anything else.

        It reads them again for each question.
        """
        path = settings.calibration_file(self.environ)
        if not os.path.exists(path):
            return {}
        from memcli.config.calibration import read

        return read(path)

    def index_settings(self) -> Settings:
        """Return the settings of the indexer."""
        from memcli.indexing.planning import Settings

        return Settings(
            sources=self.config.sources,
            limits=Limits(
                chunk_tokens=self.config("chunk.tokens"),
                overlap_tokens=self.config("chunk.overlap"),
                part_max=PART_MAX,
                count=_count_tokens,
            ),
            max_bytes=self.config("files.max_bytes"),
            follow_symlinks=self.config("files.follow_symlinks") and self.state is None,
            now_ns=self.clock.now_ns,
            redacts=self.config("secrets") == "redact",
            files=self.state.files if self.state else None,
        )

    def encoders(self) -> Choice:
        """Return the configured encoders and their settings."""
        config, environ = self.config, self.environ
        variable = config("openai.key_variable")
        return Choice(
            names=(config("embedding.encoder"), *config("embedding.fallback")),
            threads=config("embedding.threads"),
            local=LocalModel(**self._table("onnx", LocalModel._fields)),
            endpoint=Endpoint(
                key=lambda: environ.get(variable), **self._table("openai", Endpoint._fields)
            ),
        )

    def _table(self, name: str, fields: tuple[str, ...]) -> dict[str, Any]:
        """Return the settings of a table as fields of a record."""
        known = (field for field in fields if f"{name}.{field}" in BY_NAME)
        return {field: self.config(f"{name}.{field}") for field in known}

    def open_encoder(self, index: IndexModel | None = None) -> OpenedEncoder:
        """Open a configured encoder, or return why none can be used.

        The files of the model that made the index are not checked again.
        """
        from memcli.embedding.registry import NOTHING, open_encoder

        return open_encoder(self.encoders(), sleep=self.clock.sleep, remembered=index or NOTHING)

    def open_encoder_of(self, index: IndexModel) -> OpenedEncoder:
        """Open the encoder that has made an index, for a few texts and without waiting."""
        from memcli.embedding.registry import open_encoder

        def opened() -> OpenedEncoder:
            return open_encoder(self.encoders(), fingerprint=index.fingerprint, remembered=index)

        if self._shared is None:
            return opened()
        return self._shared((repr(encoder_settings(self.config)), index), opened)


def encoder_settings(
    config: settings.Config, names: tuple[str, ...] = ENCODER_SETTINGS
) -> list[tuple[str, Any]]:
    """Return the settings that decide how an encoder is opened: those with these beginnings."""
    return [(name, v.value) for name, v in config.values.items() if name.startswith(names)]


@cache
def _wordpiece() -> WordPiece:
    from memcli.embedding.wordpiece import WordPiece

    return WordPiece()


def _count_tokens(text: str) -> int:
    return _wordpiece().count(text)
