"""Files and folders fail in every way under each command that writes; `python -m tests.machine`
tries every position, and here one in so many is tried.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.machine.file_system import FAULTS
from tests.machine.tries import Trial
from tests.machine.verbs import VERBS, Verb

pytestmark = pytest.mark.skipif(os.name != "posix", reason="folders are opened by descriptors")
MOST = 10  # faults of a verb


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # a process that was killed closes nothing
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("verb", VERBS, ids=[verb.name for verb in VERBS])
def test_a_call_that_fails_costs_nothing(verb: Verb, tmp_path: Path) -> None:
    """No line is lost, what is left is taken away, what is said is so, and the next run mends."""
    trial = Trial(verb, tmp_path.resolve())
    positions = list(trial.faults(FAULTS))
    every = max(1, len(positions) // MOST) | 1
    tried = list(trial.faults(FAULTS, every))
    assert len(tried) >= min(MOST, len(positions))
    assert [each for number, fault in tried for each in trial.findings(number, fault)] == []
