"""Decide when a watched workspace is indexed: events and clock values in, due actions out; pure.

An event is a hint that a path may differ, never a fact: every run walks the whole tree. A run waits
until there were no events for the debounce time and every file looks the same twice, so that a
half-written file settles first. It never waits longer than a few debounce times, so endless writing
delays nothing for ever. A failed run is repeated after growing intervals. All times are seconds of
one monotonic clock.
"""

from __future__ import annotations

from collections.abc import Mapping

from memcli.record import Record

# Two looks at a file with this interval must agree. It exceeds the pauses inside one slow save
# (80 ms between truncating and writing, measured with an editor on a busy machine).
SETTLE_SECONDS = 0.2
# Endless writes delay a run by so many debounce times, and never by less than this.
MOST_DEBOUNCES = 4
LEAST_MAX_WAIT_SECONDS = 2.0
# Folders that vanish, come back or are mounted send no event, so their identity is compared.
PROBE_SECONDS = 1.0
# A probe, which walks the tree when polling, takes at most this share of the time.
PROBE_SHARE = 0.05
BEAT_SECONDS = 30.0
FIRST_RETRY_SECONDS = 1.0
LAST_RETRY_SECONDS = 60.0
# With more paths than this, the whole tree counts as changed.
MOST_PATHS = 10_000

WAIT, LOOK, RUN, EMBED, PROBE, BEAT = "wait", "look", "run", "embed", "probe", "beat"

Stamp = tuple[int, int, int] | None  # size, mtime_ns, inode; None: not there


class Action(Record):
    """The next step of the watcher."""

    kind: str  # wait | look | run | embed | probe | beat
    seconds: float = 0.0  # how long to wait at most
    reason: str = ""  # of a run: start | change | sweep | retry


def _patience(failures: int) -> float:
    """Return the seconds until the next attempt after so many failures in a row."""
    return min(LAST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2.0 ** min(failures - 1, 10))


