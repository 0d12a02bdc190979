"""Writers and searchers of one store, while clients and servers are killed."""

from __future__ import annotations

import pytest

from tests.postgres.fleet import SMALL, WAIT_SECONDS, run

SECONDS = 3  # of faults; `python -m tests.postgres.fleet` goes on for ten minutes


@pytest.mark.nightly
def test_nothing_acknowledged_is_lost_and_no_answer_is_wrong() -> None:
    report = run(SECONDS, SMALL)
    assert report.lost == []
    assert report.wrong == []
    assert report.kills >= 5
    assert min(report.changes, report.searches) > 0
    assert max(report.longest_change, report.longest_search, report.longest_fault) < WAIT_SECONDS
