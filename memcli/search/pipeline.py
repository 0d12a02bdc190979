"""The one path of a search: recall, fuse, focus, floor, decay, diversify, pack.

Explanations, the bench and every output read the same hits; nothing is computed twice. What an
observer sees are the hits as each stage left them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from memcli.embedding.known import is_readable, known
from memcli.search.dates import DateSpan
from memcli.search.decay import apply_decay
from memcli.search.floor import apply_floor, calibration, judge, verdict
from memcli.search.focus import focus
from memcli.search.fusion import Weights, fuse, text_share
from memcli.search.hits import Hit
from memcli.search.mmr import diversify
from memcli.search.newer import newer_first
from memcli.search.options import Options
from memcli.search.pack import pack
from memcli.search.proximity import apply_proximity, nearest_first
from memcli.search.query import ParsedQuery
from memcli.search.recall import Recalled, part_tokens, recall
from memcli.search.views import apply_quality, spread
from memcli.store.sqlite.documents import Counts
from memcli.store.sqlite.reader import Reader

# From so many tokens a word on, meaning counts for less: the model was not taught the language,
# or the query is made of identifiers.
FERTILITY_LIMIT = 1.7
# Below this share of embedded parts the answer is by keywords alone.
EMBEDDED_LIMIT = 0.5
# Chunks that are looked at part by part, and hits that are compared for novelty; --limit lives
# within both.
FOCUS_POOL = MMR_POOL = 100


class Leg(NamedTuple):
    """Whether a leg ran, why not or not in full, and on how much."""

    ran: bool
    reason: str
    embedded: int
    total: int


class Answer(NamedTuple):
    """The hits of a query and what they rest on."""

    hits: tuple[Hit, ...]
    verdict: str  # good | weak | none
    lexical: Leg
    dense: Leg
    candidates: int
    dropped: int  # passages that did not fit the budget
    unmatched: tuple[str, ...]  # terms that no chunk holds
    revision: str
    fingerprint: str = ""  # of the vectors that took part
    fused: tuple[Hit, ...] = ()  # every candidate, whole, in the order of the fused legs


NOTHING = Answer((), "none", Leg(True, "", 0, 0), Leg(False, "", 0, 0), 0, 0, (), "0")


class Vector(NamedTuple):
    """The query's vector and the encoder it comes from, or why there is none."""

    blob: bytes | None
    fingerprint: str
    reason: str
    fertility: float  # tokens a word of the query was cut into


Observer = Callable[[str, Sequence[Hit]], None]


def unobserved(stage: str, hits: Sequence[Hit]) -> None:
    """Look away."""


