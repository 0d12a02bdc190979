"""The encoder behind an HTTP endpoint, against a real server."""

from __future__ import annotations

import gzip
import re
import socket
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memcli.embedding.encoders import Choice, Endpoint, IndexModel
from memcli.embedding.endpoint import ATTEMPTS, REQUESTS, EndpointEncoder, Sleep
from memcli.embedding.long_texts import unit
from memcli.embedding.query import QueryEncoder
from memcli.embedding.registry import configured_fingerprint, open_encoder
from memcli.errors import Reason, RetrieverError
from memcli.indexing.indexer import embed, index, text_of
from memcli.markdown.segments import segment_hash
from memcli.search.retrievers import QueryVector
from memcli.store.quantize import packed
from memcli.store.sqlite.driver import rows
from memcli.types import Encoder
from tests.embedding.loopback import (
    DIMENSION,
    MODEL,
    Loopback,
    Reply,
    dripping,
    embedded,
    loopback,
    numbers,
)
from tests.store_check import assert_sound, open_writer
from tests.support import make_settings, write

KEY = "sk-very-secret-7f3a"
TEXTS = ["the pool is full", "a fox", "trains on time"]


def vector(text: str) -> bytes:
    packed = unit(numbers(text))
    assert packed is not None
    return packed


def fault(server: Loopback, **changes: object) -> RetrieverError:
    with pytest.raises(RetrieverError) as caught:
        EndpointEncoder(server.endpoint(**changes)).encode(TEXTS)
    assert KEY not in caught.value.message + caught.value.hint
    return caught.value


def test_texts_come_back_as_unit_vectors_in_order() -> None:
    with loopback() as server:
        encoder: Encoder = EndpointEncoder(server.endpoint())
        assert encoder.encode(TEXTS) == [vector(text) for text in TEXTS]
        assert encoder.encode_query(TEXTS[1]) == vector(TEXTS[1])
        assert encoder.encode([]) == []
        assert (encoder.dimension, encoder.max_tokens) == (DIMENSION, 512)
    assert server.batches == [TEXTS, [TEXTS[1]]]
    assert server.asked[0] == {"model": "hashed-words", "input": TEXTS}
    assert server.paths == ["/v1/embeddings"] * 2
    assert "Authorization" not in server.headers[0]


def test_prefixes_and_the_key_are_sent() -> None:
    with loopback() as server:
        endpoint = server.endpoint(
            query_prefix="query: ", passage_prefix="passage: ",
            key_variable="EMBEDDING_KEY", key=lambda: f" {KEY}\n",
        )  # fmt: skip
        encoder = EndpointEncoder(endpoint)
        encoder.encode(["a"])
        encoder.encode_query("b")
    assert server.batches == [["passage: a"], ["query: b"]]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(endpoint) + encoder.fingerprint


