"""Draft judged questions from the headings and decisions of a workspace, for a person to edit.

A heading is a poor question, because its words are in the answer. So drafts are marked, and do not
count until somebody has reworded them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile, zip_longest

from memcli.indexing.document import parse_or_skip
from memcli.indexing.planning import Settings, plan, read
from memcli.markdown.parse import ParsedMarkdown, parse
from memcli.record import Record
from memcli.types import FileText, Skip, shown

_DECISIONS = re.compile(
    r"\b(?:decided|decision|agreed|chose|must|promised|entschieden|beschlossen|vereinbart)\b"
    r"|决定|決定|同意|必须|約束",
    re.IGNORECASE,
)
_LIST_SIGN = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
# The text of a code span remains; an underscore inside a name is not markup.
_MARKS = re.compile(r"(`+)(?P<code>.+?)\1|[*`]+|(?<!\w)_+|_+(?!\w)")
_DATE_ALONE = re.compile(r"[\W\d]*")
_MISSED = ("unreadable", "not-text", "too-large")  # skipped for a reason that a person should know
WORDS = 16  # the question is that many words of a decision


class QuestionDraft(Record):
    """A question, and the lines that answer it."""

    query: str
    category: str  # heading | decision
    path: str  # as printed: with the source, unless that is the default one
    start_line: int
    end_line: int


def documents(settings: Settings) -> tuple[dict[str, ParsedMarkdown], list[Skip]]:
    """Read the documents of all sources, by name, and list those that cannot be read."""
    listing = plan(settings, {}).listing
    documents = {}
    missed = [*listing.unlisted, *(s for s in listing.skips if s.reason in _MISSED)]
    for stat in listing.files:
        file = read(settings, stat.source, stat.path)
        if isinstance(file, FileText):
            parsed = parse_or_skip(stat.source, stat.path, partial(parse, file.text))
        else:
            parsed = file
        if isinstance(parsed, Skip):
            missed.append(parsed)
        else:
            documents[shown(stat.source, stat.path)] = parsed
    return documents, missed


def draft(documents: Mapping[str, ParsedMarkdown], count: int) -> list[QuestionDraft]:
    """Choose up to `count` drafts, spread over the documents, decisions first in each.

    `documents` are by name, as `types.shown` gives it. A heading that several documents share is
    skipped, and so are decisions that begin with the same words.
    """
    shared = Counter(
        title
        for parsed in documents.values()
        for title in {block.title for block in parsed.blocks if block.kind == "heading"}
        if not _DATE_ALONE.fullmatch(title)
    )
    decided = {path: list(_decisions(path, parsed)) for path, parsed in documents.items()}
    times = Counter(each.query for drafts in decided.values() for each in drafts)
    per_document = [
        [
            *(each for each in decided[path] if times[each.query] == 1),
            *_sections(path, parsed, shared),
        ]
        for path, parsed in sorted(documents.items())
    ]
    chosen: list[QuestionDraft] = []
    for layer in zip_longest(*per_document):
        chosen += _spread([each for each in layer if each], count - len(chosen))
    return sorted(chosen, key=lambda d: (d.path, d.start_line))


def line(number: int, chosen: QuestionDraft) -> str:
    """Write a draft as a line of a questions file."""
    record = {
        "id": f"q{number:03}",
        "query": chosen.query,
        "category": chosen.category,
        "relevant": [
            {"path": chosen.path, "start_line": chosen.start_line, "end_line": chosen.end_line}
        ],
        "hints": "",
        "importance": "normal",
        "draft": True,
    }
    return json.dumps(record, ensure_ascii=False)


def _spread(drafts: Sequence[QuestionDraft], room: int) -> list[QuestionDraft]:
    if len(drafts) <= room:
        return list(drafts)
    return [drafts[at * len(drafts) // room] for at in range(room)]


def _sections(
    path: str, parsed: ParsedMarkdown, shared: Mapping[str, int]
) -> Iterator[QuestionDraft]:
    """Return the headings with a body of their own, and the lines of that body."""
    blocks = parsed.blocks
    for at, block in enumerate(blocks):
        if block.kind != "heading" or shared[block.title] != 1:
            continue
        if body := [*takewhile(lambda below: below.kind != "heading", blocks[at + 1 :])]:
            yield QuestionDraft(block.title, "heading", path, block.start + 1, body[-1].end)


def _decisions(path: str, parsed: ParsedMarkdown) -> Iterator[QuestionDraft]:
    """Return the first words of each paragraph and item that decides something."""
    for block in parsed.blocks:
        if block.kind not in ("paragraph", "item"):
            continue
        text = " ".join(parsed.lines[block.start : block.end])
        if _DECISIONS.search(text):
            words = _MARKS.sub(lambda mark: mark["code"] or "", _LIST_SIGN.sub("", text)).split()
            query = " ".join(words[:WORDS])
            yield QuestionDraft(query, "decision", path, block.start + 1, block.end)
