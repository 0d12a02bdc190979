from __future__ import annotations

import random
import string
from pathlib import Path
from typing import Any

import apsw
import pytest

from memcli.errors import DamagedError, IncompleteError, IndexMissingError, StoreError
from memcli.indexing.document import build_document
from memcli.indexing.indexer import embed
from memcli.store.records import Scope, TermChunks, strings
from memcli.store.run_records import Stamp
from memcli.store.sqlite import keywords, schema
from memcli.store.sqlite.driver import connect, rows
from memcli.store.sqlite.reader import Reader
from memcli.store.sqlite.writer import Writer
from memcli.types import Candidate, FileStat, FileText, Filters, Source, Term
from tests.hashing import HashingEncoder
from tests.store_check import assert_sound, open_writer, recalled
from tests.support import FAR_FUTURE_NS, make_limits

SOURCE = Source("memory", "/nowhere", ("**/*.md",))
ENCODER = HashingEncoder()


def far_future() -> int:
    return FAR_FUTURE_NS


def put(writer: Writer, path: str, text: str, source: Source = SOURCE) -> None:
    stat = FileStat(source.name, path, len(text), 1, 1, 1)
    document = build_document(FileText(stat, b"h" * 32, text, False), source, make_limits())
    writer.put(document, Stamp(stat, b"h" * 32, 1))


def recall(
    path: str,
    *,
    match: str = "",
    vector: str | None = None,
    universe: int = 10,
    filters: Filters | None = None,
    vec_problem: str = "",
    encoder: HashingEncoder = ENCODER,
) -> list[Candidate]:
    reader = Reader(path)
    reader.vec_problem = reader.vec_problem or vec_problem
    blob = None if vector is None else encoder.encode_query(vector)
    try:
        with reader.snapshot():
            return list(
                recalled(reader, words=match, vector=blob, universe=universe, filters=filters)
            )
    finally:
        reader.close()


def unique_words(seed: int, count: int) -> list[str]:
    letters = random.Random(seed)
    return ["".join(letters.choices(string.ascii_lowercase, k=14)) for _ in range(count)]


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "s" / "index.sqlite")


def test_an_empty_file_is_migrated_and_private(path: str) -> None:
    writer = open_writer(path)
    assert (Path(path).stat().st_mode & 0o777, Path(path).parent.stat().st_mode & 0o777) == (
        0o600,
        0o700,
    )
    put(writer, "a.md", "text")
    assert Path(path + "-wal").stat().st_mode & 0o777 == 0o600
    writer.close()
    assert not Path(path + "-wal").exists()
    connection = connect(path, write=False).connection
    assert schema.version(connection) == schema.VERSION
    connection.close()
    assert_sound(path)


def test_a_newer_schema_is_refused_and_left_alone(path: str) -> None:
    open_writer(path).close()
    connection = connect(path, write=True).connection
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = Path(path).read_bytes()
    with pytest.raises(StoreError, match="newer memcli"):
        Reader(path)
    with pytest.raises(StoreError, match="newer memcli"):
        Writer(path, far_future)
    assert Path(path).read_bytes() == before


def test_a_reader_needs_a_whole_index(path: str) -> None:
    with pytest.raises(IndexMissingError):
        Reader(path)
    connect(path, write=True).connection.close()
    with pytest.raises(IncompleteError):
        Reader(path)


def fill(path: str, count: int = 40) -> None:
    writer = open_writer(path)
    words = ["fox", "train", "pool", "tax", "coffee", "review"]
    for number in range(count):
        picked = random.Random(number).choices(words, k=4)
        date = f"2025-01-{number % 28 + 1:02}" if number % 2 else f"note-{number}"
        put(writer, f"{date}-{number}.md", f"# {picked[0]}\n\n{' '.join(picked)} {number}\n")
    embed(writer, ENCODER)
    writer.close()


def test_an_installation_without_vec0_answers_alike_and_one_with_it_catches_up(path: str) -> None:
    wide = HashingEncoder(dimension=4096)  # so that few have codes
    writer = open_writer(path)
    put(writer, "many.md", "\n\n".join(f"w{n}" for n in range(300)))
    put(writer, "gone.md", "A hen.")
    embed(writer, wide)
    assert writer.fact("vec_table")
    writer.close()
    writer = Writer(path, far_future)
    writer.vec_problem = "not here"
    put(writer, "new.md", "# fox\n\nfox fox\n")
    writer.remove(("memory", "gone.md"))
    embed(writer, wide)
    assert writer.fact("vec_behind") == "1"
    writer.close()
    assert_sound(path)
    behind = recall(path, vector="fox", encoder=wide)
    assert "new.md" in [c.about.path for c in behind]
    again = open_writer(path)
    embed(again, wide)
    assert again.fact("vec_behind") == "0"
    again.close()
    assert_sound(path)
    caught_up = recall(path, vector="fox", encoder=wide)
    assert [(c.about.path, c.semantic_rank) for c in caught_up] == [
        (c.about.path, c.semantic_rank) for c in behind
    ]


