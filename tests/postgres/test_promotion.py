"""A primary that is killed: its standby answers at once, and takes the writers when promoted."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres.conftest import Memcli, make_notes
from tests.postgres.server import Server, set_up
from tests.support import write

ASK = "search pool --json --now 2025-03-01T09:00+00:00"
DATABASE = "fleet"
MOST_LOOKS = 500  # until a standby has caught up; each takes some milliseconds


@pytest.fixture
def pair() -> Iterator[tuple[Server, Server]]:
    """A primary with the tables of a shared index, and its standby."""
    primary = Server()
    try:
        primary.sql(f"create database {DATABASE}")
        set_up(primary, DATABASE)
        standby = Server(standby_of=primary)
        try:
            yield primary, standby
        finally:
            standby.remove()
    finally:
        primary.remove()


def catch_up(primary: Server, standby: Server) -> None:
    """Wait until the standby has what the primary has acknowledged."""
    written = primary.sql("select pg_current_wal_lsn()")
    for _ in range(MOST_LOOKS):
        if standby.sql(f"select pg_last_wal_replay_lsn() >= '{written}'") == "True":
            return
    raise TimeoutError(written)


@pytest.mark.nightly
def test_a_standby_answers_and_takes_over(
    memcli: Memcli, pair: tuple[Server, Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    primary, standby = pair
    hosts = ",".join(f"127.0.0.1:{each.port}" for each in pair)
    monkeypatch.setenv("MEMCLI_STORE_URL", f"postgresql://agent@{hosts}/{DATABASE}")
    notes = make_notes(tmp_path / "notes")
    assert memcli("store attach team/ops", notes).code == 0
    assert memcli("index", notes).code == 0
    expected = memcli(ASK, notes)
    assert expected.code == 0
    catch_up(primary, standby)
    several = os.environ["MEMCLI_STORE_URL"]
    monkeypatch.setenv("MEMCLI_STORE_URL", f"{several}?target_session_attrs=prefer-standby")
    assert json.loads(memcli("store status --json", notes).out)["standby"] is True
    assert memcli(ASK, notes) == expected
    write(notes, "more.md", "# More\n\nread here, written there\n")
    assert memcli("index", notes).code == 0
    catch_up(primary, standby)
    assert json.loads(memcli("search written --json", notes).out)["results"][0]["path"] == "more.md"
    monkeypatch.setenv("MEMCLI_STORE_URL", several)
    expected = memcli(ASK, notes)
    primary.stop(signal.SIGKILL)

    assert memcli(ASK, notes) == expected
    told = json.loads(memcli("store status --json", notes).out)
    assert (told["standby"], told["server"]) == (True, f"127.0.0.1:{standby.port}")
    write(notes, "new.md", "# New\n\nunheard of\n")
    refused = memcli("index", notes)
    assert (refused.code, "read-only" in refused.err) == (4, True)
    found = json.loads(memcli(ASK, notes).out)  # a standby cannot be written, and answers
    assert (found["freshness"]["state"], found["freshness"]["pending"]) == ("out_of_date", 1)
    assert found["results"] == json.loads(expected.out)["results"]

    standby.sql("select pg_promote()")
    assert memcli("index", notes).code == 0
    found = json.loads(memcli("search unheard --json", notes).out)
    assert found["results"][0]["path"] == "new.md"
    state = json.loads(memcli("status --deep --json", notes).out)
    assert (state["state"], state["store"]["integrity"]) == ("up_to_date", "ok")
