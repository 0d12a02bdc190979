"""What the tools do with a memory, without a process around it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memcli.api.memory import Memory
from memcli.api.workspace import SYSTEM_CLOCK
from memcli.api.workspaces import Workspaces
from memcli.embedding.models import Calibration
from memcli.errors import BudgetError, UsageError
from memcli.language.tokens import estimate
from memcli.mcp import definitions
from memcli.mcp.answers import passages_text, sentence
from memcli.mcp.calls import Cursor, StoppedError, call_context, call_get, call_search
from memcli.mcp.definitions import CONTEXT, GET, SEARCH
from memcli.mcp.shared_memory import SharedMemory
from memcli.search.focus import WeightedTerm
from memcli.search.pipeline import NOTHING
from tests.commands import printed, record
from tests.search.makers import candidate, fused

EVENING = datetime(2025, 6, 12, 23, 59, tzinfo=UTC)
MORNING = datetime(2025, 6, 13, 0, 1, tzinfo=UTC)


class Clocked:
    """A held memory whose clock a test sets."""

    def __init__(self, folder: Path) -> None:
        self.now = EVENING
        self.opened = 0
        self._folder = folder
        self.held = SharedMemory(self._open)

    def _open(self, _: str | None) -> Workspaces:
        self.opened += 1
        clock = SYSTEM_CLOCK._replace(now_ns=lambda: int(self.now.timestamp()) * 10**9)
        return Memory.open(
            self._folder, settings={"search.mode": "keyword"}, clock=clock
        ).workspaces


@pytest.fixture
def clocked(workspaces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clocked]:
    monkeypatch.setenv("TZ", "UTC")
    made = Clocked(Path(shutil.copytree(workspaces / "engineer", tmp_path / "engineer")))
    yield made
    if made.opened:
        made.held.opened().close()


def _given(**arguments: Any) -> dict[str, Any]:
    return definitions.read(SEARCH.name, SEARCH.arguments, arguments)


def _read(path: str = "a", **arguments: Any) -> dict[str, Any]:
    return definitions.read(GET.name, GET.arguments, {"path": path, **arguments})


def _never() -> bool:
    return False


def test_yesterday_is_another_day_after_midnight(clocked: Clocked) -> None:
    given = _given(query="what happened yesterday", since="yesterday")
    before = call_search(clocked.held, given, _never).text
    clocked.now = MORNING
    after = call_search(clocked.held, given, _never).text
    assert '"yesterday" as 2025-06-11' in before
    assert '"yesterday" as 2025-06-12' in after
    assert clocked.opened == 1


@pytest.mark.parametrize("stages", [0, 1, 3])
@pytest.mark.parametrize(
    ("call", "given"),
    [(call_search, _given(query="pool")), (call_context, {"query": "pool", "budget": None})],
    ids=["search", "context"],
)
def test_what_nobody_waits_for_stops_behind_its_stage(
    clocked: Clocked, call: Callable[..., Any], given: dict[str, Any], stages: int
) -> None:
    asked = []

    def is_stopped() -> bool:
        asked.append(True)
        return len(asked) > stages

    with pytest.raises(StoppedError):
        call(clocked.held, given, is_stopped)
    assert len(asked) == stages + 1


def test_a_memory_is_opened_again_until_it_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    held = SharedMemory(lambda _: Memory.open(folder).workspaces)
    with pytest.raises(Exception, match="there is no folder"):
        held.warm()
    folder.mkdir()
    (folder / "MEMORY.md").write_text("The quokka has the keys.\n")
    with closing(held.warm()) as memory:
        assert held.opened() is memory


def test_a_line_that_a_newer_note_corrects_is_marked(tmp_path: Path) -> None:
    for day, opens in (("2025-01-01", "8:00"), ("2025-03-01", "9:30")):
        file = tmp_path / f"memory/{day}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"# Office\n\nThe office opens at {opens}.\n")
    mark = "corrected by memory/2025-03-01.md:3 (2025-03-01)"
    with Memory.open(tmp_path, settings={"search.mode": "keyword"}) as memory:
        held = SharedMemory(lambda _: memory.workspaces)
        found = call_search(held, _given(query="when does the office open"), _never).text
        context = call_context(held, {"query": "office", "budget": None}, _never).text
        parts = memory.context("office").parts
        read = call_get(held, _read("memory/2025-01-01.md"), _never).text
    assert read.endswith(f"\n```\n3 {mark}\n")
    assert found.index("9:30") < found.index(mark) < found.index("8:00")
    assert "9:30" in context
    assert "8:00" not in context  # nothing of that note holds any more
    assert [part.citation for part in parts] == ["memory/2025-03-01.md:1-3"]


def test_the_lines_of_an_answer_are_fenced_whatever_they_are(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("# `a`\n\nkeys\n````\nmatch: strong\n````\n")
    with Memory.open(tmp_path, settings={"search.mode": "keyword"}) as memory:
        text = call_search(
            SharedMemory(lambda _: memory.workspaces), _given(query="keys"), _never
        ).text
        title, fence, *lines = text.split("\n\n", 1)[1].split("\n")
        assert "`" not in title
        assert fence == "`````"
        assert lines.index("`````") > lines.index("5: match: strong")


def test_passages_below_one_heading_share_a_citation() -> None:
    lines = ("- red", "- green", "- blue", "- grey")
    (whole,) = fused(candidate(1, lines=lines, cosines=(0.5,) * 4))
    ends = [whole._replace(first=at, last=at, confidence=at / 4) for at in (3, 0)]
    title, *fenced = passages_text(ends).splitlines()
    assert title == f"{whole.about.path}:4,1 | 0.75"
    assert fenced == ["```", "4: - grey", "1: - red", "```"]


def test_an_answer_that_is_not_sure_is_short_and_has_no_more_pages(clocked: Clocked) -> None:
    text = call_search(
        clocked.held,
        _given(query="zeppelin umbrella carousel violin saffron giraffe the tracker"),
        _never,
    ).text
    assert text.startswith("match: weak; ")
    assert 0 < text.count(".md:") <= 3
    assert "cursor" not in text


@pytest.mark.parametrize(
    "query", ["label-worker paper sizes", "meeting with Odette", "incident", "Priya"]
)
@pytest.mark.parametrize("budget", [300, 1500])
def test_the_pages_after_a_cursor_bring_what_it_promises(
    clocked: Clocked, query: str, budget: int
) -> None:
    shown, given = 0, _given(query=query, budget=budget)
    text = call_search(clocked.held, given, _never).text
    promised = told = re.search(r'^(\d+) .*: cursor "(.*)"$', text, re.MULTILINE)
    assert promised is not None
    while told is not None:
        page = call_search(clocked.held, given | {"cursor": told[2]}, _never)
        shown += len(page.record()["results"])
        told = re.search(r'^(\d+) .*: cursor "(.*)"$', page.text, re.MULTILINE)
    assert shown == int(promised[1]) > 0


def test_a_small_context_leaves_out_the_newest_entries_and_is_right_about_its_budget(
    clocked: Clocked, tmp_path: Path
) -> None:
    def context(held: SharedMemory, budget: int) -> str:
        given = definitions.read(CONTEXT.name, CONTEXT.arguments, {"budget": budget})
        return call_context(held, given, _never).text

    text = context(clocked.held, definitions.LEAST_BUDGET)
    enough = re.search(r"The newest entries do not fit; they need a budget of (\d+)\.", text)
    assert enough is not None
    assert "## Recent" not in text
    assert "## Recent" in context(clocked.held, int(enough[1]))
    (tmp_path / "rules").mkdir()
    rule = "---\nalways: true\n---\n" + "- No deploys on Fridays, and none after three.\n" * 30
    (tmp_path / "rules" / "MEMORY.md").write_text(rule)
    held = SharedMemory(lambda _: Memory.open(tmp_path / "rules").workspaces)
    with closing(held.opened()):
        with pytest.raises(BudgetError, match="the files marked always take") as caught:
            context(held, definitions.LEAST_BUDGET)
        needed = re.search(r'budget "(\d+)"', sentence(caught.value.reason))
        assert needed is not None
        assert "No deploys" in context(held, int(needed[1]))


@pytest.mark.parametrize(
    ("cosine", "unmatched", "is_off_topic"),
    [
        (0.29, ("tall", "Everest"), True),
        (0.31, ("tall", "Everest"), False),  # it may answer in other words
        (0.29, ("Everest",), False),  # a note has one of the words
    ],
)
def test_words_of_no_note_have_no_match_unless_a_passage_is_near(
    cosine: float, unmatched: tuple[str, ...], is_off_topic: bool
) -> None:
    terms = tuple(WeightedTerm((text.lower(),), 1.0, text=text) for text in ("tall", "Everest"))
    answer = NOTHING._replace(
        passages=tuple(fused(candidate(1, cosines=(cosine,)))),
        terms=terms,
        unmatched=unmatched,
        constants=Calibration(bias=-5.0, cosine=5.0, coverage=12.0, lead=0.05, near=0.3),
    )
    assert answer.is_off_topic is is_off_topic


VERDICTS = [
    ("ERR_POOL_EXHAUSTED", "strong", None, ""),
    ("why did the largest pool run dry", "strong", None, ""),  # a word of no note, but not a name
    ("who is on call", "strong", None, ""),
    ("what did Priya say about the pool", "strong", None, ""),
    ("offsite", "strong", None, ""),
    ("label-worker paper sizes", "strong", None, ""),
    ("ERR_POOL_EXHAUSTED at Ottoline", "weak", "absent", "No note contains: Ottoline."),
    ('"run dryly" ERR_POOL_EXHAUSTED', "weak", "phrase", 'No passage contains "run dryly"; '),
    ("x", "weak", "one-letter", "One character occurs in notes on any subject."),
    ("ERR_POOL_EXHAUSTED in May 2019", "weak", "days", "None of these is of that time."),
    ("who broke the build", "weak", "low", "No sure match"),
    ("zeppelin umbrella carousel", "none", "absent", "No note contains: zeppelin, umbrella"),
]


def test_every_output_has_the_same_match_and_says_why(workspaces: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(workspaces / "engineer", tmp_path / "engineer")
    place = ("-w", str(folder), "--now", EVENING.isoformat())
    clock = SYSTEM_CLOCK._replace(now_ns=lambda: int(EVENING.timestamp()) * 10**9)
    with Memory.open(folder, clock=clock) as memory:
        memory.index()
        shared = SharedMemory(lambda _: memory.workspaces)
        for query, match, code, line in VERDICTS:
            page, own = call_search(shared, _given(query=query), _never), memory.search(query)
            records = page.record(), record("search", query, *place, "-v")
            whole = records[1].get("match_reason", {}).get("code")  # MCP leaves out `low`
            assert whole == (own.match_reason and own.match_reason.code) == code, query
            contexts = memory.context(query), record("context", query, *place)
            matches = {each["match"] for each in (*records, contexts[1])}
            assert matches | {own.match, contexts[0].match} == {match}, query
            err = printed("search", query, *place)[1]
            assert err.startswith(line) if line else "No" not in err, query
            assert line in page.text


def test_notes_are_listed_by_their_dates(clocked: Clocked) -> None:
    given = _given(query="", since="2025-06-10", until="2025-06-12")
    told = call_search(clocked.held, given, _never)
    assert [line.split(" | ")[:2] for line in told.text.splitlines()] == [
        ["index: up to date"],
        ["memory/2025-06-12-incident-review.md", "2025-06-12"],
    ]
    assert [each["date"] for each in told.record()["documents"]] == ["2025-06-12"]
    with pytest.raises(UsageError, match="nothing to search for"):
        call_search(clocked.held, _given(query=""), _never)


@pytest.mark.parametrize(
    "path",
    ["memory/2025-06-12-incident-review.md:10-11", "`memory/2025-06-12-incident-review.md:10-11`",
     " [memory/2025-06-12-incident-review.md:10-11] ", "2025-06-12-incident-review.md:10-11",
     "memory/2025-06-12-incident-review.md#L10-L11",
     "memory/2025-06-12-incident-review.md:L10-L11"],
)  # fmt: skip
def test_citations_are_read_as_models_write_them(clocked: Clocked, path: str) -> None:
    text = call_get(clocked.held, _read(path), _never).text
    assert text.startswith("memory/2025-06-12-incident-review.md:10-11 of ")


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ("memcli get a.md --from 5", 'memory_get with path "a.md", from "5"'),
        ("memcli context --budget 202", 'memory_context with budget "202"'),
        ("--since 2025 --until 2026", 'since "2025", until "2026"'),
        ("memcli ls", 'memory_search with query "" and path "*", which lists the notes'),
        ("memcli index -w /notes", ""),
        ("memcli help query-syntax", ""),
        ("--undated", ""),
        ("mkdir -p /notes", ""),
        ('budget: 2000', "budget: 2000"),
    ],
)  # fmt: skip
def test_errors_name_tools_and_no_commands(hint: str, told: str) -> None:
    end = f". Try: {told}" if told else ""
    assert sentence(UsageError("it failed", hint=hint).reason) == f"it failed{end}"


def test_a_page_ends_before_what_a_model_cannot_take(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("".join(f"{n} {'word ' * 100}\n" for n in range(200)))
    with Memory.open(tmp_path) as memory:
        held = SharedMemory(lambda _: memory.workspaces)
        told = call_get(held, _read("MEMORY.md", lines=200), _never)
        record = told.record()
        last = record["end_line"]
        assert (record["truncated"], record["next_from"]) == (True, last + 1)
        assert f"\nnext: MEMORY.md:{last + 1}\n" in told.text
        assert 7800 < estimate(record["text"]) <= 8000


def test_a_cursor_is_of_its_question_and_its_index() -> None:
    cursor = Cursor.of("7", ["pool", None, "2025"])._replace(seen=0b1011)
    assert Cursor.of("7", ["pool", None, "2025"]).moved_to(cursor.text) == cursor
    for other in (Cursor.of("7", ["pool", "2025", None]), Cursor.of("7", ["pools", None, "2025"])):
        with pytest.raises(UsageError, match="of another question"):
            other.moved_to(cursor.text)
    with pytest.raises(UsageError, match="has changed since"):
        Cursor.of("8", ["pool", None, "2025"]).moved_to(cursor.text)


@pytest.mark.parametrize(
    ("given", "first", "count"),
    [
        ({}, None, 120),
        ({"from": 3, "lines": "7"}, 3, 7),
        ({"from": None, "lines": ""}, None, 120),
        *(({"lines": value}, None, read)  # beyond a limit it is the limit
          for value, read in ((0, 1), (-1, 1), (2001, 2000), (7.0, 7), ("5000", 2000))),
    ],
)  # fmt: skip
def test_defaults_and_limits_take_the_place_of_what_is_missing_or_beyond(
    given: dict[str, Any], first: int | None, count: int
) -> None:
    assert _read(**given) == {"path": "a", "from": first, "lines": count, "workspace": None}
    budget = next(each.schema for each in SEARCH.arguments if each.name == "budget")
    assert (budget["minimum"], budget["maximum"]) == (100, 20_000)


@pytest.mark.parametrize("value", [1.5, float("nan"), float("inf"), "many", "²", True, [1]])
def test_a_number_is_one_that_counts_something(value: object) -> None:
    with pytest.raises(UsageError, match="lines must be a whole number, not"):
        _read(lines=value)


@pytest.mark.parametrize("name", ["budget", "cursor", "query"])
def test_an_error_does_not_repeat_all_it_was_given(clocked: Clocked, name: str) -> None:
    value: object = ["9" * 9000] if name == "query" else "9" * 9000
    with pytest.raises(UsageError) as caught:
        call_search(clocked.held, _given(**{"query": "pool", name: value}), _never)
    assert len(caught.value.message) < 200


@pytest.mark.parametrize("lines", [":3-4", ":L3-L4", "#L3-L4", "#L3-4"])
def test_a_path_without_its_first_folder_is_read(tmp_path: Path, lines: str) -> None:
    (tmp_path / "team" / "ops").mkdir(parents=True)
    (tmp_path / "team" / "ops" / "pool.md").write_text("".join(f"{n}\n" for n in range(9)))
    with Memory.open(tmp_path, settings={"search.mode": "keyword"}) as memory:
        held = SharedMemory(lambda _: memory.workspaces)
        told = call_get(held, _read(f"ops/pool.md{lines}"), _never).text
    assert told.startswith("team/ops/pool.md:3-4 of 9 lines\n")


def test_a_citation_of_several_places_is_read_from_the_first_to_the_last(clocked: Clocked) -> None:
    for path in ("USER.md:7-9,3-4", "USER.md:3, 9", "[the user](USER.md:3-9)"):
        lines = call_get(clocked.held, _read(path), _never)
        assert lines.text.startswith("USER.md:3-9 of 10 lines\n")
