"""Many workspaces of a shared index are asked as one, by one connection."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from memcli.api.memory import Memory
from memcli.checking import TYPE_CHECKING
from memcli.store.open import store_at
from memcli.store.port import Snapshot
from memcli.store.postgres.address import Address
from memcli.store.postgres.admin import attach
from memcli.store.postgres.session import Name
from memcli.store.postgres.store import PostgresSharedIndex, PostgresStore
from memcli.store.union import Union
from memcli.types import Filters, Term
from tests.postgres.conftest import Memcli, make_notes
from tests.postgres.proxy import proxy
from tests.postgres.server import server
from tests.postgres.stores import ORIGIN, address
from tests.store.contract.makers import (
    Clock,
    ask,
    changing,
    cited,
    embed,
    options_for,
    put,
    search_by,
)
from tests.store.contract.test_same_answers import Tree
from tests.store.test_union import all_told
from tests.support import by_night, write

if TYPE_CHECKING:
    from memcli.store.port import AskMany

    pass

MEMBERS = 12
MOST_TRIPS = 14  # of a question to twelve workspaces: asked one after the other they need 100
ASKED = (
    ("why did the pool run dry", Filters()),
    ("pool tr*", Filters(paths=("memory/",))),
    ("pool -train", Filters(since="2025-01-05")),
    ("fox", Filters(sources=("w03:memory",))),
    *by_night(('"ran dry" fox', Filters()), ("nothing of that is here", Filters())),
)


def told(snapshot: Snapshot, text: str, filters: Filters) -> list[tuple[str, float]]:
    return cited(ask(snapshot, text, options_for(filters), Tree()))


def united(readers: Mapping[str, Snapshot], ask_many: AskMany) -> Union:
    members = {f"w{at:02}": readers[f"crowd/w{at:02}"] for at in range(MEMBERS)}
    return Union(members, has_own=False, ask_many=ask_many)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve workspaces of a tenant in the shared index, and each in a file."""
    made = tmp_path_factory.mktemp("crowd")
    for at in range(MEMBERS):
        name = Name("crowd", f"w{at:02}")
        attach(address(), name, ORIGIN, take_over=False)
        stores = (
            PostgresStore(
                address(),
                name,
                store_at(str(made / "index.sqlite"), Clock()),
                Clock(),
                origin=ORIGIN,
            ),
            store_at(str(made / f"{name.workspace}.sqlite"), Clock()),
        )
        for store in stores:
            with changing(store) as change:
                for number in range(2 + at % 4):
                    text = f"# Pool {at}\n\nwhy it ran dry, fox {number}\n\n## More\n\ntrain {at}\n"
                    put(change, f"memory/2025-01-{at + number + 1:02}.md", text)
                embed(change, Tree())
                search_by(change, Tree(), none_waits=True)
            store.close()
    return made


@pytest.fixture(scope="module")
def expected(folder: Path) -> Iterator[Union]:
    """The same workspaces in files."""
    with ExitStack() as held:
        members: dict[str, Snapshot] = {}
        for at in range(MEMBERS):
            store = store_at(str(folder / f"w{at:02}.sqlite"), Clock())
            held.callback(store.close)
            members[f"w{at:02}"] = held.enter_context(store.snapshot())
        yield Union(members, has_own=False)


def ranked(found: Sequence[tuple[str, float]]) -> list[str]:
    """List the places that are better than the last one, by score and name.

    Cosines of two servers differ in their last bits, and many texts here are equally near.
    """
    rounded = [(-round(score, 5), place) for place, score in found]
    last = max((score for score, _ in rounded), default=0.0)
    return [place for score, place in sorted(rounded) if score < last]


