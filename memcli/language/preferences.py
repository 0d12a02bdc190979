"""The words with which people state how they want things; pure. Six languages."""

from __future__ import annotations

import re

_ADVERB = r"(?: (?:really|also|generally|usually|still|strongly|just|much|always|personally))*"
# Statements about oneself or about the user, in English, German, Spanish, French, Chinese and
# Japanese.
_OF_ONESELF = (
    rf"\b(?:i|we){_ADVERB} prefer\b|\b(?:i|we)(?:['’]d| would){_ADVERB} (?:prefer|rather)\b"
    r"|\b(?:my|our) preferences?\b|\b(?:the )?users? (?:prefers?|wants?|likes?|dislikes?|hates?)\b"
    rf"|\b(?:i|we){_ADVERB} (?:hate|dislike|can['’]?t stand)\b"
    rf"|\bi (?:don['’]t|do not){_ADVERB} like (?:it when|when|to be)\b"
    r"|\bi(?:['’]m| am) (?:an? )?(?:vegan|vegetarian|allergic to)\b"
    r"|\b(?-i:[Cc]all me [A-Z]\w+)"
    r"|\bich (?:bevorzuge|hätte lieber|möchte lieber|mag (?:es )?lieber|hasse)\b"
    r"|\bmir ist \w+ lieber\b|\bnenn(?:e|t)? mich\b"
    r"|\bprefiero\b|\bpreferir[íi]a\b|\bll[áa]m[ae]me\b"
    r"|\bje préfère\b|\bje préférerais\b|\bappelle[sz]?-moi\b"
    r"|我(?:更喜欢|更喜歡|偏好|宁愿|寧願|讨厌|討厭|不喜欢|不喜歡)|(?:请|請|可以)?(?:叫我|称呼我|稱呼我)"
    r"|用户(?:喜欢|偏好|希望|要求)|(?:方|ほう)が(?:好き|いい)|と呼んで"
)
_NOT_AN_ORDER = (
    r"(?!\w+(?:ed|ing)\b|(?:been|had|got|done|gone|heard|seen|felt|met|read|knew|thought|mind|again"
    r"|too|a|an|the|in|on|at|so|as|good|great|nice|i|you|he|she|it|we|they|is|was)\b)"
)
# Orders to an assistant, in the same languages.
_ORDERS = (
    r"(?:^|[.!?:;,…] )(?:and |so |also,? |but )?(?:please,? )?"
    rf"(?:always|never) {_NOT_AN_ORDER}[a-z]"
    r"|\bplease,? (?:always|never|don['’]t ever|avoid|stop)\b"
    r"|\b(?:when|whenever|if|every time|each time) i ask\b|\bfrom now on\b"
    r"|\bi(?:['’]d like| would like| want| need| expect) you to (?:always|never)\b"
    r"|\b(?:remember|keep in mind|note) that i\b|\b(?:going|moving) forward,? (?:please|always)\b"
    r"|(?:^|[.!?:;,] )(?:bitte,? )?(?:immer|niemals|stets|nie) \w+en\b"
    r"|\bab (?:jetzt|sofort)\b|\bbitte (?:immer|nie|niemals|stets)\b"
    r"|\bwenn ich (?:dich )?(?:\w+ ){0,4}frage\b"
    r"|\bde ahora en adelante\b|\bpor favor,? (?:siempre|nunca)\b"
    r"|\b(?:cuando|siempre que) (?:te )?pregunte\b"
    r"|\bdésormais\b|\bs['’]il (?:te|vous) plaît,? (?:toujours|ne)\b"
    r"|\bquand je (?:te |vous )?demande\b"
    r"|以后(?:请|都|别|不要)|(?:请|請)(?:从今)?(?:以后|以後|今后|今後)|以後(?:請|都|別|不要)|今後は|これからは"
    r"|(?:请|請)(?:总是|總是|一定|始终|始終|永远|永遠|务必|務必|不要再|别再)|(?:每次|当|當)我问"
    r"|必ず.{0,20}(?:ください|下さい)|(?:いつも|常に).{0,20}(?:ください|下さい|して)"
)


# Every match of `_OF_ONESELF` contains one of these. A search for them is ten times as fast.
_HINTS = (
    "prefer", "préf", " rather", " hate", " dislike", "t stand", "like it when", "like when",
    "like to be", "user like", "user want", "users like", "users want", " vegan", " vegetarian",
    " allergic", "call me", "bevorzuge", "lieber", "hasse", "nenn", "prefier", "llam", "llám",
    "appelle", "我", "用户", "が", "と呼んで",
)  # fmt: skip


def may_be_preference(text: str) -> bool:
    """Return False if the pattern of preferences, without orders, cannot match a text."""
    return any(map(text.lower().__contains__, _HINTS))


def is_preference(text: str) -> bool:
    """Return whether a user states a preference to an assistant."""
    return bool(preference_pattern(orders=True).search(text))


def preference_pattern(*, orders: bool) -> re.Pattern[str]:
    """Return the pattern for preferences, with or without orders to an assistant."""
    words = f"{_OF_ONESELF}|{_ORDERS}" if orders else _OF_ONESELF
    return re.compile(words, re.IGNORECASE)
