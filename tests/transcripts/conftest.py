"""Run transcripts: `$ memcli …` lines with what they print, in a copy of the fixtures.

    # workspace engineer      which fixture the commands run in
    # repository shop         or a new repository of git of that name, with a new home folder ~
    $ memcli get x.md         run in-process; `$ edit FILE TEXT` appends a line to a file, in
                              which \\n ends a line and SLUG is the folder as Claude Code writes it
    > text                    stdout
    ! text                    stderr
    # exit 3                  the exit code, when it is not 0
    $ rm FOLDER               remove a folder
    $ hold / $ release        take the locks of another writer and watcher, and let them go
    $ COLUMNS=40 memcli …     on a terminal of that width, without colour

Scores are written as 0.###, folders as their names: a transcript holds what stays.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from memcli.cli.main import run
from memcli.store.lock import watching
from memcli.store.open import store_at
from tests.commands import Screen

NOW = "2026-02-20"
SCORE = re.compile(r"(?<= )\d\.\d{3}(?=  |$)", re.MULTILINE)
SIZE = re.compile(r"\d+\.\d MB")
WITH_CLOCK = ("search", "context", "status", "index", "get", "compact")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-transcripts", action="store_true", help="write what is printed")


class Player:
    """Plays one transcript and gives it back as it ran."""

    def __init__(self, workspaces: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.workspaces, self.base, self.folder = workspaces, folder, folder / "notes"
        self.monkeypatch = monkeypatch
        self.held = contextlib.ExitStack()
        monkeypatch.chdir(folder)
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")

    def play(self, script: str) -> str:
        played = []
        for line in script.splitlines():
            if line.startswith("# exit "):
                continue
            if line.startswith("#"):
                played.append(line)
                if line.startswith("# workspace "):
                    shutil.copytree(self.workspaces / line.split()[2], self.folder)
                    self.monkeypatch.chdir(self.folder)
                elif line.startswith("# repository "):
                    self._begin_repository(line.split()[2])
            elif line.startswith("$ "):
                played += [line, *self._run(shlex.split(line[2:]))]
        return "\n".join(played) + "\n"

    def _begin_repository(self, name: str) -> None:
        """Go into a new repository below a home folder that nobody has used."""
        base = self.base / name
        self.folder, home = base / "home" / "src" / name, base / "home"
        (self.folder / ".git").mkdir(parents=True)
        self.monkeypatch.chdir(self.folder)
        self.monkeypatch.setenv("HOME", str(home))
        self.monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))

    def _run(self, words: list[str]) -> list[str]:
        if words[0] == "edit":
            path = self.folder / Path(words[1].replace("SLUG", self._slug)).expanduser()
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write(words[2].replace("\\n", "\n").replace("NOTES", str(self.folder)) + "\n")
            return []
        if words[0] == "rm":
            shutil.rmtree(self.folder / words[1])
            return []
        if words[0] == "hold":
            path = next((self.folder.parent / "cache").rglob("index.sqlite"))
            store = store_at(str(path), lambda: 0)
            self.held.enter_context(store.locked(wait_seconds=0, sleep=lambda _: None))
            self.held.enter_context(watching(store.state_path, sleep=lambda _: None))
            return []
        if words[0] == "release":
            self.held.close()
            return []
        environ = [word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word)]
        arguments = words[words.index("memcli") + 1 :]
        if arguments and arguments[0] in WITH_CLOCK:
            arguments[1:1] = ["--now", NOW]
        width = dict(environ).get("COLUMNS")
        environ += [["NO_COLOR", "1"]] if width else []
        out, err = Screen() if width else io.StringIO(), io.StringIO()
        with self.monkeypatch.context() as patch:
            patch.setattr(sys, "argv", [str(self.base / "absent")])  # not what runs the tests
            for name, value in environ:
                patch.setenv(name, value)
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = run(arguments)
        lines = [f"> {line}" for line in self._scrubbed(out.getvalue()).splitlines()]
        lines += [f"! {line}" for line in self._scrubbed(err.getvalue()).splitlines()]
        return [*(line.rstrip() for line in lines), *([f"# exit {code}"] if code else [])]

    @property
    def _slug(self) -> str:
        return re.sub("[^A-Za-z0-9]", "-", str(self.folder.resolve()))

    def _scrubbed(self, text: str) -> str:
        text = text.replace(self._slug, "SLUG").replace(sys.executable, "PYTHON")
        text = text.replace(str(self.folder.resolve()), "NOTES")
        text = re.sub(r"\bpid \d+(, since [\d: -]+)?", "pid #", text)
        text = re.sub(re.escape(str(self.base)) + r"/cache/memcli/\w+", "CACHE", text)
        text = re.sub(re.escape(str(self.base)) + r"/\w[\w-]*/home\b", "HOME", text)
        text = re.sub(r"Took \d.*", "Took # s", text)
        text = text.replace(str(self.base), "TEMP")
        return SCORE.sub("0.###", SIZE.sub("#.# MB", text))


@pytest.fixture
def player(workspaces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Player:
    return Player(workspaces, tmp_path, monkeypatch)