class Watcher:
    """The state of one watcher.

    The caller reports events and results, and asks for what is `due`.
    """

    def __init__(self, now: float, *, debounce: float, interval: float) -> None:
        """Begin with a run that is due at once.

        `debounce` and `interval` (between sweeps; 0: none) are seconds.
        """
        self._debounce, self._interval = debounce, interval
        self.max_wait = max(LEAST_MAX_WAIT_SECONDS, MOST_DEBOUNCES * debounce)
        self.paths: set[str] = set()
        self.pending = 0  # texts without a vector
        self._refusals = 0  # of the encoder, in a row
        self._embed_at = now
        self.failures = 0  # in a row
        self._busy = False  # whether another writer made the last of them
        self._running = 0  # files that the present run has taken over
        self._unsure = False  # something changed, at an unknown place
        self._first = self._last = now
        self._last_stamps: tuple[float, Mapping[str, Stamp]] | None = None
        self._is_stable = False
        self._started = False
        self._retry_at: float | None = None
        self._sweep_at: float | None = None
        self._probe_at = now + PROBE_SECONDS
        self._beat_at = now

    @property
    def waiting(self) -> int:
        """Count the files that wait for a run; 1 if an unknown file does."""
        return max(len(self.paths), int(self._unsure))

    @property
    def backlog(self) -> int:
        """Count the files that wait, including those of a run that has not ended."""
        return self.waiting + self._running

    @property
    def retry_seconds(self) -> float:
        """Return how long a failed run waits before the next attempt."""
        if self._busy:
            return FIRST_RETRY_SECONDS
        return _patience(self.failures)

    def touched(self, at: float, path: str) -> None:
        """Hear that a file may differ."""
        self._heard(at)
        if len(self.paths) < MOST_PATHS:
            self.paths.add(path)
        else:
            self._unsure = True

    def unsure(self, at: float, *, hurry: bool = False) -> None:
        """Hear that anything may differ: a folder, lost events; `hurry` shortens a retry."""
        self._heard(at)
        self._unsure = True
        if hurry and self._retry_at is not None:
            self._retry_at = min(self._retry_at, at + self._debounce)

    def _heard(self, at: float) -> None:
        if not self.waiting:
            self._first = at
        self._last = max(self._last, at)
        self._last_stamps, self._is_stable = None, False

    def due(self, now: float) -> Action:
        """Return what to do now; a wait ends early if an event arrives."""
        run_at, reason = self._run_at()
        if run_at is not None and now >= run_at:
            return Action(RUN, reason=reason)
        look_at = self._look_at()
        if look_at is not None and now >= look_at:
            return Action(LOOK)
        if now >= self._probe_at:
            return Action(PROBE)
        if now >= self._beat_at:
            return Action(BEAT)
        wants_vectors = self.pending and self._retry_at is None
        if wants_vectors and now >= self._embed_at:
            return Action(EMBED)
        times = [self._probe_at, self._beat_at, *([self._embed_at] if wants_vectors else [])]
        times += [at for at in (run_at, look_at) if at is not None]
        return Action(WAIT, seconds=min(times) - now)

    def _run_at(self) -> tuple[float | None, str]:
        """Return when the next run is due, and why."""
        if self._retry_at is not None:
            return self._retry_at, "retry"
        if not self._started:
            return self._first, "start"
        if self.waiting:
            latest = self._first + self.max_wait
            quiet = self._last + self._debounce
            ready = self._is_stable or not self.paths
            return (min(quiet, latest) if ready else latest), "change"
        return self._sweep_at, "sweep"

    def _look_at(self) -> float | None:
        """Return when to stat the changed files: before the quiet ends, and once more."""
        if not (self._started and self.paths) or self._is_stable or self._retry_at is not None:
            return None
        if self._last_stamps is not None:
            return self._last_stamps[0] + SETTLE_SECONDS
        return self._last + max(0.0, self._debounce - SETTLE_SECONDS)

    def note_stamps(self, now: float, stamps: Mapping[str, Stamp]) -> None:
        """Compare the stats of the changed files with the earlier ones."""
        if self._last_stamps is None:
            self._last_stamps = now, stamps
        elif self._last_stamps[1] == stamps:
            self._is_stable = True
        else:  # written without an event: that counts as one
            self._heard(now)

    def began(self) -> None:
        """Start a run; later events wait for the next."""
        self._started = True
        self._running = self.waiting
        self.paths, self._unsure = set(), False
        self._last_stamps, self._is_stable = None, False
        self._retry_at = None

    def ended(self, now: float, *, pending: int) -> None:
        """Note that a run is done and how many texts it left without a vector."""
        self.failures = self._running = 0
        self.pending = pending
        if pending:
            self._embed_at = now
        self._sweep_at = now + self._interval if self._interval else None

    def embedded(self, *, pending: int) -> None:
        """Note how many texts still have no vector; without progress memcli stops trying."""
        self.pending = pending if pending < self.pending else 0
        self._refusals = 0

    def refused(self, now: float, *, pending: int) -> None:
        """Note that the encoder is not available; the next attempts come at growing intervals."""
        self.pending = max(1, pending)
        self._refusals += 1
        self._embed_at = now + _patience(self._refusals)

    def failed(self, now: float, *, busy: bool = False) -> None:
        """Note that a run failed, and that all its files still wait.

        If another process was writing (`busy`), the interval does not grow: that ends by itself.
        """
        self._unsure, self._running = True, 0
        self.failures += 1
        self._busy = busy
        self._retry_at = now + self.retry_seconds

    def probed(self, now: float, *, cost: float) -> None:
        """Note a probe that took `cost` seconds."""
        self._probe_at = now + max(PROBE_SECONDS, cost / PROBE_SHARE)

    def due_to_beat(self, now: float) -> bool:
        """Return whether the heartbeat is due, even during a run."""
        return now >= self._beat_at

    def beaten(self, now: float) -> None:
        """Note that the heartbeat was written."""
        self._beat_at = now + BEAT_SECONDS
