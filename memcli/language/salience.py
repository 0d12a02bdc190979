"""Find the sentences that must stay word for word, and the rewordings that lines support; pure.

Rules, decisions, promises and facts must stay. The words are tables, not a grammar: an extra
sentence costs tokens, a missing one costs memory. English, German, Chinese and Japanese.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from memcli.language.stopwords import table
from memcli.language.words import HAN, MONTHS

RULE, DECISION, PROMISE, FACT = "rule", "decision", "promise", "fact"
BECAUSE = "because"  # a reason or a condition of a decision
HARD = (RULE, DECISION, PROMISE, BECAUSE)  # these must survive

_WORDS = {
    RULE: r"\b(?:must|mustn|shall|never|always|forbidden|mandatory|required|not allowed|only if"
    r"|do not|don't ever|müssen|muss|darf|dürfen|niemals|immer|verboten)\b"
    r"|^\W*(?:rules?\b|regeln?\b|规则|規則|ルール)"
    r"|必须|必須|务必|禁止|严禁|不得|不要|不能|不可|切勿|永远|絶対|してはいけない|必ず",
    DECISION: r"\b(?:decid\w+|decision\w*|agreed|approv\w+|reject\w+|cancel\w+|supersed\w+"
    r"|replac\w+|revert\w+|no longer|instead of|not any ?more|any ?more|switch\w* to"
    r"|mov(?:es?|ed) (?:to|from)"
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
_FACTS = (
    r"\d{4}[-/.年]\d{1,2}(?:[-/.月]\d{1,2}日?)?|\d{1,2}月\d{1,2}[日号號]?",
    rf"\b\d{{1,2}}(?:st|nd|rd|th|\.)? (?:of )?(?:{MONTHS})\b|\b(?:{MONTHS})\.? \d{{1,2}}\b",
    r"\b(?:root cause|cause:|caused by|because of)|原因|\b\d{1,2}[:h]\d{2}\b|\b\w+ o[’']clock\b",
    r"[$€£¥]\s?\d|\d\s?[%€£¥$]|\d+(?:[.,]\d+)+|\d{2,}",
    r"\b\d\s?(?:k|m|bn|eur|usd|gb|mb|kb|tb|ms|kg|g|km|cm|mm|l|s|min|h|hours?|days?|weeks?"
    r"|months?|years?|percent|pm|am)\b",
    r"[\d一二两三四五六七八九十百千万亿半几]+\s?(?:元|块|塊|円|号|點|点钟|点半|岁|歲|%|％|公里|公斤|万|亿)",
    r"`[^`\n]{1,200}`|https?://\S+|\b[\w.+-]{1,64}@[\w-]{1,64}\.\w{1,16}",
    r"\b[A-Z][A-Z0-9]*-\d+\b|\b\w+_\w+\b|\bv\d+(?:\.\d+)*\b|\b[A-Z]\d{3,}\b",
    r"(?<![\w/])(?:[\w.-]{1,64}/){1,16}[\w.-]{1,64}\.\w{1,16}",
)

_VALUE = "|".join(f"(?i:{p})" if "[A-Z]" not in p else p for p in _FACTS)
# A name has a capital in the middle of a sentence; `I` and its forms are not names.
_NAME = r"(?<=[a-zäöüß0-9,;&] )(?!I\b|I')[A-ZÄÖÜ][\w'’-]*[\w](?: [A-ZÄÖÜ][\w'’-]+)*"
_NEGATIONS = table("""
    not no never none nothing nobody neither nor without cannot can't don't doesn't didn't won't
    isn't aren't wasn't weren't shouldn't mustn't hasn't haven't hadn't wouldn't couldn't unable
    nicht kein keine keinen keinem keiner nie niemals nichts niemand ohne weder
""")
# Words that may begin a sentence in place of a name.
_PRONOUNS = table("""
    i it its he his she her they their we our you your this that these those the a an there here
    es er sie wir ihr das dies der die den ein eine
