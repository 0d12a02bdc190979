"""Search by words: which chunks hold a term, and in what order they are found."""

from __future__ import annotations

from math import log

import pytest

from memcli.store.port import Store
from memcli.store.records import Scope, TermChunks
from memcli.types import Filters, Term, TermQuery
from tests.store.contract.makers import (
    EVERYTHING,
    any_of,
    changing,
    every_chunk,
    fill,
    found,
    put,
    term,
)

TINY = 1e-6  # the IDF of what most chunks hold


def bm25(idf: float, count: int, size: int, mean: float) -> float:
    return idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * size / mean))


def test_a_score_by_hand(store: Store) -> None:
    fill(store, {"1.md": "pool pool dry\n", "2.md": "pool\n", "3.md": "train far behind us\n"})
    mean = (3 + 1 + 4) / 3
    dry = log((3 - 1 + 0.5) / (1 + 0.5))
    with store.snapshot() as snapshot:
        (passage,) = snapshot.by_keyword(any_of("dry"), 9, EVERYTHING)
        assert passage.bm25 == pytest.approx(bm25(dry, 1, 3, mean), rel=1e-9)
        both = snapshot.by_keyword(any_of("dry", "pool"), 9, EVERYTHING)
        assert [passage.bm25 for passage in both] == pytest.approx(
            [bm25(dry, 1, 3, mean) + bm25(TINY, 2, 3, mean), bm25(TINY, 1, 1, mean)], rel=1e-9
        )
        assert found(snapshot, any_of("dry", "pool")) == ["1.md", "2.md"]


def test_headings_count_as_much_as_the_text(store: Store) -> None:
    fill(store, {"1.md": "# Pool\n\nit is dry\n", "2.md": "fox\n", "3.md": "fox\n"})
    pool = log((3 - 1 + 0.5) / (1 + 0.5))
    with store.snapshot() as snapshot:
        (passage,) = snapshot.by_keyword(any_of("pool"), 9, EVERYTHING)
    assert passage.bm25 == pytest.approx(bm25(pool, 2, 5, (5 + 1 + 1) / 3), rel=1e-9)


def test_the_names_and_tags_of_a_document_are_headings_of_its_first_chunk(store: Store) -> None:
    notes = "---\naliases: [Pelican, Blog engine]\ntags: [web]\n---\nslow\n\n# Later\n\nfast #css\n"
    fill(store, {"1.md": "fox\n", "Old_site.md": notes, "2025-03-04.md": "fox\n"})
    with store.snapshot() as snapshot:
        for word in ("site", "pelican", "engine", "web", "css"):
            assert found(snapshot, any_of(word))[0] == "Old_site.md"
            assert snapshot.frequencies([term(word)]) == [1 + (word == "css")]
        assert found(snapshot, any_of("2025")) == []
        (passage,) = snapshot.by_keyword(any_of("pelican"), 9, EVERYTHING)
        lengths = (1 + 2 + 3 + 2 + 1, 1 + 3, 1, 1)  # names and tags, or a heading, and the text
        alone = log((4 - 1 + 0.5) / (1 + 0.5))
        assert passage.bm25 == pytest.approx(bm25(alone, 1, 9, sum(lengths) / 4), rel=1e-9)


def test_scores_know_nothing_of_what_was_removed(store: Store) -> None:
    fill(store, {"a.md": "pool dry\n", "b.md": "fox\n"})
    with store.snapshot() as snapshot:
        before = [passage.bm25 for passage in snapshot.by_keyword(any_of("dry"), 9, EVERYTHING)]
    fill(store, {f"{number}.md": "many more words than that\n" for number in range(9)})
    with changing(store) as change:
        for number in range(9):
            change.remove(("memory", f"{number}.md"))
    with store.snapshot() as snapshot:
        after = [passage.bm25 for passage in snapshot.by_keyword(any_of("dry"), 9, EVERYTHING)]
    assert after == pytest.approx(before, rel=1e-9)


def test_the_best_come_first_and_ties_by_place(store: Store) -> None:
    fill(
        store,
        {
            "d.md": "the fox\n",
            "c.md": "fox fox\n",
            "b.md": "the fox\n",
            "a.md": "train\n",
            "e.md": "one fox in a long line of other words\n",
        }
        | {f"{number}.md": "more text\n" for number in range(9)},
    )
    with store.snapshot() as snapshot:
        assert found(snapshot, any_of("fox")) == ["c.md", "b.md", "d.md", "e.md"]
        assert found(snapshot, any_of("fox"), limit=2) == ["c.md", "b.md"]
        passages = snapshot.by_keyword(any_of("fox"), 9, EVERYTHING)
        assert [passage.bm25 for passage in passages] == sorted(
            (passage.bm25 for passage in passages), reverse=True
        )
        assert passages[1].bm25 == passages[2].bm25


