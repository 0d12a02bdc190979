"""`memcli bench speed`: measure a search, and the limits of this machine."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from math import ceil
from shutil import copyfile, rmtree

from memcli.bench import speed
from memcli.bench.speed import InsideFigures, Process, figures
from memcli.bench.traces import SpeedTrace
from memcli.cli import bench_quality, launch
from memcli.cli.command_context import CommandContext
from memcli.cli.stopping import ended_by_signals
from memcli.config.settings import WORKSPACE_FILE
from memcli.embedding.registry import configured_fingerprint
from memcli.errors import UsageError
from memcli.indexing.document import parse_or_skip
from memcli.indexing.freshness import WAIT_SECONDS
from memcli.indexing.indexer import text_of
from memcli.indexing.planning import plan
from memcli.markdown.parse import parse
from memcli.record import Record
from memcli.store.open import store_at
from memcli.system import FOLDER_FLAGS, try_lock
from memcli.types import MEMORY_SOURCE, Skip
from memcli.workspace import openat

MEMCLI = "from memcli.cli.main import main; main()"
SAMPLE_TEXTS = 32  # texts to embed for the throughput
COPIED_BYTES = 64 << 20  # bytes to copy for the bandwidth, far more than the processor's caches


def measure(command: CommandContext, *, documents: int | None, runs: int) -> SpeedTrace:
    """Measure and describe as `memcli.bench-speed/1` does; `runs` are at least LEAST_RUNS."""
    has_model = configured_fingerprint(command.workspace.encoders()) is not None
    hybrid = command.config("search.mode") != "keyword" and has_model
    with lay_out(command, documents) as place:
        started = _started(place, runs, hybrid=hybrid)
        inside = _in_process(command, place, hybrid=hybrid, runs=runs)
    return figures(started, inside, command.now, documents)


def _started(place: Place, runs: int, *, hybrid: bool) -> dict[str, list[Process]]:
    """Start every program `runs` times: searches in turns, then commands that change the index."""
    _run(place, 1, "index", "-q", *(() if hybrid else ("--encoder", "none")))  # warms up
    query = ("-q", "--", place.queries[0])  # a heading may begin with a dash
    keyword = ("search", "--mode", "keyword")
    programs = {
        "help": ("--help",),
        "keyword": (*keyword, *query),
        "keyword_no_sync": (*keyword, "--no-sync", *query),
        **({"hybrid": ("search", *query)} if hybrid else {}),
    }
    by_program: dict[str, list[Process]] = {name: [] for name in ("interpreter", *programs)}
    for _ in range(runs):  # in turns, so that other work on the machine affects all equally
        by_program["interpreter"] += _launch(place, [sys.executable, "-c", "pass"], 1)
        for name, arguments in programs.items():
            by_program[name] += _run(place, 1, *arguments)
    plain = ("index", "-q", "--encoder", "none")
    by_program["no_change"] = _run(place, runs, *plain)
    by_program |= {"one_change": [], "index": []}
    for number in range(runs):
        with open(os.path.join(place.notes, place.chosen), "a", encoding="utf-8") as file:
            file.write(f"\nA line that was added, number {number}.\n")
        by_program["one_change"] += _run(place, 1, *plain)
    for number in range(runs):  # each with an empty index of its own
        environ = {**place.environ, "MEMCLI_STORE": f"{place.store}.fresh{number}"}
        by_program["index"] += _run(place._replace(environ=environ), 1, *plain)
    return by_program


def _launch(place: Place, command: Sequence[str], runs: int) -> list[Process]:
    with subprocess.Popen(
        [sys.executable, "-I", "-S", launch.__file__, str(runs), *command],
        env=dict(place.environ),
        stdout=subprocess.PIPE,
        pass_fds=(place.lock,),
        process_group=0,
    ) as launcher:
        try:
            output, _ = launcher.communicate()
        except BaseException:
            os.killpg(launcher.pid, signal.SIGKILL)  # memcli, working in the copy
            raise
    if launcher.returncode:
        raise subprocess.CalledProcessError(launcher.returncode, command)
    return [Process(*run) for run in json.loads(output)]


def _run(place: Place, runs: int, *arguments: str) -> list[Process]:
    # -P: do not import from the current folder, which may be a stranger's.
    done = _launch(place, [sys.executable, "-P", "-c", MEMCLI, *arguments], runs)
    failed = [run.exit_code for run in done if run.exit_code]
    if failed:
        raise UsageError(
            f"memcli {' '.join(arguments)} failed with exit code {failed[0]} while it was measured",
            hint=f"memcli {' '.join(arguments)}",
        )
    return done


def _in_process(command: CommandContext, place: Place, *, hybrid: bool, runs: int) -> InsideFigures:
    """Measure warm searches, the model, memory and the walk in this process."""
    store = store_at(place.store, command.memory.clock.now_ns)
    there = command.of(command.workspace.having(store=store))
    with store.change(wait_seconds=WAIT_SECONDS, sleep=command.memory.clock.sleep) as change:
        texts = [text_of(item) for item in change.pending(NO_MODEL, SAMPLE_TEXTS)]
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
            # it reads and writes
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
            "notes_bytes": sum(file.size for file in files),
        },
    )


def _warm(command: CommandContext, place: Place, mode: str, runs: int) -> list[float]:
    """Search in this process, with store and model open; return the seconds of each search.

    Texts are searched once, and again until there are `runs` times.
    """
    config = command.config.having({"search.mode": mode})
    command = command.of(command.workspace.having(config=config))
    search = bench_quality.Searcher(command, limit=command.config("search.limit"))
    seconds = []
    search(place.queries[0], None)
    for text in [*place.queries] * ceil(runs / len(place.queries)):
        started = command.memory.clock.monotonic()
        search(text, None)
        seconds.append(command.memory.clock.monotonic() - started)
    return seconds


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
    """List and stat every file: the minimum cost of finding changes."""
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


WARM_QUERIES = 20
SEED = 0
NO_MODEL = "(none)"  # no vector has this fingerprint, so every text waits for one


class Place(Record):
    """A copy that runs may change: notes, their index, and the variables that lead there."""

    lock: int  # descriptor of the temporary folder, which processes that work there inherit
    notes: str
    store: str
    environ: Mapping[str, str]
    queries: Sequence[str]
    chosen: str  # the document that runs change


@contextmanager
def lay_out(command: CommandContext, documents: int | None) -> Iterator[Place]:
    """Write made-up notes, or a copy of the workspace with its index, into a temporary folder."""
    if left := sweep():
        copies = "a copy" if left == 1 else f"{left} copies"
        command.terminal.warn(
            f"removed {copies} of notes that runs of bench speed left when killed"
        )
    with temporary_folder() as (folder, lock):
        notes, store = os.path.join(folder, "notes"), os.path.join(folder, "index")
        os.makedirs(os.path.join(notes, "memory"))
        environ = {**os.environ, "MEMCLI_STORE": store, "MEMCLI_WORKSPACE": notes}
        environ.pop("_MEMCLI_COMPLETE", None)
        queries: Sequence[str]
        if documents is not None:
            paths = []
            for path, text in speed.documents(documents, SEED):
                with open(os.path.join(notes, path), "w", encoding="utf-8") as file:
                    file.write(text)
                paths.append(path)
            queries = speed.queries(WARM_QUERIES, SEED)
        else:
            paths = _copy(command, notes, store)
            queries = _headings(notes, paths) or ["what was decided"]
        yield Place(lock, notes, store, environ, queries, paths[0])


def _copy(command: CommandContext, notes: str, store: str) -> list[str]:
    """Copy documents, settings and index of the workspace; return the copied documents."""
    own = [source for source in command.config.sources if source.name == MEMORY_SOURCE]
    listing = plan(command.workspace.index_settings()._replace(sources=tuple(own)), {}).listing
    paths = [file.path for file in listing.files if _copied(command, own[0].root, file.path, notes)]
    if not paths:
        raise UsageError(
            "there are no notes to measure", hint="memcli bench speed --documents 1000"
        )
    settings = os.path.join(command.config.workspace, WORKSPACE_FILE)
    if len(own) == len(command.config.sources) and os.path.isfile(settings):
        copyfile(settings, os.path.join(notes, WORKSPACE_FILE))
    with command.workspace.store.locked(
        wait_seconds=WAIT_SECONDS, sleep=command.memory.clock.sleep
    ):
        command.workspace.store.copy_to(store_at(store, command.memory.clock.now_ns))
    return paths


def _copied(command: CommandContext, root: str, path: str, notes: str) -> bool:
    """Copy a document; report and skip one that cannot be read, as `memcli index` does."""
    try:
        with open(os.path.join(root, path), "rb") as document:
            text = document.read()
    except OSError as error:
        command.terminal.warn(f"{path} is left out: {openat.reason(error)}")
        return False
    target = os.path.join(notes, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as copy:
        copy.write(text)
    return True


def _headings(notes: str, paths: Sequence[str]) -> list[str]:
    """Use headings of the workspace as texts to search for."""
    headings: list[str] = []
    for path in paths:
        with open(os.path.join(notes, path), encoding="utf-8", errors="replace") as file:
            parsed = parse_or_skip(MEMORY_SOURCE, path, partial(parse, file.read()))
        if isinstance(parsed, Skip):
            continue
        titles = (block.title for block in parsed.blocks if block.kind == "heading")
        headings += [title for title in titles if any(map(str.isalnum, title))]
        if len(headings) >= WARM_QUERIES:
            break
    return headings[:WARM_QUERIES]


PREFIX = "memcli-bench-"
MARK = "made-by-memcli-bench"  # an empty file, because the name of the folder proves nothing


@contextmanager
def temporary_folder() -> Iterator[tuple[str, int]]:
    """Make a folder that only we can read, and remove it at the end.

    A process that inherits its descriptor uses it too.
    """
    with ended_by_signals():
        try:
            path = tempfile.mkdtemp(prefix=PREFIX)
        except FileNotFoundError as error:  # /tmp has none either
            raise UsageError(
                f"no temporary folder can be written: {error.strerror}",
                hint="set TMPDIR to a folder that can be written",
            ) from error
        descriptor = os.open(path, FOLDER_FLAGS)
        try:
            with suppress(OSError):  # a file system without locks: `sweep` removes nothing there
                try_lock(descriptor)
            os.close(os.open(MARK, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, dir_fd=descriptor))
            yield path, descriptor
        finally:
            _remove(path, descriptor)
            os.close(descriptor)


def sweep() -> int:
    """Remove the folders that runs have left behind; return how many."""
    removed = 0
    with suppress(OSError):
        place = tempfile.gettempdir()
        for name in os.listdir(place):
            if name.startswith(PREFIX):
                with suppress(OSError):  # not ours, or just removed by another run
                    removed += _sweep(os.path.join(place, name))
    return removed


def _sweep(path: str) -> bool:
    descriptor = os.open(path, FOLDER_FLAGS)
    try:
        mark = os.stat(MARK, dir_fd=descriptor, follow_symlinks=False)
        if {os.fstat(descriptor).st_uid, mark.st_uid} != {os.geteuid()} or not stat.S_ISREG(
            mark.st_mode
        ):
            return False
        if is_left := try_lock(descriptor):
            _remove(path, descriptor)
        return is_left
    finally:
        os.close(descriptor)


def _remove(path: str, descriptor: int) -> None:
    """Remove a folder, its mark last, so that the next run can continue after a kill."""
    for name in sorted(os.listdir(descriptor), key=MARK.__eq__):
        if stat.S_ISDIR(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode):
            rmtree(name, dir_fd=descriptor)
        else:
            os.unlink(name, dir_fd=descriptor)
    os.rmdir(path)
