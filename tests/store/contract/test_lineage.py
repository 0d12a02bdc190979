"""What summaries rest on, and whether that stands as it did: a changed file frees its lines."""

from __future__ import annotations

from memcli.store.port import Change, Store
from memcli.store.records import Support
from memcli.types import SourceLines
from tests.store.contract.makers import changing, lines_of, put, stamp_of, summary

A, B = "memory/2025-01-01.md", "memory/2025-01-02.md"
LOG = "one\ntwo\nthree\n"
FIRST, LAST = lines_of(A, LOG, 1, 2), lines_of(A, LOG, 3, 3)
OTHER, GONE = lines_of(B, LOG, 1, 1), lines_of("memory/gone.md", LOG, 1, 1)
S, T = "memory/summaries/s.md", "memory/summaries/t.md"


def checked(change: Change, path: str, text: str, *held: SourceLines) -> None:
    """Say that the lines were looked up in this text, and which of them it has."""
    change.check(path, stamp_of(path, text).hash, held)


def supports(store: Store) -> list[Support]:
    with store.snapshot() as snapshot:
        return list(snapshot.supports())


def test_lines_hold_when_they_have_been_looked_up_and_found(store: Store) -> None:
    with changing(store) as change:
        put(change, A, LOG)
        put(change, B, LOG)
        put(change, T, summary(LAST, GONE))
        put(change, S, summary(LAST, FIRST, OTHER))
        assert list(change.unchecked()) == [FIRST, LAST, OTHER]
    assert supports(store) == [
        Support(S, FIRST, False), Support(S, LAST, False), Support(S, OTHER, False),
        Support(T, LAST, False), Support(T, GONE, False),
    ]  # fmt: skip
    with changing(store) as change:
        checked(change, A, LOG, LAST)
        assert list(change.unchecked()) == [OTHER]
        checked(change, B, LOG, OTHER)
        assert list(change.unchecked()) == []
    assert supports(store) == [
        Support(S, FIRST, False), Support(S, LAST, True), Support(S, OTHER, True),
        Support(T, LAST, True), Support(T, GONE, False),
    ]  # fmt: skip


def test_a_changed_file_frees_its_lines_before_anybody_looks(store: Store) -> None:
    with changing(store) as change:
        put(change, A, LOG)
        put(change, B, LOG)
        put(change, S, summary(FIRST, OTHER))
        checked(change, A, LOG, FIRST)
        checked(change, B, LOG, OTHER)
    assert [support.holds for support in supports(store)] == [True, True]
    with changing(store) as change:
        put(change, A, "another\n" + LOG)
    assert [support.holds for support in supports(store)] == [False, True]
    with changing(store) as change:
        assert list(change.unchecked()) == [FIRST]
        checked(change, A, LOG, FIRST)  # in what the file was, not in what is stored
        assert list(change.unchecked()) == [FIRST]
    assert [support.holds for support in supports(store)] == [False, True]
    with changing(store) as change:
        put(change, A, LOG)
    assert [support.holds for support in supports(store)] == [True, True]


def test_a_file_that_is_gone_holds_nothing_until_it_is_back(store: Store) -> None:
    with changing(store) as change:
        put(change, A, LOG)
        put(change, S, summary(FIRST))
        checked(change, A, LOG, FIRST)
        change.remove(("memory", A))
        assert list(change.unchecked()) == []
    assert supports(store) == [Support(S, FIRST, False)]
    with changing(store) as change:
        put(change, A, LOG)
    assert supports(store) == [Support(S, FIRST, True)]


def test_a_summary_that_is_put_again_is_looked_up_again(store: Store) -> None:
    with changing(store) as change:
        put(change, A, LOG)
        put(change, S, summary(FIRST))
        put(change, T, summary(FIRST))
        checked(change, A, LOG, FIRST)
        put(change, S, summary(FIRST, LAST))
        assert list(change.unchecked()) == [FIRST, LAST]
    assert supports(store) == [
        Support(S, FIRST, False), Support(S, LAST, False), Support(T, FIRST, True),
    ]  # fmt: skip
    with changing(store) as change:
        put(change, S, "no summary any more\n")
        change.remove(("memory", T))
    assert supports(store) == []


def test_lines_of_the_memory_are_not_those_of_another_source(store: Store) -> None:
    with changing(store) as change:
        put(change, A, LOG, "other")
        put(change, S, summary(FIRST))
        put(change, T, summary(FIRST), "other")
        assert list(change.unchecked()) == []
        checked(change, A, LOG, FIRST)
    assert supports(store) == [Support(S, FIRST, False)]


def test_summaries_have_a_confidence(store: Store) -> None:
    with changing(store) as change:
        put(change, A, LOG)
        put(change, S, summary(FIRST, confidence=0.25))
        put(change, T, summary(FIRST, confidence=1))
    with store.snapshot() as snapshot:
        assert snapshot.confidences() == {S: 0.25, T: 1.0}
