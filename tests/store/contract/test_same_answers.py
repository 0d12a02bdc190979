"""Whatever the files, every store gives a search the same passages."""

from __future__ import annotations

import shutil
import struct
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli.indexing.indexer import embed, index
from memcli.indexing.planning import Settings
from memcli.search.options import PROFILES, SearchOptions
from memcli.search.pipeline import Answer
from memcli.store.port import Store
from memcli.store.quantize import rounded
from memcli.types import Filters, Source, SourceLines
from tests.store.contract import makers
from tests.store.contract.conftest import STORES
from tests.support import make_settings, write

LONG = settings(
    max_examples=(settings.default or settings()).max_examples // 4,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


class Tree:
    """An encoder whose distances are numbers that 32 bits hold, so that all stores see the same.

    A text is at 1, 0 or -1 of a line: the components that a stored byte stands for exactly. Texts
    are 0, 1 or 2 apart, and their cosines, worked out from that, 1, 1/2 and -1.
    """

    fingerprint = "tree;dim=8"
    dimension = 8
    max_tokens = 10_000

    def count(self, text: str) -> int:
        return len(text.split())

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        return [self.encode_query(text) for text in texts]

    def encode_query(self, text: str) -> bytes:
        vector = [0.0] * self.dimension
        vector[0] = crc32(text.encode()) % 3 - 1.0
        return struct.pack(f"<{self.dimension}f", *vector)


def test_the_cosines_of_leaves_are_exact() -> None:
    leaves = {Tree().encode_query(str(number)) for number in range(200)}
    assert len(leaves) == 3
    assert {makers.cosine(a, rounded(b)) for a in leaves for b in leaves if a != b} == {1 / 2, -1}
    assert all(makers.cosine(leaf, rounded(leaf)) == 1 for leaf in leaves)


PATHS = (
    "a.md", "MEMORY.md", "notes/b.md", "notes/deep/c.md", "memory/2025-01-02.md",
    "memory/2025-06-12.md", "memory/2025-06-13.md", "book/one.md", "book/two.md",
)  # fmt: skip
SUMMARIES = ("memory/summaries/x.md", "memory/summaries/y.md")
WORDS = (
    "pool", "fox", "train", "trains", "deployed", "deployment", "v0.1", "dev-2", "coffee", "beans",
    "the", "and", "東京都", "検索", "naïve", "house", "houses", "generator", "2025-06-12",
)  # fmt: skip

lines = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
headings = st.sampled_from(("# Pool", "# Fox house", "## 2025-06-12", "## Later, 東京"))
blocks = st.one_of(lines, lines.map("- {}".format), headings)
heads = st.sampled_from(
    ("", "", "---\ndate: 2025-03-03\n---\n", "---\nauthority: 0.5\nimportance: 0.9\n---\n",
     "---\ntrust: untrusted\n---\n", "---\nalways: true\n---\n")
)  # fmt: skip
texts = st.tuples(heads, st.lists(blocks, min_size=1, max_size=8).map("\n\n".join)).map("".join)
files = st.dictionaries(st.sampled_from(PATHS), texts, min_size=1, max_size=7)
rests = st.lists(
    st.tuples(
        st.sampled_from(PATHS[4:7] + SUMMARIES), st.integers(1, 3), st.integers(0, 4), st.booleans()
    ),
    min_size=1,
    max_size=3,
)
summaries = st.dictionaries(st.sampled_from(SUMMARIES), rests, max_size=2)

terms = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(("fo*", "gener*", "deploy*", "tra*", "東", "京都", "hous")),
    st.sampled_from(('"fox train"', '"the pool"', "-pool", "-coffee", "swan")),
    st.sampled_from(("deploymnt", "genrator", "cofee", "coffeebeans", "naïv", "trian", "genera")),
)
queries = st.lists(terms, min_size=1, max_size=4).map(" ".join)
spans = st.builds(
    lambda path, first, length: SourceLines(path, first, first + length, b""),
    st.sampled_from(PATHS),
    st.integers(1, 9),
    st.integers(0, 9),
)
some = st.builds(
    Filters,
    since=st.sampled_from((None, None, None, "2025-02-01", "2025-06-12")),
    until=st.sampled_from((None, None, None, "2025-06-12")),
    paths=st.sampled_from(((), (), (), ("notes/",), ("memory/*", "*.md"), ("**/one.md",))),
    sources=st.sampled_from(((), (), (), ("memory",), ("book",))),
    kinds=st.sampled_from(((), (), (), ("log",), ("note", "summary"))),
    scopes=st.sampled_from(((), (), (), ("session",), ("user", "global"))),
    trusts=st.sampled_from(((), (), (), ("trusted",))),
    headings=st.sampled_from(((), (), (), ("pool",), ("o", "x"))),
    undated=st.booleans(),
    within=st.one_of(st.just(()), st.just(()), st.lists(spans, min_size=1, max_size=3).map(tuple)),
)
filters = st.one_of(st.just(Filters()), some)
questions = st.tuples(
    queries,
    filters,
    st.sampled_from(("hybrid", "keyword", "semantic")),
    st.sampled_from([*PROFILES]),
)


