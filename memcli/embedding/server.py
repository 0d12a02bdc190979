"""A configured model server: its address, its key, and its refusals.

No key is ever shown, and no redirect leads to another host. `endpoint` and
`rerankers` know the requests and answers.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection, RemoteDisconnected
from threading import Event
from urllib.parse import SplitResult, urlsplit

from memcli.errors import RetrieverError
from memcli.record import Record
from memcli.threads import within

_MESSAGE_CHARS = 200


class Reply(Record):
    """The answer of a server."""

    status: int
    retry_after: str
    location: str
    body: bytes


class Server(Record):
    """The settings of a server."""

    table: str  # the group of settings: openai | rerank
    verb: str  # the path after the URL
    topic: str  # the help topic
    again: str  # the command that tries again
    url: str
    model: str
    key: Callable[[], str | None]
    key_variable: str  # the name of the variable that `key` reads; "" for no key

    def address(self) -> SplitResult:
        """Parse the address; RetrieverError says what is wrong with it."""
        hint = f"memcli help {self.topic}"
        if not self.url:
            raise RetrieverError(
                f"{self.table}.url is not set in your own configuration", hint=hint
            )
        try:
            where = urlsplit(self.url)
            _ = where.port
        except ValueError as error:
            raise RetrieverError(
                f"{self.table}.url is not an address: {error}", hint=hint
            ) from error
        if where.scheme not in ("http", "https") or not where.hostname:
            raise RetrieverError(f"{self.table}.url must begin with https:// or http://", hint=hint)
        if where.username is not None:
            raise RetrieverError(
                f"{self.table}.url contains a name or a password",
                hint=f"put the key into a variable and its name into {self.table}.key_variable",
            )
        return where

    def read_key(self) -> str:
        """Read the key from its variable; empty if none is named. Raises RetrieverError."""
        if not self.key_variable:
            return ""
        key = (self.key() or "").strip()
        if not key:
            raise RetrieverError(
                f"the variable {self.key_variable} that {self.table}.key_variable names is not set",
                hint=f"export {self.key_variable}=...",
            )
        if not (key.isascii() and key.isprintable()):
            raise RetrieverError(
                f"the key in {self.key_variable} has characters that no key has",
                hint=f"export {self.key_variable}=... once more",
            )
        return key

    def refused(self, reply: Reply, message: str) -> RetrieverError:
        """Explain why a server refuses, and quote its own message."""
        host, status = urlsplit(self.url).netloc, reply.status
        if status in (401, 403):  # the server's message may repeat the key
            if not self.key_variable:
                return RetrieverError(
                    f"{host} wants a key (status {status})",
                    hint=f"set {self.table}.key_variable to the variable that contains it",
                )
            return RetrieverError(
                f"{host} refuses the key in {self.key_variable} (status {status})",
                hint=f"export {self.key_variable}=... with a key that is valid there",
            )
        if 300 <= status < 400:
            return RetrieverError(
                f"{host} redirects to {_host(reply.location)}, which memcli does not follow",
                hint=f"set {self.table}.url to the right place",
            )
        if status == 404:
            model = f" or no model {self.model}" if self.model else ""
            return RetrieverError(
                f"{self.url} has no /{self.verb}{model}" + (message and f": {message}"),
                hint=f"look at {self.table}.url and {self.table}.model: memcli help {self.topic}",
            )
        return RetrieverError(
            f"{host} refuses the request with status {status}" + (message and f": {message}"),
            hint=f"memcli help {self.topic}",
        )

    def broken(self, what: str) -> RetrieverError:
        """Return the error for a wrong answer."""
        return RetrieverError(
            f"the answer of {urlsplit(self.url).netloc} {what}",
            hint=f"look at {self.table}.url and {self.table}.model: memcli help {self.topic}",
        )


def message(body: bytes, key: str) -> str:
    """Return a server's error message, in one line and without the key."""
    try:
        answer = json.loads(body)
        words = answer.get("error", answer.get("message", answer.get("detail", "")))
        if isinstance(words, dict):
            words = words.get("message", "")
    except (ValueError, AttributeError, RecursionError):
        words = ""
    text = " ".join(words.split()) if isinstance(words, str) else ""
    if key:  # even with blanks in it
        text = re.sub(r"\s*".join(map(re.escape, key)), "[key]", text)
    return text[:_MESSAGE_CHARS]


