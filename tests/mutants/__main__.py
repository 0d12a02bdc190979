"""Draw the mutants, judge each, and print those that nothing killed."""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from tests import mutants as described
from tests.mutants import judging
from tests.mutants.places import Mutant, changed, equivalents, find
from tests.mutants.touched import FewExamples, Touched, choose, record, touching

PACKAGES = ("search", "store", "workspace", "indexing", "context", "compaction", "bench")
OTHER_ROOMS = ("api", "cli", "embedding", "remember")  # whose tests go through all of them
LEFT_OUT = ("memcli/store/postgres/", "memcli/store/shared.py")  # their tests need a server
PARTS = ("memcli", "tests", "fixtures", "completions", "README.md", "pyproject.toml")
# Loaded once, before the processes that run the tests part from this one.
LOADED = ("apsw", "hypothesis", "jsonschema", "markdown_it", "numpy", "onnxruntime", "pathspec",
          "rich.console", "sqlite_vec", "tokenizers", "typer.testing", "watchdog.observers",
          "yaml")  # fmt: skip
RECORD_SECONDS = 3600


def main() -> None:
    """Read the arguments and run in a folder that goes away afterwards."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants",
        description=described.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("packages", nargs="*", default=PACKAGES, metavar="PACKAGE")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--map", type=Path, metavar="FILE")
    parser.add_argument("--tests", nargs="+", metavar="TEST")
    parser.add_argument("--at", nargs="+", metavar="PATH:LINE")
    parser.add_argument("--idle", action="store_true")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with tempfile.TemporaryDirectory(prefix="memcli-mutants-") as folder:
        copy = Path(folder).resolve()
        keep = given.map.resolve() if given.map else copy / "map.json"
        _prepare(copy)
        _run(given, keep)


def _prepare(copy: Path) -> None:
    """Make the copy the place where everything is imported from, in children too."""
    here = Path(__file__).parents[2]
    for part in PARTS:
        source, target = here / part, copy / part
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    os.chdir(copy)
    sys.path[:] = [str(copy), *(p for p in sys.path if p and Path(p).resolve() != here)]
    os.environ["PYTHONPATH"] = str(copy)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", "memcli")]:
        del sys.modules[name]
    for name in LOADED:
        with suppress(ImportError):
            importlib.import_module(name)


def _run(given: argparse.Namespace, keep: Path) -> None:
    rooms = given.tests or [f"tests/{room}" for room in (*PACKAGES, *OTHER_ROOMS)]
    if not keep.exists():
        sys.dont_write_bytecode = False
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        code = judging.in_child(lambda: record(rooms, keep), RECORD_SECONDS, loud=True)
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            keep.unlink(missing_ok=True)
            sys.exit("python -m tests.mutants: the tests did not run to their end")
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    touched = Touched(*json.loads(keep.read_text()))
    mutants = _draw(given)
    texts = {mutant.path: Path(mutant.path).read_bytes() for mutant in mutants}
    known = equivalents()
    counts: Counter[tuple[str, str]] = Counter()
    with os.fdopen(os.dup(1), "w") as out:  # what pytest says goes elsewhere

        def report(mutant: Mutant, verdict: str) -> None:
            shown = changed(mutant, texts[mutant.path])
            felt = verdict in (judging.KILLED, judging.ENDLESS)
            why = known.get((mutant.path, shown))
            found = "killed" if felt else "equivalent" if why else "alive"
            counts[mutant.path.split("/")[1], found] += 1
            if felt == given.idle and not why:
                print(f"{verdict}: {mutant.path}:{mutant.line}: {shown}", file=out, flush=True)
            elif felt and why:
                print(f"no longer equivalent: {mutant.path}: {shown}", file=out, flush=True)

        def chosen(mutant: Mutant) -> list[str]:
            return choose(mutant, touched, given.seconds)

        inside = [each for each in mutants if each.inside and touching(each, touched)]
        for mutant in mutants:
            if mutant not in inside:
                names = chosen(mutant)
                report(mutant, judging.judge_loaded(mutant, names, touched, idle=given.idle))
        swapping = judging.Swapping(inside, chosen, touched, report, idle=given.idle)
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        pytest.main([*judging.PYTEST, *rooms], plugins=[swapping, FewExamples()])
        for package in (*sorted({package for package, _ in counts}), ""):
            print(_told(package, counts), file=out)


def _told(package: str, counts: Counter[tuple[str, str]]) -> str:
    """Say of a package, or of all, how many were judged and what came of them."""
    killed, equivalent, alive = (
        sum(
            number for (of, what), number in counts.items() if what == found and package in ("", of)
        )
        for found in ("killed", "equivalent", "alive")
    )
    share = killed / max(killed + alive, 1)
    return (
        f"{package or 'in all'}: {killed + equivalent + alive} mutants: {killed} killed, "
        f"{equivalent} equivalent, {alive} alive; killed of those that change anything: {share:.1%}"
    )


def _draw(given: argparse.Namespace) -> list[Mutant]:
    modules = [
        path
        for package in PACKAGES
        for path in sorted(p.as_posix() for p in Path("memcli", package).rglob("*.py"))
        if not path.startswith(LEFT_OUT)
    ]
    mutants = [mutant for path in modules for mutant in find(Path(), path)]
    if given.at:
        return [m for m in mutants if f"{m.path}:{m.line}" in given.at]
    texts = {path: Path(path).read_bytes() for path in modules}

    def lot(mutant: Mutant) -> bytes:  # by what is changed, so that other places change no draw
        told = f"{given.seed} {mutant.path} {changed(mutant, texts[mutant.path])}"
        return hashlib.sha256(told.encode()).digest()

    drawn = sorted(mutants, key=lot)[given.skip : given.skip + given.count]
    return [m for m in drawn if m.path.split("/")[1] in given.packages]


if __name__ == "__main__":
    main()
