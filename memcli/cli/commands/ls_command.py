"""`memcli ls`: list documents with kind, date and tags, or count them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from memcli.api import listing
from memcli.api.listing import DocumentCount, ListedDocuments
from memcli.api.records import DocumentEntry
from memcli.checking import Any
from memcli.cli import options as rows
from memcli.cli.command_context import CommandContext, command_context, progress_of
from memcli.cli.filters import bounds_of, filters_of, sync_of
from memcli.cli.options import CommandArgument, Option, Options
from memcli.cli.search_form import TEMPLATE, Shape, shape_of
from memcli.cli.search_output import NO_DOCUMENTS, say_dates, say_freshness, write_names
from memcli.errors import ExitCode, UsageError
from memcli.render.reasons import sentence
from memcli.render.text import Style, counted
from memcli.render.width import columns, shortened, wrap
from memcli.types import named_days, shown

ARGUMENTS = (
    CommandArgument(
        "paths", "PATH", "Only these files, folders or globs.", list, choices=rows.DOCUMENTS
    ),
)
OPTIONS = (
    Option("-f --format",
        "text, json, jsonl, paths, paths0 or '{path}\\t{date}'.",
        "FORM", shown_default="text", choices=rows.LIST_FORMATS, is_open=True),
    Option("-n --limit", "Number of documents.", "N", int, shown_default="all", least=1),
    Option("--all", "List every document, even to a pipe."),
    rows.JSON,
    Option("--count", "Count documents by kind, tag, key or source.", "WHAT",
        choices=("kind", "tag", "key", "source")),
    Option("--sort", "Order: path, date or newest.", "HOW", default="path",
        choices=("path", "date", "newest")),
    *rows.DATES, rows.UNDATED, rows.SOURCE, rows.KIND, rows.SCOPE, rows.TRUST, rows.TAG, rows.WHERE,
    Option("--links-to", "Only documents that link to this one.", "NAME"),
    rows.NO_SYNC, rows.SYNC, *rows.SEVERAL,
)  # fmt: skip

USUAL_OPTIONS = (
    "--format", "--limit", "--all", "--count", "--sort", "--links-to", "--since", "--until",
    "--kind", "--tag", "--where",
)  # fmt: skip


def run(options: Options) -> int:
    """List documents with date, kind and tags.

    The filters are the same as in search. See: memcli help query-syntax

    Examples: memcli ls --tag infra --sort newest      memcli ls --links-to MEMORY.md
    """
    json_by = "--json" if options.json else ""
    shape = shape_of(options.format, (), _keys, forms=rows.LIST_FORMATS, json_by=json_by)
    if options.count is not None and shape.form in ("paths", "paths0", TEMPLATE):
        raise UsageError(
            f"--count names no documents, and --format {options.format} nothing else",
            hint=f"memcli ls --count {options.count}",
        )
    wanted_sync = sync_of(options, "ls")
    command = command_context(options)
    bounds = bounds_of(options, command, "ls")
    filters = filters_of(command, options, bounds)
    with progress_of(command):
        result = listing.list_documents(
            command.memory,
            filters,
            order=options.sort,
            links_to=options.links_to or "",
            limit=options.limit if options.count is None else None,
            sync=wanted_sync,
        )
    write(result, command, shape._replace(filters=bounds), options)
    return ExitCode.OK


def _keys() -> Sequence[str]:
    return ("name", "file", *DocumentEntry._fields)


MONTH, WIDE = len("2025-06"), len("2025-06 to 2025-07")


def write(result: ListedDocuments, command: CommandContext, shape: Shape, options: Options) -> None:
    """Write the first documents to stdout, then the messages to stderr.

    In a pipe, a long list becomes counts by folder and month, unless all documents are requested.
    """
    terminal, form, count, limit = command.terminal, shape.form, options.count, options.limit
    is_long = len(result.documents) > listing.MOST_LISTED and not (options.all or limit)
    by_value = listing.counts(result.documents, count) if count is not None else []
    more = max(0, (len(by_value) or result.total) - limit) if limit else 0
    shown = result._replace(documents=result.documents[:limit])
    if form in ("json", "jsonl"):
        listed = [{"value": value, "documents": number} for value, number in by_value[:limit]]
        listed = listed if count is not None else _records(shown, command)
        _write_json(shown, command, shape, listed, is_counted=count is not None, more=more)
    elif form in ("paths", "paths0"):
        write_names((command.name(d.source, d.path) for d in shown.documents), command, shape)
    elif shape.template is not None:
        for record in _records(shown, command):
            terminal.write(shape.template.filled(record, terminal.safe_line))
    elif count is not None:
        for value, documents in by_value[:limit]:
            terminal.write(f"{documents:>6}  {terminal.safe_line(value)}\n")
    elif is_long and not terminal.out_is_terminal:
        rows = listing.counted(result)
        is_wide = any(row.first != row.last for row in rows)
        for row in rows:
            terminal.write(_count(row, command, width=WIDE if is_wide else MONTH))
        terminal.say(
            f"{len(result.documents)} documents, counted by folder and month; --all lists them."
        )
    else:
        _write_text(shown, command)
    terminal.flush()
    _say(result, command, shape, more)


def _count(row: DocumentCount, command: CommandContext, *, width: int) -> str:
    names = f"  {row.names}" if row.names else ""
    text = command.terminal.safe_line(f"{row.folder}{names}")
    return f"{row.number:>6}  {row.months or '-':{width}}  {text}\n"


def _write_text(result: ListedDocuments, command: CommandContext) -> None:
    terminal = command.terminal
    width = terminal.width if terminal.out_is_terminal else None
    kinds = max((len(document.kind) for document in result.documents), default=0)
    for d in result.documents:
        name, style = command.name(d.source, d.path), terminal.style
        terminal.write(line(d, name, kinds, width, style=style, safe=terminal.safe_line))


def _write_json(
    result: ListedDocuments,
    command: CommandContext,
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
            **jsonio.freshness_fields(result.freshness),
            "counts" if is_counted else "documents": listed,
        }
        if more:
            whole["more"] = more
        if result.empty_reason is not None:
            whole["empty_reason"] = jsonio.reason(result.empty_reason)
        listed = [whole]
    for line in listed:
        command.terminal.write_json(line)


def _records(result: ListedDocuments, command: CommandContext) -> list[dict[str, Any]]:
    from memcli.render.jsonio import source_of

    records = []
    for document in result.documents:
        source, path = document.source, document.path
        file = None if command.file_of(source, path) is None else command.name(source, path)
        named = {"name": shown(source, path), "file": file}
        records.append({**named, **document._asdict(), **source_of(source)})
        if document.date_from is None:
            del records[-1]["date_from"]
    return records


def _say(result: ListedDocuments, command: CommandContext, shape: Shape, more: int) -> None:
    terminal = command.terminal
    if not say_freshness(result.freshness, terminal, "this list"):
        terminal.say(sentence(NO_DOCUMENTS))
        return
    say_dates(shape.filters, terminal)
    if result.empty_reason is not None:
        terminal.say("No documents.")
        terminal.advise(result.empty_reason)
    elif more:
        terminal.say(f"{more} more {'is' if more == 1 else 'are'} not listed.")
    elif terminal.verbose:
        terminal.say(counted(len(result.documents), "document"))


INDENT = "    "
LEAST_TITLE = 12  # columns; a shorter title is not shown


def line(
    document: DocumentEntry, here: str, kinds: int, width: int | None,
    *, style: Style, safe: Callable[[str], str],
) -> str:  # fmt: skip
    """Write one document with its name from here; the date is `-` if it has none.

    The kind is padded to `kinds` characters. The title is shown if it differs from the file's name,
    cut to `width` columns. If there is no room for name and tags, they follow on a new line.
    """
    name, date = safe(here), document.date
    days = named_days((document.date_from or date, date)) if date else "-"
    head = f"{days:10}  {safe(document.kind):{kinds}}  "
    tags = [f"#{safe(tag)}" for tag in document.tags]
    tagged = "".join(f"  {tag}" for tag in tags)
    title = safe(document.title)
    if document.title == os.path.splitext(os.path.basename(here))[0]:
        title = ""
    elif width is not None:
        room = width - columns(head + name + tagged) - 2
        title = shortened(title, room) if room >= LEAST_TITLE else ""
    if width is not None and columns(head + name + tagged) > width:
        below = "  ".join(tags)
        folded = [below[a:b] for a, b in wrap(below, width - len(INDENT)) if tags]
        lines = [f"{head}{style.path}{name}{style.end}"]
        if columns(head + name) > width:  # the name is on lines of its own
            pieces = [name[a:b] for a, b in wrap(name, width - len(INDENT))]
            lines = [head.rstrip(), *(f"{INDENT}{style.path}{p}{style.end}" for p in pieces)]
        lines += [f"{style.dim}{INDENT}{each}{style.end}" for each in folded]
        return "".join(f"{each}\n" for each in lines)
    heading = f"  {style.heading}{title}{style.end}" if title else ""
    tagged = f"{style.dim}{tagged}{style.end}" if tagged else ""
    return f"{head}{style.path}{name}{style.end}{heading}{tagged}\n"
