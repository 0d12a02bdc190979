"""Rank chunks by their similarity to others: by meaning and by rare words.

score = w_v * cosine + w_t * coverage, in [0, 1], the same for the same text everywhere:

cosine     of the mean vectors of the segments of both
coverage   share, by IDF, of the words of the place that the chunk contains; for a long text, of as
           many words as a query may have

If the place is a line of several in its chunk, its item or paragraph is compared, with the heading
above, and the cosine is that of its segment and the best segment of a chunk.

If there is a link between a chunk and the document of the place, its score grows by a quarter of
the distance to 1. The vectors come from the index: no model runs.

memcli prints only the lines around the segment that is most like the text, cut as those of a
search; the scores stay those of the chunks.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from math import fsum, sqrt
from operator import mul

from memcli.checking import TYPE_CHECKING
from memcli.embedding.encoders import Vector
from memcli.embedding.models import is_readable
from memcli.errors import Reason
from memcli.markdown.comments import visible
from memcli.markdown.names import names
from memcli.markdown.properties import folded
from memcli.record import Record
from memcli.search import retrievers
from memcli.search.claims import claims_of, item_at
from memcli.search.corrections import corrections_of, with_corrections
from memcli.search.focus import Width, focus
from memcli.search.fusion import Weights, text_share
from memcli.search.mmr import diversify
from memcli.search.pipeline import MMR_POOL, NOTHING, Answer, with_ends
from memcli.search.query import ParsedQuery, parse
from memcli.search.ranked import RankedPassage, ordered
from memcli.search.recall import RecallBounds, RecallResult, part_tokens, recall, scope_within
from memcli.search.retrievers import RetrieverUse
from memcli.store.records import RetrieverResults
from memcli.types import TermQuery

if TYPE_CHECKING:
    from memcli.search.options import SearchOptions
    from memcli.store.port import Snapshot
    from memcli.store.records import Counts
    from memcli.types import About, Candidate, Excerpt

LINKED = 0.25
# Passages are narrower than those of a search: segments are compared with a text, not with a
# question, so more of them are near. If a place of LoCoMo 26, 30 and 42 is evidence for a question,
# ten passages contain this share of its evidence in other documents: whole chunks .465 (13,400
# characters), .32 .408 (8,900), .6 .398 (7,400), .7 .363 (5,500), .8 .298 (3,700).
KEEP_SHARE = 0.7
# A chunk below this share of the best score is hardly related, except if there is a link. For ten
# places of the workspace `engineer`, it removes 24 of 100 passages, of which two have the same
# subject; on LoCoMo, none of the evidence.
LEAST_SHARE = 0.5
# A chunk with this score is a copy of the place. The share is one of the best score below it, so
# that a copy hides nothing.
COPY_SCORE = 0.95
# Words and identifiers; quotes, dashes and asterisks would be operators.
_WORDS = re.compile(r"\w(?:[\w./:@#+-]*\w)?")


class ComparedPlace(Record):
    """The lines of a place, and their vectors."""

    start_line: int
    end_line: int
    text: str
    vectors: tuple[bytes, ...]
    is_part: bool = False  # of one chunk


def compared_place(snapshot: Snapshot, chunks: Sequence[Excerpt], line: int) -> ComparedPlace:
    """Read what is compared: chunks, or of one chunk the item of a line (0: all of it)."""
    own = [chunk.about.chunk_id for chunk in chunks]
    by_chunk = snapshot.vectors(own) if snapshot.facts.fingerprint else {}
    vectors = tuple(vector for each in own for vector in by_chunk.get(each, ()))
    (chunk, *others) = chunks
    item = _item_at(chunk, line) if line and not others else None
    if item:
        (candidate,) = snapshot.candidates(own, RetrieverResults(TermQuery(), (), None, ()))
        at = [
            n
            for n, each in enumerate(candidate.segments)
            if each.start_line <= item[1] and item[0] <= each.end_line
        ]
        if len(vectors) == len(candidate.segments) > len(at) > 0:
            vectors = tuple(vectors[n] for n in at)
        return ComparedPlace(*item, vectors, is_part=True)
    text = "\n".join(visible(chunk.text) for chunk in chunks)
    start = min(chunk.about.start_line for chunk in chunks)
    end = max(chunk.about.end_line for chunk in chunks)
    return ComparedPlace(start, end, text, vectors)


def _item_at(chunk: Excerpt, line: int) -> tuple[int, int, str] | None:
    """Return the item or paragraph of a line: its lines, and its text below its heading.

    None if the chunk contains nothing else.
    """
    first = chunk.about.start_line
    item = item_at(chunk.text, line - first)
    if item is None or all(unit.is_heading or unit.first in item for unit in claims_of(chunk.text)):
        return None
    lines = chunk.text.split("\n")[item.start : item.stop]
    text = "\n".join([*chunk.about.heading_path[-1:], *lines])
    return first + item.start, first + item[-1], visible(text)


def related(
    snapshot: Snapshot, chunks: Sequence[Excerpt], place: ComparedPlace, options: SearchOptions
) -> tuple[Answer, ParsedQuery]:
    """Find the chunks most similar to a place, without its own; and the words of the place.

    The answer has no match.
    """
    facts, counts = snapshot.facts, snapshot.counts()
    own = [chunk.about.chunk_id for chunk in chunks]
    query = words_of(place.text)
    semantic, vector = _meaning(snapshot, place, options, counts)
    by_words = options.mode != "semantic"
    keyword = retrievers.keyword_use((), counts.chunks, runs=by_words)
    recalled = recall(
        snapshot,
        query,
        total=counts.chunks,
        keyword=by_words and not query.is_empty,
        vector=vector.blob if vector else None,
        bounds=RecallBounds(
            options.universe, scope_within(snapshot, options.filters), outside=frozenset(own)
        ),
    )
    weights = retrievers.retriever_weights(options, vector, keyword=by_words)
    cosines = _cosines(snapshot, recalled.candidates, vector, by_segment=place.is_part)
    linked = _linked(snapshot, chunks, recalled.candidates)
    passages = ordered(
        [_passage(c, cosines, recalled.coverage, weights, linked) for c in recalled.candidates]
    )
    chosen, weaker = _worth_showing(passages[:MMR_POOL], linked, options)
    chosen = _focused(snapshot, chosen, recalled, weights, options)
    scope = scope_within(snapshot, options.filters)
    chosen = with_corrections(chosen, corrections_of(snapshot, chosen, passages, scope))
    shown = with_ends(snapshot, [passage._replace(trace=()) for passage in chosen])
    if options.worthwhile and any(passage.turns for passage in shown):
        from memcli.search.filler import without_filler

        shown = without_filler(shown, [term.text for term in query.counted_terms])
    answer = NOTHING._replace(
        passages=shown,
        keyword=keyword,
        semantic=semantic,
        candidates=len(recalled.candidates),
        weaker=weaker,
        revision=str(facts.revision),
    )
    return answer, query


def _worth_showing(
    near: Sequence[RankedPassage], linked: frozenset[int], options: SearchOptions
) -> tuple[list[RankedPassage], int]:
    """Choose chunks, and count those within the limit that are hardly related and left out."""
    every = diversify(near, lambda_=1.0, limit=options.limit)
    if not options.worthwhile or not near:
        return every, 0
    scores = [each.score for each in near]
    least = LEAST_SHARE * next((score for score in scores if score < COPY_SCORE), scores[0])
    worth = [each for each in near if each.score >= least or each.about.chunk_id in linked]
    chosen = diversify(worth, lambda_=1.0, limit=options.limit)
    chunks = {each.about.chunk_id for each in chosen}
    return chosen, sum(each.about.chunk_id not in chunks for each in every)


def _focused(
    snapshot: Snapshot,
    chunks: Sequence[RankedPassage],
    recalled: RecallResult,
    weights: Weights,
    options: SearchOptions,
) -> list[RankedPassage]:
    """Cut each chunk down to its lines that are most like the place; scores stay."""
    passages = focus(
        chunks,
        part_tokens(snapshot, [chunk.candidate for chunk in chunks]),
        recalled.terms,
        weights=weights,
        text_share=text_share(recalled.coverage),
        whole=options.whole,
        width=Width(share=KEEP_SHARE),
    )
    best = {each.about.chunk_id: each for each in reversed(passages)}
    return [best[chunk.about.chunk_id]._replace(score=chunk.score) for chunk in chunks]


def _linked(
    snapshot: Snapshot, place: Sequence[Excerpt], candidates: Sequence[Candidate]
) -> frozenset[int]:
    """Name the candidates that link to the document of the place, or to which the place links."""
    chunks = [excerpt.about.chunk_id for excerpt in place]
    links = snapshot.links([*chunks, *(c.about.chunk_id for c in candidates)])
    led = {chunk: {*map(_folded, links[chunk].targets)} for chunk in links}
    out = {name for chunk in chunks for name in led.get(chunk, ())}

    def called(about: About) -> set[str]:
        front_matter = json.loads(links[about.chunk_id].front_matter)
        return {folded(each) for each in names(about.title, about.path, front_matter)}

    own = called(place[0].about)
    return frozenset(
        c.about.chunk_id
        for c in candidates
        if c.about.document != place[0].about.document
        and (led[c.about.chunk_id] & own or (out and called(c.about) & out))
    )


def _folded(target: str) -> str:
    """Write the last part of a link's target in the form in which names are compared."""
    return folded(target.partition("#")[0].rpartition("/")[2].removesuffix(".md"))


