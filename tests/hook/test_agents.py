from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from memcli.hook.agents import AGENTS, EVENTS, read_event, reply
from tests.hook.shapes import PAIRS, SHAPES, name_of, schema_of

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def test_the_table_has_every_agent_and_every_event() -> None:
    assert {agent: set(table) for agent, table in AGENTS.items()} == {
        agent: set(EVENTS) for agent in SHAPES
    }


@given(text=st.text())
def test_an_answer_is_what_its_agent_takes(text: str) -> None:
    for agent, event in PAIRS:
        found = read_event(agent, event, {"hook_event_name": name_of(agent, event)})
        assert found is not None
        record = json.loads(json.dumps(reply(agent, found, text)))
        Draft202012Validator(schema_of(agent, event)).validate(record)
        assert bool(record) == bool(text and SHAPES[agent][event][1])


@given(
    told=st.dictionaries(
        st.sampled_from(("hook_event_name", "session_id", "cwd", "source", "prompt")), ANYTHING
    )
)
def test_whatever_is_sent_is_read(told: dict[str, Any]) -> None:
    for agent, event in PAIRS:
        found = read_event(agent, event, told)
        if found is not None:
            assert all(isinstance(value, str) for value in found)
            assert found.name in AGENTS[agent][event][0]


def test_a_hook_of_another_event_is_told_so() -> None:
    assert read_event("claude-code", "prompt", {"hook_event_name": "PreToolUse"}) is None
    assert read_event("gemini", "stop", {"hook_event_name": "SessionEnd"}) is not None


@pytest.mark.parametrize("roots", [["/shop", "/api"], [], None, [1, {}]])
def test_cursor_names_a_conversation_and_its_folders(roots: object) -> None:
    sent = {"conversation_id": "c", "session_id": "s", "cwd": "/home", "workspace_roots": roots}
    found = read_event("cursor", "prompt", {"hook_event_name": "beforeSubmitPrompt", **sent})
    assert found is not None
    assert (found.session, found.folder) == (
        "c",
        "/shop" if roots == ["/shop", "/api"] else "/home",
    )


def test_a_prompt_is_read_without_the_context_of_a_hook() -> None:
    sent = {"prompt": "<hook_context>when a &lt;b&gt;\nsaid</hook_context>\n\nwhy did it fail"}
    found = read_event("gemini", "prompt", sent)
    assert found is not None
    assert found.prompt == "why did it fail"


def test_half_a_pair_of_surrogates_is_replaced() -> None:
    found = read_event("codex", "prompt", {})
    assert found is not None
    made = reply("codex", found, "half \ud83d a pair")
    assert made["hookSpecificOutput"]["additionalContext"] == "half ? a pair"
