"""Read the filter options, and the options that limit updates of the index."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING, Any
from memcli.cli.options import DATES, FILTER_OPTIONS, Options, check, refuse
from memcli.errors import UsageError
from memcli.types import Filters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.cli.command_context import CommandContext
    from memcli.dates.find import DateSpan


def sync_of(options: Options, command: str) -> bool | None:
    """Return how to update the index: completely, not at all, or within the bounds (None)."""
    if options.sync and options.no_sync:
        raise UsageError(
            "--sync cannot be combined with --no-sync", hint=f"memcli {command} --help"
        )
    return True if options.sync else False if options.no_sync else None


def check_as_of(options: Options, *names: str) -> None:
    """Raise UsageError for an option that `--as-of` does not allow."""
    if options.as_of is not None:
        text = "{} works on the present files and cannot be combined with --as-of"
        hint = "memcli get CITATION --as-of DATE"
        refuse(options, names, text, hint)


def filters_of(
    command: CommandContext, options: Options, bounds: Sequence[DateSpan] = ()
) -> Filters:
    """Read the filter options of a command; UsageError for an unknown tag, source or heading.

    Paths are names and globs of files and folders, from here or from the root of a source. The name
    of a source means all its documents. A name that begins with `./` or `../` is a path from here
    that must lead into a source.
    """
    values, roots = vars(options), {each.name: each.root for each in command.config.sources}
    read: dict[str, Any] = {row.name: tuple(values.get(row.name) or ()) for row in FILTER_OPTIONS}
    check("--source", read["sources"], [*roots])
    if bounds:
        from memcli.dates.find import span_of

        read["since"], read["until"] = span_of(bounds)
    if read["paths"]:
        from memcli.workspace.names import globs_of

        read["paths"] = globs_of(read["paths"], command.here, roots)
    for tag in read["tags"]:
        if not tag.strip(" #/"):
            raise UsageError(f"--tag names no tag: {tag!r}", hint="--tag infra")
    if read["where"]:
        from memcli.api.filters import where_of

        read["where"] = tuple(where_of(text, "--where") for text in read["where"])
    return Filters(undated=values.get("undated", False), **read)


def bounds_of(options: Options, command: CommandContext, name: str) -> tuple[DateSpan, ...]:
    """Return the days that each date option allows."""
    dates = ((each.long, getattr(options, each.name)) for each in DATES)
    named = {option: text for option, text in dates if text is not None}
    if not named:
        return ()
    from memcli.dates.find import bounds_of as read

    hint, day_first = f"memcli {name} --help", command.config("search.date_order") == "dmy"
    return read(named, command.today, day_first=day_first, hint=hint)
