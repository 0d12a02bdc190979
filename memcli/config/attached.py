"""The folders that are attached to a shared index, their names there, and URLs without passwords.

`memcli store attach` writes them into a file next to the user's configuration. A workspace's own
file may come with a clone, and could name somebody else's memory.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping

from memcli.config.settings import user_file
from memcli.config.sources import quoted
from memcli.errors import ConfigError, UsageError

FILE = "attached.json"
TENANT = "default"  # of a name without a tenant
SLASH = "/"
MOST_BYTES = 1 << 20
# Letters and digits first, so that no name looks like an option or a path.
MOST_CHARS = 64
_PART = re.compile(rf"[^\W_][\w.-]{{0,{MOST_CHARS - 1}}}")


def named(text: str) -> tuple[str, str]:
    """Read the name of a workspace as (tenant, workspace); UsageError if it is not valid.

    Example: `team/ops` -> (`team`, `ops`); `ops` -> (`default`, `ops`).
    """
    tenant, slash, workspace = text.rpartition(SLASH)
    pair = (tenant if slash else TENANT, workspace)
    if is_name(*pair):
        return pair
    raise _odd("workspace", "team/ops", text)


def _odd(what: str, example: str, text: str) -> UsageError:
    return UsageError(
        f"the name of a {what} in a shared index has 1 to {MOST_CHARS} letters, digits, dots,"
        f" dashes and underscores, as in {example}, unlike {quoted(text)}",
        hint="memcli help shared-index",
    )


def is_name(tenant: str, workspace: str) -> bool:
    """Return whether these can be the names of a tenant and its workspace."""
    return all(map(_PART.fullmatch, (tenant, workspace)))


def check_tenant(text: str) -> None:
    """Raise UsageError if a text cannot be the name of a tenant."""
    if not is_name(text, text):
        raise _odd("tenant", "team", text)


def written(name: tuple[str, str]) -> str:
    """Write the name of a workspace as `named` reads it."""
    tenant, workspace = name
    return workspace if tenant == TENANT else f"{tenant}{SLASH}{workspace}"


def attached(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the name of each attached folder; ConfigError if memcli did not write the file."""
    path = _path(environ)
    try:
        with open(path, encoding="utf-8") as file:
            record = json.loads(file.read(MOST_BYTES))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", hint=f"look at {path}") from (
            error
        )
    except (ValueError, RecursionError):
        record = None
    if isinstance(record, dict) and all(isinstance(name, str) for name in record.values()):
        return record
    raise ConfigError(f"{path} is not as memcli writes it", hint=f"delete {path}, and attach again")


def remember(environ: Mapping[str, str], folder: str, name: str | None) -> None:
    """Save the name of a folder; None detaches it."""
    path = _path(environ)
    known = attached(environ)
    known.pop(folder, None)
    if name is not None:
        known[folder] = name
    from memcli.workspace.atomic_write import write_whole

    try:
        write_whole(path, json.dumps(known, ensure_ascii=False, indent=1) + "\n")
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror}", hint=f"make {path} writable"
        ) from error


def _path(environ: Mapping[str, str]) -> str:
    return os.path.join(os.path.dirname(user_file(environ)), FILE)


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
