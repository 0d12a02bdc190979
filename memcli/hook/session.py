"""What a session was shown, in a file per session to which lines are only appended.

Two hooks of a session may run at once. Each appends the keys that it wants to show and reads the
file again; if both claim a key, the first line counts. A hook that is killed in between has claimed
keys that nobody saw, but nothing is shown twice.

A line is `CLAIMANT KEY`. A key is the digest of a line of memory, or one of the words below, which
`forget` keeps: everything else may have left the model's context. `start:SOURCE:NS` is the start of
a session; an agent reports it as often as its hook is installed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from memcli.digests import sha256
from memcli.errors import StoreError
from memcli.system import FILE_FLAGS
from memcli.workspace.openat import read_bytes

SUGGESTED = "suggested"  # that something be remembered: once a session
WISHED = "wished"  # the person has said how things are to be done
_WORDS = frozenset((SUGGESTED, WISHED))
_FORGET, _START = "forget", "start:"
# The last line of the transcript up to which every fact was checked; a fact behind it that was
# checked too; a note that was saved.
READ, CHECKED, KEPT = "read:", "checked:", "kept:"
ONE_START_NS = 4 * 10**9  # hooks of one start run within these; each ends after 2 s
MOST_BYTES = 1 << 20  # some 30,000 lines; a session with more gets no further lines
OLDEST_NS = 30 * 86_400 * 10**9
MOST_PRUNED = 10_000  # files to look at


def session_path(folder: str, agent: str, workspace: str, session: str) -> str:
    """Return the path of a session's file; the agent's name of the session is hashed."""
    whole = "\0".join((agent, workspace, session))
    return os.path.join(folder, _digest(whole, 32))


def session_before(folder: str, workspace: str, session: str, now_ns: int) -> int | None:
    """Note that a session starts, and return the start of the one before; or None.

    A session that starts again, for example after it was cleared, gets the same answer.
    """
    from memcli.workspace.atomic_write import write_whole

    path, own, before = session_path(folder, "", workspace, ""), _digest(session), 0
    with suppress(OSError, ValueError):
        with open(path, encoding="utf-8") as file:
            known, start, earlier = file.read().split()
        if known == own:
            return int(earlier) or None
        before = int(start)
    with suppress(OSError):
        write_whole(path, f"{own} {now_ns} {before}")
    return before or None


def _digest(text: str, digits: int = 16) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def line_keys(source: str, path: str, lines: Iterable[str]) -> list[str]:
    """Digest lines of a document, whatever their numbers are."""
    document = f"{source}\0{path}\0"
    return [_digest(document + line.strip()) for line in lines]


class SessionFile:
    """The file of one session; StoreError if it cannot be used."""

    def __init__(self, path: str, claimant: str) -> None:
        """Take the path, and a word that no other process has."""
        self._path, self._claimant = path, claimant

    def claimed(self) -> dict[str, str] | None:
        """Return who claimed which key first; None if the file has reached its limit."""
        if not os.path.lexists(self._path):
            return {}
        with self._opened() as descriptor:
            return self._read(descriptor)

    def has_shown(self) -> bool:
        """Return whether anything was shown since the session began or forgot."""
        claimed = self.claimed()
        return claimed is None or not all(map(_outlasts, claimed))

    def starts(self, source: str, now_ns: int) -> bool:
        """Claim the start of a session; False if another hook of the same start came first."""
        before = f"{_START}{source if source.isascii() and source.isalpha() else ''}:"
        mine = f"{before}{now_ns}"
        with self._opened() as descriptor:
            self._append(descriptor, [mine])
            owners = self._read(descriptor) or {mine: self._claimant}
        for key, owner in owners.items():
            began = key[len(before) :] if key.startswith(before) else ""
            if began.isdigit() and abs(int(began) - now_ns) < ONE_START_NS:
                return owner == self._claimant
        return True

    def claim(self, keys: Collection[str]) -> frozenset[str]:
        """Claim keys, and return those that no other hook had claimed."""
        with self._opened() as descriptor:
            self._append(descriptor, sorted(keys))
            owners = self._read(descriptor) or {}
        return frozenset(key for key in keys if owners.get(key) == self._claimant)

    def forget(self) -> None:
        """Begin again: everything may be shown once more."""
        with self._opened() as descriptor:
            self._append(descriptor, [_FORGET])

    @contextmanager
    def _opened(self) -> Iterator[int]:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | FILE_FLAGS
        try:
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            descriptor = os.open(self._path, flags, 0o600)
            try:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise OSError(f"{self._path} is not a plain file")
                yield descriptor
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StoreError(
                f"cannot save what this session was shown: {error.strerror or error}",
                hint="set XDG_CACHE_HOME to a folder that can be written",
            ) from error

    def _append(self, descriptor: int, keys: Sequence[str]) -> None:
        text = "".join(f"{self._claimant} {key}\n" for key in keys)
        # The newline in front ends what a full disk may have left of an earlier line. If only a
        # part is written, a second attempt writes all, or reports that the disk is full.
        data = f"\n{text}".encode()
        while os.write(descriptor, data) < len(data):
            pass

    def _read(self, descriptor: int) -> dict[str, str] | None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        data = read_bytes(descriptor, MOST_BYTES)
        return None if len(data) > MOST_BYTES else _owners(data.decode("ascii", "replace"))


def _owners(text: str) -> dict[str, str]:
    owners: dict[str, str] = {}
    for line in text.split("\n"):
        claimant, _, key = line.partition(" ")
        if key == _FORGET:
            owners = {word: owner for word, owner in owners.items() if _outlasts(word)}
        elif key:
            owners.setdefault(key, claimant)
    return owners


def _outlasts(key: str) -> bool:
    return key in _WORDS or key.startswith((_START, READ, CHECKED, KEPT))


def prune(folder: str, now_ns: int) -> None:
    """Remove the files of sessions that nobody has continued for long."""
    with suppress(OSError), os.scandir(folder) as entries:
        for _, entry in zip(range(MOST_PRUNED), entries, strict=False):
            with suppress(OSError):
                if now_ns - entry.stat(follow_symlinks=False).st_mtime_ns > OLDEST_NS:
                    os.unlink(entry.path)
