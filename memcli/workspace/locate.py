"""Find the workspace folder and its default source; leaves environment and settings to others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from memcli.errors import NotFoundError
from memcli.types import MEMORY_SOURCE, Source

CONFIG_FILE = "memcli.toml"
MEMORY_FILE = "MEMORY.md"
MEMORY_FOLDER = "memory"
ENV_NAME = "MEMCLI_WORKSPACE"
_HINT = "name the folder with -w FOLDER, or make one: mkdir memory"

_ROOT_FILES = (MEMORY_FILE, "USER.md")
_MARKDOWN_GLOBS = ("**/*.md", "**/*.markdown")
_MEMORY_INCLUDE = (*_ROOT_FILES, *(f"{MEMORY_FOLDER}/{glob}" for glob in _MARKDOWN_GLOBS))


def locate(explicit: str | None, env_value: str | None, cwd: str | None) -> str:
    """Give the real path of the workspace: named, from the environment, or found above `cwd`.

    A named folder may be any folder. An empty environment value counts as not set. `cwd` is None
    where the current folder has been deleted: then an absolute path has to name the workspace.
    """
    if explicit is not None:
        return _named(explicit, cwd, "-w")
    if env_value:
        return _named(env_value, cwd, ENV_NAME)
    if cwd is None:
        raise _no_current_folder()
    folder = os.path.realpath(cwd)
    while True:
        if _is_workspace(folder):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    raise NotFoundError(
        f"no workspace at or above {cwd}: no {CONFIG_FILE}, {MEMORY_FILE} or {MEMORY_FOLDER}/",
        hint=_HINT,
    )


def _no_current_folder() -> NotFoundError:
    hint = "go to a folder that is there, or name the workspace: -w /PATH/TO/FOLDER"
    return NotFoundError("the current folder has been deleted", hint=hint)


def _named(path: str, cwd: str | None, origin: str) -> str:
    """Check a folder that somebody named."""
    if cwd is None and path and not os.path.isabs(path):
        raise _no_current_folder()
    # An empty path would be the current folder, which nobody meant.
    joined = os.path.join(cwd or "", path) if path and "\0" not in path else ""
    if joined and os.path.isdir(joined):
        return os.path.realpath(joined)
    if joined and os.path.exists(joined):
        from shlex import quote  # a hint is pasted

        hint = f"memcli status -w {quote(os.path.dirname(joined))}"
        raise NotFoundError(f"{origin}: {path} is a file, not a folder", hint=hint)
    hint = _neighbour(joined) if joined else _HINT
    raise NotFoundError(f"{origin}: there is no folder {path!r}", hint=hint)


def _neighbour(path: str) -> str:
    """Say which folder may have been meant by one that is not there, or how to make it."""
    from difflib import get_close_matches
    from shlex import quote

    parent, name = os.path.split(os.path.normpath(path))
    try:
        with os.scandir(parent) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        names = []
    near = get_close_matches(name, names, n=1)
    return f"-w {quote(os.path.join(parent, near[0]))}" if near else f"mkdir -p {quote(path)}"


def _is_workspace(folder: str) -> bool:
    """Look for one of the marks of a workspace."""
    return (
        os.path.isdir(os.path.join(folder, MEMORY_FOLDER))
        or os.path.isfile(os.path.join(folder, MEMORY_FILE))
        or os.path.isfile(os.path.join(folder, CONFIG_FILE))
    )


def default_source(
    root: str,
    include_extra: Sequence[str] = (),
    exclude: Sequence[str] = (),
    evergreen: Sequence[str] = (),
    *,
    always: Sequence[str] = (),
    soft: Sequence[str] = (),
) -> Source:
    """Give the source `memory` of a workspace; without a folder `memory/` it is searched whole.

    What is marked by the globs of `always` and `soft` is a document of it.
    """
    if os.path.isdir(os.path.join(root, MEMORY_FOLDER)):
        include = _MEMORY_INCLUDE
    else:
        include = _MARKDOWN_GLOBS
    return Source(
        name=MEMORY_SOURCE,
        root=root,
        include=(*include, *include_extra, *named(always), *named(soft)),
        exclude=tuple(exclude),
        evergreen=tuple(evergreen),
        always=tuple(always),
        soft=tuple(soft),
    )


def named(globs: Iterable[str]) -> tuple[str, ...]:
    """Give the globs that name documents, and not those that take some back."""
    return tuple(glob for glob in globs if not glob.startswith("!"))


def keep_memory_folder(source: Source, known: Iterable[tuple[str, str]]) -> Source | None:
    """Give the default source as it was while its folder `memory/` existed, if the index knows it.

    None where the source is as it should be. Without this a folder that vanished for a moment
    would put the whole workspace in the place of the memory.
    """
    count = len(_MARKDOWN_GLOBS)
    if source.name != MEMORY_SOURCE or source.include[:count] != _MARKDOWN_GLOBS:
        return None
    below = f"{MEMORY_FOLDER}/"
    if not any(name == MEMORY_SOURCE and path.startswith(below) for name, path in known):
        return None
    return source._replace(include=(*_MEMORY_INCLUDE, *source.include[count:]))
