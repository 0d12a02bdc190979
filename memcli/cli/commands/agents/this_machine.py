"""The surroundings of `memcli agents`: the machine, the state file, the command of memcli."""

from __future__ import annotations

import os
import sys

from memcli.agents import state
from memcli.agents.places import Machine
from memcli.agents.table import BY_NAME, NAMES, Agent
from memcli.agents.texts import Launcher, quoted
from memcli.api.workspace import current_folder
from memcli.checking import TYPE_CHECKING
from memcli.cli.options import CommandArgument
from memcli.config.settings import user_file
from memcli.errors import UsageError
from memcli.workspace.locate import is_everything, is_repository, locate

if TYPE_CHECKING:
    from collections.abc import Sequence

MODULE = "__main__.py"  # run by `python -m memcli`


def this_machine() -> Machine:
    """Describe the machine, and the project of the current folder."""
    home = os.path.expanduser("~")
    return Machine(sys.platform, home, os.environ, _project(home))


def _project(home: str) -> str:
    """Find the repository around the current folder, else that folder; "" for all of home."""
    here = current_folder()
    if here is None:
        return ""
    folder = here = os.path.realpath(here)
    while not is_repository(folder):
        parent = os.path.dirname(folder)
        if parent == folder:
            folder = here
            break
        folder = parent
    return "" if is_everything(folder, home) else folder


def state_path() -> str:
    """Return the path of the record of installed parts."""
    return os.path.join(os.path.dirname(user_file(os.environ)), state.FILE)


def launcher(workspace: Sequence[str] | None = None) -> Launcher:
    """Return the command that starts this memcli from any folder, for one fixed workspace."""
    from shutil import which

    program = _whole(which(sys.argv[0]) or sys.argv[0])
    argv: tuple[str, ...] = (program,)
    if os.path.basename(program) == MODULE or not os.access(program, os.X_OK):
        argv = (sys.executable, "-m", "memcli")
    is_on_path = _whole(which("memcli") or "") == program
    folder = _workspace(workspace)
    for word in (*argv, folder):
        if not word.isprintable():
            raise UsageError(
                f"the path {word!r} has characters that settings cannot contain",
                hint="memcli agents",
            )
    return Launcher(argv, "memcli" if is_on_path else quoted(argv), folder)


def _whole(path: str) -> str:
    """Return an absolute path; "" if it is relative and the current folder was deleted."""
    here = "" if os.path.isabs(path) else current_folder()
    return "" if here is None else os.path.normpath(os.path.join(here, path))


def _workspace(folders: Sequence[str] | None) -> str:
    """Return the workspace of -w; "" for the workspace of each project."""
    if not folders:
        return ""
    if len(folders) > 1:
        raise UsageError(
            f"an agent gets one workspace, but -w names {len(folders)}", hint=f"-w {folders[0]}"
        )
    [folder] = folders
    if folder.startswith("@"):
        from memcli.config.workspaces import folder_of_name

        folder = folder_of_name(folder, os.environ)
    return locate(folder, None, current_folder()).root


AGENT = CommandArgument(
    "agent", "AGENT", "An agent, as memcli agents names it.", is_required=True, choices=NAMES
)


def named_agent(name: str, action: str) -> Agent:
    """Find an agent; UsageError for an unknown one."""
    if name not in BY_NAME:
        from difflib import get_close_matches

        near = get_close_matches(name.lower(), NAMES, n=1, cutoff=0.5)
        raise UsageError(
            f"there is no agent {name!r}; there are {', '.join(NAMES)}",
            hint=f"memcli agents {action} {near[0]}" if near else "memcli agents",
        )
    return BY_NAME[name]
