"""Read the filter options, and the options that limit updates of the index."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING, Any
from memcli.cli.options import DATES, FILTER_OPTIONS, Options, check
from memcli.errors import UsageError
from memcli.types import SCOPES, TRUSTS, Filters, Where

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memcli.cli.command_context import CommandContext
    from memcli.dates.find import DateSpan


def sync_of(options: Options, command: str) -> bool | None:
    """Return how to update the index: completely, not at all, or within the bounds (None)."""
    if options.sync and options.no_sync:
        raise UsageError(
            "--sync cannot be combined with --no-sync", hint=f"memcli {command} --help"
        )
    return True if options.sync else False if options.no_sync else None


def check_as_of(options: Options, others: Mapping[str, object]) -> None:
    """Raise UsageError for an option that `--as-of` does not allow."""
    options_set = [option for option, value in others.items() if value is not None]
    if options.as_of is not None and options_set:
        raise UsageError(
            f"{options_set[0]} works on the present files and cannot be combined with --as-of",
            hint="memcli get CITATION --as-of DATE",
        )


def filters_of(
    command: CommandContext, options: Options, bounds: Sequence[DateSpan] = ()
) -> Filters:
    """Read the filter options of a command; UsageError for an unknown tag, source or heading."""
    values = vars(options)
    typed = {each.name: values.get(each.name) for each in FILTER_OPTIONS}
    check("--source", typed.get("sources") or (), [each.name for each in command.config.sources])
    check("--scope", typed.get("scopes") or (), SCOPES)
    check("--trust", typed.get("trusts") or (), TRUSTS)
    first, last = span_of(bounds)
    read: dict[str, Any] = {name: tuple(texts or ()) for name, texts in typed.items()}
    read["paths"] = _paths_of(typed.get("paths"), command)
    read["tags"] = _tags_of(typed.get("tags"))
    read["where"] = _where_of(typed.get("where"))
    return Filters(since=first, until=last, undated=values.get("undated", False), **read)


def _tags_of(texts: list[str] | None) -> tuple[str, ...]:
    """Return the tags of --tag; UsageError for a tag without a letter."""
    for tag in texts or ():
        if not tag.strip(" #/"):
            raise UsageError(f"--tag names no tag: {tag!r}", hint="--tag infra")
    return tuple(texts or ())


def _where_of(texts: list[str] | None) -> tuple[Where, ...]:
    """Read `key=value`, `key!=value`, `key` and `!key`; UsageError for anything else."""
    if not texts:
        return ()
    from memcli.api.filters import where_of

    return tuple(where_of(text, "--where") for text in texts)


def bounds_of(options: Options, command: CommandContext, name: str) -> tuple[DateSpan, ...]:
    """Return the days that each date option allows."""
    dates = ((each.long, getattr(options, each.name)) for each in DATES)
    named = {option: text for option, text in dates if text is not None}
    if not named:
        return ()
    from memcli.dates.find import bounds_of as read

    hint = f"memcli {name} --help"
    return read(named, command.today, day_first=command.has_day_first, hint=hint)


def span_of(bounds: Sequence[DateSpan]) -> tuple[str | None, str | None]:
    """Return the first and the last day that the filters allow; None for no bound."""
    if not bounds:
        return None, None
    from memcli.dates.find import span_of as read

    return read(bounds)


def _paths_of(texts: list[str] | None, command: CommandContext) -> tuple[str, ...]:
    """Resolve names and globs to files and folders, from here or from the root of a source.

    The name of a source means all its documents. A name that begins with `./` or `../` is a path
    from here that must lead into a source.
    """
    if not texts:
        return ()
    from memcli.workspace.names import globs_of

    roots = {source.name: source.root for source in command.config.sources}
    return globs_of(texts, command.here, roots)