def test_an_index_first_made_without_vec0_is_searched_and_catches_up(path: str) -> None:
    writer = Writer(path, far_future)
    writer.vec_problem = "not here"
    put(writer, "a.md", "the fox")
    put(writer, "b.md", "the train")
    embed(writer, ENCODER)
    writer.close()
    without = recall(path, vector="train", universe=1, vec_problem="not here")
    assert without[0].about.path == "b.md"
    again = open_writer(path)
    embed(again, ENCODER)
    again.close()
    assert_sound(path)
    assert recall(path, vector="train", universe=1)[0].about.path == "b.md"


@pytest.mark.parametrize("settle", [True, False], ids=["index", "search"])
def test_deleted_words_leave_the_file(path: str, settle: bool) -> None:
    gone, kept = unique_words(1, 400), unique_words(2, 400)
    writer = open_writer(path)
    put(writer, "kept.md", "# Kept\n\n" + "\n".join(kept))
    for number in range(0, 400, 40):
        piece = gone[number : number + 40]
        head = f"# {piece[0]}\n\n[l]({piece[1]}.md)\n\n"
        put(writer, f"{number}.md", f"---\nx: {piece[2]}\n---\n" + head + "\n".join(piece))
    embed(writer, ENCODER)
    writer.close()

    def left(words: list[str]) -> int:
        raw = Path(path).read_bytes()
        connection = connect(path, write=False).connection
        raw += b"".join(row[0] for row in rows(connection, "SELECT inflate(text, -15) FROM chunks"))
        connection.close()
        # FTS5 leaves out the beginning that a word shares with the one before it.
        return sum(word[3:].encode() in raw for word in words)

    assert (left(gone), left(kept)) == (400, 400)
    writer = open_writer(path)
    for number in range(0, 400, 40):
        writer.remove(("memory", f"{number}.md"))
    writer.tidy(pages=None if settle else 250)
    assert writer.fact("words_left") == "0"
    writer.close()
    assert (left(gone), left(kept)) == (0, 400)
    assert_sound(path)
    assert [c.about.path for c in recall(path, match=kept[5])] == ["kept.md"]


def test_small_steps_of_merging_end_too(path: str) -> None:
    writer = open_writer(path)
    for number in range(300):
        put(writer, f"{number}.md", " ".join(unique_words(number, 60)))
    for number in range(0, 300, 2):
        writer.remove(("memory", f"{number}.md"))
    steps = 0
    while writer.fact("words_left") == "1":
        writer.tidy(pages=5)
        steps += 1
        assert steps < 500
    writer.close()
    assert steps > 1
    raw = Path(path).read_bytes()
    assert not any(word[3:].encode() in raw for word in unique_words(4, 60))


