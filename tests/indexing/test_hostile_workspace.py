from __future__ import annotations

from pathlib import Path

import pytest

from memcli.indexing.indexer import embed, index
from memcli.store.sqlite.reader import Reader
from tests.hashing import HashingEncoder
from tests.store_check import assert_sound, frequency, open_writer
from tests.support import make_settings, write

FACTS = ("crlffact", "zerofact", "commentfact")


def test_the_hostile_workspace_is_indexed_whole(workspaces: Path, tmp_path: Path) -> None:
    root, store = workspaces / "hostile", str(tmp_path / "index.sqlite")
    writer = open_writer(store)
    report = index(writer, make_settings(root))
    embed(writer, HashingEncoder())
    writer.close()
    files = {file.relative_to(root).as_posix() for file in root.rglob("*.md")}
    assert set(report.added) | {skip.path for skip in report.skips} == files
    assert_sound(store)
    reader = Reader(store)
    facts = {
        word.strip(".,:;")
        for file in root.rglob("*.md")
        for word in file.read_bytes().decode("utf-8", "ignore").split()
        if word.strip(".,:;").isalpha() and word.strip(".,:;").endswith("fact")
    }
    assert set(FACTS) <= facts
    assert {fact: frequency(reader, fact) > 0 for fact in facts} == dict.fromkeys(facts, True)
    secrets = ("inlinesecret", "blocksecret", "opensecret")
    assert [frequency(reader, secret) for secret in secrets] == [0, 0, 0]
    reader.close()


@pytest.mark.parametrize(
    "text",
    [
        '---\ntitle: "\\ud83d"\nrelated: ["\\udc00"]\n---\nx',
        "---\na: {1: x, b: y}\n---\nx",
        "---\na: " + "1:" * 5000 + "1\n---\nx",
        ">" * 3000 + "x",
        "# " + "ü" * 3000 + "\n\nx",
        "\ufeff\ufeff# x",
    ],
    ids=["half-pairs", "mixed-keys", "long-number", "deep-quote", "long-heading", "two-boms"],
)
def test_no_single_file_stops_a_run(tmp_path: Path, text: str) -> None:
    write(tmp_path / "ws", "bad.md", text)
    write(tmp_path / "ws", "good.md", "fox")
    writer = open_writer(str(tmp_path / "index.sqlite"))
    report = index(writer, make_settings(tmp_path / "ws"))
    embed(writer, HashingEncoder())
    assert report.added == ("bad.md", "good.md")
    counts = writer.counts()
    assert counts.segments == counts.embedded > 0
    writer.close()
    assert_sound(str(tmp_path / "index.sqlite"))
