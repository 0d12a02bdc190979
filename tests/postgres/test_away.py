"""A server that goes away in the middle: another one answers, or this machine's index, or nobody.

Whichever message is the last that comes through, an answer is whole and says what it rests on.
"""

from __future__ import annotations

import json
import signal
import socket
from pathlib import Path

import pytest

from memcli.store.postgres.address import Address
from memcli.store.postgres.libpq import ServerError
from memcli.store.postgres.session import opened
from tests.postgres.conftest import Memcli, database, make_notes, sql
from tests.postgres.proxy import Proxy, proxy
from tests.postgres.server import Server, free_port, server, set_up
from tests.support import by_night, write

ASK = "search pool --json --now 2025-03-01T09:00+00:00"


@pytest.fixture
def there(memcli: Memcli, url: str, tmp_path: Path) -> Path:
    """A folder whose index is in the store."""
    folder = make_notes(tmp_path / "notes")
    assert memcli("store attach team/ops", folder).code == 0
    assert memcli("index", folder).code == 0
    return folder


def through(url: str, *ports: int) -> str:
    """Name a database by the ports where it is to be asked for."""
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
    return f"postgresql://agent@{hosts}/{database(url)}"


def messages_of(memcli: Memcli, url: str, line: str, folder: Path) -> int:
    """Count what a command sends to the server."""
    with pytest.MonkeyPatch.context() as patch, proxy(server().port) as counted:
        patch.setenv("MEMCLI_STORE_URL", through(url, counted.port))
        assert memcli(line, folder).code == 0
        return counted.messages


@pytest.mark.parametrize(
    "cut",
    [(ASK, "message"), ("ls", "message"), *by_night((ASK, "reply"), ("ls", "reply"),
     ("context pool --now 2025-03-01", "message"), ("related MEMORY.md:3", "message"))],
)  # fmt: skip
def test_another_server_answers(
    memcli: Memcli, url: str, there: Path, monkeypatch: pytest.MonkeyPatch, cut: tuple[str, str]
) -> None:
    line, loses = cut
    expected = memcli(line, there)
    for number in range(1, messages_of(memcli, url, line, there) + 1):
        with proxy(server().port, cut_at=number, loses=loses) as broken:
            monkeypatch.setenv("MEMCLI_STORE_URL", through(url, broken.port, server().port))
            assert memcli(line, there) == expected, number