def test_a_filter_does_not_start_the_words_anew_for_each_row(path: str) -> None:
    """In an index of 10,000 chunks that all match, that took 20 seconds."""
    fill(path)
    asked: list[tuple[str, Any]] = []
    reader = Reader(path)

    def note(cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
        asked.append((sql, bindings))
        return True

    reader.connection.exec_trace = note
    with reader.snapshot():
        assert recalled(reader, words="fox", filters=Filters(kinds=("log", "note")))
    reader.connection.exec_trace = None
    matching = [(sql, bindings) for sql, bindings in asked if " MATCH " in sql]
    assert any("d.kind" in sql for sql, _ in matching)
    for sql, bindings in matching:
        plan = rows(reader.connection, f"EXPLAIN QUERY PLAN {sql}", bindings)
        assert not any("VIRTUAL TABLE INDEX 0:=" in str(line) for *_, line in plan), sql
    reader.close()


def test_a_reader_changes_no_byte(path: str) -> None:
    fill(path)
    before = Path(path).read_bytes()
    recall(path, match="fox", vector="fox", filters=Filters(kinds=("log",)))
    reader = Reader(path)
    with reader.snapshot():
        reader.counts()
    reader.documents(Scope())
    assert reader.integrity() == "ok"
    with pytest.raises((StoreError, apsw.Error)):
        reader.connection.execute("DELETE FROM documents")
    reader.close()
    assert Path(path).read_bytes() == before


def test_a_text_of_no_chunk_is_damage(path: str) -> None:
    fill(path, 3)
    connection = connect(path, write=True).connection
    connection.execute("PRAGMA foreign_keys = OFF; UPDATE parts SET chunk_id = chunk_id + 1000")
    connection.close()
    with pytest.raises(DamagedError):
        recall(path, vector="fox")


@pytest.mark.parametrize("damage", ["truncated", "header"])
def test_a_damaged_file_is_set_aside_and_one_is_kept(path: str, damage: str) -> None:
    for _ in range(2):
        fill(path, 10)
        data = Path(path).read_bytes()
        Path(path).write_bytes(
            data[: len(data) // 3] if damage == "truncated" else b"x" * 100 + data[100:]
        )
        writer = Writer(path, far_future)
        notice = "".join(writer.notices)
        if not notice:  # a cut file is found out when its pages are read
            with pytest.raises(DamagedError):
                writer.known()
            notice = writer.start_over("the index is damaged")
        assert f"kept as {path}.damaged-1" in notice
        assert writer.counts() == (0, 0, 0, 0, 0)
        writer.close()
        assert Path(path + ".damaged-1").stat().st_mode & 0o777 == 0o600
        Path(path).unlink()
    assert [p.name for p in Path(path).parent.glob("*.damaged*")] == ["index.sqlite.damaged-1"]


@pytest.mark.parametrize(
    "text",
    [
        "a'b\"c; DROP TABLE chunks; --",
        '---\ntitle: "nul\\0 and half \\ud800"\n---\n# It\'s [a] % _ *\nfox',
        "\ufffd\ufffd\x01\x1b[31m fox",
        "# \u202e\u2066 fox\n\U0001f600\u0301",
        "# " + "x" * 100_000 + "\n\nfox",
    ],
    ids=["sql", "front-matter", "controls", "bidi", "long-heading"],
)
@pytest.mark.parametrize("name", ["it's 50% [done] & 🍞 #1.md", "-rf.md", "a\nb.md", "NULL.md"])
def test_hostile_strings_are_only_strings(path: str, text: str, name: str) -> None:
    writer = open_writer(path)
    put(writer, name, text)
    put(writer, name, text)
    embed(writer, ENCODER)
    assert writer.counts().documents == 1
    writer.close()
    assert_sound(path)
    found = recall(path, vector=text[:50])
    assert {c.about.path for c in found} == {name}
    writer = open_writer(path)
    writer.remove(("memory", name))
    assert writer.counts() == (0, 0, 0, 0, 0)
    writer.close()
    assert_sound(path)


@pytest.mark.nightly
def test_churn_rebuilds_the_vector_table(path: str) -> None:
    wide = HashingEncoder(dimension=1024)
    writer = open_writer(path)
    for number in range(0, 3600, 300):
        put(writer, f"{number:04}.md", "\n\n".join(f"w{n}" for n in range(number, number + 300)))
    embed(writer, wide)
    table = writer.fact("vec_table")
    assert table
    for number in range(0, 3600, 300):
        if number % 1200:
            writer.remove(("memory", f"{number:04}.md"))
    embed(writer, wide)
    assert writer.fact("vec_table") not in (None, table)
    writer.close()
    assert_sound(path)


def test_a_frequency_is_counted_or_estimated_from_windows(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = open_writer(path)
    assert keywords.frequency(writer.connection, '"fox"') == 0
    for number in range(40):
        gold = " gold" * (number == 7)  # between the windows
        dawn = " dawn" * (number < 20)
        put(writer, f"{number}.md", ("fox train" if number % 2 else "train") + gold + dawn)
    writer.close()
    reader = Reader(path)
    fox, train, swan = Term("fox"), Term("train"), Term("swan")
    assert reader.frequencies([fox]) == [reader.matching_chunks([fox], ())[0].total] == [20]
    monkeypatch.setattr(keywords, "SAMPLE", 2 * keywords.WINDOWS)  # two a window
    assert reader.frequencies([fox, train, swan, Term("gold")]) == [20, 40, 0, 1]
    assert reader.frequencies([Term("dawn")]) == [24], "in three of five windows, all over the rows"
    assert reader.matching_chunks([fox, swan], [1, 2, 3, 4]) == [
        TermChunks(20, frozenset({2, 4})),
        TermChunks(0, frozenset()),
    ]
    reader.close()


def test_an_error_within_a_change_takes_back_those_that_were_not_seen(tmp_path: Path) -> None:
    path = str(tmp_path / "index.sqlite")
    writer = open_writer(path)

    def stop_within_the_third() -> None:
        with writer.together() as commit:
            writer.set_facts({"model": "a"})
            commit()
            writer.set_facts({"chunking": "b"})
            with writer.transaction():
                writer.put_fact("sources", "c")
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop_within_the_third()
    facts = writer.facts
    assert (facts.model, facts.chunking, facts.sources, facts.revision) == ("a", None, None, 1)
    writer.set_facts({"chunking": "b"})
    assert writer.facts.revision == 2
    writer.close()
    assert_sound(path)


@pytest.mark.parametrize("text", ["", "x", "[1]", '["a"] ', '{"a": 1}', "[", '"a"'])
def test_a_column_that_holds_no_list_of_texts_says_so(text: str) -> None:
    with pytest.raises(ValueError, match="a list of texts is none"):
        strings(text)
    assert strings('["a", "b"]') == ("a", "b")