def test_a_refused_key_is_named_by_its_variable_and_never_shown() -> None:
    said = Reply(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
    with loopback(lambda *_: said) as server:
        error = fault(server, key_variable="EMBEDDING_KEY", key=lambda: KEY)
        assert "EMBEDDING_KEY (status 401)" in error.message
        assert "EMBEDDING_KEY" in error.hint
        assert "openai.key_variable" in fault(server).hint
    assert len(server.batches) == 2


@pytest.mark.parametrize("key", [None, "", "two\nlines", "schlüssel", "nul\0"])
def test_a_key_that_cannot_be_sent_is_not(key: str | None) -> None:
    with loopback() as server:
        error = fault(server, key_variable="EMBEDDING_KEY", key=lambda: key)
        assert "EMBEDDING_KEY" in error.message
        assert not key or key not in error.message
    assert server.batches == []


def test_what_a_server_says_of_an_error_is_told_without_the_key() -> None:
    said = Reply(400, {"error": {"message": f"no\nmodel for {KEY} " + "x" * 500}})
    with loopback(lambda *_: said) as server:
        error = fault(server, key_variable="K", key=lambda: KEY)
    assert "status 400: no model for [key] xxx" in error.message
    assert len(error.message) < 300
    split = Reply(400, {"error": f"no {KEY[:9]} {KEY[9:]}\n"})
    with loopback(lambda *_: split) as server:
        assert fault(server, key_variable="K", key=lambda: KEY).message.endswith(": no [key]")


def test_a_busy_server_is_waited_for_as_long_as_it_asks() -> None:
    waits: list[float] = []
    busy = Reply(429, {}, (("Retry-After", "7"),))

    def behave(number: int, texts: list[str]) -> Reply:
        return busy if number < 2 else embedded(texts)

    with loopback(behave) as server:
        encoder = EndpointEncoder(server.endpoint(), sleep=waits.append)
        assert encoder.encode(TEXTS) == [vector(text) for text in TEXTS]
    assert waits == [7.0, 7.0]
    assert server.batches == [TEXTS] * 3


def test_a_server_that_stays_busy_is_given_up() -> None:
    waits: list[float] = []
    with loopback(lambda *_: Reply(503, b"down")) as server:
        encoder = EndpointEncoder(server.endpoint(), sleep=waits.append)
        with pytest.raises(RetrieverError, match="status 503"):
            encoder.encode(TEXTS)
    assert waits == [1.0, 2.0, 4.0, 8.0]
    assert len(server.batches) == ATTEMPTS


@pytest.mark.parametrize("asked", ["3600", "inf", "nan"])
def test_nobody_waits_for_an_hour(asked: str) -> None:
    waits: list[float] = []
    with loopback(lambda *_: Reply(429, {}, (("Retry-After", asked),))) as server:
        encoder = EndpointEncoder(server.endpoint(), sleep=waits.append)
        with pytest.raises(RetrieverError, match="asks to wait"):
            encoder.encode(TEXTS)
    assert waits == []
    assert len(server.batches) == 1


def test_a_search_does_not_wait_at_all() -> None:
    with loopback(lambda *_: Reply(429, {}, (("Retry-After", "1"),))) as server:
        assert "status 429" in fault(server).message
    assert len(server.batches) == 1


@pytest.mark.parametrize(
    "refusal",
    [
        Reply(413, b"<html>"),
        Reply(400, {"error": {"message": "input is too large"}}),
        Reply(422, {"detail": "batch size 8 exceeds 3"}),
    ],
)
def test_batches_are_halved_until_they_fit_and_stay_so(refusal: Reply) -> None:
    texts = [f"text {number}" for number in range(8)]

    def behave(_: int, batch: list[str]) -> Reply:
        return embedded(batch) if len(batch) <= 3 else refusal

    with loopback(behave) as server:
        encoder = EndpointEncoder(server.endpoint())
        assert encoder.encode(texts) == [vector(text) for text in texts]
        encoder.encode(texts[:4])
    assert [len(batch) for batch in server.batches] == [8, 4, 2, 2, 2, 2, 2, 2]


def test_a_single_text_that_is_too_large_is_embedded_in_halves() -> None:
    def behave(_: int, batch: list[str]) -> Reply:
        return embedded(batch) if len("".join(batch)) <= 12 else Reply(413)

    with loopback(behave) as server:
        found = EndpointEncoder(server.endpoint()).encode(["one fox and a train"])[0]
        server.behave = lambda *_: Reply(413)
        with pytest.raises(RetrieverError, match="single letter"):
            EndpointEncoder(server.endpoint()).encode(["ab"])
    assert server.batches[2:4] == [["one fox"], [" and a train"]]
    first, second = (struct.unpack(f"<{DIMENSION}f", vector(t)) for t in ("one fox", "and a train"))
    mean = unit([7 * a + 12 * b for a, b in zip(first, second, strict=True)])
    assert mean is not None
    assert struct.unpack(f"<{DIMENSION}f", found) == pytest.approx(
        struct.unpack(f"<{DIMENSION}f", mean), abs=1e-6
    )


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"{", "not a list of embeddings"),
        (b'{"data": []}{}', "not a list of embeddings"),
        (b"<html>Sign in to the hotel's network</html>", "not a list of embeddings"),
        (bytes(range(256)) * 40, "not a list of embeddings"),
        (b"[" * 100_000, "not a list of embeddings"),
        ({"data": 3}, "not a list of embeddings"),
        ({"data": [{"index": 0}]}, "not a list of embeddings"),
        ({"data": []}, "contains 0 embeddings, not the 3"),
        ({"data": [{"index": 0, "embedding": [1.0] * DIMENSION}] * 3}, "contains 3 embeddings"),
        (embedded(TEXTS, 8).body, "vectors of 8 components, not the 16"),
        ({"data": [{"index": n, "embedding": "AAAA"} for n in range(3)]}, "not a list of numbers"),
        ({"data": [{"index": n, "embedding": [True] * 16} for n in range(3)]}, "list of numbers"),
        ({"data": [{"index": n, "embedding": [0.0] * 16} for n in range(3)]}, "a direction"),
        ({"data": [{"index": n, "embedding": [float("nan")] * 16} for n in range(3)]}, "direction"),
        ({"data": [{"index": n, "embedding": [10**400] * 16} for n in range(3)]}, "direction"),
        ({"data": [{"index": n, "embedding": [-(10**4299)] * 16} for n in range(3)]}, "direction"),
        (b'{"data": [' + b"1" * 5000 + b"]}", "not a list of embeddings"),
        ({"data": [{"index": 10**400, "embedding": [1.0] * 16}] * 3}, "contains 3 embeddings"),
    ],
)
def test_a_broken_answer_is_named(body: object, told: str) -> None:
    with loopback(lambda *_: Reply(body=body)) as server:
        assert told in fault(server).message


