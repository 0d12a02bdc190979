"""Find the workspace folder and its default source.

Certain files make a folder a workspace. A current folder without any of them is searched too,
except the home folder and those above it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memcli.errors import NotFoundError, quote
from memcli.record import Record
from memcli.types import MEMORY_SOURCE, Source

CONFIG_FILE = "memcli.toml"
MEMORY_FILE = "MEMORY.md"
MEMORY_FOLDER = "memory"
ENV_NAME = "MEMCLI_WORKSPACE"
# Marks of a workspace: those of memcli, then those of vaults and of agents.
MARK_FOLDERS = (
    MEMORY_FOLDER, ".memcli", "memory-bank", "memories", "journals", ".obsidian", ".zk",
)  # fmt: skip
MARK_FILES = (CONFIG_FILE, MEMORY_FILE)
MOST_ENTRIES = 200_000  # of a folder that nobody has named or marked; one with more is not notes
_HINT = "go to a folder of notes, or name one: -w FOLDER"

_ROOT_FILES = (MEMORY_FILE, "USER.md")
_COPIES = ("/logseq/bak/", "/logseq/version-files/")  # that Logseq keeps of its pages
_MARKDOWN_GLOBS = ("**/*.md", "**/*.markdown")
_MEMORY_INCLUDE = (*_ROOT_FILES, *(f"{MEMORY_FOLDER}/{glob}" for glob in _MARKDOWN_GLOBS))


class Site(Record):
    """A workspace, and how it was found."""

    root: str  # real path
    by: str  # -w, MEMCLI_WORKSPACE, or the mark in it; "" for a folder without one


class Environment(Record):
    """The surroundings of a workspace."""

    root: str  # real path of the workspace
    home: str
    environ: Mapping[str, str]


def locate(
    explicit: str | None,
    env_value: str | None,
    cwd: str | None,
    *,
    home: str | None = None,
    anywhere: bool = False,
) -> Site:
    """Find the workspace: named, from the environment, marked at or above `cwd`, or around it.

    A named folder may be any folder. An empty environment value counts as not set. `cwd` is None if
    the current folder was deleted: then an absolute path must name the workspace. Without a mark it
    is the git repository around `cwd`, else `cwd` itself. NotFoundError if that is `home`, or a
    folder above it, unless a place is wanted `anywhere`.
    """
    if explicit is not None:
        return Site(_named(explicit, cwd, "-w"), "-w")
    if env_value:
        return Site(_named(env_value, cwd, ENV_NAME), ENV_NAME)
    if cwd is None:
        if anywhere and home:
            return Site(os.path.realpath(home), "")
        raise _no_current_folder()
    here = os.path.realpath(cwd)
    for folder in upward(here):
        if mark := mark_of(folder):
            return Site(folder, mark)
    for folder in (repository_around(here), here):
        if anywhere or not is_everything(folder, home):
            return Site(folder, "")
    what = "the file system" if os.path.dirname(here) == here else "a home folder"
    raise NotFoundError(
        f"no workspace at or above {cwd}, and memcli does not search the whole of {what}",
        hint=_HINT,
    )


def upward(folder: str) -> Iterator[str]:
    """Return a folder and those above it."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def is_everything(folder: str, home: str | None) -> bool:
    """Return whether a folder is the root of the file system, or the home folder is inside it."""
    if os.path.dirname(folder) == folder:
        return True
    return home is not None and f"{os.path.realpath(home)}{os.sep}".startswith(f"{folder}{os.sep}")


def holds_markdown(folder: str) -> bool:
    """Return whether there is a note below a folder; True if it is too large to say."""
    from memcli.workspace.ignore import NOISE_FOLDERS, is_markdown

    seen = 0
    for _, folders, files in os.walk(folder):
        if any(is_markdown(name) and not name.startswith(".") for name in files):
            return True
        folders[:] = [
            name for name in folders if name not in NOISE_FOLDERS and not name.startswith(".")
        ]
        seen += len(folders) + len(files)
        if seen > MOST_ENTRIES:
            return True
    return False


def is_repository(folder: str) -> bool:
    """Return whether a folder is the root of a repository or a work tree of git."""
    return os.path.lexists(os.path.join(folder, ".git"))


def repository_around(folder: str) -> str:
    """Return the repository around a folder, or else the folder itself."""
    return next(filter(is_repository, upward(folder)), folder)


