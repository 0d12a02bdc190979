"""What a snapshot gives of chunks and documents once it is known which."""

from __future__ import annotations

import json

from memcli.indexing.document import document_without_text
from memcli.store.documents import IndexedDocument, Linking, TitledDocument
from memcli.store.port import Store
from memcli.store.records import First, RetrieverResults, Scope
from memcli.types import About, Candidate, Excerpt, Filters, Source, TermQuery
from tests.store.contract.makers import (
    ENCODER,
    EVERYTHING,
    any_of,
    changing,
    document,
    embed,
    every_chunk,
    fill,
    found,
    keys,
    places,
    put,
    search_by,
    stamp_of,
)

TEXT = """---
title: The pool
authority: 0.5
importance: 0.25
date: 2025-06-07
---
# Pool

The pool ran [dry](b.md), see [[c]].

## Later

It was full.
"""


def test_a_candidate_is_what_was_put(store: Store) -> None:
    with changing(store) as change:
        put(change, "before.md", "other text\n")
        made = put(change, "memory/p.md", TEXT, source_kind="tool")
    with store.snapshot() as snapshot:
        excerpts = snapshot.excerpts_of(keys("memory/p.md"), EVERYTHING)
        ids = [excerpt.about.chunk_id for excerpt in excerpts]
        candidates = snapshot.candidates(ids, RetrieverResults(TermQuery(), (), None, ()))
        assert snapshot.excerpts(ids) == dict(zip(ids, excerpts, strict=True))
    assert len(made.chunks) == 2
    for chunk, excerpt, candidate in zip(made.chunks, excerpts, candidates, strict=True):
        about = About(
            chunk_id=excerpt.about.chunk_id, source="memory", path="memory/p.md",
            anchor=chunk.anchor, heading_path=chunk.heading_path, title="The pool",
            start_line=chunk.start_line, end_line=chunk.end_line, date="2025-06-07",
            document_date="2025-06-07", kind="note", scope="global", source_kind="tool",
            trust="trusted",
        )  # fmt: skip
        assert excerpt == Excerpt(
            about, chunk.text, chunk.start_byte, chunk.end_byte, chunk.ordinal
        )
        assert candidate._replace(segments=()) == Candidate(
            about, chunk.tokens, chunk.text, 0.5, 0.25, (),
            named_by="" if chunk.ordinal else made.front_matter,
        )  # fmt: skip
        assert [part[:4] for part in candidate.segments] == [
            (part.start_line, part.end_line, part.start, part.end) for part in chunk.segments
        ]


def test_candidates_have_the_scores_of_both_legs_whoever_found_them(store: Store) -> None:
    with changing(store) as change:
        put(change, "a.md", "zebra zebra zebra\n")
        put(change, "b.md", "zebra at the river in the long grass\n")
        put(change, "c.md", "nothing of the kind\n")
        for number in range(9):
            put(change, f"{number}.md", f"note {number}\n")
        embed(change)
        search_by(change)
    wanted, vector = any_of("zebra"), ENCODER.encode_query("river in the long grass")
    with store.snapshot() as snapshot:
        keyword = snapshot.by_keyword(wanted, 1, EVERYTHING)
        near = snapshot.by_vector(vector, 1, EVERYTHING)()
        assert places(snapshot, [keyword[0].chunk_id, *near[0].chunk_ids]) == ["a.md", "b.md"]
        every = snapshot.by_keyword(wanted, 99, EVERYTHING)
        scores = {passage.chunk_id: passage.bm25 for passage in every}
        cosines = {
            chunk: text.cosine
            for text in snapshot.by_vector(vector, 99, EVERYTHING)()
            for chunk in text.chunk_ids
        }
        ids = [chunk_id for chunk_id, path in every_chunk(snapshot).items() if path in PATHS]
        candidates = snapshot.candidates(ids, RetrieverResults(wanted, keyword, vector, near))
        assert [candidate.about.path for candidate in candidates] == PATHS
        for candidate in candidates:
            chunk_id = candidate.about.chunk_id
            assert abs(candidate.bm25 - scores.get(chunk_id, 0.0)) <= 1e-9
            (part,) = candidate.segments
            assert part.cosine is not None
            assert abs(part.cosine - cosines[chunk_id]) <= 1e-6
        assert [candidate.bm25 > 0 for candidate in candidates] == [True, True, False]
        (alone,) = snapshot.candidates(ids[:1], RetrieverResults(TermQuery(), (), None, ()))
        assert (alone.bm25, [part.cosine for part in alone.segments]) == (0.0, [None])
        assert list(snapshot.candidates([], RetrieverResults(wanted, keyword, vector, near))) == []


