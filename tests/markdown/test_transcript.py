"""The transcripts of agents: who said what, in which line, and what is left out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memcli.markdown.transcript import as_markdown, first_day, read_transcript

TIME = "2026-11-2{}T09:00:00.000Z"


def lines(*entries: Any) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def claude(kind: str, content: Any, day: int = 6, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content}
    return {"type": kind, "message": message, "timestamp": TIME.format(day), **more}


def test_a_session_of_claude_code_keeps_its_line_numbers() -> None:
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "SECRET OUTPUT"}]
    text = lines(
        {"type": "summary", "summary": "Deploys"},
        claude("user", "Deploys go out\n\non Tuesdays. <!-- no end"),
        claude("assistant", [{"type": "thinking", "thinking": "Hm"}, {"type": "tool_use"}]),
        claude("user", result),
        claude("assistant", [{"type": "text", "text": "Noted."}]),
        claude("user", "<command-name>/clear</command-name>"),
        claude("user", "This session is being continued", isCompactSummary=True),
        claude("user", "[Request interrupted by user]"),
        claude("user", "A subagent speaks", isSidechain=True),
        claude("user", "And on Thursdays.", day=7),
        claude("assistant", "Noted too.", day=8),
    )
    assert as_markdown(text).split("\n") == [
        "## 2026-11-26", "- **User**: Deploys go out on Tuesdays. <! -- no end", "", "",
        "- **Assistant**: Noted.", "", "", "", "## 2026-11-27", "- **User**: And on Thursdays.",
        "- **Assistant** (2026-11-28): Noted too.", "",
    ]  # fmt: skip


def test_a_session_of_codex_belongs_to_the_folder_it_ran_in() -> None:
    def said(role: str, text: str) -> dict[str, Any]:
        content = [{"type": "input_text", "text": text}]
        payload = {"type": "message", "role": role, "content": content}
        return {"type": "response_item", "payload": payload, "timestamp": TIME.format(6)}

    text = lines(
        {"type": "session_meta", "payload": {"cwd": "/home/mo/shop/api"}},
        said("developer", "You are a coding agent."),
        said("user", "# AGENTS.md instructions for /home/mo/shop\n<INSTRUCTIONS>Be brief"),
        {"type": "event_msg", "payload": {"type": "user_message", "message": "ship on Tuesday"}},
        said("user", "ship on Tuesday"),
    )
    heading = "\n\n\n## 2026-11-26\n- **User**: ship on Tuesday\n"
    assert as_markdown(text, "/home/mo/shop") == heading
    assert as_markdown(text, "/home/mo/sho") == "\n" * 5


def test_a_session_of_gemini_repeats_a_message_that_changes() -> None:
    user = {"id": "1", "type": "user", "content": [{"text": "My cat is Pixel."}]}
    thought = {"text": "A cat!", "thought": True}
    model = {"id": "2", "type": "gemini", "content": [thought, {"text": "Nice."}]}
    text = lines(
        {"sessionId": "s", "projectHash": "p"}, user, model, {**model, "tokens": 7},
        {"id": "3", "type": "info", "content": "Update available"},
        {"$set": {"messages": [user, model, {**user, "id": "4", "content": "She is 3."}]}},
    )  # fmt: skip
    assert [(each.line, each.text) for each in read_transcript(text)] == [
        (2, "My cat is Pixel."), (3, "Nice."), (6, "She is 3."),
    ]  # fmt: skip


def test_notes_that_gemini_adds_to_a_message_are_not_speech() -> None:
    notes = {"text": "<hook_context>a note\n&lt;b&gt;</hook_context>"}
    content = [{"text": "<hook_context>old</hook_context>\n\nwhy did it fail"}, notes]
    line = json.dumps({"id": "1", "type": "user", "content": content})
    assert [turn.text for turn in read_transcript(line)] == ["why did it fail"]


@pytest.mark.parametrize("indent", [None, 1])
def test_an_older_session_of_gemini_is_one_object(indent: int | None) -> None:
    turns = [{"type": "user", "content": "My cat is Pixel."}, {"type": "gemini", "content": "Ah."}]
    text = json.dumps({"messages": turns}, indent=indent)
    assert [each.text for each in read_transcript(text)] == ["My cat is Pixel.", "Ah."]
    assert as_markdown(text).startswith("- **User**: My cat is Pixel. **Assistant**: Ah.")


def test_a_session_of_openclaw_has_times_in_two_places() -> None:
    said = {"role": "user", "content": [{"type": "text", "text": "Hi"}], "timestamp": 1795664881246}
    result = {"role": "toolResult", "content": [{"type": "text", "text": "out"}]}
    text = lines(
        {"type": "session", "cwd": "/home/mo"},
        {"type": "message", "id": "a", "timestamp": TIME.format(6), "message": said},
        {"type": "message", "id": "b", "timestamp": TIME.format(6), "message": result},
    )
    assert as_markdown(text) == "## 2026-11-26\n- **User**: Hi\n\n"
    for each in (text, text.partition("\n")[2], ""):
        day = first_day(as_markdown(each))
        assert day == (("2026-11-26", "2026-11-26") if each else None)


@pytest.mark.parametrize("text", ["", "\n", "{", "[1]\n{}\n", '{"type": "user"}', "[" * 100_000])
def test_what_is_no_transcript_is_empty(text: str) -> None:
    assert as_markdown(text).split("\n") == [""] * len(text.split("\n"))
