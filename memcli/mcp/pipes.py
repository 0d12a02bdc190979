"""The pipes of the protocol, taken away from all other code in the process.

If native code or a library writes to descriptor 1, the client reads it as a message, and
disconnects if it is not one.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from io import TextIOWrapper
from threading import Event

from memcli.checking import TYPE_CHECKING
from memcli.errors import UsageError

if TYPE_CHECKING:
    from typing import TextIO


class Incoming(TextIOWrapper):
    """Lines of a client; `ended` is set at the end of the input."""

    ended: Event

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """Read a line; "" at the end, and if the pipe is broken."""
        line = ""
        with suppress(OSError):
            line = super().readline(size)
        if not line:
            self.ended.set()
        return whole(line) if "\\ud" in line.lower() else line


def whole(line: str) -> str:
    """Replace half of a character in JSON by a mark, as in a text that a program has cut.

    The SDK drops such a message, and the client would wait for an answer for ever.
    """
    try:
        written = json.dumps(json.loads(line), ensure_ascii=False)
    except (ValueError, RecursionError):
        return line
    return written.encode("utf-8", "replace").decode("utf-8") + "\n"


def take_pipes() -> tuple[Incoming, TextIO]:
    """Take descriptors 0 and 1: then 0 is empty for other code, and 1 leads to stderr.

    UsageError if one of them is closed.
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
    except OSError:  # no one reads messages either
        os.dup2(nothing, 1)
    os.close(nothing)
    incoming = Incoming(os.fdopen(source, "rb"), encoding="utf-8", errors="replace")
    incoming.ended = Event()
    return incoming, TextIOWrapper(os.fdopen(sink, "wb"), encoding="utf-8")
