"""Run the tests that can feel a mutant, each mutant in a process of its own.

A mutant of a function takes the place of it in a process that parts from one where the tests are
collected, so that only the tests are paid for; one of a module is loaded anew with the tests.
"""

from __future__ import annotations

import gc
import math
import os
import resource
import signal
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from tests.mutants.places import Mutant
from tests.mutants.touched import OPTIONS, FewExamples, Touched

KILLED, SURVIVED, ENDLESS, UNTOUCHED = "killed", "survived", "endless", "touched by no test"
PYTEST = (*OPTIONS, "--timeout=0")
# Processor time of a child: what starting takes, and times what its tests take unchanged; so much
# longer by the clock, for what waits. Each test has its own, as most of what is endless is so soon.
START_SECONDS, SLOWER, WAITING = 10.0, 4.0, 4.0
TEST_SECONDS = 1.0
MEMORY = 8 << 30  # bytes of address space

Chooser = Callable[[Mutant], Sequence[str]]
Report = Callable[[Mutant, str], None]


class _Chosen:
    """A plugin of pytest that runs the tests that are named, in that order."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = {name: at for at, name in enumerate(names)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.names),
            key=lambda item: self.names[item.nodeid],
        )


class _Failures:
    """A plugin of pytest that remembers whether a test failed."""

    def __init__(self) -> None:
        self.any = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.any = self.any or report.failed


class Swapping:
    """A plugin of pytest that collects the tests and judges mutants of functions by them."""

    def __init__(
        self,
        mutants: Sequence[Mutant],
        choose: Chooser,
        touched: Touched,
        report: Report,
        *,
        idle: bool,
    ) -> None:
        self.mutants = mutants
        self.choose = choose
        self.touched = touched
        self.report = report
        self.idle = idle

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        failures = _Failures()
        session.config.pluginmanager.register(failures)
        functions: dict[str, list[FunctionType]] = defaultdict(list)
        for found in gc.get_objects():
            if type(found) is FunctionType:
                functions[found.__code__.co_filename].append(found)
        for mutant in self.mutants:
            names = [name for name in self.choose(mutant) if name in items]
            loaded = functions[str(Path(mutant.path).resolve())]

            def run(mutant: Mutant = mutant, names: Any = names, loaded: Any = loaded) -> int:
                if not self.idle:
                    _swap(mutant, loaded)
                for name, following in zip(names, [*names[1:], ""], strict=True):
                    _limit(TEST_SECONDS + SLOWER * self.touched.seconds[name])
                    session.config.hook.pytest_runtest_protocol(
                        item=items[name], nextitem=items.get(following)
                    )
                    if failures.any:
                        return 1
                return 0

            with _written(mutant, idle=self.idle):
                self.report(mutant, _verdict(run, names, self.touched))
        return True


def _swap(mutant: Mutant, loaded: Sequence[FunctionType]) -> None:
    """Give the functions of the file the code that it has now."""
    path = Path(mutant.path).resolve()
    found = {}
    rest: list[Any] = [compile(path.read_bytes(), str(path), "exec", dont_inherit=True)]
    while rest:
        code = rest.pop()
        if isinstance(code, CodeType):
            found[code.co_qualname, code.co_firstlineno] = code
            rest += code.co_consts
    for function in loaded:
        was = function.__code__
        with suppress(ValueError):  # of a function that shares one name less with its outer one
            function.__code__ = found.get((was.co_qualname, was.co_firstlineno), was)


def judge_loaded(mutant: Mutant, names: Sequence[str], touched: Touched, *, idle: bool) -> str:
    """Judge a mutant of what runs when its module is loaded."""
    files = list(dict.fromkeys(name.partition("::")[0] for name in names))
    plugins = [FewExamples(), _Chosen(names)]
    with _written(mutant, idle=idle):
        return _verdict(
            lambda: pytest.main([*PYTEST, "-x", *files], plugins=plugins), names, touched
        )


@contextmanager
def _written(mutant: Mutant, *, idle: bool) -> Iterator[None]:
    """Write the mutant to its file for a while, for the processes that the tests start."""
    path = Path(mutant.path)
    source, seen = path.read_bytes(), path.stat()
    if not idle:
        path.write_bytes(source[: mutant.start] + mutant.new.encode() + source[mutant.end :])
        # Or its bytecode would be taken.
        os.utime(path, (seen.st_atime, seen.st_mtime + 10))
    try:
        yield
    finally:
        path.write_bytes(source)
        os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))


def _verdict(work: Callable[[], int], names: Sequence[str], touched: Touched) -> str:
    if not names:
        return UNTOUCHED
    limit = START_SECONDS + SLOWER * sum(touched.seconds[name] for name in names)
    code = in_child(work, limit)
    if code in (None, -signal.SIGXCPU):
        return ENDLESS
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        return UNTOUCHED
    return KILLED if code else SURVIVED


def _limit(seconds: float) -> None:
    """End this process when it has taken so much processor time from now on."""
    end = math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (end, resource.RLIM_INFINITY))


def in_child(work: Callable[[], int], seconds: float, *, loud: bool = False) -> int | None:
    """Run in a process of its own group and give its code; none when its time was over."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        code = 70
        try:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            _limit(seconds)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
            if not loud:
                nowhere = os.open(os.devnull, os.O_RDWR)
                for stream in range(3):
                    os.dup2(nowhere, stream)
            code = work()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    end = time.monotonic() + WAITING * seconds
    ended: int | None = None
    try:
        while ended is None and time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                ended = os.waitstatus_to_exitcode(status)
            else:
                time.sleep(0.005)
    finally:  # whatever ends this process leaves none behind
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        if ended is None:
            os.waitpid(child, 0)
    return ended
