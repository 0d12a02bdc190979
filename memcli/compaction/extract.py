"""Choose the sentences of a cluster that stand for it; pure.

What must survive is chosen first. The rest is taken greedily while the budget lasts:

    value = cosine to the centroid + NEWS * idf of terms not yet said / tokens, over its maximum
            - REPEAT * greatest cosine to what is said already, here or in the summary before
            - QUESTION where it only asks

so that stable background told by the neighbouring summary is not told again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.compaction.sanitize import is_placeholder
from memcli.compaction.sentences import Sentence
from memcli.compaction.similarity import Embed, centroid, place, terms
from memcli.markdown.tokens import quotient
from memcli.record import Record

# Chosen on LoCoMo conversation 26 by what search still finds.
NEWS = 1.0
REPEAT = 0.5
QUESTION = 0.3
# Greetings and fillers carry no memory.
LEAST_TERMS = 4


class Extract(Record):
    """What was chosen of a cluster, in its order."""

    chosen: tuple[int, ...]  # positions among the sentences
    confidence: float  # mean cosine of the chosen to the centroid, in [0, 1]
    method: str


def extract(
    sentences: Sequence[Sentence],
    context: Sequence[str],
    weights: Mapping[str, float],
    *,
    forced: Sequence[int],
    groups: Sequence[range],
    budget: float,
    embed: Embed | None,
) -> Extract:
    """Choose `forced`, the best of each group that has none, then up to `budget` tokens more.

    `context` is told already.
    """
    import numpy as np

    space = place([s.shown for s in sentences] + list(context), weights, embed)
    rows, told = space.rows[: len(sentences)], space.rows[len(sentences) :]
    near = rows @ centroid(rows)
    asks = np.array([s.text.endswith(("?", "？")) for s in sentences])
    worth = near - QUESTION * asks
    words = [set(terms(s.text)) for s in sentences]
    costs = [quotient(s.shown) for s in sentences]
    chosen = set(forced)
    said = set().union(*(words[i] for i in chosen))
    alike = np.zeros(len(sentences), dtype=np.float32)
    for row in [*told, *(rows[i] for i in sorted(chosen))]:
        alike = np.maximum(alike, rows @ row)
    for group in groups:
        able = [i for i in group if len(words[i]) >= LEAST_TERMS]
        able = [i for i in able if not is_placeholder(sentences[i].text)] or able
        if able and chosen.isdisjoint(group):
            best = max(able, key=lambda i: (round(float(worth[i] - REPEAT * alike[i]), 5), -i))
            chosen.add(best)
            said |= words[best]
            alike = np.maximum(alike, rows @ rows[best])
    left = [i for i in range(len(sentences)) if i not in chosen and len(words[i]) >= LEAST_TERMS]
    spent = 0.0
    while left:
        news = {i: sum(weights.get(t, 0.0) for t in words[i] - said) / (costs[i] + 8) for i in left}
        most = max(news.values()) or 1.0
        values = {i: worth[i] + NEWS * news[i] / most - REPEAT * alike[i] for i in left}
        best = max(left, key=lambda i: (round(float(values[i]), 5), -i))
        left.remove(best)
        if spent + costs[best] > budget:
            continue
        spent += costs[best]
        chosen.add(best)
        said |= words[best]
        alike = np.maximum(alike, rows @ rows[best])
    order = sorted(chosen)
    mean = float(np.mean(near[order])) if order else 0.0
    return Extract(tuple(order), round(min(1.0, max(0.0, mean)), 4), space.method)
