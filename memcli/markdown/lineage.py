"""Read the lineage in the front matter of a summary, and find its source lines.

A summary is a document in a folder `summaries` of the memory. Its lineage names its source lines
with their hashes. Anybody can write such a file, so every field is checked; if one is wrong, the
file is an ordinary document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from memcli.checking import Any
from memcli.markdown.segments import digest
from memcli.record import Record
from memcli.types import Lineage, SourceLines

SCHEMA = "memcli.summary/1"
FOLDERS = ("memory/summaries/", "summaries/")
LEVELS = 9
_BEFORE, _AFTER = "memory/", ".md"  # of the path of most logs
# Looking for lines that have moved hashes at most some 30 MB a source, a tenth of a second.
MOST_HASHED = 500_000  # lines
# Compiled at first use: a search without summaries needs none of them.
_PLACE = r"([^\n]{0,1024}?):(\d{1,9})(?:-(\d{1,9}))?"
_LINES = r"(\d{1,9})-(\d{1,9})"
_HASH = r"[0-9a-f]{32}"
_NAMED_DAY = r"(\d{4}-\d{2})-(\d{2}[^/]*)"
_OF_MONTH = r"memory/\d{4}-\d{2}\.md"  # as the heading of a month
_DAY = r"\d{4}-\d{2}-\d{2}"
_SEAL = r'^seal: "([0-9a-f]{32})"\n'


def is_place(path: str) -> bool:
    """Return whether a path of the memory is in a folder of summaries."""
    return path.startswith(FOLDERS)


def read_lineage(metadata: Mapping[str, Any]) -> Lineage | None:
    """Read the lineage of a front matter; None if it is not complete and well-formed."""
    if metadata.get("schema") != SCHEMA:
        return None
    tokens = metadata.get("tokens")
    rows = metadata.get("lineage")
    sources = [_source(row) for row in rows] if isinstance(rows, list) else []
    valid = [source for source in sources if source is not None]
    texts = [metadata.get(key) for key in ("earliest", "latest", "compacted", "method", "seal")]
    confidence, level, parents = (metadata.get(k) for k in ("confidence", "level", "parents"))
    run = metadata.get("run", 0)
    if (
        not valid
        or len(valid) != len(sources)
        or not isinstance(tokens, dict)
        or not all(isinstance(tokens.get(key), int) for key in ("sources", "summary"))
        or not all(isinstance(text, str) for text in texts)
        or not all(re.fullmatch(_DAY, str(text)) for text in texts[:2])
        or not isinstance(confidence, int | float)
        or not 0 <= confidence <= 1
        or type(level) is not int
        or not 1 <= level <= LEVELS
        or type(run) is not int
        or run < 0
        or not isinstance(parents, list)
        or not set(parents) <= {source.path for source in valid}
    ):
        return None
    earliest, latest, compacted, method, seal = map(str, texts)
    return Lineage(
        sources=tuple(valid),
        parents=tuple(map(str, parents)),
        earliest=earliest,
        latest=latest,
        compacted=compacted,
        method=method,
        confidence=float(confidence),
        level=level,
        source_tokens=tokens["sources"],
        summary_tokens=tokens["summary"],
        seal=seal,
        run=run,
    )


def _source(row: object) -> SourceLines | None:
    if not isinstance(row, dict) or not isinstance(row.get("path"), str):
        return None
    lines, hash_ = (re.fullmatch(_LINES, str(row.get("lines"))), str(row.get("hash")))
    if lines is None or not re.fullmatch(_HASH, hash_):
        return None
    source = SourceLines(row["path"], int(lines[1]), int(lines[2]), bytes.fromhex(hash_))
    return source if 1 <= source.start_line <= source.end_line else None


def lines_hash(lines: Sequence[str], first: int, last: int) -> bytes:
    """Hash the lines `first` to `last`, from 1; `memcli get` prints it as text_hash."""
    return digest("\n".join(lines[first - 1 : last]))


def locate(sources: Sequence[SourceLines], lines: Sequence[str]) -> list[SourceLines | None]:
    """Return the current places of source lines in a file, given as its lines; None: gone.

    Lines that have moved are found by their hash. The search starts where they would be if they had
    moved as far as the lines before them.
    """
    places: list[SourceLines | None] = []
    shift = 0
    for source in sources:
        place = _place(source, lines, shift)
        if place is not None:
            shift = place.start_line - source.start_line
        places.append(place)
    return places


def _place(source: SourceLines, lines: Sequence[str], shift: int) -> SourceLines | None:
    length = source.end_line - source.start_line + 1
    last = len(lines) - length + 1  # the last line at which they can begin
    tries = MOST_HASHED // length
    guess = source.start_line + shift
    for first in dict.fromkeys((source.start_line, *_around(guess, last, tries))):
        if first <= last and lines_hash(lines, first, first + length - 1) == source.hash:
            return source._replace(start_line=first, end_line=first + length - 1)
    return None


def _around(guess: int, last: int, most: int) -> Iterator[int]:
    """Yield up to `most` line numbers from 1 to `last`, the nearest to a guess first."""
    near = max(1, min(guess, last))
    yield near
    for step in range(1, min(most, last)):
        if near - step >= 1:
            yield near - step
        if near + step <= last:
            yield near + step


def seal_of(text: str) -> str:
    """Hash a summary without its seal."""
    return digest(re.sub(_SEAL, "", text, count=1, flags=re.MULTILINE)).hex()


class CitedLine(Record):
    """A line of a summary: its text, and the lines that it cites."""

    text: str
    path: str
    first: int
    last: int


def log_name(path: str) -> str:
    """Name a log in a heading of a summary: "memory/2025-03-03.md" -> "2025-03-03".

    "" if no heading can name it: then each line cites the whole path.
    """
    stem = path.removeprefix(_BEFORE).removesuffix(_AFTER)
    name = path if "." in stem or path != f"{_BEFORE}{stem}{_AFTER}" else stem
    return name if len(name.split()) == 1 and log_path(name) == path else ""


def log_path(name: str) -> str:
    """Return the path of a log that a heading names."""
    return name if "." in name else f"{_BEFORE}{name}{_AFTER}"


def cited_name(path: str) -> str:
    """Name a log in a citation: by its name if that begins with a digit, else by its path."""
    name = log_name(path)
    return name if name[:1].isdigit() else path


def month_and_day(name: str) -> tuple[str, str]:
    """Cut the name of a log behind its month: "2025-03-03" -> ("2025-03", "03"); else ("", "")."""
    match = re.fullmatch(_NAMED_DAY, name)
    return (match[1], match[2]) if match else ("", "")


def log_of(heading: str) -> str:
    """Return the path of the log that a heading names with its first word; "" without words."""
    words = heading.lstrip("#").split(maxsplit=1)
    return log_path(words[0]) if words else ""


def cited(line: str, log: str = "") -> CitedLine | None:
    """Read the citation at the end of a summary's line; headings have none.

    `log` is what the heading above names: the path of citations that are only line numbers. Others
    have a path, or the name of a log that begins with its date. Below the heading of a month, the
    month is left out.

    Examples: "- said (:9-14)" -> ("said", log, 9, 14)
              "- said (03:5)" -> ("said", "memory/2025-03-03.md", 5, 5), below "## 2025-03"
              "- said (2025-03-03:5)" -> the same, without a heading
              "- said (logs/a b.md:3)" -> ("said", "logs/a b.md", 3, 3)
    """
    text, opened, rest = line.rpartition(" (")
    is_line = line.startswith("- ") and opened and rest.endswith(")")
    place = re.fullmatch(_PLACE, rest[:-1]) if is_line else None
    if not place or not (place[1] or log):
        return None
    path = place[1] or log
    if path[:1].isdigit():
        path = log_path(f"{log_name(log)}-{path}" if re.fullmatch(_OF_MONTH, log) else path)
    first = int(place[2])
    return CitedLine(text[2:], path, first, int(place[3] or first))


def cited_place(citation: str) -> CitedLine | None:
    """Read a citation that names its log; None if it is none."""
    return cited(f"-  ({citation})")


def cited_lines(
    text: str, headings: Sequence[str] | None = None
) -> Iterator[tuple[int, CitedLine]]:
    """Yield the lines of a summary that cite, with their numbers from 1.

    `headings` are those above a part of a summary, which may begin in the middle of a line.
    """
    is_part = headings is not None
    log = log_of(headings[0]) if headings else ""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("#"):
            log = log_of(line) if line.startswith("## ") else log
            continue
        cite = cited(f"- {line.removeprefix('- ')}" if is_part else line, log)
        if cite:
            yield number, cite
