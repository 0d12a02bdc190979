"""Weigh a record by how recent it is and by what its author says it is worth; pure.

omega = a_r * r + a_f * f + a_a * a, in [0, 1]

r = e^(-lambda * age in days), 1 for undated records; a is the authored authority, 1 where none
is given, so that silence is no penalty. f would be log(1 + accesses) / log(1 + most accesses);
memcli does not watch what is read, so its weight is shared out over the other two.
"""

from __future__ import annotations

from math import exp, log

# Of recency, frequency and authored authority; they sum to 1.
RECENCY, FREQUENCY, AUTHORED = 0.5, 0.2, 0.3
HALF_LIFE_DAYS = 30.0


def authority(age_days: int | None, authored: float | None) -> float:
    """Give omega for a record of an age (None: undated) and an authored authority in [0, 1]."""
    recency = 1.0 if age_days is None else exp(-log(2) / HALF_LIFE_DAYS * max(0, age_days))
    worth = 1.0 if authored is None else min(1.0, max(0.0, authored))
    return (RECENCY * recency + AUTHORED * worth) / (1.0 - FREQUENCY)
