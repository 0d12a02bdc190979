"""Make text harmless for a terminal: control, bidi and invisible characters become visible."""

from __future__ import annotations

import re

from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from memcli.search.ranked import RankedPassage
    from memcli.search.snippet import Snippet

# C0 except tab and newline, DEL, C1; line and paragraph separators; soft hyphen, zero width,
# fillers, bidi marks, embeddings, overrides and isolates; variation selectors, invisible operators,
# tags and the rest of what Unicode says to ignore by default; blanks that are not spaces; half
# surrogates, which no terminal can be sent. A whole message can be written in many of them.
# A selector of text or emoji may follow a character that has both looks, or be in a key cap.
# Compiled by `re` at its first use: most starts have nothing to make visible.
_TWO_LOOKS = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_UNSAFE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\ufffe\uffff\U00013430-\U0001343f\U00016fe4\U0001bca0-\U0001bca3\U0001d159"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
    f"|(?<![{_TWO_LOOKS}#*0-9])[\ufe0e\ufe0f]|(?<=[#*0-9])[\ufe0e\ufe0f](?!\u20e3)"
)
# Tags by which clients mark text of the system, a tool or the user, and tokens that begin and end a
# turn. Compiled at first use.
_TAG_WORDS = (
    "system", "user", "assistant", "human", "developer", "tool", "function", "invoke", "thinking",
    "reasoning", "instruction", "important",
)  # fmt: skip
_TAG_BEGINNINGS = (
    "claude", "codex", "gemini", "command", "local", "ide", "environment", "context", "memory",
    "hook", "session", "agent", "permissions", "skill", "extra", "turn", "model",
)  # fmt: skip
_TAG_STARTS = tuple(
    f"<{word}" for word in (*_TAG_WORDS, *_TAG_BEGINNINGS, "antml:", "anthropic:", "|", "<sys")
)
_TAGS = (
    r"(?i)<[ \t]*/?[ \t]*(?:antml:|anthropic:)?"
    rf"(?:(?:{'|'.join(_TAG_WORDS)})[\w:-]*|(?:{'|'.join(_TAG_BEGINNINGS)})[_-][\w:-]+)"
    r"(?:[ \t][^<>\n]{0,200})?/?[ \t]*>"
    r"|<\|[^<>|\n]{1,40}\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>"
)
# Characters that a program may take for the end of a line.
_LINE_ENDS = {
    ord("\n"): "␊", ord("\v"): "␋", ord("\f"): "␌", ord("\r"): "␍",
    **{code: f"<U+{code:04X}>" for code in (0x1C, 0x1D, 0x1E, 0x85, 0x2028, 0x2029)},
}  # fmt: skip


def visible(text: str) -> str:
    """Make invisible characters visible; an escape character becomes ␛."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_UNSAFE, _shown, text)


def visible_line(text: str) -> str:
    """Make invisible characters visible, on one line: a name may contain line ends too."""
    return visible(text).replace("\n", "␊")


def broken_up(text: str) -> str:
    """Disarm tags of clients, for text that a model reads.

    The tag stays readable, and the length stays the same: `</system-reminder>` becomes
    `(/system-reminder)`. HTML tags are unchanged.
    """
    has_tags = "INST]" in text or "_of_turn>" in text
    if not has_tags and "<" in text:  # most text with the sign has no such tag
        plain = text.casefold().replace(" ", "").replace("\t", "").replace("/", "")
        has_tags = any(start in plain for start in _TAG_STARTS)
    return re.sub(_TAGS, lambda tag: f"({tag[0][1:-1]})", text) if has_tags else text


def one_line(text: str) -> str:
    """Write a name as it is but on one line, for a program that reads lines."""
    return text if text.isprintable() else text.translate(_LINE_ENDS)


def escaped(json: str) -> str:
    """Write invisible characters of a JSON text as JSON escapes; its value stays the same."""
    if json.isascii() and json.isprintable():
        return json
    return re.sub(_UNSAFE, _as_json, json)


def _as_json(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return "" if code == 0x0D else chr(0x2400 + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"


_BACKTICKS = re.compile(r"`+")


def fenced_passage(passage: RankedPassage, snippet: Snippet, where: str) -> str:
    """Show one passage below its citation; the fence is longer than any run of backticks inside."""
    candidate = passage.candidate
    fence = fence_for(snippet.text)
    heading = " > ".join(candidate.about.heading_path)
    from memcli.search.ranked import mark_of

    mark = mark_of(passage.corrected_by)
    about = ", ".join(filter(None, (heading, candidate.about.days, candidate.about.trust, mark)))
    title = " ".join(f"{where} ({about})".split())
    return f"**{title}**\n\n{fence}text\n{snippet.text}\n{fence}\n\n"


def fence_for(text: str) -> str:
    """Return a fence that the text cannot close: longer than any run of backticks inside."""
    return "`" * max(3, longest_run(text) + 1)


def longest_run(text: str) -> int:
    """Count the backticks of the longest run of them in a text."""
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0) if "`" in text else 0
