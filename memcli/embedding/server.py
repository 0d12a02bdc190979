"""A configured model server: its address, its key, and its refusals.

No key is ever shown, and no redirect leads to another host. `endpoint` and `distant` know the
requests and answers, `wire` the transport.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from urllib.parse import SplitResult, urlsplit

from memcli.errors import RetrieverError
from memcli.record import Record

_MESSAGE_CHARS = 200


class Reply(Record):
    """The answer of a server."""

    status: int
    retry_after: str
    location: str
    body: bytes


class Server(Record):
    """The settings of a server."""

    table: str  # of settings: openai | rerank
    verb: str  # the path after the URL
    topic: str  # of the help
    again: str  # the command that asks once more
    url: str
    model: str
    key: Callable[[], str | None]
    key_variable: str

    def address(self) -> SplitResult:
        """Read the address; RetrieverError says what is wrong with it."""
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

    def refused(self, reply: Reply, said: str) -> RetrieverError:
        """Say why a server gives nothing, with what it says of that."""
        host, status = urlsplit(self.url).netloc, reply.status
        if status in (401, 403):  # what the server says may repeat the key
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
                f"{host} redirects to {_host(reply.location)}, and nothing is sent after it",
                hint=f"set {self.table}.url to the right place",
            )
        if status == 404:
            model = f" or no model {self.model}" if self.model else ""
            return RetrieverError(
                f"{self.url} has no /{self.verb}{model}" + (said and f": {said}"),
                hint=f"look at {self.table}.url and {self.table}.model: memcli help {self.topic}",
            )
        return RetrieverError(
            f"{host} refuses the request with status {status}" + (said and f": {said}"),
            hint=f"memcli help {self.topic}",
        )

    def broken(self, what: str) -> RetrieverError:
        """Say what is wrong with an answer."""
        return RetrieverError(
            f"the answer of {urlsplit(self.url).netloc} {what}",
            hint=f"look at {self.table}.url and {self.table}.model: memcli help {self.topic}",
        )


def message(body: bytes, key: str) -> str:
    """Give what a server says of an error, in one line and without the key."""
    try:
        said = json.loads(body)
        found = said.get("error", said.get("message", said.get("detail", "")))
        if isinstance(found, dict):
            found = found.get("message", "")
    except (ValueError, AttributeError, RecursionError):
        found = ""
    text = " ".join(found.split()) if isinstance(found, str) else ""
    if key:  # also with blanks in it
        text = re.sub(r"\s*".join(map(re.escape, key)), "[key]", text)
    return text[:_MESSAGE_CHARS]


def _host(location: str) -> str:
    """Name the host of a redirect."""
    try:
        return urlsplit(location).netloc[:_MESSAGE_CHARS] or "another place"
    except ValueError:
        return "another place"
