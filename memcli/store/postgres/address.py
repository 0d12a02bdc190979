"""The URL of a shared index, checked and masked, and the parameters of its connections."""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from contextlib import suppress

from memcli.config.attached import is_plain, masked
from memcli.digests import blake2b
from memcli.errors import ConfigError
from memcli.record import Record
from memcli.store.postgres.libpq import ServerError, connection_options, read_url

SCHEMES = ("postgresql", "postgres")
STRICT = "verify-full"
_LOOPBACK = re.compile(r"localhost|127\.[0-9.]+|::1|[/@].*|")
# Defaults that a URL may override: give up in time if a server cannot be reached or has gone away.
# The usual keepalive waits two hours.
_DEFAULTS = (("connect_timeout", "3"), ("keepalives_idle", "10"), ("tcp_user_timeout", "15000"))
_NAME_BYTES = 63  # in an application_name
HINT = "memcli help shared-index"


class Address(Record):
    """The URL of a shared index."""

    url: str

    @property
    def masked(self) -> str:
        """Return the URL without its secrets."""
        return masked(self.url)

    @property
    def secrets(self) -> tuple[str, ...]:
        """List the strings that no message may contain."""
        with suppress(ServerError):
            options = read_url(self.url).values()
            return tuple(each.value for each in options if each.is_secret and each.value)
        return ()

    @property
    def is_loopback(self) -> bool:
        """Return whether every server runs on this machine, as libpq decides.

        A variable or a service file may name the host. The name of another machine is not loopback,
        even if its address is.
        """
        options = connection_options((("dbname", self.url),))
        named = (options[key].value for key in ("host", "hostaddr") if key in options)
        return all(_LOOPBACK.fullmatch(host) for value in named for host in value.split(","))

    def parameters(self, *, write: bool) -> Sequence[tuple[str, str]]:
        """Return the parameters for a writer or a reader; later ones override earlier ones.

        The URL may say which servers a reader prefers. A writer needs one that accepts writes.
        """
        strict = () if self.is_loopback else (("sslmode", STRICT),)
        return (
            *_DEFAULTS,
            ("dbname", self.url),
            *((("target_session_attrs", "read-write"),) if write else ()),
            *strict,
            ("client_encoding", "UTF8"),
            ("application_name", f"memcli {socket.gethostname()}"[:_NAME_BYTES]),
        )

    @property
    def patience(self) -> float:
        """Return for how many seconds memcli retries a server that does not answer yet."""
        options = connection_options((*_DEFAULTS, ("dbname", self.url)))
        seconds = options["connect_timeout"].value if "connect_timeout" in options else ""
        return float(seconds) if seconds.isdecimal() else 0.0


def checked(url: str, *, from_environment: bool) -> Address:
    """Read the URL of a setting; ConfigError if it is not a URL, or puts a password in a file.

    Example: `postgresql://agent@db.example.org/memory`.
    """
    address = Address(url)
    if url.partition("://")[0] not in SCHEMES or "\0" in url:
        scheme, is_url, _ = url.partition("://")
        unlike = f", not {scheme}://" if is_url and scheme.isalnum() else ""
        raise ConfigError(f"store.url must begin with {SCHEMES[0]}://{unlike}", hint=HINT)
    try:
        options = read_url(url)
    except ServerError:
        options = {}
    if not options or not is_plain(url):
        raise ConfigError(
            f"store.url cannot be read: {address.masked}",
            hint="write / @ : ? # and % of a user or password as %2F %40 %3A %3F %23 and %25",
        )
    if address.secrets and not from_environment:
        raise ConfigError(
            "store.url contains a password, which is not allowed in a configuration file",
            hint="put it in PGPASSWORD, in ~/.pgpass, or the whole URL in MEMCLI_STORE_URL",
        )
    mode = options["sslmode"].value if "sslmode" in options else STRICT
    if mode != STRICT and not address.is_loopback:
        raise ConfigError(
            f"store.url asks for sslmode={mode}, and a server elsewhere needs {STRICT}",
            hint=f"take sslmode={mode} out of the URL; sslrootcert names the authority",
        )
    return address


# The same at every start of a system and different on each machine; copies of a container share it.
_MACHINE_ID = "/etc/machine-id"


def origin_of(folder: str) -> str:
    """Name a folder of this machine. Example: `build7 (3f2a1c90):/srv/notes`."""
    name = ""
    with suppress(OSError), open(_MACHINE_ID, encoding="ascii") as file:
        name = file.read().strip()
    if not name:
        from uuid import getnode

        name = str(getnode())
    number = blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{socket.gethostname()} ({number}):{folder}"
