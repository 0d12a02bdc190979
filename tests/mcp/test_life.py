"""How a server begins and ends: what it waits for, and that nothing keeps it behind its client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import pytest

from memcli.errors import install_extra
from tests.commands import NewWorkspace
from tests.support import by_night

SERVING = str(Path(__file__).parent / "serving.py")
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}
# A question is embedded, and nothing else is: words alone have a confidence in these tests.
BY_WORDS = {"MEMCLI_EMBEDDING_ENCODER": "hashing", "MEMCLI_SYNC_SEGMENTS": "0"}
# The promise is a second; the machine of the tests may be busy with others.
SOON = 4.0
# Starts a server with pipes of its own, writes what it answers to a list, and goes on.
CLIENT = """
import subprocess, sys
server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
server.stdin.write(sys.argv[1] + chr(10))
server.stdin.flush()
sys.stdout.write(server.stdout.readline())
sys.stdout.flush()
sys.stdin.read()
"""


@pytest.fixture
def notes(workspaces: Path, workspace: NewWorkspace) -> Path:
    return workspace(workspaces / "engineer", name="engineer")


Serve = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start the servers of a test, which leaves none behind."""
    started: list[subprocess.Popen[str]] = []

    def start(
        *arguments: str, environ: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, SERVING, "mcp", *arguments],
            env={**os.environ, **BY_WORDS, **(environ or {})},
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A shell has what it starts in the background ignore Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            with suppress(BrokenPipeError):  # what is left in the buffer has no reader
                _pipe(stream).close()
        process.wait()


def _request(number: int, method: str, **params: Any) -> str:
    params["_meta"] = MODERN
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def _search(number: int, query: str) -> str:
    arguments = {"query": query}
    return _request(number, "tools/call", name="memory_search", arguments=arguments)


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def _send(server: subprocess.Popen[str], *lines: str) -> None:
    stdin = _pipe(server.stdin)
    stdin.write("".join(f"{line}\n" for line in lines))
    stdin.flush()


def _answer(server: subprocess.Popen[str]) -> dict[str, Any]:
    found = json.loads(_pipe(server.stdout).readline())
    assert isinstance(found, dict)
    return found


def _said(answer: dict[str, Any]) -> str:
    return str(answer["result"]["content"][0]["text"])


def _left(server: subprocess.Popen[str]) -> tuple[int, float]:
    """Close the pipe to a server, and give its exit code and how long it took."""
    began = time.monotonic()
    _pipe(server.stdin).close()
    return server.wait(timeout=60), time.monotonic() - began


def _asked_at_the_gate(notes: Path, tmp_path: Path, serve: Serve) -> subprocess.Popen[str]:
    """Start a server whose second call waits until somebody opens the gate for writing.

    Everything is embedded, or an answer by words would not wait for the vector of the question.
    """
    os.mkfifo(tmp_path / "gate")
    environ = {"MEMCLI_TEST_GATE": str(tmp_path / "gate"), "MEMCLI_SYNC_SEGMENTS": "200"}
    server = serve("-w", str(notes), environ=environ)
    _send(server, _search(1, "pool"))
    _answer(server)
    _send(server, _search(2, "gate"))
    return server


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGINT, *by_night(signal.SIGTERM, signal.SIGHUP)])
def test_a_signal_ends_a_server_at_once_also_in_a_call(
    notes: Path, tmp_path: Path, serve: Serve, number: signal.Signals
) -> None:
    server = _asked_at_the_gate(notes, tmp_path, serve)
    with (tmp_path / "gate").open("w"):  # once the call waits there
        server.send_signal(number)
        out, err = server.communicate(timeout=60)
    assert (server.returncode, out) == (-number, "")
    assert "Traceback" not in err


def test_a_call_that_is_cancelled_gets_no_answer_and_holds_nobody_up(
    notes: Path, tmp_path: Path, serve: Serve
) -> None:
    server = _asked_at_the_gate(notes, tmp_path, serve)
    with (tmp_path / "gate").open("w"):  # once the call waits there
        note = {"method": "notifications/cancelled", "params": {"requestId": 2, "_meta": MODERN}}
        _send(server, json.dumps({"jsonrpc": "2.0", **note}), _search(3, "pool"))
        assert _answer(server)["id"] == 3
    _send(server, _search(4, "carrier"))
    assert _answer(server)["id"] == 4
    _send(server, _search(5, "another gate"))
    with (tmp_path / "gate").open("w"):  # a call that goes on keeps no server
        code, seconds = _left(server)
    assert (code, seconds < SOON) == (0, True)


