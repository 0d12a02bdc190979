"""Open the index file: SQLite through apsw, sqlite-vec by path, both with strict limits.

memcli does not open a file that others made or can change, because it may contain anything.

Each process has one SQLite library, and nothing else opens the file: a plain open() and close()
would drop the locks of a connection. Errors are raised as those of memcli.errors.
"""

from __future__ import annotations

import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache

import apsw

from memcli import system
from memcli.checking import Any
from memcli.errors import MORE_FILES, BusyError, DamagedError, IncompleteError, StoreError
from memcli.record import Record

BUSY_TIMEOUT_MS = 5000
JOURNAL_LIMIT_BYTES = 16 * 1024 * 1024
DAMAGED_SUFFIX = ".damaged-1"
NEXT_SUFFIX = ".next"  # the end of the name of an index that is built next to another one
APPLICATION_ID = 0x6D656D63  # "memc"
BESIDE = ("-wal", "-shm", "-journal")  # files that SQLite keeps next to a file
FILES_OF_ONE = 3  # files that SQLite opens to read: index, log and shared memory
MOST_BYTES = 1 << 28  # of one value: a block of vec0 is the largest, 64 MB at most
MORE_ROOM = "free some space, then run memcli index"
# Errors of a failed write, for example on a full disk; other errors prevent reading, too.
_WRITING = (
    apsw.SQLITE_FULL,
    apsw.SQLITE_IOERR_WRITE,
    apsw.SQLITE_IOERR_FSYNC,
    apsw.SQLITE_IOERR_DIR_FSYNC,
    apsw.SQLITE_IOERR_TRUNCATE,
    apsw.SQLITE_IOERR_DELETE,
    apsw.SQLITE_IOERR_SHMSIZE,
)
# memcli has no triggers and no views, and no function in a schema needs anything outside.
_DEFENCES = (
    (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
    (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0),
)


# The most frequent words in the vocabulary of the bundled model.
_WORDS_AT, _WORDS_BYTES = 15_457, 24_000
MOUNTS = "/proc/self/mounts"  # Linux; elsewhere mounts are unknown and each disk counts as local
NETWORK_TYPES = {
    "9p", "acfs", "afpfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "glusterfs", "gpfs",
    "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "prl_fs", "pvfs2", "smb3", "smbfs",
    "vboxsf", "virtiofs", "vmhgfs",
}  # fmt: skip
# A file system in user space may be remote, depending on its program; these are local.
LOCAL_FUSE = {"fuse.fuse-overlayfs", "fuse.ntfs", "fuse.ntfs-3g", "fuse.exfat", "fuse.encfs",
              "fuse.gocryptfs", "fuse.bindfs"}  # fmt: skip


def is_network(folder: str) -> bool:
    """Return whether a folder is on a network mount, by a mount table as Linux writes it."""
    try:
        with open(MOUNTS, "rb") as file:
            table = file.read().decode("utf-8", "surrogateescape")
    except OSError:
        return False
    return is_network_type(type_of(os.path.realpath(folder), table))


def type_of(folder: str, table: str) -> str:
    """Return the mount type of a real path; the last mount of a folder counts."""
    longest, kind = -1, ""
    for line in table.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = _unescaped(fields[1]).rstrip("/") + "/"
        if f"{folder}/".startswith(point) and len(point) >= longest:
            longest, kind = len(point), fields[2]
    return kind


def is_network_type(name: str) -> bool:
    """Return whether a file system of this type is, or may be, on another host."""
    return name in NETWORK_TYPES or (name.startswith("fuse.") and name not in LOCAL_FUSE)


def _unescaped(field: str) -> str:
    r"""Undo the octal escapes of a mount table, such as \040 for a space."""
    first, *rest = field.split("\\")
    return first + "".join(chr(int(segment[:3], 8)) + segment[3:] for segment in rest)


class OpenConnection(Record):
    """A connection, its file, and the reason why it cannot search vectors, if any."""

    connection: apsw.Connection
    vec_problem: str
    file: os.stat_result


@contextmanager
def closed_on_failure(connection: apsw.Connection) -> Iterator[None]:
    """Close a connection if the block fails: the exception may keep it open for long."""
    try:
        yield
    except BaseException:
        connection.close(True)
        raise


def _status(path: str) -> os.stat_result:
    """Return the stat of an open index; StoreError if it was removed meanwhile."""
    try:
        return os.stat(path)
    except OSError as error:
        raise StoreError(
            f"the index {path} was removed by another process: {error.strerror}",
            hint="memcli index",
        ) from error


def connect(path: str, *, write: bool) -> OpenConnection:
    """Open the index at `path`; a reader needs it to exist and never changes it.

    An index on a network mount has no write-ahead log.
    """
    if write:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        if not os.path.exists(path):
            _create(path)
    else:
        flags = apsw.SQLITE_OPEN_READONLY
    for suffix in ("", *BESIDE):
        refuse_others(path + suffix)
    with translated(path):
        connection = _open(path, flags)
        with closed_on_failure(connection):
            _refuse_foreign(connection, path)
            problem = _load_vec(connection)
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("PRAGMA temp_store = MEMORY")
            if write:
                is_remote = is_network(os.path.dirname(path))
                connection.execute(f"PRAGMA journal_mode = {'DELETE' if is_remote else 'WAL'}")
                # SQLite shortens a file after it deletes its journal. If the power fails, a disk
                # may have kept only one of the two, unless the folder was synced in between.
                connection.execute(f"PRAGMA synchronous = {'EXTRA' if is_remote else 'NORMAL'}")
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute(f"PRAGMA journal_size_limit = {JOURNAL_LIMIT_BYTES}")
            return OpenConnection(connection, problem, _status(path))


def _create(path: str) -> None:
    """Make an empty file that other users cannot read."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise StoreError(
            f"the index {path} cannot be made: {error.strerror}",
            hint="set MEMCLI_STORE to a file in a folder that can be written",
        ) from error


def refuse_others(path: str) -> None:
    """Raise StoreError unless each file of the index is a regular file of the user, or missing.

    Files of root are accepted. On a network mount the mode means little and is not checked.
    """
    hint, user = "set MEMCLI_STORE to a file in a folder of your own", system.user_id()
    for look in (os.lstat, os.stat):  # for a link, its author chose its target
        try:
            status = look(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(f"{path} cannot be opened: {error.strerror}", hint=hint) from error
        if user is not None and status.st_uid not in (user, 0):
            raise StoreError(f"{path} belongs to another user (uid {status.st_uid})", hint=hint)
    if not stat.S_ISREG(status.st_mode):
        raise StoreError(f"{path} is not a regular file, so it is not an index", hint=hint)
    mode = stat.S_IMODE(status.st_mode)
    if user is not None and mode & 0o022 and not is_network(os.path.dirname(path)):
        raise StoreError(
            f"{path} is writable by other users (mode {mode:o}), so it may contain anything",
            hint="delete it, then run memcli index",
        )


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn SQLite's errors into memcli's, each with the next command."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise damaged(path, f"is damaged: {error}") from error
    except apsw.SQLError as error:  # memcli's own SQL is right, so memcli did not make the index
        if system.is_short_of_memory():  # sqlite-vec reports it as this error
            raise MemoryError from error
        raise damaged(path, f"has foreign content: {error}") from error
    except apsw.NoMemError as error:
        raise MemoryError from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise BusyError(
            f"the index {path} is in use by another process", hint="run the command again"
        ) from error
    except apsw.CantOpenError as error:
        raise _unopened(path) from error
    except (apsw.ReadOnlyError, apsw.PermissionsError) as error:
        if getattr(error, "extendedresult", 0) == apsw.SQLITE_READONLY_ROLLBACK:
            raise IncompleteError(
                f"a change of the index {path} was cut off", hint="memcli index"
            ) from error
        raise StoreError(
            f"the index {path} cannot be written: {error}",
            hint="set MEMCLI_STORE to a file in a folder that can be written",
        ) from error
    except (apsw.FullError, apsw.IOError) as error:
        if getattr(error, "extendedresult", 0) in _WRITING:
            raise StoreError(
                f"the index {path} cannot be written: {_why(error)}", hint=MORE_ROOM
            ) from error
        raise StoreError(
            f"the index {path} cannot be read: {_why(error)}",
            hint="run the command again, and memcli index --full if that does not help",
        ) from error


def _why(error: apsw.Error) -> str:
    """Return SQLite's text for a fault of the disk, if SQLite still has it."""
    return str(error).replace("not an error", "disk I/O error")


def _unopened(path: str) -> StoreError:
    """Explain why SQLite cannot open a file, because SQLite itself does not."""
    try:
        with ExitStack() as opened:
            for _ in range(FILES_OF_ONE):
                opened.callback(os.close, os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        why = f"the index {path} cannot be opened: {error.strerror}"
        return StoreError(why, hint=MORE_FILES)
    return StoreError(f"the index {path} cannot be opened", hint="memcli index")


@contextmanager
def understood(path: str) -> Iterator[None]:
    """Raise DamagedError for a row that memcli cannot have written."""
    with translated(path):
        try:
            yield
        except (ValueError, TypeError, RecursionError, zlib.error) as error:
            raise damaged(path, f"has foreign content: {error}") from error


def damaged(path: str, what: str) -> DamagedError:
    """Return the error for an index with something that memcli did not write."""
    return DamagedError(f"the index {path} {what}", hint="memcli index --full")


def _open(path: str, flags: int) -> apsw.Connection:
    """Open a file, even if memcli cannot write the side files that WAL needs to read."""
    try:
        connection = _defended(path, flags)
        with closed_on_failure(connection):
            connection.execute("PRAGMA schema_version").fetchall()
        return connection
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.IOError, apsw.FullError):
        left = (path + suffix for suffix in ("-wal", "-journal"))
        settled = not any(os.path.exists(file) and os.path.getsize(file) for file in left)
        if flags & apsw.SQLITE_OPEN_READWRITE or not settled or not os.path.exists(path):
            raise
        return connect_unchanged(path)


def connect_unchanged(path: str) -> apsw.Connection:
    """Open a file that does not change, without making files next to it."""
    from urllib.parse import quote

    uri = f"file:{quote(os.path.abspath(path))}?immutable=1"
    return _defended(uri, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def _defended(path: str, flags: int) -> apsw.Connection:
    """Open a file with few features of SQLite enabled, before anything is read."""
    connection = apsw.Connection(path, flags=flags)
    # The first reader may have to recover the log by itself, while others wait.
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    for option, value in _DEFENCES:
        connection.config(option, value)
    connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 0)
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, MOST_BYTES)
    connection.create_scalar_function("inflate", _inflated, 2)
    return connection