def _host(location: str) -> str:
    try:
        return urlsplit(location).netloc[:_MESSAGE_CHARS] or "another place"
    except ValueError:
        return "another place"


# How a closed connection shows; with TLS, many servers close without a notice.
_CLOSED = (RemoteDisconnected, ConnectionResetError, BrokenPipeError, ssl.SSLEOFError)


class Wire:
    """Keeps a connection open between requests."""

    def __init__(self, server: Server, key: str, timeout_seconds: float) -> None:
        """Take a server and its key, which may be empty; no connection is made."""
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

        If the server has closed the connection meanwhile, the request is sent once more. Raises
        RetrieverError if the server cannot be reached, or if everything from the name look-up to
        the last byte takes longer than the timeout.
        """
        connection, self._connection = self._connection, None
        used = [connection or self._new_connection()]
        is_over = Event()
        send = partial(self._send, used, is_over, body, most, is_reused=connection is not None)
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
        self, used: list[HTTPConnection], is_over: Event, body: bytes, most: int, *, is_reused: bool
    ) -> Reply:
        """Send on the kept connection, or on a new one if that is dead."""
        try:
            try:
                return self._exchange(used[-1], body, most)
            except _CLOSED:
                if not is_reused or is_over.is_set():
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
            raise OSError("the answer is far larger than expected")
        retry_after, location = headers.get("Retry-After", ""), headers.get("Location", "")
        return Reply(response.status, retry_after, location, bytes(read))

    def _unreachable(self, error: Exception) -> RetrieverError:
        if isinstance(error, ssl.SSLError) and not isinstance(error, TimeoutError):
            return distrusted(error, self._where.netloc, self._server)
        if isinstance(error, TimeoutError):
            why = f"no answer within {self._timeout:g} s"
        elif isinstance(error, HTTPException) and not isinstance(error, OSError):
            why = "it does not answer in HTTP"  # its answer may contain anything
        else:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return RetrieverError(
            f"{self._where.netloc} cannot be reached: {why}",
            hint=f"look at {self._server.table}.url, or try again: {self._server.again}",
        )


def _break_off(connection: HTTPConnection) -> None:
    """Close a connection, so that a thread that still reads from it stops waiting."""
    with suppress(OSError, AttributeError):  # a connection that was never made has no socket
        connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()


_CLOCK = "look at the clock of this machine; if it is right, have the certificate renewed"
_NAME = "set {table}.url to the name that the certificate is for"
_AUTHORITY = "if you know who signed it: export SSL_CERT_FILE=AUTHORITY.pem"
# Per X509_V_ERR_*: the problem of a certificate, and the remedy.
_WRONG = {
    9: ("its certificate is not valid yet", _CLOCK),
    10: ("its certificate has expired", _CLOCK),
    18: ("its certificate is self-signed", _AUTHORITY),
    19: ("no authority known here has signed its certificate", _AUTHORITY),
    20: ("no authority known here has signed its certificate", _AUTHORITY),
    21: ("no authority known here has signed its certificate", _AUTHORITY),
    62: ("its certificate is for another host", _NAME),
    64: ("its certificate is for another host", _NAME),
}
# The names of the error for an answer that is not TLS, by version of OpenSSL.
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL")


def distrusted(error: ssl.SSLError, netloc: str, server: Server) -> RetrieverError:
    """Return the error for a certificate or a TLS connection that fails."""
    if isinstance(error, ssl.SSLCertVerificationError):
        problem, hint = _WRONG.get(error.verify_code, (error.verify_message, _AUTHORITY))
        return RetrieverError(
            f"{netloc} cannot be trusted: {problem}", hint=hint.format(table=server.table)
        )
    reason = getattr(error, "reason", None) or "the connection ends"
    if reason in _NO_TLS:
        return RetrieverError(
            f"{netloc} cannot be reached: it does not speak TLS",
            hint=f"write http:// in {server.table}.url, if that server is on this machine",
        )
    return RetrieverError(
        f"{netloc} cannot be reached: TLS fails: {reason.replace('_', ' ').lower()}",
        hint=f"look at {server.table}.url, or try again: {server.again}",
    )
