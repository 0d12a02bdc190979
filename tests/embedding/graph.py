"""Generate the weight-free graphs in `embedding/data/` (development; needs the `onnx` package).

    python -m tests.embedding.graph [FOLDER]

A graph contains the arithmetic of all-MiniLM-L6-v2 and, for each weight, the file name and
byte range in an installed package. Inputs are `ids` and `mask` (int64, texts by tokens), the
output `emb` is the mean over a text's tokens at unit length. The encoders run the graphs.

Next to each graph is a file of half a kilobyte that is appended to it for `tokens`: protobuf
messages in a row are one message, so the two make a graph with one more output.
`states` are a text's tokens without the special ones, each at unit length.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memcli.embedding.models import DATA, FP32, INT8, MODELS, Model, ModelFile, locate, verify
from memcli.record import Record

LAYERS, HEADS, WIDTH, INNER, POSITIONS, WORDS = 6, 12, 384, 1536, 512, 30_522
EPSILON = 1e-12  # layer_norm_eps of the model's config.json

# Fixed, so that the bytes do not follow the version of the onnx package.
_IR_VERSION, _OPSET, _MS_OPSET = 9, 18, 1
_MS = "com.microsoft"  # the runtime's own fused operators

# The safetensors file: an 8-byte length, a JSON header, then int64 position_ids and the
# float tensors ordered by name. Only `verify` makes sure of it, by the whole file's hash.
_SAFETENSORS_START = 8 + 11_408 + POSITIONS * 8


class Weight(Record):
    """The place of a tensor in the model file."""

    shape: tuple[int, ...]
    offset: int
    length: int


def _linears(layer: int) -> dict[str, tuple[int, int]]:
    """Name the matrices of a layer in the order of computation, with (out, in) shapes."""
    at = f"encoder.layer.{layer}."
    square = ("attention.self.query", "attention.self.key", "attention.self.value")
    return {
        **{at + name: (WIDTH, WIDTH) for name in (*square, "attention.output.dense")},
        at + "intermediate.dense": (INNER, WIDTH),
        at + "output.dense": (WIDTH, INNER),
    }


def _shapes() -> dict[str, tuple[int, ...]]:
    """Name every float tensor of the official model with its shape."""
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (WORDS, WIDTH),
        "embeddings.position_embeddings.weight": (POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "pooler.dense.weight": (WIDTH, WIDTH),
        "pooler.dense.bias": (WIDTH,),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        for name, shape in _linears(layer).items():
            shapes[name + ".weight"], shapes[name + ".bias"] = shape, shape[:1]
        norms += [f"encoder.layer.{layer}.{part}output.LayerNorm" for part in ("attention.", "")]
    for norm in norms:
        shapes[norm + ".weight"] = shapes[norm + ".bias"] = (WIDTH,)
    return shapes


def fp32_layout() -> dict[str, Weight]:
    """Derive where the official file keeps each tensor."""
    layout, offset = {}, _SAFETENSORS_START
    for name, shape in sorted(_shapes().items()):
        length = 4
        for size in shape:
            length *= size
        layout[name] = Weight(shape, offset, length)
        offset += length
    return layout


def int8_layout(path: str) -> dict[str, Weight]:
    """Read where the installed int8 file keeps each tensor, under the official names.

    Matrices come as `*_q` (int8, input by output) and `*_scale` (one float a column, in
    the embedding tables one a row), in the order of computation.
    """
    import onnx

    data = Path(path).read_bytes()
    matrices = ["embeddings.word_embeddings", "embeddings.position_embeddings"]
    for layer in range(LAYERS):
        matrices += _linears(layer)
    queue = iter(f"{name}.weight.{part}" for name in matrices for part in ("int8", "scale"))
    layout, end = {}, 0
    for tensor in onnx.load(path).graph.initializer:
        if len(tensor.raw_data) < WIDTH:
            continue
        # Tensors follow one another in the file, so the first match is the tensor itself.
        offset = data.index(tensor.raw_data, end)
        end = offset + len(tensor.raw_data)
        quantised = tensor.name.endswith(("_q", "_scale"))
        name = next(queue) if quantised else tensor.name.removeprefix("inner.")
        layout[name] = Weight(tuple(tensor.dims), offset, len(tensor.raw_data))
    return layout


class _Builder:
    """Collects nodes and initialisers; each result is named by its number."""

    def __init__(self, model: Model, layout: dict[str, Weight]) -> None:
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self._layout = layout
        self._file = model.places[0].rpartition("/")[2]

    def op(self, kind: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Add a node of one output and give the output's name."""
        from onnx import helper

        output = attributes.pop("output", f"t{len(self.nodes)}")
        domain = attributes.pop("domain", "")
        node = helper.make_node(kind, inputs, [output], domain=domain, **attributes)
        self.nodes.append(node)
        return str(output)

    def integers(self, name: str, *values: int) -> str:
        """Add a small constant."""
        from onnx import TensorProto, helper

        self.initializers.append(
            helper.make_tensor(name, TensorProto.INT64, (len(values),), values)
        )
        return name

    def weight(self, name: str, shape: tuple[int, ...] | None = None) -> str:
        """Add a reference into the model file; `shape` reads a part or another shape."""
        from onnx import TensorProto

        whole = self._layout[name]
        length, kind = whole.length, TensorProto.FLOAT
        if name.endswith(".int8"):
            kind = TensorProto.INT8
        if name.startswith("embeddings.token_type"):
            length //= 2  # row 0: a text is always the first segment
        tensor = TensorProto(name=name, data_type=kind, dims=shape or whole.shape)
        tensor.data_location = TensorProto.EXTERNAL
        places = (("location", self._file), ("offset", whole.offset), ("length", length))
        for key, value in places:
            tensor.external_data.add(key=key, value=str(value))
        self.initializers.append(tensor)
        return name

    def linear(self, x: str, name: str) -> str:
        """Multiply rows by a matrix and add its bias."""
        matrix = name + ".weight"
        if matrix in self._layout:
            return self.op("Gemm", [x, self.weight(matrix), self.weight(name + ".bias")], transB=1)
        columns = self._layout[matrix + ".scale"].shape[-1:]
        weights = [self.weight(matrix + ".int8"), self.weight(matrix + ".scale", columns), ""]
        inputs = [x, *weights, self.weight(name + ".bias")]
        return self.op("DynamicQuantizeMatMul", inputs, domain=_MS)

    def rows(self, name: str, select: str, *extra: str) -> str:
        """Take rows of an embedding table."""
        if name in self._layout:
            return self.op(select, [self.weight(name), *extra])
        count = self._layout[name + ".scale"].shape[:1]
        taken = self.op(select, [self.weight(name + ".int8"), *extra])
        scale = self.op(select, [self.weight(name + ".scale", count), *extra])
        scale = self.op("Unsqueeze", [scale, "last"])
        return self.op("Mul", [self.op("Cast", [taken], to=1), scale])  # 1: float

    def norm(self, kind: str, inputs: Sequence[str], name: str, domain: str = "") -> str:
        """Add a residual, if there is one, and normalise rows."""
        affine = [self.weight(name + ".weight"), self.weight(name + ".bias")]
        return self.op(kind, [*inputs, *affine], domain=domain, epsilon=EPSILON)


