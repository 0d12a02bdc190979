"""Let many clients share few connections of a server through PgBouncer, one transaction at a time.

    python -m tests.postgres.pooler [--program pgbouncer] [--clients 60] [--connections 4]

Each client keeps its connection to the pooler open for as long as it works; some write, the others
ask. In the end every workspace answers through the pooler as it does without it, and holds what was
written.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memcli.store.postgres.address import Address
from memcli.store.postgres.admin import attach
from memcli.store.postgres.libpq import Connection, ServerError
from memcli.store.postgres.session import Name
from tests.postgres.fleet import DATABASE, ORIGIN, TENANT, answers, do, having, opened, state_of
from tests.postgres.server import NOBODY, Server, free_port, set_up

WORKSPACES, CHANGES, QUESTIONS, START_SECONDS = 12, 20, 8, 10
WRITING_EVERY = 5  # of so many clients one writes
HELD = (
    f"select count(*) from pg_stat_activity where datname = '{DATABASE}'"
    " and backend_type = 'client backend' and pid <> pg_backend_pid()"
)
SETTINGS = """[databases]
{database} = host=127.0.0.1 port={port} user=agent
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 1000
logfile = {log}
"""


@contextmanager
def pooler(program: str, server: Server, folder: Path, connections: int) -> Iterator[str]:
    """Run PgBouncer before a server, and give the URL that leads through it."""
    own, settings = free_port(), folder / "pgbouncer.ini"
    settings.write_text(
        SETTINGS.format(database=DATABASE, port=server.port, own=own, connections=connections,
                        log=folder / "log"), "utf-8")  # fmt: skip
    folder.chmod(0o777)
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    process = subprocess.Popen([program, "-q", str(settings)], **who)  # type: ignore[call-overload]
    url = f"postgresql://agent@127.0.0.1:{own}/{DATABASE}"
    try:
        for _ in range(START_SECONDS * 20):
            try:
                Connection([("dbname", url)]).close()
                break
            except ServerError:
                time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait()


class Clients:
    """Threads that write and ask through a pooler, and what has come of it."""

    def __init__(self, url: str, direct: str, folder: Path) -> None:
        """Take both ways to the server."""
        self._url, self._direct, self._folder = url, direct, folder
        self.done = dict.fromkeys(range(WORKSPACES), 0)
        self.asked, self.most = 0, 0
        self.wrong: list[str] = []
        self._guard = threading.Lock()

    def run(self, clients: int) -> None:
        """Let all work at once, to the end."""
        threads = [threading.Thread(target=self._work, args=(turn,)) for turn in range(clients)]
        for thread in threads:
            thread.start()
        watcher = Connection([("dbname", self._direct)])
        while any(thread.is_alive() for thread in threads):
            self.most = max(self.most, int(watcher.run(HELD)[0][0]))
            time.sleep(0.02)
        watcher.close()

    def _work(self, turn: int) -> None:
        chosen, writing = random.Random(turn), turn // WRITING_EVERY
        writes = turn % WRITING_EVERY == 0 and writing < WORKSPACES
        store = opened(self._url, self._folder, writing if writes else turn % WORKSPACES)
        try:
            if writes:
                for number in range(CHANGES):
                    do(store, writing, number)
                    self.done[writing] = number + 1
                return
            for _ in range(QUESTIONS):
                with store.snapshot() as snapshot:
                    answers(snapshot, f"fox{chosen.randrange(5)} pool")
                with self._guard:
                    self.asked += 1
        except Exception as error:  # a thread's end would not be seen
            self.wrong.append(f"client {turn}: {error}")
        finally:
            store.close()

    def compare(self) -> None:
        """Compare every workspace with itself without the pooler, and with what was written."""
        for workspace, count in self.done.items():
            told = []
            for url in (self._url, self._direct):
                store = opened(url, self._folder, workspace)
                with store.snapshot() as snapshot:
                    held = sorted({each.about.path for each in having(snapshot, "mark")})
                    told.append((held, answers(snapshot, "fox1 pool")))
                store.close()
            if told[0] != told[1] or told[0][0] != sorted(state_of(workspace, count)):
                self.wrong.append(f"w{workspace}: {told}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="pgbouncer")
    parser.add_argument("--clients", type=int, default=60)
    parser.add_argument("--connections", type=int, default=4)
    given = parser.parse_args()
    server = Server()
    try:
        server.sql(f"create database {DATABASE}")
        direct = set_up(server, DATABASE)
        for workspace in range(WORKSPACES):
            name = Name(TENANT, f"w{workspace}")
            attach(Address(direct), name, ORIGIN, take_over=False)
        with tempfile.TemporaryDirectory() as name_of, tempfile.TemporaryDirectory() as beside:
            folder = Path(name_of)
            for workspace in range(WORKSPACES):  # so that there is something to ask
                store = opened(direct, Path(beside), workspace)
                do(store, workspace, 0)
                store.close()
            with pooler(given.program, server, folder, given.connections) as url:
                clients, begun = Clients(url, direct, Path(beside)), time.monotonic()
                clients.run(given.clients)
                took = time.monotonic() - begun
                clients.compare()
    finally:
        server.remove()
    sys.stdout.write(
        f"{given.clients} clients over at most {clients.most} connections: {clients.asked} answers,"
        f" {sum(clients.done.values())} changes in {took:.1f} s, {len(clients.wrong)} wrong\n"
    )
    for line in clients.wrong[:20]:
        sys.stdout.write(f"{line}\n")
    return 1 if clients.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
