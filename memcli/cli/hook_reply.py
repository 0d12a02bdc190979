"""Print exactly one JSON object for a hook: from the command, at its time limit, or at its end.

A failing hook can block an agent: Claude Code rejects the prompt after exit code 2. So a hook
always prints one object and exits with 0.
"""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock, start_new_thread
from contextlib import suppress

from memcli.checking import TYPE_CHECKING, Any
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Seconds that an agent waits for a hook, minus the start of Python on a busy machine.
LIMIT_SECONDS = 1.5
# The same for an event after which nobody waits for text: about ten notes on a busy machine. Agents
# stop a hook after five seconds.
COLLECTING_SECONDS = 3.5
_NOTHING = "{}\n"


class HookReply:
    """Writes one object to the original stdout."""

    def __init__(self) -> None:
        self._sink: int | None = None
        self._otherwise = _NOTHING  # what is written if the command writes nothing
        self._unwritten, self._forever = allocate_lock(), allocate_lock()
        self._forever.acquire()

    def take(self) -> None:
        """Redirect stdout to stderr, for libraries that print."""
        with suppress(OSError):  # the caller has closed it, so nobody reads
            sink = os.dup(sys.stdout.fileno())
            self._sink = sink
            with suppress(OSError):  # stderr is closed
                os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
                sys.stdout = sys.stderr  # it may wrongly report that it can seek

    def write(self, record: Mapping[str, Any]) -> None:
        """Write an object, unless one was written."""
        import json

        self._write(json.dumps(record) + "\n" if record else _NOTHING)

    def otherwise(self, record: Mapping[str, Any]) -> None:
        """Set the object that is written if the command is cut off or fails from now on."""
        import json

        self._otherwise = json.dumps(record) + "\n"

    def limit(self, seconds: float, text: str, end: Callable[[int], object] = os._exit) -> None:
        """End the process with `end` after some seconds, whatever it is doing.

        The message `text` goes to stderr.
        """

        def watch() -> None:
            self._forever.acquire(True, seconds)
            self._write(self._otherwise)
            with suppress(OSError):
                os.write(sys.stderr.fileno(), text.encode("ascii"))
            end(ExitCode.OK)

        start_new_thread(watch, ())

    def settle(self) -> int:
        """Write `{}`, or what was set, if the command wrote nothing; return the exit code."""
        self._write(self._otherwise)
        return ExitCode.OK

    def _write(self, text: str) -> None:
        if not self._unwritten.acquire(False):
            return
        sink = self._sink
        with suppress(OSError):  # nobody reads
            data = text.encode("ascii")
            while data:
                data = data[os.write(sys.stdout.fileno() if sink is None else sink, data) :]


REPLY = HookReply()  # in this process
