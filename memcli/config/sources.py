"""Check the [[source]] blocks of the configuration and make a source of each."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from memcli.checking import Any
from memcli.config.keys import suggestion
from memcli.errors import ConfigError
from memcli.types import DATE_KEYS, OWN_KINDS, SCOPES, SOURCE_KINDS, TRUSTS, Source
from memcli.workspace.locate import named

BUILT_IN_KINDS = (
    ("**/DECISIONS/**", "decision"),
    ("**/ROADMAP*.md", "roadmap"),
    ("**/*SPEC*.md", "spec"),
    ("**/*PRD*.md", "spec"),
    ("**/TECH_NOTES/**", "note"),
)
HINT = "memcli help settings"  # a broken configuration does not stop this command
MOST_SOURCES = 100  # per file; each source is listed at every search
MOST_SHOWN = 80  # characters of a name or a value in a message
# In the ref of a record, a colon follows the name.
_NAME = r"[\w.-]{1,64}"


def shortened(text: str) -> str:
    """Shorten a text for a message: anybody may have written it, at any length."""
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"


def quoted(value: object) -> str:
    """Quote a value for a message; a long one is cut."""
    return shortened(repr(value))


def check_blocks(table: Mapping[str, Any], path: str) -> list[Mapping[str, Any]]:
    """Return the [[source]] blocks of a configuration file, each key of the right type."""
    blocks = table.get("source", [])
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise ConfigError(f"{path}: write each source as a [[source]] block", hint=HINT)
    if len(blocks) > MOST_SOURCES:
        raise ConfigError(f"{path} has more than {MOST_SOURCES} sources", hint=HINT)
    for block in blocks:
        for name in () if "agent_memory" in block else ("name", "path"):
            if not isinstance(block.get(name), str) or not block[name]:
                raise ConfigError(f"{path}: every [[source]] needs a {name}", hint=HINT)
        for name, value in block.items():
            if name not in _EXPECTED:
                near = suggestion(name, tuple(_EXPECTED))
                raise ConfigError(
                    f"{path}: unknown key {shortened(name)} in [[source]]{near}", hint=HINT
                )
            expected, is_right = _EXPECTED[name]
            if not is_right(value):
                label = shortened(str(block.get("name") or block.get("agent_memory")))
                raise ConfigError(
                    f"{path}: {name} of the source {label} must be {expected}, not {quoted(value)}",
                    hint=HINT,
                )
    return blocks


def source_of(workspace: str, block: Mapping[str, Any], *, is_user: bool) -> Source:
    """Make the source of a block; a workspace's own file can name only folders inside it."""
    root = os.path.realpath(os.path.join(workspace, os.path.expanduser(block["path"])))
    inside = root == workspace or root.startswith(os.path.join(workspace, ""))
    if not inside and not is_user:
        raise ConfigError(
            f"source {block['name']}: {shortened(block['path'])} is outside the workspace",
            hint="name it in your own configuration file instead",
        )
    source_kind = block.get("source_kind", "operator")
    is_own = source_kind in OWN_KINDS
    if not is_own and not is_user and block.get("trust") == "trusted":
        raise ConfigError(
            f"source {block['name']}: a workspace's file cannot trust what comes from"
            f" the {source_kind}",
            hint="trust it in your own configuration file instead",
        )
    # With `true`, the marks apply to all documents, and globs are not needed.
    marks = (block.get("always"), block.get("soft"))
    marked = [glob for globs in marks if isinstance(globs, list) for glob in named(globs)]
    return Source(
        name=block["name"],
        root=root,
        include=(*block.get("include", ["**/*.md"]), *marked),
        exclude=tuple(block.get("exclude", [])),
        kind=block.get("kind"),
        kinds=(*block.get("kinds", {}).items(), *BUILT_IN_KINDS),
        scope=block.get("scope", "global"),
        source_kind=source_kind,
        trust=block.get("trust", "trusted" if is_own else "untrusted"),
        authority=block.get("authority"),
        always=_globs(block.get("always", False)),
        soft=_globs(block.get("soft", False)),
        evergreen=tuple(block.get("evergreen", [])),
        date_keys=tuple(block.get("date_keys", DATE_KEYS)),
    )


def _globs(value: bool | list[str]) -> tuple[str, ...]:
    """Return the globs of a mark: true means all documents, false none."""
    return (("**",) if value else ()) if isinstance(value, bool) else tuple(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != "" and "\0" not in value


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _one_of(*choices: str) -> tuple[str, Callable[[object], bool]]:
    return f"one of {', '.join(choices)}", lambda value: value in choices


_ALL_OR_GLOBS: tuple[str, Callable[[object], bool]] = (
    "true or false, or a list of globs",
    lambda value: isinstance(value, bool) or _is_texts(value),
)
_EXPECTED: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "name": (
        "letters, digits, dots, dashes and underscores",
        lambda value: re.fullmatch(_NAME, value) is not None,
    ),
    "path": ("a folder", _is_text),
    "agent_memory": ("the name of an agent memory", _is_text),
    "include": ("a list of globs", lambda value: _is_texts(value) and bool(value)),
    "exclude": ("a list of globs", _is_texts),
    "kind": ("a text", _is_text),
    "kinds": (
        "a table of globs and kinds",
        lambda value: isinstance(value, dict) and _is_texts([*value, *value.values()]),
    ),
    "scope": _one_of(*SCOPES),
    "source_kind": _one_of(*SOURCE_KINDS),
    "trust": _one_of(*TRUSTS),
    "authority": (
        "a number between 0 and 1",
        lambda value: type(value) in (int, float) and 0 <= value <= 1,
    ),
    "always": _ALL_OR_GLOBS,
    "soft": _ALL_OR_GLOBS,
    "evergreen": ("a list of globs", _is_texts),
    "date_keys": ("a list of keys of front matter", _is_texts),
}
