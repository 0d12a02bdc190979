"""Write a configuration file that contains only comments, and change one setting of a file."""

from __future__ import annotations

import json
import os
import re
import stat
import textwrap
from itertools import groupby

from memcli.checking import TYPE_CHECKING
from memcli.config.settings import KEYS, Key
from memcli.errors import UsageError
from memcli.workspace import atomic_write

if TYPE_CHECKING:
    from typing import Any

_HEAD = """\
# {what}
# Remove the # in front of a setting to change its default. Options and MEMCLI_* variables override
# this file. memcli config shows every value and where it comes from.
"""
_SOURCE = """
# One more folder, next to the memory itself:
# [[source]]
# name = "handbook"
# path = "docs"
# trust = "trusted"          # or "untrusted", for text that others wrote
"""
_WORKSPACE = "Settings of memcli for this workspace."
_USER = "Your own settings of memcli. The memcli.toml of a workspace overrides them."


def commented(*, user: bool) -> str:
    """Return every setting with its meaning and its default, as a comment.

    A workspace's file leaves out the settings that only the user's file may have.
    """
    keys = [key for key in KEYS if user or not key.user_only]
    sections = groupby(keys, key=lambda key: key.name.partition(".")[0])
    text = _HEAD.format(what=_USER if user else _WORKSPACE)
    for section, each in sections:
        found = list(each)
        # A key without a table must come before all tables.
        head = "\n" if found[0].name == section else f"\n[{section}]\n"
        text += head + "".join(map(_setting, found))
    return text + _SOURCE


def _setting(key: Key) -> str:
    about = textwrap.fill(
        f"{key.help} Values: {allowed(key)}.", 98, initial_indent="# ", subsequent_indent="# ",
        break_on_hyphens=False,
    )  # fmt: skip
    return f"{about}\n# {key.name.rpartition('.')[2]} = {shown_default(key)}\n"


def write_new(path: str, *, user: bool) -> None:
    """Write the file; one that exists is never touched."""
    try:
        atomic_write.write_new(path, commented(user=user))
    except FileExistsError:
        raise UsageError(
            f"{path} already exists and was not changed", hint="memcli config"
        ) from None
    except OSError as error:
        raise _unwritten(path, error) from None


def change(path: str, key: Key, value: Any) -> None:  # noqa: ANN401
    """Set one setting in a file, creating it if needed; its other lines stay."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
    except FileNotFoundError:
        text, mode = "", 0o644
    except OSError as error:
        raise _unwritten(path, error) from None
    changed = with_setting(text, key.name, value)
    if changed is None:
        raise UsageError(f"the layout of {path} is too unusual to edit", hint=f"edit {path}")
    try:
        atomic_write.write_whole(path, changed, mode=mode)
    except OSError as error:
        raise _unwritten(path, error) from None


def with_setting(text: str, setting: str, value: Any) -> str | None:  # noqa: ANN401
    """Return a TOML text with one setting changed, or None if its layout does not allow that.

    The text is parsed before and after: nothing except the setting may differ.
    """
    import tomllib

    table, _, name = setting.rpartition(".")
    expected = tomllib.loads(text)
    try:
        (expected.setdefault(table, {}) if table else expected)[name] = value
        changed = _edited(text, table, name, value)
        return changed if tomllib.loads(changed) == expected else None
    except (TypeError, ValueError):  # not a table, or cut in the middle of a value
        return None


def _edited(text: str, table: str, name: str, value: Any) -> str:  # noqa: ANN401
    end = "\r\n" if "\r\n" in text else "\n"
    line = _line(name, value) + end
    lines = text.splitlines(keepends=True)
    heads = [at for at, each in enumerate(lines) if each.lstrip().startswith("[")]
    head = -1
    if table:
        named = re.compile(rf"\s*\[\s*{table}\s*\]\s*(#.*)?")
        head = next((at for at in heads if named.fullmatch(lines[at].rstrip())), len(lines))
    if head == len(lines):
        gap = "" if not text else end if text.endswith("\n") else end * 2
        return f"{text}{gap}[{table}]{end}{line}"
    last = next((at for at in heads if at > head), len(lines))
    setting = re.compile(rf"\s*{name}\s*=")
    for at in range(head + 1, last):
        if setting.match(lines[at]):
            lines[at] = line.rstrip() + _remark(lines[at]) + end
            return "".join(lines)
    comment = re.compile(rf"#\s*{name}\s*=")
    after = next((at for at in range(head + 1, last) if comment.match(lines[at])), head)
    if after >= 0 and not lines[after].endswith("\n"):
        lines[after] += end
    lines.insert(after + 1, line)
    return "".join(lines)


def _remark(line: str) -> str:
    """Return the comment at the end of a line of TOML, with the space before it."""
    import tomllib

    for found in re.finditer(r"\s*#", line):
        try:
            tomllib.loads(line[: found.start()])
        except ValueError:  # within a string
            continue
        return line[found.start() :].rstrip()
    return ""


def _line(name: str, value: Any) -> str:  # noqa: ANN401
    return f"{name} = {json.dumps(value, ensure_ascii=False)}"


def _unwritten(path: str, error: OSError) -> UsageError:
    return UsageError(f"{path} cannot be written: {error.strerror}", hint="memcli config")


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
