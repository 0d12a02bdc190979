"""Use libpq, the client library of PostgreSQL.

The package psycopg, which wraps it, takes 110 ms of CPU time to import; a whole keyword search
takes 40. Values are sent and received as text, so every version of the server reads them alike.
Each wait for the server ends in time, and can be interrupted.
"""

from __future__ import annotations

import ctypes
import json
import os
from _thread import allocate_lock as Lock
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.util import find_spec

from memcli.checking import Any, Given, Made
from memcli.errors import ConfigError, install_extra
from memcli.record import Record
from memcli.store.postgres.statements import ForMany, Gathering, Row, Statement, alone
from memcli.system import can_read

LEAST_VERSION = 140000  # the first version with pipelines
SILENT_SECONDS = 45.0  # the server ends each of our statements sooner
MOST_IN_PIPELINE = 200  # statements whose answers fit the buffers before they are read
_OK, _ROWS = (0, 1), (2,)  # of PQresultStatus
_LOST = "08006"  # the SQLSTATE of a connection that failed; libpq itself returns none
_STATE = ord("C")  # PG_DIAG_SQLSTATE
_PRIMARY = ord("M")

# Notices of the server are not part of an answer. Without this function libpq would print them.
_Notice = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
_SILENT = _Notice(lambda _, message: None)


class ServerError(Exception):
    """An error of the server or of the connection; `state` is its SQLSTATE, or ""."""

    def __init__(self, message: str, state: str = "") -> None:
        super().__init__(message.strip().split("\n")[0])
        self.state = state


class Deferred:
    """A statement whose rows are needed later; it is sent with the next one that runs.

    Threads may ask for the rows of several: workspaces that one thread reads share a connection.
    """

    def __init__(self, connection: Connection, statement: Statement) -> None:
        self.statement, self._connection = statement, connection
        self.fetched: list[Row] | None = None

    def rows(self) -> list[Row]:
        """Return the rows; they may be here already."""
        with self._connection.guard:
            if self.fetched is None:
                self._connection.together(())
        assert self.fetched is not None
        return self.fetched


@cache
def _library() -> ctypes.CDLL:
    """Load libpq: the one that came with the extra, else the system's."""
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        if library.PQlibVersion() >= LEAST_VERSION:
            return _typed(library)
    raise ConfigError(
        "store.url needs libpq 14 or newer, which is not installed", hint=install_extra("postgres")
    )


def _candidates() -> Iterable[str]:
    spec = find_spec("psycopg_binary")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for libraries in (f"{folder}.libs", os.path.join(folder, ".dylibs")):
            if os.path.isdir(libraries):
                names = (name for name in sorted(os.listdir(libraries)) if "libpq" in name)
                yield from (os.path.join(libraries, name) for name in names)
    from ctypes.util import find_library

    yield from filter(None, [find_library("pq")])


def _typed(library: ctypes.CDLL) -> ctypes.CDLL:
    """Declare the parameters and results of each function; ctypes would assume numbers."""
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    options, texts = ctypes.POINTER(_Option), ctypes.POINTER(text)
    numbers = ctypes.POINTER(number)
    for result, arguments, names in (
        (pointer, (texts, texts, number), ("PQconnectdbParams", "PQconnectStartParams")),
        (options, (pointer,), ("PQconninfo",)),
        (options, (text, ctypes.POINTER(pointer)), ("PQconninfoParse",)),
        (None, (options,), ("PQconninfoFree",)),
        (None, (pointer,), ("PQfinish", "PQclear", "PQfreemem")),
        (number, (pointer,), ("PQstatus", "PQsocket", "PQserverVersion", "PQtransactionStatus",
                              "PQconsumeInput", "PQisBusy", "PQenterPipelineMode",
                              "PQexitPipelineMode", "PQpipelineSync", "PQresultStatus",
                              "PQntuples", "PQnfields")),
        (text, (pointer,), ("PQerrorMessage", "PQhost", "PQport")),
        (text, (pointer, text), ("PQparameterStatus",)),
        (number, (pointer, text), ("PQsendQuery",)),
        (number, (pointer, text, number, pointer, texts, numbers, numbers, number),
         ("PQsendQueryParams",)),
        (pointer, (pointer,), ("PQgetResult",)),
        (text, (pointer, number), ("PQresultErrorField",)),
        (ctypes.c_uint, (pointer, number), ("PQftype",)),
        (text, (pointer, number, number), ("PQgetvalue",)),
        (number, (pointer, number, number), ("PQgetisnull",)),
        (pointer, (pointer, text, ctypes.c_size_t), ("PQescapeLiteral",)),
        (pointer, (pointer, _Notice, pointer), ("PQsetNoticeProcessor",)),
    ):  # fmt: skip
        for name in names:
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    return library


