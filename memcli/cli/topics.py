"""The help pages: Markdown files in `help/`, one for each topic and each code of lint."""

from __future__ import annotations

import os

FOLDER = os.path.join(os.path.dirname(__file__), "help")


def topics() -> list[str]:
    """List the topics."""
    return sorted(name[:-3] for name in os.listdir(FOLDER) if name.endswith(".md"))


def topic_list() -> str:
    """List the topics for `memcli help`."""
    names = topics()
    wide = max(map(len, names)) + 2
    rows = (names[at : at + 5] for at in range(0, len(names), 5))
    lines = ("".join(f"{name:<{wide}}" for name in row).rstrip() for row in rows)
    table = "\n".join(f"  {line}" for line in lines)
    return f"Topics:\n{table}\n\nmemcli help TOPIC explains a topic, a command or a code of lint.\n"


def codes() -> list[str]:
    """List the codes of `memcli lint`, each of which has a page."""
    from memcli.lint.findings import CODES

    return list(CODES)


def page(topic: str) -> str:
    """Read the page of a topic or a code."""
    folder = FOLDER if topic in topics() else os.path.join(FOLDER, "codes")
    with open(os.path.join(folder, f"{topic}.md"), encoding="utf-8") as file:
        return file.read()
