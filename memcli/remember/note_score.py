"""Score how much a line is worth keeping, by its content and by the notes; pure.

G = w_n * n^2 + w_s * s + w_k * k, from 0 to 1, the weights `gating.*` summing to 1:

n   novelty: 1 - the best cosine to a line of the notes about the same fact, or by words if no
    model reads the line; squared, because a line that is half known is worth less than half
s   specificity: share of the tokens that are names, amounts, identifiers or dates, doubled and at
    most 1
k   kind: what a line does, a rule or a decision most, a remark least
"""

from __future__ import annotations

import re
from functools import cache

from memcli.language.facts import Facets
from memcli.language.preferences import is_preference
from memcli.language.words import MONTHS
from memcli.record import Record

# A label, such as the speaker or the subject; and where a sentence ends.
_LABEL = re.compile(r"^\W{0,3}[\w .-]{1,40}?\W{0,3}[:：]\W{0,3}\s")
_SENTENCES = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
ENOUGH = 0.5  # share of specific tokens that gives the full value of `s`

_RULE = (
    r"\b(?:always|never|must(?:n't| not)?|should(?:n't| not)?|do not|don't|only|rule"
    r"|policy|require[sd]?"
    r"|forbidden|allowed|avoid|before (?:you|we)|bevor (?:du|wir|man)|prefers?|wants?"
    r"|likes?|hates?|allergic|immer|nie(?:mals)?|muss|müssen"
    r"|soll(?:te|ten|en)?|darf|dürfen|nur|regel|bevorzugt|möchte|mag)\b"
    r"|必须|不要|不得|应该|总是|从不|只能|规则|禁止|偏好|喜欢|希望|要求|过敏"
)
_DECISION = (
    r"\b(?:decided|decision|agreed|chose|chosen|choose|switched|moved (?:\w+ ){0,4}(?:from|to)"
    r"|migrat\w+|replac\w+"
    r"|instead of|because|root cause|caused by|fixed by|will use|we use|going with|settled|approved"
    r"|beschlossen|entschieden|entscheidung|vereinbart|gewechselt|umgestellt|ersetzt|weil|ursache"
    r"|statt|freigegeben)\b|决定|同意|改用|换成|因为|原因|选择|采用|批准|改为"
)
_PROMISE = (
    r"\b(?:will|shall|promised?|deadline|due|by (?:monday|tuesday|wednesday|thursday"
    r"|friday|saturday"
    r"|sunday|\d)|until|todo|to do|follow up|owes?|scheduled|appointment|planned|plans? to|wird"
    r"|werden|verspr\w+|frist|bis (?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag"
    r"|zum|\d)|termin|geplant)\b|承诺|截止|之前|计划|将|约定|预约|待办"
)
_FACT = (
    r"\b(?:is|are|was|were|has|have|had|lives?|works?|runs?|uses?|owns?|costs?|takes?"
    r"|listens|stands"
    r"|named|called|born|leads?|holds?|needs?|means|plays|keeps?|sends?|expires?|approves?|bought|got|went|visited|started|joined|ist|sind|war|waren|hat|haben|hatte"
    r"|wohnt|arbeitet|läuft|nutzt|benutzt|kostet|heißt|kaufte|ging|begann)\b"
    r"|是|有|在|住|用|叫|花|买|去了|开始|位于|使用"
)
_CHATTER = (
    r"^\W*(?:ok(?:ay)?|thanks?|thank you|thx|great|nice|cool|sure|yes|yeah|yep|no problem|hi|hey"
    r"|hello|bye|good (?:morning|night|evening)|sounds good|got it|done|lol|haha|wow"
    r"|perfect|awesome"
    r"|danke|super|klar|hallo|guten (?:morgen|tag|abend)|tschüss|alles klar|gerne|passt|verstanden"
    r"|let me|i'll (?:now|go|start|check|look|take)|i will now|now i|looking (?:at|into)"
    r"|i am going to|ich (?:schaue|sehe|werde jetzt|prüfe|fange)|schauen wir|mal sehen)\b"
    r"|^\W*(?:好的|谢谢|没问题|你好|再见|明白|收到|哈哈|不错|太好了|嗯|行|可以|我来看|让我)"
    r"|^\W*(?:(?:it|that|this)(?: was| is|'s|’s) (?:an? |so |very |really |pretty |truly )*(?:nice"
    r"|good|great|amazing|interesting|awesome|wonderful|fantastic|cool|inspiring|lovely|impressive)"
    r"|(?:so |very )?(?:happy|glad|proud) (?:for|of|to)|long time|can't wait|keep (?:it|up|going)"
    r"|you got this|congrats|congratulations|i agree|i (?:totally )?understand|absolutely"
    r"|i have (?:now )?(?:read|looked|checked|seen|opened)|nothing (?:special|new|much)|take care"
    r"|see you|everything (?:looks|is) (?:fine|good)|the user (?:said|greeted|thanked)|sorry for"
    r"|that is a|could you|let's|working on|we talked)\b"
    r"|\?\s*$|？\s*$"
)
# What an agent says about its own work, unless it gives a reason, a rule or a date.
_WORK = (
    r"tests?|suite|builds?|lint\w*|ruff|mypy|pipeline|branch(?:es)?|commits?|PR|pull request"
    r"|imports?|modules?|functions?|class(?:es)?|methods?|files?|code|readme|docs?|scripts?|bugs?"
    r"|errors?|typos?|draft|summary|report|letter|list|table|page|endpoints?|photos?|images?"
    r"|todos?|changes|fix(?:es)?|translation|staging|\w+\.(?:py|js|ts|md|go|rs|java|c|h|toml|json|ya?ml|txt|sh)"
)
_PROGRESS = (
    r"^\W*(?:i (?:have )?)(?:moved|removed|changed|made|built|migrated)\b"
    rf".{{0,50}}\b(?:{_WORK})\b"
    r"|^\W*removed (?:unused|dead|old)\b|^\W*migrated \d"
    r"|^\W*(?:(?:i|we)(?:'ve|’ve)? )?(?:(?:have|just|now|also|already|successfully) )*"
    r"(?:(?:ran|searched|looked (?:at|into|up)|checked|double-checked|converted|refactored|renamed"
    r"|formatted|compared|implemented|summari[sz]ed|tested|investigated|inspected|analy[sz]ed|debugged"
    r"|browsed|re-?ran|generated|drafted)\b"
    r"|(?:fix(?:ed)?|updated|add(?:ed)?|creat(?:ed)?|read|wrote|written|deleted|merged"
    r"|pushed|committed|rebased|deployed|reviewed|opened|closed|finished|completed|cleaned|sent"
    r"|downloaded|uploaded|installed|saved|edited|found)\b"
    rf".{{0,50}}\b(?:{_WORK})\b)"
    r"|^\W*(?:the |all |my |both |half of |\d+ (?:of \d+ )?)*(?:unit |new |failing )*"
    rf"(?:{_WORK})\b.{{0,40}}"
    r"\b(?:pass(?:ed|es)?|failed|(?:is|are) (?:now )?(?:green|red|failing|finished|done|ready|fixed"
    r"|updated|clean|complete)|ran|runs? without|reports? no|compiles?|migrated)\b"
    r"(?! (?:with|by|in|on|at|via|from)\b)"
    r"|^\W*(?:task|step|phase|milestone|todo) (?:\d+ )?(?:is )?(?:completed?|done|finished)\b"
    r"|^\W*(?:(?:i am|i'm|we are|we're) )?(?:currently|still|now) (?:\w+ing|waiting)\b"
    r"|^\W*(?:(?:i|we)(?:'ve| have)? )?(?:started|start|continued|resumed|finished|done)"
    r" (?:work(?:ing)?|with)\b"
    r"|^\W*(?:(?:i am|i'm|we are|we're) )?(?:working|investigating|waiting|debugging|looking)"
    r" (?:on|at|into|for|the)\b"
    r"|^\W*(?:next|then|now),? (?:i|we)(?:'ll| will| am| are)\b|\b\d+ of \d+ (?:done|complete)"
    r"|^\W*(?:ich|wir) (?:habe|haben) .{0,80}\b(?:laufen lassen|ausgeführt|aktualisiert|geprüft"
    r"|getestet|umbenannt|formuliert|hinzugefügt|behoben|korrigiert|refaktoriert|gesucht|gelesen)\b"
    r"|^\W*(?:alle )?(?:\d+ )?tests (?:sind|laufen|waren)\b.{0,20}\b(?:grün|durch|erfolgreich)\b"
    r"|^\W*(?:我)?(?:们)?已经?(?:更新|修复|修改|添加|完成|运行|检查|创建|删除|提交|重构|测试|生成)"
    r"|测试(?:全部|都|已经)?(?:通过|成功)|^\W*正在"
    r"|^\W*(?:i|we) (?:could not|couldn't|cannot|can't|did not|didn't) (?:yet )?(?:reproduce|find"
    r"|fix|run|open|build|test)\b|\bmoving on to\b|^\W*ich \w+ gerade\b"
    r"|\b(?:is|are) (?:half|nearly|almost|mostly) (?:done|finished|ready|complete)\b"
    rf"|^\W*(?:the )?(?:{_WORK}|export|import|job|download|upload|migration) (?:is|are) (?:still )?"
    r"running\W*$"
)
_NO_PROGRESS = (
    r"\b(?:because|caused? by|root cause|so that|due to|decided|agreed|instead of|only|always|never"
    r"|must|should|before|unless|until|prefers?|wants?|from now on|no longer|as of|since|every|each"
    r"|production|weil|wegen|damit|ursache|immer|nie|nur|ab jetzt|statt|muss|soll)\b"
    r"|因为|由于|原因|必须|决定|总是|从不|每"
    rf"|\b(?:19|20)\d\d\b|\b(?:{MONTHS})\b"
)
_FACT_VALUE, _REMARK = 0.7, 0.3
# The value of each kind; the first that fits counts. A remark has none.
_KINDS = (
    ("rule", _RULE, 1.0),
    ("decision", _DECISION, 1.0),
    ("promise", _PROMISE, 0.9),
    ("fact", _FACT, _FACT_VALUE),
)


