"""What is marked in a passage as it is shown, and what says that a line goes on."""

from __future__ import annotations

import pytest

from memcli.search.snippet import make_snippet, marked
from tests.search.makers import candidate, fused


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("pools and pooling", ["pool"], ["pools", "pooling"]),
        ("db_pool_wait_ms", ["pool"], ["pool"]),
        ("whirlpool", ["pool"], []),
        ("ERR_POOL_EXHAUSTED", ["pool", "err_pool_exhausted"], ["ERR_POOL_EXHAUSTED"]),
        ("immigration, migration", ["mig"], ["mig"]),
        ("去东京塔", ["东京"], ["东京"]),
        ("a+b a.b", ["a.b"], ["a.b"]),
        ("the backup, backupless", ["backups"], ["backup"]),
        ("deploy, Deploys, deployment", ["deploying"], ["deploy", "Deploys"]),
        (
            "a run, a cache, the policy",
            ["running", "caches", "policies"],
            ["run", "cache", "policy"],
        ),
        ("a stat, a proces, str, th", ["status", "process", "string", "this"], []),
    ],
)
def test_what_is_marked(text: str, words: list[str], found: list[str]) -> None:
    snippet = marked(text, words)
    assert [snippet.text[start:end] for start, end in snippet.marks] == found


def test_an_ellipsis_stands_where_a_line_goes_on() -> None:
    (passage,) = fused(candidate(1, lines=("One. Two. Three.",)))
    (part,) = passage.candidate.segments
    pieces = [part._replace(start=start, end=end) for start, end in ((0, 4), (5, 9), (10, 16))]
    passage = passage._replace(candidate=passage.candidate._replace(segments=tuple(pieces)), last=2)
    assert make_snippet(passage, words=()).text == "One. Two. Three."
    assert make_snippet(passage._replace(last=1), words=()).text == "One. Two.…"
    assert make_snippet(passage._replace(first=1, last=1), words=()).text == "…Two.…"
    assert make_snippet(passage._replace(first=2), words=()).text == "…Three."
    for broken in ((True, False), (False, True)):  # the chunk itself is cut out of longer lines
        cut = passage._replace(broken=broken)
        assert (cut.continues_before, cut.continues_after) == broken
