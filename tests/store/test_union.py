"""Several stores asked as one rank as one store that holds all their documents would."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli.config import settings as config
from memcli.indexing.indexer import embed, index
from memcli.indexing.planning import make_document, plan, read
from memcli.search.dates import find_dates
from memcli.search.legs import Vector
from memcli.search.options import SearchOptions, options_of
from memcli.search.pipeline import Answer, search
from memcli.search.profiles import PROFILES
from memcli.search.query import parse
from memcli.store.port import Change, Snapshot
from memcli.store.run_records import Stamp
from memcli.store.union import Member, Union
from memcli.types import Document, FileText, Filters
from memcli.workspace.dating import age_days
from tests.store.contract.conftest import STORES
from tests.store.contract.makers import Clock, changing
from tests.store.contract.test_same_answers import (
    TODAY,
    Tree,
    files,
    queries,
    settings_of,
    some,
    summaries,
    told,
    write_files,
)

EXAMPLES = (settings.default or settings()).max_examples // 4
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


def answer(snapshot: Snapshot, text: str, options: SearchOptions) -> Answer:
    encoder = Tree()
    dates = find_dates(text, TODAY)
    return search(
        snapshot,
        parse(text, soft=[(span.at, span.at + len(span.text)) for span in dates]),
        dates,
        options,
        embed_query=lambda text: Vector(encoder.encode_query(text), encoder.fingerprint, None, 1.0),
        age_days=lambda day: age_days(day, TODAY.isoformat()),
    )


def as_whole(said: object) -> str:
    """Call what the union found as the whole index calls it."""
    text = re.sub(r"\b([ab]):(memory|book):", lambda m: f"{WHOLE[m[0][:-1]]}:", str(said))
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
    st.sampled_from(("hybrid", "lexical", "dense")),
    st.sampled_from([*PROFILES]),
    st.sampled_from((2, 5, 100)),
)


@pytest.mark.parametrize("kind", STORES)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
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
    base, clock, made = Path(tempfile.mkdtemp()), Clock(), STORES[kind]
    for name in ("a", "b"):
        (base / name / "book").mkdir(parents=True)
    write_files(base / "a", own, sums)
    write_files(base / "b", other, {})
    stores = {name: made(base / f"{name}.index", clock) for name in ("a", "b", "whole")}
    try:
        for name, store in stores.items():
            with changing(store) as change:
                index(change, settings_of(base / ("a" if name == "whole" else name)))
                if name == "whole":
                    put_all(change, base / "b", "b")
                if most is None:
                    embed(change, Tree())
        options = options_of(config.load(str(base / "a"), {}, {}), filters=Filters())
        with ExitStack() as opened:
            one, two, whole = (opened.enter_context(store.snapshot()) for store in stores.values())
            union = Union([Member("a", one), Member("b", two)])
            for text, filters, mode, profile, universe in asked:
                for view in ("all", "active", "raw"):
                    wanted = options._replace(
                        encoder="hashing",
                        mode=mode,
                        profile=PROFILES[profile],
                        universe=universe,
                        filters=filters._replace(view=view),
                    )
                    in_whole = filters_of(wanted.filters, WHOLE.__getitem__)
                    expected = told(answer(whole, text, wanted._replace(filters=in_whole)))
                    found = told(answer(union, text, wanted), as_whole)
                    assert as_whole(found.said) == str(expected.said)
                    assert found.numbers == pytest.approx(expected.numbers, rel=1e-9, abs=1e-9)
    finally:
        for store in stores.values():
            store.close()
        shutil.rmtree(base)
