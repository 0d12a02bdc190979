"""Remember which folders were mount points: an empty one with nothing mounted hides documents."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from memcli.types import Listing, Skip, Source


def remember(listing: Listing, missing: Iterable[Skip]) -> str:
    """Write down the mount points that were seen and those that are missed, as JSON."""
    return json.dumps(sorted({*listing.mounts, *((skip.source, skip.path) for skip in missing)}))


def missing(sources: Iterable[Source], listing: Listing, remembered: str | None) -> list[Skip]:
    """List the remembered mount points that are empty folders of their parent's device now.

    One that has files or is gone altogether was changed by somebody and is believed.
    """
    if not remembered or remembered == "[]":
        return []
    roots = {source.name: source.root for source in sources}
    found = []
    for source, path in _read(remembered):
        if source not in roots or (source, path) in listing.mounts:
            continue
        try:
            with os.scandir(os.path.join(roots[source], path)) as entries:
                is_empty = next(entries, None) is None
        except OSError:  # gone, or unlisted as it is
            continue
        if is_empty:
            found.append(Skip(source, path, "unreadable", "nothing is mounted there now"))
    return found


def _read(remembered: str) -> list[tuple[str, str]]:
    """Read what `remember` wrote; anything else is not a mount point."""
    try:
        found = json.loads(remembered)
    except (ValueError, TypeError, RecursionError):
        return []
    return [
        (pair[0], pair[1])
        for pair in (found if isinstance(found, list) else [])
        if isinstance(pair, list)
        and len(pair) == 2
        and all(isinstance(each, str) and "\0" not in each for each in pair)
        and not os.path.isabs(pair[1])
        and os.pardir not in pair[1].split("/")
    ]
