"""The allowed name that is most similar to a mistyped one."""

from __future__ import annotations

from collections.abc import Sequence


def suggestion(name: str, names: Sequence[str]) -> str:
    """Name the nearest of the allowed names, if one is near."""
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def nearest(name: str, names: Sequence[str]) -> str:
    """Return the nearest of the allowed names, or the first if none is near."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, names, n=1)), names[0])
