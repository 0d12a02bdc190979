"""Cut and weigh words as SQLite's FTS5 does, in every store."""

from __future__ import annotations

from memcli.store.sqlite.bm25 import K1 as K1
from memcli.store.sqlite.bm25 import B as B
from memcli.store.sqlite.bm25 import idf as idf
from memcli.store.sqlite.fts_query import spellings as spellings
from memcli.store.sqlite.keywords import cut as cut
