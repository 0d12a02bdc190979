"""Choose the lines of a session that later sessions need; pure.

A line is chosen if it says something lasting and can be understood by itself: a wish or a rule, a
decision, a promise with a date, or a fact about the people and things of the user. Questions, tasks
of the moment, code and the assistant's own work are left out, and so is what the user quotes or
pastes. What the assistant says counts only if the user agrees to it in the next turn. The rules of
`remember` then decide whether it is new.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from memcli.language.facts import facets_of
from memcli.language.preferences import is_preference
from memcli.language.tokens import wide
from memcli.markdown.transcript import USER, TranscriptTurn
from memcli.record import Record
from memcli.remember.note_score import kind_of
from memcli.remember.orders import is_order

SHORTEST, LONGEST = 18, 320  # characters
# People also begin sentences in lower case; a short word before a full stop may be an abbreviation.
_SENTENCES = r"(?<=[.!?…])\s+(?=[\"'(A-ZÄÖÜ])|(?<=[!?…])\s+|(?<=[^\W\d_]{4}\.)\s+|(?<=[。！？])|\n+"
_FENCED = r"(?ms)^\s*(```|~~~).*?(?:^\s*\1\s*$|\Z)"
# Text that the user passes on: elements, citations, code, logs and long quotations.
_TAGGED = r"(?s)<([A-Za-z][\w-]*)\b[^>]*>.*?</\1\s*>"
_PASTED = (
    r"^\s*>|^(?: {4}|\t)\s*(?![-*+•]\s|\d+[.)])\S"
    r"|^\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d\b|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:"
    r"|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b[\]:| ]|\$ "
    r"|[\w.-]+@[\w.-]+:\S*[$#] "
    r"|at [\w.$<>]+\(|File \"|Traceback |diff --git|@@ |(?:\+\+\+|---) [ab]/|[{\[]\")"
)
_QUOTATIONS = (
    r"“[^”]{1,2000}”|„[^“”]{1,2000}[“”]|«[^»]{1,2000}»|「[^」]{1,2000}」|『[^』]{1,2000}』"
    r"|(?<!\w)\"[^\"]{1,2000}\"|(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w)){1,2000}'(?!\w)"
)
_LONG_QUOTATION = 4  # words, or 8 signs of Chinese or Japanese
_GAP = "\0"  # in the place of a quotation
# "The page says:": what follows on the line and in its paragraph, or if the line ends there, in the
# whole turn, is not the user's. "We said:" and "rules for e-mails:" are.
_SAYS = (
    r"(?i)(?<!\bi )(?<!\bwe )\b(?:says?|said|wrote|writes|reads?|replied|answered|states?"
    r"|stated|told (?:me|us)"
    r"|claims?|schreibt|schrieb|sagte?|meinte|antwortete|steht|dice|dijo|escribió|dit|a écrit|écrit"
    r"|scrive|ha scritto|pisze|napisał\w*)\b[^:：]{0,40}[:：]"
    r"|(?<!我)(?<!我们)(?:说|說|写道|寫道|写着|回复|回覆)[:：]|(?:と書い|と言っ|によると).{0,12}[:：]"
)
_ORIGINS = (
    r"(?i)\b(?:web)?(?:pages?|sites?|articles?|blog|posts?|docs?|documentation|readme|wiki|logs?"
    r"|output|errors?|stack ?trace|traceback"
    r"|e-?mails?|mails?|messages?|tickets?|issues?|comments?|threads?|chats?|transcripts?|reports?"
    r"|specs?|manual|letters?|answers?|responses?|repl(?:y|ies)"
    r"|quot(?:e|ation)s?|snippets?|clipboard|pasted?|copied|excerpts?"
    r"|(?:web)?seite|artikel|doku\w*|protokoll|ausgabe|fehler\w*|nachricht|kommentar|zitat|auszug"
    r"|página|artículo|correo|mensaje|registro|courriel|journal|messaggio|pagina|strona"
    r"|wiadomość)\b|网页|網頁|文章|邮件|郵件|日志|日誌|报错|输出|原文|引用|ページ|メール|ログ|記事"
)
_OWN_LIST = (
    r"(?i)\b(?:rules?|preferences?|decisions?|decided|conventions?|agreed|remember|facts"
    r"|policy|regeln|entscheidungen|beschlossen|reglas|règles|decisiones)\b|规则|規則|决定|決定|约定|ルール"
)
_FORWARDED = (
    r"(?i)^\W*(?:-{2,} ?(?:original|forwarded|weitergeleitete|ursprüngliche)|begin forwarded)\b"
)
_AGREES = (
    r"(?i)^\W*(?:yes|yeah|yep|ok|okay|sure|right|agreed?|exactly|correct|great|nice|good|perfect"
    r"|fine|cool|true|thanks|thank you|sounds|go ahead"
    r"|do (?:it|that)|lgtm|makes sense|confirmed|ja|jep|genau|gut|passt|einverstanden|stimmt|danke"
    r"|super|perfekt|s[íi]|vale|de acuerdo|oui|d['’]accord"
    r"|va bene)\b"
    r"|^\W*(?:好|对|對|是的|可以|同意|没错|沒錯|行|はい|了解|いいね)"
)
_REFUSES = (
    r"(?i)\b(?:but|however|no|not|wrong|n['’]t|aber|nein|nicht|falsch|pero|mais|non|ma)\b|n['’]t\b"
    r"|不|但|别|でも|違"
)
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
    role: str  # USER or ASSISTANT


def facts_of(turns: Sequence[TranscriptTurn]) -> list[SessionFact]:
    """Choose lines, the most valuable first; ties go to the earlier line."""
    facts: dict[str, SessionFact] = {}
    answer = ""  # of the user to the turn
    for turn in reversed(turns):
        if turn.role == USER:
            answer = turn.text
        elif not _agrees(answer):
            continue
        for text in _sentences(_own_words(turn.text)):
            score = _score(text, turn.role)
            if score and not is_order(text):
                facts[text.casefold()] = SessionFact(turn.line, text, score, turn.role)
    return sorted(facts.values(), key=lambda each: (-each.score, each.line))


def read_lines(turns: Sequence[TranscriptTurn], lines: int) -> int:
    """Return how many lines of a transcript need not be read again: all but the last answer."""
    waiting = [*takewhile(lambda turn: turn.role != USER, reversed(turns))]
    return min([lines, *(turn.line - 1 for turn in waiting)])


def _agrees(answer: str) -> bool:
    """Return whether a user accepts what the assistant has said, and objects to nothing."""
    first = re.split(_SENTENCES, answer.strip())[0]
    return re.search(_AGREES, first) is not None and not re.search(_REFUSES, first)


def _own_words(text: str) -> str:
    """Leave out what somebody only passes on."""
    text = re.sub(_TAGGED, f"\n{_GAP}\n", re.sub(_FENCED, f"\n{_GAP}\n", text))
    text = re.sub(_QUOTATIONS, lambda match: _GAP if _is_long(match[0]) else match[0], text)
    lines = text.split("\n")
    own, is_foreign = [], False
    for at, line in enumerate(lines):
        if re.search(_FORWARDED, line):
            break
        says = re.search(_SAYS, line)
        is_origin = re.search(_ORIGINS, line) and not re.search(_OWN_LIST, line)
        if (says or is_origin) and line.rstrip().endswith((":", "：")):
            below = next(filter(str.strip, lines[at + 1 :]), "")
            if not (re.search(_PASTED, below) or below == _GAP):
                break  # the end of what it passes on is unknown
            continue
        is_foreign = bool(line.strip()) and (is_foreign or says is not None)
        if not is_foreign and not re.search(_PASTED, line):
            own.append(line)
    return "\n".join(own)


def _is_long(quotation: str) -> bool:
    return len(quotation.split()) >= _LONG_QUOTATION or _width(quotation) >= len(quotation) + 16


def _sentences(text: str) -> Iterator[str]:
    for line in re.split(_SENTENCES, text):
        plain = " ".join(re.sub(_MARK, "", line).split()).replace("**", "")
        if _width(plain) >= SHORTEST and len(plain) <= LONGEST and _GAP not in plain:
            yield plain


def _width(text: str) -> int:
    return len(text) + wide(text) * 2


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
