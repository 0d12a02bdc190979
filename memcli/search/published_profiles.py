"""The formulas of two profiles, as they were published; pure.

`convex`: a convex sum of meaning, recency and scope, in [0, 1]; the weights sum to 1.

score = alpha * sim + beta * recency + gamma * scope

recency = e^(-lambda * age in seconds), or 1 for undated records; lambda depends on the scope.

`two-pass`: few by meaning or words, then those by authority and key words.

pass 1   the `first` best by cosine, from a cosine of theta on, and the `first` best by words
pass 2   the `second` best by S = omega * max(sim, 0) * (1 + kappa * M) / (1 + kappa)

M is the share of the query's terms that the chunk contains, or 0 if the query has none; omega is
that of `authority`. So 0 <= S <= omega <= 1.

In both, sim is the cosine clamped to [0, 1]. A chunk that is not embedded yet has an assumed one;
without vectors sim is bm25 / best bm25 (see `RankedPassage.similarity`). As everywhere, a summary's
score is then multiplied by its quality (see `summaries`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import exp

from memcli.checking import TYPE_CHECKING
from memcli.config.settings import check_sum
from memcli.errors import ConfigError
from memcli.record import Record
from memcli.search.authority import Authority
from memcli.search.ranked import RankedPassage, ordered

if TYPE_CHECKING:
    from memcli.config.settings import Config


class TwoPass(Record):
    """The constants, settings of the table `passes`, and the weights of omega."""

    first: int = 16
    second: int = 8
    theta: float = 0.2
    kappa: float = 0.3
    authority: Authority = Authority()

    @classmethod
    def read(cls, config: Config) -> TwoPass:
        """Read the settings; ConfigError if the second pass keeps more than the first takes."""
        first, second = config("passes.first"), config("passes.second")
        if second > first:
            raise ConfigError(
                f"passes.second must not exceed passes.first, as {second} does {first}",
                hint="memcli config passes",
            )
        theta, kappa = config("passes.theta"), config("passes.kappa")
        return cls(first, second, theta, kappa, Authority.read(config))

    def score(
        self,
        passages: Sequence[RankedPassage],
        matched: Mapping[int, float],
        *,
        age_days: Callable[[str], float],
    ) -> list[RankedPassage]:
        """Choose and score; `matched` has M by chunk id."""
        best_text = max((passage.candidate.bm25 for passage in passages), default=0.0)
        scored = []
        ranked = self._first_pass(passages)
        authority = self.authority.among(passage.about.document for passage in ranked)
        for passage in ranked:
            candidate = passage.candidate
            sim = passage.similarity(best_text)
            used = authority.frequency_of(passage.about.document)
            age = age_days(passage.written) if passage.written else None
            omega = authority.omega(age, candidate.authority, used)
            share = matched.get(candidate.about.chunk_id, 0.0)
            score = omega * sim * (1.0 + self.kappa * share) / (1.0 + self.kappa)
            inputs = {"sim": sim, "authority": omega, "matched": share}
            scored.append(passage.moved(score, "score", formula="two-pass", **inputs))
        return ordered(scored)[: self.second]

    def _first_pass(self, passages: Sequence[RankedPassage]) -> list[RankedPassage]:
        near = [each for each in passages if each.cosine is not None and each.cosine >= self.theta]
        near.sort(key=lambda each: (-(each.cosine or 0.0), each.citation))
        worded = [each for each in passages if each.candidate.bm25 > 0]
        worded.sort(key=lambda each: (-each.candidate.bm25, each.citation))
        chunks = {each.about.chunk_id for each in (*near[: self.first], *worded[: self.first])}
        return [each for each in passages if each.about.chunk_id in chunks]


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
        named = ", ".join(f"convex.{name}" for name in cls._fields[:3])
        check_sum(named, numbers[:3], "convex")
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
            inputs = {"sim": sim, "recency": recency, "scope": scope}
            scored.append(passage.moved(score, "score", formula="convex", **inputs))
        return ordered(scored)
