"""Show the URL of a shared index without its password."""

from __future__ import annotations

import re

MASK = "***"
# Only parts that are certainly not secret are shown. A URL of any other shape is not shown at all:
# a password with a slash in it may look like a host.
_URL = re.compile(
    r"(?P<scheme>postgres(?:ql)?://)(?:(?P<user>[\w.%~+-]*)(?P<password>:[^/]*)?@)?"
    r"(?P<place>[\w.,:\[\]%~-]*(?:/[\w.%~-]*)?)(?P<options>\?[a-z_=%A-Z0-9.,:/&@~+-]*)?"
)
_OPTION = re.compile(
    r"(?:host|hostaddr|port|dbname|user|service|ssl(?:mode|rootcert|cert|key|crl|sni)|passfile"
    r"|target_session_attrs|application_name|load_balance_hosts|gssencmode|channel_binding"
    r"|require_auth|client_encoding|keepalives[a-z_]*|[a-z_]*timeout)=.*"
)


def is_plain(url: str) -> bool:
    """Return whether it is clear which part of a URL is the password."""
    match = _URL.fullmatch(url)
    return match is not None and "@" not in (match["password"] or "")


def masked(url: str) -> str:
    """Return a URL without a password, wherever that appears."""
    if not url:
        return url
    match = _URL.fullmatch(url)
    if match is None:
        return f"postgresql://{MASK}"
    user = match["user"] or ""
    if match["password"] is not None:
        user += f":{MASK}"
    at = "@" if match["user"] is not None else ""
    return f"{match['scheme']}{user}{at}{match['place']}{_options(match['options'] or '')}"


def _options(text: str) -> str:
    shown = (each if _OPTION.fullmatch(each) else _hidden(each) for each in text[1:].split("&"))
    return f"?{'&'.join(shown)}" if text else ""


def _hidden(option: str) -> str:
    name, is_option, _ = option.partition("=")
    return f"{name}={MASK}" if is_option and name.isidentifier() else MASK