def _embeddings(build: _Builder) -> str:
    length = build.op("Shape", ["ids"], start=1, end=2)
    x = build.op(
        "Add",
        [
            build.rows("embeddings.word_embeddings.weight", "Gather", "ids"),
            build.rows("embeddings.position_embeddings.weight", "Slice", "first", length, "first"),
        ],
    )
    segment = build.weight("embeddings.token_type_embeddings.weight", (WIDTH,))
    x = build.norm("LayerNormalization", [build.op("Add", [x, segment])], "embeddings.LayerNorm")
    return build.op("Reshape", [x, "rows"])


def _layer(build: _Builder, x: str, layer: int, mask: str, shape: str) -> str:
    query, key, value, output, inner, outer = _linears(layer)
    q, k, v = (build.op("Reshape", [build.linear(x, name), shape]) for name in (query, key, value))
    heads = build.op("MultiHeadAttention", [q, k, v, "", mask], domain=_MS, num_heads=HEADS)
    attended = build.linear(build.op("Reshape", [heads, "rows"]), output)
    at = f"encoder.layer.{layer}."
    skip = "SkipLayerNormalization"
    x = build.norm(skip, [attended, x], at + "attention.output.LayerNorm", _MS)
    grown = build.op("Gelu", [build.linear(x, inner)], domain=_MS)
    return build.norm(skip, [build.linear(grown, outer), x], at + "output.LayerNorm", _MS)


