"""A model that writes text: an encoder with its decoder, or only a decoder, from a folder.

The files have the names of published exports, next to tokenizer.json and config.json. Each step
takes the most likely token, so the same text gives the same words. The confidence is the mean of
their log-probabilities.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import fsum
from typing import TYPE_CHECKING, Any

from memcli.embedding import runtime
from memcli.errors import RetrieverError
from memcli.record import Record
from memcli.system import usable_cores

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]

HINT = "memcli help compact"
_ENCODER, _DECODER, _ALONE = "encoder_model.onnx", "decoder_model.onnx", "model.onnx"
_CONFIGS = ("config.json", "generation_config.json")  # the second overrides the first
_PAST, _PRESENT = "past_key_values", "present"
_TYPES = {"tensor(float)": "float32", "tensor(float16)": "float16"}


class Generated(Record):
    """A generated text, and how likely each of its tokens was."""

    text: str
    log_probability: float  # mean over its tokens, including the closing one
    tokens: int


class Generator:
    """Continues a text."""

    def __init__(self, named: str, *, reads: int, writes: int) -> None:
        """Open the folder that `compact.folder` names; `reads` and `writes` limit the tokens.

        RetrieverError names what is missing.
        """
        folder = runtime.whole_path(named, "compact.folder", hint=HINT)
        self._folder, self.reads, self._writes = folder, reads, writes
        config = _config(folder)
        self._ends = _numbers(config.get("eos_token_id"))
        self._starts = _numbers(config.get("decoder_start_token_id"))
        self._tokenizer = runtime.open_tokenizer(_file(folder, runtime.TOKENIZER))
        encoder = runtime.file_in(folder, _ENCODER)
        self._encoder = runtime.open_model(encoder, usable_cores()) if encoder else None
        decoder = _file(folder, _DECODER if encoder else _ALONE)
        self._decoder = runtime.open_model(decoder, usable_cores())
        if not self._ends or (encoder and not self._starts):
            key = "decoder_start_token_id" if self._ends else "eos_token_id"
            raise RetrieverError(f"{folder}: config.json names no {key}", hint=HINT)

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        return len(self._ids(text))

    def write(self, text: str) -> Generated:
        """Continue a text; only its first `reads` tokens are used."""
        ids = self._ids(text)[: self.reads]
        if self._encoder is None:
            return self._decoded(ids, {})
        return self._decoded(self._starts, self._encoded(self._encoder, ids))

    def _ids(self, text: str) -> list[int]:
        clean = text.encode("utf-8", "replace").decode()
        return list(self._tokenizer.encode(clean).ids)

    def _encoded(self, encoder: InferenceSession, ids: list[int]) -> dict[str, Any]:
        """Run the encoder; return the inputs of the decoder."""
        import numpy as np

        row = np.array([ids], dtype=np.int64)
        inputs = {"input_ids": row, "attention_mask": np.ones_like(row)}
        (states, *_) = self._run(encoder, inputs)
        return {"encoder_hidden_states": states, "encoder_attention_mask": np.ones_like(row)}

    def _decoded(self, ids: list[int], encoded: Mapping[str, Any]) -> Generated:
        """Add the most likely token until the model ends, or has written enough."""
        import numpy as np

        past = self._empty_past()
        names = [output.name for output in self._decoder.get_outputs()]
        written: list[int] = []
        logs: list[float] = []
        seen, new = 0, list(ids)
        while len(written) < self._writes:
            # Without cached states, the model reads everything again.
            row = np.array([new if past else [*ids, *written]], dtype=np.int64)
            at = np.arange(seen, seen + row.shape[1], dtype=np.int64)[None]
            inputs = {
                "input_ids": row,
                "attention_mask": np.ones((1, seen + row.shape[1]), dtype=np.int64),
                "position_ids": at,
                **encoded,
                **past,
            }
            outputs = dict(zip(names, self._run(self._decoder, inputs), strict=True))
            scores = np.asarray(outputs["logits"], dtype=np.float64)[0, -1]
            token = int(scores.argmax())
            logs.append(-float(np.log(np.exp(scores - scores[token]).sum())))
            if token in self._ends:
                break
            written.append(token)
            if past:
                seen, new = seen + row.shape[1], [token]
                past = {name: outputs[name.replace(_PAST, _PRESENT)] for name in past}
        text = self._tokenizer.decode(written, skip_special_tokens=True)
        return Generated(" ".join(text.split()), fsum(logs), len(logs))

    def _empty_past(self) -> dict[str, Any]:
        import numpy as np

        return {
            entry.name: np.zeros(
                (1, entry.shape[1], 0, entry.shape[3]), dtype=_TYPES.get(entry.type, "float32")
            )
            for entry in self._decoder.get_inputs()
            if entry.name.startswith(_PAST)
        }

    def _run(self, session: InferenceSession, inputs: Mapping[str, Any]) -> list[Any]:
        names = [entry.name for entry in session.get_inputs()]
        if unknown := [name for name in names if name not in inputs]:
            raise RetrieverError(
                f"{self._folder}: the model has unknown inputs: {', '.join(unknown)}", hint=HINT
            )
        try:
            outputs: list[Any] = session.run(None, {name: inputs[name] for name in names})
        except runtime.runtime_faults() as error:
            raise RetrieverError(f"{self._folder}: the model failed: {error}", hint=HINT) from error
        return outputs


def _file(folder: str, name: str) -> str:
    place = runtime.file_in(folder, name)
    if place is None:
        raise RetrieverError(f"{folder} has no {name}", hint=HINT)
    return place


def _config(folder: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in _CONFIGS:
        place = runtime.file_in(folder, name)
        if place is None:
            continue
        try:
            with open(place, encoding="utf-8") as file:
                read = json.load(file)
        except (OSError, ValueError, RecursionError) as error:
            raise RetrieverError(f"{place} cannot be read: {error}", hint=HINT) from error
        values |= {key: v for key, v in read.items() if v is not None} if type(read) is dict else {}
    return values


def _numbers(value: object) -> list[int]:
    """Read one token number, or a list of them."""
    values = value if isinstance(value, list) else [value]
    return [number for number in values if type(number) is int]
