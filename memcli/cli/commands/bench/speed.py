"""`memcli bench speed`: what a search costs, beside what this machine can do at all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.cli.commands.bench import running
from memcli.cli.commands.bench.place import Place, lay_out, sample
from memcli.cli.skin import Shared, Skin, make_skin
from memcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from typing import Annotated, Any

    import typer

    from memcli.bench.speed import Process
    from memcli.cli import options

MEMCLI = "from memcli.cli.main import main; main()"
RUNS = 5
SAMPLE_TEXTS = 32  # embedded for the throughput
COPIED_BYTES = 64 << 20  # copied for the bandwidth, well above the processor's caches
HINT = "memcli bench speed --documents 1000"


def command(
    documents: Annotated[
        int | None,
        typer.Option("--documents", metavar="N", help="Measure a made-up workspace of N files."),
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", metavar="N", help="Processes started for a figure.")
    ] = RUNS,
    mode: Annotated[
        str | None,
        typer.Option(metavar="MODE", help="hybrid, or lexical to leave the model out."),
    ] = None,
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Measure search, sync and indexing beside the floors of this machine.

    All work is done on a copy; the memory and its index are only read. Times mean nothing on
    another machine, ratios to a floor do: bench compare sets only those side by side.

    Examples: memcli bench speed      memcli bench speed --documents 1000 --json
    """
    if os.name != "posix":
        raise UsageError(
            "bench speed needs POSIX: elsewhere a process's memory is not reported",
            hint="memcli bench quality",
        )
    if documents is not None and documents < 1:
        raise UsageError(f"--documents must be at least 1, not {documents}", hint=HINT)
    if runs < 1:
        raise UsageError(f"--runs counts from 1, not {runs}", hint=HINT)
    shared = Shared(workspace, quiet, verbose, color, now)
    skin = make_skin(shared, {"search.mode": mode})
    if documents is None:
        running.bring_in_step(skin, silent=False)
    record = measure(skin, documents=documents, runs=runs)
    if as_json:
        from memcli.render.jsonio import dumps

        skin.terminal.write(dumps(record) + "\n")
    else:
        from memcli.bench.speed import text

        skin.terminal.write(text(record))
    return ExitCode.OK


def measure(skin: Skin, *, documents: int | None, runs: int) -> dict[str, Any]:
    """Measure and describe as `memcli.bench-speed/1` does."""
    from memcli.bench import speed

    hybrid = skin.config("search.mode") != "lexical" and _has_model(skin)
    with lay_out(skin, documents) as place:
        _run(place, 1, "index", "-q", *(() if hybrid else ("--encoder", "none")))  # settles
        query = ("-q", "--", place.queries[0])  # a heading may begin with a dash
        keyword = ("search", "--mode", "lexical")
        programs = {
            "help": ("--help",),
            "keyword": (*keyword, *query),
            "keyword_no_sync": (*keyword, "--no-sync", *query),
            **({"hybrid": ("search", *query)} if hybrid else {}),
        }
        found: dict[str, list[Process]] = {name: [] for name in programs}
        bare: list[Process] = []
        for _ in range(runs):  # turn by turn, so that other work on the machine hits all alike
            bare += _launch(place, [sys.executable, "-c", "pass"], 1)
            for name, arguments in programs.items():
                found[name] += _run(place, 1, *arguments)
        plain = ("index", "-q", "--encoder", "none")
        no_change = speed.cost(_run(place, runs, *plain))
        changed = speed.cost([_one_change(place, number) for number in range(runs)])
        fresh = place._replace(environ={**place.environ, "MEMCLI_STORE": place.store + ".fresh"})
        indexed = _run(fresh, 1, *plain)
        record: dict[str, Any] = {
            "schema": "memcli.bench-speed/1",
            "now": skin.now,
            "generated": documents,
            "machine": running.machine(),
            "cold": {name: speed.cost(costs) for name, costs in found.items()},
            "sync": {"no_change": no_change, "one_change": changed},
            **_in_process(skin, place, hybrid=hybrid),
        }
        record["index"] = {
            **speed.cost(indexed),
            "documents_per_s": record["documents"] / indexed[0].wall_s,
        }
        floors = record["floors"]
        floors["interpreter_cpu_ms"] = speed.cost(bare)["cpu_ms"]
        floors["interpreter_peak_mb"] = speed.cost(bare)["peak_mb"]
        record["ratios"] = speed.ratios(record, floors)
        record["goals"] = speed.verdicts(record["ratios"])
    return record