def write_files(
    root: Path, files: dict[str, str], summaries: dict[str, list[tuple[str, int, int, bool]]]
) -> None:
    """Write files, and summaries that rest on lines as they are, or as they never were."""
    for path, text in files.items():
        write(root, path, text + "\n")
    for path, wanted in summaries.items():
        rests_on = []
        for source, first, length, is_true in wanted:
            text = (root / source).read_text() if (root / source).exists() else ""
            true = makers.lines_of(source, text, first, first + length)
            rests_on.append(true if is_true else true._replace(hash=bytes(16)))
        write(root, path, makers.summary(*rests_on, said="the pool, a fox, coffee in 東京都"))


def settings_of(root: Path) -> Settings:
    return make_settings(
        root,
        Source("memory", str(root), ("**/*.md",), ("book/**",)),
        Source("book", str(root / "book"), ("**/*.md",), trust="untrusted"),
    )


class Told(NamedTuple):
    """What an answer says, and apart from that its numbers."""

    said: tuple[object, ...]
    numbers: list[float]


def told(answer: Answer, named: Callable[[str], str] = str) -> Told:
    """Tell it; `named` is what a citation is compared by."""
    passages = [
        (h.citation, h.about.ref, h.text, h.duplicates, h.candidate.literal)
        for h in answer.passages
    ]
    numbers = [
        number
        for passage in (
            *answer.passages,
            *sorted(answer.fused, key=lambda passage: named(passage.citation)),
        )
        for number in (
            passage.score,
            passage.candidate.bm25,
            passage.cosine or 0.0,
            passage.coverage,
        )
    ]
    retrievers = answer.keyword, answer.semantic
    counts = answer.candidates, answer.omitted_over_budget
    asked = answer.unmatched, answer.repaired
    return Told((passages, answer.match, asked, retrievers, counts), numbers)


@pytest.mark.skipif(len(STORES) == 1, reason="there is no other store to compare")
@pytest.mark.timeout(400)  # on a busy machine, where a store is a server beside it
@LONG
@given(
    first=files,
    more=files,
    gone=st.sets(st.sampled_from(PATHS), max_size=2),
    summaries=summaries,
    most=st.sampled_from((None, None, 3)),
    asked=st.lists(questions, min_size=3, max_size=6),
)
def test_all_stores_of_the_same_files_give_the_same_passages(
    first: dict[str, str],
    more: dict[str, str],
    gone: set[str],
    summaries: dict[str, list[tuple[str, int, int, bool]]],
    most: int | None,
    asked: list[tuple[str, Filters, str, str]],
) -> None:
    base, clock = Path(tempfile.mkdtemp()), makers.Clock()
    (base / "ws" / "book").mkdir(parents=True)
    stores = [make(base / name, clock) for name, make in STORES.items()]
    try:
        write_files(base / "ws", first, summaries)
        bring_in(base / "ws", stores, most)
        write_files(base / "ws", more, {})
        for path in gone:
            (base / "ws" / path).unlink(missing_ok=True)
        bring_in(base / "ws", stores, None if most is None else 2)
        options = makers.options_for()
        for text, filters, mode, profile in asked:
            for view in ("all", "active", "raw"):
                wanted = options._replace(
                    mode=mode,
                    profile=PROFILES[profile],
                    filters=filters._replace(view=view),
                )
                expected, *others = (told(answer(store, text, wanted)) for store in stores)
                for found in others:
                    assert found.said == expected.said
                    assert found.numbers == pytest.approx(expected.numbers, rel=1e-9, abs=1e-9)
    finally:
        for store in stores:
            store.close()
        shutil.rmtree(base)


def answer(store: Store, text: str, options: SearchOptions) -> Answer:
    with store.snapshot() as snapshot:
        return makers.ask(snapshot, text, options, Tree())


def bring_in(root: Path, stores: Sequence[Store], most: int | None) -> None:
    """Index the files, and give so many texts their vectors."""
    for store in stores:
        with makers.changing(store) as change:
            index(change, settings_of(root))
            embed(change, Tree(), most=most)
