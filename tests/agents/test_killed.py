"""A run that is killed leaves whole files, and the next one goes on where it ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from memcli.workspace.atomic_write import BEGUN
from tests.agents.conftest import Site
from tests.agents.test_install import fill

KILLED = Path(__file__).with_name("killed.py")
INSTALL = "agents install claude-code --with mcp,hooks,skill,instructions --apply"
UNINSTALL = "agents uninstall claude-code --apply"
Tree = dict[str, tuple[int, bytes]]


def killed_before(number: int, site: Site, line: str) -> bool:
    """Tell whether it was killed, and had not ended before."""
    words = [sys.executable, str(KILLED), str(number), str(site.program), *line.split()]
    done = subprocess.run(words, cwd=site.project, capture_output=True, check=False)
    assert done.returncode in (0, -9), done.stderr
    return done.returncode == -9


def is_between(tree: Tree, before: Tree, after: Tree) -> bool:
    """Tell that each file is as it was, or as it is to be; those that are begun do not count."""
    whole = {path: told for path, told in tree.items() if BEGUN not in path}
    return all(told in (before.get(path), after.get(path)) for path, told in whole.items())


@pytest.mark.parametrize("moved", [False, True], ids=["new", "update"])
def test_an_installation_that_is_killed_goes_on(site: Site, *, moved: bool) -> None:
    fill(site)
    before = site.tree()
    if moved:  # what was written then has to be replaced
        assert site.type(f"{INSTALL} -w {site.project}").code == 0
    began = site.tree()
    assert site.type(INSTALL).code == 0
    after = site.tree()
    number = 0
    while True:
        assert site.type(UNINSTALL).code == 0
        assert site.tree() == before
        if moved:
            site.type(f"{INSTALL} -w {site.project}")
        if not killed_before(number, site, INSTALL):
            break
        assert is_between(site.tree(), began, after)
        if number % 2:  # either command goes on
            assert site.type(INSTALL).code == 0
            assert site.tree() == after
        number += 1
    assert number >= 5
    assert site.tree() == after


def test_an_end_that_is_killed_goes_on(site: Site) -> None:
    fill(site)
    before = site.tree()
    number = 0
    while True:
        assert site.type(INSTALL).code == 0
        after = site.tree()
        if not killed_before(number, site, UNINSTALL):
            break
        assert is_between(site.tree(), before, after)
        number += 1
        if number % 2:
            assert site.type(UNINSTALL).code == 0
            assert site.tree() == before
            assert not site.state.exists()
    assert number >= 5
    assert site.tree() == before
    assert list(site.state.parent.iterdir()) == []