def search(
    reader: Reader,
    query: ParsedQuery,
    dates: Sequence[DateSpan],
    options: Options,
    *,
    embed_query: Callable[[], Vector],
    age_days: Callable[[str], int],
    observe: Observer = unobserved,
) -> Answer:
    """Answer a query from one state of the index."""
    spans = [(span.start, span.end) for span in dates] if options.has("date") else []
    wants_lexical = options.mode != "dense"
    with reader.snapshot():
        counts = reader.counts()
        dense, vector = _dense_leg(reader, query, options, embed_query, counts)
        lexical = Leg(wants_lexical, "" if wants_lexical else "mode is dense", 0, counts.chunks)
        found = recall(
            reader,
            query,
            total=counts.chunks,
            lexical=wants_lexical,
            vector=vector.blob if vector else None,
            universe=options.universe,
            filters=options.filters,
            dates=spans,
            outside=options.outside,
        )
        if found.common:
            words = ", ".join(found.common)
            lexical = lexical._replace(reason=f"not looked for, too many chunks hold it: {words}")
        fingerprint = (reader.meta("fingerprint") or "") if dense.ran else ""
        revision = reader.meta("revision") or "0"
        weights = leg_weights(options, vector, lexical=wants_lexical)
        believed = text_share(found.coverage) if options.has("coverage") else 1.0
        hits = fuse(
            found.candidates,
            found.coverage,
            method=options.fusion,
            weights=weights,
            text_share=believed,
        )
        fused = tuple(hits)
        observe("fuse", hits)
        if options.has("focus"):
            hits = nearest_first(hits, spans, FOCUS_POOL)
            observe("pool", hits)
            tokens = part_tokens(reader, [hit.candidate for hit in hits])
            hits = focus(
                hits,
                tokens,
                found.terms,
                weights=weights,
                text_share=believed,
                whole=options.whole,
                most_lines=options.passage_lines,
                keep_share=options.keep_share,
            )
            observe("focus", hits)
    hits = _scored(hits, found, options, age_days)
    hits = judge(hits, calibration(fingerprint), rarity=found.rarity)
    hits = apply_proximity(hits, spans=spans)
    hits = apply_quality(hits, found.qualities)
    observe("score", hits)
    hits = apply_floor(hits, min_score=options.min_score, on_score=options.profile.floor_on_score)
    observe("floor", hits)
    answer_verdict = verdict(hits)
    if options.has("decay"):
        hits = apply_decay(
            hits,
            age_days=age_days,
            half_life_days=options.half_life_days,
            floor=options.decay_floor,
        )
        observe("decay", hits)
    if options.has("newer"):
        hits = newer_first(hits)
        observe("newer", hits)
    hits = spread(hits) if options.spread else hits
    if options.has("mmr"):
        hits = diversify(
            hits[:MMR_POOL],
            lambda_=options.mmr_lambda,
            least=options.mmr_min,
            limit=options.limit,
            fold=options.has("fold"),
        )
        observe("mmr", hits)
    kept, dropped = pack(hits[: options.limit], budget=options.budget)
    observe("pack", kept)
    return Answer(
        hits=tuple(kept),
        verdict=answer_verdict,
        lexical=lexical,
        dense=dense,
        candidates=len(found.candidates),
        dropped=dropped,
        unmatched=found.unmatched,
        revision=revision,
        fingerprint=fingerprint,
        fused=fused,
    )


def _scored(
    hits: list[Hit], found: Recalled, options: Options, age_days: Callable[[str], int]
) -> list[Hit]:
    """Score anew where the profile has a formula of its own."""
    if options.profile.score == "convex":
        from memcli.search.convex import score_convex

        return score_convex(hits, age_days=age_days)
    if options.profile.score == "two-pass":
        from memcli.search.two_pass import two_pass

        return two_pass(hits, found.matched, age_days=age_days)
    return hits


def leg_weights(options: Options, vector: Vector | None, *, lexical: bool) -> Weights:
    """Weigh the legs that ran; what the model can hardly read leans on words."""
    if vector is None:
        return Weights(0.0, 1.0)
    if not lexical:
        return Weights(1.0, 0.0)
    if not options.has("fertility"):
        return options.weights
    trust = min(1.0, FERTILITY_LIMIT / vector.fertility)
    trust *= known(vector.fingerprint).belief
    return Weights(options.weights.vector * trust, 1.0 - options.weights.vector * trust)


def _dense_leg(
    reader: Reader,
    query: ParsedQuery,
    options: Options,
    embed_query: Callable[[], Vector],
    counts: Counts,
) -> tuple[Leg, Vector | None]:
    """Decide whether vectors take part; each reason is said to the user."""

    def off(reason: str) -> tuple[Leg, None]:
        return Leg(False, reason, counts.embedded, counts.parts), None

    if options.mode == "lexical":
        return off("mode is lexical")
    if options.encoder == "none":
        return off("the configuration turns vectors off (embedding.encoder)")
    index_fingerprint = reader.meta("fingerprint")
    if not is_readable(query.text, index_fingerprint or options.encoder):
        return off("the model reads English and the query is in another script")
    if index_fingerprint is None:
        return off("nothing is embedded yet. Try: memcli index")
    if counts.embedded < EMBEDDED_LIMIT * counts.parts:
        return off("less than half of the texts are embedded. Try: memcli index")
    vector = embed_query()
    if vector.blob is None:
        return off(vector.reason)
    if index_fingerprint != vector.fingerprint:
        return off("the index holds vectors of another model. Try: memcli index")
    return Leg(True, "", counts.embedded, counts.parts), vector
