"""Decide which paths of a source are documents and which are skipped; `discover` walks them.

One set of rules serves the index, the watcher and `get`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.errors import ConfigError
from memcli.workspace import globs, openat

if TYPE_CHECKING:
    from memcli.types import Source
    from memcli.workspace.place import FilePlace

IGNORE_FILE = ".memcliignore"
HIDDEN = "hidden"
# Folders of tools, never of notes. They are passed over without a word.
NOISE = "noise"
NOISE_FOLDERS = frozenset(
    {".git", "node_modules", ".venv", "venv", "__pycache__", "dist", "build", ".memcli"}
)
MARKDOWN = (".md", ".markdown", ".mdc")
TRANSCRIPTS = (".jsonl",)
# An ignore file is read at every search.
_MAX_IGNORE_BYTES = 64 * 1024


def is_markdown(name: str) -> bool:
    """Return whether a file is Markdown, by its ending in any case."""
    return name.lower().endswith(MARKDOWN)


def lower_ending(path: str) -> str:
    """Write the Markdown ending in lower case, as globs are written."""
    for ending in MARKDOWN:
        if path[-len(ending) :].lower() == ending:
            return path[: -len(ending)] + ending
    return path


class Patterns:
    """Gitignore patterns of one origin, sorted so that the usual ones cost a set look-up."""

    def __init__(self, lines: Sequence[str], origin: str) -> None:
        self.origin = origin
        self.names: set[str] = set()
        self.folder_names: set[str] = set()
        self.paths: set[str] = set()
        self.endings: tuple[str, ...] = ()
        self.globs: list[tuple[str, globs.Glob]] = []  # with its literal beginning
        self.complex: Callable[[str], bool] | None = None
        # With a negated line, an ignored folder may have a file that is not ignored.
        self.negated = any(line.startswith("!") for line in lines)
        active = [line for line in lines if line.strip() and not line.startswith("#")]
        if any(globs.is_complex(line) for line in active):
            self.complex = globs.compile_complex(active, origin)
            return
        for line in active:
            glob = globs.parse(line, anchored=False)
            if glob is not None:
                self._add(glob)

    def _add(self, glob: globs.Glob) -> None:
        segments = glob.segments
        last = segments[-1]
        if len(segments) == 2 and segments[0] == "**" and "*" not in last:
            (self.folder_names if glob.folder else self.names).add(last)
        elif len(segments) == 2 and segments[0] == "**" and not glob.folder and _is_ending(last):
            self.endings += (last[1:],)
        elif not glob.folder and "*" not in "".join(segments):
            self.paths.add("/".join(segments))
        else:
            self.globs.append((globs.literal_start(glob), glob))

    def match(self, path: str, name: str, is_folder: bool) -> bool:
        """Match one entry whose folders are known not to match."""
        path, name = globs.composed(path), globs.composed(name)
        if self.complex is not None:
            if is_folder:
                return not self.negated and self.complex(path + "/")
            return self.complex(path)
        if name in self.names or path in self.paths or name.endswith(self.endings):
            return True
        if is_folder and name in self.folder_names:
            return True
        return any(
            path.startswith(start) and globs.match_path(glob, path, is_folder)
            for start, glob in self.globs
        )


def _is_ending(segment: str) -> bool:
    return segment.startswith("*") and "*" not in segment[1:]


def _plain_start(prefix: str, below: bool) -> tuple[str, bool]:
    """End a prefix before a folder with an accent, which a disk may spell in two ways."""
    plain = prefix
    while not plain.isascii():
        plain = plain[: plain.rstrip("/").rfind("/") + 1]
    return plain, below or plain != prefix


Row = tuple[str, bool, str]  # a folder, whether all below it counts, an ending or a name


def _texts(rows: Sequence[Row], folder: str) -> set[str]:
    folder = globs.composed(folder)
    return {
        text
        for prefix, below, text in rows
        if folder == prefix or (below and folder.startswith(prefix))
    }


class Rules:
    """The rules of a source: its include globs minus everything that is ignored.

    Include globs are relative to the root (`*.md` is the root level, `**/*.md` any depth). Only
    files with Markdown names are included, whatever the globs say; of transcripts, only JSON lines.
    """

    def __init__(self, source: Source, ignore_lines: Sequence[str] = ()) -> None:
        self.documents = TRANSCRIPTS if source.is_transcripts else MARKDOWN  # endings
        self.by_ending: list[Row] = []
        self.by_name: list[Row] = []
        self.others: list[globs.Glob] = []
        self.complex: Callable[[str], bool] | None = None
        if any(globs.is_complex(p) for p in source.include):
            lines = [globs.anchor(p) for p in source.include]
            self.complex = globs.compile_complex(lines, f"include of {source.name}")
        else:
            for pattern in source.include:
                glob = globs.parse(pattern, anchored=True)
                if glob is not None:
                    self._include(glob)
        self.folders = self._folders()
        self.patterns = tuple(
            Patterns(lines, origin)
            for lines, origin in ((ignore_lines, IGNORE_FILE), (source.exclude, "exclude"))
            if lines
        )

    def _include(self, glob: globs.Glob) -> None:
        *folders, last = glob.segments
        deep = bool(folders) and folders[-1] == "**"
        if deep:
            folders.pop()
        prefix = "".join(f"{folder}/" for folder in folders)
        literal = "*" not in last
        if "*" in prefix or (glob.folder and not (literal and not deep)):
            self.others.append(glob)
        elif last == "*":
            self.by_ending += [(prefix, True, ending) for ending in self.documents]
        elif literal and self.is_document(last) and not glob.folder:
            self.by_name.append((prefix, deep, last))
        elif literal and not deep:
            self.by_ending += [(f"{prefix}{last}/", True, ending) for ending in self.documents]
        elif _is_ending(last) and self.is_document(last):
            self.by_ending.append((prefix, deep, last[1:]))
        else:
            self.others.append(glob)

    def _folders(self) -> list[tuple[str, bool]]:
        """List the folders that the globs lead to, with whether they continue below."""
        if self.complex is not None:
            return [("", True)]
        folders = [(prefix, below) for prefix, below, _ in (*self.by_ending, *self.by_name)]
        folders += [(globs.literal_start(glob), True) for glob in self.others]
        return sorted({_plain_start(*each) for each in folders})

    def leads_into(self, folder: str) -> bool:
        """Return whether a folder (`a/b/`) may have a document."""
        return any(
            prefix.startswith(folder) or (below and folder.startswith(prefix))
            for prefix, below in self.folders
        )

    def endings(self, folder: str) -> tuple[str, ...]:
        """Return the endings of document names in this folder."""
        return tuple(sorted(_texts(self.by_ending, folder)))

    def is_document(self, name: str) -> bool:
        """Return whether a name has the ending of a document, in any case."""
        return name.lower().endswith(self.documents)

    def includes(self, folder: str, name: str) -> bool:
        """Return whether the include globs name a file; the folder is `` or `a/b/`."""
        if not self.is_document(name):
            return False
        lowered = lower_ending(name)
        if lowered.endswith(self.endings(folder)):
            return True
        if globs.composed(name) in _texts(self.by_name, folder):
            return True
        path, lowered = folder + name, folder + lowered
        if any(globs.match_path(g, lowered, False) for g in self.others):
            return True
        return self.complex is not None and (self.complex(path) or self.complex(lowered))

    def why_ignored(self, path: str, name: str, is_folder: bool) -> str:
        """Return the rule that skips this entry; "" if none does."""
        if is_folder and name in NOISE_FOLDERS:
            return NOISE
        if name.startswith("."):
            return HIDDEN
        for patterns in self.patterns:
            if patterns.match(path, name, is_folder):
                return patterns.origin
        return ""

    def hides(self, path: str, is_folder: bool) -> bool:
        """Return whether the path or a folder above it is ignored."""
        parts = path.split("/")
        last = len(parts) - 1
        above = ""
        for i, part in enumerate(parts):
            if part in ("", ".", ".."):
                return True
            if self.why_ignored(above + part, part, is_folder or i < last):
                return True
            above += f"{part}/"
        return False

    def accepts(self, path: str) -> bool:
        """Return whether a file with this path would be listed as a document."""
        folder, slash, name = path.rpartition("/")
        return self.includes(folder + slash, name) and not self.hides(path, False)


def load_rules(source: Source, root: int | str | None = None, *, at: FilePlace = openat) -> Rules:
    """Read `.memcliignore` at the root of a source and build its rules.

    An ignore file that cannot be read is an OSError: listing without it would include what its
    author wanted to keep out.
    """
    folder = at.open_root(source.root) if root is None else root
    try:
        data = at.read_small(folder, IGNORE_FILE, _MAX_IGNORE_BYTES)
    finally:
        if root is None:
            at.close(folder)
    if data is None:
        return Rules(source)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(
            f"{IGNORE_FILE} of the source {source.name} is not UTF-8",
            hint=f"save {source.root}{os.sep}{IGNORE_FILE} as UTF-8",
        ) from None
    return Rules(source, text.replace("\r\n", "\n").split("\n"))