def test_a_client_that_no_longer_reads_keeps_no_server(notes: Path, serve: Serve) -> None:
    server = serve("-w", str(notes))
    get = {"name": "memory_get", "arguments": {"path": "memory/2025-06-12-incident-review.md"}}
    _send(server, *(_request(number, "tools/call", **get) for number in range(200)))
    _answer(server)  # it writes, and the pipe will be full
    code, seconds = _left(server)
    assert (code, seconds < SOON) == (0, True)


def test_a_killed_client_takes_its_server_with_it(notes: Path, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    server = [sys.executable, SERVING, "mcp", "-w", str(notes)]
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, _search(1, "pool"), *server],
        env={**os.environ, **BY_WORDS, "MEMCLI_TEST_PID": str(pid)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert json.loads(_pipe(client.stdout).readline())["id"] == 1
    began = time.monotonic()
    client.kill()
    client.communicate(timeout=60)  # both share stderr, which is at its end when both are gone
    assert time.monotonic() - began < SOON
    assert not Path(f"/proc/{pid.read_text()}").exists() or _is_dead(pid.read_text())


def _is_dead(pid: str) -> bool:
    """Tell that nobody has asked yet how a process ended."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in ("Z", "X")


def test_lists_are_answered_without_a_workspace(tmp_path: Path, notes: Path, serve: Serve) -> None:
    folder = tmp_path / "later"
    server = serve("-w", str(folder))
    _send(server, _request(1, "tools/list"), _search(2, "pool"))
    assert len(_answer(server)["result"]["tools"]) == 3
    refused = _answer(server)
    assert refused["result"]["isError"] is True
    assert _said(refused) == f"-w: there is no folder '{folder}'"
    notes.rename(folder)
    _send(server, _search(3, "pool"))
    assert _said(_answer(server)).startswith("match: strong; index: up to date")


@pytest.mark.parametrize(
    "environ",
    [
        {"CLAUDE_PROJECT_DIR": "engineer/memory"},
        {"CLAUDE_PROJECT_DIR": "elsewhere", "MEMCLI_WORKSPACE": "engineer"},
    ],
)
def test_the_folder_of_the_agent_is_searched_where_none_is_named(
    notes: Path, tmp_path: Path, environ: dict[str, str], serve: Serve
) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    server = serve(
        environ={name: str(tmp_path / folder) for name, folder in environ.items()}, cwd=elsewhere
    )
    _send(server, _search(1, "pool"))
    assert "memory/2025-06-12-incident-review.md:10-18 | " in _said(_answer(server))


NO_MESSAGES = (
    ("no JSON", -32700, None),
    ("\x00\ufffd", -32700, None),
    ("{not json", -32700, None),
    ('{"jsonrpc": "2.0", "id": 7', -32700, None),
    ("[]", -32600, None),
    ("[1, 2]", -32600, None),
    ("{}", -32600, None),
    ('{"id": 5, "method": "tools/list"}', -32600, 5),
    ('{"jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": []}', -32600, "a"),
    ('{"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"}', -32600, None),
    ('{"jsonrpc": "2.0", "id": null, "method": "tools/list"}', -32600, None),
)


def test_what_is_no_message_gets_an_error_and_half_a_character_an_answer(
    notes: Path, serve: Serve
) -> None:
    """A program that cuts a text may cut a character, and JSON can say it."""
    server = serve("-w", str(notes))
    for line, code, number in NO_MESSAGES:
        _send(server, "", line)
        refused = _answer(server)
        assert (refused["id"], refused["error"]["code"]) == (number, code), line
    for query in ("pool", "pool \ud83d", "\udc00pool", "pool \U0001f3ca", "pool \\ud83d"):
        _send(server, _search(1, query))
        said = _said(_answer(server))
        assert said.startswith("match: strong; index: up to date") or query != "pool"
        assert "memory/2025-06-12-incident-review.md:10-18 | " in said
    code, seconds = _left(server)  # it ends with its input
    assert (code, seconds < SOON) == (0, True)


@pytest.mark.parametrize("module", ["mcp", "mcp_types", "anyio"])
def test_what_the_server_is_built_on_is_named_where_it_is_missing(
    module: str, serve: Serve
) -> None:
    server = serve(environ={"MEMCLI_TEST_WITHOUT": module})
    package = module.removesuffix("_types")
    out, err = server.communicate(timeout=60)
    assert (server.returncode, out) == (2, "")
    assert err == (
        f"memcli: the MCP server needs the package {package}, which is not installed\n"
        f"Try: {install_extra('mcp')}\n"
    )


def test_closed_pipes_are_said() -> None:
    done = subprocess.run(
        ["sh", "-c", '"$0" "$1" mcp <&-', sys.executable, SERVING],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "a server speaks over stdin and stdout, and one of them is closed" in done.stderr
