"""The encoder of a local folder, with a model of four lines made here."""

from __future__ import annotations

import json
import math
import os
import struct
from pathlib import Path
from typing import Any

import pytest

from memcli.embedding.encoders import Choice, IndexModel, LocalModel
from memcli.embedding.local import LocalEncoder
from memcli.embedding.query import QueryEncoder
from memcli.embedding.registry import configured_fingerprint, is_verified, open_encoder, remember
from memcli.errors import RetrieverError
from tests.embedding.cross_model import make_tokenizer
from tests.support import reason_text

WORDS = ("[UNK]", "[CLS]", "[SEP]", "query", "fox", "pool", "train", "東京")
# A row a word: what the model says of it.
TABLE = ((1, 1, 0), (4, 0, 0), (0, 0, 1), (0, 3, 0), (0, 0, 4), (3, 4, 0), (1, 0, 0), (0, 1, 1))


def make_model(path: Path, *, pooled: bool = False, inputs: tuple[str, ...] = ()) -> None:
    """Write a graph that looks up each token, and with `pooled` takes the greatest of them."""
    from onnx import TensorProto, helper

    rows = [float(value) for row in TABLE for value in row]
    table = helper.make_tensor("table", TensorProto.FLOAT, (len(TABLE), 3), rows)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["tokens"])]
    result: str = "tokens"
    shape: list[str | int | None] = ["texts", "length", 3]
    if pooled:
        nodes.append(helper.make_node("ReduceMax", ["tokens"], ["one"], axes=[1], keepdims=0))
        result, shape = "one", ["texts", 3]
    names = inputs or ("input_ids", "attention_mask")
    graph = helper.make_graph(
        nodes, "tiny",
        [helper.make_tensor_value_info(n, TensorProto.INT64, ["texts", "length"]) for n in names],
        [helper.make_tensor_value_info(result, TensorProto.FLOAT, shape)],
        [table],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "tiny-model"
    make_model(found / "model.onnx")
    make_tokenizer(found, WORDS, cuts=True)
    return found


def local(folder: Path, **changes: Any) -> LocalModel:
    return LocalModel(str(folder))._replace(**changes)


def floats(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def unit(*values: float) -> Any:
    return pytest.approx([value / math.hypot(*values) for value in values], abs=1e-6)


def test_tokens_become_one_vector_by_mean_or_by_the_first(folder: Path) -> None:
    mean = LocalEncoder(local(folder))
    assert (mean.dimension, mean.max_tokens, mean.count("fox pool")) == (3, 256, 4)
    # [CLS] fox pool [SEP]: (4,0,0) + (0,0,4) + (3,4,0) + (0,0,1)
    assert floats(mean.encode(["fox pool"])[0]) == unit(7, 4, 5)
    assert floats(mean.encode(["東京"])[0]) == unit(4, 1, 2)
    cls = LocalEncoder(local(folder, pooling="cls"))
    assert floats(cls.encode(["fox pool"])[0]) == unit(4, 0, 0)


def test_the_tokenizer_neither_cuts_nor_pads(folder: Path) -> None:
    encoder = LocalEncoder(local(folder))
    assert encoder.count("fox " * 20) == 22
    assert floats(encoder.encode(["fox " * 20])[0]) == unit(4, 0, 81)


def test_prefixes_go_before_queries_and_texts(folder: Path) -> None:
    encoder = LocalEncoder(local(folder, query_prefix="query ", passage_prefix="train "))
    assert floats(encoder.encode_query("fox")) == unit(4, 3, 5)
    assert floats(encoder.encode(["fox"])[0]) == unit(5, 0, 5)
    assert encoder.count("fox") == 4


def test_a_model_may_pool_itself(folder: Path) -> None:
    make_model(folder / "model.onnx", pooled=True)
    with pytest.raises(RetrieverError, match="no output of one vector per token") as caught:
        LocalEncoder(local(folder))
    assert caught.value.hint == 'set onnx.pooling = "model"'
    encoder = LocalEncoder(local(folder, pooling="model"))
    assert floats(encoder.encode(["fox pool"])[0]) == unit(4, 4, 4)


def test_a_longer_text_is_embedded_in_pieces(folder: Path) -> None:
    model, text = local(folder, max_tokens=16), "fox " * 13 + "pool pool"
    opened = open_encoder(Choice(names=("onnx",), local=model))
    assert opened.encoder is not None
    # Pieces of 7 and 8 words, as their spaces lie: both have their say.
    (vector,) = opened.encoder.encode([text])
    assert floats(vector)[1] > 0.1
    assert floats(opened.encoder.encode_query(text)) == floats(vector)


def test_weights_in_a_sub_folder_are_found(folder: Path) -> None:
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert LocalEncoder(local(folder)).dimension == 3


def test_the_fingerprint_follows_bytes_and_settings(folder: Path, tmp_path: Path) -> None:
    def found(**changes: Any) -> str | None:
        return configured_fingerprint(Choice(names=("onnx",), local=local(folder, **changes)))

    first = found()
    assert first == LocalEncoder(local(folder)).fingerprint
    changes: list[dict[str, Any]] = [
        {"pooling": "cls"}, {"query_prefix": "q"}, {"passage_prefix": "q"}, {"max_tokens": 99},
    ]  # fmt: skip
    assert len({first, *(found(**change) for change in changes)}) == 5
    tokenizer = folder / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text() + " ")
    second = found()
    make_model(folder / "model.onnx", pooled=True)
    assert len({first, second, found()}) == 3
    assert configured_fingerprint(Choice(names=("onnx",), local=local(tmp_path))) is None


def test_files_that_an_index_remembers_are_not_hashed_again(folder: Path) -> None:
    choice = Choice(names=("onnx",), local=local(folder))
    opened = open_encoder(choice)
    assert opened.encoder is not None
    index = IndexModel(remember(choice, opened), opened.encoder.fingerprint)
    assert is_verified("onnx", choice, index)
    model = folder / "model.onnx"
    seen = model.stat()
    model.write_bytes(b"x" * seen.st_size)
    os.utime(model, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert configured_fingerprint(choice, index) == index.fingerprint
    assert configured_fingerprint(choice) != index.fingerprint
    other = choice._replace(local=choice.local._replace(pooling="cls"))
    assert configured_fingerprint(other, index) != index.fingerprint
    os.utime(model, ns=(seen.st_atime_ns, seen.st_mtime_ns + 1))
    assert not is_verified("onnx", choice, index)
    assert configured_fingerprint(choice, index) != index.fingerprint


def test_a_query_is_embedded_like_a_text(folder: Path) -> None:
    choice = Choice(names=("onnx",), local=local(folder))
    found = QueryEncoder(choice).encode_query("fox pool", IndexModel(None, None))
    assert found.blob == LocalEncoder(choice.local).encode(["fox pool"])[0]
    assert (found.reason, found.fertility) == (None, 1.0)


def test_what_is_missing_or_broken_is_named(folder: Path, tmp_path: Path) -> None:
    def reason(model: LocalModel) -> str:
        opened = open_encoder(Choice(names=("onnx",), local=model))
        assert opened.encoder is None
        return reason_text(opened.reason)

    assert "onnx.folder is not set" in reason(LocalModel())
    assert "must be a whole path, not models" in reason(LocalModel("models"))
    assert f"{tmp_path} has no model.onnx" in reason(local(tmp_path))
    make_model(folder / "model.onnx", inputs=("input_ids", "pixels"))
    assert "takes input_ids, pixels" in reason(local(folder))
    (folder / "model.onnx").write_bytes(b"no model")
    assert f"{folder / 'model.onnx'} cannot be opened" in reason(local(folder))
    (folder / "tokenizer.json").write_text(json.dumps({"version": 1}))
    assert "is not a tokenizer" in reason(local(folder))
    (folder / "tokenizer.json").unlink()
    assert "has no tokenizer.json" in reason(local(folder))


def test_a_token_that_the_model_does_not_know_stops_nothing_but_itself(folder: Path) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["dragon"] = 99
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    encoder = LocalEncoder(local(folder))
    with pytest.raises(RetrieverError, match="the model failed on 3 tokens"):
        encoder.encode(["dragon"])
    assert floats(encoder.encode(["fox"])[0]) == unit(4, 0, 5)
