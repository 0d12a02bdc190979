"""`memcli bench report`: draw the history of `bench check`, in the terminal or as one HTML file."""

from __future__ import annotations

from memcli.cli import side_files
from memcli.cli.command_context import command_context
from memcli.cli.commands.bench import history_files
from memcli.cli.options import COMMON, FILES, JSON, ONE_WORKSPACE, CommandArgument, Option, Options
from memcli.errors import ExitCode, NotFoundError

ARGUMENTS = (
    CommandArgument(
        "runs", "[FILE]...", "Default: the history of bench check.", list, choices=FILES
    ),
)
OPTIONS = (
    Option("--html", "Write an HTML file (needs the extra report).", "FILE", choices=FILES),
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Print trends, categories, worst cases and changes.

    Without --html the charts consist of characters. The HTML file loads nothing from the network.

    Examples: memcli bench report      memcli bench report --html report.html
    """
    from memcli.bench import report
    from memcli.bench.rows import read_run
    from memcli.bench.traces import encode

    command = command_context(options)
    hint = "memcli bench quality QUERIES.jsonl --json > results.json"
    if options.runs:
        history = [read_run(side_files.read_text(name, hint), name) for name in options.runs]
        history.sort(key=lambda trace: trace.now)
    else:
        history = [*history_files.read(history_files.folder_of(command), command)]
    if not history:
        raise NotFoundError("bench check has not been run yet", hint="memcli bench check")
    shown = report.report(history)
    terminal = command.terminal
    if options.html is not None:
        side_files.refuse_memory(options.html, command)
        from memcli.bench.report_charts import charts
        from memcli.bench.report_html import page

        side_files.write_text(options.html, page(shown, charts(shown)), command)
        terminal.say(f"Report of {len(history)} runs in {options.html}.")
    elif options.json:
        record = {"schema": "memcli.bench-report/1", "runs": encode(history)}
        terminal.write_json(record)
    else:
        from memcli.bench.report_text import text

        terminal.write(terminal.safe(text(shown)))
    return ExitCode.OK
