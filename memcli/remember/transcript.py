"""Read the transcripts that agents keep of their sessions: what was said, and in which line; pure.

claude-code  one JSON object per line: `type` user or assistant, and `message.content`, a text or
             blocks, of which `text` is said and the others are calls of tools and their results
codex        rollout-*.jsonl: `type` response_item, with a `payload` of the type `message`
gemini       chats/session-*.json, one object with `messages`; or the same messages line by line

Thoughts, tool output, and what the program says in the place of the user are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from memcli.record import Record

USER, ASSISTANT = "user", "assistant"
_ROLES = {"user": USER, "human": USER, "assistant": ASSISTANT, "gemini": ASSISTANT,
          "model": ASSISTANT}  # fmt: skip
_SAID = ("text", "input_text", "output_text", None)  # types of blocks
MOST_CHARACTERS = 20_000  # per turn


class TranscriptTurn(Record):
    """What one side said in a turn."""

    line: int  # of the transcript, from 1
    role: str  # USER or ASSISTANT
    text: str
    time: str  # as the transcript writes it; "" if unknown


def read_transcript(text: str, *, after: int = 0) -> Iterator[TranscriptTurn]:
    """Yield the turns of a transcript `after` a line; lines that are not JSON are skipped."""
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            told = json.loads(line) if number > after and line.strip() else None
        except (ValueError, RecursionError):
            told = None
        if isinstance(told, dict):
            yield from _turns(told, number)
    if text.lstrip().startswith("{") and '"messages"' in text[:2000]:
        yield from _whole(text)


def _whole(text: str) -> Iterator[TranscriptTurn]:
    """Read a transcript that is one object over several lines."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return
    messages = told.get("messages") if isinstance(told, dict) and "\n" in text.strip() else None
    for each in messages if isinstance(messages, list) else ():
        if isinstance(each, dict):
            yield from _turn(each, each, 1)


def _turns(told: Mapping[str, object], number: int) -> Iterator[TranscriptTurn]:
    messages = told.get("messages")
    if isinstance(messages, list):
        for each in messages:
            if isinstance(each, dict):
                yield from _turn(each, told, number)
        return
    if told.get("isMeta") or told.get("isSidechain"):
        return
    message = told.get("message") or told.get("payload") or told
    if isinstance(message, dict) and message.get("type", "message") in ("message", *_ROLES):
        yield from _turn(message, told, number)


def _turn(
    message: Mapping[str, object], told: Mapping[str, object], number: int
) -> Iterator[TranscriptTurn]:
    role = _ROLES.get(str(message.get("role") or message.get("type") or told.get("type")))
    text = _text(message.get("content"))[:MOST_CHARACTERS].strip()
    if role and text and not text.startswith("<"):  # of the program, as <command-name>
        time = message.get("timestamp") or told.get("timestamp") or ""
        yield TranscriptTurn(number, role, text, str(time))


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    said = [
        each.get("text") for each in content if isinstance(each, dict) and each.get("type") in _SAID
    ]
    return "\n".join(each for each in said if isinstance(each, str))