class _Option(ctypes.Structure):
    """PQconninfoOption of libpq."""

    _fields_ = (
        ("keyword", ctypes.c_char_p), ("variable", ctypes.c_char_p), ("usual", ctypes.c_char_p),
        ("value", ctypes.c_char_p), ("label", ctypes.c_char_p), ("shown", ctypes.c_char_p),
        ("size", ctypes.c_int),
    )  # fmt: skip


class ConnectionOption(Record):
    """An option of a connection, as libpq reads it."""

    value: str
    is_secret: bool


def read_url(url: str) -> dict[str, ConnectionOption]:
    """Read the options in a URL or in `key=value` pairs; ServerError if libpq refuses them."""
    library, message = _library(), ctypes.c_void_p()
    options = library.PQconninfoParse(_encoded(url), ctypes.byref(message))
    if not options:
        library.PQfreemem(message)
        raise ServerError("libpq does not read it")
    return _options(options)


def connection_options(parameters: Sequence[tuple[str, str]]) -> dict[str, ConnectionOption]:
    """Return what libpq would connect with, from parameters, variables and a service file.

    An option that no server has ends the attempt before anything is sent.
    """
    library = _library()
    names, values = zip(*parameters, ("target_session_attrs", "none of them"), strict=True)
    pointer = library.PQconnectStartParams(_strings(names), _strings(values), 1)
    try:
        options = library.PQconninfo(pointer)
        return _options(options) if options else {}
    finally:
        library.PQfinish(pointer)


def _options(options: Any) -> dict[str, ConnectionOption]:  # noqa: ANN401
    made: dict[str, ConnectionOption] = {}
    for option in options:
        if not option.keyword:
            break
        if option.value is not None:
            value = option.value.decode("utf-8", "replace")
            made[option.keyword.decode()] = ConnectionOption(value, option.shown == b"*")
    _library().PQconninfoFree(options)
    return made


