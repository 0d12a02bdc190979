"""Read front matter as filters ask for it: keys with their values, and tags; pure.

Keys ignore case. A key of a nested mapping follows a dot, and a list gives its key several values.
Texts are compared without case and extra spaces, numbers as numbers, dates as ISO text. Empty
values do not count. Tags are the values of `tags` and `tag`: a list, or a text with commas or
spaces between them, with or without `#`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from unicodedata import normalize

from memcli.checking import Any

Value = str | int | float
TAGS = "tags"  # the key of all tags
_TAG_KEYS = (TAGS, "tag")
_NUMBER = r"[-+]?[0-9]{1,18}(\.[0-9]{1,18})?"  # compiled at first use, as is the next one
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
# Other words that YAML reads as true and false.
_SPOKEN = {"yes": "true", "on": "true", "no": "false", "off": "false"}


def properties(front_matter: Mapping[str, Any]) -> list[tuple[str, Value]]:
    """List each key with each of its values, written as they are compared."""
    pairs: set[tuple[str, Value]] = {(TAGS, folded(tag)) for tag in tags(front_matter)}
    waiting: list[tuple[str, Any]] = [
        (folded(key), value) for key, value in front_matter.items() if not _is_of_tags(key)
    ]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{key}.{folded(name)}", each) for name, each in value.items()]
        elif isinstance(value, list):
            waiting += [(key, each) for each in value]
        elif isinstance(value, bool):
            pairs.add((key, "true" if value else "false"))
        elif isinstance(value, int | float):
            pairs.add((key, value))
        elif value is not None and (text := folded(value)):
            pairs.add((key, text))
    return sorted(pairs, key=lambda pair: (pair[0], str(pair[1])))


def tags(front_matter: Mapping[str, Any]) -> tuple[str, ...]:
    """List the tags as they are written, without `#`, each once."""
    written = (value for key, value in front_matter.items() if _is_of_tags(key))
    named = (bare(text) for value in written for text in _texts(value))
    return tuple({folded(tag): tag for tag in named if tag}.values())


def bare(tag: str) -> str:
    """Remove the marks that Markdown editors write around a tag: `#infra/` is `infra`."""
    return tag.strip().lstrip("#").rstrip("/").strip()


def folded(text: str) -> str:
    """Write a text as it is compared."""
    small = normalize("NFKC", text).casefold()
    return " ".join(normalize("NFKC", small).split())  # small letters may join again


def key_of(text: str) -> str:
    """Write a key as it is compared; `tag` is `tags`."""
    key = folded(text)
    return TAGS if key in _TAG_KEYS else key


def day_of(text: str) -> str | None:
    """Return the ISO day of a date or a time."""
    word = folded(text)
    return word if re.fullmatch(_DAY, word) else None


def same_values(text: str) -> Sequence[Value]:
    """List the values that a text may mean: itself, a number, true or false."""
    word = folded(text)
    values: list[Value] = [word]
    if number := re.fullmatch(_NUMBER, word):
        values.append(float(word) if number[1] else int(word))
    if word in _SPOKEN:
        values.append(_SPOKEN[word])
    return values


def _is_of_tags(key: str) -> bool:
    return key_of(key) == TAGS


def _texts(value: object) -> Iterator[str]:
    """Cut the value of `tags` into tags."""
    if isinstance(value, list):
        waiting = [*reversed(value)]
        while waiting:
            each = waiting.pop()
            if isinstance(each, list):
                waiting += reversed(each)
            elif each is not None and not isinstance(each, dict):
                yield from str(each).split(",")
    elif isinstance(value, str):
        yield from value.split("," if "," in value else None)
    elif value is not None and not isinstance(value, dict):
        yield str(value)
