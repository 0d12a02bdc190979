"""One connection to one server: requests by POST, within a time and a size, nothing followed.

What an answer means is left to `endpoint`.
"""

from __future__ import annotations

from http.client import HTTPConnection, HTTPException, HTTPSConnection, RemoteDisconnected
from typing import NamedTuple
from urllib.parse import SplitResult

from memcli.errors import LegMissingError


class Reply(NamedTuple):
    """What a server answers."""

    status: int
    retry_after: str
    location: str
    body: bytes


class Wire:
    """Keeps a connection open between requests."""

    def __init__(self, where: SplitResult, key: str, timeout_seconds: float) -> None:
        """Take address and key of an endpoint; `key` may be empty. No connection is made."""
        self._where, self._timeout = where, timeout_seconds
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._connection: HTTPConnection | None = None

    def __del__(self) -> None:
        self._close()

    def post(self, body: bytes, most: int) -> Reply:
        """Send a request and read at most `most` bytes of the answer.

        On a connection that the server has closed meanwhile it is sent once more. Raises
        LegMissingError where the server cannot be reached or does not answer in time.
        """
        fresh = self._connection is None
        try:
            return self._exchange(body, most)
        except (RemoteDisconnected, ConnectionResetError, BrokenPipeError) as error:
            self._close()
            if fresh:
                raise self._unreachable(error) from None
        except (OSError, HTTPException) as error:
            self._close()
            raise self._unreachable(error) from None
        try:
            return self._exchange(body, most)
        except (OSError, HTTPException) as error:
            self._close()
            raise self._unreachable(error) from None

    def _exchange(self, body: bytes, most: int) -> Reply:
        if self._connection is None:
            kind = HTTPSConnection if self._where.scheme == "https" else HTTPConnection
            host = self._where.hostname or ""
            self._connection = kind(host, self._where.port, timeout=self._timeout)
        query = f"?{self._where.query}" if self._where.query else ""
        path = f"{self._where.path.rstrip('/')}/embeddings{query}"
        self._connection.request("POST", path, body, self._headers)
        response = self._connection.getresponse()
        read = response.read(most + 1)
        if len(read) > most:
            raise OSError("the answer is far larger than the vectors asked for")
        headers = response.headers
        retry_after, location = headers.get("Retry-After", ""), headers.get("Location", "")
        return Reply(response.status, retry_after, location, bytes(read))

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _unreachable(self, error: Exception) -> LegMissingError:
        if isinstance(error, TimeoutError):
            why = f"no answer within {self._timeout:g} s"
        else:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return LegMissingError(
            f"{self._where.netloc} cannot be reached: {why}",
            hint="look at openai.url, or try again: memcli index",
        )
