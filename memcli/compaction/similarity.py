"""Place sentences in a space whose cosine is their similarity: a model's, or TF-IDF; pure.

TF-IDF is used for text in a script that the encoder cannot read, and for everything without an
encoder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log

from memcli.checking import TYPE_CHECKING
from memcli.embedding.models import is_readable
from memcli.language.terms import terms
from memcli.types import Encoder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.floating]

# Unit vectors of texts of any length; None if the model cannot read their script.
Embed = Callable[[Sequence[str]], list[bytes] | None]


def idf(texts: Iterable[str]) -> dict[str, float]:
    """Return ln(1 + N / n) of every term; n of N texts contain it."""
    counts: Counter[str] = Counter()
    total = 0
    for text in texts:
        counts.update(set(terms(text)))
        total += 1
    return {term: log(1 + total / count) for term, count in counts.items()}


def place(
    texts: Sequence[str], weights: Mapping[str, float], embed: Embed | None
) -> tuple[Matrix, str]:
    """Return a unit vector for each text, empty ones at the origin, and the method of a summary."""
    vectors = embed(texts) if embed else None
    if vectors is None:
        return _tf_idf(texts, weights), "extractive-lexical"
    import numpy as np

    return np.frombuffer(b"".join(vectors), "<f4").reshape(len(texts), -1), "extractive"


def centroid(rows: Matrix) -> Matrix:
    """Return the direction of the mean of some rows."""
    mean: Matrix = _unit(rows.sum(axis=0, keepdims=True))[0]
    return mean


def _tf_idf(texts: Sequence[str], weights: Mapping[str, float]) -> Matrix:
    import numpy as np

    counts = [Counter(terms(text)) for text in texts]
    columns = {term: at for at, term in enumerate(sorted(set().union(*counts)))}
    rows = np.zeros((len(texts), max(1, len(columns))), dtype=np.float32)
    unknown = max(weights.values(), default=1.0)
    for row, count in enumerate(counts):
        for term, times in count.items():
            rows[row, columns[term]] = times * weights.get(term, unknown)
    return _unit(rows)


def _unit(rows: Matrix) -> Matrix:
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Matrix = rows / np.where(lengths == 0, 1, lengths)
    return unit


def embedder(encoder: Encoder) -> Embed:
    """Embed texts of any length, each once; a text that is too long is cut at its end."""
    known: dict[str, bytes] = {}

    def embed(texts: Sequence[str]) -> list[bytes] | None:
        if not is_readable("\n".join(texts), encoder.fingerprint):
            return None
        new = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(new, encoder.encode([_cut(t, encoder) for t in new]), strict=True))
        return [known[text] for text in texts]

    return embed


def _cut(text: str, encoder: Encoder) -> str:
    while encoder.count(text) > encoder.max_tokens:
        text = text[: len(text) * encoder.max_tokens // (encoder.count(text) + 1)]
    return text
