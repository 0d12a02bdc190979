"""Recognise the secrets that a sentence states: passwords, codes, bare keys, cards, accounts; pure.

`The wifi password is Tr0ub4dor` has no prefix of an issuer, so `find_secrets` does not know it.
Existing notes are not searched for these: the rules also refuse some harmless sentences, and people
keep such lines on purpose. Only `remember` and what hooks collect are checked.

A rule needs a word that names the secret and a value of a certain shape. Only what has a checksum,
and the bare secret keys of AWS, is known without such a word.
"""

from __future__ import annotations

import re

_ENGLISH_OR_GERMAN = (
    r"pass(?:word|phrase|code)|passwd|pwd|pw|\w*(?:passwor[dt]|kennwort)|wi-?fi[- ](?:code|key)"
    r"|w-?lan[- ]?(?:code|key|schlüssel)"
)
_PASSWORD = (
    rf"{_ENGLISH_OR_GERMAN}|contrase[ñn]a|clave|mot de passe|mdp|senha|palavra-passe"
    r"|parola d['’]ordine|wachtwoord|hasł[aoe]\w{0,2}|lösenord|adgangskode|şifre|пароль|heslo"
    r"|jelszó"
)
_WORD = (
    rf"{_PASSWORD}|(?:api|access|secret|private|licen[cs]e)[- _]?key"
    r"|(?:access|auth|bearer|api)[- _]?token|seed phrase|secret|token"
)
_CODE = (
    r"pin(?:[- ]?(?:code|number))?|cv[vc]2?"
    r"|(?:door|entry|access|alarm|gate|safe|lock|garage|keypad|security|unlock|backup|vault|sim"
    r"|recovery)[- ]?(?:codes?|pin|combination)|(?:tür|zugangs|alarm|tresor)[- ]?code"
    r"|code d['’](?:accès|entrée)|código de (?:acceso|la puerta)|codice (?:di accesso|d['’]accesso)"
)
_OF = (
    r"(?: (?:(?:for|of|to|at|on|from|in|für|von|zum|zur|vom|des|der|de|du|del|della|dello|di|do|da"
    r"|dla|dos?|pour|para|per|van|voor|till|od|na|w|к|от|для) |d['’])(?:[\w.'’-]+ ){0,4}?"
    r"[\w.'’-]+)?"
)
_IS = (
    r"(?: ?(?:=|:|：|->|→) ?"
    r"| (?:is|was|are|(?:should|must|will) be|has been|ist|lautet|luidt|war|es|est|è|é|to(?: jest)?"
    r"|jest|är|er|—|-|это)"
    r"(?: (?:now|still|just|currently|called|jetzt|nun|weiterhin))?"
    r"(?: (?:changed|set|reset|updated) to)?:? "
    r"| (?:changed|set|reset|updated|geändert) (?:to|auf) )"
)
_VALUE = r"[\"'`“„«]?(?P<value>[^\s\"'`“”„«»,;]{3,128})"
# Also the end of a variable's name: MAILGUN_KEY, HF_TOKEN.
_NAME = (
    rf"\b(?P<code>{_CODE})|(?:\b|(?<=_))(?:(?P<plain>{_ENGLISH_OR_GERMAN})|{_WORD})"
    r"|(?-i:(?<=[A-Z\d]_)KEY)"
)
_STATED = rf"(?i)(?:{_NAME}){_OF}{_IS}{_VALUE}"
_BARE = r"(?i)\b(?:password|passwort|passwd|pwd|pw) [\"'`]?(?P<value>[^\s\"'`,;]{6,128})"
_BARE_CODE = rf"(?i)(?:\b(?!access|pin [#\d])(?:{_CODE})(?<!s) |密码 ?)#?\d{{4,8}}[#*]?"
# One word at the end of a clause is a password, unless it describes one: `is strict`, `expired`.
_PLAIN = r"[A-Za-zÄÖÜäöüß-]{5,64}"
_DESCRIPTION = (
    r"(?i)[\w-]+(?:ed|ing|al|ic|ive|[ai]ble|[ao]ry|less|ful|ous|ent|ly|ig|lich|isch|bar|los|ell"
    r"|iert|selbe)|un(?!ic)\w+|ge\w+(?:t|en)|(?:ver|hinter)\w+t|(?:ab|an|auf|aus|um|ver)\w+en"
    r"|(?:long|short|old|new|strong|weak|saf|simpl|bett|eas|hard|tough|strict|bigg|small|larg|fresh"
    r"|clear|lat|läng|kürz|neu|ält|stärk|schwäch|bess|leicht|einfach)i?er|(?:on|off)line|\w+where"
    r"|(?:in|out)side|\w+teen|(?:upper|lower|mixed)-?case|twenty|thirty|three|seven|eight|twelve"
    r"|(?:in)?(?:valid|secure)|strict|strong|short|wrong|right|correct|simple|complex|blank|empty"
    r"|ready|clear|clean|tough|plain(?:text)?|secret|private|random|reset|known|stolen|shown|given"
    r"|written|hidden|broken|forgotten|frozen|fresh|stale|great|super|perfect|worse|pretty|tricky"
    r"|funny|crazy|lengthy|legacy|stuck|solid|alike|alright|obsolete|separate|complete|extra|below"
    r"|above|there|upstairs|again|enough|never|today|tomorrow|overdue|important|relevant|yours"
    r"|theirs|up-to-date|changeme|prompt|password|string|varchar|integer"
    r"|[bs]crypt|bitwarden|keepass\w*|lastpass|dashlane|vault|sicher|falsch|schwach|stark|einfach"
    r"|kaputt|prima|gleich|geheim|korrekt|bekannt|pflicht|überall|immer|anders|siehe|passwort"
)
# Before the name, if the subject is not the password but its length, the person who knows it, or
# how to change it.
_OTHER_SUBJECT = (
    r"(?i)(?:\b(?:(?:of|for|to|für) (?:the|our|your|his|her|their|this|a|das|unser)"
    r"|who(?:ever)? \w+(?: the)?)|(?:^|\n|[.!?*-] |\bto )(?:reset|change|forgot|update))"
    r" (?:[\w-]+ ){0,2}$"
)
_IN_SCRIPTS = "密码|密碼|口令|暗証番号|パスワード|비밀번호|암호"
_HAN_NAME = rf"(?:{_IN_SCRIPTS})(?!管理|策略|政策|规则|规定|长度|的负责)[^。！？\n]{{0,20}}?"
_HAN_IS = "是|为|為|改成|改为|换成|换为|设为|：|:"
_HAN = rf"{_HAN_NAME}(?:{_HAN_IS}|は、?|는|은)\s*[「『“\"']?(?P<value>[!-~]{{4,128}})"
_HAN_PLAIN = (
    rf"(?:密码|密碼|口令)(?:现在|目前|已)?(?:{_HAN_IS})\s*[「『“\"]?"
    r"(?![^。，,；;！!\n]{0,8}(?:[的谁必需请已未不在见由无空可每强弱长短问都默新旧位个数字母写号音]"
    r"|什[么麼]|多少|加密|明文|随机|统一))"
    r"[一-鿿]{2,8}[」』”\"]?\s*(?:[。，,；;！!\n]|$)"
)
# A value in quotation marks may be any word: use the password 'swordfish'. Names of fields are not.
_QUOTED = (
    rf"(?i)\b(?:{_PASSWORD})(?:{_OF}{_IS}| )(?:[\"`“„«]|(?<!\w)')(?P<value>[^\s\"'`“”„«»]{{5,64}})"
    r"[\"'`“”»](?! ?(?:fields?|buttons?|pages?|links?|flags?|columns?|parameters?|options?"
    r"|settings?|headers?|keys?|types?|errors?|prompts?|polic|is |are |was ))"
)
_NO_QUOTED = (
    r"(?i)\w*(?:pass|reset|required|forgot|changeme|secret|example|invalid|expired|missing)\w*"
)
# Four and more plain words, of which none is a word of grammar.
_PHRASE = (
    rf"(?i)\b(?:passphrase|(?:seed|recovery|pass|mnemonic) (?:phrase|words)"
    rf"|phrase (?:secrète|de passe)|frase (?:de (?:paso|recuperación)|segreta)){_OF}{_IS}[\"'`“„]?"
    r"(?P<value>[a-zäöüßéèñ]+(?:[ -][a-zäöüßéèñ]+){3,23})[\"'`”“]?(?=[.,;!)]|\s*$)"
)
_GRAMMAR = (
    r"(?i)\b(?:is|are|was|be|been|the|a|an|in|on|at|of|to|for|from|with|by|and|or|not|no|must"
    r"|should"
    r"|can|will|has|have|it|its|we|you|they|than|as|only|every|each|der|die|das|ist|im|in|von|und"
    r"|mit|nicht|le|la|les|du|des|dans|est|et|el|los|en|con|y|words?)\b"
)
_ACCOUNT = (
    r"(?i:\b(?:log[- ]?ins?|sign[- ]?in|credentials?|creds|zugangsdaten|anmeldedaten|identifiants"
    r"|credenciales|credenziali|credenciais|dane (?:do )?logowania|inloggegevens)\b)|账号|帐号|帳號"
    r"|登录|ログイン|로그인|логин"
)
# Of an account: a name and a value. After `with`, only a sign separates them: SSO and 2FA.
_PAIR = (
    r"(?:(?:[:：=]|\b(?:is|are|ist|sind|lauten|sont|son|sono|são)\b)|(?P<by>\b(?:with|as|mit|als)\b"
    r"|[用为])) ?[\"'`“]?(?P<user>[\w.@+-]{2,64})"
    r"(?: ?[/:|] ?|(?(by)(?!)| (?:and|with|und|et|y|e|mit) ))[\"'`“]?"
    r"(?P<value>[^\s\"'`“”,;]{6,128})"
)
_NAMES_KEY = (
    r"(?i)\b(?:\w*keys?|\w*secrets?|\w*tokens?|credentials?|bearer|aws|\w*schlüssel|clés?|llaves?"
    r"|chiav[ei]|chave|klucz\w*|sleutel|密钥|密鑰|ключ)\b|密钥|密鑰|秘钥|キー"
)
_KEY = r"(?<![\w+/=.:%@-])[A-Za-z0-9+/_-]{20,200}={0,2}(?![\w/=@-]|\.\w)"
_CARD = (
    r"(?<![\w.+-])(?:[3-6]\d{3}(?:[ -]\d{4}){3}|3[47]\d\d[ -]\d{6}[ -]\d{5}|[3-6]\d{13,15})"
    r"(?![\w-]|\.\d)"
)
_NAMES_CARD = (
    r"(?i)card|visa|amex|kredit|karte|carte|tarjeta|cart[ãa]o|\bcarta|karta|卡|カード|카드|карт"
)
_ACCOUNT_NUMBER = (
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"
)
SHORTEST = 5  # characters
_CLAUSE = "(?:and|but|since|until|und|aber|seit|bis)"  # the first word of the next clause
_PUNCTUATION = ".!?:)]*。"
# Placeholders that documentation has instead of a value.
_NO_VALUE = re.compile(
    r"[<${\[(*/]|.*(?:\*\*\*|xxx|\.\.\.|…|[(\[]|::|://|[a-z]\.[a-zA-Z])"
    r"|(?i:your|todo|none|null|1password|oauth2)\b"
)


