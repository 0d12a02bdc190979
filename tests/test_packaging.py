"""What is installed: one version, the data files, the entry point, nothing of the tests."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import memcli

ROOT = Path(__file__).parents[1]
PACKAGE = Path(memcli.__file__).parent


def _project() -> dict[str, object]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    assert isinstance(project, dict)
    return project


def test_the_version_stands_in_one_place_more_and_agrees() -> None:
    assert _project()["version"] == memcli.__version__


def test_the_entry_point_is_main() -> None:
    assert _project()["scripts"] == {"memcli": "memcli.cli.main:main"}


def test_the_package_holds_what_it_reads() -> None:
    for name in ("py.typed", "LICENSE", "schemas", "cli/help", "embedding/data/vocab.txt"):
        assert (PACKAGE / name).exists()


def test_no_machine_paths_in_the_package_and_its_documents() -> None:
    files = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.md"), ROOT / "README.md"]
    for file in files:
        text = file.read_text("utf-8")
        assert not re.search(r"(?<![\w.~])/(home|root|tmp|work|Users)/", text), file
