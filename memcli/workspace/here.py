"""Find the documents that a name means in the current folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from memcli.types import MEMORY_SOURCE


def documents_at(here: str | None, name: str, roots: Mapping[str, str]) -> list[tuple[str, str]]:
    """List what a name may mean from here: (source, path) for each real root above it."""
    if "\0" in name or (here is None and not os.path.isabs(name)):
        return []
    file = os.path.join(here or "", name)
    folder, last = os.path.split(file)
    # First as it is written, for a document behind a link that is followed; then its real path.
    places = (os.path.normpath(file), os.path.join(os.path.realpath(folder), last))
    found = [
        (source, place.removeprefix(below).replace(os.sep, "/"))
        for place in dict.fromkeys(places)
        for source, root in roots.items()
        if place.startswith(below := os.path.join(root, ""))
    ]
    return found


def globs_of(names: Iterable[str], here: str | None, roots: Mapping[str, str]) -> tuple[str, ...]:
    """Make each name or glob match files and everything below a folder, from here or in a source.

    The name of a source means all of it. A name that begins with `./` or `../` is only a path from
    here, if it leads into a source.
    """
    globs: list[str] = []
    for place in names:
        name = place.rstrip("/") or "/"
        found = [f"{source}:{path}" for source, path in documents_at(here, name, roots)]
        below = [f"{source}:{path}" for source, path in documents_at(here, f"{name}/*", roots)]
        if not (below and name.startswith((".", "/"))):
            globs += [name, f"{name}/" if name != "." else "*"]
        if name in roots and name != MEMORY_SOURCE:
            globs.append(f"{name}:*")
        globs += [*found, *below]
    if all(map(str.isascii, globs)):
        return tuple(dict.fromkeys(globs))
    from unicodedata import normalize

    # The index has names as the disk has them: accents as one sign with their letter, or as two.
    forms = [normalize(form, glob) for form in ("NFC", "NFD") for glob in globs]
    return tuple(dict.fromkeys([*globs, *forms]))
