"""List the documents of a workspace, with their properties, and count them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from memcli.api.ask import bring_up_to_date
from memcli.api.records import DocumentEntry
from memcli.api.workspaces import has_fallback
from memcli.checking import TYPE_CHECKING
from memcli.errors import Reason
from memcli.markdown.properties import folded, properties, tags
from memcli.record import Record
from memcli.store.records import First, Scope
from memcli.types import EMPTY, PRIVATE, Filters, shown

if TYPE_CHECKING:
    from memcli.api.workspaces import Workspaces
    from memcli.indexing.freshness import Freshness
    from memcli.store.documents import IndexedDocument
    from memcli.store.port import Snapshot

    Place = tuple[str, str]  # the source and the path of a document

MOST_LISTED = 100  # more documents than this are counted in a pipe, unless the user asks for more
MOST_MONTHS = 24  # most lines of such counts; if there are more months, one line per folder
MOST_SPEAKERS = 30  # most speakers of a workspace whose folders are listed with their speakers
MOST_NAMED = 6  # speakers named per folder


class ListedDocuments(Record):
    """The documents that pass the filters: `memcli.ls/1`; and the speakers of a long list."""

    freshness: Freshness
    documents: tuple[DocumentEntry, ...] = ()
    total: int = 0  # without the limit
    speakers: Mapping[str, Collection[Place]] = {}  # of a long list: their documents
    empty_reason: Reason | None = None  # the filter or the link that excludes everything

    @property
    def json_omits(self) -> tuple[str, ...]:
        """Name the fields that JSON leaves out."""
        return "total", "speakers"


@has_fallback
def list_documents(
    memory: Workspaces,
    filters: Filters,
    *,
    order: str = "path",
    links_to: str = "",
    limit: int | None = None,
    sync: bool | None = None,
) -> ListedDocuments:
    """List documents by source and path, by `date`, or `newest` first; undated ones come last.

    `links_to` keeps only documents that link to this path or name. For `sync` see
    `ask.bring_up_to_date`; no text is embedded.
    """
    freshness = bring_up_to_date(memory, memory.index_model(), "keyword", sync=sync)
    if freshness.state == EMPTY:
        return ListedDocuments(freshness)
    from memcli.store.documents import in_order

    with memory.store.snapshot() as snapshot:
        first = First(limit, order) if limit and not links_to else None
        listed = [each for each in snapshot.documents(Scope(filters), first) if not each.skip]
        if listed and links_to:
            from memcli.context.hops import linking_to

            roots = {source.name: source.root for source in memory.index_settings().sources}
            listed = linking_to(snapshot, links_to, listed, roots)
            if not listed:
                reason = Reason("links", f"no document links to {links_to}")
                return ListedDocuments(freshness, empty_reason=reason)
        if listed:
            total = listed[0].total or len(listed)
            chosen = tuple(map(_entry, in_order(listed, order)[:limit]))
            speakers = _speakers(snapshot, filters) if len(chosen) > MOST_LISTED else {}
            return ListedDocuments(freshness, chosen, total, speakers)
        from memcli.search.empty_result import blocking_filter

        return ListedDocuments(freshness, empty_reason=blocking_filter(snapshot, filters))


def _speakers(snapshot: Snapshot, filters: Filters) -> dict[str, Collection[Place]]:
    """Return the documents in which each speaker speaks, unless there are too many speakers."""
    names = snapshot.speakers(but=PRIVATE)
    if len(names) > MOST_SPEAKERS:
        return {}
    of_each = (snapshot.documents(Scope(filters._replace(by=(name,)))) for name in names)
    return {
        name: {(each.source, each.path) for each in documents}
        for name, documents in zip(names, of_each, strict=True)
    }


class DocumentCount(Record):
    """The number of documents of a folder in some months, and their speakers."""

    folder: str
    first: str  # month; "" if undated
    last: str
    number: int
    speakers: tuple[str, ...] = ()

    @property
    def months(self) -> str:
        """Return the months in words: 2025-06 to 2025-09."""
        return self.first if self.first == self.last else f"{self.first} to {self.last}"

    @property
    def names(self) -> str:
        """List the first speakers."""
        more = len(self.speakers) - MOST_NAMED
        return ", ".join(self.speakers[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def counted(listed: ListedDocuments) -> list[DocumentCount]:
    """Count documents by folder and month, in order of their first document.

    If there are many months in several folders, count by folder and name the speakers of each. A
    folder of one document contains its only subfolder.

    Example: memory/2025-06-01.md and memory/2025-06-02.md -> ("memory/", "2025-06", "2025-06", 2)
    """
    months: dict[tuple[str, str], int] = {}
    folders: dict[str, list[DocumentEntry]] = {}
    for document in listed.documents:
        name = shown(document.source, document.path)
        folder, month = name[: name.rfind("/") + 1] or "./", (document.date or "")[:7]
        months[folder, month] = months.get((folder, month), 0) + 1
        folders.setdefault(folder, []).append(document)
    if len(months) <= MOST_MONTHS or len(folders) < 2:
        return [DocumentCount(folder, m, m, number) for (folder, m), number in months.items()]
    names = [*folders]
    for folder in names:
        above = _above(folder)
        is_small = len(folders.get(above, ())) == 1
        if is_small and sum(each.startswith(above) for each in names) == 2:
            folders[above] += folders.pop(folder)
    return [_of_folder(folder, own, listed.speakers) for folder, own in folders.items()]


def _above(folder: str) -> str:
    return folder[: folder.rfind("/", 0, -1) + 1]


def _of_folder(
    folder: str, documents: Sequence[DocumentEntry], speakers: Mapping[str, Collection[Place]]
) -> DocumentCount:
    months = sorted(each.date[:7] for each in documents if each.date) or [""]
    places = {(each.source, each.path) for each in documents}
    names = tuple(name for name, where in speakers.items() if not places.isdisjoint(where))
    return DocumentCount(folder, months[0], months[-1], len(documents), names)


def counts(documents: Sequence[DocumentEntry], what: str) -> list[tuple[str, int]]:
    """Count documents by kind, tag, key or source, the most frequent first.

    Tags and keys that differ only in case count as one, with the first spelling.
    """
    written: dict[str, str] = {}
    counted: Counter[str] = Counter()
    for document in documents:
        own = {folded(value): value for value in _values(document, what)}
        counted.update(own.keys())
        written = own | written
    ranked = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(written[value], count) for value, count in ranked]


def _values(document: DocumentEntry, what: str) -> Iterator[str]:
    if what == "tag":
        yield from document.tags
    elif what == "key":
        yield from (key for key, _ in properties(document.front_matter))
    else:
        yield document.kind if what == "kind" else document.source


def _entry(listed: IndexedDocument) -> DocumentEntry:
    matter = json.loads(listed.front_matter)
    return DocumentEntry(
        listed.source,
        listed.path,
        listed.title,
        listed.date,
        listed.kind,
        listed.scope,
        listed.trust,
        tags=tags(matter),
        front_matter=matter,
        date_from=listed.first_day,
    )
