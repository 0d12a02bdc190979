"""Workspaces whose vectors different models made: each is asked by its own, and all answer as one.

The own workspace has vectors of the stand-in for an encoder, which reads letters and was never
calibrated; `home` has those of the model that comes along.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.test_several import cited, record_of
from tests.commands import printed, say
from tests.context.makers import put

MEANT = "swimming pool ran dry"  # no word of it stands in BASIN
BASIN = "home:memory/basin.md:1-3"
POOL = "notes:memory/pool.md:1-3"
FILES = {
    "notes": {
        "memory/pool.md": "# Pool\n\nThe pool ran dry because of OPS-417.\n",
        "memory/ferry.md": "# Ferry\n\nThe ferry leaves from pier nine.\n",
    },
    "home": {
        "memory/basin.md": "# Basin\n\nThe water of the tub was gone before dawn.\n",
        "memory/garden.md": "# Garden\n\nThe tulips stand by the fence.\n",
    },
}


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name, files in FILES.items():
        put(tmp_path / name, files)
    put(tmp_path / "home", {"memcli.toml": '[embedding]\nencoder = "bundled"\n'})
    named = "".join(f"{name} = {json.dumps(str(tmp_path / name))}\n" for name in FILES)
    own = f'[embedding]\nencoder = "hashing"\n[workspaces]\n{named}'
    put(tmp_path / "config", {"memcli/config.toml": own})
    monkeypatch.chdir(tmp_path)
    printed("index", "--everywhere")
    return tmp_path


def parts(*arguments: str) -> list[str]:
    record = record_of("memcli.context", "context", *arguments)
    return [each["citation"] for each in record["parts"] if each["section"] == "passages"]


def test_each_is_found_by_its_own_vectors(base: Path) -> None:
    record = record_of("memcli.search", "search", MEANT, "--everywhere", "-v")
    found = [each["citation"] for each in record["results"]]
    assert found.index(BASIN) < found.index("home:memory/garden.md:1-3")
    assert POOL in found
    semantic = record["retrievers"]["semantic"]
    assert (semantic["ran"], semantic["embedded"], semantic["total"]) == (True, 4, 4)
    assert record["retrievers"]["keyword"]["total"] == 4
    assert BASIN not in cited(MEANT, "--everywhere", "--mode", "keyword")
    assert cited(MEANT, "--everywhere", "-n", "1") == found[:1]


def test_a_context_holds_what_each_model_finds(base: Path) -> None:
    found = parts(MEANT, "--everywhere")
    assert {BASIN, POOL} <= set(found)
    assert parts(MEANT, "-w", "home", "-w", "notes").index(BASIN) < 2
    record = record_of("memcli.context", "context", MEANT, "--everywhere", "--budget", "90", "-v")
    assert record["tokens"] <= 90
    assert record["retrievers"]["semantic"]["ran"]
    few = say("context", "pool", "--budget", "1", "--tail", "0", "-w", "home", "-w", "notes")
    assert "--workspace home --workspace notes" in few.err


def test_a_context_follows_links_and_shows_no_line_twice(base: Path) -> None:
    put(base / "home", {
        "memory/basin.md": "See [garden](garden.md). The tub was dry before dawn.\n",
        "memory/rules.md": "---\nalways: true\n---\nThe basin is filled on Mondays.\n",
    })  # fmt: skip
    printed("index", "--everywhere")
    record = record_of("memcli.context", "context", MEANT, "--everywhere")
    cited = [(each["citation"], each["section"]) for each in record["parts"]]
    assert len({citation for citation, _ in cited}) == len(cited)
    assert ("home:memory/rules.md:4", "always") in cited
    linked = [each for each in record["parts"] if each["citation"].startswith("home:memory/garden")]
    assert [each["via"] for each in linked] == ["home:memory/basin.md:1"]


def test_preferences_are_brought_up_by_each_model(base: Path) -> None:
    wanted = {"notes": "I prefer the indoor pool.", "home": "I prefer to swim at noon."}
    for name, line in wanted.items():
        put(base / name, {"memory/likes.md": f"- {line}\n"})
    printed("index", "--everywhere")
    record = record_of("memcli.context", "context", "swimming pool", "--everywhere")
    texts = [each["text"] for each in record["parts"] if each["section"] == "preferences"]
    assert sorted(texts) == sorted(f"- {line}" for line in wanted.values())


def test_lines_behind_summaries_are_found_by_the_model_of_their_workspace(
    base: Path, compacted: Path
) -> None:
    shutil.copytree(compacted, base / "home", dirs_exist_ok=True)
    printed("index", "--everywhere")
    wanted = ("search", "database migration", "--everywhere", "--view", "active", "--expand")
    record = record_of("memcli.search", *wanted)
    assert record["expanded"]
    assert all(each["summary"].startswith("home:memory/summ") for each in record["expanded"])
    alone = record_of("memcli.search", *wanted[:2], "-w", "home", *wanted[3:])["expanded"]
    assert [each["citation"] for each in record["expanded"]] == [
        f"home:{each['citation']}" for each in alone
    ]


def test_it_is_said_and_what_has_no_vectors_here_too(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in ("search", "context"):
        _, told = printed(command, MEANT, "--everywhere")
        assert (
            "home: the vectors are from another model; memcli searches with each model and merges"
            " the passages by confidence. Try: memcli help workspaces\n"
        ) in told
        assert "keywords only" not in told
    assert "another model" not in printed("context", "--everywhere")[1]
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    for command in ("search", "context"):
        _, told = printed(command, MEANT, "--everywhere")
        assert (
            "keywords only: home: the index has vectors of another model."
            " Try: memcli index --everywhere\n"
        ) in told
    record = record_of("memcli.search", "search", MEANT, "--everywhere", "-v")
    assert record["retrievers"]["semantic"]["ran"]
    assert record["retrievers"]["semantic"]["reason"].startswith("home: ")


def test_lines_are_followed_through_the_search_of_their_model(base: Path) -> None:
    """What the other models found beside them is counted, and they stand where they are shown."""
    record = record_of("memcli.search", "search", MEANT, "--everywhere")
    places = [each["citation"] for each in record["results"]]
    followed = ("memcli.why-not", "search", MEANT, "--everywhere", "--why-not")
    for place in (BASIN, POOL):
        told = record_of(*followed, place)
        assert told["conclusion"] == f"shown, rank {places.index(place) + 1} of {len(places)}"
        assert told["stages"][-1]["rank"] == places.index(place) + 1
    last = record_of(*followed, places[-1], "-n", "1")
    assert last["conclusion"].startswith("lost at ")


def test_a_misspelt_word_that_only_one_model_has_read_is_looked_for_by_both(base: Path) -> None:
    put(base / "home", {"memory/code.md": "The quagmirella stands by the fence.\n"})
    printed("index", "--everywhere")
    assert "home:memory/code.md:1" in cited("quagmirela", "--everywhere")[:2]


def test_what_is_private_stays_so_beside_another_model(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(base / "home", {"memory/secret.md": "---\nscope: private\n---\nThe tulips are stolen.\n"})
    printed("index", "--everywhere")
    assert "home:memory/secret.md:4" not in cited("tulips stolen", "--everywhere")
    assert "stolen" not in printed("context", "tulips", "--everywhere")[0]
    monkeypatch.chdir(base / "home")
    assert any(each.endswith("secret.md:4") for each in cited("tulips stolen", "--everywhere"))
    assert "stolen" in printed("context", "tulips", "--everywhere")[0]


def test_limit_budget_and_order_are_for_all_together(base: Path) -> None:
    for name, day in (("notes", "2025-02-03"), ("home", "2025-02-04"), ("home", "2025-02-01")):
        put(base / name, {f"memory/{day}.md": f"The tub and the pool {name} {day[-2:]} filled.\n"})
    printed("index", "--everywhere")
    wanted = ("search", "pool tub filled", "--everywhere")
    record = record_of("memcli.search", *wanted, "--budget", "20", "-v")
    assert sum(each["tokens"] for each in record["results"]) <= 20
    assert record["omitted_over_budget"] + record.get("omitted_low_confidence", 0) > 0
    newest = record_of("memcli.search", *wanted, "--sort", "newest", "-v")["results"]
    days = [each["date"] for each in newest if each["date"]]
    assert days == sorted(days, reverse=True)
    assert set(days) == {"2025-02-03", "2025-02-04", "2025-02-01"}


def test_what_both_hold_is_told_once(base: Path) -> None:
    for name in FILES:
        put(base / name, {"memory/same.md": "The tub of the lodge is filled on Mondays.\n"})
    printed("index", "--everywhere")
    found = record_of("memcli.search", "search", "tub of the lodge", "--everywhere")["results"]
    (same,) = [each for each in found if "lodge" in each["snippet"]]
    assert {same["citation"], *same["duplicates"]} == {f"{name}:memory/same.md:1" for name in FILES}
    assert printed("context", "tub of the lodge", "--everywhere")[0].count("lodge") == 1
