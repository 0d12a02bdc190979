"""Every command in every odd environment: exit codes hold, and 70 is for bugs alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from memcli.cli.main import run as run_here
from memcli.cli.program import COMMANDS
from memcli.errors import ExitCode
from tests.cli.processes import run
from tests.support import by_night, write

pytestmark = pytest.mark.skipif(os.name != "posix", reason="fork, descriptors, time zones")

REPOSITORY = str(Path(__file__).parents[2])
# Prepares the environment, then runs each command in a child of its own that is warm.
RUNNER = """
import gc, importlib, json, os, pkgutil, sys
out = os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o600), 20)
exec(sys.argv[2])
import memcli, markdown_it, typer, yaml
sys.path.insert(0, sys.argv[4])
from tests.hashing import register
register()
for found in pkgutil.walk_packages(memcli.__path__, "memcli."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
memcli.api.workspace._count_tokens("warm")
gc.freeze()
codes = []
for command in json.loads(sys.argv[3]):
    child = os.fork()
    if child == 0:
        sys.argv = ["memcli", *command]
        memcli.cli.main.main()
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os.write(20, json.dumps(codes).encode())
os._exit(0)
"""
# The clock says another time, to whoever asks.
CLOCK = """
import datetime, time
real = datetime.datetime
moment = real.fromisoformat("{}").replace(tzinfo=datetime.UTC)
since = int((moment - real(1970, 1, 1, tzinfo=datetime.UTC)).total_seconds()) * 10**9
class Far(real):
    @classmethod
    def now(cls, tz=None):
        return moment.astimezone(tz) if tz else moment.replace(tzinfo=None)
datetime.datetime, time.time_ns, time.time = Far, lambda: since, lambda: since / 1e9
"""
# Nothing in the workspace can be made, changed or removed.
READ_ONLY = """
import errno
def refusing(name, writes):
    real = getattr(os, name)
    def call(path, *rest, **named):
        inside = str(path).startswith(os.environ["MEMCLI_WORKSPACE"]) or named.get("dir_fd")
        if inside and writes(*rest):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        return real(path, *rest, **named)
    setattr(os, name, call)
for name in ("mkdir", "remove", "unlink", "rmdir", "rename", "replace", "link"):
    refusing(name, lambda *rest: True)
refusing("open", lambda flags, *rest: flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR))
import builtins
os_open, os.open = os.open, builtins.open
refusing("open", lambda mode="r", *rest: mode[0] in "wax")
builtins.open, os.open = os.open, os_open
"""
FULL = "os.dup2(os.open('/dev/full', os.O_WRONLY), {})"
LINES: dict[str, int] = dict.fromkeys((
    "index", "index --full --json", "search pool", "search yesterday --json --sync --explain",
    "context pool", "get memory/2025-01-01.md#A", "status --deep",
    "compact --apply --tail 0 --tail-days 0 --cluster 2 --ratio 0.9", "compact --verify",
    "compact --undo", "config set search.limit 5", "config", "init", "help files",
    "completion bash", "--help", "bench init", "bench check QUESTIONS --no-speed", "bench report",
    "ls --count kind", "ls --json --tag none", "related memory/2025-01-01.md:1", "mcp", "agents",
    "changes", "inbox", "changes pool --since 2025-01-01 -f markdown", "lint", "hook session-start",
    "hook prompt", "hook nosuch", "store init --print-sql",
), 0) | {
    "nosuch": 2, "search": 2, "get nosuch.md": 3, "related nosuch.md:1": 3, "pick pool": 2,
    "remember --undo": 1, "remember --check nosuch.md": 3, "get MEMORY.md --as-of HEAD": 2,
    "store status": 2, "store attach ops": 2,
}  # fmt: skip
# What needs no workspace, by its beginning and as a whole.
AWAY = (
    ("help", "--help", "completion", "nosuch", "hook"),
    ("search", "config", "mcp", "agents", "store status", "store init --print-sql"),
)


class Edge(NamedTuple):
    """An environment, and which commands end otherwise than they usually do there."""

    environ: dict[str, str]
    prepare: str = ""
    other: dict[int, tuple[str, ...]] = {}  # noqa: RUF012  (by exit code; nobody changes it)
    unset: tuple[str, ...] = ()

    def expected(self) -> dict[str, int]:
        found = dict(LINES)
        for code, beginnings in self.other.items():
            found |= dict.fromkeys((x for x in LINES if x.startswith(beginnings)), code)
        return found


GONE = "os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')"
LOST = {3: tuple(line for line in LINES if not line.startswith(AWAY[0]) and line not in AWAY[1])}
EDGES: dict[str, Edge] = {
    "as usual": Edge({}),
    "a zone of 99 hours": Edge({"TZ": "XXX-99:99"}),
    "a zone of -99 hours": Edge({"TZ": "XXX99:99"}),
    "a zone that is a device": Edge({"TZ": ":/dev/zero"}),
    "a zone that is no text": Edge({"TZ": "\udcff"}),
    "the last second": Edge({"TZ": "XXX-14"}, CLOCK.format("9999-12-31T23:59:59")),
    "a clock after the index's last year": Edge({}, CLOCK.format("2300-01-01")),
    "a clock before the index's first year": Edge({}, CLOCK.format("1600-01-01")),
    "the first second": Edge({"TZ": "XXX+12"}, CLOCK.format("0001-01-01")),
    "messages to a full disk": Edge({}, FULL.format(2)),
    "answers to a full disk": Edge(
        {}, FULL.format(1),
        {2: ("index --full --json", "search", "context", "get mem", "status", "compact --apply",
             "compact --undo", "config", "help", "--help", "completion", "bench report", "ls",
             "related mem", "agents", "store init", "changes pool"),
         0: ("config set",)},
    ),
    "no input": Edge({}, "os.close(0)", {2: ("mcp",)}),
    "no output": Edge({}, "os.close(1); sys.stdout = None"),
    "no messages": Edge({}, "os.close(2); sys.stderr = None"),
    "no streams": Edge({}, "os.closerange(0, 3); sys.stdin = sys.stdout = sys.stderr = None"),
    "a deleted folder": Edge({}, GONE),
    "a deleted folder, no workspace": Edge({"MEMCLI_WORKSPACE": ""}, GONE, LOST),
    "a deleted folder, a relative one": Edge(
        {"MEMCLI_WORKSPACE": "notes"}, GONE, {3: (*LOST[3], "config", "store")}
    ),
    "a read-only workspace": Edge(
        {}, READ_ONLY, {2: ("compact --apply", "config set", "bench init")}
    ),
    "no home": Edge({}, unset=("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "PATH", "LANG")),
    "a cache that is a file": Edge(
        {"XDG_CACHE_HOME": "/dev/null"}, "",
        {4: ("index", "search p", "search y", "context", "compact --apply", "compact --undo",
             "bench check", "ls", "related mem"), 3: ("bench report", "get n")},
    ),
    "a store that is a folder": Edge(
        {"MEMCLI_STORE": "../folder"}, "os.mkdir('folder')",
        {4: ("index", "search p", "search y", "context", "status", "bench check", "ls",
             "related mem"),
         3: ("bench report", "get n")},
    ),
    "a strange terminal": Edge(
        {"TERM": "\x1b[31m", "COLUMNS": "9" * 5000, "LC_ALL": "xx_YY.ascii", "NO_COLOR": "1",
         "PYTHONIOENCODING": "ascii", "FORCE_COLOR": "-1", "VTE_VERSION": "٣" * 5000}
    ),
    "no rights for others": Edge({}, "os.umask(0o077)"),
}  # fmt: skip


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for day in range(1, 6):
        text = f"# A\n\n- We decided number {day}: the pool is dry.\n" + f"- padding {day}\n" * 30
        write(tmp_path / "notes", f"memory/2025-01-0{day}.md", text)
    question = {"query": "pool", "relevant": [{"path": "memory/2025-01-01.md"}], "draft": False}
    write(tmp_path, "questions.jsonl", json.dumps({"id": "1", **question}) + "\n")
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    monkeypatch.setenv("MEMCLI_WORKSPACE", str(tmp_path / "notes"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "notes"


def test_every_command_stands_in_the_table() -> None:
    assert {line.split()[0] for line in LINES} >= {*COMMANDS, "--help"}


# Each starts some forty commands: this is tried every time, the others at night.
USUAL = ("answers to a full disk",)


@pytest.mark.parametrize(
    "name", [*USUAL, *by_night(*(name for name in EDGES if name not in USUAL))]
)
def test_exit_codes_hold_at_the_edges(notes: Path, name: str) -> None:
    edge = EDGES[name]
    questions = str(notes.parent / "questions.jsonl")
    commands = [line.replace("QUESTIONS", questions).split() for line in LINES]
    told = notes.parent / "codes.json"
    environ = {k: v for k, v in os.environ.items() if k not in edge.unset} | edge.environ
    done = subprocess.run(
        [sys.executable, "-Pc", RUNNER, str(told), edge.prepare, json.dumps(commands), REPOSITORY],
        env=environ, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    found = dict(zip(LINES, json.loads(told.read_text()), strict=True))
    for trace in (b"Traceback", b"internal error", b"Exception ignored"):
        assert trace not in done.stderr, done.stderr.decode()
    assert found == edge.expected(), done.stderr.decode()


NUMBERS = (
    "search pool --limit", "search pool --budget", "search pool --min-score", "context --budget",
    "context --tail", "context pool --tail", "compact --tail", "compact --tail-days",
    "compact --cluster", "compact --ratio", "get memory/2025-01-01.md --from",
    "get memory/2025-01-01.md --lines", "bench init --limit",
)  # fmt: skip
VALUES = (
    "0", "-1", "1", "1000000", "999999999999999", "9" * 30, "9" * 5000, "nan", "inf", "1e999",
    "0x10", "１", "", " ", "1_0",
)  # fmt: skip


@pytest.mark.parametrize("line", NUMBERS)
def test_any_number_is_a_number_or_a_usage_error(
    notes: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run_here(["index", "-q"])
    for value in VALUES:
        code = run_here([*line.split(), value])
        told = capsys.readouterr().err
        expected = (ExitCode.OK, ExitCode.USAGE, ExitCode.NOT_FOUND)  # a line that is not there
        assert code in expected[: 3 if line.endswith("--from") else 2], (
            line,
            value[:40],
            code,
            told,
        )
    for target in ("1-" + "9" * 5000, "9" * 5000, "0" * 5000 + "2", "٣", "1-2-3", "-1", "0-0"):
        code = run_here(["get", f"memory/2025-01-01.md:{target}"])
        assert code in (ExitCode.OK, ExitCode.USAGE, ExitCode.NOT_FOUND), target[:9]
        capsys.readouterr()


def test_times_that_an_index_cannot_hold_are_bounded(notes: Path) -> None:
    for day, seconds in ((1, 1 << 34), (2, -(1 << 31)), (3, 1 << 33)):
        os.utime(notes / "memory" / f"2025-01-0{day}.md", ns=(0, seconds * 10**9))
    assert run("index").stderr.startswith("Indexed: 5 added;")
    for command in ("index", "search pool", "status --check", "index --full"):
        done = run(*command.split())
        assert (done.returncode, "internal" in done.stderr) == (0, False), done.stderr
    assert "5 unchanged" in run("index").stderr


# Interrupts itself when the n-th module is imported, twice if need be.
INTERRUPTED = """
import os, signal, sys
left = int(sys.argv.pop(1))
def hook(event, arguments):
    global left
    if event == "import" and left >= 0:
        left -= 1
        if left in (0, -1):
            os.kill(os.getpid(), signal.SIGINT)
from memcli.cli.entry import main
sys.addaudithook(hook)
main()
"""


@pytest.mark.parametrize("at", [1, 5, 20, 80])
def test_ctrl_c_is_quiet_from_the_first_import_on(
    notes: Path, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "bundled")
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(at), "search", "pool"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == ExitCode.INTERRUPTED, done.stderr
    assert done.stderr in ("", "memcli: interrupted\n")


def test_who_ignores_ctrl_c_goes_on_ignoring_it(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    program = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + INTERRUPTED
    for at in (1, 40):
        done = subprocess.run(
            [sys.executable, "-c", program, str(at), "index"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, "Indexed" in done.stderr) == (0, True)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
