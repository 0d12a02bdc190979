"""`memcli mcp`: give an agent the notes as MCP tools, over stdin and stdout."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from types import ModuleType

from memcli.api.open import open_workspaces
from memcli.api.workspace import current_folder
from memcli.api.workspaces import Selection, Workspaces
from memcli.checking import TYPE_CHECKING
from memcli.cli import options as rows
from memcli.cli.command_context import command_context
from memcli.cli.options import Option, Options
from memcli.errors import ExitCode, UsageError, install_extra

if TYPE_CHECKING:
    from threading import Event

    from memcli.mcp.shared_memory import SharedMemory

# How long a running call, or a client that no longer reads, may delay the end of the server.
END_SECONDS = 0.7
_AT_A_TERMINAL = (
    "Waiting for an agent on stdin; Ctrl-D ends it. To set one up: memcli help agent-setup\n"
)


OPTIONS = (
    Option("--structured", "Also answer with JSON."),
    Option("--write", "Let the agent save, correct and forget notes."),
    rows.WORKSPACE, rows.EVERYWHERE, rows.WORKSPACE_NAME, rows.TENANT, rows.AGENT_MEMORIES,
    rows.QUIET, rows.VERBOSE, rows.COLOR, rows.DEBUG,
)  # fmt: skip


def run(options: Options) -> int:
    """Run the MCP server over stdin and stdout.

    The agent starts and stops it. See: memcli help agent-setup

    Examples: memcli mcp -w notes -w @work      memcli mcp --tenant team
    """
    from memcli.mcp.pipes import take_pipes

    if os.isatty(0) and not options.quiet:
        sys.stderr.write(_AT_A_TERMINAL)
    is_stored = options.workspace_name is not None or options.tenant is not None
    if is_stored and options.write:
        raise UsageError(
            "--write adds notes to files, and those of a shared index are elsewhere",
            hint="memcli mcp --write -w FOLDER",
        )
    incoming, outgoing = take_pipes()
    server = _server()
    from threading import Thread

    Thread(target=_end_behind, args=(incoming.ended,), daemon=True).start()
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        # Ctrl-C ends the process; otherwise it would wait for the next line of its client.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    memory = shared_memory(options)
    named = {"structured": options.structured, "writes": options.write}
    server.serve(memory, incoming, outgoing, **named)
    return ExitCode.OK


def shared_memory(options: Options) -> SharedMemory:
    """Make the memory that the calls share, of the workspaces that the options name."""
    from memcli.mcp.shared_memory import SharedMemory

    folders, everywhere = options.workspace or (), bool(options.everywhere)
    are_several = everywhere or len(folders) > 1
    is_stored = options.workspace_name is not None or options.tenant is not None

    def opened(folder: str | None) -> Workspaces:
        here = folder or os.environ.get("CLAUDE_PROJECT_DIR")
        if is_stored or not are_several or not folders:
            return command_context(options, here=here).memory
        selected = Selection(
            tuple(folders), everywhere, with_shared=False, here=here, may_miss=True,
            settings=options.settings,
        )  # fmt: skip
        return open_workspaces(selected)

    def of_folder(folder: str) -> Workspaces:
        return command_context(options.having(workspace=None, everywhere=False), here=folder).memory

    def names() -> Sequence[str]:
        if is_stored or not are_several:
            return [each.name for each in memory.opened().members] if options.tenant else ()
        from memcli.api.several_workspaces import folders_of, own_first

        by_name = folders_of(folders, os.environ, everywhere=everywhere, may_miss=True)
        return [name for name, _ in own_first(by_name, os.environ, here)]

    here = os.environ.get("CLAUDE_PROJECT_DIR") or current_folder()
    roots = [each for each in folders or (here,) if each and not each.startswith("@")]
    memory = SharedMemory(
        opened, names, open_folder=None if is_stored else of_folder, roots=roots,
        may_move=not (folders or everywhere or is_stored),
    )  # fmt: skip
    return memory


def _server() -> ModuleType:
    """Load the server; UsageError without the package that it is built on."""
    try:
        from memcli.mcp import server
    except ModuleNotFoundError as error:
        package = (error.name or "memcli").partition(".")[0]
        if package == "memcli":
            raise
        package = package.removesuffix("_types")  # a module of the package mcp
        raise UsageError(
            f"the MCP server needs the package {package}, which is not installed",
            hint=install_extra("mcp"),
        ) from None
    return server


def _end_behind(ended: Event) -> None:
    """End the process after its client, whatever it is doing."""
    from threading import Event

    ended.wait()
    Event().wait(END_SECONDS)
    os._exit(ExitCode.OK)
