"""One encoder for many queries: equal vectors, from any thread, in bounded memory."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from weakref import WeakSet

import pytest

from memcli.embedding.encoders import (
    OTHER_MODEL,
    RECORDS,
    Choice,
    EncoderRecord,
    IndexModel,
    OpenedEncoder,
    Opener,
    QueryModelError,
    Vector,
)
from memcli.embedding.long_texts import unit
from memcli.embedding.models import INT8, fingerprint, locate
from memcli.embedding.onnx_c_api import PinnedEncoder, QuickSession, as_quick_error
from memcli.embedding.query import QueryEncoder
from memcli.embedding.registry import OPENERS, open_encoder, remember
from memcli.embedding.runtime import package_run
from memcli.search.retrievers import QueryVector
from tests.embedding.loopback import Loopback, Reply, embedded, loopback, numbers
from tests.hashing import HashingEncoder
from tests.support import reason_text

BUNDLED = Choice()
WORDS = (
    "pool", "train", "fox", "coffee", "deploy", "river", "engine", "ledger", "harbour", "zanzibar",
    "kestrel", "migration", "password", "quarterly", "invoice", "telescope", "because", "why",
    "when", "did", "the", "a", "of", "who", "decided", "moved", "2025", "error",
)  # fmt: skip


def questions(count: int) -> list[str]:
    chance = random.Random(7)
    return [f"{' '.join(chance.choices(WORDS, k=9))} {number}" for number in range(count)]


@pytest.fixture(scope="module")
def bundled() -> IndexModel:
    """What an index remembers of the bundled model."""
    opened = open_encoder(BUNDLED)
    assert opened.encoder
    return IndexModel(remember(BUNDLED, opened), opened.encoder.fingerprint)


@pytest.fixture(scope="module")
def expected() -> dict[str, bytes]:
    located = locate(models=(INT8,))[0]
    encoder = PinnedEncoder(INT8, package_run(located))
    return {text: encoder.encode_query(text) for text in questions(200)}


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback() as found:
        yield found


def test_queries_through_one_are_those_of_separate_ones(
    bundled: IndexModel, expected: dict[str, bytes]
) -> None:
    one = QueryEncoder(BUNDLED)
    found = {text: one.encode_query(text, bundled) for text in expected}
    assert {text: each.blob for text, each in found.items()} == expected
    for text in list(expected)[::20]:
        separate = QueryEncoder(BUNDLED)
        assert separate.encode_query(text, bundled) == found[text]
        separate.close()
    assert one.encoder(bundled), "the model is open for queries only"
    one.close()


STATM = Path("/proc/self/statm")  # the memory of a process, as Linux tells it
GROWTH = """
import json, os, sys
from memcli.embedding.encoders import Choice, IndexModel
from memcli.embedding.query import QueryEncoder
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
encoder, index = QueryEncoder(Choice()), IndexModel(sys.argv[1], sys.argv[2])
for number, text in enumerate(json.load(sys.stdin)):
    if number == 50:  # how much the model keeps for texts of all lengths depends on the processor
        before = resident()
    assert encoder.encode_query(text, index).blob and encoder.encoder(index)
print(resident() - before)
"""

if STATM.exists():

    def test_two_hundred_queries_add_less_than_ten_megabytes(bundled: IndexModel) -> None:
        done = subprocess.run(
            [sys.executable, "-c", GROWTH, bundled.model or "", bundled.fingerprint or ""],
            input=json.dumps(questions(250)), capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert float(done.stdout) < 10

    def test_a_model_that_nobody_has_closed_is_freed_with_its_encoder(bundled: IndexModel) -> None:
        def mapped() -> int:
            return len(Path("/proc/self/maps").read_text().splitlines())

        def ask() -> int:
            encoder = QueryEncoder(Choice())
            assert encoder.encode_query("the pool", bundled).blob
            assert encoder.encoder(bundled)
            return mapped()

        first = ask()  # a model has some 140 mappings
        assert max(ask() for _ in range(5)) < first + 100


def test_threads_share_one(
    bundled: IndexModel, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each asks every question in an order of its own, and closes the model again and again."""
    monkeypatch.setattr("memcli.embedding.query.KEPT", 0)
    one, texts = QueryEncoder(BUNDLED), list(expected)[:60]
    found: list[dict[str, bytes | None]] = [{} for _ in range(4)]

    def ask(number: int) -> None:
        for at, text in enumerate(random.Random(number).sample(texts, len(texts))):
            found[number][text] = one.encode_query(text, bundled).blob
            if at % 20 == number:
                one.close()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [{text: expected[text] for text in texts}] * 4


def test_the_encoder_follows_the_index(bundled: IndexModel, expected: dict[str, bytes]) -> None:
    text = next(iter(expected))
    one = QueryEncoder(Choice(names=("bundled", "hashing")))
    hashed = HashingEncoder()
    by_words = IndexModel("", hashed.fingerprint)
    for _ in range(2):
        found = one.encode_query(text, bundled)
        assert (found.blob, found.fingerprint) == (expected[text], bundled.fingerprint)
        found = one.encode_query(text, by_words)
        assert (found.blob, found.fingerprint) == (hashed.encode_query(text), hashed.fingerprint)
    found = one.encode_query(text, IndexModel("", "word2vec;dim=3"))
    assert found == Vector(None, "", OTHER_MODEL)
    one.close()


