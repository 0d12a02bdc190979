"""What a summary says stands word for word in the lines it cites, or it is not believed."""

from __future__ import annotations

import pytest

from memcli.compaction.compose import document
from memcli.markdown.evidence import CitedFile, Evidence, weigh
from memcli.markdown.lineage import lines_hash, read_lineage
from memcli.markdown.parse import parse
from memcli.types import Lineage, SourceLines

PATH = "memory/2025-03-01.md"
LOG = """# Release week

We must never deploy on Friday. The pool ran
dry at noon; nobody saw it. Lunch was late.

- **Ann**: Shall we stop? I think so.
- **Bo** (D1:2): Agreed. Lunch was late.

Settings:

```yaml
pool_size: 20
pool_wait_ms: 2000
```

| carrier | p95 |
|---|---|
| Nordpak | 210 |

今天天气不错。我们去了厦门。

Lunch was late. So was tea."""
LINES = LOG.split("\n")


def weighed(line: str, *, method: str = "extractive", seal: bool = True) -> Evidence:
    """Write a summary of one line, seal it, and weigh it."""
    source = SourceLines(PATH, 1, len(LINES), lines_hash(LINES, 1, len(LINES)))
    day = "2025-03-01"
    lineage = Lineage((source,), (), day, day, day, method, 0.5, 1, 90, 30, "")
    text = document(lineage, f"# {day}\n\n## {day} Release week\n{line}\n")
    text = text if seal else text.replace("Release", "Other")
    found = read_lineage(parse(text).front_matter)
    assert found is not None
    return weigh(text, found, lambda path: CitedFile(path, LINES) if path == PATH else None, ())


TOLD = [
    "We must never deploy on Friday. (memory/2025-03-01.md:3)",
    "The pool ran dry at noon; nobody saw it. (memory/2025-03-01.md:3-4)",
    "We must never deploy on Friday. Lunch was late. (memory/2025-03-01.md:3-4)",
    "Ann: Shall we stop? Bo: Agreed. (memory/2025-03-01.md:6-7)",
    "Settings: [yaml code, 2 lines: pool_size, pool_wait_ms] (memory/2025-03-01.md:9-14)",
    "[table, 1 row: Nordpak; columns carrier, p95] (memory/2025-03-01.md:16-18)",
    "今天天气不错。我们去了厦门。 (memory/2025-03-01.md:20)",
    "我们去了厦门。 (memory/2025-03-01.md:20)",
    "Lunch was late. [2 times] (memory/2025-03-01.md:4)",
    "Lunch was late. [replaces memory/2025-03-01.md:7] (memory/2025-03-01.md:4)",
    "… (memory/2025-03-01.md:1-20)",
]
FALSE = [
    "We must deploy on Friday. (memory/2025-03-01.md:3)",
    "deploy on Friday. (memory/2025-03-01.md:3)",
    "We must never deploy. (memory/2025-03-01.md:3)",
    "We must never deploy on Friday. (memory/2025-03-01.md:6)",
    "We must never deploy on Friday. (memory/2025-03-02.md:3)",
    "We must never deploy on Friday. (memory/2025-03-01.md:3-99)",
    "We must never deploy on Friday.",
    "Bo: Shall we stop? (memory/2025-03-01.md:6-7)",
    "Ann: Agreed. (memory/2025-03-01.md:6-7)",
    "Shall we stop? (memory/2025-03-01.md:6)",
    "[yaml code, 2 lines: pool_rate] (memory/2025-03-01.md:11-14)",
    "[table, 90 rows: carrier] (memory/2025-03-01.md:16-18)",
    "[table, 1 row: We] (memory/2025-03-01.md:3)",
    "[table, 1 row: Nordpak; columns carrier, weight] (memory/2025-03-01.md:16-18)",
    "also: Saturday (memory/2025-03-01.md:1-20)",
    "Lunch was late. [3 times] (memory/2025-03-01.md:4)",
    "Lunch was late. [replaces memory/2025-03-09.md:7] (memory/2025-03-01.md:4)",
    "我们去了北京。 (memory/2025-03-01.md:20)",
]


@pytest.mark.parametrize("line", TOLD)
def test_what_stands_in_the_lines_is_believed(line: str) -> None:
    assert weighed(f"- {line}").holds


@pytest.mark.parametrize("line", FALSE)
def test_what_does_not_is_not(line: str) -> None:
    assert weighed(f"- {line}").invented == (f"- {line}",)


def test_headings_and_lines_without_a_citation_are_no_way_in() -> None:
    told = "- Lunch was late. (memory/2025-03-01.md:4)"
    for line in ("Deploy on Friday.", "### Deploy on Friday", "> told"):
        assert weighed(f"{told}\n{line}").invented == (line,)
    assert weighed(f"### Release week\n{told}").holds


def test_a_program_may_word_what_is_no_rule_and_tells_every_rule() -> None:
    rule = "- We must never deploy on Friday. (memory/2025-03-01.md:3)\n"
    free = "- in short, the meal came late ({}:4)"
    assert weighed(rule + free.format(PATH), method="command").holds
    reworded = "- in short, no deploys at the end of a week (memory/2025-03-01.md:3)"
    for without in (free.format(PATH), reworded):
        assert not weighed(without, method="command").holds
    assert weighed(rule + free.format("memory/2025-03-02.md"), method="command").invented
    assert weighed(free.format(PATH), method="whatever").invented


def test_a_broken_seal_is_seen() -> None:
    found = weighed("- Lunch was late. (memory/2025-03-01.md:4)", seal=False)
    assert (found.is_sealed, found.holds) == (False, False)


def test_a_line_made_to_be_slow_comes_to_an_end() -> None:
    long = "a. " * 20_000
    assert weighed(f"- {long}b (memory/2025-03-01.md:4)").invented
    assert weighed(f"- {long * 9}b (memory/2025-03-01.md:4)").invented