def stated_secret(text: str) -> str:
    """Return the kind of secret that a text states; "" if there is none.

    The kinds are `password`, `code`, `key`, `card-number` and `iban`.
    """
    if kind := _stated(text):
        return kind
    if _has_password(text):
        return "password"
    if any(_is_key(text, match) for match in re.finditer(_KEY, text)):
        return "key"
    for match in re.finditer(_CARD, text):
        digits = re.sub(r"\D", "", match[0])
        is_named = match[0] != digits or re.search(_NAMES_CARD, text)
        if is_named and len(set(digits)) > 1 and _luhn(digits):
            return "card-number"
    return "iban" if any(_is_iban(each[0]) for each in re.finditer(_ACCOUNT_NUMBER, text)) else ""


def _stated(text: str) -> str:
    for match in re.finditer(_STATED, text):
        if match["code"]:
            value = match["value"].rstrip(_PUNCTUATION)
            if re.fullmatch(
                r"#?\d[\d -]{2,15}[#*]?|(?=\S*\d)[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8})+", value
            ):
                return "code"
            continue
        is_last = _ends(text, match.end())
        if _is_value(match["value"], is_last=is_last):
            return "password"
        is_plain = match["plain"] and is_last and _is_plain(match["value"])
        if is_plain and not re.search(_OTHER_SUBJECT, text[: match.start()]):
            return "password"
    codes = re.finditer(_BARE_CODE, text)
    return "code" if any(_ends(text, each.end()) for each in codes) else ""