def test_the_index_of_this_machine_answers(
    memcli: Memcli, url: str, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = memcli(ASK, there)
    last = messages_of(memcli, url, ASK, there)
    for number in range(1, last):  # the first makes it; the last one ends, and nobody waits
        with proxy(server().port, cut_at=number) as cut:
            monkeypatch.setenv("MEMCLI_STORE_URL", through(url, cut.port))
            told = memcli(ASK, there)
        assert told.code == 0, told.err
        found, wanted = json.loads(told.out), json.loads(expected.out)
        shown = [(each["path"], each["start_line"]) for each in found["results"]]
        assert shown == [(each["path"], each["start_line"]) for each in wanted["results"]]
        assert "; the index of this machine answers instead" in told.err
        assert found["freshness"]["state"] == "up_to_date"
        assert found["freshness"]["reason"].endswith("; the index of this machine answers instead")
    write(there, "new.md", "# New\n\nunheard of\n")  # the files are here, so what is new is found
    told = memcli("search unheard --json", there)
    assert json.loads(told.out)["results"][0]["path"] == "new.md"
    write(there, "more.md", "# More\n\nunheard of\n")
    told = memcli("search unheard --json --no-sync", there)
    found = json.loads(told.out)["freshness"]
    assert (found["state"], found["pending"]) == ("out_of_date", 1)
    assert found["reason"].startswith("not synced; the shared index ")


@pytest.mark.parametrize(
    "fault", [(9, "message"), (9, "reply"), *by_night((1, "message"), (1, "reply"))]
)
def test_what_was_stored_stays_and_the_rest_follows(
    memcli: Memcli, url: str, there: Path, monkeypatch: pytest.MonkeyPatch, fault: tuple[int, str]
) -> None:
    step, loses = fault
    for number in range(1, 80, step):
        for name in "ab":
            write(there, f"{name}.md", f"# {name}\n\nround {number}\n\n## More\n\nthe {number}\n")
        with proxy(server().port, cut_at=number, loses=loses) as cut:
            monkeypatch.setenv("MEMCLI_STORE_URL", through(url, cut.port, server().port))
            told = memcli("index", there)
        assert told.code == 0, (number, told.err)
        monkeypatch.setenv("MEMCLI_STORE_URL", url)
        found = json.loads(memcli("status --deep --json", there).out)
        assert (found["state"], found["store"]["integrity"]) == ("up_to_date", "ok")
        assert sql(url, f"select count(*) from memcli.chunks where text ~ 'the {number}'") == "2"


@pytest.mark.nightly
@pytest.mark.parametrize("loses", ["message", "reply"])
@pytest.mark.parametrize(
    ("line", "left"),
    [("store delete team/ops --apply", ""), ("store rename team/ops team/dev", "dev")],
)
def test_a_lost_message_of_a_deletion_or_a_new_name_costs_one_command_more(
    memcli: Memcli, url: str, there: Path, monkeypatch: pytest.MonkeyPatch,
    line: str, left: str, loses: str,
) -> None:  # fmt: skip
    number, is_cut = 0, True
    while is_cut:
        number += 1
        with proxy(server().port, cut_at=number, loses=loses) as cut:
            monkeypatch.setenv("MEMCLI_STORE_URL", f"{through(url, cut.port)}?connect_timeout=1")
            told = memcli(line, there)
            is_cut = cut.messages >= number
        assert told.code in (0, 4), (number, told.err)
        monkeypatch.setenv("MEMCLI_STORE_URL", url)
        names = sql(url, "select string_agg(name, ' ') from memcli.workspaces")
        assert names == (left or "None") or (told.code, names) == (4, "ops"), number
        if names == "ops":
            assert memcli(line, there).code == 0
        orphans = "select count(*) from memcli.chunks where workspace not in"
        assert sql(url, f"{orphans} (select id from memcli.workspaces)") == "0"
        memcli("store delete team/dev --apply", there)
        assert memcli("store attach team/ops --take-over", there).code == 0
        assert memcli("index", there).code == 0
    assert number > 4


@pytest.mark.nightly
@pytest.mark.parametrize("line", ["index", "index --full", ASK])
def test_a_server_that_cannot_write_loses_nothing(
    memcli: Memcli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    folder, own, number, messages = make_notes(tmp_path / "notes"), Server(), 0, 1
    whole = set_up(own, "postgres")
    monkeypatch.setenv("MEMCLI_STORE_URL", whole)
    assert (memcli("store attach team/ops", folder).code, memcli("index", folder).code) == (0, 0)
    while number < messages:
        number += 1
        write(folder, "a.md", f"# A\n\n{'round ' * 999}{number}\n\n## More\n\nthe {number} end\n")
        with proxy(own.port, at=number, do=lambda: own.limit_files("0")) as full:
            url = whole.replace(f":{own.port}/", f":{full.port}/")
            monkeypatch.setenv("MEMCLI_STORE_URL", f"{url}?connect_timeout=1")
            told = memcli(line, folder)
            messages = max(messages, full.messages)
        own.stop(signal.SIGKILL)
        own.start()
        assert told.code in (0, 4), (number, told.err)
        monkeypatch.setenv("MEMCLI_STORE_URL", whole)
        assert memcli("index", folder).code == 0
        found = json.loads(memcli("status --deep --json", folder).out)
        assert (found["state"], found["store"]["integrity"]) == ("up_to_date", "ok"), number
        assert own.sql(f"select count(*) from memcli.chunks where text ~ 'the {number} end'") == "1"
    own.remove()


def test_a_silent_server_is_waited_for_once(
    memcli: Memcli, url: str, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.setblocking(False)
        place = through(url, silent.getsockname()[1])
        monkeypatch.setenv("MEMCLI_STORE_URL", f"{place}?connect_timeout=1")
        told = memcli("search pool", there)
        assert (told.code, "timeout expired" in told.err) == (0, True)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()


def test_a_folder_goes_on_without_its_server(
    memcli: Memcli, url: str, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = "postgresql://agent@127.0.0.1:1/memory?connect_timeout=0"
    monkeypatch.setenv("MEMCLI_STORE_URL", nobody)
    told = memcli("search dry --json", there)  # no index was ever made on this machine
    assert told.code == 0, told.err
    assert "memory/2025-01-02.md" in {each["path"] for each in json.loads(told.out)["results"]}
    assert "; the index of this machine answers instead" in told.err
    told = memcli("status --json", there)
    found = json.loads(told.out)
    assert (told.code, found["state"]) == (0, "up_to_date")
    assert len(found["warnings"]) == 1
    assert "the index of this machine answers instead" in found["warnings"][0]
    assert memcli("ls", there).code == memcli("context pool", there).code == 0
    refused = memcli("index", there)
    assert (refused.code, "cannot be reached" in refused.err) == (4, True)
    told = memcli("store detach", there)
    assert told.code == 0
    assert "on this machine only: the shared index" in told.err
    assert memcli("index", there).code == 0
    assert memcli("store detach", there).code == 3


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("postgresql://nosuch@127.0.0.1:{port}/{database}", "refuses this user"),
        ("postgresql://agent@127.0.0.1:{port}/nosuch", "has no such database"),
        ("postgresql://agent@127.0.0.1:{port}/postgres", "is not set up"),
        ("postgresql://agent@127.0.0.1:1/{database}", "cannot be reached"),
    ],
)
def test_a_folder_answers_whatever_its_server_says(
    memcli: Memcli, url: str, there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    wrong: str, told: str,
) -> None:  # fmt: skip
    other = make_notes(tmp_path / "other")
    assert memcli("store attach team/dev", other).code == 0
    address = wrong.format(port=server().port, database=database(url))
    monkeypatch.setenv("MEMCLI_STORE_URL", f"{address}?connect_timeout=0")
    for line in (ASK, f"{ASK} -w . -w ../other", "ls", "context pool", "related MEMORY.md"):
        found = memcli(line, there)
        assert found.code == 0, found.err
        assert told in found.err, line
        assert "; the index of this machine answers instead" in found.err
    assert memcli("status -w . -w ../other", there).code == 0
    several = json.loads(memcli(f"{ASK} -w . -w ../other", there).out)
    assert {each["freshness"]["state"] for each in several["workspaces"]} == {"up_to_date"}
    assert memcli("index", there).code in (2, 4)
    assert memcli("store detach", there).code == 0


def test_a_server_that_starts_is_waited_for(url: str) -> None:
    address = Address(through(url, free_port()))
    pauses: list[float] = []
    with pytest.raises(ServerError, match="Connection refused"):
        opened(address, write=False, sleep=pauses.append)
    assert sum(pauses) == pytest.approx(3)
    port, started = free_port(), []
    late = Address(through(url, port))
    opened(late, write=False, sleep=lambda _: started.append(Proxy(server().port, at=port))).close()
    assert len(started) == 1
    started[0].close()
