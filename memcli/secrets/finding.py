"""Find secrets in a text, and replace each by its kind; pure, in time linear in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memcli.digests import blake2b
from memcli.record import Record
from memcli.secrets.rules import RULES, Rule

# Placeholders for keys in documentation; real keys contain no words.
_PLACEHOLDERS = (
    "example", "placeholder", "redacted", "dummy", "changeme", "change-me", "your_", "your-",
    "yourtoken", "yourkey", "insert", "xxxxx", "00000000", "1234567890abcdef", "abcdefghijkl",
    "deadbeef", "...",
)  # fmt: skip
_NO_PASSWORDS = ("pass", "passwd", "password", "pw", "pwd", "secret", "user", "token", "postgres")
_FEWEST_SIGNS = 6  # that differ in a key of twenty and more; xxxx and 0101 have fewer
_KEY_LENGTH = 20
# Lines of base64 as tools wrap it: 64 characters in a PEM file, 70 in an OpenSSH key, 76 in MIME. A
# passage may begin within a key.
_FOLDED = (
    r"(?m)^[ \t>]{0,8}[A-Za-z0-9+/]{64,76}\r?\n"
    r"(?:[ \t>]{0,8}[A-Za-z0-9+/]{1,76}={0,2}\r?(?:\n|\Z))+"
)
_FOLD = 64
_PUBLIC = re.compile(r"-----BEGIN (?:CERTIFICATE|PUBLIC KEY|RSA PUBLIC KEY)")
FINGERPRINT_BYTES = 3


class Secret(Record):
    """The place of a secret in a text, and its kind."""

    kind: str
    start: int
    end: int
    fingerprint: str  # distinguishes secrets without revealing them


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets of a text in order; if two overlap, the one that begins first."""
    secrets = [secret for rule in RULES for secret in _of_rule(rule, text)]
    secrets += _folded(text)
    secrets.sort(key=lambda secret: (secret.start, -secret.end))
    separate: list[Secret] = []
    for secret in secrets:
        if not separate or secret.start >= separate[-1].end:
            separate.append(secret)
        elif secret.end > separate[-1].end:
            separate[-1] = separate[-1]._replace(end=secret.end)
    return separate


def _of_rule(rule: Rule, text: str) -> Iterator[Secret]:
    for literal in rule.literals:
        at = text.find(literal)
        if at < 0:
            continue
        match = re.compile(rule.pattern).match
        while at >= 0:
            secret = match(text, at) if _begins(text, at, literal) else None
            end = at + len(literal)
            if secret is not None:
                group = "secret" if secret.re.groupindex else 0
                value = secret[group]
                if not _is_placeholder(value, rule.name):
                    yield _secret(rule.name, value, secret.start(group))
                end = max(end, secret.end())
            at = text.find(literal, end)


def _begins(text: str, at: int, literal: str) -> bool:
    """Return whether a literal is at the beginning of a word, if it must be."""
    if not at or not literal[0].isalnum():
        return True
    before = text[at - 1]
    return not (before.isascii() and before.isalnum()) or literal[1:3] == "Q~"


def _secret(kind: str, value: str, start: int) -> Secret:
    hashed = blake2b(value.encode("utf-8", "surrogatepass"), digest_size=FINGERPRINT_BYTES)
    return Secret(kind, start, start + len(value), hashed.hexdigest())


def _is_placeholder(value: str, kind: str) -> bool:
    folded = value.casefold()
    if any(word in folded for word in _PLACEHOLDERS):
        return True
    if kind == "url-password":
        return folded in _NO_PASSWORDS
    return len(value) >= _KEY_LENGTH and len(set(value[-_KEY_LENGTH:])) < _FEWEST_SIGNS


def _folded(text: str) -> Iterator[Secret]:
    """Find wrapped base64 without its first line, except certificates, which are public."""
    for match in re.finditer(_FOLDED, text):
        before = text[max(0, match.start() - _FOLD) : match.start()]
        if not _PUBLIC.search(before):
            yield _secret("encoded-key", match[0].rstrip(), match.start())


def redacted(text: str) -> str:
    """Replace each secret by its kind, on as many lines as it had.

    Example: `push with ghp_…` -> `push with [secret: github-token]`
    """
    pieces, at = [], 0
    for secret in find_secrets(text):
        lines = "\n" * text.count("\n", secret.start, secret.end)
        pieces += [text[at : secret.start], f"[secret: {secret.kind}]{lines}"]
        at = secret.end
    return "".join([*pieces, text[at:]]) if pieces else text
