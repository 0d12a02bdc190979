"""Results of the Python API: the objects of the JSON, frozen and typed."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING, Any
from memcli.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.api.ask import SearchResult
    from memcli.config.settings import Config
    from memcli.dates.find import DateSpan
    from memcli.errors import Reason
    from memcli.indexing.freshness import Freshness
    from memcli.search.passages import Passage
    from memcli.search.repair import Repair
    from memcli.search.rerank import RerankResult
    from memcli.search.retrievers import RetrieverUse


# Keys of an answer that are left out if there is nothing to say.
IF_ANY = ("read_as", "missing_phrases", "split_phrases", "shortened", "omitted_low_confidence",
          "weaker")  # fmt: skip


class RetrieverStatus(Record):
    """Which retrievers ran, and why one did not."""

    keyword: RetrieverUse
    semantic: RetrieverUse


class SearchResults(Record):
    """The result of a search: `memcli.search/1`."""

    query: str
    dates: tuple[DateSpan, ...]  # dates in the query, as memcli reads them
    now: str  # ISO time
    match: str  # strong | weak | none
    freshness: Freshness
    retrievers: RetrieverStatus
    results: tuple[Passage, ...]  # best first
    omitted_over_budget: int  # passages that did not fit
    omitted_low_confidence: int  # passages that fit, with too little confidence
    weaker: int  # passages not worth reading; `more` returns them
    missing_phrases: tuple[str, ...] = ()  # quoted phrases that do not occur
    named_speakers: tuple[str, ...] = ()  # speakers in the query
    split_phrases: tuple[str, ...] = ()  # quoted phrases that are not in one passage
    repairs: tuple[Repair, ...] = ()  # misspelled words and their corrections
    reranked: RerankResult | None = None
    empty_reason: Reason | None = None  # the phrase or filter that excludes everything
    match_reason: Reason | None = None  # why the match is weak
    uncalibrated: Reason | None = None  # why confidence uses keywords only


class RelatedPassages(Record):
    """The passages most like a place: `memcli.related/1`."""

    place: str  # citation of the lines to compare with
    freshness: Freshness
    retrievers: RetrieverStatus
    results: tuple[Passage, ...]  # best first; a score of 1 is the same text
    weaker: int = 0  # passages that are hardly related; `more` returns them
    empty_reason: Reason | None = None  # the filter that excludes everything


class ContextPassage(Record):
    """Lines of one document in a context."""

    section: str  # always | soft | preferences | recent | passages
    citation: str
    ref: str
    trust: str
    text: str
    score: float | None
    via: str | None  # citation of the passage that links here
    corrected_by: tuple[dict[str, str | int], ...]  # newer lines that replace its lines


class ContextBlock(Record):
    """A Markdown block for a prompt: `memcli.context/1`."""

    query: str | None
    dates: tuple[DateSpan, ...]  # dates in the query, as memcli reads them
    now: str
    budget: int
    tokens: int  # an estimate, with fences and citations
    match: str | None  # None without a query
    freshness: Freshness
    markdown: str  # the block
    parts: tuple[ContextPassage, ...]
    omitted: int  # parts that did not fit
    tokens_saved: int  # tokens of passages with too little confidence
    warnings: tuple[str, ...]
    repairs: tuple[Repair, ...] = ()  # misspelled words and their corrections
    reranked: RerankResult | None = None
    match_reason: Reason | None = None  # why the match is weak
    uncalibrated: Reason | None = None  # why confidence uses keywords only


class DocumentEntry(Record):
    """A document, with the values that filters compare."""

    source: str
    path: str
    title: str
    date: str | None
    kind: str
    scope: str
    trust: str
    tags: tuple[str, ...]  # as written, without #
    front_matter: dict[str, Any]
    date_from: str | None = None  # the first day, if `date` ends a week or a month


def results_of(result: SearchResult, *, now: str) -> SearchResults:
    """Make the record of a search."""
    from memcli.search.passages import passages_of

    answer = result.answer._asdict()
    fields = {name: answer[name] for name in SearchResults._fields if name in answer} | {
        "query": result.question.text,
        "now": now,
        "freshness": result.freshness,
        "retrievers": RetrieverStatus(answer["keyword"], answer["semantic"]),
        "results": passages_of(result.answer.passages),
        "repairs": answer["repaired"],
        "empty_reason": result.empty_reason,
    }
    return SearchResults(**fields)


def search_record(
    result: SearchResult,
    results: list[dict[str, Any]],
    config: Config,
    *,
    now: str,
    dates: Sequence[DateSpan],
    whole: bool = False,
) -> dict[str, Any]:
    """Make the object of `memcli.search/1`, for the command line and for MCP.

    `results` are those of `jsonio.result`, and `dates` those of question and filters. Only a
    `whole` object has the keys that few programs need.
    """
    from memcli.render import jsonio
    from memcli.search.budget import shortened

    question, answer = result.question, result.answer
    every = {
        "schema": "memcli.search/1",
        "query": question.typed or question.text,
        "read_as": question.typed and question.text,
        "dates": jsonio.dates_of(dates),
        "now": now,
        "match": answer.match,
        **jsonio.match_reasons(answer),
        **jsonio.freshness_fields(result.freshness),
        "retrievers": jsonio.retrievers(answer),
        "missing_phrases": list(answer.missing_phrases),
        "split_phrases": list(answer.split_phrases),
        **jsonio.repairs(answer),
        **jsonio.reranked(answer),
        **jsonio.speaker_match(answer),
        "results": results,
        "omitted_over_budget": answer.omitted_over_budget,
        "shortened": shortened(answer.passages),
        "omitted_low_confidence": answer.omitted_low_confidence,
        "weaker": answer.weaker,
    }
    record = {key: value for key, value in every.items() if value or key not in IF_ANY}
    if not whole:
        record = jsonio.few_of_answer(record)
    record |= jsonio.implicit_sources(config)
    if result.empty_reason is not None:
        record["empty_reason"] = jsonio.reason(result.empty_reason)
    return record
