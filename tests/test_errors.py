"""Every error that a user can meet names what to do next."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

import memcli
from memcli import errors
from memcli.errors import install_extra

PACKAGE = Path(memcli.__file__).parent
NAMES = {
    name for name, each in vars(errors).items()
    if isinstance(each, type) and issubclass(each, errors.MemcliError)
}  # fmt: skip


@cache
def _nodes(file: Path) -> list[ast.AST]:
    return [*ast.walk(ast.parse(file.read_text("utf-8")))]


def _without_hint(nodes: Iterable[ast.AST]) -> list[int]:
    """Give the lines of the errors that are made without a next command."""
    return [
        node.lineno
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in NAMES
        and not any(keyword.arg == "hint" for keyword in node.keywords)
    ]


def test_an_error_without_a_hint_is_seen() -> None:
    code = "raise UsageError('no', hint='x')\nraise ConfigError('no')"
    assert _without_hint(ast.walk(ast.parse(code))) == [2]


def test_every_error_has_a_hint() -> None:
    found = {
        f"{file.relative_to(PACKAGE)}:{line}"
        for file in PACKAGE.rglob("*.py")
        for line in _without_hint(_nodes(file))
    }
    assert found == set()


MAIN = PACKAGE / "cli" / "main.py"


def _codes() -> set[str]:
    """Give the codes of all classes of errors and of all reports."""
    found = set()
    for file in PACKAGE.rglob("*.py"):
        for node in _nodes(file):
            if isinstance(node, ast.ClassDef):
                made = [each for each in node.body if isinstance(each, ast.Assign)]
                values = [each.value for each in made if ast.unparse(each.targets[0]) == "code"]
            elif isinstance(node, ast.Call) and file == MAIN:  # it makes a Reason for each report
                values = node.args[:1] if ast.unparse(node.func) == "Reason" else []
            else:
                continue
            found |= {value.value for value in values if isinstance(value, ast.Constant)}
    return {code for code in found if isinstance(code, str)}


def test_every_code_stands_in_the_schema_and_the_reverse() -> None:
    schema = json.loads((PACKAGE / "schemas" / "memcli.error.1.json").read_text())
    assert set(schema["properties"]["code"]["enum"]) == _codes() - {errors.MemcliError.code}


def test_an_extra_is_installed_as_memcli_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "pip install" in install_extra("mcp")
    prefix = tmp_path / "venvs" / "memcli"
    prefix.mkdir(parents=True)
    (prefix / "pipx_metadata.json").write_text("{}")
    monkeypatch.setattr(sys, "prefix", str(prefix))
    assert install_extra("mcp").startswith("pipx inject memcli ")