def main_root(root: str) -> str:
    """Return the repository of a git work tree, or the folder itself.

    The `.git` of a work tree is a file that names its entry in the repository. It is trusted only
    if that entry names it in turn, because any folder may contain such a file.
    """
    entry = _first_line(os.path.join(root, ".git")).removeprefix("gitdir:").strip()
    folder, name = os.path.split(os.path.normpath(os.path.join(root, entry)) if entry else "")
    git = os.path.dirname(folder)
    if not name or os.path.basename(folder) != "worktrees" or os.path.basename(git) != ".git":
        return root
    back = _first_line(os.path.join(folder, name, "gitdir"))
    is_mutual = back and os.path.realpath(back) == os.path.realpath(os.path.join(root, ".git"))
    return os.path.realpath(os.path.dirname(git)) if is_mutual else root


def _first_line(path: str) -> str:
    """Read the first line of a file of git; "" if there is none."""
    from memcli.workspace import openat

    try:
        data = openat.read_small(*os.path.split(path), limit=4096)
    except OSError:
        return ""
    return (data or b"").decode("utf-8", "surrogateescape").partition("\n")[0]


def _no_current_folder() -> NotFoundError:
    hint = "go to a folder that is there, or name the workspace: -w /PATH/TO/FOLDER"
    return NotFoundError("the current folder has been deleted", hint=hint)


def _named(path: str, cwd: str | None, origin: str) -> str:
    if cwd is None and path and not os.path.isabs(path):
        raise _no_current_folder()
    # An empty path would be the current folder, which is never meant.
    joined = os.path.join(cwd or "", path) if path and "\0" not in path else ""
    if joined and os.path.isdir(joined):
        return os.path.realpath(joined)
    if joined and os.path.exists(joined):
        hint = f"-w {quote(os.path.dirname(joined))}"
        raise NotFoundError(f"{origin}: {path} is a file, not a folder", hint=hint)
    hint = _neighbour(joined) if joined else _HINT
    raise NotFoundError(f"{origin}: there is no folder {path!r}", hint=hint)


def _neighbour(path: str) -> str:
    """Suggest an existing folder for a missing one, or a place to look."""
    from difflib import get_close_matches

    parent, name = os.path.split(os.path.normpath(path))
    try:
        with os.scandir(parent) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        names = []
    near = get_close_matches(name, names, n=1)
    if near:
        return f"-w {quote(os.path.join(parent, near[0]))}"
    folder = next(filter(os.path.isdir, upward(parent)), os.sep)
    return _HINT if os.path.dirname(folder) == folder else f"ls {quote(folder)}"


def mark_of(folder: str) -> str:
    """Return the mark that makes a folder a workspace; "" without a mark."""
    for name in MARK_FILES:
        if os.path.isfile(os.path.join(folder, name)):
            return name
    for name in MARK_FOLDERS:
        if os.path.isdir(os.path.join(folder, name)):
            return f"{name}/"
    return ""


def default_source(
    root: str,
    include_extra: Sequence[str] = (),
    exclude: Sequence[str] = (),
    evergreen: Sequence[str] = (),
    *,
    always: Sequence[str] = (),
    soft: Sequence[str] = (),
    memory_alone: bool = False,
) -> Source:
    """Return the source `memory` of a workspace: all Markdown in it.

    With `memory_alone` it is MEMORY.md, USER.md and the files in `memory/`. Files that match the
    globs of `always` and `soft` belong to it too.
    """
    include = _MEMORY_INCLUDE if memory_alone else _MARKDOWN_GLOBS
    templates: tuple[str, ...] = ()
    if os.path.isdir(os.path.join(root, ".obsidian")):
        from memcli.workspace import vaults

        templates = vaults.templates(root)
    copies = _COPIES if os.path.isdir(os.path.join(root, "logseq")) else ()
    return Source(
        name=MEMORY_SOURCE,
        root=root,
        include=(*include, *include_extra, *named(always), *named(soft)),
        exclude=(*exclude, *copies, *templates),
        evergreen=tuple(evergreen),
        always=tuple(always),
        soft=tuple(soft),
    )


def named(globs: Iterable[str]) -> tuple[str, ...]:
    """Return the globs that name documents, without those that exclude some."""
    return tuple(glob for glob in globs if not glob.startswith("!"))
