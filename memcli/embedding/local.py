"""An encoder from a folder with an ONNX model and its tokenizer.json.

The folder has the layout of published models: `model.onnx` in it or in its `onnx/`. Nothing
is downloaded, and the fingerprint is a hash of the files.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memcli.embedding.encoders import WHOLE, OpenedEncoder, Opener, Opening
from memcli.embedding.long_texts import LongTextEncoder
from memcli.embedding.runtime import TextModel, find_files
from memcli.errors import RetrieverError
from memcli.system import cores

if TYPE_CHECKING:
    from memcli.embedding.encoders import Choice, IndexModel, LocalModel


def local_identity(local: LocalModel) -> str:
    """Name places, sizes and times of the files: while these stay the same, no file is hashed."""
    try:
        files = [(path, os.stat(path)) for path in find_files(local.folder)]
    except (RetrieverError, OSError):
        return ""
    return "|".join(f"{path}|{seen.st_size}|{seen.st_mtime_ns}" for path, seen in files)


def local_fingerprint(local: LocalModel) -> str:
    """Hash the files (half a second per gigabyte) and name what the vectors depend on."""
    import hashlib

    hashes = []
    for path in find_files(local.folder):
        try:
            with open(path, "rb") as file:
                hashes.append(hashlib.file_digest(file, "sha256").hexdigest()[:16])
        except OSError as error:
            why = f"{path} cannot be read: {error.strerror}"
            raise RetrieverError(why, hint=f"chmod u+r {path}") from error
    name = os.path.basename(os.path.normpath(local.folder)).replace(";", ",")
    return f"onnx:{name};model={','.join(hashes)}{_settings(local)}"


def _settings(local: LocalModel) -> str:
    return (
        f"{WHOLE};pool={local.pooling},l2"
        f";prefix={local.query_prefix!r},{local.passage_prefix!r};max={local.max_tokens}"
    )


class LocalEncoder:
    """Embeds one text per run with a local model; satisfies `Encoder`. Threads may share it."""

    def __init__(self, local: LocalModel, *, fingerprint: str | None = None) -> None:
        """Open model and tokenizer and embed a word to learn the dimension.

        Both are hashed unless their `fingerprint` is known. Raises RetrieverError.
        """
        self._local = local
        self.max_tokens = local.max_tokens
        self.fingerprint = fingerprint or local_fingerprint(local)
        self._model = TextModel(local.folder, "onnx", 1)
        self._output = self._choose_output()
        self.dimension = len(self._run(self._ids("memory", local.passage_prefix))) // 4

    def count(self, text: str) -> int:
        return len(self._ids(text, self._local.passage_prefix))

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        return [self._run(self._ids(text, self._local.passage_prefix)) for text in texts]

    def encode_query(self, text: str) -> bytes:
        """Embed a query; words beyond `max_tokens` are left out."""
        ids = self._ids(text, self._local.query_prefix)
        if len(ids) > self.max_tokens:
            # In every layout with a closing token, it is the last one.
            ids = [*ids[: self.max_tokens - 1], ids[-1]]
        return self._run(ids)

    def _ids(self, text: str, prefix: str) -> list[int]:
        clean = (prefix + text).encode("utf-8", "replace").decode()
        return list(self._model.tokenizer.encode(clean).ids)

    def _choose_output(self) -> str:
        rank = 2 if self._local.pooling == "model" else 3
        for entry in self._model.session.get_outputs():
            if len(entry.shape) == rank:
                return str(entry.name)
        shape = "one vector per text" if rank == 2 else "one vector per token"
        other = 'mean" or "cls' if rank == 2 else "model"
        raise RetrieverError(
            f"{self._model.path} has no output of {shape}", hint=f'set onnx.pooling = "{other}"'
        )

    def _run(self, ids: list[int]) -> bytes:
        import numpy as np

        output = self._model.run(ids, [1] * len(ids), [0] * len(ids), self._output)
        rows = np.asarray(output, dtype=np.float32)[0]
        if self._local.pooling == "mean":
            rows = rows.mean(axis=0)
        elif self._local.pooling == "cls":
            rows = rows[0]
        length = float(np.linalg.norm(rows))
        if not 0 < length < float("inf"):
            raise RetrieverError(
                f"{self._local.folder}: the model gives no vector for a text",
                hint="memcli help settings",
            )
        return bytes((rows / length).astype("<f4").tobytes())


def _known(local: LocalModel, remembered: IndexModel) -> str | None:
    """Return the fingerprint that an index remembers, if files and settings are still the same."""
    files, _, known = (remembered.model or "").rpartition("\n")
    if not files or files != local_identity(local):
        return None
    return known if known.startswith("onnx:") and known.endswith(_settings(local)) else None


def _fingerprint(choice: Choice, remembered: IndexModel) -> str | None:
    """Take the fingerprint from the index if the files are the same; otherwise hash them."""
    try:
        return _known(choice.local, remembered) or local_fingerprint(choice.local)
    except RetrieverError:
        return None


def _open(choice: Choice, opening: Opening) -> OpenedEncoder:
    known = _known(choice.local, opening.remembered)
    encoder = LongTextEncoder(LocalEncoder(choice.local, fingerprint=known))
    return OpenedEncoder(encoder, at_once=cores(choice.threads), texts=1)


OPENER = Opener(_fingerprint, _open, lambda choice: local_identity(choice.local))
