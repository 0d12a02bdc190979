"""Options as data: only the table of a command describes its command line.

A command module has `OPTIONS`, often `ARGUMENTS`, and `run`, which takes the values as `Options`.
The fast parser, Typer, the help, the completions and the manual are made from these tables. Options
that commands share are here; `filters` reads the values of filter options.
"""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING, Any
from memcli.errors import UsageError
from memcli.record import Record, expect_many
from memcli.types import SCOPES, TRUSTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    # Completions of a value: words, a function that lists them, or a kind of thing.
    Choices = Sequence[str] | Callable[[], Sequence[str]]

WORKSPACES, FILES, DOCUMENTS, SOURCES, TOPICS, SETTINGS = (
    "workspaces", "files", "documents", "sources", "topics", "settings",
)  # fmt: skip

# The groups of the help.
GENERAL = "Common"
FILTERS = "Filters"
RANKING = "Ranking"
INDEX = "Index"

# The words that options accept, if no setting lists them.
WHEN = ("auto", "always", "never")
SHELLS = ("bash", "zsh", "fish")  # with a completion script
SEARCH_FORMATS = ("text", "json", "jsonl", "markdown", "paths", "paths0", "vimgrep")
SORTS = ("score", "date", "newest")
LIST_FORMATS = ("text", "json", "jsonl", "paths", "paths0")
_SHORT = {"md": "markdown", "ndjson": "jsonl", "files": "paths", "0": "paths0"}
CHANGES_FORMATS = ("text", "json", "markdown")

NUMBER_OR_NONE = "[N]"  # the metavar of an option whose number is optional and then 1


class CommandArgument(Record):
    """An argument of a command."""

    name: str  # the name of its value in `Options`
    metavar: str
    help: str
    kind: type = str  # `list`: any number of words
    is_required: bool = False
    choices: Choices = ()


class Option(Record):
    """An option of a command."""

    names: str  # separated by spaces, short ones first
    help: str
    metavar: str = ""  # empty for a switch
    kind: type = str  # of the value: str, int, float, or `list` if it may be repeated
    setting: str = ""  # the setting that it overrides, with its default and its choices
    default: Any = None
    shown_default: str = ""  # shown in the help instead of the default
    group: str = ""
    least: int | None = None
    choices: Choices = ()
    is_open: bool = False  # values besides the words of `choices` are possible
    attribute: str = ""  # the name of its value in `Options`, if it differs from the option

    @property
    def name(self) -> str:
        """Name its value in `Options`: --no-sync is `no_sync`."""
        return self.attribute or self.names.rpartition("--")[2].replace("-", "_")

    @property
    def long(self) -> str:
        """Return the name that messages use."""
        return self.names.rpartition(" ")[2]

    @property
    def is_switch(self) -> bool:
        """Return whether it takes no value."""
        return not self.metavar

    @property
    def values(self) -> tuple[str, ...]:
        """Return the only values that it takes; empty if it takes others too."""
        if isinstance(self.choices, tuple) and not self.is_open:
            return self.choices
        return ()


class GroupCommand(Record):
    """A command of a group; a command without a group is a module with these names."""

    run: Callable[[Options], int]
    OPTIONS: tuple[Option, ...]
    ARGUMENTS: tuple[CommandArgument, ...] = ()


