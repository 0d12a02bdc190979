"""Follow the links of passages by one step, to the documents that they name; pure.

    score of a target = eta * score of the best passage that links to it, if above theta

A link names a document of the index by a path (relative to its own document, to the root of its
source, or into another source), or by a title or file name, as in `[[wiki links]]`. The result is
the passage below the heading that the link names, or else the beginning of the document.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.markdown.links import related_targets
from memcli.markdown.names import names
from memcli.markdown.properties import folded
from memcli.markdown.segments import slug
from memcli.record import Record
from memcli.store.records import Key, Scope
from memcli.types import Excerpt, split_name

if TYPE_CHECKING:
    from memcli.store.documents import IndexedDocument
    from memcli.store.port import Snapshot

_ENDINGS = ("", ".md", ".markdown")


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


class LinkedPassage(Record):
    """A passage to which another one links."""

    excerpt: Excerpt
    score: float
    via: str  # citation of the passage that links


def strong(links: Iterable[Link], how: Following) -> list[Link]:
    """Return the links that are worth following, those of the best passage first."""
    worth = (link for link in links if how.eta * link.score > how.theta)
    return sorted(worth, key=lambda link: (-link.score, link.citation))


def candidates(link: Link, roots: Mapping[str, str]) -> list[Key]:
    """List the documents that a target may mean, the likeliest first; `roots` by source."""
    written = _path(link.target)
    root = roots.get(link.source, "/")
    near = posixpath.join(root, posixpath.dirname(link.path), written.lstrip("/"))
    names: list[Key] = []
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
) -> list[LinkedPassage]:
    """Return each target once, with its best score; chunks in `taken` are left out."""
    result: dict[int, LinkedPassage] = {}
    for link in strong(links, how):
        excerpt = target_of(link)
        if excerpt is not None and excerpt.about.chunk_id not in shown:
            hop = LinkedPassage(excerpt, how.eta * link.score, link.citation)
            result.setdefault(excerpt.about.chunk_id, hop)
    return list(result.values())


def _path(target: str) -> str:
    return _decoded(target.partition("#")[0]).strip()


def _decoded(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text)


AT_ONCE = 500  # chunks


def linking_to(
    snapshot: Snapshot, target: str, documents: Sequence[IndexedDocument], roots: Mapping[str, str]
) -> list[IndexedDocument]:
    """Keep the documents that link to a path or a name, even if that does not exist."""
    target_names = _named(snapshot, target, roots)
    called = {folded(target.removesuffix(".md"))}
    for each in target_names.values():
        called.update(map(folded, names(each.title, each.path, json.loads(each.front_matter))))
    keys = {(document.source, document.path): document for document in documents}
    linking = {
        key for key, link in _links(snapshot, keys) if _leads(link, target_names, called, roots)
    }
    return [
        document for key, document in keys.items() if key in linking and key not in target_names
    ]


def _named(snapshot: Snapshot, target: str, roots: Mapping[str, str]) -> dict[Key, IndexedDocument]:
    """Find the documents that a path or a name may mean."""
    place, called = split_name(target, roots), folded(target)
    return {
        (each.source, each.path): each
        for each in snapshot.documents(Scope())
        if not each.skip
        if (each.source, each.path) == place
        or called in map(folded, names(each.title, each.path, json.loads(each.front_matter)))
    }


def _links(
    snapshot: Snapshot, documents: Mapping[Key, IndexedDocument]
) -> Iterator[tuple[Key, Link]]:
    """Yield every link of some documents."""
    for key, document in documents.items():
        for target in related_targets(json.loads(document.front_matter)):
            yield key, Link(*key, target, 0.0, "")
    chunks = {e.about.chunk_id: e for e in snapshot.excerpts_of(sorted(documents), Scope())}
    ids = [number for number, excerpt in chunks.items() if "[" in excerpt.text]
    for first in range(0, len(ids), AT_ONCE):
        for number, linking in snapshot.links(ids[first : first + AT_ONCE]).items():
            key = chunks[number].about.document
            yield from ((key, Link(*key, target, 0.0, "")) for target in linking.targets)


def _leads(
    link: Link, targets: Mapping[Key, IndexedDocument], called: set[str], roots: Mapping[str, str]
) -> bool:
    text = folded(name(link).removesuffix(".md"))
    is_named = text in called or text.rpartition("/")[2] in called
    return is_named or any(place in targets for place in candidates(link, roots))
