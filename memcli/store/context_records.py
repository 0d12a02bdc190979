"""What a store tells of whole documents."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.types import Excerpt


class Marked(Record):
    """A document that its author wants in every context."""

    authority: float | None
    excerpts: tuple[Excerpt, ...]  # its chunks, in order


class Rated(Record):
    """A document with what its worth is judged by, and how many chunks of it are within reach."""

    source: str
    path: str
    date: str | None
    kind: str
    scope: str
    trust: str
    authority: float | None
    importance: float | None
    front_matter: str  # JSON
    chunks: int


class Linking(Record):
    """What a chunk links to, and the front matter of its document."""

    targets: tuple[str, ...]  # as they are written
    front_matter: str  # JSON


class Titled(Record):
    """A document and its title."""

    source: str
    path: str
    title: str


class Listed(Record):
    """A document with a text, and what can be asked of it."""

    source: str
    path: str
    title: str
    date: str | None
    kind: str
    scope: str
    trust: str
    front_matter: str  # JSON
    first_day: str | None = None  # where the date is the last one of a span