def _refuse_foreign(connection: apsw.Connection, path: str) -> None:
    """Refuse a database that another program made."""
    is_used = bool(rows(connection, "SELECT 1 FROM sqlite_master LIMIT 1"))
    # Read this last: memcli marks a database when it makes the first table, maybe in between.
    application = connection.pragma("application_id")
    if application != APPLICATION_ID and (application or is_used):
        raise StoreError(
            f"{path} is a database of another program", hint="set MEMCLI_STORE to a file of its own"
        )


def _load_vec(connection: apsw.Connection) -> str:
    """Load sqlite-vec by its path, as its package imports numpy; return why it cannot be loaded."""
    # The folder of apsw comes first, because another folder of the path may be the workspace.
    for folder in (os.path.dirname(os.path.dirname(apsw.__file__)), *filter(None, sys.path)):
        library = os.path.join(folder, "sqlite_vec", "vec0")
        if any(os.path.isfile(library + suffix) for suffix in (".so", ".dylib", ".dll")):
            break
    else:
        return "the package sqlite-vec is not installed"
    try:
        connection.enable_load_extension(True)
        connection.load_extension(library)
    except apsw.Error as error:
        return f"sqlite-vec cannot load: {error}"
    finally:
        connection.enable_load_extension(False)
    return ""


