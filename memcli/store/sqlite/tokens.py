"""Cut texts without an index: a tokenizer needs a connection, and not a file."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from memcli.store.sqlite import keywords


def cut(prepared: Sequence[str]) -> list[tuple[str, ...]]:
    """Cut texts that `words.prepare` has made into tokens, stemmed as every index holds them."""
    connection = apsw.Connection(":memory:")
    try:
        return keywords.tokens(connection, prepared)
    finally:
        connection.close()
