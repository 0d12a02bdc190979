"""The one path of a search: through the stages of `stages.TABLE`, in their order.

What touches the store stands in `_gather`, what follows is pure. Explanations, the bench and every
output read the same hits; nothing is computed twice. What an observer sees are the hits as each
stage left them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from memcli.checking import TYPE_CHECKING
from memcli.errors import Reason
from memcli.record import Record
from memcli.search.decay import apply_decay
from memcli.search.floor import (
    WORDS_ALONE,
    apply_floor,
    calibration,
    judge,
    stands_out,
    sure_of_its_day,
    uncalibrated,
    verdict,
)
from memcli.search.focus import Adjustments, Tokens, focus
from memcli.search.fusion import Weights, fuse, text_share
from memcli.search.hits import Hit
from memcli.search.legs import MODE_IS_DENSE, Leg, Vector, dense_leg, leg_weights
from memcli.search.lines import SPARE, beginning, joined
from memcli.search.mmr import diversify
from memcli.search.newer import newer_first
from memcli.search.pack import pack
from memcli.search.proximity import (
    FIRST_DAY,
    LAST_DAY,
    apply_proximity,
    choose,
    excluded_spans,
    in_time,
    is_of,
    of_dates_alone,
    single_days,
    spans_of,
)
from memcli.search.recall import (
    RecallBounds,
    Recalled,
    part_tokens,
    reach_within,
    recall,
    with_moments,
)
from memcli.search.views import apply_quality, spread

if TYPE_CHECKING:
    from memcli.embedding.known import Calibration
    from memcli.search.dates import DateSpan
    from memcli.search.options import SearchOptions
    from memcli.search.proximity import Spans
    from memcli.search.query import ParsedQuery
    from memcli.search.repair import Repair
    from memcli.search.rerank import Lifts, Reranked
    from memcli.search.speakers import Heard, Voices
    from memcli.store.port import Snapshot

# Chunks that are looked at part by part, and hits that are compared for novelty; --limit lives
# within both.
FOCUS_POOL = MMR_POOL = 100
# A folder or a suffix of two letters, alone or with a region.
_MAY_BE_TRANSLATED = re.compile(r"(?:^|/)[a-z]{2}(?:[-_]\w+)?/|\.[a-z]{2}\.\w+$")


class Answer(Record):
    """The hits of a query and what they rest on."""

    hits: tuple[Hit, ...]
    verdict: str  # good | weak | none
    lexical: Leg
    dense: Leg
    candidates: int
    dropped: int  # passages that did not fit the budget
    far: int  # that would have fitted, and are far from the question
    unmatched: tuple[str, ...]  # terms that no chunk holds
    absent: tuple[str, ...]  # phrases of which the same is true
    apart: tuple[str, ...]  # phrases that no chunk holds together
    revision: str
    fingerprint: str = ""  # of the vectors that took part
    fused: tuple[Hit, ...] = ()  # every candidate, whole, in the order of the fused legs
    dates: tuple[DateSpan, ...] = ()  # of the query, as far as they took part
    repaired: tuple[Repair, ...] = ()  # words that were looked for in place of others
    reranked: Reranked | None = None  # where a reranker is configured
    asked: tuple[str, ...] = ()  # speakers that the query names
    asked_lead: float | None = None  # as `speakers.lead_of` says it
    is_of_others: bool = False  # others than these say what it tells of
    withheld: Reason | None = None  # why the verdict is weak, where its confidence is good
    rarity: float = 0.0  # of the words of the query, see `Recalled`
    constants: Calibration | None = None  # by which the model's cosines are judged
    uncalibrated: Reason | None = None  # what confidences rest on, where there are none


_NO_LEGS = (Leg(True, None, 0, 0), Leg(False, None, 0, 0))
NOTHING = Answer((), "none", *_NO_LEGS, 0, 0, 0, (), (), (), "0")


Observer = Callable[[str, Sequence[Hit]], None]
_Step = tuple[str, Callable[[Sequence[Hit]], Sequence[Hit]]]  # a stage, what it makes of hits


def unobserved(stage: str, hits: Sequence[Hit]) -> None:
    """Take no notice: the observer of a search that nobody follows."""


class Gathered(Record):
    """What one look into the index gave for a query: all that the later stages need."""

    question: str
    hits: Sequence[Hit]  # those worth a closer look
    fused: Sequence[Hit]  # all of them
    believed: Mapping[int, Sequence[float]]  # how far parts count for who says them
    voices: Voices | None  # of `hits`, where it matters who speaks
    tokens: Mapping[int, Sequence[Tokens]]  # of every part of `hits`, by chunk id
    found: Recalled
    repaired: tuple[Repair, ...]
    spans: Spans  # dates that the query names
    out: Spans  # dates that it excludes
    order: str  # newest | oldest, where the query wishes so
    dates_alone: bool  # the query is nothing else, and there are records of that time
    weights: Weights
    text_share: float
    lexical: Leg
    dense: Leg
    revision: str
    fingerprint: str


def search(
    snapshot: Snapshot,
    query: ParsedQuery,
    dates: Sequence[DateSpan],
    options: SearchOptions,
    *,
    embed_query: Callable[[str], Vector],
    age_days: Callable[[str], float],
    observe: Observer = unobserved,
) -> Answer:
    """Answer a query from one state of the index; `observe` is told what each stage left."""
    dates = tuple(dates) if options.has("date") else ()
    gathered = _gather(snapshot, query, dates, options, embed_query=embed_query, observe=observe)
    answer = _rank(gathered, options, age_days, observe)
    return answer._replace(hits=_with_ends(snapshot, answer), dates=dates)


def _with_ends(snapshot: Snapshot, answer: Answer) -> tuple[Hit, ...]:
    """Look up which passages begin or end within a line, and who speaks in them."""
    ids = [hit.about.chunk_id for hit in answer.hits]
    broken, turns = snapshot.broken(ids), snapshot.turns(ids)
    return tuple(
        hit._replace(broken=broken[chunk], turns=tuple(turns.get(chunk, ())))
        for hit, chunk in zip(answer.hits, ids, strict=True)
    )


def _gather(
    snapshot: Snapshot,
    query: ParsedQuery,
    dates: Sequence[DateSpan],
    options: SearchOptions,
    *,
    embed_query: Callable[[str], Vector],
    observe: Observer,
) -> Gathered:
    """Read whatever an answer takes from the index."""
    spans, order = spans_of(dates), next((span.order for span in dates if span.order), "")
    asks_dates_alone = bool(dates) and query.asks_for_dates_alone
    if asks_dates_alone:
        spans = spans or [(FIRST_DAY, LAST_DAY)]
        order = "newest" if options.sort == "newest" else order
    query, repaired = _as_meant(snapshot, query, options)
    wants_lexical = options.mode != "dense"
    facts, counts = snapshot.facts, snapshot.counts()
    dense, vector = dense_leg(snapshot, query, options, embed_query, counts)
    lexical = Leg(wants_lexical, None if wants_lexical else MODE_IS_DENSE, 0, counts.chunks)
    found = recall(
        snapshot,
        query,
        total=counts.chunks,
        lexical=wants_lexical,
        vector=vector.blob if vector else None,
        bounds=_bounds(snapshot, spans, options),
    )
    if found.common:
        lexical = lexical._replace(reason=_common(found.common))
    weights = leg_weights(options, vector, lexical=wants_lexical)
    believed = text_share(found.coverage) if options.has("fuse.coverage") else 1.0
    fused = _fused(found, weights, believed, repaired, options.fusion)
    if options.formula is not None or options.decay_floor < 1.0:
        fused = with_moments(snapshot, fused)
    heard = _heard(snapshot, query.text, options, fused)
    fused = heard.leaned(fused) if heard else fused
    observe("recall", fused)  # a candidate is no hit before; fusing gives an order, and loses none
    observe("fuse", fused)
    dates_alone = asks_dates_alone and any(is_of(hit, spans) for hit in fused)
    closer = partial(choose, spans=spans, order=order, alone=dates_alone, limit=FOCUS_POOL)
    hits = _through([("pool", closer)], fused, options, observe)
    chunks = [hit.candidate for hit in hits] if options.has("focus") else []
    return Gathered(
        question=query.text,
        hits=hits,
        fused=fused,
        believed=heard.weights(chunks) if heard else {},
        voices=heard.voices(snapshot, chunks, found.terms) if heard else None,
        tokens=part_tokens(snapshot, chunks),
        found=found,
        repaired=repaired,
        spans=spans,
        out=excluded_spans(dates),
        order=order,
        dates_alone=dates_alone,
        weights=weights,
        text_share=believed,
        lexical=lexical,
        dense=dense,
        revision=str(facts.revision),
        fingerprint=(facts.fingerprint or "") if dense.ran else "",
    )


def _fused(
    found: Recalled,
    weights: Weights,
    believed: float,
    repaired: tuple[Repair, ...],
    fusion: str,
) -> Sequence[Hit]:
    fused = fuse(
        found.candidates, found.coverage, method=fusion, weights=weights, text_share=believed
    )
    if found.tiers:
        told = ", ".join(map(str, found.tiers))
        fused = [hit.noted("tier", told) for hit in fused]
    if not repaired:
        return fused
    from memcli.search.repair import traced

    return traced(fused, repaired)


def _bounds(snapshot: Snapshot, spans: Spans, options: SearchOptions) -> RecallBounds:
    return RecallBounds(
        options.universe,
        reach_within(snapshot, options.filters),
        spans,
        options.inner.outside,
        options.inner.demands_phrases,
        options.profile.by_limit,
    )


def _common(words: Sequence[str]) -> Reason:
    """Say by which words nothing was looked for."""
    text = f"too many chunks hold it, so nothing is found by it alone: {', '.join(words)}"
    return Reason("common", text)


def _as_meant(
    snapshot: Snapshot, query: ParsedQuery, options: SearchOptions
) -> tuple[ParsedQuery, tuple[Repair, ...]]:
    """Put words that the index holds in the place of those that nothing holds."""
    if not (options.repairs and options.has("recall.repair")):
        return query, ()
    asked = {term: sought for term in query.plain if (sought := term.sought)}
    neighbours = query.neighbours
    held = snapshot.occurring([*asked.values(), *neighbours])
    lacking = [term for term, sought in asked.items() if sought not in held]
    joined = [pair for term, pair in neighbours.items() if term in held]
    if not lacking and not joined:
        return query, ()
    from memcli.search.repair import repair

    return repair(snapshot, query, lacking, joined)


def _heard(
    snapshot: Snapshot, question: str, options: SearchOptions, hits: Sequence[Hit]
) -> Heard | None:
    """Find out who speaks in what was found; None where that makes no difference."""
    speakers = snapshot.speakers() if options.has("speaker") or options.filters.by else ()
    if not speakers:
        return None
    from memcli.search.speakers import hear

    return hear(snapshot, hits, question, speakers, by=options.filters.by)


def _rank(
    gathered: Gathered, options: SearchOptions, age_days: Callable[[str], float], observe: Observer
) -> Answer:
    """Make an answer of what the index gave; pure."""
    passages, reranked, unread = _passages(gathered, options, observe)
    scoring = _scoring(gathered, options, age_days)
    scored = _through(scoring, passages, options, observe)
    floor = partial(_floored, gathered, options)
    judged = _through([("floor", floor)], scored, options, observe)
    options = _timed(options) if gathered.order else options
    steps = _ordering(options, gathered.question, age_days)
    if gathered.dates_alone:
        steps = _in_order_of_time(options, gathered.order)
    ranked = _through(steps, judged, options, observe)[: options.limit]
    packed, dropped, far = pack(ranked, budget=options.budget, free=options.free)
    shown = _through([("pack", lambda _: packed)], ranked, options, observe)
    if options.sort != "score":
        shown = in_time(shown, newest=options.sort == "newest")
    constants = calibration(gathered.fingerprint, options.calibrations)
    found = verdict(judged, is_measured=constants is not None)
    lead, is_of_others = _lead(gathered, shown)
    asked = gathered.voices.names if gathered.voices and not gathered.voices.only else ()
    withheld = None
    if found == "good" and is_of_others:
        withheld = _of_others(asked)
    elif found == "good":
        # What a reranker adds to scores is not of the measure of the lead.
        is_read = reranked is not None and reranked.ran
        led = _through(scoring, unread, options, unobserved) if is_read else scored
        withheld = _doubt(gathered, options, led)
    return Answer(
        hits=tuple(shown),
        verdict="weak" if withheld else found,
        lexical=gathered.lexical,
        dense=gathered.dense,
        candidates=len(gathered.found.candidates),
        dropped=dropped,
        far=far,
        unmatched=gathered.found.unmatched,
        absent=gathered.found.absent,
        apart=gathered.found.apart,
        revision=gathered.revision,
        fingerprint=gathered.fingerprint,
        fused=tuple(gathered.fused),
        repaired=gathered.repaired,
        reranked=reranked,
        asked=asked,
        asked_lead=lead,
        is_of_others=is_of_others,
        withheld=withheld,
        rarity=gathered.found.rarity,
        constants=constants,
        uncalibrated=None
        if constants
        else uncalibrated(gathered.fingerprint, has_words=gathered.lexical.ran),
    )


def _lead(gathered: Gathered, shown: Sequence[Hit]) -> tuple[float | None, bool]:
    """Tell by how much the words are of whom the query names, and whether they are of others."""
    if gathered.voices is None:
        return None, False
    from memcli.search.speakers import DOUBTFUL_LEAD, lead_of

    lead = lead_of(shown)
    return lead, lead is not None and lead < DOUBTFUL_LEAD


def _of_others(asked: Sequence[str]) -> Reason:
    return Reason("others", f"what matches best is not said by {' or '.join(asked)}")


def _doubt(gathered: Gathered, options: SearchOptions, hits: Sequence[Hit]) -> Reason | None:
    """Say why the first of some passages may be no better than others, where that is so.

    What is asked for to the letter or by its day, and by nothing else, is found or not; and only
    of the scores of one way to rank is known what a lead is worth.
    """
    is_measured = options.fusion == "scaled" and not options.profile.formula
    terms = gathered.found.terms
    is_exact = bool(terms) and all(term.exact for term in terms)
    if gathered.dates_alone or is_exact or not is_measured:
        return None
    constants = calibration(gathered.fingerprint, options.calibrations)
    if stands_out(hits, gathered.fused, constants):
        return None
    return Reason("close", "the tenth passage matches nearly as well as the first")


def _through(
    steps: Iterable[_Step], hits: Sequence[Hit], options: SearchOptions, observe: Observer
) -> Sequence[Hit]:
    """Take hits through those steps whose stages take part."""
    for stage, step in steps:
        if options.has(stage):
            hits = step(hits)
            observe(stage, hits)
    return hits


def _passages(
    gathered: Gathered, options: SearchOptions, observe: Observer
) -> tuple[Sequence[Hit], Reranked | None, Sequence[Hit]]:
    """Cut chunks down to passages, and have a reranker read the best of them, if there is one.

    Beside them the passages as they were before it.
    """

    def focused(lifts: Lifts) -> list[Hit]:
        return focus(
            gathered.hits,
            gathered.tokens,
            gathered.found.terms,
            weights=gathered.weights,
            text_share=gathered.text_share,
            whole=options.whole or gathered.dates_alone,
            width=options.inner.width,
            adjusted=Adjustments(gathered.believed, lifts),
        )

    hits = _through([("focus", lambda _: focused({}))], gathered.hits, options, observe)
    is_off = "rerank" in options.inner.without or gathered.dates_alone
    if options.reranker is None or is_off:
        return hits, None, hits
    from memcli.embedding.known import readable
    from memcli.search.rerank import OTHER_FORMULA, Reranked, rerank

    if not options.has("rerank"):
        return hits, Reranked(options.reranker.name, 0, OTHER_FORMULA), hits
    text = gathered.question
    if options.reranker.is_by_part:
        text = readable(text, gathered.fingerprint)
    read, reranked = rerank(hits, text, options.reranker, focused, has_vectors=gathered.dense.ran)
    observe("rerank", read)
    return read, reranked, hits


def _scoring(
    gathered: Gathered, options: SearchOptions, age_days: Callable[[str], float]
) -> list[_Step]:
    """List the stages that score passages before their age counts."""
    raised = of_dates_alone if gathered.dates_alone else partial(apply_proximity, out=gathered.out)
    valued = partial(
        apply_quality, confidences=gathered.found.qualities, weight=options.quality_weight
    )
    scored: list[_Step] = []
    if options.formula is not None:
        again = partial(options.formula.score, matched=gathered.found.matched, age_days=age_days)
        scored.append(("score", again))
    return [
        *([("speaker", gathered.voices.trimmed)] if gathered.voices else []),
        *scored,
        ("date", partial(raised, spans=gathered.spans, order=gathered.order)),
        ("quality", valued),
    ]


def _ordering(
    options: SearchOptions, question: str, age_days: Callable[[str], float]
) -> list[_Step]:
    """List the stages that set the order of passages whose confidence is known."""
    fade = partial(
        apply_decay,
        age_days=age_days,
        half_life_days=options.half_life_days,
        floor=options.decay_floor,
    )
    return [
        ("decay", fade),
        ("newer", newer_first),
        ("language", partial(_translated, question)),
        ("spread", spread),
        ("mmr", partial(_diversified, options)),
        ("join", joined),
        ("cut", lambda hits: hits if options.whole else beginning(hits)),
    ]


def _translated(question: str, hits: Sequence[Hit]) -> Sequence[Hit]:
    if not any(_MAY_BE_TRANSLATED.search(hit.about.path) for hit in hits):
        return hits
    from memcli.search.translations import own_language_first

    return own_language_first(hits, question)


def _timed(options: SearchOptions) -> SearchOptions:
    """Leave out what would undo the order of time: other words, or a correction."""
    without = options.inner.without | {"newer"}
    return options._replace(mmr_lambda=1.0, inner=options.inner._replace(without=without))


def _in_order_of_time(options: SearchOptions, order: str) -> list[_Step]:
    """List the stages that keep the order of time, and fold what says the same."""
    fold = partial(_diversified, _timed(options))
    return [("mmr", lambda hits: fold(in_time(hits, newest=order == "newest")))]


def _floored(gathered: Gathered, options: SearchOptions, hits: Sequence[Hit]) -> list[Hit]:
    constants = calibration(gathered.fingerprint, options.calibrations)
    if constants is None and gathered.lexical.ran:
        constants = WORDS_ALONE
    judged = judge(hits, constants, rarity=gathered.found.rarity)
    if gathered.dates_alone:  # a record of the day is the answer, whatever its words
        judged = [hit._replace(confidence=1.0) for hit in judged]
    elif days := single_days(gathered.spans):
        judged = [sure_of_its_day(hit) if is_of(hit, days) else hit for hit in judged]
    return apply_floor(judged, min_score=options.min_score, on_score=options.profile.floor_on_score)


def _diversified(options: SearchOptions, hits: Sequence[Hit]) -> list[Hit]:
    return diversify(
        hits[:MMR_POOL],
        lambda_=options.mmr_lambda,
        least=options.mmr_min,
        limit=options.limit + SPARE,
        fold=options.has("mmr.fold"),
    )
