"""Read and decode one document without following links; leaves listing and parsing to others."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from memcli.errors import NotFoundError
from memcli.types import FileStat, FileText, Skip
from memcli.workspace import openat

# A few NULs in a text are an accident; more than one byte in 256 is another format.
_NUL_SHARE = 256
# Control characters are counted where a binary format has its header.
_SAMPLE = 8192
_CONTROL = bytes((*range(1, 8), *range(14, 27), *range(28, 32), 127))
_CONTROL_SHARE = 0.3
UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_UTF32 = (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")
_REPLACEMENT = "\ufffd"
# The parser keeps about 2 KB a line and 1 KB a cell of a table: half a gigabyte, and seconds.
MOST_LINES, MOST_CELLS = 250_000, 500_000
# One concurrent write is tolerated; two in a row are not.
_ATTEMPTS = 2


def read_file(
    root: str, path: str, *, source: str, max_bytes: int, follow_symlinks: bool = False
) -> FileText | Skip:
    """Read a document below an absolute root; a Skip if it cannot be read.

    A path that leads outside (`..`, absolute) is a NotFoundError. A file that has
    vanished is a Skip `unreadable`: the next listing shows that it is gone.
    """
    parts = _parts(path)
    try:
        if follow_symlinks:
            root = os.path.realpath(root)
            real = os.path.realpath(os.path.join(root, *parts))
            top = root.rstrip(os.sep) + os.sep
            if not real.startswith(top):
                return Skip(source, path, "symlink", "its target is outside the source")
            parts = real[len(top) :].split(os.sep)
        folder = openat.open_root(root)
        try:
            for name in parts[:-1]:
                try:
                    step = openat.open_folder(folder, name)
                except OSError as error:
                    return _refusal(folder, name, error, source, path)
                openat.close(folder)
                folder = step
            for _ in range(_ATTEMPTS):
                result = _attempt(folder, parts[-1], source, path, max_bytes)
                if result is not None:
                    return result
        finally:
            openat.close(folder)
    except OSError as error:
        return Skip(source, path, "unreadable", openat.reason(error))
    return Skip(source, path, "unreadable", "changed while it was read")


def _parts(path: str) -> list[str]:
    """Split a relative path; NotFoundError if it could lead outside."""
    parts = path.split("/")
    bad = any(part in ("", ".", "..") for part in parts) or "\0" in path
    if os.sep != "/":
        bad = bad or os.sep in path or bool(os.path.splitdrive(path)[0])
    if bad:
        raise NotFoundError(
            f"{path!r} is not a path inside a source",
            hint="give the path as search shows it, relative to its source",
        )
    return parts


def _refusal(folder: int | str, name: str, error: OSError, source: str, path: str) -> Skip:
    """Return why an entry was not opened: it is a link, or the system's message."""
    with suppress(OSError):
        if stat.S_ISLNK(openat.lstat(folder, name).st_mode):
            return Skip(source, path, "symlink", f"{name} is a link")
    return Skip(source, path, "unreadable", openat.reason(error))


def _attempt(
    folder: int | str, name: str, source: str, path: str, max_bytes: int
) -> FileText | Skip | None:
    """Read a file once; None if it changed meanwhile. Raises OSError."""
    try:
        # Looked at first, because opening a device can have effects.
        mode = openat.lstat(folder, name).st_mode
        if stat.S_ISLNK(mode):
            return Skip(source, path, "symlink", f"{name} is a link")
        if not stat.S_ISREG(mode):
            return Skip(source, path, "not-regular", openat.kind_of(mode))
        descriptor = openat.open_file(folder, name)
    except ValueError:
        return Skip(source, path, "unreadable", "name cannot be used")
    except OSError as error:
        return _refusal(folder, name, error, source, path)
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            return Skip(source, path, "not-regular", openat.kind_of(before.st_mode))
        if before.st_size > max_bytes:
            detail = f"{before.st_size} bytes, the limit is {max_bytes}"
            return Skip(source, path, "too-large", detail)
        data = openat.read_bytes(descriptor, max_bytes)
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if len(data) != before.st_size or _stamp(before) != _stamp(after):
        return None
    return text_of(FileStat(source, path, *_stamp(before), openat.inode(before)), data)


def text_of(stat: FileStat, data: bytes) -> FileText | Skip:
    """Decode the bytes of a file; a Skip if they are not readable text."""
    decoded = decode(data)
    if isinstance(decoded, str):
        return Skip(stat.source, stat.path, "not-text", decoded)
    text, damaged = decoded
    if wordy := _too_long(text):
        return Skip(stat.source, stat.path, "too-large", wordy)
    from hashlib import sha256

    return FileText(stat, sha256(data).digest(), text, damaged)


def _too_long(text: str) -> str:
    """Return the limit of the parser that a text exceeds; "" if none."""
    for sign, what, most in (("\n", "lines", MOST_LINES), ("|", "cells", MOST_CELLS)):
        if (count := text.count(sign)) > most:
            return f"{count} {what}, the limit is {most}"
    return ""


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    """Return the values that change when a file is written."""
    return status.st_size, *openat.times(status)


def decode(data: bytes) -> tuple[str, bool] | str:
    """Decode to (text, damaged), or return why the bytes are not text.

    UTF-8 and UTF-16 with their BOM, else UTF-8; what cannot be decoded and stray NULs
    become U+FFFD and the text counts as damaged.
    """
    if data.startswith(_UTF32):
        return "UTF-32"
    encoding = UTF16.get(data[:2], "utf-8")
    if encoding != "utf-8":
        body = data[2:]
    else:
        body = data.removeprefix(b"\xef\xbb\xbf")
        sample = body[:_SAMPLE]
        control = len(sample) - len(sample.translate(None, _CONTROL))
        if control > len(sample) * _CONTROL_SHARE:
            return f"{control} control characters in the first {len(sample)} bytes"
        nuls = body.count(0)
        if _is_laden(nuls, len(body)):
            return f"{nuls} NUL bytes in {len(body)}"
    try:
        text, damaged = body.decode(encoding), False
    except UnicodeDecodeError:
        text, damaged = body.decode(encoding, "replace"), True
    nuls = text.count("\0")
    if not nuls:
        return text, damaged
    if _is_laden(nuls, len(text)):
        return f"{nuls} NUL characters in {len(text)}"
    return text.replace("\0", _REPLACEMENT), True


def _is_laden(nuls: int, length: int) -> bool:
    return nuls > max(1, length // _NUL_SHARE)
