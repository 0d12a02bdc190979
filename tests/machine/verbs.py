"""The commands that write, each with a place to write in and what may come of it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from memcli.cli.main import REFUSED
from memcli.workspace.atomic_write import BEGUN
from tests.commands import Said, say
from tests.support import write

NOW = "2026-02-10T09:00:00+00:00"
WORDS = ("", "amber", "birch", "cedar", "delta")
NOTE = "The pool of api-7 holds 60 connections"
SET = "config set search.limit 5"
COMPACT = "compact --apply --tail 0 --tail-days 0 --cluster 2 --ratio 0.9"
AGENTS = "claude-code --with mcp,hooks,skill,instructions"


class Place:
    """A home folder with a workspace in it, below one root."""

    def __init__(self, root: Path) -> None:
        """Take an empty folder."""
        self.root, self.home = root, root / "home"
        self.notes, self.side = root / "home" / "notes", root / "side"
        for folder in (self.notes, self.side, self.home / "config", root / "bin"):
            folder.mkdir(parents=True)
        program = root / "bin" / "memcli"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        (self.notes / "memcli.toml").write_text("")

    @property
    def environ(self) -> Mapping[str, str]:
        """Give the variables of the place."""
        return {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "MEMCLI_EMBEDDING_ENCODER": "hashing",
            "PATH": str(self.root / "bin"),
        }

    def run(self, line: str) -> Said:
        """Run a command line there; an exception that escapes is for the caller."""
        words = shlex.split(line)
        now = () if "--now" in words or words[0] == "help" else ("--now", NOW)
        with self.entered():
            return say(*words, *now)

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Be in the workspace with the variables of the place."""
        before, folder = dict(os.environ), Path.cwd()
        os.environ.update(self.environ)
        os.chdir(self.notes)
        try:
            yield
        finally:
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(before)

    def tree(self) -> dict[str, bytes]:
        """Give every file but those of the index, and every folder that is empty."""
        found: dict[str, bytes] = {}
        for folder, folders, files in os.walk(self.root):
            name = os.path.relpath(folder, self.root)
            links = [each for each in folders if (Path(folder) / each).is_symlink()]
            for each in (*files, *links):
                if not is_index(each):
                    found[f"{name}/{each}"] = _bytes(Path(folder) / each)
            if not files and not folders:
                found[f"{name}/"] = b""
        return found


def is_index(name: str) -> bool:
    """Tell a file of the index, for which others answer."""
    return name.startswith("index.sqlite") and not name.endswith((".access", ".bench"))


def _bytes(path: Path) -> bytes:
    return f"-> {path.readlink()}".encode() if path.is_symlink() else path.read_bytes()


Act = Callable[[Place], Said]


class Verb(NamedTuple):
    """A command, the place it needs, and what it may leave."""

    name: str
    prepare: Callable[[Place], None]
    act: Act
    again: tuple[int, ...] = (0,)  # exit codes of the next run, which finds some of it done
    swapped: str = "home/notes/memory"
    # Parts of the paths that are caches: without them nothing is lost, and nothing need be said.
    spare: tuple[str, ...] = ("home/cache/",)
    outlasts_swaps: bool = True  # else what it knows of the folder goes with it
    # Where what is left need not be the same, whether it is sound.
    check: Callable[[Place], bool] | None = None
    tidy: Act | None = None  # what writes there next, where `act` itself has nothing more to write
    grows: str = ""  # in the names of what each run adds to
    may_be_silent: bool = False  # with no answer at all
    settle: Callable[[str, bytes], bytes] = lambda path, data: data  # without times and numbers


def line(text: str) -> Act:
    """Make the act of a command line."""
    return lambda place: place.run(text)


