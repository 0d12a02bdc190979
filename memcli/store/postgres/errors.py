"""Turn errors of the server into errors of memcli, each with the next command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

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

AWAY = "memcli help shared-index"  # describes what works without the server
NO_USER = "set PGPASSWORD or ~/.pgpass, or name another user in store.url; then memcli store status"
NO_DATABASE = "let an administrator run createdb, then memcli store init"
FULL = "free some space on the server, then memcli index"
GONE = ("", "08", "57P01", "57P02", "57P03", "25006")  # a new connection may succeed
# The errors of a server, the first that fits: the beginning of the SQLSTATE, "$" for a connection
# that failed and has none, and words of the message. Then what memcli raises and says, and a hint.
# https://www.postgresql.org/docs/current/errcodes-appendix.html
_ERRORS: tuple[tuple[str, str, Callable[..., MemcliError], str, str], ...] = (
    # Words that the name of a host or a database does not contain.
    ("$", r'authentication failed|no password supplied|role ".*" |no pg_hba\.conf entry',
     RefusedError, "refuses this user", NO_USER),
    ("$", "database.*does not exist", RefusedError, "has no such database", NO_DATABASE),
    ("$", "certificate|SSL", StoreError, "cannot be trusted",
     "see when its certificate ends, and that sslrootcert names the authority behind it"),
    ("$", "too many clients|remaining connection slots", AwayError, "takes no more connections",
     AWAY),
    ("$", "closed the connection", partial(AwayError, was_there=True), "cannot be reached", AWAY),
    ("$", "", AwayError, "cannot be reached", AWAY),
    ("28", "", RefusedError, "refuses this user", NO_USER),
    ("3D000", "", RefusedError, "has no such database", NO_DATABASE),
    ("4270[34]", "vector", StoreError, "has lost pgvector, and all vectors",
     "let its owner run: drop schema memcli cascade; then memcli store init, and attach"),
    ("3F000|42P01|42703|42883", "", IncompleteError, "is not set up",
     "let the owner of the tables run: memcli store init"),
    ("42501", "", StoreError, "does not let this user do that",
     "let its owner run: memcli store grants --role NAME --tenant TENANT --write"),
    ("55P03|53300|57014|40001|40P01|25P03", "", BusyError, "is busy", "run the command again"),
    ("53", "", StoreError, "is out of room", FULL),
    ("58|XX", r"could not (extend|write)|File too large|No space left", StoreError,
     "is out of room", FULL),
    ("XX", "", DamagedError, "is damaged",
     "tell whoever runs the server; the files of the workspace are untouched"),
    ("08|57|25006", "", partial(AwayError, was_there=True), "went away", AWAY),
)  # fmt: skip


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
    message, store = str(error), f"the shared index {address.masked}"
    for secret in address.secrets:
        message = message.replace(secret, "***")
    for state, words, kind, what, hint in _ERRORS:
        if re.match(state, error.state) and re.search(words, message):
            return kind(f"{store} {what}: {message}", hint=hint)
    return StoreError(f"{store} refuses: {message} ({error.state})", hint="memcli store status")
