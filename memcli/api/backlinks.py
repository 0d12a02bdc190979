"""Find the documents that link to another, by its path or any of its names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.context.hops import Link, candidates, name
from memcli.markdown.links import related_targets
from memcli.markdown.names import names
from memcli.markdown.properties import folded
from memcli.store.records import Scope
from memcli.types import split_name

if TYPE_CHECKING:
    from memcli.store.documents import IndexedDocument
    from memcli.store.port import Snapshot
    from memcli.store.records import Key

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
