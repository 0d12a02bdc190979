"""Write the list of documents, or how many there are of each kind, and say what it rests on."""

from __future__ import annotations

from memcli.api.listing import MOST_LISTED, Catalogue, counts, months
from memcli.checking import TYPE_CHECKING
from memcli.cli.search_output import NO_DOCUMENTS, say_dates, say_freshness
from memcli.render.reasons import sentence
from memcli.types import EMPTY, named_days, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from memcli.api.records import DocumentEntry
    from memcli.cli.search_form import Shape
    from memcli.cli.skin import Skin


def write(
    found: Catalogue,
    skin: Skin,
    shape: Shape,
    *,
    count: str | None,
    limit: int | None,
    every: bool = False,
) -> None:
    """Write the list to stdout, the first `limit` of it, then the messages to stderr.

    In a pipe a long list is a count by folder and month, unless `every` document is wanted.
    """
    terminal, form = skin.terminal, shape.form
    is_long = len(found.documents) > MOST_LISTED and not (every or limit)
    counted = counts(found.documents, count) if count is not None else []
    more = max(0, (len(counted) or found.total) - limit) if limit else 0
    shown = found._replace(documents=found.documents[:limit])
    if form in ("json", "jsonl"):
        listed = _counted(counted[:limit]) if count is not None else _records(shown, skin)
        _write_json(shown, skin, shape, listed, is_counted=count is not None, more=more)
    elif form in ("paths", "paths0"):
        is_exact = form == "paths0" and not terminal.out_is_terminal
        for document in shown.documents:
            name = skin.name(document.source, document.path)
            terminal.write(f"{name}\0" if is_exact else terminal.safe_line(name) + "\n")
    elif shape.template is not None:
        for record in _records(shown, skin):
            terminal.write(shape.template.filled(record, terminal.safe_line))
    elif count is not None:
        for value, documents in counted[:limit]:
            terminal.write(f"{documents:>6}  {terminal.safe_line(value)}\n")
    elif is_long and not terminal.out_is_terminal:
        for folder, month, documents in months(found.documents):
            terminal.write(f"{documents:>6}  {month or '-':7}  {terminal.safe_line(folder)}\n")
        terminal.say(
            f"{len(found.documents)} documents, counted by folder and month; --all lists them."
        )
    else:
        _write_text(shown, skin)
    terminal.flush()
    _say(found, skin, shape, more)


def _write_text(found: Catalogue, skin: Skin) -> None:
    from memcli.render import listing

    terminal = skin.terminal
    width = terminal.width if terminal.out_is_terminal else None
    kinds = max((len(document.kind) for document in found.documents), default=0)
    for d in found.documents:
        days = named_days((d.date_from or d.date, d.date)) if d.date else None
        row = listing.DocumentRow(days, d.kind, skin.name(d.source, d.path), d.title, d.tags)
        terminal.write(
            listing.line(row, kinds, width, style=terminal.style, safe=terminal.safe_line)
        )


def _write_json(
    found: Catalogue,
    skin: Skin,
    shape: Shape,
    listed: list[dict[str, Any]],
    *,
    is_counted: bool,
    more: int,
) -> None:
    from memcli.render import jsonio

    if shape.form == "json":
        whole: dict[str, Any] = {
            "schema": "memcli.ls/1",
            "dates": jsonio.dates_of(shape.filters),
            "freshness": jsonio.freshness_of(found.freshness),
            **jsonio.workspaces_of(found.freshness),
            "counts" if is_counted else "documents": listed,
        }
        if more:
            whole["more"] = more
        if found.empty_reason is not None:
            whole["empty_reason"] = jsonio.reason(found.empty_reason)
        listed = [whole]
    for line in listed:
        skin.terminal.write_json(line)


def _counted(counted: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
    return [{"value": value, "documents": number} for value, number in counted]


def _records(found: Catalogue, skin: Skin) -> list[dict[str, Any]]:
    return [_record(document, skin) for document in found.documents]


def _record(document: DocumentEntry, skin: Skin) -> dict[str, Any]:
    from memcli.render.jsonio import source_of

    source, path = document.source, document.path
    file = None if skin.file_of(source, path) is None else skin.name(source, path)
    whole = {"name": shown(source, path), "file": file, **document._asdict()}
    record = {**whole, **source_of(source)}
    if document.date_from is None:
        del record["date_from"]
    return record


def _say(found: Catalogue, skin: Skin, shape: Shape, more: int) -> None:
    terminal = skin.terminal
    if not say_freshness(found.freshness, terminal, "this list"):
        if found.freshness.state == EMPTY:
            terminal.say(sentence(NO_DOCUMENTS))
        return
    say_dates(shape.filters, terminal)
    if found.empty_reason is not None:
        terminal.say("No documents.")
        terminal.advise(found.empty_reason)
    elif more:
        terminal.say(f"{more} more {'is' if more == 1 else 'are'} not listed.")
    elif terminal.verbose:
        number = len(found.documents)
        terminal.say("1 document" if number == 1 else f"{number} documents")
