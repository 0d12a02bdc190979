"""Turn the dates of --since, --until and --on into days; pure."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.dates.find import parse_date
from memcli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from memcli.dates.find import DateSpan

_HINT = "memcli help query-syntax"


def bounds_of(
    texts: Mapping[str, str], today: date, *, day_first: bool, hint: str = _HINT
) -> tuple[DateSpan, ...]:
    """Read the dates of since, until and on, by the names that the caller uses.

    UsageError if one is not a date, or, with `hint`, if two of them exclude each other.
    """
    names = {name.lstrip("-"): name for name in texts}
    if "on" in names and len(names) > 1:
        dashes = names["on"].removesuffix("on")
        raise UsageError(
            f"{dashes}on cannot be combined with {dashes}since or {dashes}until", hint=hint
        )
    bounds = []
    for name, text in texts.items():
        try:
            span = parse_date(text, today, day_first=day_first)
        except ValueError as error:
            raise UsageError(str(error), hint=_HINT) from None
        is_since, is_until = name.endswith("since"), name.endswith("until")
        if (is_since and not span.start) or (is_until and not span.end):
            missing = "first day" if is_since else "last day"
            raise UsageError(f"{name} wants a day, and {text!r} has no {missing}", hint=_HINT)
        if is_since or is_until:
            span = span._replace(end=None) if is_since else span._replace(start=None)
        bounds.append(span._replace(text=f"{name} {span.text}"))
    return tuple(bounds)


def span_of(bounds: Sequence[DateSpan]) -> tuple[str | None, str | None]:
    """Return the first and the last day that the filters allow; None for no bound."""
    first = next((span.start for span in bounds if span.start), None)
    last = next((span.end for span in bounds if span.end), None)
    if first and last and first > last:
        from shlex import join  # a hint is pasted

        since, until = (span.text.split(" ", 1)[1] for span in bounds)
        raise UsageError(
            f"the span from {first} to {last} ends before it begins",
            hint=join(["--since", until, "--until", since]),
        )
    return first, last
