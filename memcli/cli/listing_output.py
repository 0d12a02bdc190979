"""Write the list of documents, or how many there are of each kind, and say what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcli.api.listing import Catalogue, counts
from memcli.cli.search_output import NO_DOCUMENTS, say_dates, say_freshness
from memcli.render.reasons import sentence
from memcli.types import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.api.records import DocumentEntry
    from memcli.cli.skin import Skin
    from memcli.search.dates import DateSpan


def write(
    found: Catalogue, skin: Skin, *, form: str, count: str | None, bounds: Sequence[DateSpan]
) -> None:
    """Write the list to stdout, then the messages to stderr: how `bounds` were read, and more."""
    terminal = skin.terminal
    if form in ("json", "jsonl"):
        _write_json(found, skin, form=form, count=count)
    elif form in ("paths", "paths0"):
        is_exact = form == "paths0" and not terminal.out_is_terminal
        for document in found.documents:
            name = skin.name(document.source, document.path)
            terminal.write(f"{name}\0" if is_exact else terminal.safe_line(name) + "\n")
    elif count is not None:
        for value, documents in counts(found.documents, count):
            terminal.write(f"{documents:>6}  {terminal.safe_line(value)}\n")
    else:
        _write_text(found, skin)
    terminal.flush()
    say_dates(bounds, terminal)
    _say(found, skin)


def _write_text(found: Catalogue, skin: Skin) -> None:
    from memcli.render import listing

    terminal = skin.terminal
    width = terminal.width if terminal.out_is_terminal else None
    kinds = max((len(document.kind) for document in found.documents), default=0)
    for d in found.documents:
        row = listing.DocumentRow(d.date, d.kind, skin.name(d.source, d.path), d.title, d.tags)
        terminal.write(
            listing.line(row, kinds, width, style=terminal.style, safe=terminal.safe_line)
        )


def _write_json(found: Catalogue, skin: Skin, *, form: str, count: str | None) -> None:
    from memcli.render import jsonio

    documents = [_record(document, skin) for document in found.documents]
    counted: list[dict[str, Any]] = []
    if count is not None:
        counted = [{"value": value, "documents": n} for value, n in counts(found.documents, count)]
    if form == "jsonl":
        lines = documents if count is None else counted
    else:
        listed: dict[str, Any] = {
            "schema": "memcli.ls/1",
            "freshness": jsonio.freshness_of(found.freshness),
            "documents": documents,
        }
        if count is not None:
            listed["counts"] = counted
        if found.nothing is not None:
            listed["nothing"] = jsonio.reason(found.nothing)
        lines = [listed]
    for line in lines:
        skin.terminal.write(jsonio.dumps(line) + "\n")


def _record(document: DocumentEntry, skin: Skin) -> dict[str, Any]:
    source, path = document.source, document.path
    file = None if skin.file_of(source, path) is None else skin.name(source, path)
    return {"name": shown(source, path), "file": file, **document._asdict()}


def _say(found: Catalogue, skin: Skin) -> None:
    terminal = skin.terminal
    if not say_freshness(found.freshness, terminal, "this list"):
        if found.freshness.state == "empty":
            terminal.say(sentence(NO_DOCUMENTS))
    elif found.nothing is not None:
        terminal.say("No documents.")
        terminal.advise(found.nothing)
    elif terminal.verbose:
        number = len(found.documents)
        terminal.say("1 document" if number == 1 else f"{number} documents")
