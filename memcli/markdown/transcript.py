"""Read the transcripts that agents keep of their sessions: who said what, and in which line; pure.

claude-code  one JSON object per line: `type` user or assistant, and `message.content`, a text or
             blocks, of which `text` is speech and the others are tool calls and their results
codex        rollout-*.jsonl: `type` response_item, with a `payload` of the type `message`; the
             first line, session_meta, has `payload.cwd`
gemini       chats/session-*.jsonl: a message per line, `type` user or gemini, written again when
             it changes, or several in `$set.messages`; older versions wrote one object with them
openclaw     sessions/*.jsonl: `type` message, with `message.role` and `message.content`

Thoughts, tool output and what the program inserts as if the user had said it are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from memcli.record import Record

USER, ASSISTANT = "user", "assistant"
_ROLES = {"user": USER, "human": USER, "assistant": ASSISTANT, "gemini": ASSISTANT,
          "model": ASSISTANT}  # fmt: skip
_SPEECH = ("text", "input_text", "output_text", None)  # types of blocks
# Marks of messages that the program wrote: notices, subagents, summaries of a compaction, errors.
_NOT_SPEECH = ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage")
# Beginnings of such messages: <command-name>, the rules of a project, an interruption.
_INSERTED = ("<", "# AGENTS.md instructions for ", "[Request interrupted")
# What Gemini CLI adds to a message of the user, before or after the text.
_HOOK_CONTEXT = r"(?s)\s*<hook_context>.*?</hook_context>\s*"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_DAY = rf"{_DATE}(?=T)"  # at the beginning of a time
MOST_CHARACTERS = 20_000  # per turn


class TranscriptTurn(Record):
    """What one side said in a turn."""

    line: int  # of the transcript, from 1
    role: str  # USER or ASSISTANT
    text: str
    time: str  # as the transcript writes it; "" if unknown


def as_markdown(text: str, project: str = "") -> str:
    """Write a transcript as a conversation in Markdown whose lines have the same numbers.

    A turn becomes one list item, and all other lines are empty. A day is the heading of its turns,
    on the line before the first of them; if that line is not empty, the turn states it. With a
    `project`, a session that ran in a folder outside of it becomes empty.
    """
    lines = [""] * (text.count("\n") + 1)
    if project and not _is_in(project, text):
        return "\n".join(lines)
    today = ""
    for turn in read_transcript(text):
        at, aside = turn.line - 1, ""
        match = re.match(_DAY, turn.time)
        if match and match[0] != today:
            today = match[0]
            if at and not lines[at - 1]:
                lines[at - 1] = f"## {today}"
            else:
                aside = f" ({today})"
        # A comment that a turn begins and does not end would hide the turns below it.
        speech = " ".join(turn.text.split()).replace("<!--", "<! --")
        item = f"- **{turn.role.capitalize()}**{aside}: {speech}"
        lines[at] = f"{lines[at]} {item.removeprefix('- ')}" if lines[at] else item
    return "\n".join(lines)


def first_day(text: str) -> tuple[str, str] | None:
    """Return the day on which a conversation from `as_markdown` begins, as a span; None if none."""
    match = re.search(rf"^(?:## |- \*\*\w+\*\* \()({_DATE})", text, re.MULTILINE)
    return (match[1], match[1]) if match else None


def _is_in(project: str, text: str) -> bool:
    """Return whether a session ran in a folder or below it, by the first line of its transcript."""
    start = _object(text.partition("\n")[0])
    meta = start.get("payload")
    folder = (meta if isinstance(meta, dict) else start).get("cwd")
    return isinstance(folder, str) and f"{folder}/".startswith(f"{project}/")


def read_transcript(text: str, *, after: int = 0) -> Iterator[TranscriptTurn]:
    """Yield the turns of a transcript `after` a line; lines that are not JSON are skipped."""
    known: set[tuple[str, str]] = set()
    for number, line in enumerate(text.split("\n"), start=1):
        for name, turn in _turns(_object(line), number) if number > after else ():
            if not name or (name, turn.text) not in known:
                known.add((name, turn.text))
                yield turn
    if text.lstrip().startswith("{") and '"messages"' in text[:2000]:
        whole = _object(text) if "\n" in text.strip() else {}
        yield from (turn for _, turn in _messages(whole, 1))


def _object(line: str) -> Mapping[str, object]:
    try:
        parsed = json.loads(line) if line.strip() else None
    except (ValueError, RecursionError):
        parsed = None
    return parsed if isinstance(parsed, dict) else {}


def _turns(entry: Mapping[str, object], number: int) -> Iterator[tuple[str, TranscriptTurn]]:
    """Yield the turns of a line, each with the id of its message."""
    update = entry.get("$set")
    entry = update if isinstance(update, dict) else entry
    if isinstance(entry.get("messages"), list):
        yield from _messages(entry, number)
        return
    if any(entry.get(mark) for mark in _NOT_SPEECH):
        return
    message = entry.get("message") or entry.get("payload") or entry
    if isinstance(message, dict) and message.get("type", "message") in ("message", *_ROLES):
        yield from _turn(message, entry, number)


def _messages(entry: Mapping[str, object], number: int) -> Iterator[tuple[str, TranscriptTurn]]:
    """Read the messages of one object, which are all cited by its first line."""
    messages = entry.get("messages")
    for each in messages if isinstance(messages, list) else ():
        if isinstance(each, dict):
            yield from _turn(each, entry, number)


def _turn(
    message: Mapping[str, object], entry: Mapping[str, object], number: int
) -> Iterator[tuple[str, TranscriptTurn]]:
    role = _ROLES.get(str(message.get("role") or message.get("type") or entry.get("type")))
    text = without_hook_context(_text(message.get("content")))[:MOST_CHARACTERS].strip()
    if role and text and not text.startswith(_INSERTED):
        times = (entry.get("timestamp"), message.get("timestamp"))
        time = next((each for each in times if isinstance(each, str)), "")
        yield str(message.get("id") or ""), TranscriptTurn(number, role, text, time)


def without_hook_context(text: str) -> str:
    """Return what the user has typed of a message."""
    return re.sub(_HOOK_CONTEXT, "", text) if "<hook_context>" in text else text


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [
        each.get("text")
        for each in content
        if isinstance(each, dict) and each.get("type") in _SPEECH and not each.get("thought")
    ]
    return "\n".join(each for each in texts if isinstance(each, str))
