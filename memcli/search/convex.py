"""The profile `convex`: a convex sum of meaning, recency and scope; pure.

score = alpha * sim + beta * recency + gamma * scope, in [0, 1]; the weights sum to 1

sim is the cosine clamped to [0, 1]. A chunk that is not embedded yet has an assumed cosine; without
vectors sim is bm25 / best bm25 (see `RankedPassage.similarity`). recency = e^(-lambda * age in
seconds), or 1 for undated records; lambda depends on the scope. As everywhere, a summary's score is
then multiplied by its quality (see `summaries`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import exp

from memcli.checking import TYPE_CHECKING
from memcli.record import Record
from memcli.search.authority import summing_to_one
from memcli.search.ranked import RankedPassage, ordered

if TYPE_CHECKING:
    from memcli.config.settings import Config

SECONDS_A_DAY = 86_400


class Convex(Record):
    """The constants: settings of the table `convex`; the decays are per second."""

    alpha: float = 0.7  # of meaning
    beta: float = 0.2  # of recency
    gamma: float = 0.1  # of scope
    decay_session: float = 1e-4
    decay_user: float = 1e-5
    decay_global: float = 2e-6
    scope_session: float = 1.0
    scope_user: float = 0.6
    scope_global: float = 0.3

    @classmethod
    def read(cls, config: Config) -> Convex:
        """Read the settings; ConfigError if the weights do not sum to 1."""
        numbers = [config(f"convex.{name}") for name in cls._fields]
        summing_to_one("convex", cls._fields[:3], numbers[:3])
        return cls(*numbers)

    def score(
        self,
        passages: Sequence[RankedPassage],
        matched: Mapping[int, float],
        *,
        age_days: Callable[[str], float],
    ) -> list[RankedPassage]:
        """Score fused passages; the terms that they match do not count."""
        decays = {"session": self.decay_session, "user": self.decay_user}
        scopes = {"session": self.scope_session, "user": self.scope_user}
        best_text = max((passage.candidate.bm25 for passage in passages), default=0.0)
        scored = []
        for passage in passages:
            about = passage.about
            sim = passage.similarity(best_text)
            age = max(0.0, age_days(passage.written)) if passage.written else 0.0
            recency = exp(-decays.get(about.scope, self.decay_global) * age * SECONDS_A_DAY)
            scope = scopes.get(about.scope, self.scope_global)
            score = self.alpha * sim + self.beta * recency + self.gamma * scope
            scored.append(
                passage.moved(
                    score, "score", formula="convex", sim=sim, recency=recency, scope=scope
                )
            )
        return ordered(scored)
