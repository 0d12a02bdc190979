"""`memcli bench compare`: compare two results files."""

from __future__ import annotations

from memcli.cli import side_files
from memcli.cli.options import COMMON, FILES, JSON, ONE_WORKSPACE, CommandArgument, Options
from memcli.cli.terminal import Terminal
from memcli.errors import ExitCode

ARGUMENTS = (
    CommandArgument("before", "BEFORE", "A results file.", is_required=True, choices=FILES),
    CommandArgument("after", "AFTER", "A later results file.", is_required=True, choices=FILES),
)
OPTIONS = (
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Compare two results of bench quality, speed or check.

    Times are compared only on one machine. Between machines, ratios to a baseline are.

    Examples: memcli bench compare old.json new.json      memcli bench compare a b --json
    """
    from memcli.bench import compare
    from memcli.bench.rows import read_trace

    terminal = Terminal.of_process(options)
    hint = "memcli bench quality QUERIES.jsonl --json > results.json"
    old, new = (
        read_trace(side_files.read_text(name, hint), name)
        for name in (options.before, options.after)
    )
    if options.json:
        terminal.write_json(compare.compare(old, new))
    else:
        terminal.write(terminal.safe(compare.text(old, new)))
    return ExitCode.OK
