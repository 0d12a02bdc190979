"""A reranker on a server: the rerank interface of Jina and Cohere, or that of TEI.

POST <url>/rerank with {"model", "query", "documents", "top_n"} returns {"results": [{"index",
"relevance_score"}]}: llama.cpp's server, vLLM, infinity, LocalAI and hosted ones. The server of
Hugging Face, TEI, expects {"query", "texts"} and returns [{"index", "score"}]. It rejects the first
request (status 422, missing field `texts`), which is then sent in its own form.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isfinite
from threading import Event
from typing import Any

from memcli.embedding.server import Reply, Server, Wire, message

_BYTES_A_RESULT = 1024  # of JSON per result; a server may also repeat the text
_SLACK = 1 << 16


class ServerReranker:
    """Scores texts by one HTTP request; satisfies `Scorer`."""

    def __init__(self, server: Server, seconds: float) -> None:
        """Check the settings; no request is made. Raises RetrieverError."""
        self._server = server
        self._key = server.read_key()
        self._wire = Wire(server, self._key, seconds)
        self._wants_texts = False  # the form of TEI

    def scores(self, query: str, texts: Sequence[str], is_over: Event) -> list[float]:
        """Return one score per text, in the unit of the server's model."""
        clean = [_clean(text) for text in texts]
        reply = self._post(_clean(query), clean)
        if reply.status in (400, 422) and not self._wants_texts and b"texts" in reply.body:
            if is_over.is_set():
                return []
            self._wants_texts = True
            reply = self._post(_clean(query), clean)
        if reply.status != 200:
            raise self._server.refused(reply, message(reply.body, self._key))
        return self._read(reply.body, len(texts))

    def _post(self, query: str, texts: list[str]) -> Reply:
        fields: dict[str, Any] = {"query": query}
        if self._wants_texts:
            fields |= {"texts": texts, "truncate": True}
        else:
            fields |= {"documents": texts, "top_n": len(texts)}
            if self._server.model:
                fields["model"] = self._server.model
        body = json.dumps(fields).encode()
        return self._wire.post(body, _SLACK + 2 * len(body) + len(texts) * _BYTES_A_RESULT)

    def _read(self, body: bytes, expected: int) -> list[float]:
        try:
            answer = json.loads(body)
            rows = answer["results"] if isinstance(answer, dict) else answer
            scores = {row["index"]: _score(row) for row in rows}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._server.broken("is not a list of scores") from error
        if len(rows) != expected or set(scores) != set(range(expected)):
            raise self._server.broken(
                f"contains scores of {len(scores)} passages, not of the {expected} asked for"
            )
        if not all(type(score) in (int, float) and isfinite(score) for score in scores.values()):
            raise self._server.broken("contains a score that is not a number")
        return [float(scores[at]) for at in range(expected)]

    def close(self) -> None:
        """Close the connection."""
        del self._wire


def _score(row: dict[str, Any]) -> Any:  # noqa: ANN401
    return row["relevance_score"] if "relevance_score" in row else row["score"]


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