def test_vectors_of_a_second_model_are_refused() -> None:
    named = [None, "words-v2", "words-v2", "letters\x1b[2J"]

    def behave(number: int, texts: list[str]) -> Reply:
        body = embedded(texts).body
        assert isinstance(body, dict)
        return Reply(body={**body, "model": named[number]})

    with loopback(behave) as server:
        encoder = EndpointEncoder(server.endpoint())
        for _ in range(3):
            assert encoder.encode(TEXTS) == [vector(text) for text in TEXTS]
        with pytest.raises(RetrieverError, match="another model than before") as caught:
            encoder.encode(TEXTS)
        assert "openai.model" in caught.value.hint
        assert "letters" not in caught.value.message


def test_what_is_packed_is_not_unpacked() -> None:
    bomb = gzip.compress(bytes(50 << 20))  # which would be far larger than any answer
    packed = Reply(body=bomb, headers=(("Content-Encoding", "gzip"),))
    with loopback(lambda *_: packed) as server:
        assert "not a list of embeddings" in fault(server).message
        assert server.headers[0]["Accept-Encoding"] == "identity"


def test_an_answer_without_end_is_not_read_to_its_end() -> None:
    with loopback(lambda *_: Reply(body=b" " * (6 << 20))) as server:
        assert "far larger" in fault(server).message


def test_a_dimension_that_was_not_told_is_told() -> None:
    with loopback() as server:
        error = fault(server, dimension=0)
    assert error.hint == f"set openai.dimension = {DIMENSION}"


def test_a_redirect_is_not_followed() -> None:
    with loopback() as other:
        moved = Reply(307, b"", (("Location", f"{other.url}/embeddings"),))
        with loopback(lambda *_: moved) as server:
            error = fault(server, key_variable="K", key=lambda: KEY)
        assert other.url.split("/")[2] in error.message
        assert other.batches == []


def test_no_variable_of_a_proxy_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with loopback() as other, loopback() as server:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, other.url)
        assert EndpointEncoder(server.endpoint()).encode(TEXTS) == [vector(each) for each in TEXTS]
        assert other.batches == []


@pytest.mark.parametrize("to", ["http://[oops/x", "http://[::1", "//[", "", "/x", "\u00e9"])
def test_a_broken_redirect_is_a_refusal(to: str) -> None:
    with loopback(lambda *_: Reply(308, b"", (("Location", to),))) as server:
        assert "redirects to another place" in fault(server).message


def test_a_silent_server_is_left_after_the_timeout() -> None:
    with loopback() as server:
        server.behave = server.silent
        assert "no answer within 0.2 s" in fault(server, timeout_seconds=0.2).message


