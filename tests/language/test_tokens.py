"""What texts cost, as budgets count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.language.tokens import estimate, measure, price

# Tokens of o200k, counted once with gpt-tokenizer.
COUNTED = {
    "12: - **Kate** (D1:3): I went to the pool yesterday and it was closed.\n": 23,
    "def total(rows):\n    return sum(row['price'] * row['n'] for row in rows)\n": 21,
    '{"schema": "memcli.search/1", "path": "memory/2026-02-05.md", "lines": [3, 9]}\n': 33,
    "我们决定在下周一把数据库迁移到新的服务器上。\n": 15,
    "La reunión empezó a las nueve y terminó después de comer.\n": 12,
    "Мы перенесли встречу на следующий понедельник.\n": 11,
}


@pytest.mark.parametrize(("text", "tokens"), COUNTED.items())
def test_a_text_costs_at_most_what_is_estimated(text: str, tokens: int) -> None:
    assert tokens <= estimate(text) <= 1.75 * tokens


@given(st.text(), st.text())
def test_the_price_of_a_whole_is_that_of_its_pieces(left: str, right: str) -> None:
    assert price(left + right) == pytest.approx(price(left) + price(right))


def test_sizes_are_measured_by_characters() -> None:
    assert [measure(text) for text in ("", "four" * 10, "東京", "ночь")] == [0, 10, 2, 2]
