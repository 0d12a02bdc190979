"""`memcli bench speed`: measure a search, and the limits of this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from math import ceil

from memcli.bench.speed import LEAST_RUNS
from memcli.checking import TYPE_CHECKING
from memcli.cli.command_context import CommandContext, command_context
from memcli.cli.commands.bench import running
from memcli.cli.commands.bench.speed_copy import Place, lay_out, sample
from memcli.cli.options import COMMON, JSON, ONE_WORKSPACE, Option, Options
from memcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from memcli.bench.speed import InsideFigures, Process
    from memcli.bench.traces import SpeedTrace

MEMCLI = "from memcli.cli.main import main; main()"
RUNS = 5  # of each kind, by default
SAMPLE_TEXTS = 32  # embedded for the throughput
COPIED_BYTES = 64 << 20  # copied for the bandwidth, well above the processor's caches
HINT = "memcli bench speed --documents 1000"


OPTIONS = (
    Option("--documents", "Measure a generated workspace of N files.", "N", int),
    Option("--runs", "Number of runs, at least 2.", "N", int, default=RUNS),
    Option("--mode", "Search by: hybrid, or keyword without the model.",
        "MODE", setting="search.mode"),
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Measure search, sync and indexing, next to the baselines of this machine.

    It works on a copy. Times cannot be compared between machines, but ratios to a baseline can:
    bench compare compares only those.

    Examples: memcli bench speed      memcli bench speed --documents 1000 --json
    """
    from memcli.bench.speed import text
    from memcli.bench.traces import encode

    if os.name != "posix":
        raise UsageError(
            "bench speed needs POSIX: elsewhere a process's memory is not reported",
            hint="memcli bench quality",
        )
    if options.documents is not None and options.documents < 1:
        raise UsageError(f"--documents must be at least 1, not {options.documents}", hint=HINT)
    if options.runs < LEAST_RUNS:
        raise UsageError(
            f"--runs must be at least {LEAST_RUNS}, not {options.runs}: a figure needs a"
            " spread, and one run has none",
            hint=f"memcli bench speed --runs {RUNS}",
        )
    command = command_context(options)
    if options.documents is None:
        running.bring_up_to_date(command, silent=False)
    trace = measure(command, documents=options.documents, runs=options.runs)
    if options.json:
        command.terminal.write_json(encode(trace))
    else:
        command.terminal.write(text(trace))
    return ExitCode.OK


def measure(command: CommandContext, *, documents: int | None, runs: int) -> SpeedTrace:
    """Measure and describe as `memcli.bench-speed/1` does; `runs` are at least LEAST_RUNS."""
    from memcli.bench.speed import figures

    hybrid = command.config("search.mode") != "keyword" and _has_model(command)
    with lay_out(command, documents) as place:
        started = _started(place, runs, hybrid=hybrid)
        inside = _in_process(command, place, hybrid=hybrid, runs=runs)
    return figures(started, inside, command.now, documents)


def _started(place: Place, runs: int, *, hybrid: bool) -> dict[str, list[Process]]:
    """Start every program `runs` times: searches in turns, then commands that change the index."""
    _run(place, 1, "index", "-q", *(() if hybrid else ("--encoder", "none")))  # settles
    query = ("-q", "--", place.queries[0])  # a heading may begin with a dash
    keyword = ("search", "--mode", "keyword")
    programs = {
        "help": ("--help",),
        "keyword": (*keyword, *query),
        "keyword_no_sync": (*keyword, "--no-sync", *query),
        **({"hybrid": ("search", *query)} if hybrid else {}),
    }
    found: dict[str, list[Process]] = {name: [] for name in ("interpreter", *programs)}
    for _ in range(runs):  # turn by turn, so that other work on the machine hits all alike
        found["interpreter"] += _launch(place, [sys.executable, "-c", "pass"], 1)
        for name, arguments in programs.items():
            found[name] += _run(place, 1, *arguments)
    plain = ("index", "-q", "--encoder", "none")
    found["no_change"] = _run(place, runs, *plain)
    found["one_change"] = [_one_change(place, number) for number in range(runs)]
    found["index"] = [_fresh(place, number, *plain) for number in range(runs)]
    return found


def _has_model(command: CommandContext) -> bool:
    from memcli.embedding.registry import configured_fingerprint

    return configured_fingerprint(command.workspace.encoders()) is not None


def _launch(place: Place, command: Sequence[str], runs: int) -> list[Process]:
    from memcli.bench.speed import processes
    from memcli.cli import launch

    with subprocess.Popen(
        [sys.executable, "-I", "-S", launch.__file__, str(runs), *command],
        env=dict(place.environ),
        stdout=subprocess.PIPE,
        pass_fds=(place.lock,),
        process_group=0,
    ) as launcher:
        try:
            told, _ = launcher.communicate()
        except BaseException:
            os.killpg(launcher.pid, signal.SIGKILL)  # what is measured too: it works in the copy
            raise
    if launcher.returncode:
        raise subprocess.CalledProcessError(launcher.returncode, command)
    return processes(json.loads(told))


