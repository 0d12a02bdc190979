"""Follow the links of passages by one step, to the documents that they name; pure.

    score of a target = eta * score of the best passage that links to it, if above theta

A link names a document of the index by a path (relative to its own document, to the root of its
source, or into another source), or by a title or file name, as in `[[wiki links]]`. The result is
the passage below the heading that the link names, or else the beginning of the document.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from memcli.markdown.chunker import slug
from memcli.record import Record
from memcli.types import Excerpt

_ENDINGS = ("", ".md", ".markdown")
DocumentName = tuple[str, str]  # (source, path)


class Link(Record):
    """A link in a passage that was found."""

    source: str  # of the document that links
    path: str
    target: str  # as it is written
    score: float  # of the passage
    citation: str


class Following(Record):
    """How links are followed: the share of a score that one step keeps, and the minimum score."""

    roots: Mapping[str, str]  # folders of the sources, by name
    eta: float = 0.5
    theta: float = 0.15


class Hop(Record):
    """A passage to which another one links."""

    excerpt: Excerpt
    score: float
    via: str  # citation of the passage that links


def strong(links: Iterable[Link], how: Following) -> list[Link]:
    """Return the links that are worth following, those of the best passage first."""
    worth = (link for link in links if how.eta * link.score > how.theta)
    return sorted(worth, key=lambda link: (-link.score, link.citation))


def candidates(link: Link, roots: Mapping[str, str]) -> list[DocumentName]:
    """List the documents that a target may mean, the likeliest first; `roots` by source."""
    written = _path(link.target)
    root = roots.get(link.source, "/")
    near = posixpath.join(root, posixpath.dirname(link.path), written.lstrip("/"))
    names: list[DocumentName] = []
    for full in (near, posixpath.join(root, written.lstrip("/"))):
        whole = posixpath.normpath(full)
        # The innermost source first, and the linking document's own source before others.
        for source, base in sorted(roots.items(), key=lambda r: (-len(r[1]), r[0] != link.source)):
            prefix = base.rstrip("/") + "/"
            if written and whole.startswith(prefix):
                names += [(source, whole[len(prefix) :] + ending) for ending in _ENDINGS]
    return list(dict.fromkeys(names))


def name(link: Link) -> str:
    """Return the title or file name that a target may be."""
    return _path(link.target).strip("/")


def passage(link: Link, chunks: Sequence[Excerpt]) -> Excerpt:
    """Choose the chunk of the linked document: below the named heading, else the first."""
    anchor = slug(_decoded(link.target.partition("#")[2]))
    below = (c for c in chunks if anchor and anchor in c.about.anchor.partition("~")[0].split("/"))
    return next(below, chunks[0])


def hops(
    links: Iterable[Link],
    target_of: Callable[[Link], Excerpt | None],
    shown: Collection[int],
    how: Following,
) -> list[Hop]:
    """Return each target once, with its best score; chunks in `taken` are left out."""
    result: dict[int, Hop] = {}
    for link in strong(links, how):
        excerpt = target_of(link)
        if excerpt is not None and excerpt.about.chunk_id not in shown:
            hop = Hop(excerpt, how.eta * link.score, link.citation)
            result.setdefault(excerpt.about.chunk_id, hop)
    return list(result.values())


def _path(target: str) -> str:
    return _decoded(target.partition("#")[0]).strip()


def _decoded(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text)
