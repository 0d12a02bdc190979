"""A summary tells what the user said, and passes over what an assistant wrote at length."""

from __future__ import annotations

from memcli.compaction.entries import cut
from memcli.compaction.sentences import Sentence, sentences
from memcli.language.salience import FACT, RULE
from tests.compaction.support import make_log, plan_of, settings

ESSAY = (
    "You must always warm up for 15 minutes, and never skip the stretching on 2025-03-04.\n\n"
    "```text\nwarm up\n```\n\n"
    "### Details\n\n"
    "- A runner should drink 500 ml of water an hour, which many forget on long distances.\n"
    "- The promised effect of intervals on endurance was shown in 12 studies.\n"
)
CHAT = (
    "## Exchange 1\n\n"
    "User: I ran 12 km to Tesk with Odette. I'd rather run in the evening.\n\n"
    f"Assistant: That is a fine distance. {ESSAY}\n"
)


def said(text: str) -> list[Sentence]:
    return [each for entry in cut(make_log("2025-03-01", text)) for each in sentences(entry)]


def test_nothing_that_a_machine_says_must_survive() -> None:
    told = said(CHAT)
    assert [s.text for s in told if not s.by_machine] == [
        "User: I ran 12 km to Tesk with Odette.",
        "I'd rather run in the evening.",
    ]
    assert [s.reason for s in told] == [FACT, RULE, *[""] * (len(told) - 2)]
    assert len(told) > 5


def test_notes_are_nobodys() -> None:
    told = said(ESSAY)
    assert [s.by_machine for s in told] == [False] * len(told)
    assert all(s.reason for s in told if "stretching" in s.text or "500 ml" in s.text)


def test_the_summary_tells_what_the_user_said() -> None:
    logs = [make_log(f"2025-03-0{n}", CHAT.replace("Tesk", f"Tesk {n}")) for n in (1, 2)]
    told = "".join(draft.body for draft in plan_of(logs, settings(ratio=0.45)).drafts)
    assert "I ran 12 km to Tesk 1 with Odette." in told
    assert "I'd rather run in the evening." in told
    assert "must always warm up" not in told