def words_of(text: str) -> ParsedQuery:
    """Parse the words of a text, none of them as an operator."""
    return parse(" ".join(_WORDS.findall(text)))


def middle(vectors: Iterable[bytes]) -> tuple[float, ...] | None:
    """Return the direction in the middle of unit vectors; None if there is none."""
    floats = [struct.unpack(f"<{len(vector) // 4}f", vector) for vector in vectors]
    sums = [fsum(components) for components in zip(*floats, strict=True)]
    length = sqrt(fsum(each * each for each in sums))
    return tuple(each / length for each in sums) if length else None


def _cosines(
    snapshot: Snapshot, candidates: Sequence[Candidate], at: Vector | None, *, by_segment: bool
) -> dict[int, float]:
    """Return the cosine of the place and the middle, or best segment, of each chunk, 0 to 1."""
    if at is None or at.blob is None:
        return {}
    if by_segment:
        best = {
            each.about.chunk_id: max((s.cosine for s in each.segments if s.cosine), default=None)
            for each in candidates
        }
        return {chunk: min(1.0, max(0.0, cosine)) for chunk, cosine in best.items() if cosine}
    own = middle([at.blob])
    vectors = snapshot.vectors([candidate.about.chunk_id for candidate in candidates])
    middles = {chunk: middle(segments) for chunk, segments in vectors.items()}
    return {
        chunk: min(1.0, max(0.0, fsum(map(mul, own, each))))
        for chunk, each in middles.items()
        if own and each
    }


