"""What has been measured of models: the scripts they read, and how far they are believed.

One record a model, asked for by the fingerprint of its vectors. Of a model without a record
nothing is assumed: it may read every script, is believed, and gives no confidence.
"""

from __future__ import annotations

from memcli.embedding.encoders import RECORDS
from memcli.embedding.models import E5, FP32, INT8, model_name
from memcli.record import Record

# Below this share of Latin letters a model that has learnt English says nothing.
LATIN_LIMIT = 0.5


class Calibration(Record):
    """The constants by which `search.floor` tells how sure a hit is, and whether it stands out."""

    bias: float  # these three of the logistic that makes a confidence of cosine and coverage
    cosine: float
    coverage: float
    lead: float = 0.0  # that the first score needs over the tenth
    crowd: float = 0.0  # how much more of it for each 1.0 of the thirtieth cosine
    near: float = 0.0  # cosine that a passage needs to be told unasked; see `hook.notes`


class KnownModel(Record):
    """What is known of one model."""

    name: str  # the first field of its fingerprints
    latin_only: bool = False  # it has learnt English; another script says nothing to it
    belief: float = 1.0  # of its cosines beside words, as a share of their weight
    calibration: Calibration | None = None  # see `search.floor`


_MINILM = Calibration(bias=-5.09, cosine=5.40, coverage=12.32, lead=0.05, crowd=0.29, near=0.3)
KNOWN: dict[str, KnownModel] = {
    model.name: model
    for model in (
        KnownModel(INT8.name, latin_only=True, calibration=_MINILM),
        KnownModel(FP32.name, latin_only=True, calibration=_MINILM),
        # It puts all texts close together (0.75 to 0.93) and ranks long chats badly: of weights
        # 0.1 to 0.6, 0.3 was the one that harmed none of four collections (see the README).
        KnownModel(E5.name, belief=0.5),
    )
}


def known(fingerprint: str) -> KnownModel:
    """Tell what is known of the model behind a fingerprint."""
    name = model_name(fingerprint)
    return KNOWN.get(name) or KnownModel(name)


def reads_latin_only(of: str) -> bool:
    """Tell by a fingerprint, or a name in the configuration, that a model has learnt English."""
    record = RECORDS.get(of)
    return known(record.model if record else of).latin_only


def is_readable(text: str, of: str) -> bool:
    """Tell whether an encoder, by fingerprint or name, can make something of a text."""
    from memcli.language.script import latin_share

    return latin_share(text) >= LATIN_LIMIT or not reads_latin_only(of)


def readable(text: str, of: str) -> str:
    """Leave the words out that an encoder cannot read; single letters are often signs, as α is."""
    if text.isascii() or not reads_latin_only(of):
        return text
    from memcli.language.script import latin_share

    kept = (word for word in text.split() if len(word) == 1 or latin_share(word) >= LATIN_LIMIT)
    return " ".join(kept)