def _has_model(skin: Skin) -> bool:
    from memcli.embedding.registry import configured_fingerprint

    return configured_fingerprint(skin.memory.encoders()) is not None


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


def _one_change(place: Place, number: int) -> Process:
    with open(os.path.join(place.notes, place.chosen), "a", encoding="utf-8") as file:
        file.write(f"\nA line that was added, number {number}.\n")
    return _run(place, 1, "index", "-q", "--encoder", "none")[0]


def _in_process(skin: Skin, place: Place, *, hybrid: bool) -> dict[str, Any]:
    """Measure warm searches, the model, memory and the walk in this process."""
    from memcli.bench.speed import spread
    from memcli.indexing.planning import plan

    there = _there(skin, place)
    texts = sample(there.memory.store, SAMPLE_TEXTS, skin.memory.clock.sleep)
    timer = skin.memory.clock.monotonic

    def timed(run: Callable[[], object]) -> float:
        started = timer()
        run()
        return timer() - started

    modes = ("lexical", "hybrid") if hybrid else ("lexical",)
    warm = {mode: spread(_warm(there, place, mode)) for mode in modes}
    with there.memory.store.snapshot() as snapshot:
        counts = snapshot.counts()
    source = skin.config.sources[0]._replace(root=place.notes)
    walked = skin.memory.index_settings()._replace(sources=(source,))
    files = plan(walked, {}).listing.files
    block = bytearray(COPIED_BYTES)
    copied = min(timed(lambda: bytes(block)) for _ in range(RUNS))
    speeds = _embedding(skin, texts, timed) if hybrid else (None, None)
    return {
        "warm": warm,
        "documents": counts.documents,
        "chunks": counts.chunks,
        "store_bytes": os.path.getsize(place.store),
        "notes_bytes": sum(found.size for found in files),
        "embedding_texts_per_s": speeds[0],
        "floors": {
            "model_texts_per_s": speeds[1],
            "memory_gb_per_s": 2 * COPIED_BYTES / copied / 1e9,  # read and written
            "walk_ms": min(timed(lambda: _walk(place.notes)) for _ in range(RUNS)) * 1000,
        },
    }


def _warm(skin: Skin, place: Place, mode: str) -> list[float]:
    """Search in this process, store and model open, and give the seconds of each search."""
    values = dict(skin.config.values)
    values["search.mode"] = values["search.mode"]._replace(value=mode)
    config = skin.config._replace(values=values)
    skin = skin._replace(memory=skin.memory.having(config=config))
    search = running.Searcher(skin, limit=skin.config("search.limit"))
    seconds = []
    search(place.queries[0], None)
    for text in place.queries:
        started = skin.memory.clock.monotonic()
        search(text, None)
        seconds.append(skin.memory.clock.monotonic() - started)
    return seconds


def _there(skin: Skin, place: Place) -> Skin:
    """Look at the copy in place of the workspace's own index."""
    from memcli.store.open import store_at

    memory = skin.memory
    return skin._replace(memory=memory.having(store=store_at(place.store, memory.clock.now_ns)))


def _embedding(
    skin: Skin, texts: Sequence[str], timed: Callable[[Callable[[], object]], float]
) -> tuple[float | None, float | None]:
    """Give texts a second of the encoder and of the bare model, turn by turn."""
    from memcli.embedding.onnx import OnnxEncoder

    encoder = skin.memory.open_encoder().encoder
    if encoder is None or not texts:
        return None, None
    bare = encoder.bare(texts) if isinstance(encoder, OnnxEncoder) else None
    encoder.encode(texts[:1])
    encoded, ran = [], []
    for _ in range(3):
        encoded.append(timed(lambda: encoder.encode(texts)))
        if bare is not None:
            ran.append(timed(bare))
    return len(texts) / min(encoded), len(texts) / min(ran) if ran else None


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
