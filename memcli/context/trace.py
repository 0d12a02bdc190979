"""Write the trace of a context, so that it can be made again and compared; pure.

It is the trace of a search, with the parts of the context as its passages and the parts that did
not fit. Without a query there are no retrievers and no fused scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memcli.context.assemble import AssembledContext, tokens
from memcli.context.parts import ContextPart
from memcli.errors import Reason
from memcli.markdown.segments import digest
from memcli.search.pipeline import Answer
from memcli.search.query import parse
from memcli.search.question import Question
from memcli.search.ranked import RankedPassage
from memcli.search.retrievers import RetrieverUse
from memcli.search.trace import CONTEXT_SCHEMA, TEXT_CHARS, Inquiry, grounds, steps

_NOT_ASKED = RetrieverUse(False, Reason("not-asked", "nothing is asked"), 0, 0)


def context_trace(
    inquiry: Inquiry, question: Question | None, answer: Answer, assembled: AssembledContext
) -> dict[str, Any]:
    """Describe a context as `memcli.context-trace/1` does."""
    if question is None:
        answer = answer._replace(keyword=_NOT_ASKED, semantic=_NOT_ASKED)
    return {
        **grounds(
            inquiry,
            question.query if question else parse(""),
            question.dates if question else (),
            answer,
        ),
        "schema": CONTEXT_SCHEMA,
        "query": inquiry.text if question else None,
        "match": answer.match if question else None,
        "tokens": assembled.tokens,
        "passages": [
            _passage(rank, part, answer.passages)
            for rank, part in enumerate(assembled.parts, start=1)
        ],
        "omitted": [
            {
                "ref": part.excerpt.about.ref,
                "citation": part.excerpt.about.citation,
                "tokens": tokens([part]),
            }
            for part in assembled.left_out
        ],
    }


def _passage(rank: int, part: ContextPart, passages: Sequence[RankedPassage]) -> dict[str, Any]:
    trace = next((passage.trace for passage in passages if _leads(passage, part)), ())
    return {
        "rank": rank,
        "section": part.section,
        "ref": part.excerpt.about.ref,
        "citation": part.excerpt.about.citation,
        "score": part.score,
        "trust": part.excerpt.about.trust,
        "source_kind": part.excerpt.about.source_kind,
        "via": part.via,
        "text": part.text[:TEXT_CHARS],
        "text_hash": digest(part.text).hex(),
        "trace": steps(trace),
    }


def _leads(passage: RankedPassage, part: ContextPart) -> bool:
    """Return whether a part is shown because of a passage."""
    return part.score == passage.score and passage.about.chunk_id in part.chunk_ids
