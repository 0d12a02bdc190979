"""Cut and weigh words as SQLite's FTS5 does, in every store."""

from __future__ import annotations

from memcli.store.sqlite.bm25 import idf as idf
from memcli.store.sqlite.fts_query import spellings as spellings
from memcli.store.sqlite.keywords import cut as cut
