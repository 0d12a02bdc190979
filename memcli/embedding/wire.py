"""One connection to one server: POST requests with a time and a size limit, without redirects.

The caller interprets the answers.
"""

from __future__ import annotations

import socket
import ssl
from contextlib import closing, suppress
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection, RemoteDisconnected
from threading import Event

from memcli.embedding.distrust import distrusted
from memcli.embedding.server import Reply, Server
from memcli.errors import RetrieverError
from memcli.threads import within

# What a server that has closed a connection is known by; by TLS many say no goodbye.
_CLOSED = (RemoteDisconnected, ConnectionResetError, BrokenPipeError, ssl.SSLEOFError)


class Wire:
    """Keeps a connection open between requests."""

    def __init__(self, server: Server, key: str, timeout_seconds: float) -> None:
        """Take a server and its key, which may be empty. No connection is made."""
        self._connection: HTTPConnection | None = None
        self._server, self._where = server, server.address()
        self._timeout = timeout_seconds
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    def __del__(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def post(self, body: bytes, most: int) -> Reply:
        """Send a request and read at most `most` bytes of the answer.

        On a connection that the server has closed meanwhile it is sent once more. Raises
        RetrieverError where the server cannot be reached, or where all of that, from the
        look-up of its name to the last byte of the answer, takes longer than the timeout.
        """
        kept, self._connection = self._connection, None
        used = [kept or self._new_connection()]
        is_over = Event()
        send = partial(self._send, used, is_over, body, most, is_kept=kept is not None)
        try:
            reply = within(self._timeout, send)
        except BaseException as error:
            is_over.set()
            _break_off(used[-1])
            # An address without a host name or a path raises a ValueError.
            if isinstance(error, OSError | HTTPException | ValueError):
                raise self._unreachable(error) from None
            raise
        self._connection = used[-1]
        return reply

    def _send(
        self, used: list[HTTPConnection], is_over: Event, body: bytes, most: int, *, is_kept: bool
    ) -> Reply:
        """Send on the kept connection, or on a new one if that is dead."""
        try:
            try:
                return self._exchange(used[-1], body, most)
            except _CLOSED:
                if not is_kept or is_over.is_set():
                    raise
            used[-1].close()
            used.append(self._new_connection())
            return self._exchange(used[-1], body, most)
        finally:
            if is_over.is_set():  # the caller has stopped waiting
                _break_off(used[-1])

    def _new_connection(self) -> HTTPConnection:
        kind = HTTPSConnection if self._where.scheme == "https" else HTTPConnection
        return kind(self._where.hostname or "", self._where.port, timeout=self._timeout)

    def _exchange(self, connection: HTTPConnection, body: bytes, most: int) -> Reply:
        query = f"?{self._where.query}" if self._where.query else ""
        path = f"{self._where.path.rstrip('/')}/{self._server.verb}{query}"
        connection.request("POST", path, body, self._headers)
        with closing(connection.getresponse()) as response:
            read, headers = response.read(most + 1), response.headers
        if len(read) > most:
            raise OSError("the answer is far larger than what was asked for")
        retry_after, location = headers.get("Retry-After", ""), headers.get("Location", "")
        return Reply(response.status, retry_after, location, bytes(read))

    def _unreachable(self, error: Exception) -> RetrieverError:
        if isinstance(error, ssl.SSLError) and not isinstance(error, TimeoutError):
            return distrusted(error, self._where.netloc, self._server)
        if isinstance(error, TimeoutError):
            why = f"no answer within {self._timeout:g} s"
        elif isinstance(error, HTTPException) and not isinstance(error, OSError):
            why = "it does not answer in HTTP"  # what it says instead is not ours to show
        else:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return RetrieverError(
            f"{self._where.netloc} cannot be reached: {why}",
            hint=f"look at {self._server.table}.url, or try again: {self._server.again}",
        )


def _break_off(connection: HTTPConnection) -> None:
    """Close a connection and end the wait of a thread that still reads from it."""
    with suppress(OSError, AttributeError):  # a connection that was never made has no socket
        connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
