r"""Write the names of files: relative to the current folder, and printable if not UTF-8."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from memcli.types import MEMORY_SOURCE, shown


def is_utf8(name: str) -> bool:
    """Return whether a name can be stored and shown as text."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(path: str) -> str:
    r"""Write bytes that are not UTF-8 as `\xNN`."""
    if is_utf8(path):
        return path
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def name_from(
    here: str | None, file: str, *, memory: str, exists: Callable[[str], bool] = os.path.lexists
) -> str:
    """Return the name of a file from the folder `here`; `memcli get` accepts it there.

    If there is no path from here to there (a deleted folder, another drive), the name is absolute.
    A bare name belongs to the memory first, so a name of another file below the root of the
    `memory` begins with `./`. Example: `../MEMORY.md`, `docs/queue.md`, `./MEMORY.md`.
    """
    if here is None:
        return file
    try:
        name = os.path.relpath(file, here)
    except ValueError:
        return file
    of_memory = os.path.join(memory, name)
    is_bare = not name.startswith(f"..{os.sep}")
    # Editors take a name that begins with a plus for a command.
    if name.startswith("+") or (is_bare and of_memory != file and exists(of_memory)):
        return os.path.join(".", name)
    return shown(MEMORY_SOURCE, name)


def documents_at(here: str | None, name: str, roots: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the documents that a name may mean from here: (source, path) for each root above."""
    if "\0" in name or (here is None and not os.path.isabs(name)):
        return []
    file = os.path.join(here or "", name)
    folder, last = os.path.split(file)
    # First as it is written, for a document behind a link that is followed; then its real path.
    places = (os.path.normpath(file), os.path.join(os.path.realpath(folder), last))
    return [
        (source, place.removeprefix(below).replace(os.sep, "/"))
        for place in dict.fromkeys(places)
        for source, root in roots.items()
        if place.startswith(below := os.path.join(root, ""))
    ]


def globs_of(names: Iterable[str], here: str | None, roots: Mapping[str, str]) -> tuple[str, ...]:
    """Make each name or glob match files and everything below a folder, from here or in a source.

    The name of a source means all of it. A name that begins with `./` or `../` is only a path from
    here, if it leads into a source.
    """
    globs: list[str] = []
    for place in names:
        name = place.rstrip("/") or "/"
        patterns = [f"{source}:{path}" for source, path in documents_at(here, name, roots)]
        below = [f"{source}:{path}" for source, path in documents_at(here, f"{name}/*", roots)]
        if not (below and name.startswith((".", "/"))):
            globs += [name, f"{name}/" if name != "." else "*"]
        if name in roots and name != MEMORY_SOURCE:
            globs.append(f"{name}:*")
        globs += [*patterns, *below]
    if all(map(str.isascii, globs)):
        return tuple(dict.fromkeys(globs))
    from unicodedata import normalize

    # The index has names as the disk has them: accents as one sign with their letter, or as two.
    forms = [normalize(form, glob) for form in ("NFC", "NFD") for glob in globs]
    return tuple(dict.fromkeys([*globs, *forms]))
