"""Make the trace of a search or a context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcli.cli import side_files
from memcli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memcli.api.ask import SearchResult
    from memcli.api.assemble import Assembly
    from memcli.cli.command_context import CommandContext
    from memcli.search.options import SearchOptions


def make(
    result: SearchResult, command: CommandContext, options: SearchOptions, *, expand: bool
) -> dict[str, Any]:
    """Describe a search and its answer; with `expand`, also the lines behind summaries."""
    from memcli.search.trace import Inquiry, search_trace

    _check(command, "search")
    settings = side_files.settings_of(command)
    flags = _flags(command, settings)
    question = result.question
    inquiry = Inquiry(
        question.text,
        command.now,
        options.filters,
        options.budget,
        flags,
        settings,
        _accesses(command),
    )
    return search_trace(
        inquiry,
        question.query,
        question.dates,
        result.answer,
        whole=options.whole,
        sort=options.sort,
        ends=options.ends,
        expanded=result.expanded if expand else None,
    )


def make_of_context(made: Assembly, command: CommandContext, *, budget: int) -> dict[str, Any]:
    """Describe an assembled context."""
    from memcli.context.trace import Made, context_trace
    from memcli.search.trace import Inquiry

    _check(command, "context")
    settings = side_files.settings_of(command, "context.")
    flags = _flags(command, settings)
    question = made.question
    text = question.text if question else ""
    inquiry = Inquiry(text, command.now, made.filters, budget, flags, settings, _accesses(command))
    return context_trace(inquiry, Made(question, made.answer, made.assembled, made.revision))


def _check(command: CommandContext, name: str) -> None:
    """Raise UsageError for several workspaces, because memcli cannot replay their trace."""
    if command.memory.members:
        raise UsageError(
            "--trace works on one workspace, and this search has several",
            hint=f"memcli {name} --help",
        )


def _accesses(command: CommandContext) -> int | None:
    """Return the revision of the usage counts, or None if uses are not counted."""
    if not command.config("access.count"):
        return None
    from memcli.api.usage_counts import uses

    return uses(command.memory).revision


def _flags(command: CommandContext, settings: Mapping[str, Any]) -> dict[str, Any]:
    origins = command.config.values
    return {name: value for name, value in settings.items() if origins[name].origin == "flag"}


def write(path: str, record: dict[str, Any], command: CommandContext) -> None:
    """Write a trace to a file outside the workspace."""
    from memcli.render.jsonio import dumps

    side_files.write_text(path, dumps(record) + "\n", command)