def _meaning(
    snapshot: Snapshot, place: ComparedPlace, options: SearchOptions, counts: Counts
) -> tuple[RetrieverUse, Vector | None]:
    """Return the vector of the place, or the reason why vectors take no part."""
    off = partial(retrievers.unused, counts)
    fingerprint = snapshot.facts.fingerprint
    if options.mode == "keyword":
        return off(retrievers.MODE_IS_KEYWORD)
    vector = middle(place.vectors)
    if fingerprint is not None and not is_readable(place.text, fingerprint):
        return off(
            Reason(
                "script",
                "the bundled model reads English, and the extra 'multilingual' reads the script of"
                " these lines",
                retrievers.OTHER_MODELS,
            )
        )
    if vector is None or fingerprint is None:
        return off(Reason("not-embedded", "these lines are not embedded yet", "memcli index"))
    blob = struct.pack(f"<{len(vector)}f", *vector)
    return RetrieverUse(True, None, counts.embedded, counts.embeddable), Vector(
        blob, fingerprint, None
    )


def _passage(
    candidate: Candidate,
    cosines: Mapping[int, float],
    coverage: Mapping[int, float],
    weights: Weights,
    linked: frozenset[int],
) -> RankedPassage:
    chunk, segments = candidate.about.chunk_id, candidate.segments
    cosine, share = cosines.get(chunk), coverage.get(chunk, 0.0)
    score = weights.vector * (cosine or 0.0) + weights.text * share
    return RankedPassage(
        candidate=candidate,
        first=0,
        last=max(0, len(segments) - 1),
        score=score + (LINKED * (1.0 - score) if chunk in linked else 0.0),
        cosine=cosine,
        coverage=share,
        best=max(range(len(segments)), key=lambda at: segments[at].cosine or 0.0, default=0),
    )
