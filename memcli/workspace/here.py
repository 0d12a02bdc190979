"""Find what a name means from the folder where somebody stands."""

from __future__ import annotations

import os
from collections.abc import Mapping


def documents_at(here: str | None, name: str, roots: Mapping[str, str]) -> list[tuple[str, str]]:
    """List what a name may mean from here: (source, path) for each real root it lies below."""
    if "\0" in name or (here is None and not os.path.isabs(name)):
        return []
    file = os.path.join(here or "", name)
    folder, last = os.path.split(file)
    # As it is written, for a document behind a link that is followed; then where it really lies.
    places = (os.path.normpath(file), os.path.join(os.path.realpath(folder), last))
    found = [
        (source, place.removeprefix(below).replace(os.sep, "/"))
        for place in dict.fromkeys(places)
        for source, root in roots.items()
        if place.startswith(below := os.path.join(root, ""))
    ]
    return found
