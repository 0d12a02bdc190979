"""The help topics; their texts lie in `help/` beside this module."""

from __future__ import annotations

import os

FOLDER = os.path.join(os.path.dirname(__file__), "help")
SETTINGS_MARK = "<!-- settings -->\n"
PRESETS_MARK = "<!-- presets -->\n"


def topics() -> list[str]:
    """List the topics."""
    return sorted(name[:-3] for name in os.listdir(FOLDER) if name.endswith(".md"))


def page(topic: str) -> str:
    """Give the text of a topic, with the tables of settings and presets filled in."""
    with open(os.path.join(FOLDER, f"{topic}.md"), encoding="utf-8") as file:
        text = file.read()
    if SETTINGS_MARK in text:
        from memcli.cli.settings_text import settings_list

        text = text.replace(SETTINGS_MARK, settings_list())
    if PRESETS_MARK in text:
        from memcli.workspace.presets import table

        text = text.replace(PRESETS_MARK, table())
    return text
