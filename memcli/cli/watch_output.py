"""Print the events of `index --watch`: lines of text for people, JSON objects for programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memcli.api.workspace import local
from memcli.cli.index_output import skipped
from memcli.errors import BusyError, MemcliError, Reason
from memcli.indexing.notices import unlisted, without_vectors
from memcli.render.reasons import sentence
from memcli.types import Skip, shown

if TYPE_CHECKING:
    from memcli.cli.terminal import Terminal
    from memcli.embedding.encoders import OpenedEncoder
    from memcli.indexing.indexer import Report

SCHEMA = "memcli.watch/1"
SHOWN_NAMES = 3
SHOWN_SKIPS = 5


class Log:
    """The output of one watcher; it does not repeat skips and failures."""

    def __init__(self, terminal: Terminal, now_ns: Callable[[], int], *, as_json: bool) -> None:
        """Write to stdout as JSON, else to stderr as text."""
        self._terminal, self._now_ns, self._as_json = terminal, now_ns, as_json
        self._folders: dict[tuple[str, str], Skip] = {}  # that the last run could not list
        self._files: set[Skip] = set()  # that it has passed over
        self._failure = self._last_message = ""
        self._vector_reason: Reason | None = None

    def now(self) -> datetime:
        """Return the time of a line."""
        return local(datetime.fromtimestamp(self._now_ns() / 1e9, UTC))

    def started(self, workspace: str, store: str, pid: int) -> None:
        """Report what is watched."""
        self._line(
            f"watching {workspace} (pid {pid}); Ctrl-C ends it",
            event="started", workspace=workspace, store=store, pid=pid,
        )  # fmt: skip

    def synced(
        self, reason: str, report: Report, files: dict[str, Any], *, chunks: int, embedded: int,
        pending: int, seconds: float, is_new: bool = False,
    ) -> None:  # fmt: skip
        """Report a run; one without changes is reported only at the start or with -v."""
        recovered = bool(self._failure)
        self._failure = self._last_message = ""
        told = _changes(report)
        if told or embedded or recovered or reason == "start" or self._terminal.verbose:
            done = "built again" if is_new else "up to date"
            text = told or ("embedded" if embedded else f"{done}, {report.unchanged} files")
            if reason == "sweep" and told:
                text = f"found without an event: {text}"
            text += f" ({_texts(embedded, pending)}{seconds:.1f} s)"
            self._line(
                text, event="synced", reason=reason, files=files, chunks=chunks,
                embedded=embedded, pending=pending, seconds=round(seconds, 3),
            )  # fmt: skip
        for notice in report.notices:
            self.notice(notice)
        for left in report.left:
            self.advise(left)
        self._tell_skips(report)

    def embedded(self, embedded: int, pending: int, seconds: float) -> None:
        """Report that texts of earlier runs now have vectors."""
        self._line(
            f"embedded ({_texts(embedded, pending)}{seconds:.1f} s)",
            event="embedded", embedded=embedded, pending=pending, seconds=round(seconds, 3),
        )  # fmt: skip

    def vectors(self, opened: OpenedEncoder | None) -> None:
        """Report once why there are no vectors, or the fallback encoder; and when that ends."""
        reason = without_vectors(opened) if opened else None
        told, self._vector_reason = self._vector_reason, reason
        if reason == told:
            return
        if reason is not None:
            self.advise(reason)
        elif opened is not None:
            self.notice("vectors are made again")

    def failed(self, error: BaseException, retry_seconds: float) -> None:
        """Report why a run failed, once per reason."""
        reason = _why(error)
        is_busy = reason.code == BusyError.code
        told, self._failure = self._last_message, reason.text
        self._last_message = reason.code if is_busy else reason.text  # whoever is busy
        if told == self._last_message:
            return
        what = "waiting" if is_busy else "failed"
        text = f"{what}: {reason.text}; trying again in {retry_seconds:g} s"
        self._line(
            sentence(Reason(reason.code, text, "" if is_busy else reason.hint)),
            event="failed",
            code=reason.code,
            message=reason.text,
            hint=reason.hint,
            retry_seconds=retry_seconds,
        )

    @property
    def failure(self) -> str:
        """Return the reason of the last run's failure; empty when it succeeded."""
        return self._failure

    def notice(self, message: str) -> None:
        """Print a message."""
        self._line(message, event="notice", message=message)

    def advise(self, reason: Reason) -> None:
        """Print a message and its hint."""
        hint = {"hint": reason.hint} if reason.hint else {}
        self._line(sentence(reason), event="notice", message=reason.text, **hint)

    def stopped(self, signal: str) -> None:
        """Report the end of the watcher."""
        self._line(f"stopped by {signal}; finished work is kept", event="stopped", signal=signal)

    def _tell_skips(self, report: Report) -> None:
        """Report newly skipped files, and folders that can be listed again."""
        folders = {skip[:2]: skip for skip in report.unlisted}
        files = {s for s in report.skips if self._terminal.verbose or s.reason != "ignored"}
        for source, path in sorted(self._folders.keys() - folders.keys()):
            self.notice(f"{shown(source, path or '.')} can be listed again")
        fresh = sorted(unlisted(folders[key]) for key in folders.keys() - self._folders.keys())
        fresh += [skipped(skip) for skip in sorted(files - self._files)]
        self._folders, self._files = folders, files
        if len(fresh) > SHOWN_SKIPS and not self._terminal.verbose:
            self.notice(f"{len(fresh)} files are skipped; memcli status lists them")
            return
        for reason in fresh:
            self.advise(reason)
        for path in report.damaged[:SHOWN_SKIPS]:
            self.notice(f"{path}: some bytes are not text and were replaced")

    def _line(self, text: str, **record: Any) -> None:  # noqa: ANN401
        now = self.now()
        try:
            if self._as_json:
                head = {"schema": SCHEMA, "time": now.isoformat(timespec="milliseconds")}
                self._terminal.write_json({**head, **record})
                self._terminal.flush()
            else:
                self._terminal.say(f"{now:%H:%M:%S} {text}")
        except BrokenPipeError:
            raise
        except OSError:  # a full disk under the log costs lines, not the watcher
            return


def _why(error: BaseException) -> Reason:
    """Return why a run failed; unexpected errors are shown unchanged."""
    if isinstance(error, MemcliError):
        return error.reason
    if isinstance(error, OSError):
        return Reason("os", error.strerror or str(error))
    return Reason("bug", f"internal error: {type(error).__name__}: {error}")


def _changes(report: Report) -> str:
    """Return the changes: names if they are few, else counts and the first names."""
    moved = [f"{old} -> {new}" for old, new in report.moved]
    kinds: list[tuple[str, Sequence[str]]] = [
        ("added", report.added),
        ("changed", report.changed),
        ("moved", moved),
        ("removed", report.removed),
    ]
    kinds = [(word, names) for word, names in kinds if names]
    if sum(len(names) for _, names in kinds) <= SHOWN_NAMES:
        return "; ".join(f"{word} {', '.join(names)}" for word, names in kinds)
    counts = ", ".join(f"{len(names)} {word}" for word, names in kinds)
    first = [name for _, names in kinds for name in names][:SHOWN_NAMES]
    return f"{counts}: {', '.join(first)}, ..."


def _texts(embedded: int, pending: int) -> str:
    told = f"{_count(embedded)} embedded, " if embedded else ""
    return told + (f"{_count(pending)} still without a vector, " if pending else "")


def _count(texts: int) -> str:
    return "1 text" if texts == 1 else f"{texts} texts"
