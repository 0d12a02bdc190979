"""Settings as text: their defaults, and the values they take."""

from __future__ import annotations

import json

from memcli.config.settings import Key


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