PATHS = ["a.md", "b.md", "c.md"]


def test_candidates_come_by_source_path_and_place(store: Store) -> None:
    with changing(store) as change:
        put(change, "b.md", "# B\n\nfox\n\n# C\n\nfox\n")
        put(change, "a.md", "fox\n", "other")
        put(change, "a.md", "# A\n\nfox\n\n# B\n\nfox\n")
    with store.snapshot() as snapshot:
        ids = [passage.chunk_id for passage in snapshot.by_keyword(any_of("fox"), 9, EVERYTHING)]
        order = [
            (c.about.source, c.about.path, c.about.start_line)
            for c in snapshot.candidates(ids[::-1], RetrieverResults(TermQuery(), (), None, ()))
        ]
    assert order == [
        ("memory", "a.md", 1),
        ("memory", "a.md", 5),
        ("memory", "b.md", 1),
        ("memory", "b.md", 5),
        ("other", "a.md", 1),
    ]


def test_the_newest_chunks_of_each_span_of_days(store: Store) -> None:
    days = {f"memory/2025-01-0{day}.md": f"day {day}\n" for day in (3, 1, 2, 5)}
    fill(store, days | {"plain.md": "no day\n", "x.md": "## 2025-01-02\n\nof a heading\n"})
    spans: dict[tuple[str, str], list[int | str]] = {
        ("2025-01-02", "2025-01-03"): [3, 2, "x"],
        ("2025-01-05", "2025-01-05"): [5],
        ("2025-01-04", "2025-01-04"): [],
        ("2025-01-03", "2025-01-01"): [],
        ("0001-01-01", "9999-12-31"): [5, 3, 2, "x", 1],
    }
    expected = {
        span: [f"memory/2025-01-0{d}.md" if isinstance(d, int) else f"{d}.md" for d in names]
        for span, names in spans.items()
    }
    with store.snapshot() as snapshot:
        for span, paths in expected.items():
            assert places(snapshot, snapshot.dated([span], 9, EVERYTHING)) == paths
            assert places(snapshot, snapshot.dated([span], 2, EVERYTHING)) == paths[:2]
        both = [("2025-01-05", "2025-01-05"), ("2025-01-01", "2025-01-03")]
        assert places(snapshot, snapshot.dated(both, 1, EVERYTHING)) == [
            "memory/2025-01-05.md",
            "memory/2025-01-03.md",
        ]
        assert list(snapshot.dated([], 9, EVERYTHING)) == []


def test_the_newest_records_from_the_end_without_what_is_marked(store: Store) -> None:
    with changing(store) as change:
        put(change, "memory/2025-01-01.md", "# A\n\nfirst\n\n# B\n\nsecond\n")
        put(change, "memory/2025-01-03.md", "third day\n")
        put(change, "memory/2025-01-02-b.md", "second day, b\n")
        put(change, "memory/2025-01-02-a.md", "second day, a\n")
        put(change, "memory/2025-01-04.md", "a rule\n", always=True)
        put(change, "memory/2025-01-05.md", "a soft rule\n", soft=True)
        put(change, "plain.md", "no day\n")
    with store.snapshot() as snapshot:
        newest = snapshot.newest(EVERYTHING)
        assert next(newest).about.path == "memory/2025-01-03.md"
        assert [(e.about.path, e.about.start_line) for e in newest] == [
            ("memory/2025-01-02-b.md", 1),
            ("memory/2025-01-02-a.md", 1),
            ("memory/2025-01-01.md", 5),
            ("memory/2025-01-01.md", 1),
        ]


