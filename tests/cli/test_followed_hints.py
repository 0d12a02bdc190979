"""Each hint that is a command is followed: what was wrong is mended, and none leads in a circle."""

from __future__ import annotations

import ast
import os
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

import memcli
from memcli.cli.command_help import command_tree
from memcli.store.lock import writer_lock
from tests.cli.processes import start
from tests.commands import typed
from tests.support import write

PACKAGE = Path(memcli.__file__).parent
TRY = re.compile(r"Try: (.*?)(?:\.?$)", re.MULTILINE)


class Place:
    """A workspace that something is wrong with."""

    def __init__(self, root: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.store, self._monkeypatch = root, store, monkeypatch
        for day in range(1, 6):
            text = (
                f"# A\n\n- We decided number {day}: the pool is dry.\n" + f"- padding {day}\n" * 30
            )
            write(root, f"memory/2025-01-0{day}.md", text)
        write(root, "MEMORY.md", "---\nalways: true\n---\n# Rules\n\nKeep the pool full.\n")
        self.set("MEMCLI_WORKSPACE", str(root))
        self.set("MEMCLI_STORE", str(store))
        self.set("MEMCLI_EMBEDDING_ENCODER", "hashing")

    def set(self, name: str, value: str) -> None:
        self._monkeypatch.setenv(name, value)

    def index(self) -> None:
        assert typed("index -q")[0] == 0

    def sql(self, statement: str) -> None:
        self.index()
        connection = apsw.Connection(str(self.store))
        connection.execute(statement)
        connection.close()


Prepare = Callable[[Place], object]


class Case(NamedTuple):
    """A state, a command that says so, and what it says to do."""

    prepare: Prepare
    command: str
    code: int
    hint: str
    after: int = 0  # the code of the command once the hint was followed


def after(*steps: str) -> Prepare:
    """Take steps: command lines, and NAME=VALUE for the variable MEMCLI_NAME."""

    def prepare(place: Place) -> None:
        for step in steps:
            name, equals, value = step.partition("=")
            if equals:
                place.set(f"MEMCLI_{name}", value)
            else:
                assert typed(step)[0] == 0

    return prepare


as_new = after()
few_at_first = after("SYNC_FIRST=1")
cut_anew = after("index -q", "CHUNK_TOKENS=90")
without_vectors = after("index -q --encoder none")
few_vectors = after("SYNC_SEGMENTS=1", "search pool -q")
some_vectors = after("SYNC_SEGMENTS=4", "search pool -q")
other_model = after("index -q", "EMBEDDING_ENCODER=bundled")
short_tail = after("COMPACT_TAIL_ENTRIES=0", "COMPACT_TAIL_DAYS=0", "COMPACT_CLUSTER=2")


def changed(place: Place) -> None:
    place.index()
    for number in range(3):
        write(place.root, f"memory/new-{number}.md", f"# New\n\nA pool, number {number}.\n")


def few_files(place: Place) -> None:
    changed(place)
    place.set("MEMCLI_SYNC_SECONDS", "0")


def garbage(place: Place) -> None:
    place.index()
    place.store.write_bytes(b"garbage " * 4096)


def empty_file(place: Place) -> None:
    place.store.parent.mkdir()
    place.store.touch(0o600)


def sql(statement: str) -> Prepare:
    return lambda place: place.sql(statement)


foreign_table = sql("CREATE TABLE theirs (a)")
foreign_meta = sql("UPDATE meta SET value = 'seven' WHERE key = 'revision'")
old_schema = sql("PRAGMA user_version = 1")
wrong_schema = sql("PRAGMA user_version = -5")
lost_rows = sql("UPDATE chunks SET heading_path = 'none'")


def with_questions(place: Place) -> None:
    place.set("MEMCLI_EMBEDDING_ENCODER", "none")
    questions = '{"query": "pool", "relevant": [{"path": "MEMORY.md"}]}\n'
    write(place.root, ".memcli/questions.jsonl", questions)


MENDED = {
    "no index": Case(as_new, "search pool --no-sync", 4, "memcli index"),
    "no index, looked at": Case(as_new, "status --check", 1, "memcli index"),
    "too many files for a search": Case(few_at_first, "search pool", 4, "memcli index"),
    "changed files": Case(changed, "search pool --no-sync", 0, "memcli index"),
    "changed files, looked at": Case(changed, "status --check", 1, "memcli index"),
    "more changes than a search takes": Case(few_files, "search pool", 0, "memcli index"),
    "other settings": Case(cut_anew, "search pool --no-sync", 0, "memcli index"),
    "other settings, looked at": Case(cut_anew, "status --check", 1, "memcli index"),
    "nothing embedded": Case(
        without_vectors, "search pool --no-sync --require-semantic", 6, "memcli index"
    ),
    "too little embedded": Case(
        few_vectors, "search pool --no-sync --require-semantic", 6, "memcli index"
    ),
    "some not embedded": Case(some_vectors, "search pool --no-sync", 0, "memcli index"),
    "some not embedded, looked at": Case(some_vectors, "status --check", 1, "memcli index"),
    "another model": Case(other_model, "search pool --require-semantic", 6, "memcli index"),
    "a file that is none": Case(garbage, "search pool --no-sync", 4, "memcli index --full"),
    "a file that was begun": Case(empty_file, "search pool --no-sync", 4, "memcli index"),
    "an index of before": Case(old_schema, "search pool --no-sync", 4, "memcli index"),
    "an impossible schema": Case(wrong_schema, "index --dry-run", 4, "memcli index"),
    "a table of others": Case(foreign_table, "search pool --no-sync", 4, "memcli index --full"),
    "a fact of others": Case(foreign_meta, "search pool --no-sync", 4, "memcli index --full"),
    "a row of others": Case(lost_rows, "search pool --no-sync", 4, "memcli index --full"),
    "no questions": Case(as_new, "bench quality", 2, "memcli bench init", after=2),
    "no run kept": Case(with_questions, "bench report", 3, "memcli bench check"),
    "logs to compact": Case(short_tail, "compact", 0, "memcli compact --apply"),
}
# Commands that cannot be used: what they say to do instead works.
INSTEAD = {
    "get memory/2025-01-1.md": "memcli get memory/2025-01-01.md",
    "get memory/2025-01-01.md:3-2": "memcli get memory/2025-01-01.md:2-3",
    "get memory/2025-01-01.md:3 --from 5": "memcli get memory/2025-01-01.md --from 5",
    "get memory/2025-01-01.md#nowhere": "memcli get memory/2025-01-01.md",
    "get memory/2025-01-01.md --expand": "memcli get memory/2025-01-01.md",
    "get nowhere.md": "memcli ls",
    "inbox --keep 1": "memcli inbox",
    "inbox --drop 2,x": "memcli inbox",
    "context --budget 3": "memcli context --budget [0-9]+",
    "context --budget 3 --tail 0": "memcli context --budget [0-9]+ --tail 0",
    "context *": "memcli context",
    "search *": 'memcli search "some words"',
    "search pool --interactive": "memcli search pool -f vimgrep",
    "search 'a pool' 'a b' --why-not memory/2025-01-01.md": "memcli search 'a pool' --why-not .*",
    "search pool --since yesteryear": "memcli help query-syntax",
    "search pool --on 2025 --since 2025": "memcli search --help",
    "search '$HOME; pool' --budget 0": "memcli search '\\$HOME; pool' --budget 800",
    "search pool --sync --no-sync": "memcli search --help",
    "context pool --sync --no-sync": "memcli context --help",
    "search": 'memcli search "some words"',
    "ls --count kind -f paths": "memcli ls --count kind",
    "related nowhere.md": "memcli ls",
    "related memory/2025-01-1.md": "memcli related memory/2025-01-01.md",
    "agents install nope": "memcli agents",
    "ls --on 2025 --since 2025": "memcli ls --help",
    "ls --sync --no-sync": "memcli ls --help",
    "statsu": "memcli status",
    "nothing": "memcli search nothing",
    "config serach.limit": "memcli config search.limit",
    "config zzz": "memcli config",
    "config unset zzz": "memcli config",
    "config set store.path x": "memcli config set store.path x --user",
    "help rankings": "memcli help ranking",
    "help zzz": "memcli help",
    "completion tcsh": "memcli completion bash",
    "index --watch --prune": "memcli index --help",
    "compact --apply --verify": "memcli compact --help",
    "bench quality --compare zzz": "memcli help ranking",
    "search pool --by Kate": "memcli help conversations",
    "bench quality --max-drop 1": "memcli bench quality --help",
    "bench quality zzz.jsonl": "memcli bench quality --help",
    "BROKEN search pool": "memcli help settings",
    "WEIGHTS search pool": "memcli config search",
    "SHARES context": "memcli config context",
    "PASSES search pool --profile two-pass": "memcli config passes",
    "search --used MEMORY.md": "memcli config access.count",
    "search pool --used MEMORY.md": "memcli search --help",
    "GATING remember x": "memcli config gating",
    "init --user -w .": "memcli init --user",
    "agents install claude": "memcli agents install claude-code",
    "agents uninstall nobody": "memcli agents",
    "agents install zed --with hooks": "memcli agents install zed --with .*",
    "agents export zed --to plugin": "memcli agents install zed",
    "why did the pool run dry": "memcli search 'why did the pool run dry'",
    "'why did the pool run dry'": "memcli search 'why did the pool run dry'",
    "recall 'the pool' -n 3": "memcli search 'the pool' -n 3",
    "serch pool -n 2": "memcli search pool -n 2",
    "add 'deploys are on Tuesdays'": "memcli remember 'deploys are on Tuesdays'",
    "save": "memcli remember --help", "find": "memcli search --help",
    "tags": "memcli ls --count tag", "--quiet status": "memcli status --quiet",
    "--versions": "memcli --version", "-V": "memcli --version", "-q": "memcli --help",
    "search pool -dry": "memcli search pool -- -dry",
    "search -dry --limit 3": "memcli search 'some words' --limit 3 -- -dry",
    "search pool --nope": "memcli search --help",
    "search pool --json=yes": "memcli search pool --json",
    "remember '-5 degrees in the cellar'": "memcli remember -- '-5 degrees in the cellar'",
    "remember '- five degrees' --dry": "memcli remember '- five degrees' --dry-run",
    "search --limt 3 pool": "memcli search --limit 3 pool",
    "search pool --limt=3": "memcli search pool --limit=3", "status --foo": "memcli status --help",
    "status memory": "memcli status -w memory", "status pool": "memcli status --help",
    "bench": "memcli bench --help", "pool -n 3": "memcli search pool -n 3",
    "the pool --limit=3 ran": "memcli search 'the pool' --limit=3 ran",
    "the pool --dry": "memcli search 'the pool --dry'",
    "help bench init": "memcli bench init --help",
    "help status memory": "memcli status memory --help", "help json pool": "memcli help --help",
    "config limit": "memcli config search.limit",
}  # fmt: skip
# A hint that begins with an option is put into the line in the place of what was refused.
OPTIONS = {
    "search pool --limit ten": "--limit 10", "search pool --limit 0": "--limit 1",
    "search pool --limit 1000": "--limit 100", "search pool --min-score 2": "--min-score 1",
    "search pool --min-score nan": "--min-score 0", "compact --ratio 5": "--ratio 0.9",
    "search pool -n": "--limit 10", "context --budget some": "--budget 2000",
    "search pool -w memry": "-w .*/memory", "search pool -C -1": "--context 0",
    "ls -n 0": "--limit 1", "changes --limit 0": "--limit 1", "ls --limit many": "--limit 1",
    "get memory/2025-01-01.md --from 0": "--from 1", "bench init -n 0": "--limit 1",
}  # fmt: skip
# What is not followed here, and why.
ELSEWHERE = {
    "memcli index --wait 600": "below, beside a process that writes",
    "memcli index --watch": "it stays",
    'memcli remember "A first note."': "below, in an empty folder",
    "memcli bench init --out …": "below, next to questions that exist",
    "memcli index --full, in the folder that writes it": "a damaged row of a server",
    "memcli index --clean": "folders that are gone; tests/cli/test_clean.py",
    "memcli changes --by agent": "said only from Python; tests/mcp/test_remember.py",
    "memcli remember --undo": "in test_remember, behind a note",
    "memcli remember -": "it reads stdin; in test_remember",
    "memcli remember TEXT --to memory/more.md": "beside a file of 8 MB",
    "memcli ls": "what a filter leaves out, below",
    "memcli ls --count tag": "what a filter leaves out, below",
    "memcli ls --count key": "what a filter leaves out, below",
    "memcli bench speed --documents 1000": "half a minute",
    "memcli bench quality A.jsonl B.jsonl --json > before.json": "tests/cli/test_bench_sets.py",
    "memcli bench quality A.jsonl B.jsonl --against …": "tests/cli/test_bench_sets.py",
    "memcli bench calibrate --help": "an encoder that nobody measured; tests/bench",
    "memcli bench quality": "said only where the system is not POSIX",
    "memcli remember --undo, later": "tests/machine/test_faults_of_files.py",
    "memcli help compact": "a folder without a model; tests/compaction/test_generated.py",
    "memcli index, later": "a server has to come back",
    "memcli status --deep": "a server has to answer",
    "memcli search --stdin": "it reads; tests/search/test_honoured.py",
    "memcli help agent-setup": "a pipe that is closed; tests/mcp/test_life.py",
    "memcli compact --verify": "tests/compaction/test_folder.py, as a user without rights",
    "memcli agents, later": "beside one that writes; tests/agents/test_install.py",
    "memcli config files": "a warning, tests/context/test_rules.py",
    "memcli index --everywhere": "tests/cli/test_several.py",
    "memcli status --everywhere": "tests/cli/test_several.py",
    "memcli config store.path": "tests/cli/test_several.py",
    "memcli hook …": "it is for an agent; tests/hook/test_process.py",
    "memcli help hook": "what is sent to a hook is no object; tests/hook/test_process.py",
    "memcli help invalid-front-matter": "no valid YAML; tests/indexing/test_incremental.py",
    "memcli lint": "several files without valid YAML; tests/indexing/test_incremental.py",
    "memcli help python": "a filter that only Python can name; tests/api/test_memory.py",
    "memcli help workspaces": "tests/cli/test_several.py",
    "memcli config files.max_bytes": "what is too large is below, in a folder of notes",
    "memcli help files": "what has too many lines is below",
    "memcli init": "below, in a folder that nobody has marked",
    "memcli search QUERY --until DATE": "tests/history/test_odd_repositories.py",
    "memcli search QUERY -w FOLDER --as-of DATE": "tests/history/test_as_of.py",
    "memcli search QUERY --as-of …": "tests/history/test_as_of.py",
    "memcli get … --history": "tests/history/test_versions.py",
    "memcli get CITATION --as-of DATE": "tests/history/test_as_of.py",
    "memcli changes --since …": "tests/history/test_changes.py",
    "memcli changes --since 2026-02-01": "tests/history/test_changes.py",
    "memcli help changes": "tests/history/test_changes.py",
    "memcli help agent-memory": "tests/transcripts/layouts.txt",
    **dict.fromkeys(
        (
            "memcli help shared-index",
            "memcli store status",
            "memcli store detach",
            "memcli store grants --role agent --write",
            "memcli store grants --role agent --tenant … --write",
            "memcli store attach …",
            "memcli store attach … --take-over",
        ),
        "a server has to run; tests/postgres",
    ),
    "memcli …": "what failed while it was measured; the same command",
}
# Names of what the reader puts in.
STANDS_FOR = re.compile(r"\b(QUERY|FOLDER|FILE|QUERIES\.jsonl)\b")
BROKEN = {
    "BROKEN": "[search]\nlimit = no\n",
    "WEIGHTS": "[search]\nsemantic_weight = 0.9\n",
    "SHARES": "[context]\nalways_share = 0.9\n",
    "PASSES": "[passes]\nsecond = 17\n",
    "GATING": "[gating]\nkind = 1.0\n",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.chdir(tmp_path)
    return Place(tmp_path / "ws", tmp_path / "store" / "index.sqlite", monkeypatch)


def hints(*texts: str) -> list[str]:
    return [found for text in texts for found in TRY.findall(text)]


def follow(hint: str) -> tuple[int, str, str]:
    """Run what a hint says."""
    first, *rest = shlex.split(hint)
    assert first == "memcli"
    return typed(shlex.join(rest))


@pytest.mark.parametrize(
    "name",
    [  # a whole check takes seconds
        pytest.param(name, marks=pytest.mark.nightly if name == "no run kept" else ())
        for name in MENDED
    ],
)
def test_who_follows_a_hint_sees_the_state_mended(place: Place, name: str) -> None:
    case = MENDED[name]
    case.prepare(place)
    code, out, err = typed(case.command)
    assert (code, hints(out, err)) == (case.code, [case.hint]), err
    code, out, err = follow(case.hint)
    assert (code, hints(out, err)) == (0, []), err
    code, out, err = typed(case.command)
    assert code == case.after, err
    assert case.hint not in hints(out, err), err
    if case.after == 0:
        assert hints(out, err) == []


@pytest.mark.parametrize("filters", ["--tag nosuch", "--where nosuch=1", "--path nosuch"])
def test_who_follows_the_hint_of_a_filter_sees_what_there_is(place: Place, filters: str) -> None:
    write(place.root, "memory/tagged.md", "---\ntags: [infra]\n---\nThe pool.\n")
    place.index()
    code, out, err = typed(f"search pool {filters}")
    assert (code, out) == (0, "")
    (hint,) = hints(err)
    code, out, err = follow(hint)
    assert (code, err) == (0, "")
    assert {"--tag": "infra", "--where": "tags", "--path": "MEMORY.md"}[filters.split()[0]] in out


def test_who_asks_for_a_file_that_is_too_large_learns_the_limit(place: Place) -> None:
    place.set("MEMCLI_FILES_MAX_BYTES", "40")
    code, _, err = typed("get memory/2025-01-01.md")
    assert (code, hints(err)) == (3, ["memcli config files.max_bytes"])
    assert "too-large (" in err
    _, out, err = follow("memcli config files.max_bytes")
    assert "40" in out
    assert "memcli config set files.max_bytes VALUE, or set MEMCLI_FILES_MAX_BYTES." in err


def test_a_file_with_too_many_lines_for_any_setting(place: Place) -> None:
    write(place.root, "memory/more.md", "\n" * 250_001)
    code, _, err = typed("index")
    assert (code, hints(err)) == (0, ["memcli help files"])
    assert "250001 lines, the limit is 250000; add it to .memcliignore" in err
    _, out, _ = follow("memcli help files")
    assert "250,000 lines" in out
    place.set("MEMCLI_FILES_MAX_BYTES", "99999")
    assert "files.max_bytes in memcli.toml if it has at most 250,000 lines" in typed("index").err


def test_a_day_or_month_without_its_zero_is_found(place: Place) -> None:
    write(place.root, "memory/2026-08-03.md", "Cold.\n")
    write(place.root, "memory/2026-08-31.md", "Warm.\n")
    for name in ("memory/2026-08-3.md", "memory/2026-8-3.md", "2026-8-3"):
        assert hints(typed(f"get {name}").err) == ["memcli get memory/2026-08-03.md"]


def test_the_hint_of_a_plan_repeats_its_options(place: Place) -> None:
    line = "compact --tail 0 --tail-days 0 --cluster 2 --ratio 0.5"
    _, out, err = typed(line)
    planned = re.findall(r"^would write +(\S+)", out, re.MULTILINE)
    assert planned
    (hint,) = hints(err)
    assert shlex.split(hint)[3:] == shlex.split("--tail-days 0 --tail 0 --cluster 2 --ratio 0.5")
    code, out, _ = follow(hint)
    assert (code, re.findall(r"^wrote +(\S+)", out, re.MULTILINE)) == (0, planned)


LEAVES = sorted(each.name for each in command_tree())


@pytest.mark.parametrize("command", LEAVES)
def test_the_line_that_answers_a_wrong_option_can_be_read(place: Place, command: str) -> None:
    """Each hint is followed with --help in it, so that no command runs."""
    for wrong in ("--zzz", "-zzz", "--debug=1", "--now", "--debg"):
        code, out, err = typed(f"{command} {wrong}")
        (hint,) = hints(err)
        assert (code, out) == (2, ""), err
        line = hint if hint.startswith("memcli ") else f"memcli {command} {hint}"
        options, dashes, words = line.partition(" -- ")
        code, out, _ = follow(f"{options} --help{dashes}{words}")
        assert (code, out[:6]) == (0, "Usage:"), hint


@pytest.mark.parametrize(
    "command", ["compact", "index --watch", "config set search.limit 5", "remember 'It rains'"]
)
def test_who_marks_a_folder_can_go_on(place: Place, tmp_path: Path, command: str) -> None:
    place.set("MEMCLI_WORKSPACE", "")
    write(tmp_path, "notes/a.md", "The pool.\n")
    os.chdir(tmp_path / "notes")
    code, _, err = typed(command)
    assert (code, hints(err)) == (3, ["memcli init"])
    assert [*Path().iterdir()] == [Path("a.md")]
    assert follow("memcli init")[0] == 0
    assert typed("compact")[0] == 0


def test_who_sets_the_drafts_right_can_measure(place: Place) -> None:
    assert follow("memcli bench init")[0] == 0
    code, _, err = typed("bench quality")
    (hint,) = hints(err)
    path = place.root / ".memcli" / "questions.jsonl"
    assert hint == f'edit {path} and set "draft": false where question and lines are right'
    path.write_text(path.read_text().replace('"draft": true', '"draft": false'))
    assert (code, typed("bench quality")[0]) == (2, 0)
    path.write_text("")
    code, _, err = typed("bench quality")
    assert (code, hints(err)) == (2, ["delete it, then run memcli bench init"])
    path.unlink()
    assert follow("memcli bench init")[0] == 0


def test_an_empty_folder_gets_a_first_note(place: Place, tmp_path: Path) -> None:
    (tmp_path / "none/memory").mkdir(parents=True)
    place.set("MEMCLI_WORKSPACE", str(tmp_path / "none"))
    assert hints(typed("bench init").err) == ["memcli status"]
    _, out, err = typed("search note")
    (hint,) = hints(out, err)
    assert follow(hint)[0] == 0
    code, out, err = typed("search note")
    assert (code, "A first note." in out, hints(out, err)) == (0, True, [])


def test_other_questions_are_drafted_elsewhere(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "a.jsonl", "")
    for _ in range(2):
        code, out, err = typed("bench init --out a.jsonl")
        (hint,) = hints(out, err)
        assert (code, follow(hint)[0]) == (2, 0)


@pytest.mark.parametrize("command", INSTEAD)
def test_what_is_said_instead_works(
    place: Place, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.index()
    monkeypatch.chdir(place.root)
    state, _, line = command.partition(" ")
    if state in BROKEN:
        write(place.root, "memcli.toml", BROKEN[state])
    else:
        line = command
    code, out, err = typed(line)
    (hint,) = hints(err)
    assert (code in (2, 3), out) == (True, "")
    assert re.fullmatch(INSTEAD[command], hint), hint
    code, out, err = follow(hint)
    assert (code, hint in hints(out, err)) == (0, False), err


@pytest.mark.parametrize("line", OPTIONS)
def test_a_refused_value_is_answered_by_one_that_is_taken(
    place: Place, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.index()
    monkeypatch.chdir(place.root)
    code, out, err = typed(line)
    (hint,) = hints(err)
    assert (code in (2, 3), out) == (True, "")
    assert re.fullmatch(OPTIONS[line], hint), hint
    assert typed(f"{line.partition(' -')[0]} {hint}").code == 0


def test_a_hint_asks_the_workspace_that_the_line_named(place: Place, tmp_path: Path) -> None:
    place.set("MEMCLI_WORKSPACE", str(tmp_path / "none"))
    named = f"-w {shlex.quote(str(place.root))}"
    code, out, err = typed(f"search pool --no-sync {named}")
    assert (code, hints(out, err)) == (4, [f"memcli index {named}"])
    assert follow(f"memcli index {named}")[0] == 0
    assert typed(f"search pool --no-sync {named}")[0] == 0


@pytest.mark.parametrize("command", ["index", "search pool --sync", "bench quality"])
def test_who_waits_for_another_writer_comes_to_write(place: Place, command: str) -> None:
    with_questions(place)
    typed("index -q")
    place.set("MEMCLI_CHUNK_TOKENS", "90")
    with writer_lock(str(place.store), wait_seconds=0, sleep=lambda _: None):
        code, out, err = typed("index --wait 0")
        assert (code, hints(out, err)) == (5, ["memcli index --wait 600"])
        assert f"(pid {os.getpid()}, since 20" in err
        waiting = start(*shlex.split(hints(err)[0])[1:])
        assert waiting.poll() is None
    told_then = waiting.communicate()[1]
    assert (waiting.returncode, "Indexed: 6 changed" in told_then) == (0, True), told_then
    code, out, err = typed(command)
    assert (code, hints(out, err)) == (0, [])


def _texts(node: ast.AST | None) -> Iterator[str]:
    """Give the texts that an expression may have; what is filled in is `…`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(str(v.value) if isinstance(v, ast.Constant) else "…" for v in node.values)
    elif isinstance(node, ast.IfExp):
        yield from (*_texts(node.body), *_texts(node.orelse))
    elif isinstance(node, ast.BinOp):
        ends = [*_texts(node.right)] or [""]
        yield from (start + end for start in _texts(node.left) for end in ends)
    elif isinstance(node, ast.BoolOp):
        yield from (text for value in node.values for text in _texts(value))


def _every_hint() -> Iterator[str]:
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.keyword):
                yield from _texts(node.value if node.arg == "hint" else None)
            elif isinstance(node, ast.Assign):
                is_hint = ast.unparse(node.targets[0]).lower() == "hint"
                yield from _texts(node.value if is_hint else None)
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "Reason":
                yield from _texts(node.args[2] if len(node.args) > 2 else None)


def test_every_hint_that_is_a_command_is_followed() -> None:
    followed = [*(case.hint for case in MENDED.values()), *INSTEAD.values()]
    commands = {hint for hint in _every_hint() if hint.startswith("memcli")}
    assert len(commands) > 40
    left = {
        hint for hint in commands - ELSEWHERE.keys()
        if not STANDS_FOR.search(hint)
        and not any(re.fullmatch(re.escape(hint).replace("…", ".+"), each) for each in followed)
    }  # fmt: skip
    assert left == set()
    assert ELSEWHERE.keys() - commands == set()