@pytest.mark.parametrize("asked", ASKED)
def test_they_rank_as_files_asked_together_and_wait_about_as_often_as_one(
    folder: Path, expected: Union, asked: tuple[str, Filters]
) -> None:
    (text, filters), requests = asked, []
    for times in (1, 2):
        with proxy(server().port) as far:
            url = address().url.replace(f":{server().port}/", f":{far.port}/")
            shared_index = PostgresSharedIndex(Address(url), "crowd")
            for _ in range(times):
                with shared_index.snapshots() as (readers, ask_many):
                    found = told(united(readers, ask_many), text, filters)
            shared_index.close()
            far.until_passed()
            requests.append(far.requests)
    trips = requests[1] - requests[0] - 1  # nobody waits for the end of the transaction
    wanted = told(expected, text, filters)
    assert [score for _, score in found] == pytest.approx([s for _, s in wanted], abs=1e-6)
    assert ranked(found) == ranked(wanted)
    assert 0 < trips <= MOST_TRIPS


def test_everything_else_is_told_alike(folder: Path, expected: Union) -> None:
    shared_index = PostgresSharedIndex(address(), "crowd")
    with shared_index.snapshots() as (readers, ask_many):
        asked = [Term("pool"), Term("fox"), Term("nowhere")]
        assert all_told(united(readers, ask_many), asked) == all_told(expected, asked)
    shared_index.close()


@pytest.fixture
def stored(memcli: Memcli, url: str, tmp_path: Path) -> Path:
    """A folder that holds nothing, while the store has three workspaces of two tenants."""
    for name in ("team/ops", "team/dev", "other"):
        notes = make_notes(tmp_path / name)
        write(
            notes,
            "memory/own.md",
            "---\nscope: private\nalways: true\n---\n# Own\n\nThe pool is mine.\n",
        )
        assert memcli(f"store attach {name}", notes).code == 0
        assert memcli("index", notes).code == 0
    empty = tmp_path / "empty"
    empty.mkdir()
    return empty


def workspaces(told: str) -> set[str]:
    return {each["workspace"] for each in json.loads(told)["results"]}


def test_a_tenant_is_searched_and_read(memcli: Memcli, stored: Path) -> None:
    found = memcli("search pool --tenant team --json --more --view all", stored)
    answer = json.loads(found.out)
    assert answer["freshness"]["state"] == "remote"
    assert found.err == "memcli: 2 workspaces are searched as the shared index has them\n"
    assert [(each["name"], each["primary"]) for each in answer["workspaces"]] == [
        ("team/dev", False), ("team/ops", False)
    ]  # fmt: skip
    assert all(
        "as stored at revision" in each["freshness"]["reason"] for each in answer["workspaces"]
    )
    assert workspaces(found.out) == {"team/dev"}  # where both say the same, the first is shown
    assert "mine" not in found.out
    told = memcli("get team/ops:MEMORY.md:3 --tenant team", stored)
    assert told.out == "The pool has 20 connections.\n"
    private = memcli("get team/ops:memory/own.md --tenant team", stored)
    assert (private.code, private.out) == (3, "")
    own = "memcli get memory/own.md --workspace-name team/ops"
    assert private.err.endswith(f"only its own workspace may read it\nTry: {own}\n")
    assert memcli(own.removeprefix("memcli "), stored).out.endswith("The pool is mine.\n")
    for asked in ("pool", ""):
        block = memcli(f"context {asked} --tenant team", stored).out
        assert "team/dev:memory/2025-01-02.md" in block
        assert "mine" not in block
    with Memory.open(tenant="team") as tenant:
        alone = tenant.only("team/ops")  # one of them
        results = alone.search("pool").results
        assert {each.workspace for each in results} == {"team/ops"}
        assert "memory/own.md" not in {each.path for each in results}
        assert alone.get("team/ops:MEMORY.md:3").text == "The pool has 20 connections."


