"""Find the turns of a conversation: who says which lines; pure.

A turn begins at a line that starts with a name and a colon, such as `- **Kate** (D1:3): ...`,
`Project Manager: ...` or `[10:32] User: ...`, or at a heading that is only the name of a role. It
ends at the next turn, at a heading that is not below its own, or with its list item.

Notes also contain such lines (`Owner: ...`). So a document is a conversation only if its speakers
are a user and an assistant, or if at least two names with at least MIN_TURNS lines each start half
of its paragraphs and items. If all such lines have a time or an id (`Kate (D1:3): ...`), two lines
for each name on average are enough.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from memcli.checking import TYPE_CHECKING
from memcli.record import Record
from memcli.types import Turn

if TYPE_CHECKING:
    from memcli.markdown.parse import Block, ParsedMarkdown

MIN_TURNS = 3
MAJORITY = 0.5
NAME_CHARS = 40
NAME_WORDS = 4

USER, ASSISTANT, TOOL = ROLES = ("user", "assistant", "tool")
# Names in exports of chats and agents, and in notes of people.
_ROLES = {
    USER: "user human me customer benutzer ich usuario yo utilisateur moi 用户 我 人类",
    ASSISTANT: (
        "assistant ai bot chatbot agent model claude chatgpt gpt copilot codex gemini llm"
        " assistent asistente 助手 助理 机器人"
    ),
    TOOL: "tool function system tool_result tool_call",
}
_MACHINES = ("assistant", "ai", "bot", "agent", "assistent", "asistente")  # as a last word
_ROLE_OF = {name: role for role, names in _ROLES.items() for name in names.split()}

_TIME = r"[\[(]?\d\d?:\d\d(?::\d\d)?(?: ?[ap]m)?[\])]?"
_ASIDE = r"[(\[][^()\[\]\n]{0,40}[)\]]"  # an id or a time after the name
_OPENS = re.compile(
    r" {0,3}(?:[-*+] +|\d{1,3}[.)] +)?"
    rf"(?P<time>{_TIME}[ ,-]*)?"
    r"(?:\*\*|__)?"
    rf"(?P<name>[^\W\d_][\w .'’&-]{{0,{NAME_CHARS - 1}}}?)"
    rf"(?:\*\*|__)?(?P<aside> ?{_ASIDE})?(?:\*\*|__)?"
    r"(?:[:：](?:\*\*|__)(?:\s|$)|:(?:\s|$)|：)",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\d:\d")  # of a time, or of a turn and its session: D1:3
_HEADING = re.compile(rf"\W*(?P<name>[^\W\d_][\w .'-]{{0,{NAME_CHARS - 1}}}?)(?: *{_ASIDE})?\W*$")


def turns_of(parsed: ParsedMarkdown) -> tuple[Turn, ...]:
    """Return the turns of a conversation in order; () for any other document."""
    openings = list(_openings(parsed))
    counts = Counter(opening.speaker.casefold() for opening in openings)
    speakers = {name for name in counts if role_of(name)}
    if not {USER, ASSISTANT} <= {role_of(name) for name in speakers}:
        has_ids = all(opening.has_id for opening in openings)
        least = 1 if has_ids and 2 * len(counts) <= len(openings) else MIN_TURNS
        speakers |= {name for name, times in counts.items() if times >= least}
        if not _fill_half(openings, speakers, parsed.blocks):
            return ()
    return tuple(_ended([o for o in openings if o.speaker.casefold() in speakers], parsed))


@lru_cache
def role_of(speaker: str) -> str:
    """Return the role of a speaker: user, assistant, tool, or "" for any other name.

    Example: role_of("AI assistant") -> "assistant"
    """
    name = speaker.casefold()
    is_machine = name.rpartition(" ")[2] in _MACHINES
    return _ROLE_OF.get(name) or (ASSISTANT if is_machine else "")


def is_machine(speaker: str) -> bool:
    """Return whether a speaker is an assistant or a tool."""
    return role_of(speaker) in (ASSISTANT, TOOL)


class _Opening(Record):
    """The start of a turn: a line and a block, from 0."""

    line: int
    block: int
    speaker: str
    has_id: bool = False  # or a time, both with a colon


def _openings(parsed: ParsedMarkdown) -> Iterator[_Opening]:
    for index, block in enumerate(parsed.blocks):
        if block.kind == "heading":
            if name := _role_heading(block):
                yield _Opening(block.start, index, name)
        elif block.kind in ("item", "paragraph"):
            end = block.end if block.kind == "paragraph" else block.start + 1
            for line in range(block.start, end):
                text = parsed.lines[line]
                match = _OPENS.match(text) if ":" in text or "：" in text else None
                if match and (name := _name(match)):
                    has_id = bool(match["time"] or _NUMBERS.search(match["aside"] or ""))
                    yield _Opening(line, index, name, has_id)


def _name(match: re.Match[str]) -> str:
    """Return the name that starts a line, or "" if it does not look like one."""
    name = " ".join(match["name"].split())
    looks_like_one = not name[0].islower() or bool(role_of(name))
    return name if looks_like_one and len(name.split()) <= NAME_WORDS else ""


def marked(text: str, speaker: str, *, opens: bool) -> str:
    """Write a line of a turn with the mark of its speaker: `Ann: yes` is `**Ann**: yes`."""
    return f"**{speaker}**: {spoken(text) if opens else text}"


def spoken(text: str) -> str:
    """Return the text of a turn without the name of its speaker."""
    name = _OPENS.match(text)
    return text[name.end() :] if name else text


def _role_heading(block: Block) -> str:
    match = _HEADING.match(block.title)
    name = " ".join(match["name"].split()) if match else ""
    return name if name.casefold() in _ROLE_OF else ""


def _fill_half(openings: Iterable[_Opening], speakers: set[str], blocks: Sequence[Block]) -> bool:
    begun = {opening.block for opening in openings if opening.speaker.casefold() in speakers}
    texts = sum(block.kind in ("item", "paragraph") for block in blocks)
    return len(speakers) > 1 and len(begun) >= MAJORITY * texts


def _ended(openings: Sequence[_Opening], parsed: ParsedMarkdown) -> Iterator[Turn]:
    blocks = parsed.blocks
    level = 0  # of the heading above the turns; headings inside a turn are deeper
    at = 0
    for opening, following in zip(openings, [*openings[1:], None], strict=True):
        level = _level(blocks[at : opening.block], level)
        block = blocks[opening.block]
        level = block.level if block.kind == "heading" else level
        end = following.line if following else len(parsed.lines)
        last = following.block if following else len(blocks)
        behind = range(opening.block + 1, last)
        headings = (i for i in behind if blocks[i].kind == "heading" and blocks[i].level <= level)
        at = next(headings, last)
        if at < last:
            end = min(end, blocks[at].start)
        if block.kind == "item":
            end = min(end, block.end)
        yield Turn(opening.line + 1, _last_text(parsed.lines, opening.line, end), opening.speaker)


def _level(blocks: Iterable[Block], level: int) -> int:
    """Return the level of the last heading of some blocks, or the one before them."""
    levels = [block.level for block in blocks if block.kind == "heading"]
    return levels[-1] if levels else level


def _last_text(lines: Sequence[str], start: int, end: int) -> int:
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return end


def speaker_at(turns: Sequence[Turn], line: int) -> str:
    """Return who says a line, or ""."""
    return next((turn.speaker for turn in within(turns, line, line)), "")


def within(turns: Sequence[Turn], start_line: int, end_line: int) -> tuple[Turn, ...]:
    """Return the turns of a document, cut to a range of lines."""
    first = bisect_left(turns, start_line, key=lambda turn: turn.end_line)
    beyond = bisect_right(turns, end_line, key=lambda turn: turn.start_line)
    return tuple(
        turn._replace(
            start_line=max(turn.start_line, start_line), end_line=min(turn.end_line, end_line)
        )
        for turn in turns[first:beyond]
    )
