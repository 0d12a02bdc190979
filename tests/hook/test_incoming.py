from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import UsageError
from memcli.hook.agents import BLOCK_BYTES, MOST_BYTES, object_in, read_object

OBJECTS = st.dictionaries(
    st.text(),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


def of_blocks(*blocks: bytes) -> Callable[[int], bytes]:
    """Give the blocks one by one; a read behind them is one that would wait."""
    left = list(blocks)

    def read(size: int) -> bytes:
        assert left, "reads on where an object is whole"
        return left.pop(0)

    return read


@given(OBJECTS, st.sampled_from((None, 2)), st.integers(1, 60), st.booleans())
def test_an_object_is_read_to_its_brace_and_no_further(
    record: dict[str, Any], indent: int | None, size: int, ascii_only: bool
) -> None:
    text = json.dumps(record, indent=indent, ensure_ascii=ascii_only)
    data = text.encode("utf-8", "surrogatepass")
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    assert read_object(of_blocks(*blocks)) == json.loads(data.decode("utf-8", "replace"))


@given(OBJECTS, st.binary(max_size=40))
def test_what_follows_an_object_is_not_read(record: dict[str, Any], rest: bytes) -> None:
    data = json.dumps(record).encode() + b" " + rest
    assert read_object(of_blocks(data)) == record


@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_none(data: bytes) -> None:
    try:
        found = read_object(of_blocks(data, b"") if data else of_blocks(b""))
    except UsageError:
        return
    assert isinstance(found, dict)


def test_nothing_is_an_empty_object_and_half_an_object_is_refused_at_its_end() -> None:
    assert read_object(of_blocks(b"")) == {}
    assert read_object(of_blocks(b" \n", b"")) == {}
    assert object_in('\ufeff {"a": 1}'.encode()) == {"a": 1}
    with pytest.raises(UsageError, match="half an object"):
        read_object(of_blocks(b'{"prompt": "why', b""))


@pytest.mark.parametrize(
    "data", [b"hello", b"[1]", b"\x00\x01", b"\xff\xfe{}", b'"{}"', b'{"a":' * 100_000 + b"}"]
)
def test_what_cannot_become_an_object_is_refused_at_once(data: bytes) -> None:
    with pytest.raises(UsageError, match="one JSON object"):
        read_object(of_blocks(data))


def test_a_prompt_of_ten_megabytes_is_read_with_few_looks() -> None:
    data = json.dumps({"prompt": "{ and } " * 1_300_000}).encode()
    blocks = [data[at : at + BLOCK_BYTES] for at in range(0, len(data), BLOCK_BYTES)]
    assert len(read_object(of_blocks(*blocks))["prompt"]) == 10_400_000


def test_without_an_end_it_is_refused() -> None:
    sent = 0

    def read(size: int) -> bytes:
        nonlocal sent
        sent += size
        return b'{"prompt": "' if sent == size else b"a" * size

    with pytest.raises(UsageError, match="MiB"):
        read_object(read)
    assert sent <= MOST_BYTES + 3 * BLOCK_BYTES
