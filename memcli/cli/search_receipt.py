"""Make the receipt of a search or a context from what the command line and the index gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcli.cli import side_files
from memcli.cli.context import Context

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memcli.cli.context_run import Found as Assembly
    from memcli.cli.search_run import Found
    from memcli.types import Filters


def make(
    text: str, found: Found, context: Context, filters: Filters, *, budget: int | None, whole: bool
) -> dict[str, Any]:
    """Describe a search that was answered."""
    from memcli.search.dates import find_dates
    from memcli.search.receipt import Inquiry, receipt

    settings = side_files.settings_of(context)
    flags = _flags(context, settings)
    asked = Inquiry(text, context.now, filters, budget, flags, settings)
    dates = find_dates(text, context.today)
    return receipt(asked, found.query, dates, found.answer, whole=whole)


def make_of_context(
    text: str, made: Assembly, context: Context, filters: Filters, *, budget: int
) -> dict[str, Any]:
    """Describe a context that was assembled."""
    from memcli.context.receipt import Made, receipt
    from memcli.search.dates import find_dates
    from memcli.search.receipt import Inquiry

    settings = side_files.settings_of(context, "context.")
    flags = _flags(context, settings)
    asked = Inquiry(text, context.now, filters, budget, flags, settings)
    dates = find_dates(text, context.today)
    return receipt(asked, Made(made.query, dates, made.answer, made.assembled, made.revision))


def _flags(context: Context, settings: Mapping[str, Any]) -> dict[str, Any]:
    origins = context.config.values
    return {name: value for name, value in settings.items() if origins[name].origin == "flag"}


def write(path: str, record: dict[str, Any], context: Context) -> None:
    """Write a receipt to a file that is no part of the memory."""
    from memcli.render.jsonio import dumps

    side_files.write_text(path, dumps(record) + "\n", context)
