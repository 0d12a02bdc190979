"""Decide what of a prompt is worth a search; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memcli.checking import TYPE_CHECKING
from memcli.language.stopwords import ENGLISH, GERMAN
from memcli.language.tokens import wide
from memcli.language.words import fold

if TYPE_CHECKING:
    from memcli.search.query import ParsedQuery, QueryTerm
    from memcli.search.question import Question

# Words of a prompt about what "we" do or what has happened: English, German, Spanish, French.
_OWN_WORDS = """
    we us our ours did was were had has have
    wir uns unser unsere unserem unseren unserer hat habe haben hatte hatten war waren wurde
    wurden nosotros nuestra nuestro nuestras nuestros fue fueron hemos había habían
    nous notre nos avons avait était étaient
"""
_OWN = frozenset(_OWN_WORDS.split())
_OWN_SIGNS = ("我们", "我們", "咱们", "上次", "之前", "私たち", "前回")
# Questions about oneself. "How do I" and "why does my" ask about the world more often.
_ASKING = ("what ", "what's ", "which ", "when ", "where ", "who ")
_ABOUT_ONESELF = (" do i ", " did i ", " am i ", " may i ", " have i ", " was i ", " my ")
_OF_ONESELF = ("am i ", "did i ", "have i ", "do i ", "may i ", "was i ")
_WORD = r"[^\W\d_]+"
# How impersonal questions begin. "Which release fixed it" and "who signs it" ask about notes.
_IMPERSONAL = ("how ", "what ", "what's ", "when ", "why ", "does ", "is ", "are ", "can ")
_OPENING = re.compile(r"(?i)when was |what(?:'s| is| are) the ")
_PERSONAL = _OWN | {
    "i", "me", "my", "mine", "the", "this", "that", "these", "last", "yesterday", "today",
    "deployed", "changed", "broke", "broken", "down", "production", "staging",
}  # fmt: skip
_TOKEN = r"[\w/-]*\w"
_PRODUCT = re.compile(r"(?=[^\W\d_a-z][^\W_]*[A-Z])[^\W\d_]+|[A-Z]+/[A-Z]+")  # MySQL, WAL
_LATER_WORD = r"(?<![.!?:] )(?<!^)\b[^\W\d_]+"  # that does not begin a sentence
# How questions for general knowledge begin and end, unless they have one of the words above too.
_DEFINED = (
    "what is a ", "what is an ", "what's a ", "what's an ", "what is the difference ",
    "explain ", "please explain ", "define ", "was ist ein", "was sind ", "was bedeutet ",
    "erklär", "wie funktioniert ", "什么是", "解释",
)  # fmt: skip
_BEGUN = ("what does ", "how does ", "how do ")
_ENDED = (" mean", " stand for", " do", " work")
_SHORTEST, _ENDING = 4, 3  # letters of a word that have to be there, and that may differ at its end

LEAST_WIDTH = 10  # characters, as in "yes, do it"
# Of a longer prompt, memcli searches for its beginning and its end, which usually contain the
# question.
MOST_CHARACTERS = 1000
_MOST_LOOKED_AT = 20_000  # characters at either end
# A command for the agent, or what the agent itself writes in the place of a prompt.
_NOT_SAID = re.compile(r"[/!$][a-z][\w:.-]*(?:\s|$)|<[a-z][\w-]*>")
_FENCED = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
# Most of what `preferences` takes for a wish has one of these stems; the check is nearly free.
_WISH_STEMS = (
    "prefer", "rather", "always", "never", "from now on", "remember that", "keep in mind",
    "going forward", "moving forward", "call me", "each time i", "every time i", "whenever i",
    "bevorzuge", "lieber", "immer", "niemals", "stets", "ab jetzt", "ab sofort", "nenn",
    "prefiero", "siempre", "nunca", "en adelante", "préfère", "toujours", "désormais",
    "以后", "以後", "喜欢", "喜歡", "偏好", "总是", "總是", "不要再", "叫我",
    "今後", "これから", "いつも",
)  # fmt: skip
# A prompt quotes and writes options: in it these are not search operators.
_OPERATORS = re.compile(r"""["“”„«»「」*]|(?<!\S)-+(?=\S)""")

