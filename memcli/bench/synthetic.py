"""Make up a workspace of any size; the same seed gives the same workspace; pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from random import Random

FIRST_DAY = date(2020, 1, 1)
SECTIONS = 3
LINES = 4

_WHO = (
    "Ada", "Ben", "Cleo", "Dmitri", "Elena", "Farid", "Greta", "Hiro", "Ines", "Jonas", "Kira",
    "Liam", "Mona", "Nils", "Olga", "Priya",
)  # fmt: skip
_DID = (
    "moved", "fixed", "reviewed", "postponed", "measured", "replaced", "described", "removed",
    "restored", "compared", "planned", "drafted", "merged", "reported", "audited", "renamed",
)  # fmt: skip
_WHAT = (
    "connection pool", "release plan", "backup job", "search index", "garden fence",
    "travel budget", "login page", "billing report", "camera lens", "heating pump",
    "reading list", "message queue", "invoice template", "test harness", "shipping label",
    "password vault", "recipe book", "train ticket", "build cache", "log rotation",
)  # fmt: skip
_WHY = (
    "because it was too slow", "after the outage", "before the holiday", "to save money",
    "for the audit", "since nobody used it", "so that tests stay quick",
    "as the team had decided", "until the vendor replies",
)  # fmt: skip


def documents(count: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of dated logs with a few sections each."""
    random = Random(seed)
    for number in range(count):
        day = FIRST_DAY + timedelta(days=number % 2000)
        lines = [f"# Log {number}"]
        for _ in range(SECTIONS):
            lines += ["", f"## {random.choice(_WHAT).capitalize()} {random.randrange(1000)}", ""]
            lines += [f"- {_sentence(random)}" for _ in range(LINES)]
        yield f"memory/{day.isoformat()}-{number:06}.md", "\n".join(lines) + "\n"


def queries(count: int, seed: int = 0) -> list[str]:
    """Return texts to search for that resemble the sentences."""
    random = Random(seed + 1)
    return [
        f"why {random.choice(_DID)} {random.choice(_WHO)} the {random.choice(_WHAT)}"
        for _ in range(count)
    ]


def _sentence(random: Random) -> str:
    return (
        f"{random.choice(_WHO)} {random.choice(_DID)} the {random.choice(_WHAT)} "
        f"{random.choice(_WHY)}, ticket OPS-{random.randrange(100_000)}."
    )
