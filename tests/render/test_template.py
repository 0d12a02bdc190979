"""Templates: what stands between the keys is written as it is, each value on one line."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import UsageError
from memcli.render.sanitize import one_line, visible_line
from memcli.render.template import parse

KEYS = ("a", "heading_path")


@given(st.text(alphabet="ab{}\\ \n\t\0é", max_size=20))
def test_text_that_is_escaped_is_written_as_it_was(text: str) -> None:
    escaped = text.replace("\\", "\\\\").replace("{", "{{").replace("}", "}}")
    end = "" if text.endswith(("\n", "\0")) else "\n"
    assert parse(escaped, KEYS).filled({}, str) == text + end


@given(st.text(alphabet="ab{}\\tn0", max_size=12))
def test_any_text_is_a_template_or_a_usage_error(text: str) -> None:
    with suppress(UsageError):
        assert parse(text, KEYS).filled({"a": "", "heading_path": ()}, str)[-1] in "\n\0"


@given(st.text(alphabet="a\n\r\t\u2028\x1b\x85 ", max_size=12))
def test_a_value_stays_on_one_line_and_in_its_column(value: str) -> None:
    for safe in (one_line, visible_line):
        shown = parse(r"{a}\t{a}", KEYS).filled({"a": value}, safe)
        assert shown.count("\n") == 1
        assert shown.count("\t") == 1
        assert len(shown.splitlines()) == 1


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""), ("x", "x"), (True, "true"), (0.1234567890123, "0.1234567890123"),
        (["x", "y"], "x, y"), ([], ""), ([{"stage": "fuse"}], '[{"stage": "fuse"}]'),
    ],
)  # fmt: skip
def test_values_are_written_as_json_has_them(value: object, shown: str) -> None:
    assert parse("<{a}>", KEYS).filled({"a": value}, str) == f"<{shown}>\n"
    assert parse("{heading_path}", KEYS).filled({"heading_path": ("x", "y")}, str) == "x > y\n"
    assert parse("{heading_path}", KEYS).keys == ("heading_path",)