def _run(place: Place, runs: int, *arguments: str) -> list[Process]:
    # -P: the current folder may be a stranger's, and no place to import from.
    done = _launch(place, [sys.executable, "-P", "-c", MEMCLI, *arguments], runs)
    failed = [run.exit_code for run in done if run.exit_code]
    if failed:
        raise UsageError(
            f"memcli {' '.join(arguments)} failed with exit code {failed[0]} while it was measured",
            hint=f"memcli {' '.join(arguments)}",
        )
    return done


def _fresh(place: Place, number: int, *arguments: str) -> Process:
    """Run memcli in an index of its own, which is empty."""
    store = f"{place.store}.fresh{number}"
    fresh = place._replace(environ={**place.environ, "MEMCLI_STORE": store})
    return _run(fresh, 1, *arguments)[0]


def _one_change(place: Place, number: int) -> Process:
    with open(os.path.join(place.notes, place.chosen), "a", encoding="utf-8") as file:
        file.write(f"\nA line that was added, number {number}.\n")
    return _run(place, 1, "index", "-q", "--encoder", "none")[0]


def _in_process(command: CommandContext, place: Place, *, hybrid: bool, runs: int) -> InsideFigures:
    """Measure warm searches, the model, memory and the walk in this process."""
    from memcli.bench.speed import InsideFigures
    from memcli.indexing.planning import plan

    there = _there(command, place)
    texts = sample(there.workspace.store, SAMPLE_TEXTS, command.memory.clock.sleep)
    timer = command.memory.clock.monotonic

    def timed(run: Callable[[], object]) -> float:
        started = timer()
        run()
        return timer() - started

    modes = ("keyword", "hybrid") if hybrid else ("keyword",)
    warm = {mode: _warm(there, place, mode, runs) for mode in modes}
    with there.workspace.store.snapshot() as snapshot:
        counts = snapshot.counts()
    source = command.config.sources[0]._replace(root=place.notes)
    walked = command.workspace.index_settings()._replace(sources=(source,))
    files = plan(walked, {}).listing.files
    block = bytearray(COPIED_BYTES)
    copied = [timed(lambda: bytes(block)) for _ in range(runs)]
    walks = [timed(lambda: _walk(place.notes)) for _ in range(runs)]
    embedding = _embedding(command, texts, timed, runs) if hybrid else {}
    names = {"encoder": "embedding_texts_per_s", "model": "model_texts_per_s"}
    return InsideFigures(
        warm=warm,
        seconds={"walk": walks, **embedding},
        rates={
            # read and written
            "memory_gb_per_s": [2 * COPIED_BYTES / seconds / 1e9 for seconds in copied],
            "walk_ms": [1000 * seconds for seconds in walks],
            **{
                names[kind]: [len(texts) / each for each in seconds]
                for kind, seconds in embedding.items()
            },
        },
        counts={
            "documents": counts.documents,
            "chunks": counts.chunks,
            "store_bytes": os.path.getsize(place.store),
            "notes_bytes": sum(found.size for found in files),
        },
    )


def _warm(command: CommandContext, place: Place, mode: str, runs: int) -> list[float]:
    """Search in this process, with store and model open; return the seconds of each search.

    Texts are searched once, and again until there are `runs` times.
    """
    values = dict(command.config.values)
    values["search.mode"] = values["search.mode"]._replace(value=mode)
    config = command.config._replace(values=values)
    command = command.of(command.workspace.having(config=config))
    search = running.Searcher(command, limit=command.config("search.limit"))
    seconds = []
    search(place.queries[0], None)
    for text in [*place.queries] * ceil(runs / len(place.queries)):
        started = command.memory.clock.monotonic()
        search(text, None)
        seconds.append(command.memory.clock.monotonic() - started)
    return seconds


def _there(command: CommandContext, place: Place) -> CommandContext:
    """Look at the copy in place of the workspace's own index."""
    from memcli.store.open import store_at

    store = store_at(place.store, command.memory.clock.now_ns)
    return command.of(command.workspace.having(store=store))


def _embedding(
    command: CommandContext,
    texts: Sequence[str],
    timed: Callable[[Callable[[], object]], float],
    runs: int,
) -> dict[str, list[float]]:
    """Return the seconds of the encoder and of the bare model for some texts, turn by turn."""
    from memcli.embedding.onnx_c_api import PinnedEncoder

    encoder = command.workspace.open_encoder().encoder
    if encoder is None or not texts:
        return {}
    bare = encoder.bare(texts) if isinstance(encoder, PinnedEncoder) else None
    encoder.encode(texts[:1])
    encoded, ran = [], []
    for _ in range(runs):
        encoded.append(timed(lambda: encoder.encode(texts)))
        if bare is not None:
            ran.append(timed(bare))
    return {"encoder": encoded, **({"model": ran} if ran else {})}


def _walk(folder: str) -> int:
    """List and stat every file: the least that finding changes can cost."""
    count, folders = 0, [folder]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    count += 1
    return count
