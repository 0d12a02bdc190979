"""Start `memcli mcp` with an encoder that writes to descriptor 1, and that a test can hold up.

python tests/mcp/serving.py mcp ...

MEMCLI_TEST_PID names a file for the number of the process, MEMCLI_TEST_GATE a FIFO that a question
with the word `gate` waits at, MEMCLI_TEST_SLOW one that batches of texts wait at,
MEMCLI_TEST_WITHOUT a package that is not to be found.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])
    from memcli.cli.main import main
    from memcli.embedding.encoders import OpenedEncoder, Opener
    from tests import hashing

    class NoisyEncoder(hashing.HashingEncoder):
        """Writes what no client understands wherever a library might."""

        def encode(self, texts: Sequence[str]) -> list[bytes]:
            if name := os.environ.get("MEMCLI_TEST_SLOW"):
                Path(name).read_text("utf-8")
            return super().encode(texts)

        def encode_query(self, text: str) -> bytes:
            os.write(1, b"a native library speaks\n")
            sys.stdout.write("and so does a module\n")
            sys.stdout.flush()
            if "gate" in text:
                Path(os.environ["MEMCLI_TEST_GATE"]).read_text("utf-8")
            return super().encode_query(text)

    hashing.OPENER = Opener(
        fingerprint=hashing.OPENER.fingerprint,
        open=lambda choice, opening: OpenedEncoder(NoisyEncoder()),
    )
    hashing.register()
    if name := os.environ.get("MEMCLI_TEST_WITHOUT"):
        sys.modules[name] = None  # type: ignore[assignment]
    if name := os.environ.get("MEMCLI_TEST_PID"):
        Path(name).write_text(str(os.getpid()), "utf-8")
    main()