def test_documents_that_are_marked(store: Store) -> None:
    with changing(store) as change:
        put(change, "z.md", "# A\n\nrule\n\n# B\n\nrule\n", always=True, authority=0.5)
        put(change, "b.md", "both\n", always=True, soft=True)
        put(change, "s.md", "soft\n", soft=True, authority=1.0)
        put(change, "a.md", "of another\n", "other", always=True)
        put(change, "empty.md", "", always=True)
        put(change, "plain.md", "plain\n")
    with store.snapshot() as snapshot:
        always, soft = snapshot.marked(soft=False), snapshot.marked(soft=True)
        assert [
            (found.authority, [(e.about.path, e.about.start_line) for e in found.excerpts])
            for found in always
        ] == [(None, [("b.md", 1)]), (0.5, [("z.md", 1), ("z.md", 5)]), (None, [("a.md", 1)])]
        assert [(found.authority, [e.text for e in found.excerpts]) for found in soft] == [
            (1.0, ["soft"])
        ]


def test_documents_come_with_what_their_authors_said(store: Store) -> None:
    with changing(store) as change:
        told = put(change, "memory/p.md", TEXT).front_matter
        put(change, "o.md", "text\n", "other", trust="untrusted")
        put(change, "empty.md", "")
    with store.snapshot() as snapshot:
        assert set(snapshot.titles()) == {
            TitledDocument("memory", "memory/p.md", "The pool"),
            TitledDocument("other", "o.md", "o"),
            TitledDocument("memory", "empty.md", "empty"),
        }
        assert list(snapshot.documents(EVERYTHING)) == [
            IndexedDocument(
                "memory", "empty.md", "empty", None, None, "note", "global", "trusted", None,
                None, "{}", "", 0,
            ),
            IndexedDocument(
                "memory", "memory/p.md", "The pool", "2025-06-07", None, "note", "global",
                "trusted", 0.5, 0.25, told, "", 2,
            ),
            IndexedDocument(
                "other", "o.md", "o", None, None, "note", "global", "untrusted", None, None, "{}",
                "", 1,
            ),
        ]  # fmt: skip


def test_the_first_documents_in_each_order(store: Store) -> None:
    days = {"c.md": "2025-03-01", "a.md": "2025-01-01", "b.md": "2025-03-01"}
    fill(store, {path: f"---\ndate: {day}\n---\n# T\n\nfox\n" for path, day in days.items()})
    fill(store, {"undated.md": "# U\n\nfox\n"})
    with changing(store) as change:
        skipped = document_without_text(Source("memory", "/", ()), "bad.md")
        change.put(skipped, stamp_of("bad.md", ""), skip="binary")
    orders = {"path": "abcu", "date": "abcu", "newest": "bcau"}
    with store.snapshot() as snapshot:
        for order, names in orders.items():
            for limit in (1, 3, 9):
                found = snapshot.documents(EVERYTHING, First(limit, order))
                assert "".join(each.path[0] for each in found) == names[:limit]
                assert {each.total for each in found} == {4}
        since = Scope(Filters(since="2025-02-01"))
        (first,) = snapshot.documents(since, First(1, "newest"))
        assert (first.path, first.total) == ("b.md", 2)


def test_links_come_with_the_front_matter(store: Store) -> None:
    with changing(store) as change:
        made = put(change, "memory/p.md", TEXT)
    with store.snapshot() as snapshot:
        ids = [e.about.chunk_id for e in snapshot.excerpts_of(keys("memory/p.md"), EVERYTHING)]
        links = snapshot.links(ids)
        assert links == {
            chunk_id: Linking(chunk.links, made.front_matter)
            for chunk_id, chunk in zip(ids, made.chunks, strict=True)
        }
        assert links[ids[0]].targets == ("b.md", "c")
        assert json.loads(links[ids[1]].front_matter)["title"] == "The pool"
        assert snapshot.links([]) == {}


