"""Cut words as every store does: by the tokenizer of SQLite's FTS5, wherever the rows are kept."""

from __future__ import annotations

from memcli.store.sqlite.match import spellings as spellings
from memcli.store.sqlite.tokens import cut as cut
