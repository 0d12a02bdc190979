"""Everything a command needs from the outside: settings, store, clock, terminal."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from memcli.cli.terminal import Terminal
from memcli.config import settings as settings
from memcli.errors import UsageError
from memcli.workspace.dating import age_days
from memcli.workspace.locate import locate

if TYPE_CHECKING:
    from memcli.embedding.choice import Choice, Remembered
    from memcli.embedding.registry import Opened
    from memcli.embedding.wordpiece import WordPiece
    from memcli.indexing.planning import Settings


class Shared(NamedTuple):
    """The options that every command has."""

    workspace: str | None
    quiet: bool
    verbose: bool
    color: str
    now: str | None


class Context(NamedTuple):
    """The outside world of one command."""

    config: settings.Config
    store: str
    terminal: Terminal
    today: date
    now: str  # ISO time, of --now or of the clock
    sleep: Callable[[float], None]
    monotonic: Callable[[], float]  # seconds that no change of the clock moves

    def age_days(self, day: str) -> int:
        """Count the calendar days from `day` to today."""
        return age_days(day, self.today.isoformat())

    def index_settings(self) -> Settings:
        """Gather what the indexer needs."""
        from memcli.indexing.planning import Settings
        from memcli.types import Limits

        return Settings(
            sources=self.config.sources,
            limits=Limits(
                chunk_tokens=self.config("chunk.tokens"),
                overlap_tokens=self.config("chunk.overlap"),
                part_max=PART_MAX,
                count=_count_tokens,
            ),
            max_bytes=self.config("files.max_bytes"),
            follow_symlinks=self.config("files.follow_symlinks"),
            now_ns=_now_ns,
        )

    def encoders(self) -> Choice:
        """Gather which encoders are configured, and their settings."""
        from memcli.embedding.choice import Choice, Endpoint, LocalModel

        def table(name: str, fields: tuple[str, ...]) -> dict[str, Any]:
            known = (field for field in fields if f"{name}.{field}" in settings.BY_NAME)
            return {field: self.config(f"{name}.{field}") for field in known}

        config = self.config
        variable = config("openai.key_variable")
        return Choice(
            names=(config("embedding.encoder"), *config("embedding.fallback")),
            threads=config("embedding.threads"),
            local=LocalModel(**table("onnx", LocalModel._fields)),
            endpoint=Endpoint(
                key=lambda: os.environ.get(variable), **table("openai", Endpoint._fields)
            ),
        )

    def open_encoder(self) -> Opened:
        """Open a configured encoder, or learn why none can be used."""
        from memcli.embedding.registry import open_encoder

        return open_encoder(self.encoders(), sleep=self.sleep)

    def open_encoder_of(self, index: Remembered) -> Opened:
        """Open the encoder that has made an index, for a few texts and without waiting."""
        from memcli.embedding.registry import open_encoder

        return open_encoder(self.encoders(), wanted=index.fingerprint, remembered=index)


MOST_NS = (1 << 63) - 1
# Parts are cut to the shipped model's limit whatever the encoder, so that a switch of the
# model moves no citation.
PART_MAX = 256


@cache
def _wordpiece() -> WordPiece:
    from memcli.embedding.wordpiece import WordPiece

    return WordPiece()


def _count_tokens(text: str) -> int:
    return _wordpiece().count(text)


def make_context(shared: Shared, flags: Mapping[str, Any]) -> Context:
    """Locate the workspace and settle every setting; `flags` may hold None for not given."""
    environ = os.environ
    terminal = Terminal.of_process(color=shared.color, quiet=shared.quiet, verbose=shared.verbose)
    workspace = locate(shared.workspace, environ.get("MEMCLI_WORKSPACE"), current_folder())
    given = {name: value for name, value in flags.items() if value is not None}
    config = settings.load(workspace, environ, given)
    now = _parse_now(shared.now) if shared.now else local(datetime.now(UTC))
    return Context(
        config=config,
        store=settings.store_path(config, environ),
        terminal=terminal,
        today=now.date(),
        now=now.isoformat(timespec="seconds"),
        sleep=time.sleep,
        monotonic=time.monotonic,
    )


def current_folder() -> str | None:
    """Name the current folder, None where it has been deleted."""
    try:
        return os.getcwd()
    except OSError:
        return None


def local(moment: datetime) -> datetime:
    """Give a moment by the clock on the wall, or as it is where the time zone is none."""
    try:
        return moment.astimezone()
    except (ValueError, OverflowError, OSError):  # TZ=X-99, or the ends of the calendar
        return moment


def _now_ns() -> int:
    """Read the clock as far as an index can hold it: from 1678 to 2261."""
    return max(-MOST_NS, min(time.time_ns(), MOST_NS))


def _parse_now(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"--now must be an ISO time such as 2026-02-10 or 2026-02-10T09:00+01:00, not {text!r}",
            hint="memcli search QUERY --now 2026-02-10",
        ) from None
