"""Weigh a record by how recent it is, how often it is used, and what its author says; pure.

    omega = a_r * r + a_f * f + a_a * a, in [0, 1]; the weights sum to 1

r = e^(-lambda * age in days), 1 for undated records. f = log(1 + uses) / log(1 + most uses), of the
record's document and of the documents ranked with it. a is the authored authority, 1 if none is
set. If no ranked document has a counted use, the other two share the weight of f.
"""

from __future__ import annotations

from math import exp, log
from types import MappingProxyType

from memcli.checking import TYPE_CHECKING
from memcli.config.settings import check_sum
from memcli.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memcli.config.settings import Config


class Authority(Record):
    """The weights of omega, settings of the table `authority`."""

    recency: float = 0.5
    frequency: float = 0.2
    authored: float = 0.3
    half_life_days: float = 30.0
    uses: Mapping[tuple[str, str], int] = MappingProxyType({})  # by (source, path)

    @classmethod
    def read(cls, config: Config) -> Authority:
        """Read the settings; ConfigError if the weights do not sum to 1."""
        numbers = [config(f"authority.{name}") for name in cls._fields[:4]]
        named = ", ".join(f"authority.{name}" for name in cls._fields[:3])
        check_sum(named, numbers[:3], "authority")
        return cls(*numbers)

    def among(self, documents: Iterable[tuple[str, str]]) -> Authority:
        """Count the uses of some documents only: those that are ranked with one another."""
        return self._replace(uses={d: self.uses[d] for d in documents if d in self.uses})

    def frequency_of(self, document: tuple[str, str]) -> float | None:
        """Return f for the records of a document; None if no use of any document is counted."""
        most = max(self.uses.values(), default=0)
        return log(1 + self.uses.get(document, 0)) / log(1 + most) if most else None

    def omega(
        self, age_days: float | None, authored: float | None, frequency: float | None = None
    ) -> float:
        """Weigh a record by its age (None: undated) and an authored authority in [0, 1].

        `frequency` is f, None if no use is counted.
        """
        recency = 1.0
        if age_days is not None:
            recency = exp(-log(2) / self.half_life_days * max(0, age_days))
        worth = 1.0 if authored is None else min(1.0, max(0.0, authored))
        known = self.recency * recency + self.authored * worth
        if frequency is not None:
            return min(1.0, known + self.frequency * frequency)
        weight = self.recency + self.authored
        return min(1.0, known / weight) if weight > 0 else 1.0
