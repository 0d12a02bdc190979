"""Read everything from the index that an answer needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from functools import partial

from memcli.checking import TYPE_CHECKING
from memcli.embedding.encoders import Vector
from memcli.language.words import index_term
from memcli.record import Record
from memcli.search import retrievers
from memcli.search.fusion import LengthPrior, Weights, fuse, text_share
from memcli.search.options import run_stages
from memcli.search.proximity import FIRST_DAY, LAST_DAY, choose, excluded_spans, of_time, spans_of
from memcli.search.recall import (
    MOST_OUTSIDE,
    RecallBounds,
    RecallResult,
    heading_tokens,
    named,
    part_tokens,
    recall,
    scope_within,
    with_moments,
)
from memcli.search.retrievers import RetrieverUse

if TYPE_CHECKING:
    from memcli.dates.find import DateSpan
    from memcli.search.focus import Tokens
    from memcli.search.options import Observer, SearchOptions
    from memcli.search.proximity import Spans
    from memcli.search.query import ParsedQuery
    from memcli.search.ranked import RankedPassage
    from memcli.search.repair import Repair
    from memcli.search.speakers import ConversationSpeakers, Voices
    from memcli.store.port import Snapshot
    from memcli.store.records import Scope
    from memcli.types import Candidate, Term, Turn

FOCUS_POOL = 100  # chunks that are examined segment by segment; --limit is at most this
LONG_AFTER = 182  # days
SOON = timedelta(31)
MOST_YEARS = 5  # in which a date without a year is looked for


class GatherResult(Record):
    """What the index gave for a query: all that the later stages need."""

    question: str
    passages: Sequence[RankedPassage]  # those worth a closer look
    fused: Sequence[RankedPassage]  # all of them
    speaker_weights: Mapping[int, Sequence[float]]  # the weight of each segment by its speaker
    turns: Mapping[int, Sequence[Turn]]  # of all candidates, by chunk id
    voices: Voices | None  # of `passages`, if it matters who speaks
    tokens: Mapping[int, Sequence[Tokens]]  # of every segment of `passages`, by chunk id
    headings: Mapping[int, Tokens]  # of the chunks of `passages`, in tokens
    named: frozenset[int]  # chunks of `passages` whose document is called what the question is
    prior: LengthPrior
    recalled: RecallResult
    repaired: tuple[Repair, ...]
    spans: Spans  # dates that the query names
    is_weekday: bool  # it names a weekday, and no other date
    out: Spans  # dates that it excludes
    order: str  # newest | oldest, if the query asks for it
    asks_nothing: bool  # the query is stop words only, or a time that no record is of
    dates_alone: bool  # the query is nothing else, and there are records of that time
    weights: Weights
    text_share: float
    keyword: RetrieverUse
    semantic: RetrieverUse
    revision: str
    fingerprint: str


def gather(
    snapshot: Snapshot,
    query: ParsedQuery,
    dates: Sequence[DateSpan],
    options: SearchOptions,
    *,
    embed_query: Callable[[str], Vector],
    observe: Observer,
) -> GatherResult:
    """Read everything from the index that an answer needs."""
    spans, order = spans_of(dates), next((span.order for span in dates if span.order), "")
    asks_dates_alone = bool(dates) and query.asks_for_dates_alone
    if asks_dates_alone:
        spans = spans or [(FIRST_DAY, LAST_DAY)]
        order = "newest" if options.sort == "newest" else order
    query, repaired = _as_meant(snapshot, query, options)
    days = tuple(filter(None, (index_term(span.text) for span in dates if span.is_day)))
    retrieved = _retrieve(snapshot, query, (spans, days), options, embed_query)
    recalled = retrieved.recalled
    turns, speakers, documents = _read_speakers(snapshot, query.text, options, recalled.candidates)
    prior = retrievers.length_prior(options, retrieved.vector, documents)
    share = text_share(recalled.coverage) if options.has("fuse.coverage") else 1.0
    weights = retrieved.weights
    fused = _fused(recalled, repaired, options.fusion, weights, prior, text_share=share)
    if options.formula is not None or options.decay_floor < 1.0:
        fused = with_moments(snapshot, fused)
    if speakers:
        fused = speakers.leaned(fused)
    observe("recall", fused)  # no candidate is a passage before; fusing orders them, and loses none
    observe("fuse", fused)
    dates_alone = asks_dates_alone and bool(of_time(fused, spans))
    closer = partial(
        choose, spans=spans, order=order, alone=dates_alone, limit=FOCUS_POOL, sort=options.sort
    )
    passages = run_stages([("candidates", closer)], fused, options, observe)
    chunks = [passage.candidate for passage in passages] if options.has("focus") else []
    facts = snapshot.facts
    return GatherResult(
        question=query.text,
        passages=passages,
        fused=fused,
        speaker_weights=speakers.weights(chunks) if speakers else {},
        turns=turns,
        voices=speakers.voices(snapshot, chunks, recalled.terms) if speakers else None,
        tokens=part_tokens(snapshot, chunks),
        headings=heading_tokens(snapshot, chunks),
        named=named(chunks, query.text),
        prior=prior,
        recalled=_without_days(recalled, dates),
        repaired=repaired,
        spans=spans,
        is_weekday=bool(dates) and all(span.is_weekday for span in dates),
        out=excluded_spans(dates),
        order=order,
        asks_nothing=(asks_dates_alone and not dates_alone)
        or (not dates and all(term.stop for term in query.terms)),
        dates_alone=dates_alone,
        weights=weights,
        text_share=share,
        keyword=retrieved.keyword,
        semantic=retrieved.semantic,
        revision=str(facts.revision),
        fingerprint=(facts.fingerprint or "") if retrieved.semantic.ran else "",
    )


class Retrieved(Record):
    """The results of both retrievers, and how they ran."""

    recalled: RecallResult
    vector: Vector | None  # None if vectors took no part
    weights: Weights
    keyword: RetrieverUse
    semantic: RetrieverUse


def _retrieve(
    snapshot: Snapshot,
    query: ParsedQuery,
    dates: tuple[Spans, tuple[Term, ...]],
    options: SearchOptions,
    embed_query: Callable[[str], Vector],
) -> Retrieved:
    """Run the retrievers; if only some texts have vectors, vectors score what keywords find."""
    counts, by_keyword = snapshot.counts(), options.mode != "semantic"
    semantic, vector = retrievers.semantic_retriever(snapshot, query, options, embed_query, counts)
    keywords_choose = vector is not None and retrievers.is_partial(counts)
    bounds = RecallBounds(
        options.universe if options.sort == "score" else MOST_OUTSIDE,
        scope_within(snapshot, options.filters),
        *dates,
        options.inner.outside,
        options.inner.demands_phrases,
        options.profile.by_limit,
        keywords_choose,
    )
    read = partial(recall, snapshot, query, total=counts.chunks, keyword=by_keyword, bounds=bounds)
    recalled = read(vector=vector.blob if vector else None)
    if keywords_choose:
        semantic = retrievers.of_matches(semantic, counts, recalled.candidates)
        if not semantic.ran:
            vector, recalled = None, read(vector=None)
    return Retrieved(
        recalled,
        vector,
        retrievers.retriever_weights(options, vector, keyword=by_keyword),
        retrievers.keyword_use(recalled.common, counts.chunks, runs=by_keyword),
        semantic,
    )


def in_years(snapshot: Snapshot, span: DateSpan, scope: Scope, question: str) -> Sequence[DateSpan]:
    """Read a date without a year in the years of the notes if the last such day is after them.

    It may then be of any of these years, but a date with an open end is of the last. If the notes
    ended long before a date that counts from today, such as `last week`, it is ignored. A month or
    a day that comes soon is meant too, unless the question is about what has happened.
    """
    from memcli.dates.find import names_no_year, names_year, read_again
    from memcli.language.tense import asks_about_past

    begins = span.start or span.end
    if begins is None or names_year(span):
        return (span,)
    excerpt = next(iter(snapshot.newest(scope)), None)
    newest = excerpt.about.document_date if excerpt else None
    if newest is None or begins <= newest:
        soon = _soon(span, newest) if newest and names_no_year(span) else None
        return (span, soon) if soon and not asks_about_past(question) else (span,)
    if not names_no_year(span):
        after = date.fromisoformat(begins) - date.fromisoformat(newest)
        return () if after.days > LONG_AFTER else (span,)
    year, readings = int(newest[:4]), []
    for day in (newest, *(f"{year - back}-12-31" for back in range(1, MOST_YEARS))):
        read = read_again(span, date.fromisoformat(day))
        if read is None or not snapshot.dated([(FIRST_DAY, read.end or LAST_DAY)], 1, scope):
            break
        readings += [read] * (read not in readings)
        if not (read.start and read.end):
            break
    return readings or (span,)


def _soon(span: DateSpan, newest: str) -> DateSpan | None:
    """Read a day or month as the one that follows the newest note, if it is near."""
    from memcli.dates.find import read_again

    soon = read_again(span, date.fromisoformat(newest) + SOON)
    return soon if soon and soon.start and soon.end and soon.start > newest else None


def _fused(
    recalled: RecallResult,
    repaired: Sequence[Repair],
    method: str,
    weights: Weights,
    prior: LengthPrior,
    *,
    text_share: float,
) -> Sequence[RankedPassage]:
    """Fuse candidates; their traces name the components that answered, and corrected words."""
    fused = fuse(
        recalled.candidates, recalled.coverage, method=method, weights=weights,
        text_share=text_share, prior=prior,
    )  # fmt: skip
    if recalled.tiers:
        text = ", ".join(map(str, recalled.tiers))
        fused = [passage.noted("tier", text) for passage in fused]
    if repaired:
        text = ", ".join(f"{each.searched} for {each.typed}" for each in repaired)
        fused = [passage.noted("repaired", text) for passage in fused]
    return fused


def _without_days(recalled: RecallResult, dates: Sequence[DateSpan]) -> RecallResult:
    """Leave out words of dates: the days of `last summer` are found without the word."""
    days = [day.text for day in dates]
    missing = (word for word in recalled.unmatched if not any(word in day for day in days))
    return recalled._replace(unmatched=tuple(missing)) if days and recalled.unmatched else recalled


def _as_meant(
    snapshot: Snapshot, query: ParsedQuery, options: SearchOptions
) -> tuple[ParsedQuery, tuple[Repair, ...]]:
    """Replace words that the index lacks by words that it has."""
    if not (options.repairs and options.has("recall.repair")):
        return query, ()
    terms = {term: index_term for term in query.plain if (index_term := term.index_term)}
    neighbours = query.neighbours
    occurring = snapshot.occurring([*terms.values(), *neighbours])
    absent = [term for term, index_term in terms.items() if index_term not in occurring]
    joined = [pair for term, pair in neighbours.items() if term in occurring]
    if not absent and not joined:
        return query, ()
    from memcli.search.repair import repair

    return repair(snapshot, query, absent, joined)


def _read_speakers(
    snapshot: Snapshot, question: str, options: SearchOptions, candidates: Sequence[Candidate]
) -> tuple[Mapping[int, Sequence[Turn]], ConversationSpeakers | None, frozenset[int]]:
    """Read who speaks in the candidates, and find out whose words the question is about.

    The second value is None if it makes no difference who speaks; the third names the candidates in
    which nobody speaks.
    """
    ids = [candidate.about.chunk_id for candidate in candidates]
    speakers = snapshot.speakers()
    lines = snapshot.lines_of(ids) if speakers else {}
    turns = {chunk: own.turns for chunk, own in lines.items() if own.turns}
    documents = frozenset(ids).difference(turns)
    if not speakers or not (options.filters.by or options.has("speaker")):
        return turns, None, documents
    from memcli.search.speakers import resolve_speakers

    own = resolve_speakers(turns, question, speakers, by=options.filters.by)
    return turns, own, documents
