"""Several stores asked as one rank as one store that holds all their documents would."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.config import settings as config
from memcli.context.assemble import Sharing
from memcli.context.hops import Following
from memcli.context.retrieve import find, fixed_of
from memcli.embedding.encoders import Vector
from memcli.indexing.indexer import embed, index
from memcli.indexing.planning import make_document, plan, read
from memcli.search.federation import ModelGroup
from memcli.search.options import PROFILES, options_of
from memcli.search.query import parse
from memcli.search.question import Question
from memcli.store.port import Change, Snapshot
from memcli.store.run_records import Stamp
from memcli.store.union import Union
from memcli.threads import side_by_side
from memcli.types import Document, FileText, Filters, Term, TermQuery
from tests.store.contract.conftest import MOST_STORES, STORES
from tests.store.contract.makers import (
    EVERYTHING,
    TODAY,
    Clock,
    ask,
    changing,
    options_for,
    term,
)
from tests.store.contract.test_same_answers import (
    LONG,
    PATHS,
    Tree,
    files,
    queries,
    settings_of,
    some,
    summaries,
    told,
    write_files,
)
from tests.support import by_night

# How a whole index calls the sources of the two workspaces; they sort as the union asks them.
WHOLE = {"a:memory": "memory", "a:book": "book", "b:memory": "x-memory", "b:book": "x-book"}


def put_all(change: Change, root: Path, workspace: str) -> None:
    """Store all documents of a workspace, their sources called as in the whole index."""
    made = settings_of(root)
    for stat in plan(made, {}).listing.files:
        file = read(made, stat.source, stat.path)
        assert isinstance(file, FileText)
        document = make_document(made, file)
        assert isinstance(document, Document)
        source = WHOLE[f"{workspace}:{stat.source}"]
        stamp = Stamp(stat._replace(source=source), file.hash, 1)
        change.put(document._replace(source=source), stamp)


def as_whole(said: object) -> str:
    """Call what the union found as the whole index calls it."""
    text = re.sub(r"\b[ab]:(memory|book)(?=[:'])", lambda m: WHOLE[m[0]], str(said))
    return re.sub(r"(?<=')b:|^b:", "x-memory:", re.sub(r"(?<=')a:|^a:", "", text))


def filters_of(filters: Filters, named: Callable[[str], str]) -> Filters:
    return filters._replace(sources=tuple(map(named, filters.sources)))


narrowed = st.builds(
    lambda filters, sources: filters._replace(sources=sources, within=()),
    some,
    st.sampled_from(((), (), (), ("a:memory",), ("b:memory", "a:book"), ("b:book",))),
)
questions = st.tuples(
    queries,
    st.one_of(st.just(Filters()), narrowed),
    st.sampled_from(("hybrid", "keyword", "semantic")),
    st.sampled_from([*PROFILES]),
    st.sampled_from((2, 5, 100)),
)


@contextmanager
def opened(
    kind: str,
    own: dict[str, str],
    other: dict[str, str],
    sums: dict[str, list[tuple[str, int, int, bool]]],
    *,
    embeds: bool,
) -> Iterator[tuple[Path, Union, Snapshot]]:
    """Index two workspaces, each by itself and both in one, and ask the two as one."""
    base, clock, made = Path(tempfile.mkdtemp()), Clock(), STORES[kind]
    for name, texts in (("a", own), ("b", other)):
        (base / name / "book").mkdir(parents=True)
        write_files(base / name, texts, sums if name == "a" else {})
    stores = {name: made(base / f"{name}.index", clock) for name in ("a", "b", "whole")}
    try:
        for name, store in stores.items():
            with changing(store) as change:
                index(change, settings_of(base / ("a" if name == "whole" else name)))
                if name == "whole":
                    put_all(change, base / "b", "b")
                if embeds:
                    embed(change, Tree())
        with ExitStack() as held:
            one, two, whole = (held.enter_context(store.snapshot()) for store in stores.values())
            yield base, Union({"a": one, "b": two}), whole
    finally:
        for store in stores.values():
            store.close()
        shutil.rmtree(base)


@pytest.mark.parametrize("kind", MOST_STORES)
@LONG
@given(
    own=files,
    other=files,
    sums=summaries,
    most=st.sampled_from((None, None, None, 4)),
    asked=st.lists(questions, min_size=3, max_size=6),
)
def test_two_workspaces_rank_as_one_that_holds_both(
    kind: str,
    own: dict[str, str],
    other: dict[str, str],
    sums: dict[str, list[tuple[str, int, int, bool]]],
    most: int | None,
    asked: list[tuple[str, Filters, str, str, int]],
) -> None:
    with opened(kind, own, other, sums, embeds=most is None) as (_, union, whole):
        options = options_for()
        for text, filters, mode, profile, universe in asked:
            for view in ("all", "active", "raw"):
                wanted = options._replace(
                    mode=mode,
                    profile=PROFILES[profile],
                    universe=universe,
                    filters=filters._replace(view=view),
                )
                in_whole = filters_of(wanted.filters, WHOLE.__getitem__)
                expected = told(ask(whole, text, wanted._replace(filters=in_whole), Tree()))
                found = told(ask(union, text, wanted, Tree()), as_whole)
                assert as_whole(found.said) == str(expected.said)
                assert found.numbers == pytest.approx(expected.numbers, rel=1e-9, abs=1e-9)


class Other(Tree):
    """The same vectors by another name."""

    fingerprint = Tree.fingerprint + "-other"


@pytest.mark.parametrize("kind", STORES)
def test_vectors_of_two_models_are_parted_and_words_weighed_by_all(
    kind: str, tmp_path: Path
) -> None:
    """Each part finds its own by its own vectors, by the totals and with the numbers of all."""
    encoders = {"a": Tree(), "b": Other(), "c": None, "d": Tree()}
    stores = {name: STORES[kind](tmp_path / f"{name}.index", Clock()) for name in encoders}
    with ExitStack() as held:
        members: dict[str, Snapshot] = {}
        for name, encoder in encoders.items():
            (tmp_path / name / "book").mkdir(parents=True)
            write_files(tmp_path / name, {"memory/pool.md": f"The pool of {name}.\n"}, {})
            held.callback(stores[name].close)
            with changing(stores[name]) as change:
                index(change, settings_of(tmp_path / name))
                if encoder:
                    embed(change, encoder)
            members[name] = held.enter_context(stores[name].snapshot())
        whole = Union(members)
        parts = whole.by_model()
        assert [names for names, _ in parts] == [("a", "d", "c"), ("b",)]
        wanted = TermQuery(any=(term("pool"),))
        ranked = [list(part.by_keyword(wanted, 9, EVERYTHING)) for _, part in parts]
        order = sorted(each for found in ranked for each in found)
        assert order == sorted(whole.by_keyword(wanted, 9, EVERYTHING))
        sources = [
            sorted(e.about.source for e in part.excerpts([r.chunk_id for r in found]).values())
            for (_, part), found in zip(parts, ranked, strict=True)
        ]
        assert sources == [["a:memory", "c:memory", "d:memory"], ["b:memory"]]
        models = [part.facts.fingerprint for _, part in parts]
        assert models == [Tree.fingerprint, Other.fingerprint]
        near = [part.by_vector(Tree().encode_query("pool"), 9, EVERYTHING)() for _, part in parts]
        assert [sum(len(text.chunk_ids) for text in each) for each in near] == [2, 1]
        counted = [part.counts() for _, part in parts]
        assert [(each.chunks, each.embedded) for each in counted] == [(4, 2), (4, 1)]


@pytest.mark.parametrize("kind", MOST_STORES)
@pytest.mark.parametrize("limit", [1, 8, *by_night(3, 20, 100)])
def test_of_many_stores_one_may_hold_all_of_the_nearest(
    kind: str, limit: int, tmp_path: Path
) -> None:
    """Each is asked for its share first; what is found is what one store of all would find."""
    with ExitStack() as held:
        members: dict[str, Snapshot] = {}
        whole: dict[bytes, float] = {}
        asked = Tree().encode_query("near")
        for at in range(9):
            root = tmp_path / f"{at}"
            (root / "book").mkdir(parents=True)
            count = 60 if at == 7 else 2
            write_files(root, {f"memory/{n}.md": f"text {at} {n}\n" for n in range(count)}, {})
            store = STORES[kind](tmp_path / f"{at}.index", Clock())
            held.callback(store.close)
            with changing(store) as change:
                index(change, settings_of(root))
                embed(change, Tree())
            snapshot = held.enter_context(store.snapshot())
            members[f"w{at}"] = snapshot
            for near in snapshot.by_vector(asked, 1000, EVERYTHING)():
                whole[near.hash] = near.cosine
        found = Union(members).by_vector(asked, limit, EVERYTHING)()
        best = sorted(whole.values(), reverse=True)[:limit]
        assert [near.cosine for near in found] == best
        surely = {text for text, cosine in whole.items() if cosine > best[-1]}
        assert surely <= {near.hash for near in found}


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("limit", [1, 4])
def test_a_text_that_ties_is_told_with_its_chunks_in_all_stores(
    kind: str, limit: int, tmp_path: Path
) -> None:
    """Each store breaks ties by an order of its own, so it is asked until it has told them all."""
    with ExitStack() as held:
        members: dict[str, Snapshot] = {}
        for at in range(2):
            root = tmp_path / f"{at}"
            (root / "book").mkdir(parents=True)
            places = range(40) if at else range(39, -1, -1)
            notes = {f"memory/{n}.md": f"# Note\n\nText {m}.\n" for n, m in enumerate(places, 10)}
            write_files(root, notes, {})
            store = STORES[kind](tmp_path / f"{at}.index", Clock())
            held.callback(store.close)
            with changing(store) as change:
                index(change, settings_of(root))
                embed(change, Tree())
            members[f"w{at}"] = held.enter_context(store.snapshot())
        found = Union(members).by_vector(Tree().encode_query("near"), limit, EVERYTHING)()
        assert [len(near.chunk_ids) for near in found] == [2] * limit


def all_told(snapshot: Snapshot, asked: Sequence[Term]) -> dict[str, object]:
    """Ask for everything beside the retrievers, chunks by their citations."""
    excerpts = snapshot.excerpts_of(list(snapshot.known()), EVERYTHING)
    names = {each.about.chunk_id: as_whole(each.about.citation) for each in excerpts}
    ids = list(names)

    def named(found: Mapping[int, object]) -> list[tuple[str, object]]:
        return [(names[chunk], told) for chunk, told in found.items()]

    def held() -> Iterator[tuple[int, list[str]]]:
        for each in snapshot.matching_chunks(asked, ids[::2]):
            yield each.total, sorted(map(names.__getitem__, each.chunk_ids))

    spans = [("2025-01-01", "2025-03-31"), ("2025-06-12", "2025-06-13")]
    return {
        "excerpts": [(each.about._replace(chunk_id=0), each.text) for each in excerpts],
        "known": sorted(snapshot.known()),
        "counts": snapshot.counts(),
        "integrity": snapshot.integrity(),
        "occurring": sorted(snapshot.occurring(asked)),
        "frequencies": list(snapshot.frequencies(asked)),
        "held": list(held()),
        "matching": sorted(
            names[c]
            for c in snapshot.matching_chunks([TermQuery(any=tuple(asked))], ids[1::2])[0].chunk_ids
        ),
        "dated": [
            sorted(names[chunk] for chunk in snapshot.dated(spans, most, EVERYTHING))
            for most in (1, 3, 100)
        ],
        "vectors": sorted(named(snapshot.vectors(ids))),
        "lines": sorted(named(snapshot.lines_of(ids))),
        "newest": [(e.about.citation, e.ordinal) for e in snapshot.newest(EVERYTHING)],
        "marked": [
            (each.authority, [e.about.citation for e in each.excerpts])
            for soft in (False, True)
            for each in snapshot.marked(soft=soft)
        ],
        "documents": list(snapshot.documents(EVERYTHING)),
        "speakers": list(snapshot.speakers()),
        "preferences": [named(snapshot.preferences(most, EVERYTHING)) for most in (1, 2, 100)],
        "links": sorted(named(snapshot.links(ids))),
        "titles": sorted(snapshot.titles()),
        "supports": list(snapshot.supports()),
    }


def context(snapshot: Snapshot, text: str, roots: Mapping[str, str]) -> list[tuple[str, float]]:
    """Find what a context of a question is assembled from: citations, and their scores.

    There is no tail: the logs of another workspace are those of a memory there alone. What is
    found is not packed: what a citation costs depends on its length, and so on names.
    """
    wanted = Sharing(
        budget=9000, tail=0, always_share=0.5, soft_share=0.2, tail_share=0.0,
        preference_share=0.1, has_question=True,
    )  # fmt: skip
    fixed, encoder = fixed_of(snapshot, wanted, Filters()), Tree()
    options = options_of(config.load("/", {}, {}), filters=Filters())
    group = ModelGroup(
        (), snapshot, "hashing", None,
        lambda t: Vector(encoder.encode_query(t), encoder.fingerprint, None, 1.0),
    )  # fmt: skip
    _, found = find(
        snapshot, Question(text, TODAY, (), parse(text)), options, fixed, groups=[group],
        following=Following(roots),
    )  # fmt: skip
    assert found.is_of_one_scale
    parts = [*fixed.parts, *found.parts, *found.below, *found.preferences]
    return [(part.excerpt.about.citation, part.score or 0.0) for part in parts]


def roots_of(base: Path, named: Callable[[str], str]) -> dict[str, str]:
    return {
        named(f"{ws}:{source}"): str(base / ws / ("book" if source == "book" else ""))
        for ws in ("a", "b")
        for source in ("memory", "book")
    }


said = st.sampled_from((
    "I prefer tea to coffee beans.", "See [the day](memory/2025-01-02.md).",
    "**Kate**: the pool\n\n**Odette**: a fox\n\n**Kate**: beans\n\n**Odette**: v0.1\n\n"
    "**Kate**: train\n\n**Odette**: house",
))  # fmt: skip
more = st.dictionaries(st.sampled_from(PATHS), said, max_size=3)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", STORES)
@LONG
@given(
    own=st.tuples(files, more).map(lambda both: {**both[0], **both[1]}),
    other=st.tuples(files, more).map(lambda both: {**both[0], **both[1]}),
    sums=summaries,
    asked=st.lists(st.sampled_from(("pool", "fox", "house", "v0.1")), min_size=1, max_size=3),
    texts=st.lists(queries, min_size=1, max_size=2),
)
def test_two_workspaces_tell_what_one_tells_that_holds_both(
    kind: str,
    own: dict[str, str],
    other: dict[str, str],
    sums: dict[str, list[tuple[str, int, int, bool]]],
    asked: list[str],
    texts: list[str],
) -> None:
    with opened(kind, own, other, sums, embeds=True) as (base, union, whole):
        wanted = [term(word) for word in asked]
        found, expected = all_told(union, wanted), all_told(whole, wanted)
        for what, told_of in expected.items():
            assert as_whole(found[what]) == as_whole(told_of), what
        for text in texts:
            ours = context(union, text, roots_of(base, str))
            theirs = context(whole, text, roots_of(base, WHOLE.__getitem__))
            assert [as_whole(name) for name, _ in ours] == [name for name, _ in theirs]
            assert [s for _, s in ours] == pytest.approx([s for _, s in theirs], rel=1e-9)


def test_what_is_done_side_by_side_comes_in_order_or_fails_as_one_of_them() -> None:
    assert side_by_side(lambda number: 12 // number, [*range(1, 7)]) == [12, 6, 4, 3, 2, 2]
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda number: 12 // number, [3, 2, 1, 0])
