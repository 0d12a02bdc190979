"""The filters of a search, with the names that Python and the command line share."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING, Any
from memcli.errors import UsageError
from memcli.types import SCOPES, TRUSTS, Filters, Where

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date
    from typing import TypedDict

    from memcli.config.settings import Config
    from memcli.dates.find import DateSpan

    class FilterArguments(TypedDict, total=False):
        """The filters of a search; each name is that of an option."""

        since: str  # a day in words or as a date; also `until` and `on`
        until: str
        on: str
        undated: bool
        paths: Sequence[str]
        tags: Sequence[str]
        where: Sequence[str]  # KEY=VALUE, KEY!=VALUE, KEY or !KEY of the front matter
        sources: Sequence[str]
        kinds: Sequence[str]
        scopes: Sequence[str]
        trusts: Sequence[str]
        headings: Sequence[str]
        by: Sequence[str]
        view: str


QUERY_SYNTAX = "memcli help query-syntax"
DATES = ("since", "until", "on")
_LISTS = ("tags", "sources", "kinds", "scopes", "trusts", "headings", "by")
_OTHERS = ("undated", "paths", "where", "view")


def filters_of(
    config: Config, arguments: Mapping[str, object], today: date, *, hint: str = QUERY_SYNTAX
) -> tuple[Filters, tuple[DateSpan, ...]]:
    """Read filters by their names, and their dates; UsageError for an unknown name or value.

    `hint` is for dates that exclude each other.
    """
    from memcli.dates.find import bounds_of, span_of
    from memcli.workspace.names import globs_of

    _known("filter", arguments, (*DATES, *_LISTS, *_OTHERS))
    dates = {name: str(arguments[name]) for name in DATES if arguments.get(name) is not None}
    day_first = config("search.date_order") == "dmy"
    bounds = bounds_of(dates, today, day_first=day_first, hint=hint)
    first, last = span_of(bounds)
    lists: dict[str, Any] = {name: texts(arguments.get(name)) for name in _LISTS}
    _known("source", lists["sources"], [each.name for each in config.sources])
    _known("scope", lists["scopes"], SCOPES)
    _known("trust", lists["trusts"], TRUSTS)
    roots = {source.name: source.root for source in config.sources}
    filters = Filters(
        since=first,
        until=last,
        paths=globs_of(list(texts(arguments.get("paths"))), config.workspace, roots),
        where=tuple(where_of(each, "where") for each in texts(arguments.get("where"))),
        undated=bool(arguments.get("undated", False)),
        view=str(arguments.get("view") or config("search.view")),
        **lists,
    )
    return filters, bounds


def texts(value: object) -> tuple[str, ...]:
    """Return a list of texts; a single text becomes a list of one."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(map(str, value))  # type: ignore[call-overload]


def where_of(text: str, name: str) -> Where:
    """Read `key=value`, `key!=value`, `key` or `!key`; UsageError for anything else.

    `name` is that of the filter, for the error.
    """
    key, sign, value = text.partition("=")
    negated = key.endswith("!") if sign else key.startswith("!")
    key, value = key.strip("! "), value.strip()
    if not key or key.endswith(("<", ">")) or bool(sign) != bool(value):
        raise UsageError(
            f"{name} takes KEY=VALUE, KEY!=VALUE, KEY or !KEY, not {text!r}",
            hint="--where status=open",
        )
    return Where(key, value if sign else None, negated)


def _known(what: str, names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise UsageError(
                f"there is no {what} {name!r}; there is {', '.join(known)}",
                hint="memcli help python",
            )
