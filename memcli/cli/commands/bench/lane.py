"""`memcli bench lane`: the nightly run that is silent until something got worse."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli import side_files
from memcli.cli.commands.bench import history_files
from memcli.cli.options import COMMON, FILES, JSON, WORKSPACE, CommandArgument, Option, Options
from memcli.cli.skin import Skin, make_skin
from memcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from typing import Any


SPEED_RUNS = 3


ARGUMENTS = (
    CommandArgument(
        "queries", "[QUERIES.jsonl]", "Judged questions; see: bench init.", choices=FILES
    ),
)
OPTIONS = (
    Option("--max-drop", "How much nDCG@10 may fall below the best run.", "X", float, default=0.02),
    Option("--max-slower", "How much slower than the best run it may be.", "TIMES", float,
        default=2.0),
    Option("--no-speed", "Measure no speed: it takes some seconds."),
    Option("--accept", "Hold later runs against this one."),
    JSON, WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Sync, measure quality and speed, keep a receipt; speak only of what got worse.

    A run is held against the best one of the history since the last --accept. One line and
    exit 1: nDCG@10 fell, search is slower, or a question of high importance misses that hit
    before, or that is new since the last --accept.

    Examples: memcli bench lane -w notes      memcli bench lane questions.jsonl --accept
    """
    if options.max_drop < 0 or options.max_slower < 1:
        raise UsageError(
            "--max-drop is 0 or more, --max-slower 1 or more", hint="memcli bench lane --help"
        )
    skin = make_skin(options)
    receipt = _measured(options, skin)
    if options.json:
        skin.terminal.write_json(receipt)
    else:
        _speak(receipt, skin)
    return ExitCode.NEGATIVE if receipt["regressions"] else ExitCode.OK


def _measured(options: Options, skin: Skin) -> dict[str, Any]:
    """Make the receipt of this run and put it into the history."""
    from memcli.bench import history
    from memcli.bench.rows import LANE, worst
    from memcli.bench.speed import slower
    from memcli.cli.commands.bench.measuring import measure

    folder = history_files.folder_of(skin)
    side_files.refuse_memory(history_files.path_of(folder, skin.now), skin)
    earlier = history_files.read(folder, skin)
    before = history.reference(earlier)
    measured = measure(options.queries, skin, sync=True, silent=not skin.terminal.verbose)
    figures = None
    if not options.no_speed:
        from memcli.cli.commands.bench.speed import measure as measure_speed

        figures = measure_speed(skin, documents=None, runs=SPEED_RUNS)
    receipt: dict[str, Any] = {
        "schema": LANE,
        "now": skin.now,
        "accepted": options.accept,
        "sync": measured.synced,
        "quality": measured.record,
        "speed": figures,
        "failures": [row.id for row in worst(measured.rows, history.FAILURES)],
        "reference": before["now"] if before else None,
    }
    regressions = []
    if before is not None and not options.accept:
        regressions = history.regressions(before, receipt, options.max_drop)
        if figures is not None and before["speed"] is not None:
            regressions += slower(before["speed"], figures, options.max_slower)
    if not options.accept:
        regressions += history.unaccepted_misses(earlier, before, receipt)
    receipt["regressions"] = regressions
    history_files.add(folder, receipt)
    return receipt


def _speak(receipt: dict[str, Any], skin: Skin) -> None:
    terminal, found = skin.terminal, receipt["regressions"]
    if found:
        more = f" (and {len(found) - 1} more: memcli bench report)" if len(found) > 1 else ""
        terminal.write(terminal.safe_line(f"memcli bench lane: {found[0]}{more}") + "\n")
    elif terminal.verbose:
        mean = receipt["quality"]["categories"]["all"]["nDCG@10"]
        since = f", best since {receipt['reference'][:10]}" if receipt["reference"] else ""
        terminal.say(f"nDCG@10 {mean:.3f}; nothing got worse{since}.")
