"""Choose the lines of a session that later sessions need; pure.

A line is chosen if it says something lasting and can be understood by itself: a wish or a rule, a
decision, a promise with a date, or a fact about the people and things of the user. Questions, tasks
of the moment, code and the assistant's own work are left out. The rules of `remember` then decide
whether it is new.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from memcli.language.facts import facets_of
from memcli.language.preferences import is_preference
from memcli.markdown.transcript import USER, TranscriptTurn
from memcli.record import Record
from memcli.remember.note_score import kind_of

SHORTEST, LONGEST = 18, 320  # characters
# People also begin sentences in lower case; a short word before a full stop may be an abbreviation.
_SENTENCES = r"(?<=[.!?…])\s+(?=[\"'(A-ZÄÖÜ])|(?<=[!?…])\s+|(?<=[^\W\d_]{4}\.)\s+|(?<=[。！？])|\n+"
_FENCED = r"(?ms)^\s*(```|~~~).*?(?:^\s*\1\s*$|\Z)"
_MARK = r"^\s*(?:[-*+>#|]+|\d+[.)])\s+"
# Tasks of the moment. A line that begins so is left out, unless it says how things are always done.
_TASK = (
    r"(?i)^\W*(?:(?:ok|okay|yes|yeah|no|now|then|also|and|so|great|nice|good|cool|perfect|hey|hmm"
    r"|wait|thanks|please|bitte|can you|could you"
    r"|would you|will you|let'?s|lass uns|i want you to|i need you to|i'd like you to|go ahead and"
    r"|you can|you should)[,. ]+)*"
    r"(?:fix|run|add|make|write|show|explain|check|look|read|open|create|update|rename|move|delete"
    r"|remove|refactor|implement|test|try|find|give|tell|help|change|commit|push|merge|deploy|put"
    r"|build|install|start|stop|continue|go on|undo|revert|review|print|list|draft|summari[sz]e"
    r"|translate|generate|lass|schau|zeig|mach|schreib|erklär|prüf|lies|erstell|füg|lösch|änder|bau"
    r"|see|remind|do|have a look|take a look|think|search|compare|clean|convert|format|debug)\b"
)
_TASK_HAN = r"^(?:请|帮我|帮忙|现在|然后|再)"
# Questions of people who leave out the mark.
_QUESTION = (
    r"(?i)^\W*(?:why|how|what|whats|when|where|which|who|warum|wieso|wie|was|wo|wann)(?:'s| is| are"
    r"| was| were| do| does| did| can| could| should| would| ist| sind| war| kann| soll)\b"
    r"|^\W*(?:can|could|would|should|do|does|did|is|are) (?:you|we|i|it|this|that|there)\b"
)
# How assistants describe their own work.
_WORK = (
    r"(?i)\b(?:i'?ll|i will|i'?m going to|i am going to|let me"
    r"|i'?ve (?:now|just|also|updated|added)"
    r"|i (?:have )?(?:now )?(?:added|updated|fixed|changed|created|ran|read|checked|looked|see"
    r"|found|think|can|could|would|removed|moved|wrote|renamed)|here(?:'s| is| are)|would you like"
    r"|do you want|should i|shall i|you can|you could|tests? (?:pass|fail|are)|done"
    r"|ich (?:habe|werde|schaue|prüfe)|sorry|noted|understood|got it|saved|verstanden"
    r"|notiert|gespeichert)\b"
    r"|我(?:会|来|已经|将)|已记录|明白"
)
# Beginnings of lines that need the line before them.
_LEANS = (
    r"(?i)^\W*(?:it|that|this|these|those|they|he|she|there|which|because|but|so|then|or|und|aber"
    r"|das|dies|es|er|sie|dann|oder|weil|这|那|它|他|她|但|所以|因为)\b"
)
_OF_US = (
    r"(?i)\b(?:my|mine|our|ours|i|i'm|we|we're|mein\w*|unser\w*|ich|wir|team|client|customer|kunde"
    r"|wife|husband|boss|manager)\b|我|我们"
)
_DECIDED = (
    r"(?i)\b(?:we|i|they|the team) (?:have |'ve )?(?:decided|agreed|chose|settled|switched|moved"
    r"|migrated|dropped|picked|went with)\b|\b(?:decision|root cause|the cause|caused by|going with"
    r"|from now on|no longer|instead of|as of)\b"
    r"|\b(?:beschlossen|entschieden|vereinbart|ursache|ab jetzt|ab sofort|statt)\b"
    r"|决定|原因是|改用|从现在|以后"
)
_HEDGES = (
    r"(?i)\b(?:maybe|perhaps|might|probably|i guess|not sure|could be|i wonder|vielleicht|eventuell"
    r"|what if|for example|e\.g\.|suppose|hypothetically|imagine|just kidding|joking|today only"
    r"|for now|just this once|this time|right now|at the moment|gerade|diesmal)\b"
    r"|也许|可能|大概|这次"
)


class SessionFact(Record):
    """A line of a transcript that later sessions may need."""

    line: int  # of the transcript, from 1
    text: str
    score: float  # 0 to 1


def facts_of(turns: Iterable[TranscriptTurn]) -> list[SessionFact]:
    """Choose lines, the most valuable first; ties go to the earlier line."""
    facts: dict[str, SessionFact] = {}
    for turn in turns:
        for text in _sentences(turn.text):
            score = _score(text, turn.role)
            if score:
                facts.setdefault(text.casefold(), SessionFact(turn.line, text, score))
    return sorted(facts.values(), key=lambda each: -each.score)


def _sentences(text: str) -> Iterator[str]:
    for line in re.split(_SENTENCES, re.sub(_FENCED, "\n", text)):
        plain = " ".join(re.sub(_MARK, "", line).split()).replace("**", "")
        if _width(plain) >= SHORTEST and len(plain) <= LONGEST:
            yield plain


def _width(text: str) -> int:
    return len(text) + sum(character >= "\u2e80" for character in text) * 2


def _score(text: str, role: str) -> float:
    """Weigh a sentence; 0 is not worth keeping."""
    if text.endswith(("?", "？", ":", "：")):
        return 0.0
    if any(re.search(pattern, text) for pattern in (_QUESTION, _LEANS, _HEDGES)):
        return 0.0
    facets = facets_of(text)
    kind, _ = kind_of(text, facets)
    if kind in ("chatter", "progress"):
        return 0.0
    is_specific = bool(facets.names or facets.numbers)
    is_decided = re.search(_DECIDED, text) is not None
    if role != USER:
        is_work = re.search(_WORK, text) is not None
        return 0.6 if is_decided and is_specific and not is_work else 0.0
    if is_preference(text):
        return 1.0
    if re.search(_TASK, text) or re.search(_TASK_HAN, text):
        return 0.0
    if is_decided:
        return 0.9
    is_ours = re.search(_OF_US, text) is not None
    if kind == "rule" and (is_ours or is_specific):
        return 0.8
    if kind in ("decision", "promise") and is_specific:
        return 0.7
    return 0.5 if is_specific and kind != "remark" else 0.0