def test_documents_are_listed_with_and_without_a_text(store: Store) -> None:
    said = "---\ntitle: Pool rules\ntags: [infra]\ndate: 2025-02-01\n---\n"
    with changing(store) as change:
        put(change, "b.md", f"{said}fox\n")
        put(change, "a.md", said, trust="untrusted")
        change.put(document("c.md", ""), stamp_of("c.md", ""))
        change.put(document("d.md", ""), stamp_of("d.md", "?"), skip="not-text")
    matter = '{"date": "2025-02-01", "tags": ["infra"], "title": "Pool rules"}'
    rules = IndexedDocument(
        "memory", "b.md", "Pool rules", "2025-02-01", None, "note", "global", "trusted", None,
        None, matter, "", 1,
    )  # fmt: skip
    bare = rules._replace(path="a.md", trust="untrusted", chunks=0)
    empty = rules._replace(path="c.md", title="c", date=None, front_matter="{}", chunks=0)
    skipped = empty._replace(path="d.md", title="d", skip="not-text")
    with store.snapshot() as snapshot:
        assert snapshot.documents(EVERYTHING) == [bare, rules, empty, skipped]
        assert snapshot.documents(Scope(Filters(tags=("infra",)))) == [bare, rules]
        assert snapshot.documents(Scope(Filters(since="2025-02-01"))) == [bare, rules]
        assert snapshot.documents(Scope(Filters(since="2025-02-02"))) == []
        assert snapshot.documents(Scope(Filters(since="2025-02-02", undated=True))) == [
            empty,
            skipped,
        ]
        assert snapshot.documents(Scope(Filters(kinds=("log",)))) == []


def test_chunks_that_share_a_line_are_told_from_those_that_do_not(store: Store) -> None:
    long_line = " ".join(f"Sentence {n} of a line that no chunk holds." for n in range(120))
    fill(store, {"a.md": f"# A\n\nfirst\n\n# B\n\n{long_line}\n\n# C\n\nlast\n"})
    with store.snapshot() as snapshot:
        excerpts = snapshot.excerpts_of(keys("a.md"), EVERYTHING)
        told = snapshot.lines_of([each.about.chunk_id for each in excerpts])
        first, *pieces, last = (told[each.about.chunk_id].broken for each in excerpts)
        assert first == last == (False, False)
        assert pieces == [(False, True), *[(True, True)] * (len(pieces) - 2), (True, False)]
        assert len(pieces) > 2
        assert snapshot.lines_of([]) == {}


def test_chunks_of_documents_in_order(store: Store) -> None:
    fill(store, {"b.md": "# A\n\none\n\n# B\n\ntwo\n", "a.md": "three\n", "c.md": "four\n"})
    with store.snapshot() as snapshot:
        excerpts = snapshot.excerpts_of([*keys("b.md", "a.md"), ("other", "c.md")], EVERYTHING)
        assert [(e.about.path, e.ordinal) for e in excerpts] == [
            ("a.md", 0),
            ("b.md", 0),
            ("b.md", 1),
        ]
        assert list(snapshot.excerpts_of([], EVERYTHING)) == []
        assert snapshot.excerpts([]) == {}
        assert snapshot.excerpts([10**9]) == {}


def test_chunks_keep_their_place_in_documents_of_many_bytes(store: Store) -> None:
    text = "# 東京\n\n晴れ 🍞 é\n\n# B\n\nfox\n"
    fill(store, {"a.md": text})
    data = text.encode()
    with store.snapshot() as snapshot:
        for excerpt in snapshot.excerpts_of(keys("a.md"), EVERYTHING):
            span = data[excerpt.start_byte : excerpt.end_byte]
            assert span.decode() == excerpt.text
        assert found(snapshot, any_of("晴れ")) == ["a.md"]
    assert document("a.md", text).chunks[1].start_byte > len("# 東京\n\n晴れ")
