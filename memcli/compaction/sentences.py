"""Cut an entry into sentences, each with its lines and its speaker; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from memcli.compaction.entries import LogEntry
from memcli.compaction.sanitize import placeholder
from memcli.language.change import names_new_value, speaks_of_change
from memcli.language.preferences import is_preference
from memcli.language.salience import (
    BECAUSE,
    DECISION,
    FACT,
    HARD,
    PROMISE,
    RULE,
    gives_reason,
    keep_reason,
    of_heading,
)
from memcli.markdown.evidence import mark
from memcli.markdown.lineage import cited_name
from memcli.markdown.turns import ASSISTANT, TOOL, USER, role_of, within
from memcli.markdown.units import Unit, units
from memcli.record import Record
from memcli.types import Turn, lines_of

LEAD_CHARS = 60
SHORT_CHARS = 16

_STOP = re.compile(
    r"(?<![\s(][A-HJ-Z]\.)(?<!^[A-HJ-Z]\.)(?<!\.[A-Za-z]\.)"
    r"(?<!\b(?:Mr|Dr|vs)\.)(?<!\b(?:Mrs|etc)\.)(?<!\bNo\.(?=\s\d))"
    r"(?<=[.!?…])[\"')\]*_]{0,3}\s+(?=[^a-z\s])|(?<=[。！？])(?![」』”’）])"
)


class Sentence(Record):
    """A sentence of a log, and its place."""

    text: str  # without list mark and speaker
    path: str
    first: int  # lines, from 1
    last: int
    speaker: str
    lead: str  # the introduction of the list whose first item it is
    reason: str  # why it must survive, "" when it need not
    times: int = 1  # how often it occurs
    replaces: str = ""  # citation of the decision that it corrects
    is_corrected: bool = False  # a later sentence of the cluster corrects it
    before: int = 0  # last line of the sentence before it in its entry, 0 if it is the first
    by_machine: bool = False  # by an assistant or a tool in a conversation

    @property
    def citation(self) -> str:
        """Cite the lines as `memcli get` takes them, by the name of the log if it has one."""
        return f"{cited_name(self.path)}:{lines_of(self.first, self.last)}"

    @property
    def shown(self) -> str:
        """Return the sentence with its speaker and introduction."""
        who = f"{self.speaker}: " if self.speaker else ""
        return f"{self.lead}{who}{self.text}"

    @property
    def mark(self) -> str:
        """Return what a summary adds to it: how often it occurs, and what it corrects."""
        return mark(self.times, self.replaces)


def sentences(entry: LogEntry) -> list[Sentence]:
    """Cut an entry; comments are left out, code and tables become one placeholder each.

    No sentence of a machine must survive, and a preference of its user is a rule.
    """
    result: list[Sentence] = []
    lead, lead_at = "", 0
    heading = of_heading(entry.headings[-1]) if entry.headings else ""
    reason, follows = "", False  # of the items of a list, and whether a decision comes before
    for at, block in enumerate(entry.blocks):
        note = placeholder(block, entry.log.lines)
        if note is not None:
            where = entry.log.path, lead_at or block.start + 1, block.end
            result.append(Sentence(note, *where, "", lead, FACT))
            lead, lead_at = "", 0
            continue
        cut = [s for unit in units(block, entry.log.lines) for s in _cut(unit, entry.log.path)]
        is_lead = (
            len(cut) == 1 and len(cut[0].text) <= LEAD_CHARS and at + 1 < len(entry.blocks)
            and cut[0].text.endswith((":", "："))
        )  # fmt: skip
        if block.kind != "item":
            reason = ""
        cut = _with_new_values(_with_reasons(cut, reason or heading, follows=follows))
        follows = bool(cut) and cut[-1].reason in (DECISION, BECAUSE)
        announces = bool(cut) and cut[-1].text.endswith((":", "："))
        if announces and (follows or of_heading(cut[-1].text) == BECAUSE):
            reason = BECAUSE
        if is_lead and (not cut[0].reason or of_heading(cut[0].text) == BECAUSE):
            lead, lead_at = cut[0].shown + " ", cut[0].first
            continue
        if cut:
            cut[0] = cut[0]._replace(lead=lead, first=lead_at or cut[0].first)
            lead, lead_at = "", 0
        result += cut
    ends = [0, *(each.last for each in result)]
    spoken = [
        _by_whom(each._replace(before=end), entry.turns)
        for each, end in zip(result, ends, strict=False)
    ]
    return _with_antecedents(spoken)


def _with_reasons(cut: list[Sentence], reason: str, *, follows: bool) -> list[Sentence]:
    """Mark the reasons and conditions of a decision, which a summary keeps with it.

    `reason` is that of the list or the heading above the lines, and `follows` says whether the line
    before is part of a decision.
    """
    result: list[Sentence] = []
    for each in cut:
        if each.reason in ("", FACT):
            own = BECAUSE if follows and gives_reason(each.text) else reason
            each = each._replace(reason=own or each.reason)
        follows = each.reason in (DECISION, BECAUSE)
        result.append(each)
    return result


def _with_new_values(cut: list[Sentence]) -> list[Sentence]:
    """Keep two sentences of a line if one says what ends and the other what comes instead.

    Example: "The party is moved, as it rains. New date 23 June." Conversations are left out.
    """
    result = list(cut)
    for at, (before, after) in enumerate(pairwise(cut)):
        if before.speaker or before.last != after.first:
            continue
        ends = before.reason in HARD or speaks_of_change(before.text)
        other = after if ends else before if after.reason == DECISION else None
        if other and names_new_value(other.text):
            for place in (at, at + 1):
                each = result[place]
                if each.reason not in HARD:
                    result[place] = each._replace(reason=DECISION)
    return result


def _by_whom(sentence: Sentence, turns: Sequence[Turn]) -> Sentence:
    """Adjust the kind of a sentence in a conversation to its speaker.

    A user states rules, and a machine states none. When people talk to each other, `never` and `I
    will` are seldom rules and promises.
    """
    own = within(turns, sentence.first, sentence.first)
    role = role_of(own[0].speaker) if own else ""
    if role in (ASSISTANT, TOOL):
        return sentence._replace(reason="", by_machine=True)
    if role == USER:
        return sentence._replace(reason=RULE) if is_preference(sentence.text) else sentence
    if own and sentence.reason in (RULE, PROMISE):
        return sentence._replace(reason=FACT)
    return sentence


def _with_antecedents(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Keep what a short sentence answers: "Agreed." means nothing without it."""
    result = list(sentences)
    done = len(result)  # from here on to the end of its line all is kept already
    for at in range(len(result) - 1, 0, -1):
        if at > done or not result[at].reason or len(result[at].text) > SHORT_CHARS:
            continue
        for n in range(at - 1, -1, -1):
            if result[n].first != result[at - 1].first:
                break
            result[n] = result[n]._replace(reason=result[n].reason or result[at].reason)
            done = n
    return result


def _cut(unit: Unit, path: str) -> Iterator[Sentence]:
    """Cut the text of a unit at the ends of sentences."""
    at = 0
    for body in split(unit.text):
        at = unit.text.index(body, at)
        first, last = unit.line_at(at), unit.line_at(at + len(body) - 1)
        yield Sentence(body, path, first, last, unit.speaker, "", keep_reason(body))
        at += len(body)


def split(text: str) -> Iterator[str]:
    """Cut a text at the ends of sentences."""
    at = 0
    for stop in [*(match.end() for match in _STOP.finditer(text)), len(text)]:
        if body := text[at:stop].strip():
            yield body
        at = stop