def test_what_is_out_of_reach_takes_no_place_and_changes_no_score(store: Store) -> None:
    fill(store, {f"{number}.md": "fox fox fox\n" for number in range(5)})
    fill(store, {"sub/z.md": "one fox in a long line of other words\n", "y.md": "train\n"})
    scope = Scope(Filters(paths=("sub/",)))
    with store.snapshot() as snapshot:
        assert found(snapshot, any_of("fox"), limit=1, scope=scope) == ["sub/z.md"]
        assert [*snapshot.by_keyword(any_of("fox"), 1, scope)] == [
            *snapshot.by_keyword(any_of("fox"), 9, EVERYTHING)
        ][-1:]


def test_any_term_every_group_and_none_of_some(store: Store) -> None:
    fill(
        store,
        {
            "a.md": "fox train\n",
            "b.md": "fox pool\n",
            "c.md": "train pool\n",
            "d.md": "fox train pool\n",
            "e.md": "beans\n",
        },
    )
    fox, train, pool, beans, swan = map(term, ("fox", "train", "pool", "beans", "swan"))
    cases = {
        TermQuery(): "", TermQuery(any=(swan,)): "", TermQuery(none=(fox,)): "",
        TermQuery(any=(fox, beans)): "abde", TermQuery(any=(fox, beans), none=(pool,)): "ae",
        TermQuery(all=((fox,), (train,))): "ad", TermQuery(all=((fox,), (train, pool))): "abd",
        TermQuery(all=((fox,), (swan,))): "",
        TermQuery(any=(beans,), all=((train,), (pool,))): "cde",
        TermQuery(any=(beans,), all=((train,), (pool,)), none=(fox,)): "ce",
    }  # fmt: skip
    with store.snapshot() as snapshot:
        ids = {path: chunk_id for chunk_id, path in every_chunk(snapshot).items()}
        for wanted, names in cases.items():
            paths = {f"{name}.md" for name in names}
            assert set(found(snapshot, wanted)) == paths
            whole, one, none = (
                snapshot.matching_chunks([wanted], among)[0]
                for among in (list(ids.values()), [ids["d.md"]], [])
            )
            assert whole.total == one.total == none.total == len(paths)
            assert whole.chunk_ids == {ids[p] for p in paths}
            assert one.chunk_ids == ({ids["d.md"]} if "d" in names else set())
            assert none.chunk_ids == set()


def test_a_term_that_is_asked_for_twice_counts_twice_in_groups_alone(store: Store) -> None:
    fill(store, {"a.md": "fox train\n", "b.md": "pool\n", "c.md": "pool\n"})
    fox, train = term("fox"), term("train")

    def score(wanted: TermQuery) -> float:
        with store.snapshot() as snapshot:
            (passage,) = snapshot.by_keyword(wanted, 9, EVERYTHING)
            return passage.bm25

    once = score(TermQuery(any=(fox,)))
    assert score(TermQuery(any=(fox, fox))) == pytest.approx(once, rel=1e-9)
    assert score(TermQuery(all=((fox, fox), (fox,)))) == pytest.approx(once, rel=1e-9)
    assert score(TermQuery(any=(fox,), all=((fox,), (train,)))) == pytest.approx(3 * once, rel=1e-9)


WRITTEN = {
    "a.md": "# Running the pool\n\nWe deployed v0.1 to dev-2 and generated houses.\n",
    "b.md": "The deployment of v0.2; a house, a generator.\n",
    "c.md": "東京都の天気と日本語検索\n",
    "d.md": "京都は晴れ\n",
    "e.md": "Straße, naïve café, GRÜSSE <!-- hidden words --> shown\n",
}