# Words of small talk. A prompt of only these has no subject, even if a chat in the memory has the
# same words.
_ENGLISH_TALK = """
    able absolutely actually advance ahead all alright amazing another answer answers anything
    anyway apologies appreciate approach ask asking away awesome back bad begin better bit bored
    brilliant busy bye call careful carry clear clearer close come continue cool correct day done
    easier easy else end enough evening everything exactly excellent explain fantastic far fast
    faster favor favour feel fine finish finished first forget found friday fun funny get give
    glad go going good goodbye got great guess guys ha haha happen happens happy hard hear hello
    help helpful helps hey hi hmm hold hope hurry idea impressive interesting joke keep kind know
    last later lazy leave left less let lets line little long look looking looks lot lovely make
    makes making many maybe mean means meant mind minute minutes moment monday mondays morning
    much need needed needs never nevermind next nice night no nope nothing now oh ok okay one ones
    oops option options order part pause perfect perfectly pick please point possible pretty
    probably proceed put question questions quick quickly quite ready really reason repeat reply
    rest result right same saturday say saying second see seem seems sense short shorter show
    simple simpler skip slow slower slowly soon sorry sound sounds start started stay step steps
    still stop stuff suggest suggestion suggestions summarise summarize summary sunday super sure
    surely take takes taking talk tell thank thanks thing things think thinking third thought
    thursday time times tired today tomorrow tonight totally tried true try trying tuesday turn
    two ugh understand understood undo useful version wait waiting want wanted wants way wednesday
    week weekend weird welcome well wish wonder wonderful word words worked working works worries
    worry wow write wrong yeah yep yes yesterday yet
"""
_GERMAN_TALK = """
    abend alles anders anfangen antwort aufhören ausgezeichnet bescheid besser bisschen bitte
    danke dankeschön denke denkst dienstag donnerstag einfach einfacher ende endlich
    entschuldigung erkläre erklären erklärst ersten etwas feierabend fertig frage fragen freitag
    funktioniert fühlst ganz geht gehts genau genug gerade gern gerne gesagt glaube gleich gut
    gute guten guter haha hallo halt helfen hilfe hilfst hört idee ideen interessant ja jetzt klar
    klasse klingt kurz kürzer lange langsam langsamer lass lassen leider letzten lieber los mach
    mache machen machst meinst meinte mittwoch moin moment montag morgen na nacht nee nehme nehmen
    nein noch nochmal nächste nächsten ok okay passt pause perfekt prima probier probiere
    probieren richtig sache sag sagen samstag schade schau schaue schlecht schnell schneller
    schritt schritte schön schöne schönen servus sieht sonntag später stimmt stopp super tag tage
    toll tschüss tu tun verstanden verstehe verstehst versuch versuche versuchen vielen vielleicht
    vorschlag warte warten weg weiter weitermachen weiß wirklich witz woche wochenende wort worte
    zeig zeige zeit zurück zusammenfassung zuviel zweite zweiten
"""
_TALK = frozenset((_ENGLISH_TALK + _GERMAN_TALK).split())


def query_of(prompt: str) -> str:
    """Return the text to search for; "" if a prompt does not need the memory."""
    text = _ends(prompt, _MOST_LOOKED_AT).strip()
    if _NOT_SAID.match(text):
        return ""
    text = _FENCED.sub(" ", text) if "```" in text or "~~~" in text else text
    text = " ".join(_OPERATORS.sub(" ", text).split())
    text = _ends(text, MOST_CHARACTERS // 2)
    return text if len(text) + wide(text) >= LEAST_WIDTH else ""


def _ends(text: str, most: int) -> str:
    return text if len(text) <= 2 * most else f"{text[:most]} {text[-most:]}"


def has_subject(question: Question) -> bool:
    """Return whether a question has a word that could be its subject, or asks for a date."""
    is_date = bool(question.dates) and question.query.asks_for_dates_alone
    return is_date or bool(subject(question.query))


def subject(query: ParsedQuery) -> list[QueryTerm]:
    """Return the words that a query could be about."""
    return [term for term in query.terms if not (term.stop or term.text.lower() in _TALK)]


def is_of_the_past(prompt: str, passage: str) -> bool:
    """Return whether a prompt is about what somebody did, and not about the world.

    It has a name that the passage has too, or a word for "we" or for the past, or asks what "I"
    do. A name begins with a capital; in German every noun does, so there it proves nothing.
    """
    if asks_about_product(prompt):
        return False
    words = _words(prompt)
    if not words.isdisjoint(_OWN) or any(sign in prompt for sign in _OWN_SIGNS):
        return True
    if _asks_about_oneself(prompt):
        return True
    if asks_for_definition(prompt):
        return False
    if words & GERMAN and not words & ENGLISH:
        return False
    later = (match[0] for match in re.finditer(_LATER_WORD, prompt))
    return any(_stem(word) in passage for word in later if word[0].isupper() and word != "I")


def _asks_about_oneself(prompt: str) -> bool:
    low = f"{prompt[:200].lower().strip(' ?.!')} "
    is_of_person = low.startswith(_ASKING) and any(each in low for each in _ABOUT_ONESELF)
    return is_of_person or low.startswith(_OF_ONESELF)


def _words(prompt: str) -> set[str]:
    return {match[0].casefold() for match in re.finditer(_WORD, prompt)}


def asks_about_product(prompt: str) -> bool:
    """Return whether a prompt asks about a product in general. Example: how does MySQL sort.

    All its names have a capital inside and no digit, and it has no word such as "we", "I", "did",
    or "the", as in "the budget tracker".
    """
    if not prompt[:10].lower().startswith(_IMPERSONAL):
        return False
    opening = _OPENING.match(prompt)
    if _words(prompt[opening.end() if opening else 0 :]) & _PERSONAL:
        return False
    tokens = re.findall(_TOKEN, prompt)[1:]
    codes = {each for each in tokens if not each.isdecimal() and any(map(str.isdecimal, each))}
    names = [token for token in tokens if token != token.lower() or token in codes]
    has_product = any(not name.isupper() for name in names)  # "the dashboard API" may be one's own
    return has_product and all(_PRODUCT.fullmatch(name) for name in names)


def asks_for_definition(prompt: str) -> bool:
    """Return whether a prompt asks what something is in general. Example: what is a ULID."""
    low = prompt[:200].lower().strip(" ?.!？")
    return low.startswith(_DEFINED) or (low.startswith(_BEGUN) and low.endswith(_ENDED))


def contained(words: Iterable[str], text: str) -> list[str]:
    """Return the words that a text contains, whatever their endings."""
    folded = fold(text)
    return [word for word in words if _stem(fold(word)) in folded]


def _stem(word: str) -> str:
    return word[: max(_SHORTEST, len(word) - _ENDING)]


def is_wish(prompt: str) -> bool:
    """Return whether a person says how things are to be done from now on."""
    low = prompt[:MOST_CHARACTERS].lower()
    if not any(stem in low for stem in _WISH_STEMS):
        return False
    from memcli.language.preferences import is_preference

    return is_preference(prompt[:MOST_CHARACTERS])
