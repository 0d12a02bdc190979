from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.markdown.frontmatter import split
from memcli.markdown.properties import day_of, folded, properties, same_values, tags


def read(*lines: str) -> dict[str, Any]:
    return split(("---", *lines, "---", ""))[0]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tags: [infra, On Call]", ("infra", "On Call")),
        ("tags: infra, on call", ("infra", "on call")),
        ("tags: infra oncall", ("infra", "oncall")),
        ("tags: ['#infra', '#infra/db/']", ("infra", "infra/db")),
        ("tags: ['infra, db', Infra]", ("Infra", "db")),
        ("Tag: infra", ("infra",)),
        ("tags: [2024, true, null, {a: b}, [deep]]", ("2024", "True", "deep")),
        ("tags: 2024", ("2024",)),
        ("tags:", ()),
        ("tags: {a: b}", ()),
        ("labels: [infra]", ()),
    ],
)
def test_tags_are_read_as_they_are_written(line: str, expected: tuple[str, ...]) -> None:
    assert tags(read(line)) == expected


def test_keys_and_values_are_written_as_they_are_compared() -> None:
    said = read(
        "Status:  In  Review", "n: [1, 2.5, 1]", "ok: no", "day: 2026-03-01", "none:", 'text: ""',
        "by: {Name: Odette, of: [{team: Ops}]}", "tags: [B, a]", "ﬁne: Ｘ", "empty: {}",
    )  # fmt: skip
    assert properties(said) == [
        ("by.name", "odette"),
        ("by.of.team", "ops"),
        ("day", "2026-03-01"),
        ("fine", "x"),
        ("n", 1),
        ("n", 2.5),
        ("ok", "false"),
        ("status", "in review"),
        ("tags", "a"),
        ("tags", "b"),
    ]


def test_a_text_may_stand_for_a_number_and_a_truth() -> None:
    assert same_values(" In Review") == ["in review"]
    assert same_values("02") == ["02", 2]
    assert same_values("-2.50") == ["-2.50", -2.5]
    assert same_values("Yes") == ["yes", "true"]
    assert same_values("1e9") == ["1e9"]
    assert same_values("9" * 30) == ["9" * 30]
    assert (day_of(" 2026-03-01"), day_of("2026-03")) == ("2026-03-01", None)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=(settings.default or settings()).max_examples // 2)
@given(st.dictionaries(st.text() | st.just("tags"), values))
def test_anything_can_be_asked_for_by_what_it_says(said: dict[str, Any]) -> None:
    found = properties(said)
    assert len(found) == len(set(found))
    assert json.loads(json.dumps(found)) == [list(pair) for pair in found]
    for key, value in found:
        assert folded(key) == key
        assert not isinstance(value, str) or (value and folded(value) == value)
        assert value in same_values(str(value)) or not isinstance(value, str)