def notes(place: Place) -> None:
    """Write some days of notes, and index them."""
    for day in range(1, 5):
        text = f"# Day {day}\n\n" + "".join(
            f"- The {WORDS[day]} team looked at case {n} of the pool, slowly.\n" for n in range(9)
        )
        write(place.notes, f"memory/2026-02-0{day}.md", text)
    write(place.notes, "MEMORY.md", "# Rules\n\nKeep the pool full.\n")
    assert place.run("index -q").code == 0


def after(*lines: str) -> Callable[[Place], None]:
    """Make notes and run some lines on them."""

    def prepare(place: Place) -> None:
        notes(place)
        for each in lines:
            outcome = place.run(each)
            assert outcome.code == 0, outcome
        for folder in place.root.rglob("__pycache__"):
            shutil.rmtree(folder)

    return prepare


def _below_a_line(place: Place) -> None:
    """Remember a note in a file that has a line, which no second --undo takes back."""
    notes(place)
    write(place.notes, "memory/2026-02-10.md", "# 2026-02-10\n\nA line of its owner.\n")
    outcome = place.run(f"remember '{NOTE}'")
    assert outcome.code == 0, outcome


def changed(place: Place) -> None:
    """Make notes of which one is new and one has changed."""
    notes(place)
    write(place.notes, "memory/2026-02-05.md", "# Day 5\n\nA heron at the pool.\n")
    write(place.notes, "memory/2026-02-04.md", "# Day 4\n\nThe pool is full.\n")
    (place.notes / "memcli.toml").write_text("[search]\nlimit = 2\n")


def _half_built(place: Place) -> None:
    """Leave beside the index what a killed run had begun to build."""
    changed(place)
    (index,) = place.home.rglob("index.sqlite")
    shutil.copyfile(index, f"{index}.next")


def _agents(*lines: str) -> Callable[[Place], None]:
    def prepare(place: Place) -> None:
        (place.home / ".claude").mkdir()
        (place.home / ".claude.json").write_text('{"mcpServers": {"other": {"command": "x"}}}\n')
        (place.home / ".claude" / "settings.json").write_text('{"model": "opus"}\n')
        (place.home / ".claude" / "CLAUDE.md").write_text("Be brief.\n")
        after(*lines)(place)

    return prepare


def _first(place: Place) -> None:
    assert place.run("index -q").code == 0


def _unmarked(place: Place) -> None:
    (place.notes / "memcli.toml").unlink()
    write(place.notes, "a.md", "# A\n\nText.\n")


def _counted(place: Place) -> None:
    folder = place.home / "config" / "memcli"
    folder.mkdir()
    (folder / "config.toml").write_text("[access]\ncount = true\n")
    notes(place)


