"""Encoders by configuration, from the user's file to the answer of a search."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from memcli.api.memory import Memory
from memcli.api.sync import Job, RunResult, Vectors, sync
from memcli.api.workspace import SYSTEM_CLOCK
from memcli.errors import BusyError
from memcli.store.port import Store
from memcli.store.sqlite import vectors
from tests.commands import printed
from tests.embedding.loopback import DIMENSION, MODEL, Behave, Loopback, Reply, embedded, loopback

KEY = "sk-very-secret-7f3a"


class Desk:
    """A workspace, the user's configuration, and commands run there."""

    def __init__(self, base: Path) -> None:
        self.root = base / "ws"
        self._user = base / "config" / "memcli" / "config.toml"
        self._user.parent.mkdir(parents=True)
        self.note("pool", "The pool ran dry.")
        self.note("train", "A train was late.")

    def note(self, name: str, text: str) -> None:
        file = self.root / "memory" / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {name}\n\n{text}\n")

    def configure(self, text: str) -> None:
        self._user.write_text(text)

    def use(
        self, server: Loopback, more: str = "", embedding: str = "", *, seconds: float = 9.0
    ) -> None:
        """Take the vectors of a server, which may be slow where the machine is busy."""
        self.configure(
            f'[embedding]\nencoder = "openai"\n{embedding}\n[openai]\nurl = "{server.url}"\n'
            f'model = "{MODEL}"\ndimension = {DIMENSION}\ntimeout_seconds = {seconds}\n{more}\n'
        )

    def run(self, *arguments: str, code: int = 0) -> tuple[str, str]:
        return printed(*arguments, "-w", str(self.root), code=code)

    def index(self, *flags: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run("index", "--json", *flags)[0])
        return found

    def by_vector(self, query: str = "pool") -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run("search", query, "--json", "--more", "-v")[0])
        assert found["results"], "words are found whatever becomes of the vectors"
        retriever: dict[str, Any] = found["retrievers"]["semantic"]
        return retriever


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return Desk(tmp_path)


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback() as found:
        yield found


def test_index_and_search_by_an_endpoint(desk: Desk, server: Loopback) -> None:
    desk.use(server)
    assert (desk.index()["embedded"], desk.index()["embedded"]) == (2, 0)
    assert len(server.batches) == 2  # a small one to see that it answers, and the texts
    assert desk.by_vector() == {"ran": True, "embedded": 2, "total": 2}
    assert server.batches[2:] == [["pool"]]
    status = json.loads(desk.run("status", "--json")[0])
    assert status["vectors"]["fingerprint"].startswith(f"openai:{MODEL};url={server.url};dim=16")
    assert status["warnings"] == []
    answer = json.loads(desk.run("search", "pool", "--json", "--more")[0])
    assert answer["uncalibrated"]["code"] == "uncalibrated"  # nothing was measured for this model
    assert 0 < answer["results"][0]["confidence"] < 1


def test_another_script_goes_by_vectors_where_the_model_may_read_it(
    desk: Desk, server: Loopback
) -> None:
    desk.note("tokyo", "東京都の検索")
    desk.use(server)
    desk.index()
    assert desk.by_vector("東京都の検索")["ran"] is True
    desk.configure("")
    desk.index()
    assert "reads English" in desk.by_vector("東京都の検索")["reason"]


def test_what_is_related_is_found_without_a_text_that_is_embedded(desk: Desk) -> None:
    with loopback() as server:
        desk.use(server)
        desk.index()
        before = len(server.batches)
        found = json.loads(desk.run("related", "memory/pool.md:3", "--json", "-v")[0])
        assert found["retrievers"]["semantic"]["ran"]
        assert [each["path"] for each in found["results"]] == ["memory/train.md"]
        assert len(server.batches) == before


def test_a_dead_endpoint_leaves_a_search_by_words(desk: Desk, server: Loopback) -> None:
    desk.use(server)
    desk.index()
    server.behave = lambda *_: Reply(401, {"error": {"message": KEY}})
    out, err = desk.run("search", "pool", "--more")
    assert "pool.md" in out
    assert "wants a key (status 401)" in err
    server.behave = server.silent
    desk.use(server, seconds=0.2)
    assert "no answer within 0.2 s" in desk.by_vector()["reason"]
    desk.note("new", "A fox.")
    out, err = desk.run("search", "fox")
    assert "new.md" in out
    assert "new texts have no vector yet" in err


