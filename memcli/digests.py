"""Hashes of short texts, by the modules that `hashlib` wraps.

`hashlib` loads OpenSSL, which takes a tenth as long as a whole start does without it. It hashes
long texts faster, so files are read with it.
"""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b, sha256
else:
    try:
        from _blake2 import blake2b

        try:
            from _sha2 import sha256
        except ImportError:  # its name before 3.12
            from _sha256 import sha256
    except ImportError:  # no CPython
        from hashlib import blake2b, sha256

__all__ = ["blake2b", "sha256"]
