"""The errors that users can see, each with its exit code, and the table of exit codes.

An error says what happened, to which thing; its hint is the next command to run. A reason says the
same if work continues: an answer without vectors, an index that is out of date.
"""

from __future__ import annotations

from enum import IntEnum

from memcli.record import Record


class ExitCode(IntEnum):
    """What the process returns; `memcli help exit-codes` prints this table."""

    OK = 0
    NEGATIVE = 1
    USAGE = 2
    NOT_FOUND = 3
    NO_INDEX = 4
    BUSY = 5
    NO_RETRIEVER = 6
    BUG = 70
    INTERRUPTED = 130


ERROR_SCHEMA = "memcli.error/1"  # of an error that is written as JSON


class Reason(Record):
    """Why something is less than it could be; `render.reasons` joins text and hint."""

    code: str  # for programs; the wording of the text may change
    text: str  # without capital and full stop, for use inside a line
    hint: str = ""  # the next command to run


# Messages about limits of the process, and their hints.
NO_MEMORY, MORE_MEMORY = "memory is short", "ulimit -v unlimited, then the same command"
MORE_FILES = "ulimit -n 1024, then the same command"


def quote(text: str) -> str:
    """Quote a text for a hint: people paste hints, and a file name may contain `;` or `$(`."""
    from shlex import quote as for_shell

    return for_shell(text)


def install_extra(name: str) -> str:
    """Return the command that adds the packages of an extra to this installation.

    It names the packages themselves: memcli may have been installed from a folder.
    """
    import os
    import sys
    from importlib.metadata import PackageNotFoundError, requires
    from importlib.util import find_spec
    from shlex import join

    try:
        named = [each.partition(";") for each in requires("memcli") or ()]
    except PackageNotFoundError:  # a clone that is run from its folder
        named = [(f".[{name}]", "", f"extra == '{name}'")]
    packages = [
        each for each, _, marker in named if f"extra == '{name}'" in marker.replace('"', "'")
    ]
    pip = [sys.executable, "-m", "pip", "install"]
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        pip = ["pipx", "inject", os.path.basename(sys.prefix)]
    elif find_spec("pip") is None:  # uv makes environments without it
        pip = ["uv", "pip", "install", "--python", sys.executable]
    return join([*pip, *(each.strip() for each in packages)])


class MemcliError(Exception):
    """Base of every expected failure."""

    code = "error"
    exit_code = ExitCode.USAGE

    def __init__(self, message: str, *, hint: str = "") -> None:
        """Keep the message and the next command apart."""
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def reason(self) -> Reason:
        """Return it as a reason, for a caller that continues."""
        return Reason(self.code, self.message, self.hint)


class UsageError(MemcliError):
    """The command line asks for something that does not exist or contradicts itself."""

    code = "usage"


class ConfigError(MemcliError):
    """A configuration file or variable cannot be used."""

    code = "config"


class BudgetError(MemcliError):
    """The mandatory parts of a context do not fit its budget."""

    code = "budget"

    def __init__(self, message: str, *, hint: str = "", needed: int = 0) -> None:
        """Record how many tokens the parts take."""
        super().__init__(message, hint=hint)
        self.needed = needed


class NotFoundError(MemcliError):
    """No such workspace, document or record."""

    code = "not-found"
    exit_code = ExitCode.NOT_FOUND


class IndexMissingError(MemcliError):
    """The index is missing or unusable where it is required."""

    code = "no-index"
    exit_code = ExitCode.NO_INDEX


class BusyError(MemcliError):
    """Another process holds the writer lock."""

    code = "busy"
    exit_code = ExitCode.BUSY


class RetrieverError(MemcliError):
    """Semantic search or another model cannot run."""

    code = "no-retriever"
    exit_code = ExitCode.NO_RETRIEVER


class StoreError(MemcliError):
    """The index file cannot be opened or written."""

    code = "store"
    exit_code = ExitCode.NO_INDEX


class DamagedError(StoreError):
    """The index is not a database, or a damaged one."""

    code = "damaged"


class AwayError(StoreError):
    """The server with the index cannot be reached, or was lost in the middle of an answer."""

    def __init__(self, message: str, *, hint: str = "", was_there: bool = False) -> None:
        """Record whether it had answered before: another try, or the local copy, may then help."""
        super().__init__(message, hint=hint)
        self.was_there = was_there


class RefusedError(AwayError):
    """The server with the index has no such user, password or database."""

    code = "config"
    exit_code = ExitCode.USAGE


class IncompleteError(StoreError):
    """The index was begun, but not made."""

    code = "incomplete"


def error_of(reason: Reason) -> MemcliError:
    """Return the error for a reason; a StoreError if no error has its code."""
    kinds = [MemcliError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    made = next((kind for kind in kinds if kind.code == reason.code), StoreError)
    return made(reason.text, hint=reason.hint)


class RetryLaterError(Exception):
    """A server asks memcli to wait; a caller that can wait catches this."""
