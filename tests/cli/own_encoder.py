"""Start memcli with one more encoder, which counts letters: all that a program has to do for it.

    LETTERS_LOG=FILE python tests/cli/own_encoder.py COMMAND ...

The encoder writes what it is asked for into that file.
"""

from __future__ import annotations

import math
import os
import string
import struct
import sys
from collections.abc import Sequence
from pathlib import Path


class Letters:
    """Embeds texts by how often each letter occurs; satisfies `Encoder` and `QueryModel`."""

    fingerprint = "letters;dim=26"
    dimension = 26
    max_tokens = 256

    def count(self, text: str) -> int:
        return len(text.split()) + 2

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        return [self.encode_query(text) for text in texts]

    def encode_query(self, text: str) -> bytes:
        counts = [text.lower().count(letter) + 1e-6 for letter in string.ascii_lowercase]
        length = math.hypot(*counts)
        return struct.pack("<26f", *(count / length for count in counts))

    def embed(self, text: str) -> tuple[bytes, int]:
        log(f"embeds {text}")
        return self.encode_query(text), len(text.split())

    def encoder(self) -> None:
        """Leave the texts of an index to another opening."""


def log(line: str) -> None:
    with Path(os.environ["LETTERS_LOG"]).open("a", encoding="utf-8") as file:
        file.write(line + "\n")


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])
    from memcli.cli.main import main
    from memcli.embedding.encoders import (
        Choice,
        EncoderRecord,
        OpenedEncoder,
        Opener,
        Opening,
        QueryModel,
    )
    from memcli.embedding.models import Calibration, KnownModel
    from memcli.embedding.registry import register

    def open_letters(choice: Choice, opening: Opening) -> OpenedEncoder:
        log(f"opens, check={opening.check}")
        return OpenedEncoder(Letters())

    def open_query_model(choice: Choice, opening: Opening) -> QueryModel | None:
        log(f"opens quickly, check={opening.check}")
        return Letters()

    opener = Opener(
        fingerprint=lambda choice, remembered: Letters.fingerprint,
        open=open_letters,
        files=lambda choice: "letters.bin|26|1",
        query_model=open_query_model,
    )
    register(
        EncoderRecord("letters", model="letters"),
        lambda: opener,
        KnownModel("letters", latin_only=True, calibration=Calibration(-2.0, 3.0, 3.0)),
    )
    main()
