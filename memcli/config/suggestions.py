"""The allowed name that is most similar to a mistyped one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_LEAST = 0.61  # how similar a name has to be: 0 to 1, of difflib


def similar(name: str, names: Iterable[str]) -> str:
    """Return the nearest of the allowed names; "" if none is near."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, [*names], n=1, cutoff=_LEAST)), "")


def suggestion(name: str, names: Sequence[str]) -> str:
    """Name the nearest of the allowed names, if one is near."""
    near = similar(name, names)
    return f"; did you mean {near}?" if near else ""


def nearest(name: str, names: Sequence[str]) -> str:
    """Return the nearest of the allowed names, or the first if none is near."""
    return similar(name, names) or names[0]