def build_graph(model: Model, layout: dict[str, Weight]) -> bytes:
    """Write the graph of one model file."""
    from onnx import ModelProto, TensorProto, helper

    build = _Builder(model, layout)
    build.integers("first", 0)
    build.integers("last", -1)
    build.integers("tokens", 1)
    build.integers("rows", -1, WIDTH)
    width = build.integers("width", WIDTH)
    shape = build.op("Concat", [build.op("Shape", ["ids"]), width], axis=0)
    x = _embeddings(build)
    mask = build.op("Cast", ["mask"], to=TensorProto.INT32)
    for layer in range(LAYERS):
        x = _layer(build, x, layer, mask, shape)
    x = build.op("Reshape", [x, shape])
    kept = build.op("Unsqueeze", [build.op("Cast", ["mask"], to=TensorProto.FLOAT), "last"])
    # The sum has the direction of the mean.
    total = build.op("ReduceSum", [build.op("Mul", [x, kept]), "tokens"], keepdims=0)
    length = build.op("ReduceL2", [total, "last"], keepdims=1)
    build.op("Div", [total, length], output="emb")

    tokens = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "length"])
        for name in ("ids", "mask")
    ]
    result = helper.make_tensor_value_info("emb", TensorProto.FLOAT, ["texts", WIDTH])
    graph = helper.make_graph(build.nodes, model.name, tokens, [result], build.initializers)
    proto = ModelProto(ir_version=_IR_VERSION, producer_name="memcli", graph=graph)
    proto.opset_import.add(domain="", version=_OPSET)
    proto.opset_import.add(domain=_MS, version=_MS_OPSET)
    return bytes(proto.SerializeToString(deterministic=True))


def build_states(model: Model, graph: bytes) -> bytes:
    """Write the file that is appended to the graph of a model to compare its tokens."""
    from onnx import ModelProto, TensorProto, helper, load_from_string

    made = {node.output[0]: node for node in load_from_string(graph).graph.node}
    total = next(node for node in made.values() if node.op_type == "ReduceSum")
    last_layer = made[total.input[0]].input[0]
    build = _Builder(model, {})
    for name, at in (("second", 1), ("end", -1), ("text", 0)):
        build.integers(name, at)
    words = build.op("Slice", [last_layer, "second", "end", "tokens"], output="words")
    rows = build.op("Squeeze", [words, "text"], output="rows_of_words")
    build.op("LpNormalization", [rows], axis=-1, p=2, output="states")
    states = helper.make_tensor_value_info("states", TensorProto.FLOAT, ["words", WIDTH])
    proto = ModelProto()
    proto.graph.node.extend(build.nodes)
    proto.graph.initializer.extend(build.initializers)
    proto.graph.output.append(states)
    return bytes(proto.SerializeToString(deterministic=True))


def graph_of(model: Model) -> bytes:
    """Generate the shipped graph of a model; the int8 one needs its package installed."""
    if model == FP32:
        return build_graph(FP32, fp32_layout())
    found = next((located for located in locate(models=(INT8,)) if verify(located)), None)
    if not isinstance(found, ModelFile):
        raise FileNotFoundError(f"{INT8.places[0]} is not installed")
    return build_graph(INT8, int8_layout(found.path))


def main(arguments: Sequence[str]) -> None:
    """Write all graphs to the folder named, else where they are shipped."""
    folder = Path(arguments[0]) if arguments else Path(DATA)
    for model in MODELS:
        graph = graph_of(model)
        (folder / model.graph).write_bytes(graph)
        (folder / model.states).write_bytes(build_states(model, graph))


if __name__ == "__main__":
    main(sys.argv[1:])
