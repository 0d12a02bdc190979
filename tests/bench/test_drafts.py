from __future__ import annotations

import json

from memcli.bench.drafts import QuestionDraft, draft, line
from memcli.bench.queries import read_queries
from memcli.markdown.parse import parse

LOG = """# Log
## Backups

They run at night.

## 2026-02-10

- [x] We **decided** to move the `backups` to the other disk because the old one is slow, loud
- plain

## Log
"""


def test_headings_with_a_body_and_decisions_become_drafts() -> None:
    found = draft({"a.md": parse(LOG), "b.md": parse("# Log\n\nText.\n")}, 10)
    assert found == [
        QuestionDraft("Backups", "heading", "a.md", 2, 4),
        QuestionDraft(
            "We decided to move the backups to the other disk because the old one is slow,",
            "decision", "a.md", 8, 8,
        ),
    ]  # fmt: skip


def test_a_drafted_decision_keeps_its_identifiers() -> None:
    text = "We _decided_ that ERR_VAT__ROUNDING and `__init__.py` **must** stay in `a_b*`, __all__"
    (found,) = draft({"a.md": parse(text)}, 10)
    assert found.query == "We decided that ERR_VAT__ROUNDING and __init__.py must stay in a_b*, all"


def test_decisions_of_the_same_words_ask_for_none_of_them() -> None:
    twice = "We decided to round each line, and not the sum of an invoice, as the law wants it: "
    documents = {"a.md": parse(twice + "1"), "b.md": parse(twice + "2"), "c.md": parse("I agreed")}
    assert [found.query for found in draft(documents, 10)] == ["I agreed"]


def test_drafts_are_spread_over_the_documents() -> None:
    documents = {f"{n}.md": parse(f"# H{n}\n\nx\n\n# K{n}\n\ny\n") for n in range(4)}
    assert [d.path for d in draft(documents, 2)] == ["0.md", "2.md"]
    assert len(draft(documents, 6)) == 6
    assert draft({}, 3) == []


def test_a_drafted_line_is_read_back_as_a_draft() -> None:
    written = line(3, QuestionDraft('say "so"', "heading", "a.md", 2, 4))
    (query,) = read_queries([written], "q.jsonl")
    assert query.draft
    assert (query.id, query.text) == ("q003", 'say "so"')
    assert json.loads(written)["relevant"] == [{"path": "a.md", "start_line": 2, "end_line": 4}]