def test_a_text_is_embedded_once_while_its_vector_is_among_the_last(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memcli.embedding.query.KEPT", 2)
    choice = Choice(names=("openai",), endpoint=server.endpoint())
    one, index = QueryEncoder(choice), IndexModel(None, None)
    for text in ("pool", "train", "pool", "fox", "pool", "train"):
        found = one.encode_query(text, index)
        assert found.blob == unit(numbers(text))
    assert server.batches == [["pool"], ["train"], ["fox"], ["pool"], ["train"]]


def test_a_failure_is_not_kept(server: Loopback) -> None:
    choice = Choice(names=("openai",), endpoint=server.endpoint())
    one, index = QueryEncoder(choice), IndexModel(None, None)
    server.behave = lambda *_: Reply(401)
    assert "wants a key" in reason_text(one.encode_query("pool", index).reason)
    server.behave = lambda _, texts: embedded(texts)
    assert one.encode_query("pool", index).blob


def test_a_file_that_is_not_the_remembered_one_is_read_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path(locate(models=(INT8,))[0].path)
    placed = tmp_path / INT8.places[0]
    placed.parent.mkdir()
    shutil.copyfile(real, placed)
    monkeypatch.syspath_prepend(tmp_path)
    index = IndexModel(None, fingerprint(INT8))
    one, other = QueryEncoder(BUNDLED), QueryEncoder(BUNDLED)
    good = one.encode_query("pool", index)
    assert one.encoder(index)
    assert good.reason is None
    with placed.open("r+b") as file:
        file.seek(INT8.size // 2)
        file.write(b"other bytes")
    # The changed file lies first; the installed one behind it is what the vector comes from.
    assert other.encode_query("pool", index).blob == good.blob
    assert other.encoder(index) is None


def test_without_the_library_the_package_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: dict[str, bytes]
) -> None:
    """The package is imported already; only the library's folder is out of sight."""
    placed = tmp_path / INT8.places[0]
    placed.parent.mkdir()
    placed.symlink_to(locate(models=(INT8,))[0].path)
    text = next(iter(expected))
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    located = locate()[0]
    index = IndexModel(f"{located.identity}\n{fingerprint(INT8)}", fingerprint(INT8))
    one = QueryEncoder(BUNDLED)
    for _ in range(2):
        found = one.encode_query(text, index)
        assert found.blob == expected[text]
        assert reason_text(found.reason) == "the library of onnxruntime was not found"
    one.close()


def test_a_model_that_failed_is_freed_before_the_package_opens_it_again(
    bundled: IndexModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions: WeakSet[QuickSession] = WeakSet()
    left = []

    def fails(self: QuickSession, *_: object) -> bytes:
        sessions.add(self)
        raise QueryModelError("no memory")

    def opens(*_: object, **__: object) -> OpenedEncoder:
        left.append(len(sessions))
        return OpenedEncoder(HashingEncoder(), None)

    monkeypatch.setattr(QuickSession, "run", as_quick_error()(fails))
    monkeypatch.setattr("memcli.embedding.registry.open_encoder", opens)
    found = QueryEncoder(BUNDLED).encode_query("pool", bundled)
    assert (reason_text(found.reason), left) == ("no memory", [0])


def test_a_query_waits_for_a_server_no_longer_than_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    is_over = threading.Event()

    def stall(*_: object) -> OpenedEncoder:
        is_over.wait()
        return OpenedEncoder(None)

    opener = Opener(lambda *_: None, stall, query_seconds=0.1)
    monkeypatch.setitem(RECORDS, "slow", EncoderRecord("slow", is_server=True))
    monkeypatch.setitem(OPENERS, "slow", lambda: opener)
    encoder = QueryEncoder(Choice(names=("slow",)))
    try:
        for _ in range(2):
            found = encoder.encode_query("the fox", IndexModel(None, None))
            assert reason_text(found.reason) == "the endpoint gives no answer within 0.1 s"
    finally:
        is_over.set()


def test_a_question_that_is_repaired_while_it_is_embedded_gets_the_vector_of_what_is_meant(
    bundled: IndexModel, expected: dict[str, bytes]
) -> None:
    typed, meant = list(expected)[:2]
    one = QueryEncoder(BUNDLED)
    begun, late = (QueryVector(lambda: one, typed, bundled) for _ in range(2))
    begun.start()
    assert begun.result(meant).blob == expected[meant]
    assert late.result(meant).blob == expected[meant]
    assert begun.result(typed).blob == expected[typed]
    one.close()


def test_a_repaired_question_that_cannot_be_embedded_leaves_no_vector_of_the_other(
    bundled: IndexModel, expected: dict[str, bytes]
) -> None:
    class Once(QueryEncoder):
        def encode_query(self, text: str, index: IndexModel) -> Vector:
            if text != typed:
                raise MemoryError
            return super().encode_query(text, index)

    typed, meant = list(expected)[:2]
    vector = QueryVector(lambda: one, typed, bundled)
    one = Once(BUNDLED)
    assert vector.result(typed).blob == expected[typed]
    assert vector.result(meant).blob is None
    one.close()
