"""A cross-encoder of four nodes: the sum of what each word of the text is worth."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

WORTH = {"[UNK]": 0.0, "[CLS]": 0.0, "[SEP]": 0.0, "pool": 2.0, "pump": 5.0, "car": -3.0}


def make_cross_encoder(folder: Path, *, numbers: int = 1, has_types: bool = True) -> Path:
    """Write model and tokenizer; each of `numbers` of a pair is one more times the sum."""
    from onnx import TensorProto, helper

    folder.mkdir(parents=True, exist_ok=True)
    rows = [value * (n + 1) for value in WORTH.values() for n in range(numbers)]
    table = helper.make_tensor("table", TensorProto.FLOAT, (len(WORTH), numbers), rows)
    last = helper.make_tensor("last", TensorProto.INT64, (1,), [-1])
    length = helper.make_tensor("length", TensorProto.INT64, (1,), [1])
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["worth"])]
    names = ["input_ids", "attention_mask"]
    if has_types:
        names.append("token_type_ids")
        nodes += [
            helper.make_node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["types", "last"], ["column"]),
            helper.make_node("Mul", ["worth", "column"], ["counted"]),
        ]
    counted = "counted" if has_types else "worth"
    nodes.append(helper.make_node("ReduceSum", [counted, "length"], ["logits"], keepdims=0))
    graph = helper.make_graph(
        nodes, "tiny",
        [helper.make_tensor_value_info(n, TensorProto.INT64, ["pairs", "length"]) for n in names],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["pairs", numbers])],
        [table, last, length],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    make_tokenizer(folder, WORTH)
    return folder


def make_tokenizer(folder: Path, known: Iterable[str], *, cuts: bool = False) -> None:
    """Write a tokenizer of whole words; with `cuts` it cuts and pads, as published ones often do.

    [CLS] and [SEP] are the second and third of the words.
    """
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    words = {word: number for number, word in enumerate(known)}
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    if cuts:
        tokenizer.enable_truncation(4)
        tokenizer.enable_padding(length=9)
    tokenizer.save(str(folder / "tokenizer.json"))
