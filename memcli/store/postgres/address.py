"""Where a shared index is: the URL, checked and masked, and what a connection is opened with."""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import unquote, urlsplit

from memcli.config import masks
from memcli.digests import blake2b
from memcli.errors import ConfigError
from memcli.record import Record

SCHEMES = ("postgresql", "postgres")
STRICT = "verify-full"
_LOOPBACK = re.compile(r"localhost|127\.[0-9.]+|::1|/.*|")
# What a URL may say otherwise. A server that cannot be reached is given up in time, and one that
# has gone is noticed: its own keepalive waits for two hours.
_DEFAULTS = (
    ("connect_timeout", "3"),
    ("keepalives_idle", "10"),
    ("tcp_user_timeout", "15000"),
)
HINT = "memcli help shared-index"


class Address(Record):
    """The URL of a shared index."""

    url: str

    @property
    def masked(self) -> str:
        """Give the URL as it may be shown."""
        return masks.masked(self.url)

    @property
    def secrets(self) -> tuple[str, ...]:
        """List what no message may hold."""
        return masks.secrets(self.url)

    @property
    def is_loopback(self) -> bool:
        """Tell whether every server that is named runs on this machine."""
        parts = urlsplit(self.url)
        hosts = [_host(each) for each in parts.netloc.rpartition("@")[2].split(",")]
        named = [value for key, value in masks.options(self.url) if key in ("host", "hostaddr")]
        hosts += [host for value in named for host in value.split(",")]
        return all(_LOOPBACK.fullmatch(unquote(host)) for host in hosts)

    def parameters(self, *, write: bool) -> Sequence[tuple[str, str]]:
        """Give what a connection is opened with, for a writer or a reader; later ones count."""
        wanted = "read-write" if write else "any"
        strict = () if self.is_loopback else (("sslmode", STRICT),)
        return (
            *_DEFAULTS,
            ("target_session_attrs", wanted),
            ("dbname", self.url),
            *strict,
            ("client_encoding", "UTF8"),
            ("application_name", "memcli"),
        )


def checked(url: str, *, from_environment: bool) -> Address:
    """Take the URL of a setting; ConfigError where it cannot be one, or tells a password to a file.

    Example: `postgresql://agent@db.example.org/memory`.
    """
    address = Address(url)
    try:
        parts = urlsplit(url)
        options = dict(masks.options(url))
    except ValueError as error:
        raise ConfigError(f"store.url is not a URL: {error}", hint=HINT) from error
    if parts.scheme not in SCHEMES or "\0" in url:
        raise ConfigError(
            f"store.url must begin with {SCHEMES[0]}://, unlike {address.masked[:80]!r}", hint=HINT
        )
    if address.secrets and not from_environment:
        raise ConfigError(
            "store.url contains a password, which is not allowed in a configuration file",
            hint="put it in PGPASSWORD, in ~/.pgpass, or the whole URL in MEMCLI_STORE_URL",
        )
    mode = options.get("sslmode", STRICT)
    if mode != STRICT and not address.is_loopback:
        raise ConfigError(
            f"store.url asks for sslmode={mode}, and a server elsewhere needs {STRICT}",
            hint=f"take sslmode={mode} out of the URL; sslrootcert names the authority",
        )
    return address


def _host(place: str) -> str:
    """Take the port off: `[::1]:5432` is `::1`."""
    if place.startswith("["):
        return place[1:].partition("]")[0]
    return place.partition(":")[0]


# The same on every start of a system, and another on every machine; copies of a container share it.
_MACHINE_ID = "/etc/machine-id"


def origin_of(folder: str) -> str:
    """Name a folder of this machine. Example: `build7 (3f2a1c90):/srv/notes`."""
    told = ""
    with suppress(OSError), open(_MACHINE_ID, encoding="ascii") as file:
        told = file.read().strip()
    if not told:
        from uuid import getnode

        told = str(getnode())
    number = blake2b(told.encode(), digest_size=4).hexdigest()
    return f"{socket.gethostname()} ({number}):{folder}"
