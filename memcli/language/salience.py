"""Tell which sentences must survive word for word: rules, decisions, promises, facts; pure.

The words are a table, not a grammar: a sentence too many costs tokens, one too few costs memory.
English, German, Chinese and Japanese.
"""

from __future__ import annotations

import re
from functools import cache

RULE, DECISION, PROMISE, FACT = "rule", "decision", "promise", "fact"

_WORDS = {
    RULE: r"\b(?:must|mustn|shall|never|always|forbidden|mandatory|required|not allowed|only if"
    r"|do not|don't ever|müssen|muss|darf|dürfen|niemals|immer|verboten)\b"
    r"|必须|必須|务必|禁止|严禁|不得|不要|不能|不可|切勿|永远|絶対|してはいけない|必ず",
    DECISION: r"\b(?:decid\w+|decision\w*|agreed|approv\w+|reject\w+|cancel\w+|supersed\w+"
    r"|replac\w+|revert\w+|no longer|instead of|not any ?more|any ?more|switch\w* to|moved to"
    r"|we (?:will )?(?:use|keep|drop|stay|go with|chose)|chosen|settled on|postpon\w+|overrul\w+"
    r"|off the table|ruled out|out of the question|changed (?:my|our|her|his|their) minds?"
    r"|beschlossen|entschieden|vereinbart|abgesagt"
    r"|stattdessen)\b"
    r"|决定|決定|同意|批准|否决|取消|改为|改成|改為|改用|改到|不再|放弃|推迟|撤回|やめ|変更|中止",
    PROMISE: r"\b(?:promis\w+|deadline|due|guarantee\w*|swear|swore|committed to|owe[sd]?"
    r"|i will|we will|versproch\w+|zugesagt|frist"
    r"|(?:by|before|until|till) (?:the end|next|mon|tues|wednes|thurs|fri|satur|sun"
    r"|january|february|march|april|may|june|july|august|september|october|november"
    r"|december)\w*)\b"
    r"|承诺|承諾|保证|保證|答应|答應|约定|約定|截止|约束|約束|締切",
}
_MONTHS = (
    "jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli"
    "|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|oktober|nov(?:ember)?|dec(?:ember)?|dezember"
)
_FACTS = (
    r"\d{4}[-/.年]\d{1,2}(?:[-/.月]\d{1,2}日?)?|\d{1,2}月\d{1,2}[日号號]?",
    rf"\b\d{{1,2}}(?:st|nd|rd|th|\.)? (?:of )?(?:{_MONTHS})\b|\b(?:{_MONTHS})\.? \d{{1,2}}\b",
    r"\b(?:root cause|cause:|caused by|because of)|原因|\b\d{1,2}[:h]\d{2}\b|\b\w+ o[’']clock\b",
    r"[$€£¥]\s?\d|\d\s?[%€£¥$]|\d+(?:[.,]\d+)+|\d{2,}",
    r"\b\d\s?(?:k|m|bn|eur|usd|gb|mb|kb|tb|ms|kg|g|km|cm|mm|l|s|min|h|hours?|days?|weeks?"
    r"|months?|years?|percent|pm|am)\b",
    r"[\d一二两三四五六七八九十百千万亿半几]+\s?(?:元|块|塊|円|号|點|点钟|点半|岁|歲|%|％|公里|公斤|万|亿)",
    r"`[^`\n]{1,200}`|https?://\S+|\b[\w.+-]{1,64}@[\w-]{1,64}\.\w{1,16}",
    r"\b[A-Z][A-Z0-9]*-\d+\b|\b\w+_\w+\b|\bv\d+(?:\.\d+)*\b|\b[A-Z]\d{3,}\b",
    r"(?<![\w/])(?:[\w.-]{1,64}/){1,16}[\w.-]{1,64}\.\w{1,16}",
)


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    return {
        **{kind: re.compile(words, re.IGNORECASE) for kind, words in _WORDS.items()},
        FACT: _values(),
    }


@cache
def _values() -> re.Pattern[str]:
    return re.compile(
        "|".join(f"(?i:{p})" if "[A-Z]" not in p else p for p in _FACTS),
    )


def why_kept(text: str) -> str:
    """Say what makes a sentence stay: rule, decision, promise or fact; "" when nothing does.

    A question only asks for a rule, a decision or a promise.
    """
    asks = text.endswith(("?", "？"))
    kinds = {FACT: _values()} if asks else _patterns()
    return next((kind for kind, found in kinds.items() if found.search(text)), "")


def values(text: str) -> list[str]:
    """List the dates, amounts and identifiers of a text as they are written, each once."""
    return list(dict.fromkeys(match[0] for match in _values().finditer(text)))
