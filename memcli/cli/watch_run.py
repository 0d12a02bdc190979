"""Keep the index up to date until a signal comes: the outer loop of `memcli index --watch`.

What is due is decided by `indexing/watcher.py`; here are the clock, the signals, the events and
the runs, which are those of `memcli index`. Ctrl-C ends it with 130, SIGTERM and SIGHUP with 0.
"""

from __future__ import annotations

import os
import queue
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from memcli.api.sync import Job, RunResult, Vectors, embed_next, files_of, sync
from memcli.api.workspace import ENCODER_SETTINGS
from memcli.checking import TYPE_CHECKING
from memcli.cli.progress import Progress
from memcli.cli.stopping import Stop, Stopped, stopped_by_signals
from memcli.cli.watch_output import Log
from memcli.config.settings import BY_NAME, WORKSPACE_FILE, user_file
from memcli.errors import AwayError, BusyError, ExitCode, NotFoundError
from memcli.indexing import watcher
from memcli.indexing.watch_sight import Sight
from memcli.record import plain
from memcli.store.run_records import WatchRecord
from memcli.store.watcher_lock import watching

if TYPE_CHECKING:
    from memcli.cli.command_context import CommandContext

# Another writer is waited for so long, then the run counts as failed and comes again.
LOCK_WAIT_SECONDS = 2.0
# The longest sleep after which a signal is noticed.
NAP_SECONDS = 0.5
# A server of the index is asked so often whether it still has it.
SERVER_SECONDS = 60.0
# Texts a run embeds before it looks up: a second or two with the bundled model.
MOST_TEXTS = 128
ENCODER_KEYS = (
    *(name for name in BY_NAME if name.startswith(ENCODER_SETTINGS)), "watch.threads",
)  # fmt: skip
Message = tuple[float, str | None]  # when, and `source:path`; None: anything may differ


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
            session.close()
    return ExitCode.INTERRUPTED if stop.number == signal.SIGINT else ExitCode.OK


