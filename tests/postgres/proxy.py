"""Stands between a client and a server: adds latency, or breaks off in the middle.

What a client sends at once is a message here. Which requests are in it is read as well: what asks
for an answer, Query and Sync of the protocol of PostgreSQL, is a round trip unless nobody waits.
https://www.postgresql.org/docs/current/protocol-message-formats.html
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

MOST_BYTES = 1 << 16
HEAD = 4  # bytes that tell the length of a message
ASKING = (b"Q", b"S")
VERSION = b"\0\3"  # of the protocol, in the message that begins
LONG_SECONDS = 60.0  # a thread that nobody has ended by then ends by itself


class Proxy:
    """Listens on a port of loopback and passes on what comes."""

    def __init__(
        self,
        port: int,
        *,
        delay: float = 0.0,
        instead: tuple[bytes, bytes] = (b"", b""),
        at: int = 0,
    ) -> None:
        """Take the port of the server, and how many seconds each message is kept for.

        Of what the server says, the first bytes of `instead` are passed on as the second.
        """
        self._server, self._delay, self._instead = port, delay, instead
        self._listener = socket.create_server(("127.0.0.1", at))
        self.port: int = self._listener.getsockname()[1]
        self.messages = self.requests = 0
        self.cut_at: int | None = None  # the message that is not passed on, or its reply
        self.loses = "message"
        self.before: dict[int, Callable[[], None]] = {}  # what is done before a message, by number
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self) -> None:
        """Take no more connections, and end those that are open."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._end()

    def until_passed(self) -> None:
        """Wait until all has been passed on of connections that the client has closed."""
        for thread in self._threads:
            thread.join(LONG_SECONDS)

    def _listen(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._server))
            except OSError:
                client.close()
                continue
            for end in (client, server):
                end.settimeout(LONG_SECONDS)
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open += (client, server)
            for source, target, passes in (
                (client, server, self._reading()),
                (server, client, self._is_heard),
            ):
                thread = threading.Thread(
                    target=self._pass_on, args=(source, target, passes), daemon=True
                )
                self._threads.append(thread)
                thread.start()

    def _reading(self) -> Callable[[bytes], bool]:
        """Give what reads the bytes of one client, and tells whether they are passed on."""
        unread, has_begun = b"", False

        def passes(data: bytes) -> bool:
            nonlocal unread, has_begun
            unread += data
            while len(unread) > HEAD:
                kind = unread[:1] if has_begun else b""
                end = len(kind) + int.from_bytes(unread[len(kind) : len(kind) + HEAD], "big")
                if len(unread) < end:
                    break
                self.requests += kind in ASKING
                # The first message has no kind; before it may come questions about encryption.
                has_begun = has_begun or unread[HEAD : HEAD + 2] == VERSION
                unread = unread[end:]
            self.messages += 1
            time.sleep(self._delay)
            self.before.get(self.messages, lambda: None)()
            return self.loses == "reply" or self.cut_at is None or self.messages < self.cut_at

        return passes

    def _is_heard(self, data: bytes) -> bool:
        return self.loses == "message" or self.cut_at is None or self.messages < self.cut_at

    def _pass_on(
        self, source: socket.socket, target: socket.socket, passes: Callable[[bytes], bool]
    ) -> None:
        with suppress(OSError):
            while data := source.recv(MOST_BYTES):
                if not passes(data):
                    self.close()
                    return
                said, heard = self._instead
                target.sendall(data.replace(said, heard) if said else data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _end(self) -> None:
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def proxy(
    port: int,
    *,
    delay: float = 0.0,
    cut_at: int | None = None,
    loses: str = "message",
    at: int = 0,
    do: Callable[[], None] = lambda: None,
) -> Iterator[Proxy]:
    """Stand before a server; at a message it, or the reply to it, is lost, or something is done."""
    made = Proxy(port, delay=delay)
    made.cut_at, made.loses, made.before = cut_at, loses, {at: do}
    try:
        yield made
    finally:
        made.close()