def _has_password(text: str) -> bool:
    for pattern in (_BARE, _PAIR if re.search(_ACCOUNT, text) else r"(?!)"):
        for match in re.finditer(pattern, text):
            if re.search(r"\d", match["value"]) and _is_mixed(match["value"]):
                return True
    for match in re.finditer(_HAN, text):
        value, is_last = match["value"].rstrip(_PUNCTUATION), _ends(text, match.end())
        if _is_value(value, is_last=True) or (is_last and not _NO_VALUE.match(value)):
            return True
    if re.search(_HAN_PLAIN, text):
        return True
    if any(not re.fullmatch(_NO_QUOTED, each["value"]) for each in re.finditer(_QUOTED, text)):
        return True
    if any(not re.search(_GRAMMAR, each["value"]) for each in re.finditer(_PHRASE, text)):
        return True
    # Beside a word for a password or an account, a value of the strictest shape is enough.
    names = rf"(?i:\b(?:{_PASSWORD})\b)|{_ACCOUNT}|{_IN_SCRIPTS}|كلمة (?:المرور|السر)"
    return re.search(names, text) is not None and any(
        map(_is_strong, re.findall(r"[!-~]{6,64}", text))
    )


def _ends(text: str, at: int) -> bool:
    return (
        re.match(rf"[\"'`”“]?\s*(?:$|[.!?,;。()]|[–—-]\s|{_CLAUSE}\b)", text[at:]) is not None
        or text[at - 1] in ".!?"
    )


