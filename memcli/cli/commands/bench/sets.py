"""`memcli bench quality` over several sets of questions: one table, and what moved."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memcli.cli import side_files
from memcli.cli.command_context import command_context
from memcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from memcli.bench.gates import Gates
    from memcli.cli.options import Options

WORKSPACE = "workspace"  # the folder next to a file of questions that the questions are about


def run(options: Options, gates: Gates) -> int:
    """Run every set on its own workspace, pool the figures, check the gates."""
    from memcli.bench import gates as gating
    from memcli.bench.pooled import HINT, pooled, read, text
    from memcli.bench.quality import percentile
    from memcli.bench.traces import encode
    from memcli.cli.commands.bench.running import measure

    files, before = options.queries, None
    if options.against is not None:
        before = read(side_files.read_text(options.against, HINT), options.against)
    traces, rows, times = {}, [], []
    silent = not gates.is_empty and not options.verbose
    for name, file in zip(_names(files), files, strict=True):
        command = command_context(
            options.having(workspace=options.workspace or _workspace_next_to(file))
        )
        measured = measure(file, command, sync=not options.no_sync, silent=True)
        traces[name] = measured.trace
        rows += [row._replace(id=f"{name} {row.id}") for row in measured.trace.queries]
        times += [each.milliseconds for each in measured.results]
        command.memory.close()
    trace = pooled(traces, before, command.now)
    means = {name: each.mean for name, each in trace.pooled.metrics.items()}
    failed = gating.failures(gates, means, rows, None, percentile(times, 0.95))
    terminal = command.terminal
    if options.json:
        terminal.write_json(encode(trace._replace(failed=tuple(failed))))
    elif not silent:
        terminal.write(terminal.safe(text(trace)))
    for line in [] if options.json else failed:
        terminal.write(terminal.safe_line(f"memcli bench: {line}") + "\n")
    return ExitCode.NEGATIVE if failed else ExitCode.OK


def _workspace_next_to(file: str) -> list[str]:
    """Return the folder `workspace` next to a file of questions, if there is one."""
    folder = os.path.join(os.path.dirname(os.path.abspath(file)), WORKSPACE)
    return [folder] if os.path.isdir(folder) else []


def _names(files: Sequence[str]) -> list[str]:
    """Name sets by the parts in which their paths differ; UsageError for a duplicate.

    Example: a/one/q.jsonl, a/two/q.jsonl -> one, two
    """
    paths = [os.path.abspath(file) for file in files]
    if len(set(paths)) < len(paths):
        twice = next(file for at, file in enumerate(files) if paths.index(paths[at]) < at)
        raise UsageError(f"{twice} is given twice", hint="memcli bench quality --help")
    folders = [os.path.dirname(path) for path in paths]
    if len(set(folders)) < len(paths):
        folders = [os.path.splitext(path)[0] for path in paths]
    if len(paths) == 1:
        return [os.path.basename(folders[0])]
    shared = os.path.commonpath(folders)
    return [os.path.relpath(folder, shared).replace(os.sep, "/") for folder in folders]
