"""Mask the password of a URL in a setting."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote, urlsplit

MASK = "***"
_SECRET_OPTIONS = ("password", "sslpassword")
_USER = re.compile(r"(?<=://)([^:/@?]*):([^/?]*)@")


def masked(url: str) -> str:
    """Return a URL without a password, wherever it appears."""
    shown = _USER.sub(rf"\1:{MASK}@", url)
    return re.sub(rf"([?&](?:{'|'.join(_SECRET_OPTIONS)})=)[^&]*", rf"\g<1>{MASK}", shown)


def secrets(url: str) -> tuple[str, ...]:
    """List the passwords of a URL, as they are written and as they are meant."""
    found = [value for key, value in options(url) if key in _SECRET_OPTIONS]
    if match := _USER.search(url):
        found += [match[2], unquote(match[2])]
    return tuple(filter(None, found))


def options(url: str) -> list[tuple[str, str]]:
    """List the parameters after the question mark of a URL."""
    return parse_qsl(urlsplit(url).query, keep_blank_values=True)
