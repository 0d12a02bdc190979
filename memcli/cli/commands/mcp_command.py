"""`memcli mcp`: give an agent the memory as tools, over its pipes."""

from __future__ import annotations

import os
import signal
import sys

from memcli.checking import TYPE_CHECKING
from memcli.cli.skin import Shared, make_skin
from memcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from threading import Event
    from types import ModuleType
    from typing import Annotated

    import typer

    from memcli.api.memory import Memory
    from memcli.cli import options

# A call that goes on, and a client that reads no longer, keep a server no longer than this.
END_SECONDS = 0.7
_AT_A_TERMINAL = "Waiting for an agent on stdin; Ctrl-D ends it. To wire it: memcli help agents\n"


def command(
    structured: Annotated[
        bool, typer.Option("--structured", help="Answer with JSON beside the text.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Let the agent append notes: memory_remember.")
    ] = False,
    workspace: options.Workspace = None,
    everywhere: options.Everywhere = False,
    presets: options.Presets = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    debug: options.Debug = False,
) -> int:
    """Give an agent the memory as tools, over its pipes: a server of the Model Context Protocol.

    The agent starts it and ends it; see: memcli help agents

    Examples: memcli mcp      memcli mcp -w notes -w @work
    """
    from memcli.mcp.pipes import take_pipes

    shared = Shared(workspace, quiet, verbose, color, None, everywhere)
    if os.isatty(0) and not quiet:
        sys.stderr.write(_AT_A_TERMINAL)
    pipes = take_pipes()
    server = _server()
    from threading import Thread

    from memcli.mcp.held import HeldMemory

    are_several = everywhere or len(workspace or ()) > 1

    def opened(folder: str | None) -> Memory:
        here = folder or os.environ.get("CLAUDE_PROJECT_DIR")
        settings = {"files.presets": presets}
        if not are_several:
            return make_skin(shared, settings, here=here).memory
        from memcli.api.several import open_several

        given = {name: value for name, value in settings.items() if value is not None}
        return open_several(
            workspace or (), everywhere=everywhere, settings=given, here=here, may_miss=True
        )

    def names() -> Sequence[str]:
        if not are_several:
            return ()
        from memcli.api.asked_folders import folders_of

        return [*folders_of(workspace or (), os.environ, everywhere=everywhere, may_miss=True)]

    Thread(target=_end_behind, args=(pipes.incoming.ended,), daemon=True).start()
    _end_at_once(signal.SIGINT)
    memory = HeldMemory(opened, names, may_move=not (workspace or everywhere))
    server.serve(memory, pipes, structured=structured, writes=write)
    return ExitCode.OK


def _end_at_once(number: int) -> None:
    """Let a signal end the process, which else waits for the next line of its client."""
    if signal.getsignal(number) is not signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


def _server() -> ModuleType:
    """Load the server; UsageError without the package that it is built on."""
    try:
        from memcli.mcp import server
    except ModuleNotFoundError as error:
        package = (error.name or "memcli").partition(".")[0]
        if package == "memcli":
            raise
        raise UsageError(
            f"the server speaks through the package mcp, and {package} is not installed",
            hint="pip install 'memcli[mcp]'",
        ) from None
    return server


def _end_behind(ended: Event) -> None:
    """End the process behind its client, whatever it is doing."""
    from threading import Event

    ended.wait()
    Event().wait(END_SECONDS)
    os._exit(ExitCode.OK)
