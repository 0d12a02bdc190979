"""Which test touches which line, and so which tests can feel a mutant."""

from __future__ import annotations

import _thread
import ast
import gc
import importlib
import json
import os
import re
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings

from tests.mutants.places import Mutant

OPTIONS = (
    "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0", "-s", "-k", "not postgres",
    "-W", "ignore::pytest.PytestAssertRewriteWarning",
)  # fmt: skip
EXAMPLES = 6  # of a property, at most, as every mutant pays for them
SLOWEST_SECONDS = 10  # of a test; one that takes longer would be run for too many mutants


_CACHE = type(cache(lambda: None))
_START = _thread.start_new_thread


class Touched(NamedTuple):
    """Tests, the processor time of each, and which of them touch each line of each file."""

    names: list[str]
    seconds: dict[str, float]
    lines: dict[str, dict[str, list[int]]]  # places in `names`


class FewExamples:
    """A plugin of pytest that lets properties take fewer examples."""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        for item in items:
            if kept := getattr(item.obj, "_hypothesis_internal_use_settings", None):
                fewer = settings(kept, max_examples=min(kept.max_examples, EXAMPLES))
                item.obj._hypothesis_internal_use_settings = fewer


def _processor_time() -> float:
    """Give the time of this process, to the nanosecond, and of those that it waited for."""
    return time.process_time() + sum(os.times()[2:4])


class _Recorder:
    """A plugin of pytest that says whose turn it is; wider fixtures count for all who ask."""

    def __init__(self, cover: Any) -> None:
        self.cover = cover
        self.now = ""
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self.users: dict[str, set[str]] = defaultdict(set)
        self.caches: list[Any] = []

    def pytest_collection_finish(self) -> None:
        """Find what remembers results: only the first test that asks would touch its lines."""
        self.caches = [
            found
            for found in gc.get_objects()
            if type(found) is _CACHE and found.__module__.startswith("memcli.")
        ]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        self.now = item.nodeid
        for each in self.caches:
            each.cache_clear()
        self.cover.switch_context(self.now)
        self.users[self.now].add(self.now)
        for made in item._fixtureinfo.name2fixturedefs.values():
            for fixture in made:
                self.users[f"{fixture.baseid}::{fixture.argname}"].add(self.now)
        began = _processor_time()
        yield
        self.seconds[self.now] = _processor_time() - began

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        if fixturedef.scope != "function":
            self.cover.switch_context(f"{fixturedef.baseid}::{fixturedef.argname}")
        yield
        self.cover.switch_context(self.now)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.failed.add(report.nodeid)


def _start_traced(function: Callable[..., object], *given: Any) -> int:
    """Start a thread as `_thread` does, and trace it as those of `threading` are."""

    def run(*arguments: Any, **named: Any) -> object:
        sys.settrace(threading.gettrace())
        return function(*arguments, **named)

    return _START(run, *given)


def record(rooms: Sequence[str], to: Path) -> int:
    """Run the rooms once, write what they touch, and give the code of pytest."""
    cover = importlib.import_module("coverage").Coverage(  # no dependency of memcli
        data_file=None, config_file=False, include=["memcli/*"]
    )
    recorder = _Recorder(cover)
    cover.start()
    _thread.start_new_thread = _start_traced  # before a module of memcli takes it from there
    limits = (f"--timeout={SLOWEST_SECONDS}", "-otimeout_func_only=true")
    code = pytest.main([*OPTIONS, *limits, *rooms], plugins=[recorder, FewExamples()])
    cover.stop()
    data = cover.get_data()
    numbers = {name: at for at, name in enumerate(recorder.seconds)}
    users = {
        context: {numbers[name] for name in names - recorder.failed}
        for context, names in recorder.users.items()
    }
    lines: dict[str, dict[str, list[int]]] = {}
    for file in data.measured_files():
        lines[os.path.relpath(file)] = {
            str(line): sorted({user for context in contexts for user in users.get(context, ())})
            for line, contexts in data.contexts_by_lineno(file).items()
        }
    to.write_text(json.dumps(Touched(list(numbers), recorder.seconds, lines)))
    for name in sorted(recorder.failed):
        sys.stdout.write(f"left out, as it fails, is skipped or takes too long: {name}\n")
    return int(code)


@cache
def _inner_lines(path: str) -> frozenset[int]:
    tree = ast.parse(Path(path).read_bytes())
    return frozenset(
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for line in range(node.body[0].lineno, (node.end_lineno or 0) + 1)
    )


@cache
def _uses(name: str) -> list[tuple[str, int]]:
    word = re.compile(rf"\b{name}\b")
    return [
        (path.as_posix(), number)
        for path in Path("memcli").rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if word.search(line)
    ]


def touching(mutant: Mutant, touched: Touched) -> set[int]:
    """Give the tests that touch the lines of a mutant."""
    lines = touched.lines.get(mutant.path, {})
    return {n for line in mutant.lines for n in lines.get(str(line), ())}


def choose(mutant: Mutant, touched: Touched, seconds: float) -> list[str]:
    """Give the tests that can feel a mutant: those of its room, then the others.

    Of both the fastest, and then of each file in turn, as what feels a line that all touch may
    stand in any; each within `seconds` of processor time.
    """
    found = touching(mutant, touched) if mutant.inside else set()
    run = touched.lines.get(mutant.path, {})
    if mutant.inside and not any(str(line) in run for line in mutant.lines):
        return []
    if not found:  # what runs when the module is loaded
        uses = [use for name in mutant.names for use in _uses(name)]
        module = [(mutant.path, line) for line in _inner_lines(mutant.path)]
        places = [(path, line) for path, line in uses if line in _inner_lines(path)] or module
        found = {n for path, line in places for n in touched.lines.get(path, {}).get(str(line), ())}
    if not found:
        found = {n for file in touched.lines.values() for tests in file.values() for n in tests}
    room = f"tests/{mutant.path.split('/')[1]}/"
    chosen: dict[str, None] = {}
    for is_near in (True, False):
        names = [touched.names[n] for n in found if touched.names[n].startswith(room) == is_near]
        names.sort(key=touched.seconds.__getitem__)
        turns = Counter[str]()
        turn = {}
        for name in names:
            file = name.partition("::")[0]
            turn[name] = turns[file]
            turns[file] += 1
        for ordered in (names, sorted(names, key=turn.__getitem__)):
            total = 0.0
            for name in ordered:
                total += touched.seconds[name] * (name not in chosen)
                if chosen and total > seconds:
                    break
                chosen[name] = None
    return list(chosen)
