"""A progress line on a terminal, shown after a moment and cleared at the end.

If stderr is not a terminal, a search that reads many files prints one line instead.
"""

from __future__ import annotations

from collections.abc import Callable

from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from memcli.cli.terminal import Terminal

SHOW_AFTER_SECONDS = 0.3
SAY_AFTER_SECONDS = 10.0  # if stderr is not a terminal
WAITING = "waiting for another memcli, which is reading the notes for the first time"
LEAST_BAR, MOST_BAR = 4, 40  # columns
BESIDE_BAR = len("embedding  100000/100000 0:00:00 left 100 per second ")


class Stopwatch:
    """Adds up how long each stage of a run takes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started = self._marked = clock()
        self._seconds: dict[str, float] = {}

    def mark(self, stage: str) -> None:
        """Add the time since the last mark to a stage that has just worked."""
        before, self._marked = self._marked, self._clock()
        self._seconds[stage] = self._seconds.get(stage, 0.0) + self._marked - before

    def line(self) -> str:
        """Return the time of the run so far, and of each stage."""
        stages = ", ".join(f"{stage} {spent:.3f}" for stage, spent in self._seconds.items())
        text = f"Took {self._clock() - self._started:.3f} s"
        return f"{text}: {stages}" if stages else text


class Progress:
    """Draw the stages of an index run; silent with -q."""

    def __init__(
        self, terminal: Terminal, clock: Callable[[], float], *, of_search: bool = False
    ) -> None:
        self._of_search = of_search
        self._terminal, self._clock = terminal, clock
        self._announced: set[str] = set()
        self._started = clock()
        self._bar: object | None = None
        self._stage, self._task = "", 0
        self._began = (0.0, 0)  # when the stage was first drawn, and how much was done by then

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Clear the line."""
        if self._bar is not None:
            self._bar.stop()  # type: ignore[attr-defined]

    def update(self, stage: str, done: int, total: int) -> None:
        """Show the progress of a stage instead of the previous one."""
        seconds = self._clock() - self._started
        if stage == "waiting":
            self._say_once(stage, WAITING)
        elif self._terminal.err_is_terminal:
            if seconds >= SHOW_AFTER_SECONDS and not self._terminal.quiet:
                self._draw(stage, done, total)
        elif self._of_search and stage == "reading" and seconds >= SAY_AFTER_SECONDS:
            self._say_once(stage, f"reading {total:,} files, which takes some time at first")

    def _say_once(self, stage: str, text: str) -> None:
        if stage not in self._announced:
            self._announced.add(stage)
            self._terminal.warn(text)

    def _draw(self, stage: str, done: int, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        if self._bar is None:
            console = Console(file=self._terminal.err, no_color=not self._terminal.err_is_coloured)
            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(min(MOST_BAR, max(LEAST_BAR, console.width - BESIDE_BAR))),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                TextColumn("left {task.fields[pace]}"),
                console=console,
                transient=True,
            )
            self._bar.start()
        if stage != self._stage:
            if self._stage:
                self._bar.remove_task(self._task)  # type: ignore[attr-defined]
            self._stage, self._began = stage, (self._clock(), done)
            self._task = self._bar.add_task(stage, total=total, pace="")  # type: ignore[attr-defined]
        self._bar.update(  # type: ignore[attr-defined]
            self._task, completed=done, total=total, pace=self._pace(done)
        )

    def _pace(self, done: int) -> str:
        """Return the rate per second of a stage, once it is known."""
        since, before = self._began
        seconds = self._clock() - since
        if done <= before or seconds < SHOW_AFTER_SECONDS:
            return ""
        pace = (done - before) / seconds
        return f"{pace:.{0 if pace >= 10 else 1}f} per second"
