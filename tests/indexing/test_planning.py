"""Which documents settings concern, told from what an index remembers of them."""

from __future__ import annotations

import pytest

from memcli.indexing.planning import Settings, altered, settings_meta
from memcli.store.records import Facts
from memcli.types import Source
from tests.support import make_limits

MEMORY = Source("memory", "/w", ("**/*.md",))
DOCS = Source("docs", "/w/docs", ("**/*.md",), kinds=(("adr/**", "decision"),))


def settings(*sources: Source, tokens: int = 240) -> Settings:
    return Settings(sources, make_limits(tokens), 1 << 20, False, lambda: 0)


def facts(*sources: Source) -> Facts:
    told = settings_meta(settings(*sources))
    return Facts(chunking=told["chunking"], sources=told["sources"])


def test_only_what_is_said_of_a_source_concerns_its_documents() -> None:
    both = facts(MEMORY, DOCS)
    assert altered(settings(MEMORY, DOCS), both) == {}
    assert altered(settings(DOCS, MEMORY), both) == {}
    assert altered(settings(MEMORY), both) == {}
    assert altered(settings(MEMORY, DOCS), facts(MEMORY)) == {}
    moved = DOCS._replace(
        root="/elsewhere", include=("*.md",), exclude=("x.md",), is_automatic=True
    )
    assert altered(settings(MEMORY, moved), both) == {}
    rules = DOCS._replace(kind="rule")
    assert altered(settings(MEMORY, rules), both) == {"sources": {"docs"}}
    dated = DOCS._replace(date_keys=("created",))
    assert altered(settings(MEMORY, dated), both) == {"sources": {"docs"}}
    assert altered(settings(MEMORY, rules, tokens=100), both) == {
        "chunking": {"memory", "docs"}, "sources": {"docs"}
    }  # fmt: skip


@pytest.mark.parametrize("told", ["[('memory', None)]", "[1]", "3", "[" * 100_000])
def test_what_nobody_can_read_concerns_all(told: str) -> None:
    found = facts(MEMORY, DOCS)._replace(sources=told)
    assert altered(settings(MEMORY, DOCS), found) == {"sources": {"memory", "docs"}}
