"""What `index --watch` says: a line of text for a person, or a JSON object for a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memcli.cli.context import local
from memcli.cli.terminal import Terminal
from memcli.errors import BusyError, MemcliError
from memcli.indexing.indexer import Report
from memcli.render.jsonio import dumps

if TYPE_CHECKING:
    from memcli.embedding.registry import Opened

SCHEMA = "memcli.watch/1"
SHOWN_NAMES = 3
SHOWN_SKIPS = 5


class Log:
    """The lines of one watcher; it repeats neither skips nor failures that it has told."""

    def __init__(self, terminal: Terminal, now_ns: Callable[[], int], *, as_json: bool) -> None:
        """Write to stdout as JSON, else to stderr as text."""
        self._terminal, self._now_ns, self._as_json = terminal, now_ns, as_json
        self._skips: set[tuple[str, str, str]] = set()
        self._failure = self._told = self._told_vectors = ""

    def now(self) -> datetime:
        """Give the time of a line."""
        return local(datetime.fromtimestamp(self._now_ns() / 1e9, UTC))

    def started(self, workspace: str, store: str, pid: int) -> None:
        """Say what is watched."""
        self._line(
            f"watching {workspace} (pid {pid}); Ctrl-C ends it",
            event="started", workspace=workspace, store=store, pid=pid,
        )  # fmt: skip

    def synced(
        self, reason: str, report: Report, files: dict[str, Any], *, chunks: int, embedded: int,
        pending: int, seconds: float,
    ) -> None:  # fmt: skip
        """Say what a run did; a run that changed nothing is told only of the start, or with -v."""
        recovered = bool(self._failure)
        self._failure = self._told = ""
        told = _changes(report)
        if told or embedded or recovered or reason == "start" or self._terminal.verbose:
            text = told or ("embedded" if embedded else f"in step, {report.unchanged} files")
            if reason == "sweep" and told:
                text = f"found without an event: {text}"
            text += f" ({_texts(embedded, pending)}{seconds:.1f} s)"
            self._line(
                text, event="synced", reason=reason, files=files, chunks=chunks,
                embedded=embedded, pending=pending, seconds=round(seconds, 3),
            )  # fmt: skip
        for notice in report.notices:
            self.notice(notice)
        self._tell_skips(report)

    def embedded(self, embedded: int, pending: int, seconds: float) -> None:
        """Say that texts left over by earlier runs have their vectors."""
        self._line(
            f"embedded ({_texts(embedded, pending)}{seconds:.1f} s)",
            event="embedded", embedded=embedded, pending=pending, seconds=round(seconds, 3),
        )  # fmt: skip

    def vectors(self, opened: Opened | None) -> None:
        """Say once why there are no vectors, or which encoder stands in; and when that is over."""
        told, self._told_vectors = self._told_vectors, opened.reason if opened else ""
        if opened is None or opened.reason == told:
            return
        if not opened.reason:
            self.notice("vectors are made again")
        elif opened.encoder is not None:
            name = opened.encoder.fingerprint.split(";", 1)[0]
            self.notice(f"{opened.reason}; {name} stands in")
        else:
            hint = f". Try: {opened.hint}" if opened.hint else ""
            self.notice(f"vectors are off: {opened.reason}; search goes by keywords{hint}")

    def failed(self, error: BaseException, retry_seconds: float) -> None:
        """Say why a run failed, once for each reason."""
        if isinstance(error, MemcliError):
            code, message, hint = error.code, error.message, error.hint
        elif isinstance(error, OSError):
            code, message, hint = "os", error.strerror or str(error), ""
        else:
            code, message, hint = "bug", f"internal error: {type(error).__name__}: {error}", ""
        told, self._failure = self._told, message
        self._told = code if code == BusyError.code else message  # whoever is busy
        if told == self._told:
            return
        what = "waiting" if isinstance(error, BusyError) else "failed"
        tail = f". Try: {hint}" if hint and what == "failed" else ""
        self._line(
            f"{what}: {message}; trying again in {retry_seconds:g} s{tail}",
            event="failed", code=code, message=message, hint=hint, retry_seconds=retry_seconds,
        )  # fmt: skip

    @property
    def failure(self) -> str:
        """Give the reason of the last run's failure; empty when it succeeded."""
        return self._failure

    def notice(self, message: str) -> None:
        """Say something worth knowing."""
        self._line(message, event="notice", message=message)

    def stopped(self, signal: str) -> None:
        """Say that the watcher ends."""
        self._line(f"stopped by {signal}; what was done is kept", event="stopped", signal=signal)

    def _tell_skips(self, report: Report) -> None:
        skips = {
            (skip.path or ".", f"skipped: {skip.reason}", skip.detail)
            for skip in report.skips
            if self._terminal.verbose or skip.reason != "ignored"
        }
        skips |= {(s.path or ".", "cannot be listed, its rows stay", s.detail)
                  for s in report.unlisted}  # fmt: skip
        fresh, gone = sorted(skips - self._skips), {s for s in self._skips - skips if s[2]}
        for path, *_ in sorted(s for s in gone if s[1].startswith("cannot")):
            self.notice(f"{path} can be listed again")
        self._skips = skips
        if len(fresh) > SHOWN_SKIPS and not self._terminal.verbose:
            self.notice(f"{len(fresh)} files are skipped; memcli status says why")
            return
        for path, what, detail in fresh:
            self.notice(f"{path} {what}" + (f" ({detail})" if detail else ""))
        for path in report.damaged[:SHOWN_SKIPS]:
            self.notice(f"{path}: some bytes are not UTF-8 and were replaced")

    def _line(self, text: str, **record: Any) -> None:  # noqa: ANN401
        now = self.now()
        try:
            if self._as_json:
                head = {"schema": SCHEMA, "time": now.isoformat(timespec="milliseconds")}
                self._terminal.write(dumps({**head, **record}) + "\n")
                self._terminal.flush()
            else:
                self._terminal.say(f"{now:%H:%M:%S} {text}")
        except BrokenPipeError:
            raise
        except OSError:  # a full disk under the log costs lines, not the watcher
            return


def _changes(report: Report) -> str:
    """Tell what changed: names while they are few, else counts and the first names."""
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
