"""`memcli bench replay`: run the search or context of a trace again, and show what moved."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli import search_receipt, side_files
from memcli.cli.options import COMMON, FILES, JSON, WORKSPACE, CommandArgument, Option, Options
from memcli.cli.skin import Skin, make_skin
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from memcli.bench.replay import SearchTrace
    from memcli.indexing.freshness import Freshness


ARGUMENTS = (
    CommandArgument("receipt", "FILE", "From --receipt.", is_required=True, choices=FILES),
)
OPTIONS = (
    Option("--no-sync", "Do not update the index."),
    JSON, WORKSPACE, *COMMON,
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
        side_files.read_text(options.receipt, "memcli search QUERY --receipt FILE"), options.receipt
    )
    skin = make_skin(options, before.flags)
    skin.memory.lead.accesses_at = before.accesses
    again = _context if before.schema == replay.CONTEXT_SCHEMA else _search
    freshness, made = again(before, skin, no_sync=options.no_sync)
    after = decode(replay.SearchTrace, made)
    say_freshness(freshness, skin.terminal)
    record = replay.compare(before, after)
    terminal = skin.terminal
    if options.json:
        terminal.write_json(record)
    else:
        terminal.write("".join(f"{terminal.safe_line(line)}\n" for line in replay.lines(record)))
    return ExitCode.OK


def _search(before: SearchTrace, skin: Skin, *, no_sync: bool) -> tuple[Freshness, object]:
    from memcli.api.ask import ask
    from memcli.search.options import options_of
    from memcli.search.question import Question
    from memcli.search.receipt import filters_of

    expand = before.expanded is not None
    wanted = options_of(
        skin.config,
        filters=filters_of(before._asdict()),
        budget=before.budget,
        whole=before.whole,
        sort=before.sort,
        ends=before.ends,
        fill=not expand,
    )
    question = Question.by(skin.config, before.query or "", skin.question_time)
    sync = False if no_sync else None
    found = ask(skin.memory, question, wanted, expand=expand, sync=sync)
    return found.freshness, search_receipt.make(found, skin, wanted, expand=expand)


def _context(before: SearchTrace, skin: Skin, *, no_sync: bool) -> tuple[Freshness, object]:
    from memcli.api.assemble import context_of, wanted_of

    text, wanted = before.query or "", wanted_of(skin.config)
    sync = False if no_sync else None
    found = context_of(skin.memory, text, skin.question_time, wanted, sync=sync)
    return found.freshness, search_receipt.make_of_context(found, skin, budget=wanted.budget)
