"""Make the receipt of a search from what the command line, the clock and the index gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcli.cli import side_files
from memcli.cli.context import Context

if TYPE_CHECKING:
    from memcli.cli.search_run import Found
    from memcli.types import Filters


def make(
    text: str, found: Found, context: Context, filters: Filters, *, budget: int | None, whole: bool
) -> dict[str, Any]:
    """Describe a search that was answered."""
    from memcli.search.dates import find_dates
    from memcli.search.receipt import Asked, receipt

    settings = side_files.settings_of(context)
    flags = {n: v for n, v in settings.items() if context.config.values[n].origin == "flag"}
    asked = Asked(text, context.now, filters, budget, whole, flags, settings)
    return receipt(asked, found.query, find_dates(text, context.today), found.answer)


def write(path: str, record: dict[str, Any], context: Context) -> None:
    """Write a receipt to a file that is no part of the memory."""
    from memcli.render.jsonio import dumps

    side_files.write_text(path, dumps(record) + "\n", context)