class _Session:
    """One watcher at work."""

    def __init__(
        self,
        command: CommandContext,
        job: Job,
        log: Log,
        *,
        reload: Callable[[], CommandContext],
        inbox: queue.SimpleQueue[Message],
        stop: Stop,
        lock: ExitStack,
    ) -> None:
        self.job, self.log = job, log
        self.command, self.reload, self.store = command, reload, command.workspace.store
        self.inbox, self.stop, self.lock = inbox, stop, lock
        self.clock, self.sleep = command.memory.clock.monotonic, command.memory.clock.sleep
        self.right = lock.enter_context(watching(self.store.local, sleep=self.sleep))
        timing = watcher.Timing(
            debounce=command.config("watch.debounce_ms") / 1000,
            interval=command.config("watch.interval_minutes") * 60,
        )
        self.watcher = watcher.Watcher(timing, self.clock())
        self.sight = Sight(
            lambda hint: inbox.put((self.clock(), hint)),
            places=(self.store.local, *self.right.files),
            files=(
                os.path.join(command.config.workspace, WORKSPACE_FILE),
                user_file(os.environ),
            ),
        )
        self.server_at = self.clock() + SERVER_SECONDS
        self.bar = Progress(command.terminal, self.clock)
        self.vectors = self.new_vectors()
        self.embedding_since: float | None = None
        self.embedded = 0
        self.record = WatchRecord(os.getpid(), since=self.log.now().isoformat(timespec="seconds"))

    def close(self) -> None:
        """Stop listening."""
        self.sight.close()

    def stay(self) -> None:
        """Do what is due, for ever."""
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
        """Wait for an event, and take all that have come."""
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
        """Pass a message to the watcher."""
        at, document = message
        if document is None:
            self.watcher.unsure(at)
        elif document:
            self.watcher.touched(at, document)

    def look(self) -> None:
        """Look whether the files heard of are still being written."""
        self.watcher.note_stamps(self.clock(), self.sight.look(self.watcher.paths))

    def probe(self) -> None:
        """Look for what sends no events: replaced folders, a lost store, changed settings."""
        started = self.clock()
        changed = self.sight.probe()
        if not changed.isdisjoint(self.right.files):
            self.lock.close()
            self.right = self.lock.enter_context(
                watching(self.store.local, sleep=self.command.memory.clock.sleep)
            )
            self.sight.settle()
        if not (self.watcher.waiting or self.watcher.failures) and self.is_lost():
            self.log.notice("the index is gone and will be built again")
            self.watcher.unsure(started)
        if changed:
            self.watcher.unsure(started, hurry=True)
        for path in self.sight.poll():
            self.watcher.touched(started, path)
        ended = self.clock()
        self.watcher.probed(ended, cost=ended - started)

    def is_lost(self) -> bool:
        """Return whether the index is gone. A server is asked once a minute."""
        if self.store.stand_in() is not None:
            if self.clock() < self.server_at:
                return False
            self.server_at = self.clock() + SERVER_SECONDS
        try:
            return not self.store.exists()
        except AwayError as error:  # it has the index still; each run tries again
            self.fail(error)
            return False

    def run(self, reason: str) -> None:
        """Update the index, and survive any error."""
        started = self.clock()
        self.beat()
        self.watcher.began()
        try:
            self.settle_settings()
            notice = self.sight.aim(
                self.command.workspace.index_settings(), retry=reason == "sweep"
            )
            if notice:
                self.log.notice(notice)
            with self.drawing():
                done = sync(
                    self.command.workspace,
                    self.job,
                    self.vectors,
                    sleep=self.wait_for_lock,
                    on_progress=self.tick,
                )
        except (BrokenPipeError, Stopped):
            raise
        except Exception as error:  # one failed run must not end the watch; `fail` reports it
            if self.record.last_sync is None and not isinstance(error, BusyError | AwayError):
                raise  # nothing has worked yet: whoever started it is still looking
            self.fail(error)
        else:
            self.succeed(reason, done, self.clock() - started)
        self.beat()

    def settle_settings(self) -> None:
        """Read the settings again; another encoder is opened when it is needed."""
        folder = self.command.config.workspace
        if not os.path.isdir(folder):
            raise NotFoundError(
                f"the workspace {folder} does not exist now; its index stays",
                hint=f"mount or restore {folder}",
            )
        before, workspace = self.command, self.reload().workspace.having(store=self.store)
        self.command = before.of(workspace)
        if any(before.config(key) != self.command.config(key) for key in ENCODER_KEYS):
            self.vectors = self.new_vectors()

    def succeed(self, reason: str, done: RunResult, seconds: float) -> None:
        """Record and print what a run did."""
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
        self.sight.settle()

    def fail(self, error: BaseException) -> None:
        """Record and print why a run failed."""
        self.watcher.failed(self.clock(), busy=isinstance(error, BusyError))
        self.log.failed(error, self.watcher.retry_seconds)

    def embed(self) -> None:
        """Make the next vectors of a long list; changed files go first."""
        if self.embedding_since is None:
            self.embedding_since, self.embedded = self.clock(), self.vectors.made
        try:
            with self.drawing():
                pending = embed_next(
                    self.command.workspace, self.job, self.vectors, sleep=self.wait_for_lock
                )
        except (BrokenPipeError, Stopped):
            raise
        except Exception as error:  # as above; the next run makes the missing vectors
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
        """Between two documents: stop if asked to, draw, and show that the process lives."""
        self.stop.check()
        self.bar.update(stage, done, total)
        if self.watcher.due_to_beat(self.clock()):
            self.beat()

    def new_vectors(self) -> Vectors:
        """Make vectors by the settings as they are; a server is waited for in small steps."""
        return Vectors(
            self.command.workspace,
            self.tick,
            sleep=self.wait_for_server,
            threads=self.command.config("watch.threads"),
        )

    def wait_for_server(self, seconds: float) -> None:
        """Wait as long as a server asks, unless the end is asked for."""
        until = self.clock() + seconds
        while (left := until - self.clock()) > 0:
            self.stop.check()
            self.sleep(min(left, NAP_SECONDS))

    def wait_for_lock(self, seconds: float) -> None:
        """Wait a moment for another writer."""
        self.stop.check()
        self.sleep(seconds)

    def beat(self) -> None:
        """Write the record that `status` shows."""
        self.record = self.record._replace(
            backlog=self.watcher.backlog,
            mode="polling" if self.sight.polling else "events",
            beat=self.log.now().isoformat(timespec="seconds"),
            failure=self.log.failure,
        )
        self.right.tell(self.record)
        self.watcher.beaten(self.clock())