class Options:
    """The values of a command line, by the names of its options and arguments.

    Options that most commands have are declared here.
    """

    workspace: list[str] | None = None
    everywhere: bool | None = None  # None if the command has no such option
    workspace_name: str | None = None
    tenant: str | None = None
    as_of: str | None = None
    quiet: bool = False
    verbose: bool = False
    color: str = "auto"
    now: str | None = None
    settings: Mapping[str, Any] = {}  # the settings that options override

    def __init__(self, **values: Any) -> None:  # noqa: ANN401
        self.__dict__.update(values)

    def named(self, hint: str) -> str:
        """Add the workspace of the line to a hint, if the line names one."""
        folders = self.workspace or ()
        pairs = [("-w", each) for each in folders]
        pairs += [("--workspace-name", self.workspace_name)] if self.workspace_name else []
        pairs += [("--tenant", self.tenant)] if self.tenant else []
        if not hint or len(pairs) != 1:
            return hint
        from memcli.render.reasons import for_workspace

        ((option, value),) = pairs
        return for_workspace(hint, value, option)

    def having(self, **values: Any) -> Options:  # noqa: ANN401
        """Return the same options with other values."""
        return type(self)(**{**self.__dict__, **values})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401
            """Return the value of an option of one command."""

    @classmethod
    def of(cls, command: Any, values: Mapping[str, Any]) -> Options:  # noqa: ANN401
        """Make the options of a command module from the values of a line, and from defaults.

        UsageError for a value that is not among the choices of its option.
        """
        made, settings = {}, {}
        for option in command.OPTIONS:
            name = option.name
            value = made[name] = values.get(name, option.default if option.metavar else False)
            if option.setting and value is not None:
                settings[option.setting] = value
            elif value is not None and option.values:
                check(option.long, value if option.kind is list else [value], option.values)
        for argument in arguments_of(command):
            made[argument.name] = values.get(argument.name)
        return cls(**made, settings=settings)


def arguments_of(command: Any) -> Iterable[CommandArgument]:  # noqa: ANN401
    """Return the arguments of a command module in order."""
    arguments: Iterable[CommandArgument] = getattr(command, "ARGUMENTS", ())
    return arguments


def words_of(options: Options, rows: Iterable[Option]) -> list[str]:
    """Return the words of a command line with these options."""
    words = []
    for row in rows:
        value = getattr(options, row.name, None)
        if row.is_switch:
            words += [row.long] if value else []
        elif value not in (None, row.default):
            each = value if isinstance(value, list) else [value]
            words += [word for one in each for word in (row.long, str(one))]
    return words


expect_many(Option)


def check(option: str, words: Sequence[str], known: Sequence[str]) -> None:
    """Raise UsageError for a word that an option does not accept, with the nearest one."""
    for word in words:
        if word not in known:
            from memcli.config.keys import nearest

            short = _SHORT.get(word, "")
            raise UsageError(
                f"{option} must be one of {', '.join(known)}, not {word!r}",
                hint=f"{option} {short if short in known else nearest(word, known)}",
            )


def refuse(options: Options, names: Iterable[str], text: str, hint: str) -> None:
    """Refuse the first of these options that is set: its name replaces `{}` in the error."""
    for name in names:
        if getattr(options, name):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(text.format(option), hint=hint.format(option))


def result_keys() -> Sequence[str]:
    """Return the keys of a passage in JSON."""
    from memcli.render.jsonio import RESULT_KEYS

    return RESULT_KEYS


def related_keys() -> Sequence[str]:
    """Return the keys of a passage of `related` in JSON."""
    from memcli.render.jsonio import RELATED_KEYS

    return RELATED_KEYS


WORKSPACE = Option(
    "-w --workspace", "Workspace folder or @NAME. Repeat it to search several.", "FOLDER", list,
    shown_default="MEMCLI_WORKSPACE or the nearest above", group=GENERAL, choices=WORKSPACES,
)  # fmt: skip
ONE_WORKSPACE = WORKSPACE._replace(help="Workspace folder or @NAME.")
EVERYWHERE = Option("--everywhere", "Use every workspace that has a name.", group=GENERAL)
WORKSPACE_NAME = Option(
    "--workspace-name", "Workspace of the shared index, by its name there.", "NAME", group=GENERAL
)  # fmt: skip
TENANT = Option(
    "--tenant", "All workspaces of this tenant of the shared index.", "NAME", group=GENERAL
)  # fmt: skip
AGENT_MEMORIES = Option(
    "--with", "Include an agent memory: claude-code, codex.", "NAME", list,
    "files.agent_memories", shown_default="none", group=GENERAL, attribute="agent_memories",
)  # fmt: skip
JSON = Option("--json", "Print one JSON object.", group=GENERAL)
QUIET = Option("-q --quiet", "Print data only, no messages.", group=GENERAL)
VERBOSE = Option("-v --verbose", "Explain more.", group=GENERAL)
COLOR = Option(
    "--color", "Color: auto, always or never.", "WHEN", default="auto", group=GENERAL, choices=WHEN
)
NOW = Option("--now", "Current time to assume.", "TIME", shown_default="the clock", group=GENERAL)
DEBUG = Option("--debug", "Show tracebacks.", group=GENERAL)
COMMON = (QUIET, VERBOSE, COLOR, NOW, DEBUG)
STANDARD = (JSON, ONE_WORKSPACE, *COMMON)  # for commands with one workspace
SEVERAL = (  # of a command for several workspaces
    WORKSPACE, EVERYWHERE, AGENT_MEMORIES, WORKSPACE_NAME, TENANT, *COMMON,
)  # fmt: skip