def has_vec(connection: apsw.Connection) -> bool:
    """Return whether sqlite-vec is loaded on a connection."""
    functions = connection.execute("SELECT 1 FROM pragma_function_list WHERE name = 'vec_version'")
    return functions.fetchone() is not None


def deflated(text: str) -> bytes:
    """Compress a text as the index stores it: to .45 of its bytes in documentation."""
    packed = _compressor().copy()
    return packed.compress(bytes(text, "utf-8")) + packed.flush() if text else b""


def _inflated(*values: Any) -> bytes:  # noqa: ANN401  (as SQL calls it)
    """Read what `deflated` made; the second value is the number that `plain` writes."""
    packed, bits = values
    inflater = zlib.decompressobj(bits, zdict=_frequent_words())
    text = inflater.decompress(packed)
    if packed and not inflater.eof:
        raise zlib.error("a text is cut off")
    return text


@cache
def _compressor() -> Any:  # noqa: ANN401  (zlib does not name the type)
    return zlib.compressobj(wbits=-zlib.MAX_WBITS, zdict=_frequent_words())


@cache
def _frequent_words() -> bytes:
    """Return words that chunks repeat, the most frequent last; they save a seventh."""
    from memcli.embedding.models import DATA

    with open(os.path.join(DATA, "vocab.txt"), "rb") as file:
        file.seek(_WORDS_AT)
        return b" ".join(reversed(file.read(_WORDS_BYTES).split()))


