"""Passages as Markdown: a citation and a fenced block that the text cannot close."""

from __future__ import annotations

import re

from memcli.search.hits import Hit
from memcli.search.snippet import Snippet

_BACKTICKS = re.compile(r"`+")


def passage(hit: Hit, snippet: Snippet) -> str:
    """Show one passage; the fence is longer than any run of backticks inside."""
    candidate = hit.candidate
    longest = max((len(run) for run in _BACKTICKS.findall(snippet.text)), default=0)
    fence = "`" * max(3, longest + 1)
    heading = " > ".join(candidate.heading_path)
    about = ", ".join(filter(None, (heading, candidate.date, candidate.trust)))
    title = " ".join(f"{hit.citation} ({about})".split())
    return f"**{title}**\n\n{fence}text\n{snippet.text}\n{fence}\n\n"
