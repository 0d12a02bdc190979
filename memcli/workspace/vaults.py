"""Read the settings of Obsidian and Logseq: the folder of templates and the daily notes."""

from __future__ import annotations

import json
import os
import re
from datetime import date

OBSIDIAN, LOGSEQ = ".obsidian", "logseq"
TEMPLATES = "Templates"  # unless set otherwise
MOST_BYTES = 65_536
_OF_LOGSEQ = (("yyyy", "YYYY"), ("dd", "DD"), ("EEEE", "dddd"), ("do", "Do"))  # as Moment.js
# A word in brackets, or a unit: the part of the Moment.js format that Obsidian uses.
_TOKENS = r"\[(?P<text>[^\]]*)\]|YYYY|YY|MMMM|MMM|MM|M|DDDD|DDD|DD|Do|D|dddd|ddd|GGGG|WW|W|ww|w|Q"


def templates(root: str) -> tuple[str, ...]:
    """Return the folders of a vault that contain templates, as patterns to leave out."""
    core = _json(root, "templates.json").get("folder")
    plugin = _json(root, "plugins/templater-obsidian/data.json").get("templates_folder")
    named = [each.strip("/") for each in (core, plugin) if isinstance(each, str)]
    folders = dict.fromkeys([*filter(None, named), TEMPLATES])
    return tuple(f"/{folder}/" for folder in folders if not set(folder) & set("*?[]\\"))


def daily_note(root: str, day: date) -> str | None:
    """Return the file of a vault's daily note; None if it is unknown."""
    if os.path.isfile(os.path.join(root, OBSIDIAN, "daily-notes.json")):
        settings = _json(root, "daily-notes.json")
        folder, form = settings.get("folder", ""), settings.get("format", "")
        return _path(folder, written(str(form or "YYYY-MM-DD"), day))
    if os.path.isfile(os.path.join(root, LOGSEQ, "config.edn")):
        config = re.sub(r"(?m)^\s*;.*$", "", _text(os.path.join(root, LOGSEQ, "config.edn")))
        folder = _edn(config, "journals-directory") or "journals"
        form = _edn(config, "journal/file-name-format") or "yyyy_MM_dd"
        for theirs, moments in _OF_LOGSEQ:
            form = form.replace(theirs, moments)
        return _path(folder, written(form, day))
    return None


def written(form: str, day: date) -> str:
    """Write a day in a format of Moment.js. Example: `YYYY/MM-MMMM/Do` -> `2025/03-March/4th`."""
    number, (year, week, _) = day.day, day.isocalendar()
    ending = "th" if 11 <= number <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    units = {
        "YYYY": f"{day.year:04}", "YY": f"{day:%y}", "MMMM": f"{day:%B}", "MMM": f"{day:%b}",
        "MM": f"{day:%m}", "M": f"{day.month}", "DDDD": f"{day:%j}", "DDD": f"{int(f'{day:%j}')}",
        "DD": f"{day:%d}", "Do": f"{number}{ending}", "D": f"{number}", "dddd": f"{day:%A}",
        "ddd": f"{day:%a}", "GGGG": f"{year:04}", "WW": f"{week:02}", "W": f"{week}",
        "ww": f"{week:02}", "w": f"{week}", "Q": f"{(day.month + 2) // 3}",
    }  # fmt: skip
    return re.sub(_TOKENS, lambda unit: units.get(unit[0], unit["text"] or ""), form)


def _path(folder: object, name: str) -> str | None:
    """Join folder and name; None if the path leads out of the vault."""
    path = f"{folder.strip('/')}/{name}" if isinstance(folder, str) and folder.strip("/") else name
    is_inside = path.isprintable() and not {"", ".", ".."}.intersection(path.split("/"))
    return f"{path}.md" if is_inside else None


def _edn(config: str, key: str) -> str:
    match = re.search(rf':{key}\s+"([^"\n]{{1,200}})"', config)
    return match[1] if match else ""


def _json(root: str, name: str) -> dict[str, object]:
    try:
        value = json.loads(_text(os.path.join(root, OBSIDIAN, name)))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(MOST_BYTES)
    except (OSError, ValueError):
        return ""
