"""Keep the index up to date until a signal comes: the outer loop of `memcli index --watch`.

`indexing/watcher.py` decides what is due. This module has the clock, the signals, the events and
the runs, which are those of `memcli index`. Ctrl-C ends it with 130, SIGTERM and SIGHUP with 0.
"""

from __future__ import annotations

import os
import queue
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import Any

from memcli.api.sync import Job, RunResult, Vectors, embed_next, files_of, sync
from memcli.api.workspace import ENCODER_SETTINGS, encoder_settings, local
from memcli.cli.command_context import CommandContext
from memcli.cli.progress import Progress
from memcli.cli.stopping import Stop, Stopped, stopped_by_signals
from memcli.cli.terminal import Terminal
from memcli.config.settings import WORKSPACE_FILE, user_file
from memcli.embedding.encoders import OpenedEncoder
from memcli.errors import AwayError, BusyError, ExitCode, MemcliError, NotFoundError, Reason
from memcli.indexing import watcher
from memcli.indexing.change_detector import ChangeDetector
from memcli.indexing.indexer import Report
from memcli.indexing.notices import skipped, unlisted, without_vectors
from memcli.record import plain
from memcli.render.reasons import sentence
from memcli.render.text import counted
from memcli.store.lock import watching
from memcli.store.run_records import WatchRecord
from memcli.types import Skip, shown

# How long to wait for another writer; then the run counts as failed and is repeated.
LOCK_WAIT_SECONDS = 2.0
# The longest sleep before the watcher notices a signal.
NAP_SECONDS = 0.5
# How often to ask a server whether it still has the index.
SERVER_SECONDS = 60.0
# Texts that a run embeds before it looks for changes: a second or two with the bundled model.
MOST_TEXTS = 128
OF_VECTORS = (*ENCODER_SETTINGS, "watch.threads")  # settings
Message = tuple[float, str | None]  # time, and `source:path`; None: anything may have changed


def watch(
    command: CommandContext, reload: Callable[[], CommandContext], *, full: bool, as_json: bool
) -> int:
    """Watch the workspace; `reload` settles the configuration again for each run.

    With `full` the first run builds the index again.
    """
    inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
    stop = Stop(lambda: inbox.put((command.memory.clock.monotonic(), "")))
    with stopped_by_signals(stop), ExitStack() as lock:
        log = Log(command.terminal, command.workspace.index_settings().now_ns, as_json=as_json)
        job = Job(full, False, LOCK_WAIT_SECONDS, MOST_TEXTS)
        session = _Session(command, job, log, reload=reload, inbox=inbox, stop=stop, lock=lock)
        try:
            session.stay()
        except Stopped:
            session.log.stopped(signal.Signals(stop.number).name)
        finally:
            session.detector.close()
    return ExitCode.INTERRUPTED if stop.number == signal.SIGINT else ExitCode.OK


