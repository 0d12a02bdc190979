"""Put a page in the language of the question before its translations; pure.

Pages are translations of each other if their paths differ only by the code of a language, as a
folder (`de/book/hooks.md`) or before the suffix (`hooks.de.md`). The one without a code is the
original. memcli does not look at the language of the text: a person may mix languages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memcli.checking import TYPE_CHECKING
from memcli.language.stopwords import ENGLISH, GERMAN_SIGNS

if TYPE_CHECKING:
    from memcli.search.ranked import RankedPassage

# ISO 639-1 codes of common translations. Folders of other things are also named `it`, `no` or `hr`.
# They count as translations only if another path is the same without them.
_LANGUAGES = """
    ar bg ca cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv ms nl no pl pt ro ru sk sl
    sr sv th tr uk vi zh
"""
_CODES = frozenset(_LANGUAGES.split())
_CODE = re.compile(r"(?:^|(?<=/))([a-z]{2})(?:[-_][A-Za-z]{2,4})?/|\.([a-z]{2})(?=\.\w+$)")
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
)


def own_language_first(passages: Sequence[RankedPassage], question: str) -> list[RankedPassage]:
    """Move a passage of a page up to the place of the first of its translations.

    The page wanted is that in the language of the question, else the original. The scores stay with
    the ranks, the trace names what moved.
    """
    language = language_of(question)
    pages = [_page(passage) for passage in passages]
    own = {page for page, code in pages if code == language}
    best = [code == (language if page in own else "") for page, code in pages]
    order = list(range(len(passages)))
    moved: dict[int, str] = {}
    done = set()
    for at, (page, _) in enumerate(pages):
        if not best[at] or page in done:
            continue
        done.add(page)
        rank = order.index(at)
        first = next((r for r in range(rank) if pages[order[r]][0] == page), None)
        if first is not None:
            moved[at] = passages[order[first]].citation
            order.insert(first, order.pop(rank))
    return [
        (
            passages[at].moved(top.score, "language", before=moved[at])
            if at in moved
            else passages[at]
        )._replace(score=top.score)
        for at, top in zip(order, passages, strict=True)
    ]


def language_of(question: str) -> str:
    """Guess the language of a question by its script or its small words; "" if they are unclear."""
    for code, letters in _SCRIPTS:
        if letters.search(question):
            return code
    words = set(re.findall(r"[^\W\d_]+", question.lower()))
    if words & GERMAN_SIGNS:
        return "de"
    return "en" if words & ENGLISH else ""


def _page(passage: RankedPassage) -> tuple[tuple[str, str], str]:
    """Return what the translations of a page have in common, and the code of this one."""
    source, path = passage.about.document
    for match in _CODE.finditer(path):
        code = match[1] or match[2]
        if code in _CODES:
            return (source, path[: match.start()] + path[match.end() :]), code
    return (source, path), ""
