"""The one path of a search: recall, fuse, focus, floor, decay, diversify, pack.

Explanations, the bench and every output read the same hits; nothing is computed twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from memcli.config import Config
from memcli.embedding.script import latin_share
from memcli.errors import ConfigError
from memcli.search.dates import DateSpan
from memcli.search.decay import apply_decay
from memcli.search.floor import apply_floor, calibration, judge, verdict
from memcli.search.focus import PASSAGE_LINES, focus
from memcli.search.fusion import Weights, fuse, text_share
from memcli.search.hits import Hit
from memcli.search.mmr import diversify
from memcli.search.pack import pack
from memcli.search.proximity import apply_proximity, nearest_first
from memcli.search.query import ParsedQuery
from memcli.search.recall import part_tokens, recall
from memcli.search.views import apply_quality, spread
from memcli.store.reader import Reader
from memcli.store.writer import Counts
from memcli.types import Filters

# Below this share of Latin letters the bundled model's vectors say nothing.
LATIN_LIMIT = 0.5
# Below this share of embedded parts the answer is by keywords alone.
EMBEDDED_LIMIT = 0.5
# Chunks that are looked at part by part.
FOCUS_POOL = 60
# Hits that are compared for novelty; --limit lives within it.
MMR_POOL = 100  # the highest --limit


class Options(NamedTuple):
    """What a search is asked to do."""

    limit: int
    mode: str  # hybrid | lexical | dense
    encoder: str  # its name in the configuration
    fusion: str  # scaled | weighted | rrf
    weights: Weights
    universe: int
    half_life_days: float
    decay_floor: float
    mmr_lambda: float
    min_score: float
    budget: int | None
    whole: bool  # chunks in one piece instead of the lines that answer
    filters: Filters
    passage_lines: int = PASSAGE_LINES
    spread: bool = False  # one passage of what a summary says of a document


class Leg(NamedTuple):
    """Whether a leg ran, why not, and on how much."""

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


NOTHING = Answer((), "none", Leg(True, "", 0, 0), Leg(False, "", 0, 0), 0, 0, (), "0")


class Vector(NamedTuple):
    """The query's vector and the encoder it comes from, or why there is none."""

    blob: bytes | None
    fingerprint: str
    reason: str


def options_of(
    config: Config, *, filters: Filters, budget: int | None = None, whole: bool = False
) -> Options:
    """Read the search settings."""
    return Options(
        limit=config("search.limit"),
        mode=config("search.mode"),
        encoder=config("embedding.encoder"),
        fusion=config("search.fusion"),
        weights=_weights(config("search.vector_weight"), config("search.text_weight")),
        universe=config("search.universe"),
        half_life_days=config("search.half_life_days"),
        decay_floor=config("search.decay_floor"),
        mmr_lambda=config("search.mmr_lambda"),
        min_score=config("search.min_score"),
        budget=budget,
        whole=whole,
        filters=filters,
    )


def _weights(vector: float, text: float) -> Weights:
    if abs(vector + text - 1.0) > 1e-6:
        raise ConfigError(
            f"search.vector_weight and search.text_weight must sum to 1, not {vector + text:g}"
        )
    return Weights(vector, text)


def search(
    reader: Reader,
    query: ParsedQuery,
    dates: Sequence[DateSpan],
    options: Options,
    *,
    embed_query: Callable[[], Vector],
    age_days: Callable[[str], int],
) -> Answer:
    """Answer a query from one state of the index."""
    spans = [(span.start, span.end) for span in dates]
    wants_lexical = options.mode != "dense"
    with reader.snapshot():
        counts = reader.counts()
        dense, vector = _dense_leg(reader, query, options, embed_query, counts)
        lexical = Leg(wants_lexical, "" if wants_lexical else "mode is dense", 0, counts.chunks)
        found = recall(
            reader,
            query,
            lexical=wants_lexical,
            vector=vector,
            universe=options.universe,
            filters=options.filters,
            dates=spans,
        )
        fingerprint = (reader.meta("fingerprint") or "") if dense.ran else ""
        revision = reader.meta("revision") or "0"
        weights = _leg_weights(options.weights, lexical=wants_lexical, dense=dense.ran)
        hits = fuse(found.candidates, found.coverage, method=options.fusion, weights=weights)
        hits = nearest_first(hits, spans, FOCUS_POOL)
        tokens = part_tokens(reader, [hit.candidate for hit in hits])
    hits = focus(
        hits,
        tokens,
        found.terms,
        weights=weights,
        text_share=text_share(found.coverage),
        whole=options.whole,
        most_lines=options.passage_lines,
    )
    hits = apply_proximity(hits, spans=spans)
    hits = apply_quality(hits, found.qualities)
    hits = judge(hits, calibration(fingerprint))
    hits = apply_floor(hits, min_score=options.min_score)
    answer_verdict = verdict(hits)
    hits = apply_decay(
        hits,
        age_days=age_days,
        half_life_days=options.half_life_days,
        floor=options.decay_floor,
    )
    hits = spread(hits) if options.spread else hits
    chosen = diversify(hits[:MMR_POOL], lambda_=options.mmr_lambda, limit=options.limit)
    kept, dropped = pack(chosen, budget=options.budget)
    return Answer(
        hits=tuple(kept),
        verdict=answer_verdict,
        lexical=lexical,
        dense=dense,
        candidates=len(found.candidates),
        dropped=dropped,
        unmatched=found.unmatched,
        revision=revision,
    )


def _leg_weights(weights: Weights, *, lexical: bool, dense: bool) -> Weights:
    if not dense:
        return Weights(0.0, 1.0)
    return weights if lexical else Weights(1.0, 0.0)


def _dense_leg(
    reader: Reader,
    query: ParsedQuery,
    options: Options,
    embed_query: Callable[[], Vector],
    counts: Counts,
) -> tuple[Leg, bytes | None]:
    """Decide whether vectors take part; each reason is said to the user."""

    def off(reason: str) -> tuple[Leg, None]:
        return Leg(False, reason, counts.embedded, counts.parts), None

    if options.mode == "lexical":
        return off("mode is lexical")
    if options.encoder == "none":
        return off("the configuration turns vectors off (embedding.encoder)")
    if latin_share(query.text) < LATIN_LIMIT:
        return off("the model reads English and the query is in another script")
    index_fingerprint = reader.meta("fingerprint")
    if index_fingerprint is None:
        return off("nothing is embedded yet. Try: memcli index")
    if counts.embedded < EMBEDDED_LIMIT * counts.parts:
        return off("less than half of the texts are embedded. Try: memcli index")
    vector = embed_query()
    if vector.blob is None:
        return off(vector.reason)
    if index_fingerprint != vector.fingerprint:
        return off("the index holds vectors of another model. Try: memcli index")
    return Leg(True, "", counts.embedded, counts.parts), vector.blob
