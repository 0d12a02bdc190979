"""Cut and weigh words as every store does: as SQLite's FTS5 does, wherever the rows are kept."""

from __future__ import annotations

from memcli.store.sqlite.bm25 import K1 as K1
from memcli.store.sqlite.bm25 import B as B
from memcli.store.sqlite.bm25 import idf as idf
from memcli.store.sqlite.keywords import cut as cut
from memcli.store.sqlite.match import spellings as spellings