SYNC = Option("--sync", "Index all changes first.", group=INDEX)
NO_SYNC = Option("--no-sync", "Do not update the index.", group=INDEX)
AS_OF = Option(
    "--as-of", "Use the notes as of this day or commit.", "WHEN",
    shown_default="now",
)  # fmt: skip
LIMIT = Option("-n --limit", "Number of passages, 1 to 100.", "N", int, "search.limit")
FORMAT = Option(
    "-f --format", f"{', '.join(SEARCH_FORMATS)} or '{{citation}}'.", "FORM",
    shown_default="text", choices=SEARCH_FORMATS, is_open=True,
)  # fmt: skip
MODE = Option("--mode", "Search by: hybrid, keyword or semantic.", "MODE", setting="search.mode")
FUSION = Option(
    "--fusion", "How scores are combined: scaled, weighted or rrf.", "HOW", setting="search.fusion"
)  # fmt: skip
PROFILE = Option(
    "--profile", "Ranking: default, classic, convex or two-pass.", "NAME", setting="search.profile"
)  # fmt: skip
RERANK = Option(
    "--rerank", "Rerank the top 20: none, tokens, onnx or endpoint.", "BY", setting="search.rerank"
)  # fmt: skip
FULL = Option("--full", "Print whole chunks.")
BRIEF = Option("-1 --brief", "Print one line per passage.")
MORE = Option("--more", "Show every passage in full, weak ones too.")

DATES = (
    Option("--since", "Only entries from this date on.", "DATE", group=FILTERS),
    Option("--until", "Only entries up to this date.", "DATE", group=FILTERS),
    Option("--on", "Only entries of this day, month or year.", "DATE", group=FILTERS),
)
UNDATED = Option("--undated", "Include undated notes.", group=FILTERS)
PATH = Option(
    "--path", "Only matching paths, such as 'memory/2025-*'.", "GLOB", list, group=FILTERS,
    choices=DOCUMENTS, attribute="paths",
)  # fmt: skip
SOURCE = Option(
    "--source", "Only this source.", "NAME", list, group=FILTERS, choices=SOURCES,
    attribute="sources",
)  # fmt: skip
KIND = Option(
    "--kind", "Only this kind of document, such as log or note.", "KIND", list, group=FILTERS,
    attribute="kinds",
)  # fmt: skip
SCOPE = Option(
    "--scope", f"Only this scope: {', '.join(SCOPES)}.", "SCOPE", list,
    group=FILTERS, choices=SCOPES, attribute="scopes",
)  # fmt: skip
TRUST = Option(
    "--trust", "Only trusted or only untrusted documents.", "TRUST", list, group=FILTERS,
    choices=TRUSTS, attribute="trusts",
)  # fmt: skip
HEADING = Option(
    "--heading", "Only below headings that contain TEXT.", "TEXT", list, group=FILTERS,
    attribute="headings",
)  # fmt: skip
BY = Option("--by", "Only lines of this speaker.", "NAME", list, group=FILTERS)
TAG = Option(
    "--tag",
    "Only documents with this tag. Repeat it for more.",
    "TAG",
    list,
    group=FILTERS,
    attribute="tags",
)
WHERE = Option(
    "--where", "Only documents with this front matter.", "KEY=VALUE", list, group=FILTERS
)
# Each has the name of a field in `Filters`.
FILTER_OPTIONS = (PATH, SOURCE, KIND, SCOPE, TRUST, HEADING, BY, TAG, WHERE)
