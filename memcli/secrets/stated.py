"""Find a password or a code that a sentence states; pure. A note to save must not contain one.

`The wifi password is Tr0ub4dor` has no prefix of an issuer, so `find_secrets` does not know it. The
sentence names the kind of secret and gives a value. Notes that exist are not searched for these:
the rule also refuses some harmless sentences, and people keep such lines on purpose.
"""

from __future__ import annotations

import re

# The kinds of secret, the words between name and value, and the value.
_WORD = (
    r"pass(?:word|phrase|code)|passwd|pwd|pw|\w*(?:passwor[dt]|kennwort)|contraseña|mot de passe"
    r"|(?:(?:api|access|secret|private|licen[cs]e)[- _]?key|(?:access|auth|bearer|api)[- _]?token)"
    r"|seed phrase|secret|token"
)
_CODE = (
    r"pin(?:[- ]?(?:code|number))?|cv[vc]2?"
    r"|(?:door|entry|access|alarm|gate|safe|lock|garage|keypad|security|unlock|backup|vault|sim"
    r"|recovery)[- ]?(?:code|pin|combination)|(?:tür|zugangs|alarm|tresor)[- ]?code"
)
_OF = r"(?: (?:for|of|to|at|on|from|in|für|von|zum|zur|vom|des|der) (?:[\w.'’-]+ ){0,4}?[\w.'’-]+)?"
_IS = (
    r"(?: ?(?:=|:|：|->|→) ?"
    r"| (?:is|was|are|(?:should|must|will) be|has been|ist|lautet|war|es|est)"
    r"(?: (?:now|still|just|currently|called|jetzt|nun|weiterhin))?"
    r"(?: (?:changed|set|reset|updated) to)?:? "
    r"| (?:changed|set|reset|updated|geändert) (?:to|auf) )"
)
_VALUE = r"[\"'`“„]?(?P<value>[^\s\"'`“”„,;]{3,128})"
_STATED = re.compile(rf"(?i)\b(?:(?P<code>{_CODE})|(?:{_WORD})){_OF}{_IS}{_VALUE}")
_BARE = re.compile(
    r"(?i)\b(?:password|passwort|passwd|pwd|pw) [\"'`]?(?P<value>[^\s\"'`,;]{6,128})"
)
_HAN = re.compile(
    r"(?:密码|密碼|口令|暗証番号|パスワード)(?:是|为|為|：|:|は)\s*(?P<value>[!-~]{4,128})"
)
SHORTEST = 5  # characters
_PUNCTUATION = ".!?:)]*。"
# Placeholders that documentation has instead of a value.
_NO_VALUE = re.compile(
    r"[<${\[(*/]|.*(?:\*\*\*|xxx|\.\.\.|…|[(\[]|::|://|[a-z]\.[a-zA-Z])|(?i:your|todo|none|null)\b"
)


def stated_secret(text: str) -> str:
    """Return the kind of secret that a text states, `password` or `code`; "" if there is none."""
    for match in _STATED.finditer(text):
        if match["code"]:
            if re.fullmatch(r"#?\d[\d -]{2,15}[#*]?", match["value"].rstrip(_PUNCTUATION)):
                return "code"
        elif _is_value(match["value"], is_last=_ends(text, match.end())):
            return "password"
    if any(
        re.search(r"\d", each["value"]) and _is_mixed(each["value"])
        for each in _BARE.finditer(text)
    ) or _HAN.search(text):
        return "password"
    return ""


def _ends(text: str, at: int) -> bool:
    """Return whether a sentence ends at a place."""
    return (
        re.match(r"[\"'`”“]?\s*(?:$|[.!?,;。()])", text[at:]) is not None or text[at - 1] in ".!?"
    )


def _is_value(value: str, *, is_last: bool) -> bool:
    """Return whether a word is a secret rather than a description: `is hunter2`, not `is weak`."""
    value = value.rstrip(_PUNCTUATION) or value
    if _NO_VALUE.match(value):
        return False
    return _is_mixed(value) or (is_last and value.isdecimal() and len(value) > 3)


def _is_mixed(value: str) -> bool:
    """Return whether a word has letters, and digits or signs."""
    value = value.rstrip(_PUNCTUATION)
    if _NO_VALUE.match(value) or len(value) < SHORTEST:
        return False
    signs = any(not (each.isalpha() or each in "-'’._/") for each in value)
    return signs and any(map(str.isalpha, value))
