"""The profile `two-pass`: few by meaning or words, then those by authority and key words; pure.

pass 1   the `first` best by cosine, from a cosine of theta on, and the `first` best by words
pass 2   the `second` best by S = omega * max(sim, 0) * (1 + kappa * M) / (1 + kappa)

sim is the cosine, of a chunk that is not embedded yet the one assumed for it, without vectors
bm25 / best bm25 (see `Hit.similarity`); M the share of the query's terms that the chunk holds, 0
where the query has none; omega as in `authority`. So 0 <= S <= omega <= 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.errors import ConfigError
from memcli.record import Record
from memcli.search.authority import Authority
from memcli.search.hits import Hit, ordered

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
        hits: Sequence[Hit],
        matched: Mapping[int, float],
        *,
        age_days: Callable[[str], float],
    ) -> list[Hit]:
        """Choose and score; `matched` has M by chunk id."""
        best_text = max((hit.candidate.bm25 for hit in hits), default=0.0)
        scored = []
        ranked = self._first_pass(hits)
        authority = self.authority.among(hit.about.document for hit in ranked)
        for hit in ranked:
            candidate = hit.candidate
            sim = hit.similarity(best_text)
            used = authority.frequency_of(hit.about.document)
            age = age_days(hit.written) if hit.written else None
            omega = authority.omega(age, candidate.authority, used)
            share = matched.get(candidate.about.chunk_id, 0.0)
            score = omega * sim * (1.0 + self.kappa * share) / (1.0 + self.kappa)
            scored.append(
                hit.moved(
                    score, "score", formula="two-pass", sim=sim, authority=omega, matched=share
                )
            )
        return ordered(scored)[: self.second]

    def _first_pass(self, hits: Sequence[Hit]) -> list[Hit]:
        near = [hit for hit in hits if hit.cosine is not None and hit.cosine >= self.theta]
        near.sort(key=lambda hit: (-(hit.cosine or 0.0), hit.citation))
        worded = [hit for hit in hits if hit.candidate.bm25 > 0]
        worded.sort(key=lambda hit: (-hit.candidate.bm25, hit.citation))
        kept = {hit.about.chunk_id for hit in (*near[: self.first], *worded[: self.first])}
        return [hit for hit in hits if hit.about.chunk_id in kept]
