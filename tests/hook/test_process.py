from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from memcli.cli.hook_reply import LIMIT_SECONDS, HookReply
from tests.cli import processes
from tests.hook.shapes import PAIRS, name_of, schema_of

LONG = 100.0  # seconds after which a hook has no limit; its own is 2
POOL = "why did the pool run dry"
CUT_OFF = f"memcli hook: cut off after {LIMIT_SECONDS} seconds\n"
PATIENT = (sys.executable, str(Path(__file__).parent / "patient.py"))


@pytest.fixture(autouse=True)
def _by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)


@pytest.fixture(scope="module")
def indexed(workspaces: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that holds an index of the notes."""
    cache = tmp_path_factory.mktemp("indexed")
    environ = {"XDG_CACHE_HOME": str(cache), "MEMCLI_EMBEDDING_ENCODER": "none"}
    processes.run("index", "-q", "-w", str(workspaces / "engineer"), **environ)
    return cache


@pytest.fixture
def notes(workspaces: Path, indexed: Path) -> str:
    shutil.copytree(indexed, os.environ["XDG_CACHE_HOME"])
    return str(workspaces / "engineer")


def told(**record: Any) -> bytes:
    return json.dumps(record).encode() + b"\n"


def start(
    *arguments: str, data: bytes = b"", command: Sequence[str] = PATIENT, **environ: str
) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [*command, "hook", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environ},
    )
    assert process.stdin
    process.stdin.write(data)
    process.stdin.flush()
    return process


def run(
    data: bytes, *arguments: str, command: Sequence[str] = PATIENT, **environ: str
) -> tuple[Mapping[str, Any], str]:
    """Run a hook on what an agent sends and keeps its end open behind; give what it answers."""
    if command is PATIENT:
        done = processes.sent(data, "hook", *arguments, MEMCLI_TEST_PATIENT="1", **environ)
        assert done.returncode == 0
        return answer(done.stdout, done.stderr)
    return ended(start(*arguments, data=data, command=command, **environ))


def ended(process: subprocess.Popen[bytes]) -> tuple[Mapping[str, Any], str]:
    """Wait for a hook to end by itself, its stdin still open; give what it wrote."""
    assert process.wait(LONG) == 0
    assert process.stdin
    with suppress(BrokenPipeError):
        process.stdin.close()
    process.stdin = None
    out, err = process.communicate()
    return answer(out.decode(), err.decode())


def answer(out: str, err: str) -> tuple[Mapping[str, Any], str]:
    assert out.count("\n") == 1
    record: Mapping[str, Any] = json.loads(out)
    return record, err


def context(record: Mapping[str, Any]) -> str:
    text: str = record["hookSpecificOutput"]["additionalContext"]
    return text


@pytest.mark.parametrize(("agent", "event"), PAIRS)
def test_each_hook_answers_as_its_agent_takes_it(notes: str, agent: str, event: str) -> None:
    name = name_of(agent, event)
    data = told(hook_event_name=name, session_id=f"{agent}{event}", cwd=notes, prompt=POOL)
    record, err = run(data, event, "--for", agent)
    Draft202012Validator(schema_of(agent, event)).validate(record)
    assert err == ""
    assert bool(record) == (event != "stop")  # nobody has said how things are wanted


@pytest.mark.parametrize("event", ["session-start", "prompt", "pre-compact", "stop"])
@pytest.mark.parametrize(
    "data",
    [b"hello\n", b"[1, 2]\n", b"\x00\xff\xfe\x80" * 5000, b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
     b"null\n",
     b'{"prompt": 5, "session_id": [], "cwd": {}, "hook_event_name": null}\n',
     told(prompt="why " * 2_500_000)],
    ids=["text", "list", "binary", "nested", "null", "wrong types", "ten megabytes"],
)  # fmt: skip
def test_whatever_is_sent_the_answer_is_an_object(
    workspaces: Path, data: bytes, event: str
) -> None:
    record, _ = run(data, event, "-w", str(workspaces / "empty"))
    assert record == {} or event == "pre-compact"


@pytest.mark.parametrize(
    "arguments",
    [["promt"], [], ["prompt", "--no-such-option"], ["prompt", "--for", "nobody"],
     ["prompt", "--budget", "0"], ["prompt", "-w", "/no/such/folder"], ["prompt", "--now", "soon"]],
)  # fmt: skip
def test_a_wrong_line_stops_no_agent(arguments: list[str]) -> None:
    record, err = run(told(prompt=POOL), *arguments)
    assert record == {}
    assert "memcli" in err


def test_another_event_or_no_object_is_said_and_not_answered() -> None:
    assert run(told(prompt=POOL), "promt") == (
        {},
        "memcli: a hook is one of session-start, prompt, pre-compact, stop, not 'promt'\n"
        "Try: memcli hook prompt\n",
    )
    assert run(b"why did the pool run dry\n", "prompt") == (
        {},
        "memcli hook: a hook reads one JSON object, but got no object. Try: memcli help hook\n",
    )
    record, err = run(told(hook_event_name="\x1b[31m" + "x" * 10**6, prompt=POOL), "prompt")
    assert record == {}
    assert "is not what claude-code runs prompt at" in err
    assert (len(err) < 200, "\x1b" in err) == (True, False)


def test_an_endless_input_ends(notes: str) -> None:
    process = start("prompt", "-w", notes, command=processes.COMMAND)
    assert process.stdin
    block = b'{"prompt": "' + b"a" * 65_536
    with suppress(BrokenPipeError):
        while True:
            process.stdin.write(block)
            block = block[-65_536:]
    assert ended(process)[0] == {}


def test_a_slow_input_is_read_to_its_brace(notes: str) -> None:
    process = start("prompt", "-w", notes)
    assert process.stdin
    for at in told(prompt=POOL).rstrip():
        process.stdin.write(bytes([at]))
        process.stdin.flush()
    assert "incident-review" in context(ended(process)[0])


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_closed_streams_are_no_failure(notes: str, closed: str) -> None:
    done = shell(f'exec "$@" {closed}', notes)
    assert done.returncode == 0
    assert bool(json.loads(done.stdout)) == ("<" not in closed)


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-", ">/dev/full"])
def test_nobody_to_answer_is_no_failure(notes: str, closed: str) -> None:
    done = shell(f'exec "$@" {closed}', notes)
    assert (done.returncode, done.stdout) == (0, b"")


def shell(line: str, notes: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["sh", "-c", line, "sh", *PATIENT, "hook", "prompt", "-w", notes],
        input=told(prompt=POOL),
        capture_output=True,
        timeout=LONG,
        check=False,
    )


def test_an_answer_may_go_to_a_file(notes: str, tmp_path: Path) -> None:
    assert shell(f'exec "$@" > "{tmp_path}/answer"', notes).returncode == 0
    assert "pool" in context(json.loads((tmp_path / "answer").read_text("ascii")))


def test_a_reader_that_has_gone_is_no_failure(notes: str) -> None:
    done = shell('{ "$@"; echo $? >&2; } | :', notes)
    assert done.stderr.split()[-1] == b"0"


def test_a_passage_is_given_once_a_session(notes: str) -> None:
    data = told(session_id="one", cwd=notes, prompt=POOL)
    (first, err), (second, why) = run(data, "prompt", "-v"), run(data, "prompt", "-v")
    assert err == ""
    assert "the session has been shown these passages" in why
    assert "memory/2025-06-12-incident-review.md:" in context(first)
    assert citations(second).isdisjoint(citations(first))
    other = run(told(session_id="two", cwd=notes, prompt=POOL), "prompt")[0]
    assert other == first


def citations(record: Mapping[str, Any]) -> set[str]:
    if not record:
        return set()
    lines = context(record).split("\n")
    return {line.lstrip("`").split()[0] for line in lines if re.match(r"`{3,}\S+:\d+-\d+", line)}


def test_what_a_session_began_with_is_not_told_again(notes: str) -> None:
    began = run(told(session_id="s", cwd=notes), "session-start", "--budget", "3000")[0]
    assert "## Recent" in context(began)
    then = run(told(session_id="s", cwd=notes, prompt=POOL), "prompt")[0]
    assert citations(then).isdisjoint(citations(began))
    assert run(told(session_id="s", cwd=notes, source="resume"), "session-start")[0] == {}
    again = run(told(session_id="s", cwd=notes, source="clear"), "session-start")[0]
    assert "## Recent" in context(again)


def test_a_session_that_two_hooks_start_gets_its_context_once(notes: str) -> None:
    data = told(session_id="twice", cwd=notes, source="compact")
    both = [start("session-start", data=data) for _ in range(2)]
    records = [ended(process)[0] for process in both]
    assert sorted(map(bool, records)) == [False, True]


def test_private_notes_are_never_offered_unasked(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / "memory").mkdir(parents=True)
    for name, head in (("runbook", ""), ("salary", "---\nscope: private\nalways: true\n---\n")):
        text = f"{head}The {name} of the okapi cluster is 4711-{name}.\n"
        (folder / "memory" / f"{name}.md").write_text(text, "utf-8")
    processes.run("index", "-q", "-w", str(folder))
    began = context(run(told(cwd=str(folder)), "session-start")[0])
    asked = "what is the {} of the okapi cluster"
    given = context(run(told(cwd=str(folder), prompt=asked.format("runbook")), "prompt")[0])
    private = str(run(told(cwd=str(folder), prompt=asked.format("salary")), "prompt")[0])
    assert "4711-runbook" in began
    assert "4711-runbook" in given
    assert "4711-salary" not in began + given + private
    found = processes.run("search", asked.format("salary"), "-w", str(folder))
    assert "4711-salary" in found.stdout


def test_a_hook_reads_no_more_than_fifty_files_for_the_first_time(tmp_path: Path) -> None:
    notes = tmp_path / "notes" / "memory"
    notes.mkdir(parents=True)
    (tmp_path / "notes" / "memcli.toml").touch()
    for number in range(51):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\nBread.\n")
    asked = told(session_id="many", cwd=str(notes.parent), prompt=POOL)
    for state in ("not_indexed", "up_to_date"):
        run(asked, "prompt")
        status = processes.run("status", "--json", "-w", str(notes.parent))
        assert json.loads(status.stdout)["state"] == state
        (notes / "50.md").unlink(missing_ok=True)


def test_what_was_given_is_noted_without_a_word_of_it(notes: str) -> None:
    assert run(told(session_id="quiet", cwd=notes, prompt=POOL), "prompt")[0]
    kept = [path for path in Path(os.environ["XDG_CACHE_HOME"]).rglob("*") if path.is_file()]
    noted = [path for path in kept if "index.sqlite" not in path.name]
    assert noted
    for path in noted:
        assert set(path.read_text()) <= {*"0123456789abcdef \n"}, path


def test_two_hooks_at_once_give_a_passage_once(notes: str) -> None:
    data = told(session_id="both", cwd=notes, prompt=POOL)
    both = [start("prompt", data=data) for _ in range(2)]
    one, other = (citations(ended(process)[0]) for process in both)
    assert one | other
    assert one.isdisjoint(other)


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        ("/compact", "the prompt is a command, or too short"),
        ("ok", "the prompt is a command, or too short"),
        ("thanks, looks good to me", "the prompt is small talk"),
        ("what is the capital of Australia?", "the memory has no sure answer"),
    ],
)
def test_a_prompt_without_a_sure_answer_gets_silence_and_verbose_says_why(
    notes: str, prompt: str, why: str
) -> None:
    data = told(cwd=notes, prompt=prompt)
    assert run(data, "prompt") == ({}, "")
    assert run(data, "prompt", "-v") == ({}, f"memcli hook: nothing to add: {why}\n")


def test_a_suggestion_is_made_once_and_stops_nobody(notes: str) -> None:
    wish = told(session_id="w", cwd=notes, prompt="From now on keep commits small")
    stop = told(session_id="w", cwd=notes, hook_event_name="Stop", stop_hook_active=False)
    assert run(stop, "stop")[0] == {}
    run(wish, "prompt")
    assert set(run(stop, "stop")[0]) == {"systemMessage"}
    assert run(stop, "stop")[0] == {}
    assert run(told(session_id="w", cwd=notes), "pre-compact")[0] == {}
    assert run(told(cwd=notes), "pre-compact")[0] == {}  # without a session


def test_the_folder_of_the_agent_says_which_workspace(notes: str, tmp_path: Path) -> None:
    inside = str(Path(notes) / "memory")
    assert "pool" in context(run(told(cwd=inside, prompt=POOL), "prompt")[0])
    by_project = run(told(prompt=POOL), "prompt", CLAUDE_PROJECT_DIR=notes)[0]
    assert "pool" in context(by_project)
    by_variable = run(told(cwd=str(tmp_path), prompt=POOL), "prompt", MEMCLI_WORKSPACE=notes)[0]
    assert "pool" in context(by_variable)
    for cwd in ("relative", "/no/such/folder", "/dev/null", "\0"):
        found = run(told(cwd=cwd, prompt=POOL), "prompt", CLAUDE_PROJECT_DIR=notes)[0]
        assert "pool" in context(found)


def test_a_folder_that_nobody_has_marked_is_not_indexed_by_a_hook(tmp_path: Path) -> None:
    (tmp_path / "readme.md").write_text("# A\n\nThe pool ran dry.\n", "utf-8")
    record, err = run(told(cwd=str(tmp_path), prompt=POOL), "prompt")
    assert record == {}
    assert "is not a workspace, and memcli does not index it. Try: memcli init" in err


def test_a_cache_that_cannot_be_written_silences(notes: str, tmp_path: Path) -> None:
    processes.run("index", "-q", "-w", notes, MEMCLI_STORE=str(tmp_path / "i"))
    (tmp_path / "cache").write_text("no folder", "utf-8")
    record, err = run(
        told(session_id="s", cwd=notes, prompt=POOL), "prompt",
        XDG_CACHE_HOME=str(tmp_path / "cache"), MEMCLI_STORE=str(tmp_path / "i"),
    )  # fmt: skip
    assert record == {}
    assert err.count("\n") == 1
    assert "cannot save" in err


def test_a_damaged_setting_silences(notes: str, tmp_path: Path) -> None:
    (tmp_path / "memcli").mkdir()
    (tmp_path / "memcli" / "config.toml").write_text("no toml at all", "utf-8")
    record, err = run(told(cwd=notes, prompt=POOL), "prompt", XDG_CONFIG_HOME=str(tmp_path))
    assert record == {}
    assert err.count("\n") == 1


def test_what_hangs_is_cut_off_and_what_a_library_writes_stays_off_stdout(
    workspaces: Path, tmp_path: Path
) -> None:
    """The encoder of the server's tests writes to descriptor 1, and waits at a FIFO.

    Beside it, a hook is sent nothing, and another one half an object.
    """
    folder = str(workspaces / "engineer")
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    environ = {"MEMCLI_EMBEDDING_ENCODER": "hashing", "MEMCLI_TEST_GATE": str(gate),
               "MEMCLI_STORE": str(tmp_path / "index")}  # fmt: skip
    processes.run("index", "-q", "-w", folder, **environ)
    command = (sys.executable, str(Path(__file__).parents[1] / "mcp" / "serving.py"))
    nothing, half = (
        start("prompt", "-w", folder, data=data, command=processes.COMMAND)
        for data in (b"", b'{"prompt": "why did')
    )
    waits = told(cwd=folder, prompt="what is behind the gate")
    record, err = run(waits, "prompt", command=command, **environ)
    assert record == {}
    assert err.endswith(CUT_OFF)
    assert ended(nothing) == ended(half) == ({}, CUT_OFF)
    speaks = told(cwd=folder, prompt="ERR_POOL_EXHAUSTED once more")
    record, err = run(speaks, "prompt", command=command, **environ)
    assert record
    assert "a native library speaks" in err


@pytest.mark.parametrize("saved", [{}, {"systemMessage": "memcli saved 2 notes"}])
def test_the_limit_writes_once_and_ends(
    saved: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    from threading import Event

    reply, ended, codes = HookReply(), Event(), []

    def end(code: int) -> None:
        codes.append(code)
        ended.set()

    if saved:
        reply.otherwise(saved)
    reply.limit(0.0, "too long\n", end)
    assert ended.wait(LONG)
    reply.write({"systemMessage": "too late"})
    assert reply.settle() == 0
    assert codes == [0]
    assert capfd.readouterr() == (json.dumps(saved) + "\n", "too long\n")
