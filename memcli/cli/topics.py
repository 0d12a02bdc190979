"""The help topics; their texts lie in `help/` beside this module."""

from __future__ import annotations

import os

FOLDER = os.path.join(os.path.dirname(__file__), "help")
SETTINGS_MARK = "<!-- settings -->\n"
PRESETS_MARK = "<!-- presets -->\n"
AGENTS_MARK = "<!-- agents -->\n"
SKILL_MARK = "<!-- skill -->\n"
CODES_MARK = "<!-- codes -->\n"


def topics() -> list[str]:
    """List the topics."""
    return sorted(name[:-3] for name in os.listdir(FOLDER) if name.endswith(".md"))


def codes() -> list[str]:
    """List the codes of `memcli lint`, each of which has a page."""
    from memcli.lint.findings import CODES

    return list(CODES)


def page(topic: str) -> str:
    """Give the text of a topic or a code, with what other modules know filled in."""
    folder = FOLDER if topic in topics() else os.path.join(FOLDER, "codes")
    with open(os.path.join(folder, f"{topic}.md"), encoding="utf-8") as file:
        text = file.read()
    if CODES_MARK in text:
        from memcli.lint.findings import CODES

        told = "".join(f"  {code:<15}  {said}\n" for code, said in CODES.items())
        text = text.replace(CODES_MARK, told)
    if SETTINGS_MARK in text:
        from memcli.cli.settings_text import settings_list

        text = text.replace(SETTINGS_MARK, settings_list())
    if PRESETS_MARK in text:
        from memcli.workspace.presets import table

        text = text.replace(PRESETS_MARK, table())
    if AGENTS_MARK in text:
        from textwrap import indent

        from memcli.agents.table import table as table_of_agents
        from memcli.agents.texts import skill

        text = text.replace(AGENTS_MARK, table_of_agents())
        text = text.replace(SKILL_MARK, indent(skill("memcli", ""), "    "))
    return text
