"""What the commands write under --json is what the schemas in the package say."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.commands import SCHEMAS, NewWorkspace, checked, printed, say
from tests.support import by_night

NAMES = sorted(file.name.removesuffix(".1.json") for file in SCHEMAS.glob("*.json"))
ROUNDED = ("score", "confidence")
OF_LINES = ("start_line", "end_line", "citation", "snippet")  # of results that are joined


@cache
def _schema(name: str) -> dict[str, Any]:
    schema = json.loads((SCHEMAS / f"{name}.1.json").read_text("utf-8"))
    assert isinstance(schema, dict)
    return schema


@cache
def _lenient(name: str) -> Draft202012Validator:
    return Draft202012Validator(_schema(name))


def _checked(name: str, text: str) -> dict[str, Any]:
    """Return a record that is as its schema says; another key of a later version is allowed."""
    record = checked(name, text)
    _lenient(name).validate({**record, "of a later version": None})
    return record


def _undescribed(node: object, path: str) -> list[str]:
    """List the properties without a description."""
    if isinstance(node, list):
        return [name for each in node for name in _undescribed(each, path)]
    if not isinstance(node, dict):
        return []
    own = node.get("properties", {})
    named = [(f"{path}/{key}", each) for key, each in own.items() if isinstance(each, dict)]
    missing = [name for name, each in named if "description" not in each]
    inner = [name for at, each in named for name in _undescribed(each, at)]
    rest = {key: each for key, each in node.items() if key not in ("properties", "if", "then")}
    return [*missing, *inner, *_undescribed(list(rest.values()), path)]


@pytest.mark.parametrize("name", NAMES)
def test_every_property_is_described(name: str) -> None:
    assert _undescribed(_schema(name), "") == []


@pytest.fixture(params=["engineer", "empty", *by_night("hostile", "cjk")])
def notes(request: pytest.FixtureRequest, workspaces: Path, workspace: NewWorkspace) -> Path:
    return workspace(workspaces / request.param, encoder="hashing")


@pytest.mark.parametrize("name", NAMES)
def test_every_schema_is_sound_and_named_by_its_file(name: str) -> None:
    schema = _schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"{name}/1"
    assert schema["properties"]["schema"]["const"] == f"{name}/1"
    assert "schema" in schema["required"]
    assert '"additionalProperties": false' not in json.dumps(schema)


def test_every_schema_is_held_against_real_output() -> None:
    tests = Path(__file__).parents[1]
    code = "".join(file.read_text("utf-8") for file in tests.rglob("test_*.py"))
    checked = {name for name in NAMES if re.search(rf'"{re.escape(name)}(\.1\.json)?"', code)}
    assert set(NAMES) - checked == set()


def test_config_context_and_why_not_are_as_their_schemas_say(notes: Path) -> None:
    _checked("memcli.config", say("config", "--json")[1])
    _checked("memcli.init", say("init", "--json")[1])
    for query in ((), ("pool OR 部署",)):
        _checked("memcli.context", say("context", *query, "--json", "--explain", "--tail", "0")[1])
    if (notes / "MEMORY.md").exists():
        missed = say("search", "pool", "--why-not", "MEMORY.md:1-2", "--json")[1]
        assert _checked("memcli.why-not", missed)["schema"] == "memcli.why-not/1"


LISTS = ((), ("--count", "tag"), ("--tag", "nosuch"), ("--on", "2025-06"), ("-n", "1"),
         ("--count", "kind", "-n", "1"), ("--since", "last week"))  # fmt: skip


def test_lists_are_as_their_schema_says(notes: Path) -> None:
    for flags in LISTS:
        record = _checked("memcli.ls", printed("ls", "--json", "-w", ".", *flags)[0])
        assert ("counts" in record) == ("--count" in flags) != ("documents" in record)
        assert not (record.get("documents") and "empty_reason" in record)


RELATED = ((), ("--mode", "keyword"), ("--tag", "nosuch"), ("--fields", "path,text,cosine"))


def test_what_is_related_is_as_its_schema_says(notes: Path) -> None:
    for at, place in enumerate(sorted(notes.rglob("*.md"))):
        name = str(place.relative_to(notes))
        flags = RELATED[at % len(RELATED)]
        code, out, _ = say("related", f"./{name}", "--json", "-w", ".", *flags)
        if code == 0:
            record = _checked("memcli.related", out)
            assert record["place"]["citation"].startswith(f"{name}:")
            assert not (record["results"] and "empty_reason" in record)
        else:
            assert code == 3


def test_index_and_status_are_as_their_schemas_say(notes: Path) -> None:
    _checked("memcli.status", say("status", "--json", "-w", ".")[1])
    _checked("memcli.index-plan", say("index", "--dry-run", "--json", "-w", ".")[1])
    _checked("memcli.index-clean", say("index", "--clean", "--json")[1])
    _checked("memcli.index", say("index", "--json", "-w", ".")[1])
    (notes / "memory" / "2026-02-18.md").write_text("# New\n\nA zebrafish.\n")
    _checked("memcli.index", say("index", "--json", "--full", "--prune", "-w", ".")[1])
    _checked("memcli.status", say("status", "--json", "--deep", "-w", ".")[1])


def test_compact_and_what_stands_behind_are_as_their_schemas_say(notes: Path) -> None:
    small = ("--tail", "1", "--tail-days", "0", "--ratio", "0.9", "--cluster", "2", "--json")
    made = _checked("memcli.compact", say("compact", *small, "--show")[1])["summaries"]
    for action in ("--apply", "--verify"):
        _checked("memcli.compact", say("compact", *small, action)[1])
    for word in ("pool", "東京"):
        arguments = ("search", word, "--view", "active", "--expand", "--json", "-w", ".")
        _checked("memcli.search", say(*arguments)[1])
    for summary in made:
        record = say("get", summary["path"], "--expand", "--json", "-w", ".")[1]
        assert _checked("memcli.get", record)["expanded"]
    _checked("memcli.compact", say("compact", *small, "--undo")[1])


QUERIES = ("pool", "fact", "東京", "why did it run dry in June 2025")
SEARCHES = ((), ("--full", "--explain"), ("--mode", "keyword"), ("--on", "2025-06"),
            ("--budget", "30"))  # fmt: skip


def test_search_is_as_its_schema_says(notes: Path) -> None:
    for query, flags in product(QUERIES, SEARCHES):
        line = ("search", query, "--json", "-w", ".", *flags)
        few = _checked("memcli.search", say(*line)[1])
        record = _checked("memcli.search", printed(*line, "-v")[0])
        if "--full" not in flags and "--budget" not in flags:
            for short in few["results"]:  # joins results, and has no title
                own = {k: v for k, v in short.items() if k not in OF_LINES}
                assert any(
                    result["start_line"] <= short["start_line"] <= result["end_line"]
                    and short["snippet"].split("\n")[0] in result["snippet"]
                    and own.items() <= {**result, **_rounded(result)}.items()
                    for result in record["results"]
                )
        ranks = [result["rank"] for result in record["results"]]
        assert ranks == list(range(1, len(ranks) + 1))


def _rounded(result: dict[str, Any]) -> dict[str, Any]:
    return {k: v if v is None else round(v, 3) for k, v in result.items() if k in ROUNDED}


def test_json_costs_at_most_1_6_times_the_text(
    workspaces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shutil.copytree(workspaces / "engineer", tmp_path / "engineer"))
    assert say("index", "-q", "-w", ".")[0] == 0
    judged = (
        (Path(__file__).parents[2] / "fixtures/eval/engineer.jsonl").read_text("utf-8").splitlines()
    )
    questions = [json.loads(line)["query"] for line in judged[::4]]
    text, record = (
        sum(len(say("search", each, "-w", ".", *form)[1]) for each in questions)
        for form in ((), ("--json",))
    )
    assert text < record <= 1.6 * text


@pytest.fixture
def twice(notes: Path) -> Path:
    """The same documents twice, as the memory and as another source."""
    shutil.copytree(notes, notes / "copy")
    (notes / "memcli.toml").write_text('[[source]]\nname = "copy"\npath = "copy"\n')
    return notes


@pytest.mark.parametrize("source", ["memory", "copy"])
def test_what_search_cites_get_gives_with_the_same_hash(twice: Path, source: str) -> None:
    search = ("search", "the", "--json", "--full", "-w", ".", "--source", source)
    for result in _checked("memcli.search", say(*search)[1])["results"]:
        got = _checked("memcli.get", say("get", result["citation"], "--json", "-w", ".")[1])
        assert (got["source"], got["path"]) == (source, result["path"])
        assert got["text_hash"] == result["text_hash"]
        assert got["text"] == result["text"]


CONTEXTS = ((), ("--budget", "320", "--tail", "0", "--explain"), ("--profile", "two-pass"),
            ("--no-sync",))  # fmt: skip


def test_context_is_as_its_schema_says(notes: Path) -> None:
    say("index", "-w", ".")
    cited: dict[str, Any] = {}
    for query, flags in product(("", *QUERIES), CONTEXTS):
        out, _ = printed("context", query, "--json", "-w", ".", *flags)
        record = _checked("memcli.context", out)
        assert ("plan" in record) is ("--explain" in flags)
        cited |= {part["citation"]: part for part in record["parts"]}
    for citation, part in cited.items():
        got = _checked("memcli.get", say("get", citation, "--json", "-w", ".")[1])
        lines = [got["start_line"], got["end_line"]]
        assert lines == [part["start_line"], part["end_line"]]


def test_jsonl_is_the_results_alone(notes: Path) -> None:
    whole = _checked("memcli.search", say("search", "fact pool", "--json", "-w", ".")[1])
    lines = say("search", "fact pool", "-f", "jsonl", "-w", ".")[1].split("\n")
    assert [json.loads(line) for line in lines if line] == whole["results"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "--json"),
        ("search", "x", "--json", "-w", "nowhere"),
        ("search", "x", "--json", "--no-sync", "-w", "."),
        ("search", "x", "--json", "--mode", "fuzzy", "-w", "."),
        ("get", "nothing.md", "--json", "-w", "."),
        ("get", "MEMORY.md", "nothing.md", "--json", "-w", "."),
        ("context", "--json", "--budget", "none", "-w", "."),
        ("context", "--json", "-w", "nowhere"),
        ("nothing", "--json"),
    ],
    ids=" ".join,
)
def test_an_error_is_one_object_on_stderr_and_nothing_on_stdout(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "MEMORY.md").write_text("The pool has 20 handles.\n")
    code, out, err = say(*arguments)
    assert code in (2, 3, 4)
    assert out == ""
    assert err.count("\n") == 1
    _checked("memcli.error", err)


def test_a_bug_is_said_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(line: Sequence[str]) -> None:
        raise RuntimeError(f"no {line[0]} today")

    monkeypatch.setattr("memcli.cli.plain.plain_call", broken)
    code, out, err = say("search", "x", "--json")
    assert (code, out) == (70, "")
    assert _checked("memcli.error", err)["code"] == "bug"
    with pytest.raises(RuntimeError, match="no search today"):
        say("search", "x", "--debug")
