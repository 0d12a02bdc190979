"""One file never stops the rest, whatever stands in it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from memcli.api import targets
from memcli.api.read import raw_lines
from memcli.cli.main import run as run_here
from memcli.compaction import folder
from memcli.errors import NotFoundError, UsageError
from memcli.indexing.comparison import compare_store
from memcli.indexing.indexer import Report, index
from memcli.indexing.planning import Settings
from memcli.indexing.rebuild import rebuild
from memcli.store.documents import skipped_files
from memcli.store.records import Scope
from memcli.store.sqlite.reader import Reader
from memcli.store.sqlite.store import SqliteStore
from memcli.types import Limits, Skip
from memcli.workspace.reading import MOST_LINES
from tests.store_check import assert_sound, dump, open_writer
from tests.support import count_tokens, make_limits, make_settings, write

NEIGHBOUR = "# Pool\n\nThe pool is full of coffee beans.\n"
THORN = "# A thorn\n\nIt is red.\n"


class Picky:
    """A tokenizer that fails on one word, and counts how often it met it."""

    def __init__(self, error: BaseException) -> None:
        self.error, self.met = error, 0

    def __call__(self, text: str) -> int:
        if "thorn" in text:
            self.met += 1
            raise self.error
        return count_tokens(text)


def picky_settings(root: Path, count: Callable[[str], int]) -> Settings:
    limits = make_limits()
    return make_settings(
        root, limits=Limits(limits.chunk_tokens, limits.overlap_tokens, limits.part_max, count)
    )


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, str]:
    write(tmp_path / "ws", "a.md", NEIGHBOUR)
    return tmp_path / "ws", str(tmp_path / "store" / "index.sqlite")


def bring_in(store: str, wanted: Settings) -> Report:
    writer = open_writer(store)
    try:
        return index(writer, wanted)
    finally:
        writer.close()


def reasons(skips: Iterable[Skip]) -> list[tuple[str, str, str]]:
    return [(skip.path, skip.reason, skip.detail) for skip in skips]


def skipped(store: str) -> Sequence[Skip]:
    reader = Reader(store)
    try:
        return skipped_files(reader.documents(Scope()))
    finally:
        reader.close()


@pytest.mark.parametrize(
    "error",
    [KeyError("x\ny"), IndexError(), AttributeError("z"), RecursionError(), AssertionError()],
)
def test_what_a_document_raises_costs_that_document_alone(
    place: tuple[Path, str], error: Exception
) -> None:
    root, store = place
    write(root, "b.md", THORN)
    write(root, "c.md", "# Later\n\nWe deploy.\n")
    count = Picky(error)
    report = bring_in(store, picky_settings(root, count))
    told = " ".join(f"{type(error).__name__}: {error}".split())
    assert report.added == ("a.md", "c.md")
    assert reasons(report.skips) == [("b.md", "unparsable", told)]
    assert skipped(store) == [Skip("memory", "b.md", "unparsable")]
    assert_sound(store)

    met = count.met
    report = bring_in(store, picky_settings(root, count))
    assert (report.unchanged, report.skips, count.met) == (3, (), met), "it is not parsed again"
    write(root, "b.md", THORN)  # the same bytes, looked at again
    report = bring_in(store, picky_settings(root, count))
    assert (report.unchanged, report.changed, count.met) == (3, (), met)


def test_what_was_known_of_it_is_forgotten_until_it_is_mended(place: tuple[Path, str]) -> None:
    root, store = place
    write(root, "b.md", "# Rose\n\nIt is red.\n")
    wanted = picky_settings(root, Picky(KeyError("x")))
    bring_in(store, wanted)
    before = dump(store)
    write(root, "b.md", THORN)
    report = bring_in(store, wanted)
    assert (report.changed, report.removed) == (("b.md",), ())
    assert [row[1] for row in dump(store)["chunks"]] == ["a.md"]
    write(root, "b.md", "# Rose\n\nIt is red.\n")
    assert bring_in(store, wanted).changed == ("b.md",)
    assert dump(store)["chunks"] == before["chunks"]
    assert skipped(store) == []


@pytest.mark.parametrize("full", [False, True], ids=["index", "index --full"])
def test_a_look_and_a_run_tell_the_same_of_it(place: tuple[Path, str], full: bool) -> None:
    root, store = place
    write(root, "b.md", "# Rose\n\nIt is red.\n")
    wanted = picky_settings(root, Picky(KeyError("x")))
    bring_in(store, wanted)
    write(root, "b.md", THORN)
    looked = compare_store(SqliteStore(store, wanted.now_ns), wanted).changes
    write(root, "c.md", THORN)
    writer = open_writer(store)
    if full:
        report = rebuild(writer, wanted, embed_into=lambda change: None)
    else:
        report = index(writer, wanted)
    writer.close()
    assert report.changed == looked.changed == ("b.md",)
    assert (report.added, {skip.path for skip in report.skips}) == ((), {"b.md", "c.md"})
    assert compare_store(SqliteStore(store, wanted.now_ns), wanted).state == "up_to_date"


def test_a_setting_that_makes_it_unparsable_forgets_it_too(place: tuple[Path, str]) -> None:
    root, store = place
    write(root, "b.md", THORN)
    bring_in(store, make_settings(root))
    cut = make_limits(chunk_tokens=100)
    limits = Limits(cut.chunk_tokens, cut.overlap_tokens, cut.part_max, Picky(KeyError("x")))
    report = bring_in(store, make_settings(root, limits=limits))
    assert [skip.reason for skip in report.skips] == ["unparsable"]
    assert [row[1] for row in dump(store)["chunks"]] == ["a.md"]


@pytest.mark.parametrize("error", [MemoryError(), OSError(2, "gone"), ImportError("no parser")])
def test_what_is_no_fault_of_the_file_is_let_through(
    place: tuple[Path, str], error: Exception
) -> None:
    root, store = place
    write(root, "b.md", "# Rose\n\nIt is red.\n")
    bring_in(store, make_settings(root))
    before = dump(store)
    write(root, "b.md", THORN)
    with pytest.raises(type(error)):
        bring_in(store, picky_settings(root, Picky(error)))
    assert dump(store) == before


def test_a_file_that_grows_beyond_a_limit_is_forgotten(place: tuple[Path, str]) -> None:
    root, store = place
    write(root, "b.md", "# Rose\n\nIt is red.\n")
    bring_in(store, make_settings(root))
    write(root, "b.md", "\n" * (MOST_LINES + 1))
    report = bring_in(store, make_settings(root))
    assert [(skip.path, skip.reason) for skip in report.skips] == [("b.md", "too-large")]
    assert [row[1] for row in dump(store)["chunks"]] == ["a.md"]
    assert [skip.reason for skip in skipped(store)] == ["too-large"]
    assert bring_in(store, make_settings(root)).unchanged == 2


def test_a_file_of_too_many_parts_is_embedded_by_none(place: tuple[Path, str]) -> None:
    root, store = place
    wanted = make_settings(root, limits=make_limits()._replace(most_segments=5))
    write(root, "b.md", "[1]\n\n" * 4 + "[1]: x\n")
    assert bring_in(store, wanted).added == ("a.md", "b.md")
    write(root, "b.md", "[1]\n\n" * 5 + "[1]: x\n")
    report = bring_in(store, wanted)
    assert reasons(report.skips) == [("b.md", "too-large", "6 segments, the limit is 5")]
    assert [row[1] for row in dump(store)["chunks"]] == ["a.md"]
    assert bring_in(store, wanted).unchanged == 2
    assert make_limits().most_segments == 100_000


def test_compaction_and_get_name_it_and_go_on(tmp_path: Path) -> None:
    write(tmp_path, "memory/2025-01-01.md", NEIGHBOUR)
    write(tmp_path, "memory/2025-01-02.md", THORN)
    wanted = picky_settings(tmp_path, Picky(KeyError("x")))
    found = folder.read(wanted, {}, None)
    assert [log.path for log in found.logs] == ["memory/2025-01-01.md"]
    assert reasons(found.skips) == [("memory/2025-01-02.md", "unparsable", "KeyError: 'x'")]

    target = targets.resolve("memory/2025-01-02.md#A thorn", wanted)
    file = targets.read(target, wanted)
    with pytest.raises(NotFoundError, match=r"no headings to find: it is unparsable \(KeyError"):
        targets.lines_of(target, file, wanted)
    with pytest.raises(UsageError, match="is not a summary"):
        raw_lines(file, None, wanted)


EVIL = ("a: !!bool x", 'a: !!int ""', "a: !!timestamp x", "a: !!float .", "a: !unknown [x]")


@pytest.mark.parametrize("head", EVIL)
def test_a_tagged_value_stops_no_command(
    tmp_path: Path, head: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    write(tmp_path, "memory/2024-01-01.md", "# A\n\nThe pool.\n")
    write(tmp_path, "memory/evil.md", f"---\ntitle: Odd\n{head}\n---\n# E\n\nThe pool.\n")
    for command in (
        ("index",), ("search", "pool"), ("context", "pool"), ("context",), ("compact",),
        ("get", "memory/evil.md#E"), ("status", "--check"),
        ("bench", "init", "--out", str(tmp_path / "drafts.jsonl")),
    ):  # fmt: skip
        code = run_here([*command, "-w", str(tmp_path)])
        assert code == 0, (command, capsys.readouterr().err)
    capsys.readouterr()
    run_here(["search", "pool", "--json", "-v", "-w", str(tmp_path)])
    titles = {passage["title"] for passage in json.loads(capsys.readouterr().out)["results"]}
    assert "Odd" in titles, "the rest of its front matter holds"


TAGS = (
    *sorted(tag for tag in yaml.SafeLoader.yaml_constructors if tag),
    *sorted(tag for tag in yaml.UnsafeLoader.yaml_constructors if tag and "python" in tag),
    "tag:yaml.org,2002:merge", "tag:yaml.org,2002:value", "tag:yaml.org,2002:python/name:os.system",
    "tag:yaml.org,2002:python/object/apply:os.system", "!own", "!",
)  # fmt: skip
KEYS = ("title", "date", "trust", "always", "authority", "scope", "related", "schema", "<<", "=")
SCALARS = st.one_of(
    st.sampled_from(
        ["", '""', "x", "~", "1", "-", "0x", "0b_", "1:2", "1e999", ".", ".nan", "2025-13-45",
         "2025-01-01T99:99:99Z", "true", "aGk=", "é", "'\ud7ff'", '"\\ud800"', "=", "<<",
         "9" * 5000]
    ),
    st.text(max_size=12).map(lambda text: json.dumps(text, ensure_ascii=False)),
)  # fmt: skip
VALUES = st.recursive(
    st.tuples(st.sampled_from(["", *(f"!<{tag}> " for tag in TAGS)]), SCALARS).map("".join),
    lambda inner: st.tuples(
        st.sampled_from(["", *(f"!<{tag}> " for tag in TAGS)]),
        st.one_of(
            st.lists(inner, max_size=3).map(lambda each: f"[{', '.join(each)}]"),
            st.lists(st.tuples(inner, inner), max_size=2).map(
                lambda pairs: "{" + ", ".join(f"? {key} : {value}" for key, value in pairs) + "}"
            ),
        ),
    ).map("".join),
    max_leaves=6,
)
HEADS = st.lists(st.tuples(st.sampled_from(KEYS), VALUES), min_size=1, max_size=4).map(
    lambda pairs: "---\n" + "".join(f"{key}: {value}\n" for key, value in pairs) + "---\n"
)
MARKDOWN = st.lists(
    st.sampled_from(
        ["# A\n", "\n", "- b\n", "  - c\n", "> d\n", "```\n", "| e |\n", "|---|\n", "[f]: g\n",
         "<!--", "-->", "<b>", "[[h]]", "    i\n", "---\n", "\r", "\x00", "\u2028", "東京\n",
         "j. k\n", "1. l\n", "*m*", "2025-02-30\n", "\t", "\\", "`", "~~~\n", "===\n",
         "a" * 300, "\ufffe"]
    ),
    max_size=30,
).map("".join)  # fmt: skip
FILES = st.one_of(
    st.binary(max_size=200),
    st.tuples(HEADS, MARKDOWN).map(lambda pair: "".join(pair).encode("utf-8", "replace")),
    MARKDOWN.map(lambda text: text.encode("utf-8", "replace")),
    MARKDOWN.map(lambda text: b"\xff\xfe" + text.encode("utf-16-le", "replace")),
)
# A file that is passed over for what its bytes are; no file that is text is `unparsable`.
BYTES_ALONE = {"not-text"}


@given(files=st.lists(FILES, min_size=1, max_size=8))
@example(files=[f"---\n{head}\n---\n# E\n".encode() for head in EVIL])
@example(files=[f"---\na: !<{tag}> x\n---\n# E\n".encode() for tag in TAGS])
@example(files=[f"---\na: !<{tag}> [x]\n---\n# E\n".encode() for tag in TAGS])
@example(files=[f"---\n!<{tag}> a: !<{tag}> {{b: c}}\n---\n# E\n".encode() for tag in TAGS])
def test_any_bytes_go_through_the_whole_indexing_path(files: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as place:
        root, store = Path(place) / "ws", str(Path(place) / "index.sqlite")
        for number, data in enumerate(files):
            write(root, f"memory/{number}.md", data)
        write(root, "memory/2025-01-01.md", NEIGHBOUR)
        report = bring_in(store, make_settings(root))
        reached = {*report.added, *(skip.path for skip in report.skips)}
        assert len(reached) == len(files) + 1
        assert {skip.reason for skip in report.skips} <= BYTES_ALONE
        found = dump(store)
        assert '"coffee beans"' in found
        assert [row[1] for row in found['"coffee beans"']].count("memory/2025-01-01.md") == 1
        for row in found["documents"]:
            assert isinstance(json.loads(row[-2]), dict)
        assert_sound(store)
        assert folder.read(make_settings(root), {}, None).skips == report.skips
        again = bring_in(store, make_settings(root))
        assert (again.added, again.changed, again.unchanged) == ((), (), len(files) + 1)
        assert dump(store) == found
