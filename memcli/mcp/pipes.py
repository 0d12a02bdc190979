"""The pipes of the protocol, taken away from everybody else in the process.

What native code or a library writes to descriptor 1 would be read as a message, and a client that
meets one it cannot read gives the server up.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from io import TextIOWrapper
from threading import Event

from memcli.checking import TYPE_CHECKING
from memcli.errors import UsageError
from memcli.record import Record

if TYPE_CHECKING:
    from typing import TextIO


class Incoming(TextIOWrapper):
    """Lines of a client; `ended` is set where there will be no more."""

    ended: Event

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """Read a line; "" at the end, and where the pipe is broken."""
        line = ""
        with suppress(OSError):
            line = super().readline(size)
        if not line:
            self.ended.set()
        return whole(line) if "\\ud" in line.lower() else line


def whole(line: str) -> str:
    """Put a mark where JSON has half of a character, as of a text that a program has cut.

    The SDK drops such a message, and its sender would wait for an answer.
    """
    try:
        written = json.dumps(json.loads(line), ensure_ascii=False)
    except (ValueError, RecursionError):
        return line
    return written.encode("utf-8", "replace").decode("utf-8") + "\n"


class Pipes(Record):
    """Where the client writes, and where it reads."""

    incoming: Incoming
    outgoing: TextIO


def take_pipes() -> Pipes:
    """Take descriptors 0 and 1: whoever reads 0 finds its end, and 1 leads to stderr.

    UsageError where there is no pipe to take.
    """
    try:
        source, sink = os.dup(0), os.dup(1)
    except OSError:
        raise UsageError(
            "a server speaks over stdin and stdout, and one of them is closed",
            hint="memcli help agent-setup",
        ) from None
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # nobody listens to messages either
        os.dup2(nothing, 1)
    os.close(nothing)
    incoming = Incoming(os.fdopen(source, "rb"), encoding="utf-8", errors="replace")
    incoming.ended = Event()
    return Pipes(incoming, TextIOWrapper(os.fdopen(sink, "wb"), encoding="utf-8"))
