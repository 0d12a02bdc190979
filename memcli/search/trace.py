"""Write the trace of a search, so that it can be run again and compared; pure.

A trace has the question, the settings, the index and model, what each retriever found, the fused
order, and the passages with their steps. Texts are bounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memcli.markdown.segments import digest
from memcli.record import Record
from memcli.search.pipeline import Answer
from memcli.search.query import ParsedQuery
from memcli.search.ranked import RankedPassage, Step
from memcli.search.retrievers import RetrieverUse
from memcli.types import Filters, Where

if TYPE_CHECKING:
    from memcli.dates.find import DateSpan
    from memcli.search.rerank import RerankResult
    from memcli.search.summaries import ExpandedLines

SCHEMA, CONTEXT_SCHEMA = "memcli.search-trace/1", "memcli.context-trace/1"
TEXT_CHARS = 700  # as much as a snippet shows
LEG_TOP = 50  # of each retriever; the fused list has every candidate


class Inquiry(Record):
    """A question and everything that affects its answer."""

    text: str
    now: str  # ISO time
    filters: Filters
    budget: int | None
    flags: Mapping[str, Any]  # settings given on the command line
    settings: Mapping[str, Any]  # all settings that affect an answer, including flags
    accesses: int | None = None  # number of counted uses; None if uses are not counted


def search_trace(
    inquiry: Inquiry,
    parsed: ParsedQuery,
    dates: Sequence[DateSpan],
    answer: Answer,
    *,
    whole: bool,
    sort: str,
    ends: bool = False,
    expanded: Sequence[ExpandedLines] | None = None,
) -> dict[str, Any]:
    """Describe a search as `memcli.search-trace/1` does; `whole` means whole chunks.

    With `ends` it leaves out what is not worth reading.

    `expanded` are the raw lines that were added behind summaries, None if they were not requested.
    """
    added = {}
    if expanded is not None:
        ranked = enumerate(expanded, start=1)
        added = {"expanded": [_passage(n, e.passage) | {"summary": e.summary} for n, e in ranked]}
    return {
        "schema": SCHEMA,
        "whole": whole,
        "sort": sort,
        "ends": ends,
        **grounds(inquiry, parsed, dates, answer),
        "passages": [
            _passage(rank, passage) for rank, passage in enumerate(answer.passages, start=1)
        ],
        **added,
    }


def grounds(
    inquiry: Inquiry, parsed: ParsedQuery, dates: Sequence[DateSpan], answer: Answer
) -> dict[str, Any]:
    """Describe the question and what the retrievers found; traces of contexts use it, too."""
    return {
        "query": inquiry.text,
        "now": inquiry.now,
        "filters": inquiry.filters._asdict(),
        "budget": inquiry.budget,
        "flags": dict(inquiry.flags),
        "settings": dict(inquiry.settings),
        **({} if inquiry.accesses is None else {"accesses": inquiry.accesses}),
        "parsed": {
            "text": parsed.text,
            "terms": [term._asdict() for term in parsed.terms],
            "excluded": [term._asdict() for term in parsed.excluded],
            "dates": [span._asdict() for span in dates],
        },
        **({"repairs": [each._asdict() for each in answer.repaired]} if answer.repaired else {}),
        **({"rerank": _reranked(answer.reranked)} if answer.reranked else {}),
        "index": {"revision": int(answer.revision), "fingerprint": answer.fingerprint or None},
        **({"calibration": answer.constants._asdict()} if answer.constants else {}),
        "match": answer.match,
        "retrievers": {
            "keyword": _retriever(answer.keyword, answer.fused, "keyword_rank"),
            "semantic": _retriever(answer.semantic, answer.fused, "semantic_rank"),
        },
        "fused": [_candidate(passage) for passage in answer.fused],
    }


def steps(trace: Sequence[Step]) -> list[dict[str, Any]]:
    """Describe how a score came about, stage by stage."""
    return [{"stage": step.stage, "score": step.score, **dict(step.inputs)} for step in trace]


def recorded_filters(record: Mapping[str, Any]) -> Filters:
    """Read the filters of a trace back; an earlier version has fewer of them.

    TypeError if they are not filters.
    """
    fields = dict(record["filters"])
    where = tuple(map(_where, fields.pop("where", ())))
    if fields.pop("within", ()):
        raise TypeError("the lines of a summary are not a filter")
    values: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()
    }
    for name, usual in Filters()._asdict().items():
        value = values.get(name, usual)
        kind = str if usual is None and value is not None else type(usual)
        if type(value) is not kind or (kind is tuple and not all(type(v) is str for v in value)):
            raise TypeError(f"{name} is not a filter")
    return Filters(**values, where=where)


def _where(spans: Sequence[Any]) -> Where:
    key, value, negated = spans
    if type(key) is not str or type(value) not in (str, type(None)) or type(negated) is not bool:
        raise TypeError("where is not a filter")
    return Where(key, value, negated)


def _retriever(
    retriever: RetrieverUse, fused: Sequence[RankedPassage], rank: str
) -> dict[str, Any]:
    passages = [passage for passage in fused if getattr(passage.candidate, rank) is not None]
    passages.sort(key=lambda passage: int(getattr(passage.candidate, rank)))
    score = "bm25" if rank == "keyword_rank" else "cosine"
    top = [
        {
            "rank": getattr(passage.candidate, rank),
            "ref": passage.about.ref,
            score: passage.candidate.bm25 if score == "bm25" else passage.cosine,
        }
        for passage in passages[:LEG_TOP]
    ]
    reason = retriever.reason.text if retriever.reason else ""
    return {"ran": retriever.ran, "reason": reason, "candidates": len(passages), "top": top}


def _reranked(reranked: RerankResult) -> dict[str, Any]:
    reason = reranked.reason.text if reranked.reason else ""
    return {"by": reranked.by, "ran": reranked.ran, "reason": reason, "read": reranked.read}


def _candidate(passage: RankedPassage) -> dict[str, Any]:
    return {"ref": passage.about.ref, "score": passage.score, **dict(passage.trace[0].inputs)}


def _passage(rank: int, passage: RankedPassage) -> dict[str, Any]:
    return {
        "rank": rank,
        "ref": passage.about.ref,
        "citation": passage.citation,
        "score": passage.score,
        "confidence": passage.confidence,
        "trust": passage.about.trust,
        "source_kind": passage.about.source_kind,
        "text": passage.text[:TEXT_CHARS],
        "text_hash": digest(passage.text).hex(),
        "trace": steps(passage.trace),
    }
