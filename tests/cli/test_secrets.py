"""A secret of a note stands in no output of any command, but where it is asked for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import memcli
from memcli.config.settings import load
from memcli.search.question import redacted_question
from memcli.secrets.finding import find_secrets, redacted
from memcli.secrets.rules import Rule
from tests.commands import NewWorkspace, typed
from tests.secrets.examples import EXAMPLES, IDS
from tests.support import write

TOKEN = "ghp_" + "q8ZrT2mVx7KdLw4Hs9Bn3YfGc6Jp5Rt1EaUv"
PASSWORD = "Vx7KdLw4Hs9B"
PEM_LINE = "q8ZrT2mVx7KdLw4H" * 4
PEM = "\n".join(["-----BEGIN PRIVATE KEY-----", *[PEM_LINE] * 30, "-----END PRIVATE KEY-----"])
PLANTED = (TOKEN, PASSWORD, PEM_LINE, "sk_live_" + "q8ZrT2mVx7KdLw4Hs9Bn3YfG")


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    key = f"---\ntitle: Key {TOKEN}\ntags: [{TOKEN}]\n---\n# Key {TOKEN}\n\nThe key of api-7:\n\n"
    return workspace({
        "memory/key.md": f"{key}```\n{PEM}\n```\n\n[[2026-01-01]] has more.\n",
        "MEMORY.md": f"---\nalways: true\n---\n# Rules\n\nNever share {TOKEN}.\n",
        **{f"memory/2026-01-0{day}.md": (
            f"# Day {day}\n\n- We decided to deploy with {TOKEN} on day {day}, by pipeline {day}.\n"
            f"- The pool of db-{day} is at postgres://app:{PASSWORD}@db{day}.internal/app\n"
            f"- I prefer tea, and {PLANTED[3]} for payments on day {day}.\n"
        ) for day in range(1, 7)},
    }, encoder="hashing")  # fmt: skip


COMMANDS = (
    "index --json -v", "search deploy --more", "search deploy --json --full --explain",
    "search deploy -f jsonl", "search deploy -f markdown", "search deploy -f vimgrep",
    "search deploy -f '{snippet}\\t{title}\\t{text}'", "search 'key of api-7' -C 5 --more",
    "search 'key of api-7' --full --json --expand", "search pool --color always -n 20",
    "search deploy --why-not memory/key.md", "search deploy --trace receipt.json",
    "search deploy --view active --expand --json", "search deploy --sync --mode keyword -v",
    "context", "context deploy --json --explain", "context pool --trace context.json",
    "context deploy --budget 4000", "get memory/key.md", "get memory/key.md:12-20 --json",
    "get MEMORY.md --from 1 --lines 9", "related memory/2026-01-01.md:3 --json",
    "related memory/key.md", "ls", "ls --json", "ls --count tag", "ls --count key", "status --deep",
    "status --json", "compact --tail 0 --tail-days 0 --cluster 2 --ratio 0.9 --show",
    "compact --tail 0 --tail-days 0 --cluster 2 --ratio 0.9 --apply --json", "compact --verify",
    "search deploy --view active --expand", "get memory/2026-01-01.md --expand",
    "remember --check memory/2026-01-01.md", "remember --check memory/key.md --json",
    f"remember 'deploy with {TOKEN}'", f"remember 'deploy with {TOKEN}' --json --explain",
    f"remember 'rotate {TOKEN} on Friday' --force --dry-run", "bench init --json",
    "bench quality .memcli/questions.jsonl --json -v", "pick deploy", "config",
    f"remember 'rotate {TOKEN} on Friday' --force --json", "remember --undo --json",
    "search deploy --no-sync", "index --full", "lint", "lint --json",
    f"search 'deploy {TOKEN}' --json --trace asked.json", f"search {TOKEN} -v",
    f"search '\"{TOKEN}\" nowhere' --explain", f"search {TOKEN} --why-not memory/key.md",
    f"context 'deploy {TOKEN}' --json --trace told.json", f"changes '{TOKEN}' --json",
    f"search 'postgres://app:{PASSWORD}@db1.internal/app' --json", f"pick {TOKEN}",
    f"search deploy --since {TOKEN}", f"search deploy --tag {TOKEN}", f"get {TOKEN} --json",
    f"search deploy --{TOKEN}", f"remember x --type {TOKEN}", f"get memory/key.md#{TOKEN}",
)  # fmt: skip


def _is_clean(text: str) -> bool:
    return not any(planted in text for planted in PLANTED)


def test_no_output_of_any_command_holds_a_planted_secret(notes: Path) -> None:
    for line in COMMANDS:
        code, out, err = typed(line)
        assert code in (0, 1, 2, 3), (line, err)
        assert _is_clean(out), line
        assert _is_clean(err), line
    for written in [
        *notes.rglob("*.json*"),
        *notes.rglob("summaries/*.md"),
        *notes.rglob("*.html"),
    ]:
        assert _is_clean(written.read_text("utf-8")), written


def test_no_heading_of_a_note_holds_one(notes: Path) -> None:
    line = f"remember 'rotate the key' --heading 'Key {TOKEN}' --now 2026-02-10"
    assert typed(f"{line} --json")[0] == 1
    assert not (notes / "memory/2026-02-10.md").exists()
    assert typed(f"{line} --force")[0] == 0
    assert TOKEN in (notes / "memory/2026-02-10.md").read_text("utf-8")


def test_python_is_given_none(notes: Path) -> None:
    with memcli.Memory.open(notes) as memory:
        told = [
            memory.search("deploy pipeline pool key", full=True, limit=50),
            memory.context("deploy pipeline pool key", budget=20_000),
            memory.related("memory/2026-01-01.md"),
            memory.documents(),
            memory.get("memory/key.md"),
            memory.remember(f"rotate {TOKEN}"),
            memory.remember(f"rotate {TOKEN}", force=True, dry_run=True),
            memory.status(deep=True),
        ]
    assert _is_clean(repr(told))


def test_a_question_with_a_secret_finds_the_lines_that_had_one(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "[secret: github-token]" in typed(f"search {TOKEN} -n 1 --mode keyword")[1]
    monkeypatch.setenv("MEMCLI_SECRETS", "off")
    assert TOKEN in typed(f"search {TOKEN} -n 1 --mode keyword")[1]


def test_no_question_hides_a_secret_of_any_kind(tmp_path: Path) -> None:
    config = load(str(tmp_path), {}, {})
    for _, example in EXAMPLES:
        for text in (example, f"why is {example} refused?"):
            assert redacted_question(text, config) == redacted(text) != text
    assert redacted_question("why did the pool run dry", config) == "why did the pool run dry"


def test_no_file_of_the_index_holds_one(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = notes.parent / "store" / "index.sqlite"
    monkeypatch.setenv("MEMCLI_STORE", str(store))
    assert typed("index")[0] == 0
    for file in store.parent.iterdir():
        data = file.read_bytes()
        assert not any(planted.encode() in data for planted in PLANTED), file


def test_one_that_yaml_writes_in_pieces_or_as_other_signs_is_none_the_less_one(notes: Path) -> None:
    escaped = f"\\x67{TOKEN[1:]}"
    front = f'title: "Key {TOKEN[:9]}\\\n  {TOKEN[9:]}"\ntags: ["{escaped}"]\n"{escaped}": [1]\n'
    write(notes, "memory/pieces.md", f"---\n{front}---\n\nThe pieces of a key.\n")
    for line in ("search pieces --json -v", "ls --json", "ls --count tag", "ls --count key"):
        _, out, err = typed(line)
        assert "[secret: github-token]" in out
        assert TOKEN not in out + err


def test_a_line_with_a_secret_is_found_by_its_other_words(notes: Path) -> None:
    out = typed("search 'pipeline 4' -n 1 --mode keyword")[1]
    assert "deploy with [secret: github-token] on day 4, by pipeline 4." in out
    assert "postgres://app:[secret: url-password]@db4.internal/app" in typed("get memory")[1] + out


def test_what_is_asked_for_is_shown_by_get_alone(notes: Path) -> None:
    out = typed("get memory/2026-01-01.md --show-secrets")[1]
    assert out == (notes / "memory/2026-01-01.md").read_text("utf-8")
    hidden = typed("get memory/key.md")[1]
    assert hidden.count("\n") == (notes / "memory/key.md").read_text("utf-8").count("\n")


@pytest.mark.parametrize(("rule", "example"), EXAMPLES, ids=IDS)
def test_every_kind_is_redacted(notes: Path, rule: Rule, example: str) -> None:
    (secret,) = find_secrets(example)
    write(notes, "memory/one.md", f"# One\n\n{example}\n")
    out = typed("get memory/one.md")[1]
    assert example[secret.start : secret.end] not in out
    assert f"[secret: {rule.name}]" in out


def test_a_program_that_summarises_is_given_none(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import pathlib, sys\n"
        "text = sys.stdin.read()\n"
        f"with open({str(tmp_path / 'given')!r}, 'a') as file: file.write(text)\n"
        "print(text)\n",
        "utf-8",
    )
    table = f'[compact]\ncommand = ["{sys.executable}", "{program}"]\n'
    write(Path(os.environ["XDG_CONFIG_HOME"]), "memcli/config.toml", table)
    line = "compact --summarizer command --tail 0 --tail-days 0 --cluster 2 --ratio 0.9"
    code, out, err = typed(line)
    assert code in (0, 2), err
    assert _is_clean(out + err)
    given = (tmp_path / "given").read_text("utf-8")
    assert "pipeline" in given
    assert _is_clean(given)


def test_the_setting_is_obeyed_and_what_is_indexed_follows_it(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "search 'pipeline 4' -n 1 --mode keyword"
    assert TOKEN not in typed(line)[1]
    monkeypatch.setenv("MEMCLI_SECRETS", "warn")
    _, out, err = typed(line)
    assert TOKEN in out
    assert "memory/2026-01-04.md:1-5 contains a secret: github-token (" in err
    assert TOKEN not in err
    assert "contains a secret: github-token (" in typed("get memory/2026-01-04.md")[2]
    assert "contains a secret: github-token (" in typed("context pipeline")[2]
    monkeypatch.setenv("MEMCLI_SECRETS", "off")
    assert typed(line)[2] == ""
    monkeypatch.delenv("MEMCLI_SECRETS")
    assert TOKEN not in typed(line)[1]
