"""What is of a week or a month is found by each of its days."""

from __future__ import annotations

import shutil
import tempfile
from datetime import date, timedelta
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli.indexing.indexer import text_of
from memcli.markdown.segments import segment_hash
from memcli.store.documents import counts_by_source, documents_by_day, with_chunks
from memcli.store.port import Store
from memcli.store.records import Scope
from memcli.store.run_records import Pending
from memcli.types import Filters
from tests.store.contract.conftest import MakeStore
from tests.store.contract.makers import (
    ENCODER,
    EVERYTHING,
    Clock,
    any_of,
    changing,
    fill,
    found,
    places,
    put,
)

FILES = {
    "MEMORY.md": "fox\n",
    "month/2026-02.md": "fox\n\n## 2026-02-10\n\nfox of a day\n",
    "week/2026-W06.md": "fox\n",  # 2026-02-02 to 08
    "week/2026-W14.md": "fox\n",  # 2026-03-30 to 04-05
}


def test_a_span_is_found_by_each_of_its_days(store: Store) -> None:
    fill(store, FILES)
    expected = {
        ("2026-02-01", "2026-02-01"): {"month/2026-02.md"},
        ("2026-02-08", "2026-02-08"): {"month/2026-02.md", "week/2026-W06.md"},
        ("2026-02-28", "2026-03-29"): {"month/2026-02.md"},
        ("2026-03-01", "2026-03-29"): set(),
        ("2026-03-31", "2026-03-31"): {"week/2026-W14.md"},
        ("2026-04-05", "2026-04-30"): {"week/2026-W14.md"},
        ("2026-04-06", "9999-12-31"): set(),
        ("0001-01-01", "2026-01-31"): set(),
    }
    with store.snapshot() as snapshot:
        for (since, until), paths in expected.items():
            scope = Scope(Filters(since=since, until=until))
            assert set(found(snapshot, any_of("fox"), scope=scope)) == paths
            assert set(places(snapshot, snapshot.dated([(since, until)], 9, EVERYTHING))) == paths
            assert {document.path for document in snapshot.documents(scope)} == paths
            assert {document.path for document in with_chunks(snapshot.documents(scope))} == paths
            undated = Scope(Filters(since=since, until=until, undated=True))
            assert set(found(snapshot, any_of("fox"), scope=undated)) == paths | {"MEMORY.md"}
        of_a_day = Scope(Filters(since="2026-02-11", until="2026-02-11"))
        (about,) = (e.about for e in snapshot.excerpts_of(list(snapshot.known()), of_a_day))
        assert (about.start_line, about.days, about.first_day) == (1, "2026-02", "2026-02-01")


def test_a_document_without_a_text_is_listed_by_each_of_its_days(store: Store) -> None:
    fill(store, {"2026-W07.md": "", "2026-02-20.md": ""})
    with store.snapshot() as snapshot:
        for day, paths in (
            ("2026-02-08", []),
            ("2026-02-10", ["2026-W07.md"]),
            ("2026-02-20", ["2026-02-20.md"]),
        ):
            listed = snapshot.documents(Scope(Filters(since=day, until=day)))
            assert [document.path for document in listed] == paths


def test_a_span_takes_its_place_in_time_by_its_last_day(store: Store) -> None:
    fill(store, {**FILES, "2026-02-27.md": "fox\n"})
    order = ["week/2026-W14.md", "month/2026-02.md", "2026-02-27.md", "week/2026-W06.md"]
    with store.snapshot() as snapshot:
        newest = [e.about.path for e in snapshot.newest(EVERYTHING)]
        assert list(dict.fromkeys(newest)) == order
        dated = snapshot.dated([("2026-01-01", "2026-12-31")], 9, EVERYTHING)
        assert list(dict.fromkeys(places(snapshot, dated))) == order
        assert places(snapshot, snapshot.dated([("2026-02-01", "2026-02-28")], 1, EVERYTHING)) == [
            "month/2026-02.md"
        ]
        listed = {document.path: document for document in snapshot.documents(EVERYTHING)}
        february = listed["month/2026-02.md"]
        assert (february.first_day, february.date) == ("2026-02-01", "2026-02-28")
        assert listed["2026-02-27.md"].first_day is None


def test_the_days_covered_are_all_days_of_a_span(store: Store) -> None:
    fill(store, FILES)
    with store.snapshot() as snapshot:
        counts = counts_by_source(snapshot.documents(EVERYTHING))["memory"]
        assert (counts.first_date, counts.last_date) == ("2026-02-01", "2026-04-05")
        days = documents_by_day(snapshot.documents(EVERYTHING))
    assert (min(days), max(days), len(days)) == ("2026-02-01", "2026-04-05", 28 + 7)
    assert (days["2026-02-01"], days["2026-02-02"], days["2026-02-09"]) == (1, 2, 1)


