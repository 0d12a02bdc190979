"""`memcli bench report`: draw the history of the lane, in the terminal or as one HTML file."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli import side_files
from memcli.cli.commands.bench import history_files
from memcli.cli.skin import Shared, make_skin
from memcli.errors import ExitCode, NotFoundError

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from memcli.cli import options


def command(
    receipts: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RECEIPT]...", help="Default: the history of bench lane."),
    ] = None,
    html: Annotated[
        str | None,
        typer.Option("--html", metavar="FILE", help="Write one HTML file; needs the extra report."),
    ] = None,
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Draw trends, categories, worst cases and what changed.

    Without --html the charts are drawn with characters. The HTML file fetches nothing.

    Examples: memcli bench report      memcli bench report --html report.html
    """
    from memcli.bench import report
    from memcli.bench.rows import read_receipt

    skin = make_skin(Shared(workspace, quiet, verbose, color, now), {})
    hint = "memcli bench quality QUERIES.jsonl --json > receipt.json"
    if receipts:
        history = [read_receipt(side_files.read_text(name, hint), name) for name in receipts]
        history.sort(key=lambda receipt: str(receipt["now"]))
    else:
        history = history_files.read(history_files.folder_of(skin), skin)
    if not history:
        raise NotFoundError("bench lane has not been run yet", hint="memcli bench lane")
    shown = report.report(history)
    terminal = skin.terminal
    if html is not None:
        side_files.refuse_memory(html, skin)
        from memcli.bench.report_charts import charts
        from memcli.bench.report_html import page

        side_files.write_text(html, page(shown, charts(shown)), skin)
        terminal.say(f"Report of {len(history)} runs in {html}.")
    elif as_json:
        from memcli.render.jsonio import dumps

        record = {"schema": "memcli.bench-report/1", "receipts": history}
        terminal.write(dumps(record) + "\n")
    else:
        from memcli.bench.report_text import text

        terminal.write(terminal.safe(text(shown)))
    return ExitCode.OK