OK = b"HTTP/1.1 200 OK\r\n"
DRIPS = {
    "a body": (OK + b"Content-Length: 900000\r\n\r\n", b" "),
    "a header": (OK + b"X: ", b"x"),
    "headers": (OK, b"X: x\r\n"),
    "a status line": (b"", b"H"),
    "chunks": (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "continue, fast": (b"HTTP/1.1 100 Continue\r\n\r\n" * 2000, b"HTTP/1.1 100 C\r\n\r\n" * 99),
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("sleep", [None, lambda seconds: None], ids=["in passing", "patiently"])
def test_a_server_that_drips_is_left_after_the_timeout(sleep: Sleep | None) -> None:
    def ask(drip: str) -> list[str]:
        with dripping(*DRIPS[drip]) as endpoint:
            encoder, said = EndpointEncoder(endpoint, sleep=sleep), []
            for _ in range(2):  # a second request begins anew
                with pytest.raises(RetrieverError) as caught:
                    encoder.encode(TEXTS)
                said.append(str(caught.value))
            return said

    with ThreadPoolExecutor(len(DRIPS)) as threads:  # all are waited for at once
        for drip, said in zip(DRIPS, threads.map(ask, DRIPS), strict=True):
            for each in said:
                assert re.search(r"reached: (no answer|it does not)", each), drip


@pytest.mark.timeout(20)
@pytest.mark.parametrize("what", ["texts", "a query"])
def test_in_passing_all_requests_together_have_one_deadline(what: str) -> None:
    passed = threading.Event()

    def behave(_: int, __: list[str]) -> Reply:
        passed.wait(0.1)
        return Reply(413)

    with loopback(behave) as server:
        encoder = EndpointEncoder(server.endpoint(timeout_seconds=0.5))
        with pytest.raises(RetrieverError, match=r"no answer within 0\.5 s"):
            encoder.encode(["ab" * 99]) if what == "texts" else encoder.encode_query("ab" * 99)
        assert len(server.batches) <= 6
        asked = len(server.batches)
        with pytest.raises(RetrieverError, match=r"no answer within 0\.5 s"):
            encoder.encode_query("cd")
        assert ["cd"] not in server.batches[asked:], "a server that was given up is not asked"


def test_whatever_fails_in_the_thread_of_a_query_is_the_reason() -> None:
    def key() -> str:
        raise KeyError("no such drawer")

    endpoint = Endpoint("http://h/v1", MODEL, key=key, key_variable="K", dimension=DIMENSION)
    encoder = QueryEncoder(Choice(("openai",), endpoint=endpoint))
    vector = QueryVector(lambda: encoder, "pool", IndexModel(None, None))
    assert vector.result("pool").blob is None
    told = "the query could not be embedded: KeyError: 'no such drawer'"
    assert vector.result("pool").reason == Reason("no-vector", told)


def test_what_speaks_another_protocol_is_not_quoted() -> None:
    with dripping(b"220 secret.example ESMTP\r\n" * 9, b"") as endpoint:
        with pytest.raises(RetrieverError, match="it does not answer in HTTP") as caught:
            EndpointEncoder(endpoint).encode(TEXTS)
        assert "secret" not in caught.value.message


def test_a_connection_that_was_closed_meanwhile_is_opened_again() -> None:
    with loopback(lambda _, texts: embedded(texts)._replace(hang_up=True)) as server:
        encoder = EndpointEncoder(server.endpoint())
        assert [encoder.encode_query(text) for text in TEXTS] == [vector(text) for text in TEXTS]


def test_nobody_there() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    with pytest.raises(RetrieverError, match="cannot be reached: Connection refused"):
        EndpointEncoder(Endpoint(url=url, model="m", dimension=2)).encode(["a"])


@pytest.mark.parametrize("url", ["http://a..b/v1", "http://127.0.0.1:9/é", "http://h/ x"])
def test_an_address_that_cannot_be_sent_to(url: str) -> None:
    with pytest.raises(RetrieverError, match="cannot be reached"):
        EndpointEncoder(Endpoint(url=url, model="m", dimension=2)).encode(["a"])


@pytest.mark.parametrize(
    ("endpoint", "told"),
    [
        (Endpoint(model="m"), "openai.url is not set"),
        (Endpoint(url="http://h"), "openai.model is not set"),
        (Endpoint(url="ftp://h", model="m"), "must begin with"),
        (Endpoint(url="file:///etc/passwd", model="m"), "must begin with"),
        (Endpoint(url="http://h:port", model="m"), "not an address"),
        (Endpoint(url=f"http://me:{KEY}@h", model="m"), "contains a name or a password"),
    ],
)
def test_settings_that_cannot_work_are_named(endpoint: Endpoint, told: str) -> None:
    opened = open_encoder(Choice(names=("openai",), endpoint=endpoint))
    assert opened.encoder is None
    assert opened.reason is not None
    assert told in opened.reason.text
    assert opened.reason.hint
    assert KEY not in opened.reason.text + opened.reason.hint


def test_the_fingerprint_tells_apart_whatever_changes_vectors() -> None:
    plain = Endpoint(url="http://h/v1", model="m", dimension=4)
    others = [
        plain._replace(url="http://g/v1"), plain._replace(model="n"), plain._replace(dimension=5),
        plain._replace(query_prefix="q"), plain._replace(passage_prefix="q"),
        plain._replace(max_tokens=99),
    ]  # fmt: skip
    same = [plain._replace(timeout_seconds=1), plain._replace(key_variable="K")]
    found = [
        configured_fingerprint(Choice(names=("openai",), endpoint=endpoint))
        for endpoint in (plain, *others, *same)
    ]
    assert len(set(found)) == 1 + len(others)
    assert found[-2:] == found[:1] * 2


def test_a_run_that_breaks_off_keeps_what_it_has(tmp_path: Path) -> None:
    for number in range(40):
        write(tmp_path / "ws", f"{number:02}.md", f"# N{number}\n\nfox number {number}\n")
    writer = open_writer(str(tmp_path / "store" / "index.sqlite"))
    index(writer, make_settings(tmp_path / "ws"))
    done: list[int] = []
    with loopback() as server:
        encoder = EndpointEncoder(server.endpoint())
        server.behave = lambda number, texts: embedded(texts) if number < 1 else Reply(500)
        with pytest.raises(RetrieverError):
            embed(writer, encoder, on_progress=lambda _, made, __: done.append(made))
        assert done == [32]
        assert writer.unembedded(encoder.fingerprint) == 8
        server.behave = lambda _, texts: embedded(texts)
        assert embed(writer, encoder) == 8
        assert writer.unembedded(encoder.fingerprint) == 0
        first, _, second = server.batches
        assert len({*first, *second}) == 40  # nothing was asked for twice
    writer.close()
    assert_sound(str(tmp_path / "store" / "index.sqlite"))


def test_requests_go_out_together_and_their_order_is_kept(tmp_path: Path) -> None:
    together = threading.Barrier(REQUESTS, timeout=30)

    def behave(number: int, texts: list[str]) -> Reply:
        if number < REQUESTS:  # none is answered before all are here
            together.wait()
        return embedded(texts)

    for number in range(160):
        write(tmp_path / "notes", f"memory/{number}.md", f"# N\n\nword{number} fox\n")
    writer = open_writer(str(tmp_path / "index.sqlite"))
    index(writer, make_settings(tmp_path / "notes"))
    with loopback(behave) as server:
        choice = Choice(names=("openai",), endpoint=server.endpoint())
        opened = open_encoder(choice, sleep=lambda _: None, check=False)
        assert opened.encoder is not None
        assert (opened.at_once, opened.texts) == (REQUESTS, 32)
        waiting = [text_of(item) for item in writer.pending(opened.encoder.fingerprint, 999)]
        assert embed(writer, opened.encoder, at_once=REQUESTS, per_call=32) == 160
    assert sorted(map(len, server.batches)) == [32] * 5
    assert len(server.connections) == REQUESTS
    held = dict(rows(writer.connection, "SELECT hash, vector FROM vectors"))
    assert held == {segment_hash(text): packed(vector(text)) for text in waiting}
    writer.close()


def test_one_thread_sends_one_request_after_the_other() -> None:
    with loopback() as server:
        choice = Choice(names=("openai",), threads=1, endpoint=server.endpoint())
        opened = open_encoder(choice, sleep=lambda _: None, check=False)
    assert opened.at_once == 1
