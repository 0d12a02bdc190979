"""The context of a command: opened workspaces, the terminal, and the current time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, time

from memcli.api.open import open_workspaces
from memcli.api.workspace import Workspace, current_folder
from memcli.api.workspaces import Selection, Workspaces
from memcli.checking import TYPE_CHECKING, Any
from memcli.cli.options import Options
from memcli.cli.terminal import Terminal
from memcli.config.settings import Config, check_options, folder_of
from memcli.errors import ExitCode, NotFoundError, UsageError, quote
from memcli.record import Record
from memcli.types import MEMORY_SOURCE, lines_of, shown
from memcli.workspace.dating import age_days

if TYPE_CHECKING:
    from memcli.cli.progress import Progress
    from memcli.search.options import Observer
    from memcli.search.ranked import RankedPassage

SHOWN_MEMORIES = 4  # most agent memories that are named; status lists all


class CommandContext(Record):
    """The opened workspaces of a command, its terminal and its time."""

    memory: Workspaces
    terminal: Terminal
    moment: datetime  # from --now, or else from the clock
    here: str | None  # the current folder; None if it was deleted

    @property
    def config(self) -> Config:
        """Return the settings of a question."""
        return self.memory.config

    @property
    def today(self) -> date:
        """Return the current day, or the day of --now."""
        return self.moment.date()

    @property
    def question_time(self) -> date | datetime:
        """Return the current time, or the day or time of --now.

        A trace stores a day as midnight, so midnight counts as a day.
        """
        return self.today if self.moment.time() == time.min else self.moment

    @property
    def now(self) -> str:
        """Return the moment as an ISO time."""
        return self.moment.isoformat(timespec="seconds")

    @property
    def workspace(self) -> Workspace:
        """Return the one workspace that the command is about."""
        return self.memory.alone()

    def of(self, workspace: Workspace) -> CommandContext:
        """Return the same context for one workspace."""
        return self._replace(memory=Workspaces(workspace))

    def file_of(self, source: str, path: str) -> str | None:
        """Return the absolute path of a document; None if its source has no folder here."""
        roots = (each.root for each in self.config.sources if each.name == source)
        root = next(roots, None)
        return os.path.join(root, path) if root else None

    def name(self, source: str, path: str) -> str:
        """Name a document by its path from here, as other programs and `memcli get` take it.

        If there are several workspaces, the name begins with the name of its workspace.
        """
        if self.memory.members:  # a path from a lineage already is a name
            return path if source == MEMORY_SOURCE else shown(source, path)
        return self.file_from_here(source, path)

    def file_from_here(self, source: str, path: str) -> str:
        """Return the path of a document's file from here, for other programs."""
        if source == MEMORY_SOURCE and self.here == self.config.workspace:
            return shown(source, path)
        file = self.file_of(source, path)
        if file is None:
            return shown(source, path)
        from memcli.workspace.names import name_from

        return name_from(self.here, file, memory=self.config.workspace)

    def cite(self, passage: RankedPassage) -> str:
        """Cite the lines of a passage, with the path from here."""
        return (
            f"{self.name(*passage.about.document)}:{lines_of(passage.start_line, passage.end_line)}"
        )

    def is_news(self, what: str) -> bool:
        """Return whether a message about the workspace is new, and remember that it was printed.

        If memcli cannot remember it, it prints the message each time. The record is in the cache,
        not in the index, which others may share.
        """
        folder = folder_of(self.config.workspace, os.environ)
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            os.close(os.open(os.path.join(folder, f"told-{what}"), os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return False
        except OSError:
            return True
        return True

    def age_days(self, day: str) -> int:
        """Count the calendar days from `day` to today."""
        return age_days(day, self.today.isoformat())


def command_context(
    options: Options,
    settings: Mapping[str, Any] | None = None,
    *,
    anywhere: bool = False,
    here: str | None = None,
) -> CommandContext:
    """Open the workspace for a command; its options override settings.

    Without a marked workspace, it prints once what memcli searches. `anywhere` is for commands that
    need no workspace, and `here` replaces the current folder.
    """
    terminal = Terminal.of_process(options)
    settings = {**(settings or {}), **options.settings}
    check_options(settings)
    folders = tuple(options.workspace or ())
    if len(folders) > 1 and options.everywhere is None and options.workspace_name is None:
        raise UsageError(
            f"this command works on one workspace, but -w names {len(folders)}",
            hint=f"-w {quote(folders[0])}",
        )
    now = _parse_now(options.now) if options.now else None
    selected = Selection(
        folders,
        bool(options.everywhere),
        with_shared="tenant" in vars(options),  # the index is enough for the command
        as_of=options.as_of,
        shared=options.workspace_name,
        tenant=options.tenant,
        here=here,
        anywhere=anywhere,
        now=now,
        settings=settings,
    )
    memory = open_workspaces(selected)
    command = CommandContext(memory, terminal, now or memory.moment(), here or current_folder())
    for reason in memory.config.passed:
        terminal.advise(reason)
    if not (memory.config.is_marked or anywhere or memory.members or terminal.quiet):
        from memcli.digests import blake2b

        line = _what_is_searched(memory.config)
        of = blake2b(line.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        if command.is_news(f"unmarked-{of}") or terminal.verbose:
            terminal.say(line)
    return command


def each_workspace(
    command: CommandContext,
    work: Callable[[CommandContext], tuple[dict[str, Any], int]],
    *,
    what: str,
    as_json: bool,
    failed: int | None = None,
) -> int:
    """Work on each workspace and print its name above its text; if one fails, the others continue.

    `work` returns a record and an exit code. `failed` replaces the exit code of an error. The first
    exit code that is not 0 counts. As JSON, it writes one object of `memcli.WHAT-several/1` with
    all records.
    """
    from memcli.api.several_workspaces import attempt
    from memcli.render import jsonio

    records: list[dict[str, Any]] = []
    codes: list[int] = []
    terminal = command.terminal
    for number, member in enumerate(command.memory.members):
        record = {"name": member.name, "path": member.folder, "primary": number == 0}
        head = terminal.safe_line(f"==> {member.name} <==")
        if not as_json and what == "index":
            terminal.say(head)
        elif not as_json:
            terminal.write(f"\n{head}\n" if number else f"{head}\n")
            terminal.flush()
        result, error = attempt(member, lambda workspace: work(command.of(workspace)))
        if result is not None:
            record[what], code = result
        if error is not None:
            record["error"] = jsonio.reason(error.reason)
            terminal.advise(error.reason._replace(text=f"{member.name}: {error.reason.text}"))
            code = error.exit_code if failed is None else failed
        records.append(record)
        codes.append(code)
    if as_json:
        terminal.write_json({"schema": f"memcli.{what}-several/1", "workspaces": records})
    return next(filter(None, codes), ExitCode.OK)


@contextmanager
def timed(command: CommandContext) -> Iterator[Observer]:
    """With -v, print the time of the body, and of each stage that it observes."""
    if not command.terminal.verbose:
        yield lambda stage, passages: None
        return
    from memcli.cli.progress import Stopwatch

    watch = Stopwatch(command.memory.clock.monotonic)
    yield lambda stage, passages: watch.mark(stage)
    command.terminal.say(watch.line())


@contextmanager
def progress_of(command: CommandContext) -> Iterator[Observer]:
    """Show the progress of indexing before a search, and with -v its time."""
    drawn: list[Progress] = []

    def update(stage: str, done: int, total: int) -> None:
        if not drawn:
            from memcli.cli.progress import Progress

            drawn.append(Progress(command.terminal, command.memory.clock.monotonic, of_search=True))
        drawn[0].update(stage, done, total)

    with command.memory.showing(update), timed(command) as observe:
        try:
            yield observe
        finally:
            for each in drawn:
                each.close()


def _what_is_searched(config: Config) -> str:
    """Return what memcli searches without a marked workspace."""
    every = {source.name for source in config.sources}
    # Rule files next to an agent memory belong to that agent.
    names = [
        source.name
        for source in config.sources
        if source.name != MEMORY_SOURCE and source.name.rpartition(".")[0] not in every
    ]
    shown, more = names[:SHOWN_MEMORIES], len(names) - SHOWN_MEMORIES
    last = f"{more} more" if more > 0 else shown.pop() if names else ""
    text = f"{', '.join(shown)} and {last}" if shown else last
    memories = f", and the memory of {text}" if names else ""
    return f"No workspace here: searching {config.workspace}{memories}. To mark it: memcli init"


def marked(command: CommandContext) -> CommandContext:
    """Raise NotFoundError if the workspace is not marked, for commands that never guess."""
    if not command.config.is_marked:
        raise NotFoundError(f"{command.config.workspace} is not a workspace", hint="memcli init")
    return command


def _parse_now(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"--now must be an ISO time such as 2026-02-10 or 2026-02-10T09:00+01:00, not {text!r}",
            hint="memcli search QUERY --now 2026-02-10",
        ) from None


def warn_of_secrets(command: CommandContext, shown: Iterable[tuple[str, str]]) -> None:
    """Print kind, place and fingerprint of each secret in texts, each with its citation."""
    from memcli.secrets.finding import find_secrets

    for citation, text in shown:
        for secret in find_secrets(text):
            name = f"{secret.kind} ({secret.fingerprint})"
            command.terminal.warn(f"{citation} contains a secret: {name}")
