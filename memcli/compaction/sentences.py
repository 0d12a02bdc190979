"""Cut a record into sentences that can stand alone, each with its lines and its speaker; pure."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from memcli.compaction.keep import FACT, why_kept
from memcli.compaction.records import LogRecord
from memcli.compaction.sanitize import placeholder, without_data
from memcli.markdown.comments import visible
from memcli.markdown.parse import Block
from memcli.record import Record

LEAD_CHARS = 60
SHORT_CHARS = 16

_MARK = re.compile(r"^\s*(?:>\s?)*(?:[-*+]|\d{1,9}[.)])\s+")
_QUOTE = re.compile(r"^\s*(?:>\s?)+")
_SPEAKER = re.compile(r"^\*\*([^*\n]{1,40}?)\*\*(?: ?\([^)\n]{0,20}\))? ?[:：]\s*")
_STOP = re.compile(
    r"(?<![.\s][A-Za-z])(?<!\bMr)(?<!\bDr)(?<!\bvs)(?<!\bNo)(?<!\bMrs)(?<!\betc)(?<!\be\.g)(?<!\bi\.e)"
    r"(?<=[.!?…])[\"')\]*_]{0,3}\s+(?=[^a-z\s])|(?<=[。！？])(?![」』”’）])"
)


class Sentence(Record):
    """A sentence as it stands in a log, and where."""

    text: str  # without list mark and speaker
    path: str
    first: int  # lines, from 1
    last: int
    speaker: str
    lead: str  # what introduces the list it is the first item of
    kept: str  # why it must survive, "" when it need not

    @property
    def citation(self) -> str:
        """Name the lines as `memcli get` takes them."""
        tail = "" if self.last == self.first else f"-{self.last}"
        return f"{self.path}:{self.first}{tail}"

    @property
    def shown(self) -> str:
        """Give the sentence with who said it and what introduced it."""
        who = f"{self.speaker}: " if self.speaker else ""
        return f"{self.lead}{who}{self.text}"


def sentences(record: LogRecord) -> list[Sentence]:
    """Cut a record; comments are left out, code and tables become one placeholder each."""
    found: list[Sentence] = []
    lead = ""
    for at, block in enumerate(record.blocks):
        note = placeholder(block, record.log.lines)
        if note is not None:
            where = record.log.path, block.start + 1, block.end
            found.append(Sentence(note, *where, "", lead, FACT))
            lead = ""
            continue
        cut = [s for unit in _units(block, record.log.lines) for s in _cut(unit, record.log.path)]
        is_lead = (
            len(cut) == 1 and len(cut[0].text) <= LEAD_CHARS and at + 1 < len(record.blocks)
            and cut[0].text.endswith((":", "："))
        )  # fmt: skip
        if is_lead and not cut[0].kept:
            lead = cut[0].text + " "
            continue
        found += [s._replace(lead=lead if n == 0 else "") for n, s in enumerate(cut)]
        lead = "" if cut else lead
    return _with_antecedents(found)


def _with_antecedents(found: Sequence[Sentence]) -> list[Sentence]:
    """Keep what a short sentence answers: "Agreed." says nothing without it."""
    kept = list(found)
    for at in range(len(kept) - 1, 0, -1):
        if not kept[at].kept or len(kept[at].text) > SHORT_CHARS:
            continue
        for n in range(at - 1, -1, -1):
            if kept[n].first != kept[at - 1].first:
                break
            kept[n] = kept[n]._replace(kept=kept[n].kept or kept[at].kept)
    return kept


Unit = list[tuple[int, str]]  # (line number, text without marks)


def _units(block: Block, lines: Sequence[str]) -> Iterator[Unit]:
    """Yield list items, nested ones apart, and paragraphs as their lines."""
    text = visible("\n".join(lines[block.start : block.end]))
    shown = text.split("\n")
    if len(shown) != block.end - block.start:  # a comment has taken lines away
        shown = [visible(line) for line in lines[block.start : block.end]]
    unit: Unit = []
    for number, line in enumerate(shown, start=block.start + 1):
        mark = _MARK.match(line) if block.kind in ("item", "quote") else None
        if unit and (mark or not line.strip()):
            yield unit
            unit = []
        body = line[mark.end() :] if mark else _QUOTE.sub("", line)
        if block.kind == "heading":
            body = body.strip().lstrip("#")
        if body.strip():
            unit.append((number, without_data(body.strip())))
    if unit:
        yield unit


def _cut(unit: Unit, path: str) -> Iterator[Sentence]:
    """Cut the lines of a unit at the ends of sentences."""
    speaker = ""
    if said := _SPEAKER.match(unit[0][1]):
        speaker = said[1].strip().rstrip(":：")
        unit = [(unit[0][0], unit[0][1][said.end() :]), *unit[1:]]
    text, starts = "", []
    for number, line in unit:
        if text:
            text += " " if text[-1].isascii() or line[:1].isascii() else ""
        starts.append((len(text), number))
        text += line

    def line_at(offset: int) -> int:
        return starts[bisect_right(starts, (offset, sys.maxsize)) - 1][1]

    at = 0
    for stop in [*(m.end() for m in _STOP.finditer(text)), len(text)]:
        body = text[at:stop].strip()
        if body:
            start = at + text[at:stop].index(body)
            first, last = line_at(start), line_at(start + len(body) - 1)
            yield Sentence(body, path, first, last, speaker, "", why_kept(body))
        at = stop
