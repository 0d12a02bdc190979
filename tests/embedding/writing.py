"""Tiny models that write, in real files of ONNX: what they say follows from tables alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

SURE = 10.0  # score of the token that follows; all others have 0
UNKNOWN, END, START = 0, 1, 2


def make_tokenizer(folder: Path, words: Sequence[str]) -> list[str]:
    """Write a tokenizer of whole words that closes a text; give its vocabulary."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from tokenizers.processors import TemplateProcessing

    vocabulary = ["[UNK]", "[END]", "[START]", *dict.fromkeys(words)]
    known = {word: number for number, word in enumerate(vocabulary)}
    tokenizer = Tokenizer(WordLevel(known, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.add_special_tokens(["[UNK]", "[END]", "[START]"])
    tokenizer.post_processor = TemplateProcessing(
        single="$A [END]", special_tokens=[("[END]", END)]
    )
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    return vocabulary


def make_copier(folder: Path, words: Sequence[str]) -> None:
    """Write an encoder and a decoder that say the text again, up to the token that closes it."""
    size = len(make_tokenizer(folder, words))
    configure(folder, eos_token_id=END, decoder_start_token_id=START)
    table = numpy_helper.from_array(SURE * np.eye(size, dtype="f4"), "table")
    save(
        folder / "encoder_model.onnx",
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        {"input_ids": INT, "attention_mask": INT},
        {"last_hidden_state": FLOAT},
        [table],
    )
    one = numpy_helper.from_array(np.array([1], dtype="i8"), "one")
    save(
        folder / "decoder_model.onnx",
        [
            helper.make_node("Shape", ["input_ids"], ["length"], start=1, end=2),
            helper.make_node("Sub", ["length", "one"], ["at"]),
            helper.make_node("Gather", ["encoder_hidden_states", "at"], ["logits"], axis=1),
        ],
        {"input_ids": INT, "encoder_attention_mask": INT, "encoder_hidden_states": FLOAT},
        {"logits": FLOAT},
        [one],
    )


def make_teller(folder: Path, words: Sequence[str], stories: Mapping[str, str]) -> None:
    """Write a decoder that tells the story of the word that a text begins with.

    Which word follows depends on the one before and on the first of all, which it knows from the
    past that it is given back.
    """
    vocabulary = make_tokenizer(folder, [*words, *stories, *" ".join(stories.values()).split()])
    configure(folder, eos_token_id=[END])
    follows = np.zeros((len(vocabulary),) * 3, dtype="f4")
    follows[:, END, END] = SURE
    for begins, story in stories.items():
        first, *told = (vocabulary.index(word) for word in [begins, *story.split()])
        follows[first, END, END] = 0
        for before, word in zip([END, *told], [*told, END], strict=True):
            follows[first, before, word] = SURE
    constants = {
        "follows": follows, "axes": np.array([1, 3]), "start": np.array(0), "flat": np.array([-1]),
    }  # fmt: skip
    save(
        folder / "model.onnx",
        [
            helper.make_node("Cast", ["input_ids"], ["ids"], to=FLOAT),
            helper.make_node("Unsqueeze", ["ids", "axes"], ["new"]),
            helper.make_node("Concat", ["past_key_values.0.key", "new"], ["present.0.key"], axis=2),
            helper.make_node("Reshape", ["present.0.key", "flat"], ["all"]),
            helper.make_node("Gather", ["all", "start"], ["begins"]),
            helper.make_node("Cast", ["begins"], ["first"], to=INT),
            helper.make_node("Gather", ["follows", "first"], ["chain"]),
            helper.make_node("Gather", ["chain", "input_ids"], ["logits"]),
        ],
        {"input_ids": INT, "attention_mask": INT, "past_key_values.0.key": FLOAT},
        {"logits": FLOAT, "present.0.key": FLOAT},
        [numpy_helper.from_array(table, name) for name, table in constants.items()],
    )


FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64


def save(
    path: Path,
    nodes: Sequence[Any],
    inputs: dict[str, int],
    outputs: dict[str, int],
    tables: Sequence[Any],
) -> None:
    """Write a graph; what is of numbers with a point has three dimensions, else two."""

    def told(name: str, kind: int) -> Any:
        return helper.make_tensor_value_info(name, kind, _shape(name, kind))

    graph = helper.make_graph(
        list(nodes), "tiny", [told(*each) for each in inputs.items()],
        [told(*each) for each in outputs.items()], list(tables),
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())


def _shape(name: str, kind: int) -> list[Any]:
    if "key" in name:
        return ["texts", 1, "past" if "past" in name else "all", 1]
    return ["texts", f"{name} length", "width"] if kind == FLOAT else ["texts", f"{name} length"]


def configure(folder: Path, **told: Any) -> None:
    """Write what a model says of itself."""
    (folder / "config.json").write_text(json.dumps(told))
