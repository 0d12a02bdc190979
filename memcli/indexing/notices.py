"""The warnings about an incomplete index, with one wording for each.

Reasons are data; the caller decides how to show them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.embedding.encoders import OpenedEncoder
from memcli.embedding.models import model_name
from memcli.errors import Reason
from memcli.types import MEMORY_SOURCE, Document, FileText, Skip, Source, shown

if TYPE_CHECKING:
    from memcli.indexing.comparison import IndexComparison
    from memcli.store.records import Key

BROKEN, INCOMPLETE = "front-matter", "incomplete"  # codes of warnings
NAMED = 3  # files of a kind that are named; the others are counted

# By name in `Facts`: settings that all stored documents depend on.
SETTINGS = {"chunking": "chunks", "sources": "sources"}


def unlisted(skip: Skip) -> Reason:
    """Warn of a folder that could not be listed; its documents stay in the index."""
    folder = shown(skip.source, skip.path or ".")
    return Reason(
        "unlisted", f"{folder} cannot be listed: {skip.detail}; what is indexed of it stays"
    )


def replaced_bytes(name: str) -> Reason:
    """Warn of bytes that are not text."""
    return Reason("bytes", f"{name}: some bytes are not text and were replaced")


def has_broken_front_matter(file: FileText, document: Document) -> bool:
    """Return whether YAML could not read the front matter of a file."""
    if not (document.chunks and file.text.startswith("---")):
        return False
    from memcli.markdown.frontmatter import is_broken

    return is_broken(file.text.split("\n"), document.chunks[0].start_line - 1)


def broken_front_matter(names: Sequence[str]) -> Reason:
    """Warn of documents whose front matter is not YAML."""
    where = first_of([f"{name}:1" for name in names])
    text = f"{where}: the front matter is not valid YAML, so memcli reads it as text"
    hint = "memcli lint" if len(names) > NAMED else "memcli help invalid-front-matter"
    return Reason(BROKEN, text, hint)


def incomplete(unsearched: Sequence[str], replaced: Sequence[str]) -> Reason:
    """Warn of files that are not searched, and of those with bytes that are not text."""
    parts = [
        f"{first_of(names)} {one if len(names) == 1 else several}"
        for names, one, several in (
            (unsearched, "is not searched", "are not searched"),
            (replaced, "has bytes that are not text", "have bytes that are not text"),
        )
        if names
    ]
    return Reason(INCOMPLETE, "; ".join(parts), "memcli status")


def names_in(fact: str | None) -> list[str]:
    """Read the names of documents that an index remembers, as in `Facts.broken`."""
    try:
        names = json.loads(fact or "[]")
    except (ValueError, RecursionError):  # another program wrote it
        return []
    return [name for name in names if type(name) is str] if type(names) is list else []


def not_read(skip: Skip) -> Reason:
    """Warn that a file was not read; its old content stays in the index."""
    return Reason("unread", f"{shown(skip.source, skip.path)} cannot be read: {skip.detail}")


def skipped(skip: Skip) -> Reason:
    """Return the message for a skipped file; if it is too large, say how to change that."""
    name = shown(skip.source, skip.path)
    if skip.reason == "too-large":
        text = f"{name} is not searched: {skip.detail}; {remedy(skip.detail)}"
        hint = "memcli config files.max_bytes" if "bytes" in skip.detail else "memcli help files"
        return Reason("too-large", text, hint)
    detail = f" ({skip.detail})" if skip.detail else ""
    return Reason(skip.reason, f"skipped {name}: {skip.reason}{detail}")


def remedy(detail: str) -> str:
    """Say how to search a file that is too large, or how to stop the warning."""
    hide = "add it to .memcliignore to leave it out silently"
    if "bytes" not in detail:  # the other limits are fixed
        return hide
    from memcli.workspace.reading import MOST_LINES

    most = f"at most {MOST_LINES:,} lines"
    return f"raise files.max_bytes in memcli.toml if it has {most}, or {hide}"


def missing_files(
    *,
    new: Sequence[str],
    changed: Sequence[str],
    moved: Sequence[str] = (),
    removed: Sequence[str] = (),
) -> str:
    """Name files that an answer does not know. Example: `2 new files (a.md, b.md)`."""
    kinds = [("new", new), ("changed", changed), ("moved", moved), ("deleted", removed)]
    return listed([_counted(kind, names) for kind, names in kinds if names])


def _counted(kind: str, names: Sequence[str]) -> str:
    return f"{len(names)} {kind} file{'' if len(names) == 1 else 's'} ({first_of(names)})"


def first_of(names: Sequence[str]) -> str:
    """Name the first of some files, and count the others."""
    more = len(names) - NAMED
    return listed([*names[:NAMED], *([f"{more} more"] if more > 0 else [])])


def listed(names: Sequence[str]) -> str:
    """Write a list in a sentence. Example: `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def unmatched(
    sources: Iterable[Source], documents: Callable[[], Collection[Key]]
) -> tuple[Reason, ...]:
    """List the globs of `always` and `soft` that match no document.

    The documents are read only if there are such globs.
    """
    from memcli.workspace.globs import matcher
    from memcli.workspace.locate import named

    marks = [
        (source, mark, glob)
        for source in sources
        if not source.is_automatic
        for mark, globs in (("always", source.always), ("soft", source.soft))
        for glob in named(globs)
    ]
    if not marks:
        return ()
    known = documents()

    def matches_any(source: Source, glob: str) -> bool:
        matches = matcher((glob,))
        return any(name == source.name and matches(path) for name, path in known)

    return tuple(_unmatched(*mark) for mark in marks if not matches_any(mark[0], mark[2]))


def _unmatched(source: Source, mark: str, glob: str) -> Reason:
    is_own = source.name == MEMORY_SOURCE
    setting = f"files.{mark}" if is_own else f"{mark} of the source {source.name}"
    hint = "memcli config files" if is_own else "memcli config"
    return Reason("unmatched", f"{setting}: {glob} matches no document", hint)


def settings_changed(comparison: IndexComparison) -> Reason | None:
    """Name the settings because of which unchanged files are stored again; None without any."""
    reindexed = len(comparison.changes.reindexed)
    if not reindexed:
        return None
    what = " and ".join(SETTINGS[name] for name in comparison.changes.settings)
    files = "1 file is" if reindexed == 1 else f"{reindexed} files are"
    return Reason(
        "settings",
        f"the settings of {what} have changed: {files} to be stored again",
        "memcli index",
    )


def without_vectors(opened: OpenedEncoder) -> Reason | None:
    """Return why there are no vectors, or which encoder replaced another, or None."""
    if opened.reason is None:
        return None
    if opened.encoder is None:
        return vectors_off(opened.reason)
    name = model_name(opened.encoder.fingerprint)
    return opened.reason._replace(text=f"{opened.reason.text}; memcli uses {name} instead")


def vectors_off(reason: Reason) -> Reason:
    """Warn that no text gets a vector."""
    return reason._replace(text=f"vectors are off: {reason.text}; searches use keywords only")