def plain(column: str) -> str:
    """Write the SQL that reads a text which `deflated` made."""
    return f"CAST(inflate({column}, {-zlib.MAX_WBITS}) AS TEXT)"


def marks(values: Sequence[Any]) -> str:
    """Write as many question marks as there are values."""
    return ",".join("?" * len(values))


def rows(
    connection: apsw.Connection, sql: str, bindings: Sequence[Any] = ()
) -> list[tuple[Any, ...]]:
    """Run one statement to its end, so that no cursor keeps its read transaction open."""
    return connection.execute(sql, bindings).fetchall()


class ColumnType(Record):
    """The types that the values of a column may have: SQLite accepts any."""

    types: tuple[type, ...]
    check: Callable[[str], object] | None = None  # raises ValueError for an invalid text


TEXT, WHOLE, BLOB = ColumnType((str,)), ColumnType((int,)), ColumnType((bytes,))


def typed_rows(
    connection: apsw.Connection,
    columns: Mapping[str, ColumnType],
    tail: str,
    bindings: Sequence[Any] = (),
) -> list[tuple[Any, ...]]:
    """Select columns; ValueError for a value that memcli never writes."""
    result = rows(connection, f"SELECT {', '.join(columns)} {tail}", bindings)
    for types in {tuple(map(type, row)) for row in result}:
        for (column, kind), own in zip(columns.items(), types, strict=True):
            if own not in kind.types:
                raise ValueError(f"{column} is of type {own.__name__}")
    for at, kind in enumerate(columns.values()):
        if kind.check is not None:
            for text in {row[at] for row in result} - {None}:
                kind.check(text)
    return result


def set_aside(path: str) -> str:
    """Move a damaged index out of the way; only the last such copy is kept."""
    aside = path + DAMAGED_SUFFIX
    try:
        os.replace(path, aside)
        remove_files(path)
    except OSError as error:
        raise StoreError(
            f"the damaged index {path} cannot be moved to {aside}: {error.strerror}",
            hint=f"move {aside} away, then run memcli index",
        ) from error
    return aside


def remove_files(path: str) -> None:
    """Remove an index and SQLite's files next to it, as far as they exist."""
    for suffix in ("", *BESIDE):
        with suppress(FileNotFoundError):
            os.remove(path + suffix)
