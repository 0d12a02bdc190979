"""Rerankers behind a real server: both shapes, every fault, and no key in what is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memcli.embedding.encoders import Choice, IndexModel
from memcli.embedding.rerankers import Reranking, SharedReranker
from memcli.errors import RetrieverError
from tests.embedding.loopback import Loopback, Reply, loopback, ranked

KEY = "sk-0123456789abcdef"
TEXTS = ["one", "one two three", "one two"]
SCORES = [1.0, 3.0, 2.0]
TEI_ERROR = b"Failed to deserialize the JSON body into the target type: missing field `texts`"


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback(lambda _, texts: ranked(texts)) as found:
        yield found


def kept(server: Loopback, **changes: Any) -> SharedReranker:
    wanted = Reranking("endpoint", 30.0, url=server.url, model="words")._replace(**changes)
    return SharedReranker(wanted, Choice(), IndexModel(None, None))


def fault(server: Loopback, **changes: Any) -> RetrieverError:
    with pytest.raises(RetrieverError) as caught:
        kept(server, **changes).scores("why", TEXTS)
    return caught.value


def answering(body: object, status: int = 200) -> Callable[[int, list[str]], Reply]:
    return lambda _, texts: Reply(status, body)


def rows(*pairs: tuple[Any, Any]) -> dict[str, Any]:
    return {"results": [{"index": at, "relevance_score": score} for at, score in pairs]}


def test_scores_come_back_in_the_order_of_the_texts(server: Loopback) -> None:
    reranker = kept(server)
    assert reranker.scores("why \ud800", TEXTS) == SCORES
    assert server.paths == ["/v1/rerank"]
    assert server.asked == [{"model": "words", "query": "why ?", "documents": TEXTS, "top_n": 3}]
    assert "Authorization" not in server.headers[0]
    assert reranker.scores("why", TEXTS[:1]) == [1.0]
    assert len(server.connections) == 1  # it is kept
    reranker.close()


def test_a_server_of_one_model_need_not_be_told_its_name(server: Loopback) -> None:
    assert kept(server, model="").scores("why", TEXTS) == SCORES
    assert "model" not in server.asked[0]


def test_the_shape_of_tei_is_found_out_once(server: Loopback) -> None:
    def tei(number: int, texts: list[str]) -> Reply:
        if "texts" not in server.asked[number]:
            return Reply(422, TEI_ERROR)
        return ranked(texts, as_tei=True)

    server.behave = tei
    reranker = kept(server, url=server.url.removesuffix("/v1"))
    assert reranker.scores("why", TEXTS) == SCORES
    assert reranker.scores("why", TEXTS) == SCORES
    assert server.paths == ["/rerank"] * 3
    assert [sorted(asked) for asked in server.asked] == [
        ["documents", "model", "query", "top_n"],
        ["query", "texts", "truncate"],
        ["query", "texts", "truncate"],
    ]


def test_a_key_is_sent_and_never_shown(server: Loopback) -> None:
    with_key = {"key": lambda: KEY, "key_variable": "RERANK_KEY"}
    assert kept(server, **with_key).scores("why", TEXTS) == SCORES
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    server.behave = answering({"error": {"message": f"no such key: {KEY}"}}, 500)
    assert "[key]" in fault(server, **with_key).message
    server.behave = answering({"error": f"no such key: {KEY}"}, 401)
    found = fault(server, **with_key)
    assert "refuses the key in RERANK_KEY (status 401)" in found.message
    assert KEY not in found.message + found.hint + repr(kept(server, **with_key)._settings)
    assert fault(server).hint.startswith("set rerank.key_variable")
    found = fault(server, key_variable="RERANK_KEY")
    assert "the variable RERANK_KEY that rerank.key_variable names is not set" in found.message


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>", "is not a list of scores"),
        ([1, 2, 3], "is not a list of scores"),
        ({"data": []}, "is not a list of scores"),
        ({"results": [{"index": 0, "logit": 1.0}]}, "is not a list of scores"),
        (rows((0, 1.0), (1, 2.0)), "contains scores of 2 passages, not of the 3 asked for"),
        (rows((0, 1.0), (1, 2.0), (1, 3.0)), "contains scores of 2 passages"),
        (rows((0, 1.0), (1, 2.0), (3, 3.0)), "contains scores of 3 passages, not of the 3"),
        (rows((0, 1.0), (1, 2.0), (2, float("nan"))), "contains a score that is not a number"),
        (rows((0, 1.0), (1, 2.0), (2, "3")), "contains a score that is not a number"),
        (rows((0, 1.0), (1, 2.0), (2, None)), "contains a score that is not a number"),
        (rows((0, 1.0), ([], 2.0), (2, 1.0)), "is not a list of scores"),
    ],
)
def test_an_answer_of_another_shape_is_named(server: Loopback, body: object, said: str) -> None:
    server.behave = answering(body)
    assert said in fault(server).message


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(404, {"error": "not found"}), "has no /rerank or no model words: not found"),
        (Reply(400, {"message": "no rank pooling"}), "with status 400: no rank pooling"),
        (Reply(422, TEI_ERROR), "refuses the request with status 422"),
        (Reply(503, {}), "refuses the request with status 503"),
        (Reply(302, b"", (("Location", "http://example.invalid/x"),)), "redirects to example"),
        (Reply(200, b" " * (1 << 20)), "far larger"),
    ],
)
def test_a_refusal_is_said(server: Loopback, reply: Reply, said: str) -> None:
    server.behave = lambda _, texts: reply
    assert said in fault(server).message