HOLDERS = [
    (term("run"), "a"), (term("houses"), "ab"), (term("POOL"), "a"), (term("v0.1"), "a"),
    (term("v0"), "ab"), (term("deployed v0.1"), "a"), (term("v0.1 deployed"), ""),
    (term("pool we"), "a"),  # in the text; a phrase does not go on from heading to text
    (term("deploy", prefix=True), "ab"), (term("generat", prefix=True), "ab"),
    (term("generator", prefix=True), "ab"), (term("runn", prefix=True), "a"),
    (term("dev-", prefix=True), "a"), (term("wea", prefix=True), ""), (term("東京"), "c"),
    (term("京都"), "cd"), (term("東"), "c"), (term("都"), "cd"), (term("東京都"), "c"),
    (term("京都は"), "d"), (term("検索"), "c"), (term("索"), "c"), (term("strasse"), "e"),
    (term("naive"), "e"), (term("cafe"), "e"), (term("grüsse"), "e"), (term("shown"), "e"),
    (term("hidden"), ""), (Term("!!"), ""), (Term('"*) NEAR('), ""),
]  # fmt: skip


def test_which_chunks_hold_a_term(store: Store) -> None:
    fill(store, WRITTEN)
    with store.snapshot() as snapshot:
        ids = every_chunk(snapshot)
        for wanted, expected in HOLDERS:
            paths = {f"{name}.md" for name in expected}
            assert set(found(snapshot, TermQuery(any=(wanted,)))) == paths, wanted
            assert list(snapshot.frequencies([wanted])) == [len(paths)]
            assert snapshot.occurring([wanted]) == ({wanted} if paths else set())
            (held,) = snapshot.matching_chunks([wanted], list(ids))
            assert (held.total, {ids[chunk] for chunk in held.chunk_ids}) == (len(paths), paths)


def test_terms_are_counted_and_looked_up_in_their_order(store: Store) -> None:
    fill(store, {"a.md": "fox train\n", "b.md": "fox\n", "c.md": "fox\n"})
    with store.snapshot() as snapshot:
        asked = [term("swan"), term("fox"), term("train"), term("fox")]
        assert list(snapshot.frequencies(asked)) == [0, 3, 1, 3]
        (first,) = snapshot.by_keyword(any_of("train"), 9, EVERYTHING)
        assert list(snapshot.matching_chunks(asked, [first.chunk_id])) == [
            TermChunks(total, frozenset([first.chunk_id] if total else []))
            for total in (0, 3, 1, 3)
        ]
        assert list(snapshot.matching_chunks(asked[1:2], ())) == [TermChunks(3, frozenset())]
        assert snapshot.occurring(asked) == {term("fox"), term("train")}
        assert list(snapshot.frequencies([])) == []
        assert snapshot.occurring([]) == frozenset()
        assert list(snapshot.matching_chunks([], [])) == []


def test_texts_are_cut_as_they_are_stored(store: Store) -> None:
    fill(store, {"a.md": "text\n"})
    with store.snapshot() as snapshot:
        texts = ["Running foxes, v0.1!", "", "naïve", " 東京 京都 都 "]
        assert list(snapshot.tokens(texts)) == [
            ("run", "fox", "v0", "1"), (), ("naiv",), ("東京", "京都", "都"),
        ]  # fmt: skip
        assert list(snapshot.tokens([])) == []


def test_a_document_that_is_put_again_is_found_by_its_new_words_alone(store: Store) -> None:
    fill(store, {"a.md": "fox swan\n", "b.md": "fox\n"})
    with changing(store) as change:
        put(change, "a.md", "train\n")
    with store.snapshot() as snapshot:
        asked = [term("fox"), term("train"), term("swan")]
        assert snapshot.occurring(asked) == {term("fox"), term("train")}
        assert found(snapshot, any_of("fox", "train")) == ["a.md", "b.md"]
        assert list(snapshot.frequencies([term("fox"), term("train")])) == [1, 1]


def test_many_terms_are_told_apart_as_few_are(store: Store) -> None:
    fill(store, WRITTEN)
    with changing(store) as change:
        put(change, "zebra.md", "zebras\n")
        change.remove(("memory", "zebra.md"))
    some = [
        term(word) for word in ("running", "naive", "東京都", "京都", "zebra", "grüsse", "swan")
    ]
    some += [Term("gener", prefix=True), Term("!!"), Term("the pool"), Term("pool the")]
    many = [*some, *(term(f"{letter}{other}x") for letter in "abfnt" for other in "abcdefghijkl")]
    with store.snapshot() as snapshot:
        assert len(many) > 50
        expected = {each for each in many if snapshot.occurring([each])}
        assert snapshot.occurring(many) == expected
        assert expected & {term("zebra"), term("swan")} == set()
        assert expected >= {term("京都"), term("grüsse"), Term("gener", prefix=True)}
