"""Load memcli once and run each command in a fork, which saves the start of a process.

python tests/cli/loaded.py DESCRIPTOR      # a socket; tests/cli/processes.py is its other end
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import socket
import sys
import time
from pathlib import Path
from typing import Any


def load() -> None:
    """Import what commands import, except models."""

    import memcli
    from tests.hashing import register

    register()
    for found in pkgutil.walk_packages(memcli.__path__, "memcli."):
        if not found.name.endswith("__main__") and ".mcp" not in found.name:
            importlib.import_module(found.name)


def command(request: dict[str, Any], streams: list[int]) -> None:
    """Be the process of a command."""
    from memcli.cli import hook_reply
    from memcli.cli.main import main

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # As a process starts with them: a stream remembers what its descriptor was.
    sys.stdin = os.fdopen(0, "r", encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, "utf-8", errors="backslashreplace", closefd=False)
    os.environ.clear()
    os.environ.update(request["environ"])
    time.tzset()
    os.chdir(request["cwd"])
    sys.argv = ["memcli", *request["argv"]]
    if "MEMCLI_TEST_PATIENT" in os.environ:  # no machine is so busy that a hook is cut off
        hook_reply.LIMIT_SECONDS = 600.0
    main()


def serve(connection: socket.socket) -> None:
    """Take commands until the other end is closed."""
    while True:
        data, streams, _, _ = socket.recv_fds(connection, 1 << 20, 3)
        if not data:
            return
        child = os.fork()
        if not child:
            connection.close()
            return command(json.loads(data), streams)
        for stream in streams:
            os.close(stream)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.send(str(code).encode())


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])
    load()
    gc.freeze()  # a fork would copy what its collections touch
    serve(socket.socket(fileno=int(sys.argv[1])))
