"""`memcli bench compare`: set two receipts side by side."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli import side_files
from memcli.cli.terminal import Terminal
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from memcli.cli import options


def command(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A receipt.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="A later receipt.")],
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Compare two receipts of bench quality, speed or lane; no workspace is needed.

    Times are compared on one machine only; between machines only ratios to a floor are.

    Examples: memcli bench compare old.json new.json      memcli bench compare a b --json
    """
    from memcli.bench import compare
    from memcli.bench.rows import read_receipt
    from memcli.render.jsonio import dumps

    terminal = Terminal.of_process(color=color, quiet=quiet, verbose=verbose)
    hint = "memcli bench quality QUERIES.jsonl --json > receipt.json"
    old, new = (
        read_receipt(side_files.read_text(name, hint), name, also=(compare.SPEED,))
        for name in (before, after)
    )
    if as_json:
        terminal.write(dumps(compare.compare(old, new)) + "\n")
    else:
        terminal.write(terminal.safe(compare.text(old, new)))
    return ExitCode.OK
