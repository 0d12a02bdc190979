"""Every error that a user can meet names what to do next."""

from __future__ import annotations

import ast
from pathlib import Path

import memcli
from memcli import errors

PACKAGE = Path(memcli.__file__).parent
NAMES = {
    name for name, each in vars(errors).items()
    if isinstance(each, type) and issubclass(each, errors.MemcliError)
}  # fmt: skip


def _without_hint(code: str) -> list[int]:
    """Give the lines of the errors that are made without a next command."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in NAMES
        and not any(keyword.arg == "hint" for keyword in node.keywords)
    ]


def test_an_error_without_a_hint_is_seen() -> None:
    assert _without_hint("raise UsageError('no', hint='x')\nraise ConfigError('no')") == [2]


def test_every_error_has_a_hint() -> None:
    found = {
        f"{file.relative_to(PACKAGE)}:{line}"
        for file in PACKAGE.rglob("*.py")
        for line in _without_hint(file.read_text("utf-8"))
    }
    assert found == set()
