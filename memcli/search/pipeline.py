"""The one path of a search: recall, fuse, focus, floor, decay, diversify, pack.

Explanations, the bench and every output read the same hits; nothing is computed twice. What an
observer sees are the hits as each stage left them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memcli.embedding.choice import OTHER_MODEL
from memcli.embedding.known import known
from memcli.embedding.registry import is_readable
from memcli.errors import Reason
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
from memcli.search.validity import reach_of
from memcli.search.views import apply_quality, spread
from memcli.store.records import Counts, Support
from memcli.types import Filters

# From so many tokens a word on, meaning counts for less: the model was not taught the language,
# or the query is made of identifiers.
FERTILITY_LIMIT = 1.7
# Below this share of embedded parts the answer is by keywords alone.
EMBEDDED_LIMIT = 0.5
# Chunks that are looked at part by part, and hits that are compared for novelty; --limit lives
# within both.
FOCUS_POOL = MMR_POOL = 100
MODE_IS_LEXICAL = Reason("mode", "mode is lexical")
MODE_IS_DENSE = Reason("mode", "mode is dense")


if TYPE_CHECKING:
    from memcli.store.port import Snapshot


class Leg(NamedTuple):
    """Whether a leg ran, why not or not in full, and on how much."""

    ran: bool
    reason: Reason | None
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


NOTHING = Answer((), "none", Leg(True, None, 0, 0), Leg(False, None, 0, 0), 0, 0, (), "0")


class Vector(NamedTuple):
    """The query's vector and the encoder it comes from, or why there is none."""

    blob: bytes | None
    fingerprint: str
    reason: Reason | None
    fertility: float  # tokens a word of the query was cut into


Observer = Callable[[str, Sequence[Hit]], None]


def unobserved(stage: str, hits: Sequence[Hit]) -> None:
    """Look away."""


def search(
    snapshot: Snapshot,
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
    facts, counts = snapshot.facts, snapshot.counts()
    if True:
        dense, vector = _dense_leg(snapshot, query, options, embed_query, counts)
        lexical = Leg(wants_lexical, None if wants_lexical else MODE_IS_DENSE, 0, counts.chunks)
        found = recall(
            snapshot,
            query,
            total=counts.chunks,
            lexical=wants_lexical,
            vector=vector.blob if vector else None,
            universe=options.universe,
            reach=reach_of(options.filters, _supports(snapshot, options.filters)),
            dates=spans,
            outside=options.outside,
        )
        if found.common:
            lexical = lexical._replace(reason=_common(found.common))
        fingerprint = (facts.fingerprint or "") if dense.ran else ""
        revision = str(facts.revision)
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
            tokens = part_tokens(snapshot, [hit.candidate for hit in hits])
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


def _supports(snapshot: Snapshot, filters: Filters) -> Sequence[Support]:
    """Read what summaries rest on where the view depends on it."""
    return () if filters.view == "all" else snapshot.supports()


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


def _common(words: Sequence[str]) -> Reason:
    """Say which words were passed over."""
    text = f"not looked for, too many chunks hold it: {', '.join(words)}"
    return Reason("common", text)


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
    snapshot: Snapshot,
    query: ParsedQuery,
    options: Options,
    embed_query: Callable[[], Vector],
    counts: Counts,
) -> tuple[Leg, Vector | None]:
    """Decide whether vectors take part; each reason is said to the user."""

    def off(reason: Reason | None) -> tuple[Leg, None]:
        return Leg(False, reason, counts.embedded, counts.parts), None

    if options.mode == "lexical":
        return off(MODE_IS_LEXICAL)
    if options.encoder == "none":
        text = "the configuration turns vectors off (embedding.encoder)"
        return off(Reason("off", text))
    index_fingerprint = snapshot.facts.fingerprint
    if not is_readable(query.text, index_fingerprint or options.encoder):
        text = "the model reads English and the query is in another script"
        return off(Reason("script", text))
    if index_fingerprint is None:
        return off(Reason("not-embedded", "nothing is embedded yet", "memcli index"))
    if counts.embedded < EMBEDDED_LIMIT * counts.parts:
        text = "less than half of the texts are embedded"
        return off(Reason("not-embedded", text, "memcli index"))
    vector = embed_query()
    if vector.blob is None:
        return off(vector.reason)
    if index_fingerprint != vector.fingerprint:
        return off(OTHER_MODEL)
    return Leg(True, None, counts.embedded, counts.parts), vector