class GateWeights(Record):
    """The weight of each measure; they sum to 1."""

    novelty: float
    specificity: float
    kind: float


class NoteScore(Record):
    """The score of a line, and its parts."""

    value: float  # G, 0 to 1
    novelty: float
    specificity: float
    kind: str
    kind_value: float


def score_of(text: str, facets: Facets, best: float, weights: GateWeights) -> NoteScore:
    """Weigh a line; `best` is its best cosine to the memory, 0 to 1."""
    novelty = 1.0 - min(1.0, max(0.0, best))
    tokens = max(1, len(facets.sequence))
    kind, kind_value = kind_of(text, facets)
    specific = len(facets.numbers | facets.names)
    # A name in a greeting makes it no fact.
    specificity = min(1.0, specific / tokens / ENOUGH) if kind_value else 0.0
    value = (
        weights.novelty * novelty**2 + weights.specificity * specificity + weights.kind * kind_value
    )
    return NoteScore(value, novelty, specificity, kind, kind_value)


def kind_of(text: str, facets: Facets) -> tuple[str, float]:
    """Return the kind of a line and its value: that of its most valuable sentence."""
    sentences = [each for each in _SENTENCES.split(_LABEL.sub("", text)) if each.strip()]
    statements = [each for each in sentences if not _pattern(_CHATTER).search(each)]
    if not statements:
        return "chatter", 0.0
    if all(map(_is_progress, statements)):
        return "progress", 0.0
    if is_preference(text):
        return "rule", 1.0
    for name, words, value in _KINDS:
        if any(_pattern(words).search(each) for each in statements):
            return name, value
    return ("fact", _FACT_VALUE) if facets.numbers or facets.names else ("remark", _REMARK)


def _is_progress(sentence: str) -> bool:
    """Return whether a sentence only says what an agent did or is doing."""
    is_work = _pattern(_PROGRESS).search(sentence) is not None
    return is_work and not _pattern(_NO_PROGRESS).search(sentence)


@cache
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)
