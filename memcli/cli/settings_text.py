"""Settings as text: their defaults, what they take, and the list of the help topic."""

from __future__ import annotations

import json
import textwrap

from memcli.config.settings import KEYS, Key


def shown_default(key: Key) -> str:
    """Write a default as TOML has it, such as true or 30.0."""
    return json.dumps(key.default)


def allowed(key: Key) -> str:
    """Name the values a setting takes: "1 to 100"."""
    if key.choices:
        return ", ".join(key.choices) + (f", or {key.besides}" if key.besides else "")
    if key.low is None:
        return {bool: "true, false", list: "list of texts"}.get(key.type, "text")
    return f"{key.low:g} or more" if key.high is None else f"{key.low:g} to {key.high:g}"


def settings_list() -> str:
    """Describe every setting for the help topic."""
    entries = []
    for key in KEYS:
        about = f"{key.help} {allowed(key)}; default {shown_default(key)}."
        body = textwrap.fill(
            about, 78, initial_indent="      ", subsequent_indent="      ",
            break_on_hyphens=False,
        )  # fmt: skip
        entries.append(f"  {key.name}  {key.variable}\n{body}\n")
    return "".join(entries)
