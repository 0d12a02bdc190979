"""The names and tags of a document: title, file name, aliases; pure.

They are searched together with the headings of its first chunk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from memcli.checking import Any
from memcli.markdown.properties import TAGS, folded, tags

MOST_NAMES = 50
NAME_CHARS = 200
LEAST_ID = 11  # digits of a Zettel id; a shorter name of digits is a date
_AROUND_NAMES = " \t[]\"'?!.？！。"
_ALIAS_KEYS = ("aliases", "alias")
# A tag follows a space and is not only digits, unlike a colour or a fragment of a URL.
_TAG = r"(?<![^\s(,;。，、])#(?:\[\[([^\[\]\n]{1,100})\]\]|([\w][\w/-]{0,99}))"
_CODE = r"(?s)(`+)(?!`).{1,2000}?(?<!`)\1(?!`)"


def names(title: str, path: str, front_matter: Mapping[str, Any]) -> tuple[str, ...]:
    """List the names of a document, each once: its title, its file name, its aliases."""
    stem = path.rpartition("/")[2].rpartition(".")[0]
    if "%" in stem:
        from urllib.parse import unquote

        stem = unquote(stem)
    called = (title, stem.replace("___", "/"), *aliases(front_matter))
    return tuple({folded(name): name for name in called if folded(name)}.values())


def aliases(front_matter: Mapping[str, Any]) -> tuple[str, ...]:
    """List the other names that front matter gives a document: a list, or commas between them."""
    names: list[str] = []
    for key, value in front_matter.items():
        if key.casefold() in _ALIAS_KEYS:
            written = value.split(",") if isinstance(value, str) else value
            if isinstance(written, list):
                names += [each for each in written if isinstance(each, str)]
    return tuple(name.strip()[:NAME_CHARS] for name in names if name.strip())[:MOST_NAMES]


def is_name(text: str, title: str, path: str, front_matter: str) -> bool:
    """Return whether a text is a name of a document, ignoring case and the brackets of a link."""
    matter = json.loads(front_matter) if front_matter != "{}" else {}
    name = folded(text.strip(_AROUND_NAMES).removesuffix(".md"))
    return bool(name) and name in map(folded, names(title, path, matter))


def headings_of(
    title: str, path: str, front_matter: str, heading_path: Sequence[str]
) -> tuple[str, ...]:
    """List the searchable headings of a chunk; `front_matter` is "" after the first chunk.

    The first chunk also has the names and tags of the document. A file name that is only a date is
    left out, because dates are searched as dates.
    """
    if not front_matter:
        return tuple(heading_path)
    headings = {folded(heading) for heading in heading_path}
    matter = json.loads(front_matter) if front_matter != "{}" else {}
    called = (
        name for name in names(title, path, matter) if folded(name) not in headings and _says(name)
    )
    return *called, *(f"#{tag}" for tag in tags(matter)[:MOST_NAMES]), *heading_path


def _says(name: str) -> bool:
    return any(map(str.isalpha, name)) or sum(map(str.isdigit, name)) >= LEAST_ID


def with_tags(front_matter: dict[str, Any], lines: Iterator[str]) -> dict[str, Any]:
    """Add the tags that lines of text name to those of the front matter."""
    written = tuple(dict.fromkeys(tag for line in lines for tag in inline_tags(line)))
    if not written:
        return front_matter
    key = next((key for key in front_matter if folded(key) == TAGS), TAGS)
    own = tags({TAGS: front_matter.get(key)})
    return front_matter | {key: [*own, *(tag for tag in written if tag not in own)]}


def inline_tags(line: str) -> Iterator[str]:
    """Return the tags in a line: `#infra/db`, `#茶`, `#[[two words]]`; not `#12`, not in code."""
    if "#" not in line:
        return
    for match in re.finditer(_TAG, re.sub(_CODE, " ", line)):
        tag = (match[1] or match[2]).strip("/-, ")
        if any(map(str.isalpha, tag)):
            yield tag
