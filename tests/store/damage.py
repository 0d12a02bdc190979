"""Every cell and every page of a small index, damaged in turn.

A case is one damage; the commands then run one after the other on what it left, as somebody would
who follows the hints. A finding is an exit code that no damage should give, or an answer that is
not mended in the end. `python -m tests.benchmarks damage` tries them all.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from memcli.errors import ExitCode
from memcli.store.sqlite.schema import VERSION
from tests.commands import typed
from tests.support import write

COMMANDS = (
    "status --deep",
    "search pool --no-sync",
    "context pool",
    "compact",
    "search pool",
    "index",
    "index --full",
)
AFTER = "search pool --json --more --now 2026-02-10"  # what has to be as it was before the damage
GOOD = (ExitCode.OK, ExitCode.NO_INDEX)
# SQL of values that stand where memcli has written others.
VALUES = {
    "bad UTF-8": "CAST(x'c328ff' AS TEXT)",
    "text": "'seven'",
    "a blob": "x'00ff'",
    "a number": "-7",
    "a great number": "9223372036854775807",
    "nothing": "NULL",
    "an empty text": "''",
}
MOST_VERSION = VERSION
PAGE = 4096
FILLS = {
    "zeros": b"\x00" * PAGE,
    "ones": b"\xff" * PAGE,
    "text": b"memcli " * (PAGE // 7) + b"!" * (PAGE % 7),
}


class Damage(NamedTuple):
    """One way to damage a file; `do` gives False where SQLite does not allow it."""

    name: str
    do: Callable[[str], bool]
    is_foreign: bool = False  # the file is no longer memcli's to mend, and is refused for good


class Finding(NamedTuple):
    """What a command made of a damage that it should not have."""

    damage: str
    command: str
    code: int
    told: str


def make_index(root: Path) -> str:
    """Make a workspace with logs, a summary and a file that is no text, and index it."""
    for day in range(1, 7):
        text = f"# Day {day}\n\n- We decided {day}: the [[pool]] ran dry.\n- Number {day * 17}.\n"
        write(root, f"memory/2025-01-0{day}.md", text * 3)
    write(root, "MEMORY.md", "---\nalways: true\n---\n# Rules\n\nKeep the pool full.\n")
    write(root, "memory/pool.md", "# Pool\n\nA pool of handles.\n\n## Later\n\nMore of it.\n")
    write(root, "memory/binary.md", b"\x00\x01" * 300)
    store = str(root.parent / "store" / "index.sqlite")
    os.environ["MEMCLI_STORE"] = store
    typed(f"compact --apply --tail 0 --tail-days 0 --cluster 2 --ratio 0.9 -w {root}")
    assert typed(f"index -w {root}")[0] == 0
    return store


def cells(store: str) -> Iterator[Damage]:
    """Give a damage for every value of every cell of every table, shadow tables too."""
    connection = apsw.Connection(store, flags=apsw.SQLITE_OPEN_READONLY)
    tables = [
        name
        for name, sql in connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
        )
        if not sql.startswith("CREATE VIRTUAL") and not name.startswith("sqlite_")
    ]
    for table in tables:
        columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
        rows = len(connection.execute(f'SELECT 1 FROM "{table}"').fetchall())
        for column in columns:
            for row in range(rows):
                for name, sql in VALUES.items():
                    yield Damage(
                        f"{table}.{column}[{row}] = {name}", cell_damage(table, column, row, sql)
                    )
    connection.close()


def cell_damage(table: str, column: str, row: int, sql: str) -> Callable[[str], bool]:
    """Give what writes a value into one cell."""

    def do(store: str) -> bool:
        connection = apsw.Connection(store)
        try:
            keys = [each[1] for each in connection.execute(f'PRAGMA table_info("{table}")')
                    if each[5]]  # fmt: skip
            names = ", ".join(f'"{key}"' for key in keys) or "rowid"
            found = connection.execute(f'SELECT {names} FROM "{table}" LIMIT 1 OFFSET {row}')
            where = " AND ".join(f"{name} IS ?" for name in names.split(", "))
            statement = f'UPDATE "{table}" SET "{column}" = {sql} WHERE {where}'
            connection.execute(statement, tuple(found.fetchall()[0]))
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except apsw.Error:
            return False
        finally:
            connection.close()
        return True

    return do


def pages(store: str) -> Iterator[Damage]:
    """Give a damage for every page: filled with zeros, ones or text, or cut off behind it."""
    for page in range(Path(store).stat().st_size // PAGE):
        for name, fill in FILLS.items():
            yield Damage(f"page {page} = {name}", page_damage(page, fill))
        yield Damage(f"cut off at page {page}", cut_damage(page))


def page_damage(page: int, fill: bytes) -> Callable[[str], bool]:
    """Give what writes over a page; of the first one the signature of the file stays."""

    def do(store: str) -> bool:
        with Path(store).open("r+b") as file:
            file.seek(page * PAGE)
            kept = file.read(100) if page == 0 else b""
            file.seek(page * PAGE)
            file.write(kept + fill[len(kept) :])
        return True

    return do


def cut_damage(page: int) -> Callable[[str], bool]:
    """Give what cuts the file off, one byte into a page."""

    def do(store: str) -> bool:
        os.truncate(store, page * PAGE + 1)
        return True

    return do


def versions() -> Iterator[Damage]:
    """Give a damage for versions and marks of the file that are not its own."""
    for pragma in ("user_version", "application_id"):
        for value in (0, 1, 3, -5, 99):
            is_foreign = pragma == "application_id" or value > MOST_VERSION
            yield Damage(f"{pragma} = {value}", _pragma(pragma, value), is_foreign)


def _pragma(pragma: str, value: int) -> Callable[[str], bool]:
    def do(store: str) -> bool:
        connection = apsw.Connection(store)
        connection.execute(f"PRAGMA {pragma} = {value}")
        connection.close()
        return True

    return do


def cases(store: str) -> list[Damage]:
    """Give every damage there is to this file."""
    return [*versions(), *pages(store), *cells(store)]


def results(answer: str) -> Any:
    """Give what an answer found; None where it is none."""
    try:
        return json.loads(answer)["results"]
    except ValueError:
        return None


def findings(damage: Damage, store: str, root: Path, right: Any) -> list[Finding] | None:
    """Damage a copy of the index and run every command on it; None where that is not possible."""
    found: list[Finding] = []
    place = Path(store).parent
    kept = place.with_name("kept")
    if not kept.exists():
        shutil.copytree(place, kept)
    shutil.rmtree(place)
    shutil.copytree(kept, place)
    if not damage.do(store):
        return None
    for command in COMMANDS:
        code, _, err = _safely(f"{command} -w {root}")
        if code not in GOOD:
            found.append(Finding(damage.name, command, code, err.strip()[:200]))
    code, out, err = _safely(f"{AFTER} -w {root}")
    if damage.is_foreign and code == ExitCode.NO_INDEX:
        return found
    if code != ExitCode.OK or results(out) != right:
        told_ = err.strip()[:200] or "another answer"
        found.append(Finding(damage.name, "the answer in the end", code, told_))
    return found


def _safely(line: str) -> tuple[int, str, str]:
    """Run a command line; what escapes from it is a bug too."""
    try:
        return typed(line)
    except Exception as error:
        return ExitCode.BUG, "", f"{type(error).__name__}: {error}"
