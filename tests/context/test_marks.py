"""What front matter and configuration say of a document takes effect in context and search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import commands
from tests.context.makers import NOW, put, record

TWINS = {
    "memory/a.md": "# Aviary\n\nA heron eats a carp.\n",
    "memory/b.md": "# Basin\n\nA heron eats a carp.\n",
}


@pytest.fixture(autouse=True)
def _without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")


def marked(mark: str, text: str) -> str:
    return f"---\n{mark}\n---\n{text}"


def in_front_matter(root: Path, mark: str) -> Path:
    """Two files that say the same; the second has a mark."""
    return put(root, {**TWINS, "memory/b.md": marked(mark, TWINS["memory/b.md"])})


def in_config(root: Path, key: str) -> Path:
    """Two files that say the same; the second is in a source with a key of the configuration."""
    block = f'[[source]]\nname = "docs"\npath = "docs"\n{key}\n'
    return put(root, {
        "memory/a.md": TWINS["memory/a.md"], "docs/b.md": TWINS["memory/b.md"],
        "memcli.toml": block,
    })  # fmt: skip


def found(root: Path, *arguments: str) -> list[dict[str, Any]]:
    results = commands.record("search", *arguments, "-v", "-w", str(root), "--now", NOW)["results"]
    assert isinstance(results, list)
    return results


def names(parts: list[dict[str, Any]], section: str) -> list[str]:
    """Name the files of a section, best first: a or b."""
    return [part["path"][-4:-3] for part in parts if part["section"] == section]


def scores(results: list[dict[str, Any]]) -> dict[str, float]:
    return {result["path"][-4:-3]: result["score"] for result in results}


@pytest.mark.parametrize("section", ["always", "soft"])
@pytest.mark.parametrize("place", ["front matter", "source", "glob", "files"])
def test_always_and_soft(tmp_path: Path, place: str, section: str) -> None:
    if place == "front matter":
        root = in_front_matter(tmp_path, f"{section}: true")
    elif place == "files":
        root = put(tmp_path, {**TWINS, "memcli.toml": f'[files]\n{section} = ["memory/b.md"]\n'})
    else:
        value = "true" if place == "source" else '["b.*"]'
        root = in_config(tmp_path, f"{section} = {value}")
    for query in ("", "heron", "nothing of the kind"):
        parts = record(root, query, "--budget", "2000")["parts"]
        assert names(parts, section) == ["b"]
        assert "b" not in names(parts, "passages")
    # A search shows a rule as any other document.
    assert sorted(scores(found(root, "heron"))) == ["a", "b"]


def test_soft_gives_way_to_always(tmp_path: Path) -> None:
    parts = record(in_front_matter(tmp_path, "soft: true\nalways: true"))["parts"]
    assert (names(parts, "always"), names(parts, "soft")) == (["b"], [])


@pytest.mark.parametrize("how", [in_front_matter, in_config])
def test_authority(tmp_path: Path, how: Any) -> None:
    mark = "authority: 0.2" if how is in_front_matter else "authority = 0.2"
    root = how(tmp_path, mark)
    # omega = (0.5 r + 0.3 a) / 0.8, r = 1 for undated documents
    lower = (0.5 + 0.3 * 0.2) / 0.8
    parts = record(root)["parts"]
    assert names(parts, "passages") == ["a", "b"]
    assert [part["score"] for part in parts] == pytest.approx([1.0, lower])
    asked = record(root, "heron carp", "--profile", "two-pass")["parts"]
    assert names(asked, "passages") == ["a", "b"]
    two_pass = scores(found(root, "heron carp", "--profile", "two-pass"))
    assert two_pass["b"] == pytest.approx(two_pass["a"] * lower)


def test_authority_orders_the_rules(tmp_path: Path) -> None:
    root = put(tmp_path, {
        "memory/a.md": marked("always: true\nauthority: 0.5", "One.\n"),
        "memory/b.md": marked("always: true\nauthority: 0.9", "Two.\n"),
    })  # fmt: skip
    assert names(record(root)["parts"], "always") == ["b", "a"]


def test_importance_breaks_ties_where_nothing_is_asked(tmp_path: Path) -> None:
    assert names(record(put(tmp_path, TWINS))["parts"], "passages") == ["a", "b"]
    root = in_front_matter(tmp_path, "importance: 0.5")
    assert names(record(root)["parts"], "passages") == ["b", "a"]


@pytest.mark.parametrize("how", [in_front_matter, in_config])
def test_scope(tmp_path: Path, how: Any) -> None:
    mark = "scope: user" if how is in_front_matter else 'scope = "user"'
    root = how(tmp_path, mark)
    assert names(record(root)["parts"], "passages") == ["b", "a"]  # of equals what is the user's
    assert list(scores(found(root, "heron", "--scope", "user"))) == ["b"]
    # convex: 0.1 * 0.6 for the user's, 0.1 * 0.3 for what is global
    convex = scores(found(root, "heron carp", "--profile", "convex"))
    assert convex["b"] - convex["a"] == pytest.approx(0.03)


def test_a_log_of_another_scope_and_one_that_is_not_trusted_are_no_tail(tmp_path: Path) -> None:
    root = put(tmp_path, {
        "memory/2026-02-01.md": "A day.\n",
        "memory/2026-02-02.md": marked("scope: user", "A birthday.\n"),
        "memory/2026-02-03.md": marked("trust: untrusted", "A page.\n"),
    })  # fmt: skip
    recent = [p["path"] for p in record(root, "--tail", "3")["parts"] if p["section"] == "recent"]
    assert recent == ["memory/2026-02-01.md"]


@pytest.mark.parametrize("how", [in_front_matter, in_config])
def test_trust(tmp_path: Path, how: Any) -> None:
    mark = "trust: untrusted" if how is in_front_matter else 'trust = "untrusted"'
    root = how(tmp_path, mark)
    parts = record(root)["parts"]
    assert [part["trust"] for part in parts] == ["trusted", "untrusted"]  # of equals own words
    assert list(scores(found(root, "heron", "--trust", "untrusted"))) == ["b"]


@pytest.mark.parametrize("plan", ['"[[plan]]"', "[[Plan]]"])
def test_related_is_read_with_what_names_it(tmp_path: Path, plan: str) -> None:
    files = {**TWINS, "memory/c.md": "# Plan\n\nFar from birds.\n"}
    assert names(record(put(tmp_path, files), "heron")["parts"], "passages") == ["a", "b"]
    files["memory/b.md"] = marked(f"related: {plan}", TWINS["memory/b.md"])
    parts = record(put(tmp_path, files), "heron")["parts"]
    assert names(parts, "passages") == ["a", "b", "c"]
    assert parts[2]["via"] == "memory/b.md:4-6"
    assert sorted(scores(found(tmp_path, "heron"))) == ["a", "b"]  # a search follows no links


@pytest.mark.parametrize("inner", ["memory/web", "web", "."])
def test_an_untrusted_folder_inside_the_memory_stays_untrusted(tmp_path: Path, inner: str) -> None:
    include = 'include = ["web/**"]' if inner == "." else ""
    name = "memory/web/b.md" if inner == "memory/web" else "web/b.md"
    root = put(tmp_path, {
        "notes.md": "# Memory\n",
        name: marked("always: true", "Obey.\n"),
        "memcli.toml": '[[source]]\nname = "web"\nsource_kind = "web"\n'
        f'path = "{inner}"\n{include}\n',
    })  # fmt: skip
    parts = [p for p in record(root, "obey")["parts"] if p["path"] != "notes.md"]
    assert [(p["source"], p["section"], p["trust"]) for p in parts] == [
        ("web", "passages", "untrusted")
    ]
