"""Turn errors of the server into errors of memcli, each with the next command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from memcli.checking import TYPE_CHECKING
from memcli.errors import (
    AwayError,
    BusyError,
    DamagedError,
    IncompleteError,
    MemcliError,
    RefusedError,
    StoreError,
)
from memcli.store.postgres.libpq import ServerError

if TYPE_CHECKING:
    from memcli.store.postgres.address import Address

STATUS = "memcli store status"
AWAY = "memcli help shared-index"  # describes what works without the server
NO_USER = "set PGPASSWORD or ~/.pgpass, or name another user in store.url; then memcli store status"
NO_DATABASE = "let an administrator run createdb, then memcli store init"
FULL = re.compile(r"could not (extend|write)|File too large|No space left")
OPERATOR = "tell whoever runs the server; the files of the workspace are untouched"
# Beginnings of SQLSTATEs; https://www.postgresql.org/docs/current/errcodes-appendix.html
GONE = ("", "08", "57P01", "57P02", "57P03", "25006")  # a new connection may succeed
_BUSY = ("55P03", "53300", "57014", "40001", "40P01", "25P03")
# Words of a refusal that the name of a host or a database does not contain.
_REFUSED = re.compile(
    r'authentication failed|no password supplied|role ".*" |no pg_hba\.conf entry'
)


@contextmanager
def translated(address: Address) -> Iterator[None]:
    """Raise an error of the server as one of memcli."""
    try:
        yield
    except ServerError as error:
        raise of(error, address) from error


@contextmanager
def understood(address: Address, name: object) -> Iterator[None]:
    """Raise DamagedError for rows of a workspace that memcli cannot have written.

    Every role that may write a tenant can put anything into its rows.
    """
    with translated(address):
        try:
            yield
        except (ValueError, TypeError, RecursionError) as error:
            raise DamagedError(
                f"the rows of {name} in {address.masked} are not as memcli writes them: {error}",
                hint="memcli index --full, in the folder that writes it",
            ) from error


def is_passing(error: ServerError) -> bool:
    """Return whether another connection, or another try, may succeed."""
    return error.state[:2] in ("08", "40") or error.state in GONE


def of(error: ServerError, address: Address) -> MemcliError:
    """Return the memcli error for a server error, without secrets."""
    message, state, place = str(error), error.state, address.masked
    for secret in address.secrets:
        message = message.replace(secret, "***")
    store = f"the shared index {place}"
    if not state:
        return _unreached(message, store)
    if state.startswith("28"):
        return RefusedError(f"{store} refuses this user: {message}", hint=NO_USER)
    if state == "3D000":
        return RefusedError(f"{store} has no such database: {message}", hint=NO_DATABASE)
    if state in ("42703", "42704") and "vector" in message:
        hint = "let its owner run: drop schema memcli cascade; then memcli store init, and attach"
        return StoreError(f"{store} has lost pgvector, and all vectors: {message}", hint=hint)
    if state in ("3F000", "42P01", "42703", "42883"):
        hint = "let the owner of the tables run: memcli store init"
        return IncompleteError(f"{store} is not set up: {message}", hint=hint)
    if state == "42501":
        hint = "let its owner run: memcli store grants --role NAME --tenant TENANT --write"
        return StoreError(f"{store} does not let this user do that: {message}", hint=hint)
    is_full = state[:2] in ("58", "XX") and FULL.search(message)
    if is_full or (state.startswith("53") and state != "53300"):
        hint = "free some space on the server, then memcli index"
        return StoreError(f"{store} is out of room: {message}", hint=hint)
    if state.startswith(_BUSY):
        return BusyError(f"{store} is busy: {message}", hint="run the command again")
    if state.startswith("XX"):
        return DamagedError(f"{store} is damaged: {message}", hint=OPERATOR)
    if state.startswith(("08", "57", "25006")):
        return AwayError(f"{store} went away: {message}", hint=AWAY, was_there=True)
    return StoreError(f"{store} refuses: {message} ({state})", hint=STATUS)


def _unreached(message: str, store: str) -> MemcliError:
    """Return the error for a connection that failed; its message has no SQLSTATE."""
    if _REFUSED.search(message):
        return RefusedError(f"{store} refuses this user: {message}", hint=NO_USER)
    if "database" in message and "does not exist" in message:
        return RefusedError(f"{store} has no such database: {message}", hint=NO_DATABASE)
    if "certificate" in message or "SSL" in message:
        hint = "see when its certificate ends, and that sslrootcert names the authority behind it"
        return StoreError(f"{store} cannot be trusted: {message}", hint=hint)
    if "too many clients" in message or "remaining connection slots" in message:
        return AwayError(f"{store} takes no more connections: {message}", hint=AWAY)
    was_there = "closed the connection" in message  # the server had begun to answer
    return AwayError(f"{store} cannot be reached: {message}", hint=AWAY, was_there=was_there)