class Connection:
    """A connection to a server; one thread uses it at a time, with `guard` if it is shared."""

    def __init__(self, parameters: Sequence[tuple[str, str]]) -> None:
        """Connect; the last parameter of each name counts, and `dbname` may be a URL."""
        self._library = library = _library()
        self._is_owed = False  # whether the result of `begin_to` is still unread
        self.guard = Lock()
        self._promised: list[Deferred] = []
        self._gathering: Gathering | None = None
        names, values = zip(*parameters, strict=True)
        self._pointer: int | None = library.PQconnectdbParams(_strings(names), _strings(values), 1)
        if library.PQstatus(self._pointer) != 0:
            message = self._message()
            self.close()
            raise ServerError(_of_each_host(message))
        library.PQsetNoticeProcessor(self._pointer, _SILENT, None)

    def close(self) -> None:
        """Close the connection; the server undoes what was not committed."""
        pointer, self._pointer = self._pointer, None
        if pointer:
            self._library.PQfinish(pointer)

    @property
    def is_open(self) -> bool:
        """Return whether it is open, as far as libpq knows."""
        return self._pointer is not None

    @property
    def server_version(self) -> int:
        """Return the version of the server. Example: 160014 for 16.14."""
        return int(self._library.PQserverVersion(self._pointer))

    @property
    def server(self) -> str:
        """Return host and port of the server."""
        library = self._library
        host, port = library.PQhost(self._pointer), library.PQport(self._pointer)
        return f"{(host or b'').decode()}:{(port or b'').decode()}"

    @property
    def in_transaction(self) -> bool:
        """Return whether a transaction is open or has failed."""
        return self._pointer is not None and self._library.PQtransactionStatus(self._pointer) != 0

    @property
    def is_sound(self) -> bool:
        """Return whether a transaction is open and no statement in it has failed."""
        return self._pointer is not None and self._library.PQtransactionStatus(self._pointer) == 2

    @property
    def may_write(self) -> bool:
        """Return whether the server says that it is not a standby."""
        if self._pointer is None:
            return False
        rows = (
            self._library.PQparameterStatus(self._pointer, name)
            for name in (b"in_hot_standby", b"default_transaction_read_only")
        )
        return all(value == b"off" for value in rows)

    def literal(self, text: str) -> str:
        """Write a text as SQL, for statements that take no values."""
        data = _encoded(text)
        literal = self._library.PQescapeLiteral(self._pointer, data, len(data))
        try:
            return (ctypes.string_at(literal) if literal else b"NULL").decode()
        finally:
            self._library.PQfreemem(literal)

    def begin_to(self, script: str) -> None:
        """Send statements without values; the next one that runs reads their result."""
        self._promised = []  # no caller has waited for it
        self._check(self._library.PQsendQuery(self._pointer, _encoded(script)))
        self._is_owed = True

    def _take_owed(self) -> None:
        """Read the result of `begin_to`, if it is unread; ServerError if it failed."""
        if self._is_owed:
            self._is_owed = False
            self._read_script()

    def run(self, script: str) -> list[Row]:
        """Run statements without values in one round trip; return the rows of the last one."""
        self._take_owed()
        self._check(self._library.PQsendQuery(self._pointer, _encoded(script)))
        return self._read_script()

    def _read_script(self) -> list[Row]:
        """Read the results of all statements; return the rows of the last, or raise an error."""
        faults: list[ServerError] = []
        answers = self._results(faults)
        if faults:
            raise faults[0]
        return answers[-1] if answers else []

    def promise(self, sql: str, values: Sequence[Any] = ()) -> Deferred:
        """Send a statement together with the next one, and wait once for both."""
        made = Deferred(self, Statement(sql, values))
        self._promised.append(made)
        return made

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run one statement and return its rows."""
        return self.together((Statement(sql, values),))[0]

    def together(self, statements: Sequence[Statement | ForMany]) -> list[list[Row]]:
        """Run statements, many per round trip, and return the rows of each.

        The first failure ends them; outside a transaction they are one transaction.
        """
        statements = [*(each.statement for each in self._promised), *statements]
        if self._gathering:
            answers = self._gathering.answers(statements)
        else:
            answers = self._in_pipelines([*map(alone, statements)])
        promised, self._promised = self._promised, []
        for each, rows in zip(promised, answers, strict=False):
            each.fetched = rows
        return answers[len(promised) :]

    def each(self, ask: Callable[[Given], Made], items: Sequence[Given]) -> list[Made]:
        """Call `ask` for several objects in one transaction, as a `Gathering` does."""
        self._gathering = Gathering(self._in_pipelines)
        try:
            return self._gathering.ask(ask, items)
        finally:
            self._gathering = None

    def _in_pipelines(self, statements: Sequence[Statement]) -> list[list[Row]]:
        answers: list[list[Row]] = []
        for at in range(0, len(statements), MOST_IN_PIPELINE):
            answers += self._pipeline(statements[at : at + MOST_IN_PIPELINE])
        return answers

    def _pipeline(self, statements: Sequence[Statement]) -> list[list[Row]]:
        library = self._library
        self._take_owed()
        self._check(library.PQenterPipelineMode(self._pointer))
        for statement in statements:
            self._send(statement)
        self._check(library.PQpipelineSync(self._pointer))
        answers: list[list[Row]] = []
        faults: list[ServerError] = []
        for _ in statements:
            answers += self._results(faults)
        if end := self._next():
            library.PQclear(end)
        self._check(library.PQexitPipelineMode(self._pointer))
        if faults:
            raise faults[0]
        return answers

    def _results(self, faults: list[ServerError]) -> list[list[Row]]:
        """Read all results of a statement; add its errors to the faults."""
        answers: list[list[Row]] = []
        while result := self._next():
            try:
                answers.append(self._rows(result))
            except ServerError as error:
                faults.append(error)
        return answers

    def _send(self, statement: Statement) -> None:
        values = [_written(value) for value in statement.values]
        self._check(
            self._library.PQsendQueryParams(
                self._pointer, _encoded(statement.sql), len(values), None,
                (ctypes.c_char_p * len(values))(*values), None, None, 0,
            )
        )  # fmt: skip

    def _next(self) -> int | None:
        """Wait for the next result; None if the statement has no more."""
        library = self._library
        while library.PQisBusy(self._pointer):
            socket = library.PQsocket(self._pointer)
            self._check(socket >= 0)
            if not can_read(socket, SILENT_SECONDS):
                self.close()
                raise ServerError(f"no answer within {SILENT_SECONDS:g} seconds", _LOST)
            self._check(library.PQconsumeInput(self._pointer))
        result: int | None = library.PQgetResult(self._pointer)
        return result

    def _rows(self, result: int) -> list[Row]:
        """Read a result and free it."""
        library = self._library
        try:
            status = library.PQresultStatus(result)
            if status in _OK:
                return []
            if status not in _ROWS:
                fields = (library.PQresultErrorField(result, field) for field in (_PRIMARY, _STATE))
                message, state = (
                    text.decode("utf-8", "replace") if text else "" for text in fields
                )
                raise ServerError(message or self._message(), state or _LOST)
            columns = [self._column(result, at) for at in range(library.PQnfields(result))]
            return [*zip(*columns, strict=True)] if columns else []
        finally:
            library.PQclear(result)

    def _column(self, result: int, at: int) -> list[Any]:
        value, is_null = self._library.PQgetvalue, self._library.PQgetisnull
        read = _READERS.get(self._library.PQftype(result, at), _text)
        texts = [value(result, row, at) for row in range(self._library.PQntuples(result))]
        if b"" not in texts:
            return [*map(read, texts)]
        return [
            None if not text and is_null(result, row, at) else read(text)
            for row, text in enumerate(texts)
        ]

    def _check(self, is_done: int) -> None:
        if self._pointer is None:
            raise ServerError("the connection is closed", _LOST)
        if not is_done:
            message = self._message()
            self.close()
            raise ServerError(message, _LOST)

    def _message(self) -> str:
        message: bytes = self._library.PQerrorMessage(self._pointer) or b""
        return message.decode("utf-8", "replace")


def _of_each_host(message: str) -> str:
    """Put the message of each server on one line, without its advice."""
    lines = [line for line in message.split("\n") if line.startswith("connection to ")]
    return "; ".join(lines) or message


def _strings(texts: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:
    """Make a C array that ends with NULL."""
    return (ctypes.c_char_p * (len(texts) + 1))(*map(_encoded, texts), None)


def _encoded(text: str) -> bytes:
    """Encode for C, where a NUL would end the text."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace")


def _written(value: object) -> bytes | None:
    """Write a value in the text format of the server."""
    if value is None:
        return None
    if isinstance(value, bool):
        return b"t" if value else b"f"
    if isinstance(value, bytes):
        return b"\\x" + value.hex().encode()
    if isinstance(value, list | tuple | set | frozenset):
        return b"{" + b",".join(map(_element, value)) + b"}"
    return _encoded(value if isinstance(value, str) else repr(value))


def _element(value: object) -> bytes:
    if isinstance(value, int) and not isinstance(value, bool):
        return b"%d" % value
    text = _written(value) or b""
    return b'"' + text.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _bytes(data: bytes) -> bytes:
    return bytes.fromhex(data[2:].decode())


# How to read the values of a column by the number of its type, which is the same in every version
# of the server; all else is text.
_READERS: dict[int, Callable[[bytes], Any]] = {
    **dict.fromkeys((20, 21, 23, 26), int),
    **dict.fromkeys((700, 701, 1700), float),
    **dict.fromkeys((114, 3802), json.loads),
    16: b"t".__eq__,
    17: _bytes,
}