""")
_HAN_NEGATION = "不|没|無|无|别|勿|未|非"
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_CONTENT = rf"[{HAN}]|[^\W{HAN}][\w']{{2,}}"  # a content word, or a Chinese character
_NUMBER = re.compile(r"\d+")
_SENTENCE_END = r"(?<=[.!?…])\s+|(?<=[。！？])|\n"
ABOUT = 0.5  # share of a sentence's words that a rewording of it contains


_DECIDES = r"(?:decisions?|decided|beschl(?:uss|üsse)|entscheidung(?:en)?|决定|決定)(?!\w)"
_REASONS = (
    r"(?:reasons?|reasoning|rationale|why|because|conditions?|unless|only if|on condition"
    r"|gründe|grund|begründung|warum|weil|bedingung(?:en)?)(?!\w)|原因|理由|因为|因為|条件|條件"
)
_GIVES_REASON = (
    r"\W*(?:because|since|as long as|so that|unless|if|only if|provided|except|the reason"
    r"|weil|da|denn|damit|falls|wenn|sofern|es sei denn)(?!\w)|因为|因為|由于|由於|如果|除非|只要"
)


def of_heading(heading: str) -> str:
    """Return what the lines below a heading are: a decision, its reasons, or ""."""
    for reason, words in ((DECISION, _DECIDES), (BECAUSE, _REASONS)):
        if re.match(words, heading.strip(), re.IGNORECASE):
            return reason
    return ""


def gives_reason(text: str) -> bool:
    """Return whether a sentence begins like a reason or a condition of the one before it."""
    return re.match(_GIVES_REASON, text, re.IGNORECASE) is not None


def keep_reason(text: str) -> str:
    """Return why a sentence must stay: rule, decision, promise or fact; or "".

    A question can only ask for a rule, a decision or a promise.
    """
    for kind, words in () if text.endswith(("?", "？")) else _WORDS.items():
        if re.search(words, text, re.IGNORECASE):
            return kind
    return FACT if re.search(_VALUE, text) else ""


def values(text: str) -> list[str]:
    """List the dates, amounts and identifiers of a text as written, each once."""
    return list(dict.fromkeys(match[0] for match in re.finditer(_VALUE, text)))


def names_in(text: str) -> list[str]:
    """List the proper names in a text, each once; a first word may not be a name."""
    return list(dict.fromkeys(match[0] for match in re.finditer(_NAME, text)))


def is_negated(text: str) -> bool:
    """Return whether a text contains a negation."""
    folded = (word.casefold().replace("’", "'") for word in _WORD.findall(text))
    return not _NEGATIONS.isdisjoint(folded) or re.search(_HAN_NEGATION, text) is not None


def sentences_of(text: str) -> list[str]:
    """Cut a text at the ends of its sentences and lines."""
    return [cut.strip() for cut in re.split(_SENTENCE_END, text) if cut.strip()]


def is_supported(rewording: str, lines: Iterable[str]) -> bool:
    """Return whether lines support a rewording: they contain its names, numbers and negations.

    This does not check the meaning. A rule must be word for word, and a rewording may not add one.
    """
    text = "\n".join(lines)
    sentences = sentences_of(text)
    for sentence in sorted(sentences, key=len, reverse=True):
        rewording = rewording.replace(sentence, " ")
    folded = text.casefold()
    named = [*values(rewording), *names_in(rewording)]
    if not all(each.casefold() in folded for each in named):
        return False
    if not set(_NUMBER.findall(rewording)) <= set(_NUMBER.findall(text)):
        return False
    if keep_reason(rewording.strip()) == RULE:
        return False
    about = [sentence for sentence in sentences if _is_about(rewording, sentence)]
    if any(keep_reason(sentence) == RULE for sentence in about):
        return False
    if is_negated(rewording) != any(map(is_negated, about)) and (about or not is_negated(text)):
        return False
    first, *rest = _WORD.findall(rewording) or [""]
    is_other = first.casefold() not in _PRONOUNS and first.casefold() not in folded
    return not (is_other and len(rest) > 1 and _content(" ".join(rest)) <= _content(text))


def _is_about(text: str, sentence: str) -> bool:
    """Return whether a text contains most words of a sentence, negations aside."""
    words, own = _content(text), _content(sentence)
    return len(own & words) >= ABOUT * len(own) > 0


def _content(text: str) -> set[str]:
    return set(re.findall(_CONTENT, text.casefold().replace("’", "'"))) - _NEGATIONS
