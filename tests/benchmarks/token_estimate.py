"""Hold the token estimate against tokenizers, on the Markdown below folders; not in the suite.

`--write` tells of the last tokenizer how much more than estimated texts cost, all of them together
and at least the dearest twentieth.
WordPiece is the encoder's. A MODULE has `get_encoding`, as tiktoken has (it downloads its
vocabularies at first use) and bpe_openai (it brings them): `bpe_openai:o200k_base`. A ratio above 1
is an estimate on the safe side. Kinds are those of the outermost Markdown blocks.
"""

from __future__ import annotations

import importlib
from argparse import Namespace
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from markdown_it import MarkdownIt

from memcli.embedding.wordpiece import SPECIAL_TOKENS, WordPiece
from memcli.language.tokens import estimate, quotient
from tests.benchmarks.figures import option, table

Count = Callable[[str], int]
KINDS = {
    "paragraph_open": "prose", "heading_open": "headings", "fence": "code", "code_block": "code",
    "bullet_list_open": "lists", "ordered_list_open": "lists", "table_open": "tables",
    "blockquote_open": "quotes",
}  # fmt: skip


def counters(names: Iterable[str]) -> dict[str, Count]:
    wordpiece = WordPiece()
    found: dict[str, Count] = {"WordPiece": lambda text: wordpiece.count(text) - SPECIAL_TOKENS}
    for name in names:
        module, _, encoding = name.partition(":")
        found[encoding] = counter(importlib.import_module(module).get_encoding(encoding).encode)
    return found


def counter(encode: Callable[[str], list[int]]) -> Count:
    return lambda text: len(encode(text))


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of the outermost blocks."""
    lines = text.split("\n")
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.level == 0 and token.map and token.type in KINDS:
            yield KINDS[token.type], "\n".join(lines[slice(*token.map)]) + "\n"


def show(name: str, tokenizer: str, count: Count, texts: list[str]) -> list[str]:
    """Print how an estimate holds, and give how much more texts cost: all, and one of twenty."""
    pairs = [(estimate(text), max(1, count(text))) for text in texts]
    ratio = sum(quotient(text) for text in texts) / sum(c for _, c in pairs)
    each = sorted(e / c for e, c in pairs)
    low, median = each[len(each) // 20], each[len(each) // 2]
    high = each[-1 - len(each) // 20]
    print(
        f"{name:<22} {tokenizer:<12} {len(texts):>6} texts {sum(c for _, c in pairs):>8} tokens"
        f"  estimate / count {ratio:.2f}  (5% below {low:.2f}, median {median:.2f},"
        f" 5% above {high:.2f})"
    )
    return [name, f"{len(texts):,}", f"{1 / ratio:.2f}", f"{1 / low:.2f}"]


OPTIONS = (
    option("folders", nargs="+", type=Path),
    option("--tokenizer", action="append", default=[]),
)


def main(options: Namespace) -> str:
    rows = []
    count_by = counters(options.tokenizer)
    kinds: dict[str, list[str]] = defaultdict(list)
    for folder in options.folders:
        texts = [file.read_text("utf-8", "replace") for file in sorted(folder.rglob("*.md"))]
        texts = [text for text in texts if text.strip()]
        for text in texts:
            for kind, block in blocks(text):
                kinds[kind].append(block)
        told = [show(folder.name, *each, texts) for each in count_by.items() if texts]
        rows += told[-1:]
    print("\nby kind, of all folders")
    for kind in sorted(kinds):
        rows.append([show(kind, *each, kinds[kind]) for each in count_by.items()][-1])
    head = [f"by {[*count_by][-1]}", "texts", "tokens / estimate", "95th percentile"]
    return table(head, rows)