def test_a_dead_endpoint_fails_no_index(
    desk: Desk, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTES_KEY", KEY)
    server.behave = lambda *_: Reply(401, {"error": {"message": f"bad key {KEY}"}})
    desk.use(server, 'key_variable = "NOTES_KEY"')
    out, err = desk.run("index")
    assert "refuses the key in NOTES_KEY (status 401); searches use keywords only" in err
    assert "export NOTES_KEY" in err
    for text in (out, err, *desk.run("status", "--deep"), *desk.run("search", "pool")):
        assert KEY not in text
    server.behave = lambda _, texts: embedded(texts)
    assert desk.index()["embedded"] == 2
    assert server.headers[-1]["Authorization"] == f"Bearer {KEY}"


def test_a_run_that_breaks_off_is_gone_on_with(desk: Desk, server: Loopback) -> None:
    for number in range(40):
        desk.note(f"n{number}", f"Fox number {number}.")
    # Two requests are on their way at once: the second is refused, whichever comes first.
    server.behave = lambda _, texts: embedded(texts) if len(texts) != 10 else Reply(404)
    desk.use(server)
    first = desk.index()
    assert (first["embedded"], first["pending"]) == (32, 10)
    server.behave = lambda _, texts: embedded(texts)
    second = desk.index()
    assert (second["embedded"], second["pending"]) == (10, 0)


def test_a_stand_in_is_chosen_before_anything_is_written(desk: Desk, server: Loopback) -> None:
    server.behave = lambda *_: Reply(403)
    desk.use(server, embedding='fallback = ["hashing"]')
    _, err = desk.run("index")
    assert "2 texts embedded" in err
    assert "wants a key (status 403)" in err
    assert "hashing" in err
    asked = len(server.batches)
    assert desk.by_vector() == {"ran": True, "embedded": 2, "total": 2}
    assert len(server.batches) == asked  # the query goes to the encoder of the index alone
    status = json.loads(desk.run("status", "--json")[0])
    assert status["vectors"]["fingerprint"].startswith("hashing;")
    assert status["warnings"] == []
    server.behave = lambda _, texts: embedded(texts)
    assert desk.index()["embedded"] == 2  # the wanted one is back
    assert desk.by_vector()["ran"] is True
    assert server.batches[-1] == ["pool"]


SERVING = """
import sys
sys.path.insert(0, sys.argv[1])
from tests.embedding.loopback import loopback
with loopback(port=int(sys.argv[2])):
    print("serving", flush=True)
    sys.stdin.read()
"""


@pytest.mark.timeout(60)
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_frozen_server_holds_nobody_up_and_is_asked_again_once_it_goes_on(
    desk: Desk, server: Loopback
) -> None:
    desk.use(server)
    desk.index()
    server.close()
    frozen = subprocess.Popen(
        [sys.executable, "-c", SERVING, str(Path(__file__).parents[2]), str(server.port)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert frozen.stdout is not None
        assert frozen.stdout.readline() == b"serving\n"
        assert desk.by_vector()["ran"] is True
        frozen.send_signal(signal.SIGSTOP)
        desk.use(server, seconds=0.2)
        assert "no answer within 0.2 s" in desk.by_vector()["reason"]
        desk.note("new", "A fox.")
        assert "no answer within 0.2 s; searches use keywords only" in desk.run("index")[1]
        assert "new.md" in desk.run("search", "fox")[0]
        frozen.send_signal(signal.SIGCONT)
        desk.use(server)
        assert desk.index()["embedded"] == 1
        assert desk.by_vector() == {"ran": True, "embedded": 3, "total": 3}
    finally:
        frozen.send_signal(signal.SIGCONT)
        frozen.communicate(timeout=60)


class Waiter:
    """A sleep that passes at once, and sees whether another process could write meanwhile."""

    store: Store

    def __init__(self) -> None:
        self.slept: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        with self.store.locked(wait_seconds=0, sleep=self):
            pass


def patient_run(desk: Desk, *, full: bool = False) -> tuple[RunResult, Waiter, Vectors]:
    waiter = Waiter()
    memory = Memory.open(desk.root, clock=SYSTEM_CLOCK._replace(sleep=waiter)).workspaces.lead
    waiter.store = memory.store
    vectors = Vectors(memory)
    done = sync(memory, Job(full, wait_seconds=0), vectors)
    return done, waiter, vectors


def busy_at(*numbers: int, seconds: str = "30") -> Behave:
    """Behave as a server that asks for patience at some requests, counted from 0."""
    busy = Reply(429, {}, (("Retry-After", seconds),))
    return lambda number, texts: busy if number in numbers else embedded(texts)


@pytest.mark.parametrize("full", [False, True])
def test_the_lock_is_free_while_a_server_is_waited_for(
    desk: Desk, server: Loopback, full: bool
) -> None:
    for number in range(40):
        desk.note(f"n{number}", f"Fox number {number}.")
    desk.use(server)
    server.behave = busy_at(0, 2, 4)  # at the first small one, and before both batches
    done, waiter, _ = patient_run(desk, full=full)
    assert waiter.slept == [30.0] * 3
    assert (len(done.report.added), done.embedded, done.pending) == (42, 42, 0)
    assert desk.by_vector()["embedded"] == 42


@pytest.mark.parametrize("how", ["search --more", "search --sync --more", "context"])
def test_a_search_asks_a_server_for_vectors_while_others_can_write(
    desk: Desk, server: Loopback, how: str
) -> None:
    desk.use(server)
    desk.index()
    desk.note("new", "A pool of foxes.")
    command, *flags = how.split()
    store = Memory.open(desk.root).workspaces.lead.store
    writers: list[bool] = []

    def behave(number: int, texts: list[str]) -> Reply:
        if "foxes" in texts[0]:  # the question is embedded while files are brought in
            try:
                with store.locked(wait_seconds=0, sleep=lambda _: None):
                    writers.append(True)
            except BusyError:
                writers.append(False)
        return embedded(texts)

    server.behave = behave
    out, err = desk.run(command, "pool", *flags)
    assert writers == [True]
    assert ("new.md" in out, err) == (True, "")
    assert desk.by_vector()["embedded"] == 3


def test_another_writer_between_costs_a_search_nothing(desk: Desk, server: Loopback) -> None:
    desk.use(server)
    desk.index()
    desk.note("new", "A pool of foxes.")
    store = Memory.open(desk.root).workspaces.lead.store
    with ExitStack() as held:

        def behave(number: int, texts: list[str]) -> Reply:
            if "foxes" in texts[0]:
                held.enter_context(store.locked(wait_seconds=0, sleep=lambda _: None))
            return embedded(texts)

        server.behave = behave
        out, err = desk.run("search", "pool", "--more")
        assert ("new.md" in out, err) == (
            True,
            "memcli: keywords only: 2 of 3 texts are embedded so far."
            f" Try: memcli index -w {desk.root}\n",
        )
    server.behave = lambda _, texts: embedded(texts)
    assert desk.index()["embedded"] == 1


def test_a_full_run_goes_on_after_a_wait(
    desk: Desk, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_THREADS", "1")  # which request comes first is known
    desk.configure('[embedding]\nencoder = "hashing"\n')
    desk.index()
    for number in range(40):
        desk.note(f"n{number}", f"Fox number {number}.")
    desk.use(server)
    server.behave = busy_at(2, 3)
    done, waiter, _ = patient_run(desk, full=True)
    assert waiter.slept == [30.0, 30.0]
    assert (len(done.report.added), done.embedded, done.pending) == (40, 42, 0)
    assert server.asked[-1]["input"] != server.asked[1]["input"], "what was made is kept"


def test_a_run_between_leaves_a_full_one_that_waits_what_it_has_half_built(
    desk: Desk, server: Loopback
) -> None:
    desk.configure('[embedding]\nencoder = "hashing"\n')
    desk.index()
    desk.use(server)
    server.behave = busy_at(1)
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        other = Memory.open(desk.root).workspaces.lead
        sync(other, Job(texts=0, wait_seconds=0), Vectors(other))

    memory = Memory.open(desk.root, clock=SYSTEM_CLOCK._replace(sleep=sleep)).workspaces.lead
    done = sync(memory, Job(full=True, wait_seconds=0), Vectors(memory))
    assert slept == [30.0]
    assert done.notices == ("went on with a full run that had read 2 files",)


def test_a_server_that_stays_busy_is_waited_for_four_times(desk: Desk, server: Loopback) -> None:
    desk.use(server)
    server.behave = busy_at(*range(99), seconds="0")
    done, waiter, vectors = patient_run(desk)
    assert waiter.slept == [1.0, 2.0, 4.0, 8.0]
    assert (len(done.report.added), done.embedded, done.pending) == (2, 0, 0)
    assert vectors.opened is not None
    assert vectors.opened.reason is not None
    assert vectors.opened.reason.text.endswith("asked to wait 4 times in a row")


def test_a_switch_keeps_the_old_vectors_until_the_new_ones_are_whole(
    desk: Desk, server: Loopback
) -> None:
    for number in range(40):
        desk.note(f"n{number}", f"Fox number {number}.")
    desk.configure('[embedding]\nencoder = "hashing"\n')
    desk.index()
    server.behave = lambda _, texts: Reply(404) if len(texts) == 10 else embedded(texts)
    desk.use(server)
    assert "another model" in desk.by_vector()["reason"]
    assert server.batches == []  # no query is sent in vain
    assert desk.index()["embedded"] == 32
    assert "another model" in desk.by_vector()["reason"]
    desk.configure('[embedding]\nencoder = "hashing"\n')
    assert desk.by_vector() == {"ran": True, "embedded": 42, "total": 42}
    server.behave = lambda _, texts: embedded(texts)
    desk.use(server)
    assert desk.index()["embedded"] == 10
    assert desk.by_vector() == {"ran": True, "embedded": 42, "total": 42}


def test_another_cut_embeds_nothing_and_the_trace_names_the_tier_that_answers(
    desk: Desk, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "SCANNED_BYTES", 0)  # so that few texts have codes
    desk.use(server)
    assert desk.index()["embedded"] == 2

    def tier() -> str | None:
        found = json.loads(desk.run("search", "pool", "--json", "--explain")[0])
        step: dict[str, str] = found["results"][0]["trace"][0]
        return step.get("tier")

    assert tier() is None
    thresholds = ((8, 0.1, "8"), (8, 1, None), (16, 0.1, None), (8, 0.1, "8"), (0, 0.1, None))
    for cut, first, told in thresholds:
        desk.use(server, f"matryoshka = {cut}\n[matryoshka]\nfirst = {first}")
        before = len(server.batches)
        assert desk.index()["embedded"] == 0
        assert len(server.batches) == before
        assert tier() == told


def test_status_tells_what_an_endpoint_lacks(desk: Desk, server: Loopback) -> None:
    desk.configure(f'[embedding]\nencoder = "openai"\n[openai]\nurl = "{server.url}"\n')
    assert "openai.model is not set" in desk.run("status")[0]
    desk.configure(
        f'[embedding]\nencoder = "openai"\n[openai]\nurl = "{server.url}"\nmodel = "m"\n'
    )
    assert f"Try: set openai.dimension = {DIMENSION}" in desk.run("status")[0]
    assert f"Try: set openai.dimension = {DIMENSION}" in desk.run("index")[1]
    assert desk.by_vector()["ran"] is False


def test_the_file_of_a_workspace_may_turn_vectors_off(desk: Desk, server: Loopback) -> None:
    desk.use(server)
    (desk.root / "memcli.toml").write_text('[embedding]\nencoder = "none"\n')
    assert desk.index()["embedded"] == 0
    assert server.batches == []


def test_a_stand_in_that_does_not_exist_is_named(desk: Desk) -> None:
    desk.configure('[embedding]\nfallback = ["word2vec"]\n')
    _, err = desk.run("status", code=2)
    assert "embedding.fallback must be one of" in err
    assert "word2vec" in err