class _Session:
    def __init__(
        self, command: CommandContext, job: Job, log: Log, *, reload: Callable[[], CommandContext],
        inbox: queue.SimpleQueue[Message], stop: Stop, lock: ExitStack,
    ) -> None:  # fmt: skip
        self.job, self.log = job, log
        self.command, self.reload, self.store = command, reload, command.workspace.store
        self.inbox, self.stop, self.lock = inbox, stop, lock
        self.clock, self.sleep = command.memory.clock.monotonic, command.memory.clock.sleep
        self.right = lock.enter_context(watching(self.store.state_path, sleep=self.sleep))
        self.watcher = watcher.Watcher(
            self.clock(),
            debounce=command.config("watch.debounce_ms") / 1000,
            interval=command.config("watch.interval_minutes") * 60,
        )
        self.detector = ChangeDetector(
            lambda hint: inbox.put((self.clock(), hint)),
            places=(self.store.state_path, *self.right.files),
            files=(os.path.join(command.config.workspace, WORKSPACE_FILE), user_file(os.environ)),
        )
        self.server_at = self.clock() + SERVER_SECONDS
        self.bar = Progress(command.terminal, self.clock)
        self.vectors = self.new_vectors()
        self.embedding_since: float | None = None
        self.embedded = 0
        self.record = WatchRecord(os.getpid(), since=self.log.now().isoformat(timespec="seconds"))

    def stay(self) -> None:
        """Do what is due, until the end."""
        address = self.store.describe().address
        self.log.started(self.command.config.workspace, address, self.record.pid)
        steps = {
            watcher.LOOK: self.look,
            watcher.PROBE: self.probe,
            watcher.BEAT: self.beat,
            watcher.EMBED: self.embed,
        }
        while True:
            self.listen(0)
            self.stop.check()
            action = self.watcher.due(self.clock())
            if action.kind == watcher.WAIT:
                self.listen(action.seconds)
            elif action.kind == watcher.RUN:
                self.run(action.reason)
            else:
                steps[action.kind]()

    def listen(self, seconds: float) -> None:
        """Wait for an event, and take all events so far."""
        before = self.watcher.waiting
        try:
            self.take(self.inbox.get(timeout=seconds) if seconds > 0 else self.inbox.get_nowait())
            while True:
                self.take(self.inbox.get_nowait())
        except queue.Empty:
            pass
        if self.watcher.waiting and not before:
            self.beat()

    def take(self, message: Message) -> None:
        at, document = message
        if document is None:
            self.watcher.unsure(at)
        elif document:
            self.watcher.touched(at, document)

    def look(self) -> None:
        """Check whether reported files are still being written."""
        self.watcher.note_stamps(self.clock(), self.detector.look(self.watcher.paths))

    def probe(self) -> None:
        """Check what sends no events: replaced folders, a lost store, changed settings."""
        started = self.clock()
        changed = self.detector.probe()
        if not changed.isdisjoint(self.right.files):
            self.lock.close()
            self.right = self.lock.enter_context(watching(self.store.state_path, sleep=self.sleep))
            self.detector.accept_places()
        if not (self.watcher.waiting or self.watcher.failures) and self.is_lost():
            self.log.notice("the index is gone and will be built again")
            self.watcher.unsure(started)
        if changed:
            self.watcher.unsure(started, hurry=True)
        for path in self.detector.poll():
            self.watcher.touched(started, path)
        ended = self.clock()
        self.watcher.probed(ended, cost=ended - started)

    def is_lost(self) -> bool:
        """Return whether the index is gone; ask a server once a minute."""
        if self.store.local_fallback() is not None:
            if self.clock() < self.server_at:
                return False
            self.server_at = self.clock() + SERVER_SECONDS
        try:
            return not self.store.exists()
        except AwayError as error:  # it still has the index, and each run tries again
            self.fail(error)
            return False

    def run(self, reason: str) -> None:
        """Update the index, and go on after any error."""
        started = self.clock()
        self.beat()
        self.watcher.began()
        try:
            self.reload_settings()
            notice = self.detector.watch(
                self.command.workspace.index_settings(), retry=reason == "sweep"
            )
            if notice:
                self.log.notice(notice)
            with self.drawing():
                done = sync(self.command.workspace, self.job, self.vectors)
        except (BrokenPipeError, Stopped):
            raise
        except Exception as error:  # a failed run must not end the watcher; `fail` reports it
            if self.record.last_sync is None and not isinstance(error, BusyError | AwayError):
                raise  # nothing has worked yet, and the user is still watching
            self.fail(error)
        else:
            self.succeed(reason, done, self.clock() - started)
        self.beat()

    def reload_settings(self) -> None:
        """Read the settings again; open another encoder when it is needed."""
        folder = self.command.config.workspace
        if not os.path.isdir(folder):
            raise NotFoundError(
                f"the workspace {folder} does not exist now; its index stays",
                hint=f"mount or restore {folder}",
            )
        before, workspace = self.command, self.reload().workspace.having(store=self.store)
        self.command = before.of(workspace)
        if encoder_settings(before.config, OF_VECTORS) != encoder_settings(
            self.command.config, OF_VECTORS
        ):
            self.vectors = self.new_vectors()

    def succeed(self, reason: str, done: RunResult, seconds: float) -> None:
        is_new, self.job = self.job.full, self.job._replace(full=False)
        can_embed = self.vectors.can_embed
        self.watcher.ended(self.clock(), pending=done.pending if can_embed else 0)
        if self.vectors.may_come_back:
            self.watcher.refused(self.clock(), pending=done.pending)
        self.record = self.record._replace(last_sync=self.log.now().isoformat(timespec="seconds"))
        for notice in done.notices:
            self.log.notice(notice)
        self.log.synced(
            reason, done.report, plain(files_of(done.report)), chunks=done.chunks,
            embedded=done.embedded, pending=done.pending, seconds=seconds, is_new=is_new,
        )  # fmt: skip
        self.log.vectors(self.vectors.opened)
        self.detector.accept_places()

    def fail(self, error: BaseException) -> None:
        self.watcher.failed(self.clock(), busy=isinstance(error, BusyError))
        self.log.failed(error, self.watcher.retry_seconds)

    def embed(self) -> None:
        """Embed the next texts of a long list; changed files go first."""
        if self.embedding_since is None:
            self.embedding_since, self.embedded = self.clock(), self.vectors.made
        try:
            with self.drawing():
                pending = embed_next(self.command.workspace, self.job, self.vectors)
        except (BrokenPipeError, Stopped):
            raise
        except Exception as error:  # as above: the next run makes the missing vectors
            self.fail(error)
            self.beat()
            return
        self.log.vectors(self.vectors.opened)
        if self.vectors.may_come_back:
            self.watcher.refused(self.clock(), pending=self.watcher.pending)
            return
        self.watcher.embedded(pending=pending)
        if not self.watcher.pending:
            made = self.vectors.made - self.embedded
            self.log.embedded(made, pending, self.clock() - self.embedding_since)
            self.embedding_since = None

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Draw the progress of a run on a terminal."""
        with Progress(self.command.terminal, self.clock) as self.bar:
            yield

    def tick(self, stage: str, done: int, total: int) -> None:
        """Between two documents: stop if asked to, draw, and record that the process runs."""
        self.stop.check()
        self.bar.update(stage, done, total)
        if self.watcher.due_to_beat(self.clock()):
            self.beat()

    def new_vectors(self) -> Vectors:
        """Make the vectors for the current settings; wait in small steps."""
        threads = self.command.config("watch.threads")
        return Vectors(self.command.workspace, self.tick, sleep=self.wait, threads=threads)

    def wait(self, seconds: float) -> None:
        """Wait for a server or a writer, unless a signal asks to stop."""
        until = self.clock() + seconds
        while (left := until - self.clock()) > 0:
            self.stop.check()
            self.sleep(min(left, NAP_SECONDS))

    def beat(self) -> None:
        """Write the record that `status` shows."""
        self.record = self.record._replace(
            backlog=self.watcher.backlog,
            mode="polling" if self.detector.polling else "events",
            beat=self.log.now().isoformat(timespec="seconds"),
            failure=self.log.failure,
        )
        self.right.tell(self.record)
        self.watcher.beaten(self.clock())


SCHEMA = "memcli.watch/1"
SHOWN_NAMES = 3
SHOWN_SKIPS = 5


class Log:
    """The output of one watcher; it does not repeat skips and failures."""

    def __init__(self, terminal: Terminal, now_ns: Callable[[], int], *, as_json: bool) -> None:
        """Write to stdout as JSON, else to stderr as text."""
        self._terminal, self._now_ns, self._as_json = terminal, now_ns, as_json
        self._folders: dict[tuple[str, str], Skip] = {}  # folders that the last run could not list
        self._files: set[Skip] = set()  # files that it has skipped
        self.failure = self._last_message = ""  # why the last run failed, and what was printed
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
        recovered = bool(self.failure)
        self.failure = self._last_message = ""
        changes = _changes(report)
        if changes or embedded or recovered or reason == "start" or self._terminal.verbose:
            done = "built again" if is_new else "up to date"
            text = changes or ("embedded" if embedded else f"{done}, {report.unchanged} files")
            if reason == "sweep" and changes:
                text = f"found without an event: {text}"
            text += f" ({_texts(embedded, pending)}{seconds:.1f} s)"
            self._line(
                text, event="synced", reason=reason, files=files, chunks=chunks,
                embedded=embedded, pending=pending, seconds=round(seconds, 3),
            )  # fmt: skip
        for notice in report.notices:
            self.notice(notice)
        for left in report.out_of_scope:
            self.advise(left)
        self._tell_skips(report)

    def embedded(self, embedded: int, pending: int, seconds: float) -> None:
        """Report that texts of earlier runs now have vectors."""
        self._line(
            f"embedded ({_texts(embedded, pending)}{seconds:.1f} s)",
            event="embedded", embedded=embedded, pending=pending, seconds=round(seconds, 3),
        )  # fmt: skip

    def vectors(self, opened: OpenedEncoder | None) -> None:
        """Report a change: vectors are missing, another encoder is used, or all is well again."""
        reason = without_vectors(opened) if opened else None
        before, self._vector_reason = self._vector_reason, reason
        if reason == before:
            return
        if reason is not None:
            self.advise(reason)
        elif opened is not None:
            self.notice("vectors are made again")

    def failed(self, error: BaseException, retry_seconds: float) -> None:
        """Report why a run failed, once per reason."""
        reason = _why(error)
        is_busy = reason.code == BusyError.code
        before, self.failure = self._last_message, reason.text
        self._last_message = reason.code if is_busy else reason.text  # the other process
        if before == self._last_message:
            return
        what = "waiting" if is_busy else "failed"
        text = f"{what}: {reason.text}; trying again in {retry_seconds:g} s"
        self._line(
            sentence(Reason(reason.code, text, "" if is_busy else reason.hint)), event="failed",
            code=reason.code, message=reason.text, hint=reason.hint, retry_seconds=retry_seconds,
        )  # fmt: skip

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
        for reason in report.flaws[:SHOWN_SKIPS]:
            self.advise(reason)

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
        except OSError:  # a full disk costs lines of the log, but does not end the watcher
            return


def _why(error: BaseException) -> Reason:
    """Return why a run failed; unexpected errors are shown unchanged."""
    if isinstance(error, MemcliError):
        return error.reason
    if isinstance(error, OSError):
        return Reason("os", error.strerror or str(error))
    return Reason("bug", f"internal error: {type(error).__name__}: {error}")


def _changes(report: Report) -> str:
    """Return the changes: all names if they are few, otherwise counts and the first names."""
    moved = [f"{old} -> {new}" for old, new in report.moved]
    named: dict[str, Sequence[str]] = {**report._asdict(), "moved": moved}
    words = ("added", "changed", "moved", "removed")
    kinds = [(word, named[word]) for word in words if named[word]]
    if sum(len(names) for _, names in kinds) <= SHOWN_NAMES:
        return "; ".join(f"{word} {', '.join(names)}" for word, names in kinds)
    counts = ", ".join(f"{len(names)} {word}" for word, names in kinds)
    first = [name for _, names in kinds for name in names][:SHOWN_NAMES]
    return f"{counts}: {', '.join(first)}, ..."


def _texts(embedded: int, pending: int) -> str:
    text = f"{counted(embedded, 'text')} embedded, " if embedded else ""
    return text + (f"{counted(pending, 'text')} still without a vector, " if pending else "")
