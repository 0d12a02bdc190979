"""`memcli bench replay`: run the search or context of a receipt again and show what moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from memcli.cli import options, search_receipt, side_files
from memcli.cli.context import Context, Shared, make_context
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from memcli.indexing.freshness import Freshness

Receipt = dict[str, Any]


def command(
    receipt: Annotated[str, typer.Argument(metavar="FILE", help="From --receipt.")],
    no_sync: Annotated[bool, typer.Option("--no-sync", help="Leave the index as it is.")] = False,
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Run the search or context of a receipt again, as of its time, and show what moved.

    Flags and filters are those of the receipt, other settings those of today: what differs is
    named, as are a new index revision and another model.

    Examples: memcli bench replay before.json      memcli bench replay before.json --json
    """
    from memcli.bench import replay
    from memcli.cli.search_output import say_freshness
    from memcli.render.jsonio import dumps

    before = replay.read(
        side_files.read_text(receipt, "memcli search QUERY --receipt FILE"), receipt
    )
    shared = Shared(workspace, quiet, verbose, color, now or before["now"])
    context = make_context(shared, before["flags"])
    again = _context if before["schema"] == replay.CONTEXT_SCHEMA else _search
    freshness, after = again(before, context, no_sync=no_sync)
    say_freshness(freshness, context.terminal)
    record = replay.compare(before, after)
    terminal = context.terminal
    if as_json:
        terminal.write(dumps(record) + "\n")
    else:
        terminal.write("".join(f"{terminal.safe_line(line)}\n" for line in replay.lines(record)))
    return ExitCode.OK


def _search(before: Receipt, context: Context, *, no_sync: bool) -> tuple[Freshness, Receipt]:
    from memcli.cli.search_run import answer
    from memcli.search.receipt import filters_of

    filters, text = filters_of(before), before["query"]
    budget, whole = before["budget"], before["whole"]
    found = answer(
        text, context, filters, budget=budget, whole=whole, expand=False, sync=False,
        no_sync=no_sync,
    )  # fmt: skip
    after = search_receipt.make(text, found, context, filters, budget=budget, whole=whole)
    return found.freshness, after


def _context(before: Receipt, context: Context, *, no_sync: bool) -> tuple[Freshness, Receipt]:
    from memcli.cli.context_run import make, wanted_of

    text, wanted = before["query"] or "", wanted_of(context)
    found = make(text, context, wanted, sync=False, no_sync=no_sync)
    after = search_receipt.make_of_context(
        text, found, context, found.filters, budget=wanted.budget
    )
    return found.freshness, after