def test_a_text_that_waits_says_its_span_and_its_description(store: Store) -> None:
    said = '---\ntitle: Log\ndescription: "what \\0 \\"foxes\\" do"\n---\nfox\n'
    with changing(store) as change:
        put(change, "2026-W06.md", said)
        (waiting,) = change.pending(ENCODER.fingerprint, 9)
    description = 'what \0 "foxes" do'
    assert waiting == Pending(waiting.hash, "", "fox", "Log", (), "2026-W06", description)


FRONT_MATTER = (
    "", "date: 2026-02-10", "date: 2026-02", "modified: 2026-02-10", "description: what foxes do",
    "description: what foxes do\ncreated: 2026-W07", f"date: 2026-W07\ndescription: {'fox ' * 99}",
    f"title: {'fox ' * 99}\ndescription: {'東' * 200}\nupdated: 2026-02-10",
)  # fmt: skip


def test_every_text_that_waits_is_put_together_as_it_was_cut(store: Store) -> None:
    body = "fox\n\n## 2026-02-11\n\nfox of a day\n\n## Later\n\n" + "東京 " * 300
    with changing(store) as change:
        for number, said in enumerate(FRONT_MATTER):
            put(change, f"{number}.md", f"---\n{said}\n---\n{body}\n")
        waiting = change.pending(ENCODER.fingerprint, 999)
    assert len(waiting) > 3 * len(FRONT_MATTER)
    assert [segment_hash(text_of(each)) for each in waiting] == [each.hash for each in waiting]


START = date(2025, 12, 1)
whens = st.integers(0, 150).map(lambda days: START + timedelta(days))
names = st.one_of(
    whens.map(lambda day: day.isoformat()),
    whens.map(lambda day: f"{day:%Y-%m}"),
    whens.map(lambda day: f"{day:%G-W%V}"),
    st.just("plain"),
)
bounds = st.one_of(st.none(), whens)


def days_of(name: str) -> set[date]:
    """List the days that a name is of, one by one."""
    return {
        day
        for day in (START + timedelta(days) for days in range(-40, 200))
        if name in (day.isoformat(), f"{day:%Y-%m}", f"{day:%G-W%V}")
    }


@settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(
    files=st.dictionaries(names, st.lists(names, max_size=2), min_size=1, max_size=6),
    asked=st.lists(st.tuples(bounds, bounds, st.booleans()), min_size=1, max_size=8),
)
def test_a_filter_lets_through_what_shares_a_day_with_it(
    make_store: MakeStore,
    files: dict[str, list[str]],
    asked: list[tuple[date | None, date | None, bool]],
) -> None:
    """Whatever the names of files and headings; a section is of its heading or its document."""
    folder = Path(tempfile.mkdtemp())
    store = make_store(folder / "one", Clock())
    expected: dict[tuple[str, int], set[date]] = {}
    for name, headings in files.items():
        own = days_of(name)
        expected[name, 1] = own
        for at, heading in enumerate(headings):
            of_heading = days_of(heading)
            narrows = of_heading and (not own or of_heading <= own)
            expected[name, 3 + 4 * at] = of_heading if narrows else own
    try:
        fill(
            store,
            {
                f"{name}.md": "fox\n" + "".join(f"\n# {h}\n\nfox\n" for h in headings)
                for name, headings in files.items()
            },
        )
        with store.snapshot() as snapshot:
            for first, last, undated in asked:
                since, until = sorted((first or date.min, last or date.max))
                filters = Filters(
                    since=since.isoformat() if since > date.min else None,
                    until=until.isoformat() if until < date.max else None,
                    undated=undated,
                )
                keeps_undated = undated or not (filters.since or filters.until)
                wanted = {
                    place
                    for place, days in expected.items()
                    if any(since <= day <= until for day in days) or (not days and keeps_undated)
                }
                ranked = snapshot.by_keyword(any_of("fox"), 99, Scope(filters))
                excerpts = snapshot.excerpts([each.chunk_id for each in ranked]).values()
                assert {(e.about.path[:-3], e.about.start_line) for e in excerpts} == wanted
                inside = snapshot.dated([(since.isoformat(), until.isoformat())], 99, EVERYTHING)
                dated = snapshot.excerpts(inside).values()
                assert {(e.about.path[:-3], e.about.start_line) for e in dated} == {
                    place for place in wanted if expected[place]
                }
    finally:
        store.close()
        shutil.rmtree(folder)
