"""What summaries rest on, and whether that stands as it did: a changed file frees its lines."""

from __future__ import annotations

from memcli.store.port import Change, Store
from memcli.store.records import LineCheck, Support
from memcli.types import SourceLines
from tests.store.contract.makers import changing, lines_of, put, stamp_of, summary

A, B = "memory/2025-01-01.md", "memory/2025-01-02.md"
LOG = "one\ntwo\nthree\n"
FIRST, LAST = lines_of(A, LOG, 1, 2), lines_of(A, LOG, 3, 3)
OTHER, GONE = lines_of(B, LOG, 1, 1), lines_of("memory/gone.md", LOG, 1, 1)
S, T = "memory/summaries/s.md", "memory/summaries/t.md"


def line_checks(lines: SourceLines, text: str | None = LOG, *, holds: bool = True) -> LineCheck:
    """Say that lines were looked for in this text of their file."""
    return LineCheck(lines, None if text is None else stamp_of(lines.path, text).hash, holds)


def supports(store: Store) -> list[Support]:
    with store.snapshot() as snapshot:
        return list(snapshot.supports())


def holds(store: Store) -> list[bool]:
    return [support.holds for support in supports(store)]


def waiting(change: Change) -> list[str]:
    return list(change.unchecked())


def test_lines_hold_when_they_have_been_looked_up_and_found(store: Store) -> None:
    with changing(store) as change:
        put(change, A, LOG)
        put(change, B, LOG)
        put(change, T, summary(LAST, GONE))
        put(change, S, summary(LAST, FIRST, OTHER))
        assert waiting(change) == [S, T]
    assert supports(store) == [
        Support(S, FIRST, False), Support(S, LAST, False), Support(S, OTHER, False),
        Support(T, LAST, False), Support(T, GONE, False),
    ]  # fmt: skip
    with changing(store) as change:
        change.check(S, [line_checks(LAST), line_checks(FIRST, holds=False), line_checks(OTHER)])
        change.check(T, [line_checks(LAST), line_checks(GONE, None, holds=False)])
        assert waiting(change) == [T]  # a file that is gone may have become another one
    assert supports(store) == [
        Support(S, FIRST, False), Support(S, LAST, True), Support(S, OTHER, True),
        Support(T, LAST, True), Support(T, GONE, False),
    ]  # fmt: skip


def test_a_changed_or_deleted_file_frees_its_lines_before_anybody_looks(store: Store) -> None:
    with changing(store) as change:
        put(change, A, LOG)
        put(change, B, LOG)
        put(change, S, summary(FIRST, OTHER))
        change.check(S, [line_checks(FIRST), line_checks(OTHER)])
        assert waiting(change) == []
    assert holds(store) == [True, True]
    with changing(store) as change:
        put(change, A, "another\n" + LOG)
        assert waiting(change) == [S]
    assert holds(store) == [False, True]
    with changing(store) as change:
        change.check(
            S, [line_checks(FIRST), line_checks(OTHER)]
        )  # in what the file was, not in what is
        assert waiting(change) == [S]
    assert holds(store) == [False, True]
    for has_gone in (False, True):
        with changing(store) as change:
            if has_gone:
                change.remove(("memory", A))
                assert waiting(change) == [S]
                assert holds(store) == [False, True]
            put(change, A, LOG)
            assert waiting(change) == []
        assert holds(store) == [True, True]


def test_lines_that_have_moved_hold_where_they_stand_now(store: Store) -> None:
    moved = FIRST._replace(start_line=2, end_line=3)
    with changing(store) as change:
        put(change, A, "another\n" + LOG)
        put(change, S, summary(FIRST))
        change.check(S, [line_checks(moved, "another\n" + LOG)])
        assert waiting(change) == []
    assert supports(store) == [Support(S, moved, True)]


def test_a_log_that_is_back_at_its_place_is_looked_at_again(store: Store) -> None:
    with changing(store) as change:
        put(change, B, LOG)
        put(change, S, summary(FIRST))
        change.check(S, [line_checks(FIRST._replace(path=B))])
        assert waiting(change) == []
    assert supports(store) == [Support(S, FIRST._replace(path=B), True)]
    with changing(store) as change:
        put(change, A, LOG)
        assert waiting(change) == [S]


def test_a_summary_that_is_put_again_is_looked_up_again(store: Store) -> None:
    with changing(store) as change:
        put(change, A, LOG)
        put(change, S, summary(FIRST))
        put(change, T, summary(FIRST))
        change.check(S, [line_checks(FIRST)])
        change.check(T, [line_checks(FIRST)])
        put(change, S, summary(FIRST, LAST))
        assert waiting(change) == [S]
    assert supports(store) == [
        Support(S, FIRST, False), Support(S, LAST, False), Support(T, FIRST, True),
    ]  # fmt: skip
    with changing(store) as change:
        put(change, S, "no summary any more\n")
        change.remove(("memory", T))
        change.check(T, [line_checks(FIRST)])  # of what is no summary nothing is noted
    assert supports(store) == []


def test_lines_of_the_memory_are_not_those_of_another_source(store: Store) -> None:
    with changing(store) as change:
        put(change, A, LOG, "other")
        put(change, S, summary(FIRST))
        put(change, T, summary(FIRST), "other")
        assert waiting(change) == [S]
        change.check(S, [line_checks(FIRST)])
        change.check(T, [line_checks(FIRST)])
    assert supports(store) == [Support(S, FIRST, False)]