def _asked(place: Place, *lines: str) -> None:
    (place.notes / "memcli.toml").write_text("")
    for number in range(12):
        write(
            place.notes, f"memory/word-{number}.md", f"# Note\n\nThe word{number} is by a gate.\n"
        )
    records = [
        {"query": f"which word{n} is it", "relevant": f"memory/word-{n}.md"} for n in range(12)
    ]
    (place.side / "questions.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    after(*lines)(place)


def _hook(event: str) -> Act:
    def act(place: Place) -> Said:
        from memcli.cli.commands.hook_command import ANSWERS, HookLine
        from memcli.cli.options import Options
        from memcli.errors import MemcliError
        from memcli.hook.agents import HookEvent

        given = {"event": event, "session": "s", "folder": str(place.notes),
                 "prompt": "which pool ran dry", "source": "startup"}  # fmt: skip
        happening = HookEvent(**{name: given.get(name, "") for name in HookEvent._fields})
        hook = HookLine(Options(agent="claude-code", budget=None, color="never", now=NOW))
        err = io.StringIO()
        with place.entered(), contextlib.redirect_stderr(err):
            try:
                return Said(0, ANSWERS[event](happening, hook), err.getvalue())
            except MemcliError as error:
                return Said(0, "", f"{error.message}\nTry: {error.hint}")
            except OSError as error:  # `main` says it of every command
                if error.errno not in REFUSED:
                    raise
                return Said(0, "", str(error))

    return act


def _another(place: Place) -> Said:
    """Append something else, and take it back."""
    assert place.run("remember 'The heron left at noon'").code == 0
    return place.run("remember --undo")


def _anew(place: Place) -> Said:
    """Write the files of the plugin once more."""
    for file in (place.side / "plugin").rglob("*"):
        if file.is_file() and not file.name.startswith(BEGUN):
            file.unlink()
    return place.run("agents export claude-code --to ../../side/plugin")


def _is_whole(place: Place) -> bool:
    """Tell that there are questions, all of them, and nothing that was begun."""
    text = (place.side / "drafts.jsonl").read_text()
    is_cut = not text.endswith("}\n")
    return not is_cut and len(list(place.side.iterdir())) == 1


def _is_sound(place: Place) -> bool:
    """Tell that every line is told by one summary or by itself, and that nothing else is there."""
    summaries = place.notes / "memory" / "summaries"
    is_whole = all(each.name.endswith(".md") for each in summaries.iterdir())
    return is_whole and place.run("compact --verify").code == 0


QUESTIONS = "../../side/questions.jsonl"
VERBS: Sequence[Verb] = (
    Verb("remember", after(f"remember 'An older note' --now {NOW}"), line(f"remember '{NOTE}'"),
         again=(0, 1), tidy=_another),
    Verb("remember (a new file)", notes, line(f"remember '{NOTE}'"), again=(0, 1),
         tidy=_another),
    Verb("remember (the first note)", _first, line(f"remember '{NOTE}'"), again=(0, 1),
         tidy=_another, grows="vectors.sqlite"),
    Verb("remember --undo", _below_a_line, line("remember --undo"), again=(0, 1)),
    Verb("remember --undo (its file)", after(f"remember '{NOTE}'"), line("remember --undo"),
         again=(0, 1)),
    Verb("compact", notes, line(COMPACT), check=_is_sound),
    Verb("compact --undo", after(COMPACT), line("compact --undo")),
    Verb("agents install", _agents(), line(f"agents install {AGENTS} --apply"),
         swapped="home/.claude", outlasts_swaps=False),
    Verb("agents uninstall", _agents(f"agents install {AGENTS} --apply"),
         line("agents uninstall claude-code --apply"), swapped="home/.claude",
         outlasts_swaps=False),
    Verb("agents export", notes, line("agents export claude-code --to ../../side/plugin"),
         swapped="side", tidy=_anew),
    Verb("init", _unmarked, line("init"), swapped="side", tidy=line(SET)),
    Verb("config set", notes, line(SET), swapped="side", tidy=line(SET)),
    Verb("search --trace", notes, line("search pool --trace ../../side/r.json"),
         swapped="side"),
    Verb("search (counted)", _counted, line("get memory/2026-02-01.md"), swapped="home/cache"),
    Verb("index", changed, line("index"), swapped="home/notes/memory"),
    Verb("index (beside a half-built one)", _half_built, line("index"), swapped="home/cache"),
    Verb("search", changed, line("search pool"), swapped="home/notes/memory"),
    Verb("bench check", lambda p: _asked(p, f"bench check {QUESTIONS} --no-speed --now 2026-02-09"),
         line(f"bench check {QUESTIONS} --no-speed"), swapped="home/cache", again=(0, 1),
         grows="index.sqlite.bench/"),
    Verb("bench calibrate", _asked, line(f"bench calibrate {QUESTIONS}"),
         swapped="home/config"),
    Verb("bench init", notes, line("bench init --out ../../side/drafts.jsonl"), swapped="side",
         check=_is_whole, again=(0, 2)),
    Verb("hook session-start", notes, _hook("session-start"), swapped="home/cache",
         may_be_silent=True),
    Verb("hook pre-compact", notes, _hook("pre-compact"), swapped="home/cache"),
)  # fmt: skip
