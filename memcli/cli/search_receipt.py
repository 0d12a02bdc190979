"""Make the receipt of a search or a context from what the command line and the index gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcli.cli import side_files
from memcli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memcli.api.ask import Answered
    from memcli.api.assemble import Assembly
    from memcli.cli.skin import Skin
    from memcli.search.options import SearchOptions


def make(found: Answered, skin: Skin, wanted: SearchOptions, *, expand: bool) -> dict[str, Any]:
    """Describe a search that was answered; with `expand` the lines behind summaries too."""
    from memcli.search.receipt import Inquiry, receipt

    _check(skin, "search")
    settings = side_files.settings_of(skin)
    flags = _flags(skin, settings)
    question = found.question
    asked = Inquiry(
        question.text, skin.now, wanted.filters, wanted.budget, flags, settings, _accesses(skin)
    )
    return receipt(
        asked,
        question.query,
        question.dates,
        found.answer,
        whole=wanted.whole,
        sort=wanted.sort,
        ends=wanted.ends,
        expanded=found.expanded if expand else None,
    )


def make_of_context(made: Assembly, skin: Skin, *, budget: int) -> dict[str, Any]:
    """Describe a context that was assembled."""
    from memcli.context.receipt import Made, receipt
    from memcli.search.receipt import Inquiry

    _check(skin, "context")
    settings = side_files.settings_of(skin, "context.")
    flags = _flags(skin, settings)
    question = made.question
    text = question.text if question else ""
    asked = Inquiry(text, skin.now, made.filters, budget, flags, settings, _accesses(skin))
    return receipt(asked, Made(question, made.answer, made.assembled, made.revision))


def _check(skin: Skin, command: str) -> None:
    """Raise UsageError for several workspaces: a receipt of several cannot be replayed."""
    if skin.memory.members:
        raise UsageError(
            "--receipt works on one workspace, and this search has several",
            hint=f"memcli {command} --help",
        )


def _accesses(skin: Skin) -> int | None:
    """Return the revision of the usage counts, or None if uses are not counted."""
    if not skin.config("access.count"):
        return None
    from memcli.api.access import uses

    return uses(skin.memory).revision


def _flags(skin: Skin, settings: Mapping[str, Any]) -> dict[str, Any]:
    origins = skin.config.values
    return {name: value for name, value in settings.items() if origins[name].origin == "flag"}


def write(path: str, record: dict[str, Any], skin: Skin) -> None:
    """Write a receipt to a file outside the workspace."""
    from memcli.render.jsonio import dumps

    side_files.write_text(path, dumps(record) + "\n", skin)
