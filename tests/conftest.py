from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Iterator
from importlib import import_module
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from memcli.embedding.models import FP32, locate
from tests.commands import NewWorkspace, printed
from tests.hashing import register
from tests.namespace import has_namespaces
from tests.postgres.server import PACKAGE, is_available

register()
# Deadlines depend on the machine. A default run tries the same 25 examples every time; `long` tries
# thousands, at random.
settings.register_profile("memcli", max_examples=25, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=4000, deadline=None, derandomize=False)
settings.load_profile("memcli")

# A script that starts the tests in the background may ignore Ctrl-C and the end of its terminal;
# every process would inherit that.
for name, handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
    number = getattr(signal, name, None)
    if number and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)

# If no bytecode may be written beside the sources, hundreds of processes would compile them.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="memcli-tests-")
    atexit.register(shutil.rmtree, os.environ["PYTHONPYCACHEPREFIX"], ignore_errors=True)

FIXTURES = Path(__file__).parents[1] / "fixtures" / "workspaces"
_numbers = count()  # of the folders of tests
# A real server, whose binaries no wheel brings to some platforms.
collect_ignore = [] if is_available() else ["postgres"]


def pytest_configure(config: pytest.Config) -> None:
    """Let every second process of a whole run import the tests from the last to the first.

    What one of two has compiled the other finds.
    """
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    if number % 2 and [Path(given).name for given in config.args] == ["tests"]:
        here = Path(__file__).parent
        for file in sorted(here.rglob("test_*.py"), reverse=True):
            if file.relative_to(here).parts[0] not in collect_ignore:
                import_module(".".join(file.relative_to(here.parent).with_suffix("").parts))


def _move_in(home: Path, environ: pytest.MonkeyPatch) -> None:
    """Let nothing read or write the real home folder, nor read the caller's MEMCLI_* variables."""
    for name in [name for name in os.environ if name.startswith("MEMCLI_")]:
        environ.delenv(name)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        environ.delenv(name, raising=False)
    environ.setenv("HOME", str(home))
    environ.setenv("XDG_CACHE_HOME", str(home / "cache"))
    environ.setenv("XDG_CONFIG_HOME", str(home / "config"))


@pytest.fixture(scope="session", autouse=True)
def _no_real_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what is made once for several tests away from the real home folder."""
    with pytest.MonkeyPatch.context() as environ:
        _move_in(tmp_path_factory.mktemp("home"), environ)
        yield


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    _move_in(_folder(tmp_path_factory, "homes", "home"), monkeypatch)


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A folder of its own; the fixture of pytest reads the names of all others to number it."""
    return _folder(tmp_path_factory, "tests", re.sub(r"\W", "_", request.node.name)[:30])


def _folder(factory: pytest.TempPathFactory, kind: str, name: str) -> Path:
    made = factory.getbasetemp() / kind / f"{name}{next(_numbers)}"
    made.mkdir(mode=0o700, parents=True)
    return made


@pytest.fixture(scope="session")
def workspaces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of all fixture workspaces; tests that write copy one once more."""
    return Path(shutil.copytree(FIXTURES, tmp_path_factory.mktemp("fixtures") / "workspaces"))


@pytest.fixture(scope="session")
def compacted(workspaces: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace `engineer` with five summaries of its older logs; tests copy it."""
    notes = tmp_path_factory.mktemp("compacted") / "engineer"
    shutil.copytree(workspaces / "engineer", notes)
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
        printed("compact", "-w", str(notes), "--now", "2026-02-20", "--tail", "4",
                "--tail-days", "0", "--ratio", "0.6", "--apply")  # fmt: skip
    return notes


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NewWorkspace:
    """Make a workspace: `workspace({"memory/a.md": "text"}, index=True, encoder="hashing")`."""
    return NewWorkspace(tmp_path, monkeypatch)


def pytest_report_header() -> list[str]:
    """Name what is not tested on this machine, and why."""
    missing = []
    if not locate(models=(FP32,)):
        missing.append("not tested: the FP32 weights, which are not installed")
    if not has_namespaces():
        missing.append("not tested: connections of native code, as the system gives no namespace")
    if not is_available():
        missing.append(f"not tested: a shared index and tests/postgres, as there is no {PACKAGE}")
    return missing