def test_changes_and_neighbours_of_a_tenant(memcli: Memcli, stored: Path) -> None:
    span = "--since 2025-02-01 --until 2025-03-01"
    for several in ("--tenant team", "--everywhere"):
        told = memcli(f"changes --json {span} {several}", stored)
        days = json.loads(told.out)["days"]
        cited = {each["new"]["citation"] for day in days for each in day["changes"]}
        assert {"team/dev:memory/2025-02-03.md:3", "team/ops:memory/2025-02-03.md:3"} <= cited
        assert ("other:memory/2025-02-03.md:3" in cited) == (several == "--everywhere")
        assert "mine" not in told.out
        assert "workspaces are not on this machine: showing dated notes\n" in told.err
        related = f"related team/ops:memory/2025-02-03.md:3 --json -n 3 {several}"
        found = memcli(related, stored)
        assert found.code == 0, found.err
        assert json.loads(found.out)["results"][0]["path"] == "memory/2025-02-03.md"
        assert "team/dev:MEMORY.md" in memcli(f"ls {several}", stored).out
    private = memcli("related team/ops:memory/own.md --tenant team", stored)
    assert (private.code, private.out) == (3, "")
    ranked = memcli(f"changes limit {span} --tenant team", stored)
    assert "We raised the limit of the pool to 40." in ranked.out
    nothing = memcli("changes --tenant team --now 2025-06-01", stored)
    assert "the newest one before is 2025-02-04. Try: memcli changes --since" in nothing.err
    assert memcli("changes --tenant team --since HEAD~2", stored).code == 2
    # A citation of such an answer is also read by the name of its workspace.
    cited_line = memcli("get team/ops:MEMORY.md:3 --workspace-name team/ops", stored)
    assert cited_line.out == "The pool has 20 connections.\n"


def test_everywhere_is_every_tenant_and_what_has_a_name_here(
    memcli: Memcli, stored: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, config = stored.parent, stored.parent / "config"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    write(base / "other-one", "MEMORY.md", "# Here\n\nThe pool of this machine.\n")
    named = {"other": base / "other-one", "mine": base / "ops"}
    make_notes(named["mine"])
    lines = "".join(f'{name} = "{place}"\n' for name, place in named.items())
    write(config / "memcli", "config.toml", f"[workspaces]\n{lines}")
    assert memcli("store attach team/ops --take-over", named["mine"]).code == 0
    found = json.loads(memcli("search pool --everywhere --json --more", stored).out)
    states = {each["name"]: each["freshness"]["state"] for each in found["workspaces"]}
    assert states == {
        "other": "up_to_date", "mine": "up_to_date", "default/other": "remote", "team/dev": "remote"
    }  # fmt: skip
    assert "other:MEMORY.md:1-3" in [each["citation"] for each in found["results"]]
    one = "get default/other:MEMORY.md:3 --everywhere"
    assert memcli(one, stored).out == "The pool has 20 connections.\n"
    monkeypatch.setenv("MEMCLI_STORE_TENANT", "team")
    found = json.loads(memcli("search pool --everywhere --json --more", stored).out)
    assert {each["name"] for each in found["workspaces"]} == {"other", "mine", "team/dev"}


def test_where_the_server_is_away_this_machine_answers(
    memcli: Memcli, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = stored.parent / "config"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    write(stored.parent / "here", "MEMORY.md", "# Here\n\nThe pool of this machine.\n")
    write(config / "memcli", "config.toml", f'[workspaces]\nhere = "{stored.parent / "here"}"\n')
    monkeypatch.setenv(
        "MEMCLI_STORE_URL", "postgresql://owner@127.0.0.1:1/nothing?connect_timeout=0"
    )
    told = memcli("search pool --everywhere", stored)
    assert told.code == 0
    assert told.out.startswith("here:MEMORY.md  Here\n3: ")
    assert "store.url: the shared index postgresql://" in told.err
    assert "it is left out" in told.err
    assert memcli("search pool --tenant team", stored).code == 4


def test_what_is_refused(memcli: Memcli, stored: Path) -> None:
    for line, code in (
        ("search pool --tenant nosuch", 4), ("search pool --tenant a/b", 2),
        ("search pool --tenant team --sync", 2), ("search pool --tenant team -w .", 2),
        ("search pool --tenant team --everywhere", 2),
        ("search pool --tenant team --workspace-name team/ops", 2),
        ("get nosuch:MEMORY.md --tenant team", 3),
    ):  # fmt: skip
        told = memcli(line, stored)
        assert (told.code, told.out) == (code, ""), line
        assert "Try: " in told.err, line