def _is_value(value: str, *, is_last: bool) -> bool:
    """Return whether a word is a secret rather than a description: `is hunter2`, not `is weak`."""
    value = value.rstrip(_PUNCTUATION) or value
    if _NO_VALUE.match(value):
        return False
    return _is_mixed(value) or (is_last and value.isdecimal() and len(value) > 3)


def _is_plain(value: str) -> bool:
    """Return whether a word can be a password rather than a description: `is tulip`."""
    value = value.rstrip(_PUNCTUATION)
    is_word = re.fullmatch(_PLAIN, value) is not None and not _NO_VALUE.match(value)
    return is_word and re.fullmatch(_DESCRIPTION, value) is None


def _is_mixed(value: str) -> bool:
    """Return whether a word has letters, and digits or signs."""
    value = value.rstrip(_PUNCTUATION)
    if _NO_VALUE.match(value) or len(value) < SHORTEST:
        return False
    signs = any(not (each.isalpha() or each in "-'’._/") for each in value)
    return signs and any(map(str.isalpha, value))


def _is_strong(value: str) -> bool:
    """Return whether a word has small and capital letters, a digit, and within it a sign."""
    value = value.rstrip(_PUNCTUATION + ",;\"'`").lstrip("\"'`(")
    shapes = (r"[a-z]", r"[A-Z]", r"\d", r".[!#$%^&*?~+@].")
    return (
        all(re.search(each, value) for each in shapes)
        and not _NO_VALUE.match(value)
        and re.search(r"\w@\w+\.|[{}<>\\|=]", value) is None
    )


def _is_key(text: str, match: re.Match[str]) -> bool:
    """Return whether a long word looks drawn by chance, and is called a key or is one of AWS."""
    value = match[0]
    if value.startswith("AAAA") or re.search(r"(?i)sha\d*[-:]$|-----\s*$", text[: match.start()]):
        return False  # public keys and digests
    if len(re.findall(r"\d+", value)) < 2 or re.search(r"[a-z]{7}|[A-Z]{7}|[0-9]{7}", value):
        return False
    counts = [len(re.findall(each, value)) for each in (r"[a-z]", r"[A-Z]", r"[0-9]")]
    if min(counts) < 2 or len(set(value)) * 2 < min(len(value), 40):
        return False
    return (
        bool(re.search(_NAMES_KEY, text)) or re.fullmatch(r"[A-Za-z0-9+/]{40}", value) is not None
    )


def _luhn(digits: str) -> bool:
    doubled = (int(each) * (1 + at % 2) for at, each in enumerate(reversed(digits)))
    return sum(each - 9 * (each > 9) for each in doubled) % 10 == 0


def _is_iban(text: str) -> bool:
    """Return whether a text, or it without its last groups, has the checksum of an account."""
    while len(text) > 14:
        plain = text.replace(" ", "")
        moved = "".join(str(int(each, 36)) for each in plain[4:] + plain[:4])
        if len(plain) > 14 and int(moved) % 97 == 1:
            return True
        text = text.rpartition(" ")[0]
    return False
