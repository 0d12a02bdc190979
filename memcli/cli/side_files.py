"""Files that are not notes: traces, questions, reports. memcli never writes them among notes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from memcli.api.ask import SearchResult
from memcli.api.assemble import Assembly
from memcli.api.usage_counts import uses
from memcli.cli.command_context import CommandContext
from memcli.context.assemble import tokens
from memcli.context.parts import ContextPart
from memcli.errors import Reason, UsageError, quote
from memcli.markdown.segments import digest
from memcli.render.jsonio import dumps
from memcli.search.options import SearchOptions
from memcli.search.pipeline import NOTHING
from memcli.search.query import parse
from memcli.search.ranked import RankedPassage
from memcli.search.retrievers import RetrieverUse
from memcli.search.trace import CONTEXT_SCHEMA, TEXT_CHARS, Inquiry, grounds, search_trace, steps
from memcli.types import Filters
from memcli.workspace import atomic_write
from memcli.workspace.ignore import load_rules

MOST_CHARS = 64 * 1024 * 1024  # limit for files; a history of several years is smaller
# Settings that affect an answer.
SETTINGS = (
    "search.", "convex.", "passes.", "authority.", "embedding.", "chunk.", "rerank.", "expand.",
    "access.", "matryoshka.", "onnx.matryoshka", "openai.matryoshka",
)  # fmt: skip


def read_text(path: str, hint: str) -> str:
    """Read a file of the bench; UsageError if it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(MOST_CHARS + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"{path} cannot be read: {why}", hint=hint) from None
    if len(text) > MOST_CHARS:
        raise UsageError(
            f"{path} cannot be read: it has more than {MOST_CHARS} characters", hint=hint
        )
    return text


def own_file(name: str, command: CommandContext) -> str:
    """Return the path of a regular file inside the workspace; UsageError for any other."""
    root = command.config.workspace
    path = os.path.join(root, name)
    inside = os.path.realpath(path).startswith(root.rstrip(os.sep) + os.sep)
    if not inside or (os.path.exists(path) and not os.path.isfile(path)):
        raise UsageError(
            f"{path} is a link that leads outside the workspace, or not a plain file",
            hint="name a file of your own",
        )
    return path


def write_text(path: str, text: str, command: CommandContext, *, is_new: bool = False) -> None:
    """Write a file of the bench, but never into the workspace that it measures."""
    refuse_memory(path, command)
    folder = os.path.dirname(path)
    try:
        if is_new:
            atomic_write.write_new(path, text)
            return
        if folder:
            os.makedirs(folder, exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        why, hint = f"cannot be written: {error.strerror}", "name a file in another folder"
        if is_new:
            other = path
            if os.path.lexists(path):
                why = "already exists and is not overwritten"
            else:
                from tempfile import gettempdir

                other = os.path.join(gettempdir(), "questions.jsonl")
            hint = f"memcli bench init --out {_unused(other)}"
        raise UsageError(f"{path} {why}", hint=hint) from None


def _unused(path: str) -> str:
    """Return a path that no file has, quoted: this one, or this one with a number."""
    from itertools import count

    stem, end = os.path.splitext(path)
    paths = (path if number == 1 else f"{stem}-{number}{end}" for number in count(1))
    return quote(next(each for each in paths if not os.path.lexists(each)))


def refuse_memory(path: str, command: CommandContext) -> None:
    """Refuse a file that memcli would index as a document."""
    real = os.path.realpath(path)
    for source in command.config.sources:
        root = os.path.realpath(source.root)
        if not real.startswith(root.rstrip(os.sep) + os.sep):
            continue
        inside = os.path.relpath(real, root).replace(os.sep, "/")
        if load_rules(source).accepts(inside):
            raise UsageError(
                f"{path} would become part of the notes that are measured",
                hint="name a file outside it, or one in .memcli/",
            )


def settings_of(command: CommandContext, *also: str) -> Mapping[str, Any]:
    """Return the settings that affect an answer; `also` adds settings by their beginnings."""
    values, beginnings = command.config.values, (*SETTINGS, *also)
    return {name: values[name].value for name in sorted(values) if name.startswith(beginnings)}


def trace_of_search(
    result: SearchResult, command: CommandContext, options: SearchOptions, *, expand: bool
) -> dict[str, Any]:
    """Describe a search and its answer; with `expand`, also the lines behind summaries."""
    question = result.question
    return search_trace(
        _inquiry(command, "search", question.text, options.filters, options.budget),
        question.query,
        question.dates,
        result.answer,
        whole=options.whole,
        sort=options.sort,
        ends=options.worthwhile,
        expanded=result.expanded if expand else None,
    )


def trace_of_context(made: Assembly, command: CommandContext, *, budget: int) -> dict[str, Any]:
    """Describe an assembled context as `memcli.context-trace/1` does.

    It is the trace of a search, with the parts of the context as its passages and the parts that
    did not fit. Without a query there are no retrievers and no fused scores.
    """
    question, assembled = made.question, made.assembled
    text = question.text if question else ""
    inquiry = _inquiry(command, "context", text, made.filters, budget)
    answer = made.answer or NOTHING._replace(revision=made.revision)
    if question is None:
        idle = RetrieverUse(False, Reason("not-asked", "nothing is asked"), 0, 0)
        answer = answer._replace(keyword=idle, semantic=idle)
    query, dates = (question.query, question.dates) if question else (parse(""), ())
    return {
        **grounds(inquiry, query, dates, answer),
        "schema": CONTEXT_SCHEMA,
        "query": text if question else None,
        "match": answer.match if question else None,
        "tokens": assembled.tokens,
        "passages": [
            _part(rank, part, answer.passages) for rank, part in enumerate(assembled.parts, start=1)
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


def _part(rank: int, part: ContextPart, passages: Sequence[RankedPassage]) -> dict[str, Any]:
    # The part is shown because of this passage.
    of_part = (each for each in passages if each.about.chunk_id in part.chunk_ids)
    trace = next((each.trace for each in of_part if each.score == part.score), ())
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


def _inquiry(
    command: CommandContext, name: str, text: str, filters: Filters, budget: int | None
) -> Inquiry:
    """Describe what a command was asked; UsageError for several workspaces."""
    if command.memory.members:
        raise UsageError(
            "--trace works on one workspace, and this search has several",
            hint=f"memcli {name} --help",
        )
    settings, origins = settings_of(command, f"{name}."), command.config.values
    flags = {name: value for name, value in settings.items() if origins[name].origin == "flag"}
    accesses = None
    if command.config("access.count"):
        accesses = uses(command.memory).revision
    return Inquiry(text, command.now, filters, budget, flags, settings, accesses)


def write_trace(path: str, record: dict[str, Any], command: CommandContext) -> None:
    """Write a trace to a file outside the workspace."""
    write_text(path, dumps(record) + "\n", command)
