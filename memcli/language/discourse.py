"""Find out by its words whether a sentence reports an event and needs no context; pure.

The words are a table, not a grammar. English, German and Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from memcli.language.salience import names_in, values

# Rounded weights of a logistic regression on LoCoMo conversations 26, 30 and 41. It predicts which
# sentences answer a later question. There, the words of a plan predict little, so the weight of a
# plan only breaks ties.
NAME, WHEN, NUMBER, EVENT, OF_ME, ABOUT_YOU, ASKS = 1.0, 1.7, 1.5, 0.3, 0.4, 0.4, 0.4

_WHEN = (
    r"\b(?:yesterday|today|tonight|tomorrow|ago|recently|(?:last|next|this|past)"
    r" (?:night|weekend|week|month|year|spring|summer|autumn|fall|winter|time|\w+day)|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|gestern|heute|morgen|neulich|letzte[nrs]?"
    r"|nächste[nrs]?)\b|昨天|今天|明天|上周|下周|上个月|下个月|去年|明年|最近|刚刚"
)
_EVENT = (
    r"\b(?:plan\w*|going to|gonna|hop(?:e|ing) to|look(?:ing)? forward|will|i'll|we'll|want to"
    r"|wanna|thinking (?:of|about)|applied|applying|sign(?:ed|ing) up|start(?:ed|ing)?"
    r"|join(?:ed|ing)?|finish\w*|bought|moved|went|got|lost|passed|broke|won|met|visited|made"
    r"|werde\w*|plane?n?|möchte)\b|打算|计划|准备|想要|去了|买了|开始"
)
_YOU = r"^(?:\W*\w+\W+){0,6}?(?:you|your|you're|you've|yours|u|ya)\b"
_I = r"\b(?:i|i'm|i've|i'll|i'd|we|we're|we've|my|our|me|us)\b"
_ANAPHOR = (
    r"^\W*(?:(?:and|but|so|plus|then|also|yeah|yes|yep|no|oh|well|wow)\W+){0,2}"
    r"(?:its?|it's|it'll|they|they're|they've|they'll|their|them|he|he's|she|she's|his|her|him|both"
    r"|either|neither|such|that's|that'll"
    r"|(?:this|that|these|those)\W+(?:(?:really|also|just|all)\W+)?(?:is|was|are|were|has|have|had"
    r"|will|would|could|can|might|must|makes?|made|means?|meant|helps?|helped|sounds?|ones?|way)"
    r"|es|das (?:ist|war|hat)|dies\w*|dadurch|deshalb|dort)\b|^(?:它|这|那|他|她|此|其)"
)

SPEAKER_MARK = re.compile(r"^\*\*([^*\n]{1,40}?)\*\*(?: ?\([^)\n]{0,20}\))? ?[:：]\s*")


def telling(text: str, speakers: Collection[str]) -> float:
    """Return the log odds that names, times, numbers and plans add to a sentence.

    A question counts less, and so does a statement about the listener.
    """
    is_mine = re.search(_I, text, re.IGNORECASE) is not None
    return (
        NAME * any(name not in speakers for name in names_in(text))
        + WHEN * bool(re.search(_WHEN, text, re.IGNORECASE))
        + NUMBER * bool(values(text))
        + EVENT * bool(re.search(_EVENT, text, re.IGNORECASE))
        + OF_ME * is_mine
        - ABOUT_YOU * (not is_mine and bool(re.search(_YOU, text, re.IGNORECASE)))
        - ASKS * text.endswith(("?", "？"))
    )


def is_digression(text: str) -> bool:
    """Return whether a text is in brackets, such as the description of a picture."""
    return text.startswith("[") and text.endswith("]")


def leans_on(text: str) -> bool:
    """Return whether a text begins with a word that refers to an earlier sentence."""
    return re.match(_ANAPHOR, text, re.IGNORECASE) is not None


def without_speaker_mark(line: str) -> str:
    """Return a line of a conversation without marks: `**Ann** (T1): yes` becomes `Ann: yes`."""
    mark = SPEAKER_MARK.match(line)
    return f"{speaker_of(mark)}: {line[mark.end() :]}" if mark else line


def speaker_of(mark: re.Match[str]) -> str:
    """Return the name in a speaker mark."""
    return mark[1].strip().rstrip(":：")
