"""Hold the token estimate against tokenizers, on the Markdown below folders; not in the suite.

    python -m tests.benchmarks.token_estimate FOLDER... [--tiktoken o200k_base]

WordPiece is the encoder's; `--tiktoken` needs that package, which downloads its vocabulary at
first use. A ratio above 1 is an estimate on the safe side.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from pathlib import Path

from memcli.embedding.wordpiece import SPECIAL_TOKENS, WordPiece
from memcli.markdown.tokens import estimate


def counters(encoding: str | None) -> dict[str, Callable[[str], int]]:
    wordpiece = WordPiece()
    found: dict[str, Callable[[str], int]] = {
        "WordPiece": lambda text: wordpiece.count(text) - SPECIAL_TOKENS
    }
    if encoding:
        encode = importlib.import_module("tiktoken").get_encoding(encoding).encode_ordinary
        found[encoding] = lambda text: len(encode(text))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--tiktoken")
    given = parser.parse_args()
    for folder in given.folders:
        texts = [file.read_text("utf-8", "replace") for file in sorted(folder.rglob("*.md"))]
        texts = [text for text in texts if text.strip()]
        for name, count in counters(given.tiktoken).items():
            pairs = [(estimate(text), max(1, count(text))) for text in texts]
            ratio = sum(e for e, _ in pairs) / sum(c for _, c in pairs)
            each = sorted(e / c for e, c in pairs)
            print(
                f"{folder.name:<10} {name:<12} {len(texts):>4} files  estimate / count {ratio:.2f}"
                f"  (files: {each[0]:.2f} to {each[-1]:.2f}, median {each[len(each) // 2]:.2f})"
            )


if __name__ == "__main__":
    main()
