"""The JSON record of a context: `memcli.context/1`."""

from __future__ import annotations

from math import ceil

from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from memcli.api.assemble import Assembly
    from memcli.config.settings import Config
    from memcli.context.parts import ContextPart


def context_record(found: Assembly, config: Config, *, budget: int, now: str) -> dict[str, Any]:
    """Describe a context; `now` is the ISO time of the question."""
    from memcli.render.jsonio import (
        dates_of,
        freshness_of,
        implicit_sources,
        repairs,
        reranked,
        retrievers,
        speaker_match,
        verdict_reasons,
        workspaces_of,
    )

    assembled, answer = found.assembled, found.answer
    return {
        "schema": "memcli.context/1",
        "query": found.question.text if found.question else None,
        "dates": dates_of(answer.dates if answer else ()),
        "now": now,
        "budget": budget,
        "tokens": assembled.tokens,
        "tokens_saved": assembled.saved,
        "freshness": freshness_of(found.freshness),
        **workspaces_of(found.freshness),
        **implicit_sources(config),
        "verdict": answer.verdict if answer else None,
        **(verdict_reasons(answer) if answer else {}),
        "retrievers": retrievers(answer) if answer else None,
        **({**repairs(answer), **reranked(answer), **speaker_match(answer)} if answer else {}),
        "parts": [_part(part) for part in assembled.parts],
        "omitted": len(assembled.left_out) + found.more,
        "warnings": list(found.warnings),
    }


def _part(part: ContextPart) -> dict[str, Any]:
    from memcli.render.jsonio import date_of, source_of

    about = part.excerpt.about
    record: dict[str, Any] = {
        "section": part.section,
        "ref": about.ref,
        "path": about.path,
        **source_of(about.source),
        "start_line": about.start_line,
        "end_line": about.end_line,
        "heading_path": list(about.heading_path),
        "title": about.title,
        **date_of(about),
        "citation": about.citation,
        "kind": about.kind,
        "source_kind": about.source_kind,
        "scope": about.scope,
        "trust": about.trust,
        "tokens": ceil(part.cost),
        "text": part.text,
    }
    if part.score is not None:
        record["score"] = part.score
    if part.corrected_by:
        record["corrected_by"] = [each.record for each in part.corrected_by]
    if part.via is not None:
        record["via"] = part.via
    return record
