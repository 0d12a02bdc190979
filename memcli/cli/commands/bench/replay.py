"""`memcli bench replay`: run the search or context of a trace again, and show what moved."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli import side_files, traces
from memcli.cli.command_context import CommandContext, command_context
from memcli.cli.options import COMMON, FILES, JSON, ONE_WORKSPACE, CommandArgument, Option, Options
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from memcli.bench.replay import SearchTrace
    from memcli.indexing.freshness import Freshness


ARGUMENTS = (
    CommandArgument("trace", "FILE", "A file that --trace wrote.", is_required=True, choices=FILES),
)
OPTIONS = (
    Option("--no-sync", "Do not update the index."),
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Run the search or context of a trace again, and show what moved.

    Options and filters come from the trace, other settings are of today. It prints what differs,
    also a new index revision or model.

    Examples: memcli bench replay before.json      memcli bench replay before.json --json
    """
    from memcli.bench import replay
    from memcli.bench.traces import decode
    from memcli.cli.search_output import say_freshness

    before = replay.read(
        side_files.read_text(options.trace, "memcli search QUERY --trace FILE"), options.trace
    )
    command = command_context(options, before.flags)
    command.memory.lead.accesses_at = before.accesses
    again = _context if before.schema == replay.CONTEXT_SCHEMA else _search
    freshness, made = again(before, command, no_sync=options.no_sync)
    after = decode(replay.SearchTrace, made)
    say_freshness(freshness, command.terminal)
    record = replay.compare(before, after)
    terminal = command.terminal
    if options.json:
        terminal.write_json(record)
    else:
        terminal.write("".join(f"{terminal.safe_line(line)}\n" for line in replay.lines(record)))
    return ExitCode.OK


def _search(
    before: SearchTrace, command: CommandContext, *, no_sync: bool
) -> tuple[Freshness, object]:
    from memcli.api.ask import ask
    from memcli.search.options import options_of
    from memcli.search.question import Question
    from memcli.search.trace import filters_of

    expand = before.expanded is not None
    wanted = options_of(
        command.config,
        filters=filters_of(before._asdict()),
        budget=before.budget,
        whole=before.whole,
        sort=before.sort,
        ends=before.ends,
        fill=not expand,
    )
    question = Question.by(command.config, before.query or "", command.question_time)
    sync = False if no_sync else None
    found = ask(command.memory, question, wanted, expand=expand, sync=sync)
    return found.freshness, traces.make(found, command, wanted, expand=expand)


def _context(
    before: SearchTrace, command: CommandContext, *, no_sync: bool
) -> tuple[Freshness, object]:
    from memcli.api.assemble import context_of, sharing_of

    text, wanted = before.query or "", sharing_of(command.config)
    sync = False if no_sync else None
    found = context_of(command.memory, text, command.question_time, wanted, sync=sync)
    return found.freshness, traces.make_of_context(found, command, budget=wanted.budget)
