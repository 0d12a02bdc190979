"""Passages as Markdown: a citation and a fenced block that the text cannot close."""

from __future__ import annotations

import re

from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from memcli.search.hits import Hit
    from memcli.search.snippet import Snippet

_BACKTICKS = re.compile(r"`+")


def passage(hit: Hit, snippet: Snippet, where: str) -> str:
    """Show one passage below its citation; the fence is longer than any run of backticks inside."""
    candidate = hit.candidate
    fence = fence_for(snippet.text)
    heading = " > ".join(candidate.about.heading_path)
    from memcli.search.hits import mark_of

    mark = mark_of(hit.corrected_by)
    about = ", ".join(filter(None, (heading, candidate.about.days, candidate.about.trust, mark)))
    title = " ".join(f"{where} ({about})".split())
    return f"**{title}**\n\n{fence}text\n{snippet.text}\n{fence}\n\n"


def fence_for(text: str) -> str:
    """Give a fence that the text cannot close: longer than any run of backticks inside."""
    return "`" * max(3, longest_run(text) + 1)


def longest_run(text: str) -> int:
    """Count the backticks of the longest run of them in a text."""
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0) if "`" in text else 0
