"""Run command lines of memcli in this process, and read what they print."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from jsonschema import Draft202012Validator

import memcli
from memcli.cli.main import run
from tests.support import strict, write_files

SCHEMAS = Path(memcli.__file__).parent / "schemas"


class Screen(io.StringIO):
    """What a terminal is sent."""

    def isatty(self) -> bool:
        return True


class Said(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


def say(*arguments: str, folder: Path | None = None) -> Said:
    """Run a command line, in a folder if one is named."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder) if folder else contextlib.nullcontext(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run(arguments)
    return Said(code, out.getvalue(), err.getvalue())


def run_here(
    *arguments: str, cwd: str | Path | None = None, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run a command line as `tests.cli.processes.run` does, but in this process."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environ.items():
            patch.setenv(name, value)
        said = say(*arguments, folder=Path(cwd) if cwd else None)
    return subprocess.CompletedProcess(arguments, said.code, said.out, said.err)


def indexed(base: Path, files: Mapping[str, str | bytes], **environ: str) -> Path:
    """Write notes below `base/notes` and index them; return the base.

    A test of the same notes sets MEMCLI_STORE to `base/index.sqlite`, or copies the base first.
    """
    write_files(base / "notes", files)
    store = str(base / "index.sqlite")
    done = run_here("index", "-q", "-w", str(base / "notes"), MEMCLI_STORE=store, **environ)
    assert done.returncode == 0, done.stderr
    return base


class NewWorkspace(NamedTuple):
    """Makes a workspace in which the commands of a test run; the fixture `workspace`."""

    base: Path
    patch: pytest.MonkeyPatch

    def __call__(
        self,
        files: Mapping[str, str | bytes] | Path,
        *,
        name: str = "notes",
        index: bool = False,
        encoder: str = "none",
    ) -> Path:
        """Write files, or copy a folder of them; index them if a test asks for it."""
        root = self.base / name
        root.mkdir()
        if isinstance(files, Path):
            shutil.copytree(files, root, dirs_exist_ok=True)
        else:
            write_files(root, files)
        self.patch.setenv("MEMCLI_EMBEDDING_ENCODER", encoder)
        self.patch.chdir(root)
        if index:
            printed("index", "-q")
        return root


def typed(line: str) -> Said:
    """Run a command line that is written as one text."""
    return say(*shlex.split(line))


def printed(*arguments: str, code: int = 0) -> tuple[str, str]:
    """Run a command line that ends with this exit code, and return what it printed."""
    said = say(*arguments)
    assert said.code == code, said.err
    return said.out, said.err


def record(*arguments: str, code: int = 0) -> Any:
    """Run a command line with --json, and return its record."""
    return json.loads(printed(*arguments, "--json", code=code)[0])


@cache
def _validator(schema: str) -> Draft202012Validator:
    known = json.loads((SCHEMAS / f"{schema}.1.json").read_text("utf-8"))
    return Draft202012Validator(strict(known))


def valid(found: Any, schema: str) -> dict[str, Any]:
    """Return a record that its schema allows and describes completely."""
    _validator(schema).validate(found)
    assert isinstance(found, dict)
    return found


def checked(schema: str, text: str) -> dict[str, Any]:
    """Return the record of a JSON text, which is valid."""
    return valid(json.loads(text), schema)
