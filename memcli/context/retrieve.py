"""Find what belongs to a question, or what matters most without one, outside what is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from memcli.context import hops
from memcli.context.assemble import Fixed
from memcli.context.parts import FOUND, ContextPart, make_part
from memcli.search.authority import authority
from memcli.search.dates import DateSpan
from memcli.search.hits import Hit
from memcli.search.options import Inner, SearchOptions
from memcli.search.pipeline import MMR_POOL, Answer, Vector, search
from memcli.search.query import ParsedQuery
from memcli.search.two_pass import SECOND
from memcli.store.sqlite.context_reader import ContextReader, Linking, Rated
from memcli.types import MEMORY_SOURCE, Excerpt, Filters

# Narrower passages than a search shows: neighbours share a fence here, so that a line that is
# left out and ranks by itself costs no more. Recall in 2000 tokens, fences paid for, mean of five
# LoCoMo conversations: .4 gives .893, .45 .895, .5 .893, and only .45 is on none of them below
# what search --budget 2000 --limit 100 gives (mean .893), which pays for texts alone.
KEEP_SHARE = 0.45
_SCOPES = ("user", "session", "global")


def find(
    reader: ContextReader,
    query: ParsedQuery,
    dates: Sequence[DateSpan],
    options: SearchOptions,
    fixed: Fixed,
    *,
    roots: Mapping[str, str],
    embed_query: Callable[[], Vector],
    age_days: Callable[[str], int],
) -> tuple[Answer, list[ContextPart]]:
    """Answer a query from the rest of the memory, then follow links from its best passages.

    `roots` are the folders of the sources by name.
    """
    inner = Inner(keep_share=KEEP_SHARE, outside=fixed.chunk_ids)
    wide = options._replace(limit=MMR_POOL, budget=None, inner=inner)
    answer = search(reader, query, dates, wide, embed_query=embed_query, age_days=age_days)
    chunks = reader.chunks(list({hit.about.chunk_id for hit in answer.hits}))
    found = [_part(hit, chunks[hit.about.chunk_id]) for hit in answer.hits]
    linked = _hops(reader, found[:SECOND], fixed, roots)
    return answer, with_hops(found, linked)


def with_hops(found: Sequence[ContextPart], linked: Sequence[hops.Hop]) -> list[ContextPart]:
    """Put each target before the first passage behind pass 2 that scores less.

    A target that was found itself comes as it was found; the others keep their order, in which
    novelty has its part.
    """
    ranked = list(found)
    for hop in linked:
        own = next(
            (p for p in ranked if p.excerpt.about.chunk_id == hop.excerpt.about.chunk_id), None
        )
        if own is not None and (own.score or 0.0) >= hop.score:
            continue
        if own is not None:
            ranked.remove(own)
            part = own._replace(score=hop.score, via=hop.via)
        else:
            part = make_part(FOUND, hop.excerpt, score=hop.score, via=hop.via)
        later = range(min(SECOND, len(ranked)), len(ranked))
        at = next((i for i in later if (ranked[i].score or 0.0) < hop.score), len(ranked))
        ranked.insert(at, part)
    return ranked


def rank_all(
    reader: ContextReader,
    fixed: Fixed,
    filters: Filters,
    *,
    budget: int,
    age_days: Callable[[str], int],
) -> tuple[list[ContextPart], int]:
    """Rank the rest of the memory by omega alone; give as much as `budget` tokens can hold.

    Also gives how many chunks the rest has.

    Ties: what is trusted, what its author calls important, what is about the user, the memory
    before other sources, then by path and line.
    """

    def omega(document: Rated) -> float:
        age = age_days(document.date) if document.date else None
        return authority(age, document.authority)

    documents = sorted(
        reader.rated(filters),
        key=lambda d: (
            -omega(d), d.trust != "trusted", -(d.importance or 0.0), _SCOPES.index(d.scope),
            d.source != MEMORY_SOURCE, d.source, d.path,
        ),
    )  # fmt: skip

    shown = fixed.chunk_ids
    rest = sum(document.chunks for document in documents) - len(shown)
    parts: list[ContextPart] = []
    left = float(budget)
    for document in documents:
        for excerpt in reader.chunks_of(document.document_id, filters):
            if excerpt.about.chunk_id not in shown:
                parts.append(make_part(FOUND, excerpt, score=omega(document)))
                left -= parts[-1].body
        if left < 0:
            break
    return parts, rest


def _part(hit: Hit, chunk: Excerpt) -> ContextPart:
    """Write the lines of a chunk that answer."""
    start = 0 if hit.is_whole else hit.candidate.parts[hit.first].start
    return make_part(
        FOUND,
        chunk,
        window=(start, start + len(hit.text)),
        lines=(hit.start_line, hit.end_line),
        score=hit.score,
    )


def _hops(
    reader: ContextReader, parents: Sequence[ContextPart], fixed: Fixed, roots: Mapping[str, str]
) -> list[hops.Hop]:
    linking = reader.links([part.excerpt.about.chunk_id for part in parents])
    links = hops.strong(
        link for part in parents for link in _links(part, linking.get(part.excerpt.about.chunk_id))
    )
    if not links:
        return []
    taken = fixed.chunk_ids | {part.excerpt.about.chunk_id for part in parents}
    return hops.hops(links, _targets(reader, links, roots), taken)


def _links(part: ContextPart, linking: Linking | None) -> Iterator[hops.Link]:
    for target in linking.targets if linking else ():
        yield hops.Link(
            part.excerpt.about.source, part.excerpt.about.path, target, part.score or 0.0,
            part.excerpt.about.citation,
        )  # fmt: skip


def _targets(
    reader: ContextReader, links: Sequence[hops.Link], roots: Mapping[str, str]
) -> Callable[[hops.Link], Excerpt | None]:
    """Look up the documents that links lead to, all at once."""
    wanted = {link: hops.candidates(link, roots) for link in links}
    known = reader.known_paths(sorted({place for places in wanted.values() for place in places}))
    chosen = {
        link: next((p for p in places if p in known), None) for link, places in wanted.items()
    }
    loose = [hops.name(link) for link, place in chosen.items() if place is None]
    named = reader.named(loose) if loose else {}
    places = {link: place or named.get(hops.name(link)) for link, place in chosen.items()}
    chunks: dict[hops.DocumentName, list[Excerpt]] = {}
    for excerpt in reader.documents(sorted({p for p in places.values() if p})):
        chunks.setdefault((excerpt.about.source, excerpt.about.path), []).append(excerpt)

    def target_of(link: hops.Link) -> Excerpt | None:
        found = chunks.get(places[link] or ("", ""))
        return hops.passage(link, found) if found else None

    return target_of
