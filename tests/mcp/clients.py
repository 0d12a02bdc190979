"""A client of the SDK and the server it talks to: a real process, real pipes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, chdir, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, ListRootsResult, Root, TextContent
from pydantic import FileUrl

from memcli.cli.commands.mcp_command import shared_memory
from memcli.cli.plain import plain_call
from memcli.errors import MemcliError
from memcli.language.tokens import measure
from memcli.mcp.server import MemoryServer
from tests.mcp.test_life import BY_WORDS

SERVING = str(Path(__file__).parent / "serving.py")
MODES = ("auto", "legacy")  # both eras of the protocol
T = TypeVar("T")


class Served(NamedTuple):
    """A server in a process of its own, and a client that is connected to it."""

    portal: BlockingPortal
    client: Client
    log: Path  # what it writes to stderr
    pid_file: Path

    def do(self, call: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        return self.portal.call(call, *arguments)

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return self.do(self.client.call_tool, tool, arguments)

    def text(self, tool: str, **arguments: Any) -> str:
        found = self.call(tool, **arguments)
        assert not found.is_error, text_of(found)
        return text_of(found)

    def error(self, tool: str, **arguments: Any) -> str:
        found = self.call(tool, **arguments)
        assert found.is_error
        return text_of(found)


def text_of(found: CallToolResult) -> str:
    (block,) = found.content
    assert isinstance(block, TextContent)
    return block.text


def price(served: Served) -> int:
    """Count the tokens of what a client tells its model of a server."""
    client = served.client
    told = [
        {"name": each.name, "description": each.description, "input_schema": each.input_schema}
        for each in served.do(client.list_tools).tools
    ]
    return measure(json.dumps(told, separators=(",", ":")) + (client.instructions or ""))


@contextmanager
def serve(
    base: Path, *arguments: str, mode: str = "auto", root: str = "", cwd: str = "", **environ: str
) -> Iterator[Served]:
    """Start a server that keeps its cache and its log below a folder, and connect to it.

    With a `root`, which the client has open, it starts in the home folder.
    """
    parameters = StdioServerParameters(
        command=sys.executable,
        args=[SERVING, "mcp", *arguments],
        env={**os.environ, **BY_WORDS, **_own(base), **environ},
        cwd=cwd or (base if root else None),
    )
    connected = _connected(parameters, mode, base / "log", root)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(connected) as client:
        yield Served(portal, client, base / "log", base / "pid")


@contextmanager
def serve_here(
    base: Path, *arguments: str, mode: str = "auto", cwd: str = "", **environ: str
) -> Iterator[Served]:
    """Connect to a server in this process: the same answers, without pipes and a start."""
    call = plain_call(["mcp", *arguments])
    assert call is not None
    with pytest.MonkeyPatch.context() as patch, chdir(cwd or Path.cwd()):
        for name, value in {**BY_WORDS, **_own(base), **environ}.items():
            patch.setenv(name, value)
        memory = shared_memory(call.options)
        options = {"structured": call.options.structured, "writes": call.options.write}
        server = Client(MemoryServer(memory, **options).protocol(), mode=mode, cache=None)
        with start_blocking_portal() as portal:
            with portal.wrap_async_context_manager(server) as client:
                yield Served(portal, client, base / "log", base / "pid")
            with suppress(MemcliError):
                memory.opened().close()


def _own(base: Path) -> dict[str, str]:
    return {
        "HOME": str(base),
        "XDG_CACHE_HOME": str(base / "cache"),
        "XDG_CONFIG_HOME": str(base / "config"),
        "MEMCLI_TEST_PID": str(base / "pid"),
    }


@asynccontextmanager
async def _connected(
    parameters: StdioServerParameters, mode: str, log: Path, root: str
) -> AsyncIterator[Client]:
    async def roots(context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=FileUrl(Path(root).as_uri()))])

    with log.open("w") as errors:
        transport = stdio_client(parameters, errlog=errors)
        offered = roots if root else None
        async with Client(transport, mode=mode, cache=None, list_roots_callback=offered) as client:
            yield client
