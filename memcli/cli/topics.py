"""The help pages: Markdown files in `help/`, one for each topic and each code of lint."""

from __future__ import annotations

import os

FOLDER = os.path.join(os.path.dirname(__file__), "help")


def topics() -> list[str]:
    """List the topics."""
    return sorted(name[:-3] for name in os.listdir(FOLDER) if name.endswith(".md"))


def codes() -> list[str]:
    """List the codes of `memcli lint`, each of which has a page."""
    from memcli.lint.findings import CODES

    return list(CODES)


def page(topic: str) -> str:
    """Read the page of a topic or a code."""
    folder = FOLDER if topic in topics() else os.path.join(FOLDER, "codes")
    with open(os.path.join(folder, f"{topic}.md"), encoding="utf-8") as file:
        return file.read()
