"""Recognise texts that tell a model what to do, as attacks do; pure.

The patterns know common wordings in English, German and Chinese: to drop rules, to obey, to hide
something from the user, to send data away, to push a product. `order_kinds` has the plainest ones
in a dozen languages. An order in other words passes, so memcli also marks the notes of agents as
untrusted wherever it shows them.
"""

from __future__ import annotations

import re

from memcli.remember.order_kinds import KINDS
from memcli.render.sanitize import broken_up

# What attacks say to a model, and notes do not. "Always squash before merging", "ignore the flaky
# test" and "never forget all lint rules" are rules of a team, and so is what "the user wants".
_ORDERS = (
    r"(?i)(?<!not )(?<!never )(?<!n't )\b(?:ignore|disregard|forget|override|bypass)\b(?:"
    r".{0,30}\b(?:previous|prior|above|earlier|preceding|system|safety|your)\b.{0,30}"
    r"\b(?:instructions?|prompts?|rules?|messages?|guidelines|restrictions|directives)\b"
    r"|(?: (?:all|any|these|those|the|of|other|existing|current|given|my|our)){1,4}"
    r" (?:instructions?|prompts?|rules?|guidelines|restrictions|directives)\b"
    r"(?! (?:in|of|for|from)\b)"
    r"|.{0,30}\b(?:instructions?|rules?|guidelines|directives)\b (?:in|of|from)\b.{0,20}"
    r"\b(?:CLAUDE|AGENTS|GEMINI|SKILL|MEMORY|copilot-instructions)\.md\b)"
    r"|\b(?:reveal|print|repeat|output|show|leak|send)\b.{0,30}\b(?:system|hidden|initial|your)"
    r" (?:prompt|instructions)\b"
    r"|\byou are (?:now|no longer) (?:a|an|the|in|bound|DAN)\b|\bjailbreak|\bdeveloper mode\b"
    r"|\bdo not (?:tell|inform|mention (?:this|it) to|ask) the user\b"
    r"|\bwithout (?:telling|informing|asking) the user\b"
    r"|^\W*(?:system|assistant|new instructions?)\s*:"
    r"|\b(?:user|owner|operator|developer|admin)s? (?:wants?|asks?|asked|expects?|told|allows?"
    r"|requires?|would like|has (?:asked|told|allowed)) you to\b"
    r"|\b(?:you|assistant|agent|model|chatbot|AI|LLM)\b (?:must|should|shall|will|has to|have to)\b"
    r".{0,20}\b(?:answer|reply|respond)\b.{0,10}\b(?:every|all|each|any)\b.{0,20}"
    r"\b(?:questions?|prompts?|requests?|messages?) (?:with|by)\b"
    r"|\b(?:do not|don't|never) (?:follow|obey)\b.{0,30}\b(?:CLAUDE|AGENTS|GEMINI|MEMORY)\.md\b"
    r"|\byou (?:must|should|shall|may|can|will|are to) (?:never|not)\b"
    r"(?:.{0,20}\bmention\b|.{0,80}\bthe user\b)"
    r"|\bfrom now on,? you (?:must|should|shall|will|have to)\b.{0,20}"
    r"\b(?:answer|reply|respond|say|obey|follow|ignore|pretend|act as)\b"
    r"|\b(?:when(?:ever)?|if) (?:(?:you are|you're|the user) )?ask(?:ed|s)\b[^.!?]{0,80}[,:] ?"
    r"(?:(?:always|just|simply|please|only|you (?:must|should)) )*"
    r"(?:tell|(?:answer|reply|respond)\b(?! (?:in|briefly|using)\b)|say|pretend|claim|deny)\b"
    r"|\b(?:ignoriere?|vergiss|vergesst|missachte)\b(?! nicht)(?:"
    r".{0,30}\b(?:vorherigen?|vorigen?|bisherigen?|obigen?|früheren?|deine|alle)\b.{0,30}"
    r"\b(?:anweisungen|instruktionen|befehle|regeln|nachrichten|vorgaben)\b"
    r"|.{0,30}\b(?:anweisungen|regeln|vorgaben)\b.{0,20}\b(?:CLAUDE|AGENTS|GEMINI|MEMORY)\.md\b)"
    r"|\b(?:nutzer|benutzer|anwender)(?:in)? (?:will|möchte|wünscht|verlangt|erwartet)\b.{0,3}"
    r"\bdass du\b"
    r"|\bdu (?:darfst|sollst|musst)\b.{0,60}\b(?:nie|niemals|nicht)\b.{0,10}\berwähn"
    r"|\b(?:du|assistent|agent|modell|KI)\b.{0,30}\bjede\w* (?:an)?frage\b.{0,20}\bmit\b"
    r"|\bwenn (?:du|man dich|der nutzer)\b.{0,60}\b(?:gefragt wirst|fragt)\b[^.!?]{0,60}, ?"
    r"(?:sage?|antworte|behaupte)\b"
    r"|(?:忽略|无视).{0,10}(?:之前|以上|先前|所有|系统).{0,10}(?:指令|指示|提示|规则)"
)

_MODELS = (
    r"(?:AIs?|KIs?|LLMs?|assistants?|assistenten|agents?|models?|chatbots?|claude|gpt|chatgpt"
    r"|gemini|copilot|codex)"
)
# How attacks address a model: by its name, by rules that it is to drop, by what a user must not
# know, and by where it is to send things.
_ADDRESSED = (
    rf"(?i)^\W*(?:(?:hey|hi|hello|dear|attention|note to(?: all)?|to all|an alle(?: KI)?"
    rf"|liebe[rs]?)[-, ]+)?"
    rf"(?:(?:AI|KI)[- ])?{_MODELS}(?:en)?\s*[,:!]"
    r"|\b(?:every|any)(?:one|body| agent| model) (?:who|that) reads this\b|\breading this\b"
    r"|\b(?:your|deine) (?:restrictions?|filters?|safety|guardrails|einschränkungen)\b"
    r"|\b(?:stop|quit|cease) (?:following|obeying)\b|\bbefolge\b.{0,20}\b(?:nicht|keine)\b"
    r"|\b(?:answer|reply|respond)\b.{0,20}\b(?:every|all|any|each) (?:questions?|prompts?"
    r"|messages?)\b"
    r"|\bbefore (?:you (?:answer|reply|respond)|each (?:answer|reply)|every (?:answer|reply))\b"
    r"|\b(?:if|when(?:ever)?) you (?:see|read|find|receive|encounter)\b.{0,60}, ?(?:then )?[a-z]+\b"
    r"(?! (?:is|are|was|were|has|have|will)\b)"
    r"|\b(?:print|show|dump|reveal|output|list|read out)\b.{0,20}\b(?:environment variables"
    r"|env vars"
    r"|credentials|secrets|tokens|passwords|private keys?)\b"
    r"|(?<!never )(?<!n['’]t )(?<!not )"
    r"\b(?:approve|merge|push|delete|pay|accept|execute|run)\b.{0,60}\bwithout (?:any )?(?:review"
    r"|approval|confirmation|asking|permission)\b"
    rf"|\bthe {_MODELS} (?:must|should|shall|will|has to) (?:always|never"
    rf"|only)\b.{{0,60}}\bthe users?\b"
    r"|\bwhatever (?:the )?users? (?:asks?|says?|wants?)\b"
    r"|\bact as (?:DAN\b|(?:an?|the) (?:\w+ )?(?:model|assistant|AI|hacker|root)\b)"
    r"|\b(?:pretend|act as if|imagine) (?:that )?you (?:have|had|are|were)\b.{0,30}\b(?:no"
    r"|without|not)\b"
    r".{0,20}\b(?:rules?|restrictions?|limits?|filters?|guidelines)\b"
    r"|\bdrop (?:every|all|any) (?:restrictions?|rules?|limits?|guidelines)\b"
    r"|\b(?:your|the) (?:guidelines|instructions|restrictions"
    r"|safety rules) no longer apply\b.{0,40}"
    r"\b(?:you|this (?:file|note|text))\b"
    r"|\b(?:forget|disregard|ignore)\b.{0,20}\b(?:everything|all|what(?:ever)?)\b.{0,30}"
    r"\b(?:you (?:were|have been|are|know)|your (?:developers?|creators?|makers?)|the developers)\b"
    rf"|\b(?:{_MODELS}|you)\b (?:must|should|shall|will|are required to|are to|have to|has to)"
    r" (?:\w+ ){0,2}(?:obey|comply with|execute|run|follow)\b.{0,20}\b(?:every|all|any|each"
    r"|the)\b.{0,20}"
    r"\b(?:commands?|instructions?|orders?|requests?)\b.{0,30}\b(?:web|pages?|e-?mails?|messages?"
    r"|issues?|comments?|notes?|files?|it finds|below)\b"
    rf"|\bas an? (?:\w+ )?{_MODELS}\b.{{0,20}}\byou\b"
    r"|\b(?:your|the) (?:new|real|actual|true) (?:system prompt|instructions?|task|goal) (?:is"
    r"|are)\b"
    r"|\btreat (?:this|the following|what follows)\b.{0,30}\b(?:from|by|of) (?:the )?(?:system|user"
    r"|developers?|operator|admin)\b"
    r"|\b(?:safety|security|permission) (?:checks?|rules?|filters?|prompts?)\b.{0,40}\bfor you\b"
    r"|\b(?:when(?:ever)?|if|every time|each time) (?:the |a )?users?\b.{0,80},? (?:then )?"
    r"(?:silently|secretly|quietly|always approve|(?:forward|send|leak|upload|post)\b.{0,60}"
    r"\b(?:conversation|chat|history|memory|notes?|passwords?|secrets?)\b)"
    r"|\b(?:do not|don't|never)\b.{0,20}\b(?:tell|reveal|disclose|inform|mention|show"
    r"|admit)\b.{0,20}"
    r"\b(?:users?|anyone|anybody)\b.{0,30}\b(?:this|that you|the) (?:note|file|memory|instruction"
    r"|message|prompt|read)\b"
    r"|\b(?:keep|hide)\b.{0,30}\b(?:hidden |secret )?from (?:the )?users?\b"
    r"|\b(?:send|forward|upload|post|mail|leak)\b.{0,40}\b(?:conversations?|memory|memories|chats?"
    r"|chat history|transcripts?|credentials|passwords?|secrets?|api keys?)\b.{0,40}(?:\S+@\S"
    r"|https?:)"
    r"|\b(?:musst|sollst|wirst) du\b.{0,60}\b(?:anweisung|befehl)\w*\b.{0,40}\b(?:ausführ|befolg"
    r"|folg)"
    r"|\bdu (?:musst|sollst|wirst)\b.{0,40}\b(?:anweisung|befehl)\w*\b.{0,40}\b(?:ausführ|befolg"
    r"|folg)"
    r"|\b(?:ignoriere?|vergiss|vergesst|missachte)\b.{0,20}\b(?:alles|was)\b.{0,40}"
    r"\b(?:dir|euch)\b"
    r"|\bdu bist (?:jetzt|nun|ab (?:jetzt|sofort))?\b.{0,30}\b(?:assistent|modell|KI|agent)\w*\b"
    r"|\btu so\b.{0,30}\bkeine (?:regeln|grenzen|filter|einschränkungen)\b"
    r"|\b(?:sage?|verrate|erzähle?|zeige?)\b.{0,10}\b(?:nutzer|benutzer|anwender)(?:in|n)?\b.{0,10}"
    r"\b(?:nichts|nicht|nie|niemals)\b"
    r"|\bwenn (?:der|die|ein|eine) (?:nutzer|benutzer|anwender)(?:in)?\b.{0,60}, ?(?:dann )?"
    r"(?:gib|sende|schicke|leite|lösche|verrate)\b"
    r"|^\W*(?:führe?|befolge)\b.{0,40}\b(?:befehle|anweisungen)\b.{0,40}\b(?:notiz|mail|webseite"
    r"|datei)"
    r"|\bantworte\b.{0,30}\b(?:jede|alle)\w* (?:an)?fragen?\b|\bgegenüber (?:dem|der"
    r"|den) (?:nutzer|benutzer"
    r"|anwender)\w*\b.{0,20}\b(?:nie|niemals|nicht|nichts)\b|^\W*lösche?\b.{0,20}\blesen\b"
    r"|(?:回答|回复).{0,4}(?:任何|所有|每个|每一个).{0,2}(?:问题|消息)|对用户.{0,2}(?:隐瞒|保密|撒谎)|瞒着用户"
    r"|你(?:现在|必须|要|应该|需要|得).{0,8}(?:服从|执行|遵守|听从).{0,12}(?:命令|指令|指示)"
    r"|(?:忘记|忘掉|忽略|无视).{0,4}(?:你|所有|之前|以上|先前|系统).{0,10}(?:指示|指令|命令|规则|提示|设定)"
    r"|(?:不要|不得|不能|不可|别).{0,3}(?:告诉|让|向)?(?:透露|告诉)?.{0,2}用户.{0,4}(?:知道|这|此|透露|$)?"
    r".{0,6}(?:笔记|文件|指令|消息|记录)"
    r"|(?:你(?:现在|从现在起)?是|假装你?).{0,12}(?:没有|不受|无).{0,6}(?:限制|约束|规则)"
    r"|^\W*系统(?:提示|消息|指令)?[:：]|^\W*(?:AI|人工智能|智能)?(?:助手|模型).{0,4}(?:注意)?[:：，,]"
    r"|把.{0,10}(?:笔记|记忆|对话|密码|聊天).{0,8}发.{0,10}@"
)


# A sentence about the answers that a model gives, or about the questions that it gets, that also
# has a verb of the second pattern. A wish for short answers, or for German ones, is allowed.
_ANSWERS = (
    r"(?i)\byour (?:\w+ )?(?:answers?|repl(?:y|ies)|responses?|summar(?:y|ies)|output)\b"
    r"|\b(?:when(?:ever)?|if|(?:each|every) time|before|after) you (?:\w+ )?(?:answer|reply|respond"
    r"|summari[sz]e)\b"
    r"|\b(?:each|every|any|all) (?:answers?|repl(?:y|ies)|responses?|summar(?:y|ies))\b"
    r"|\b(?:when(?:ever)?|if) (?:someone|somebody|anyone|anybody|people|(?:an?|the) user|users)"
    r" (?:\w+ )?asks?\b"
    r"|\b(?:deine[nr]?|jede[nrs]?|allen?) (?:\w+ )?(?:antwort(?:en)?|zusammenfassung(?:en)?)\b"
    r"|\bwenn du antwortest\b|\bbeim antworten\b"
    r"|\bwenn (?:jemand|man|(?:der|ein) (?:nutzer|benutzer))\b.{0,40}\bfragt\b"
    r"|(?:回答|回复|答复)(?:时|中|里|问题时)|(?:你的|每个|每次|所有)+(?:回答|回复|答复)|当你(?:回答|回复)"
    r"|(?:用户|有人|别人).{0,3}(?:问|咨询)"
    r"|\b(?:tus|cada) (?:respuestas?|resúmenes)\b|\bcuando (?:respondas|contestes)\b"
    r"|\b(?:cuando|si) (?:alguien|(?:el|un) usuario) pregunt"
    r"|\b(?:tes|chaque) (?:réponses?|résumés?)\b|\bquand tu réponds\b"
    r"|\b(?:quand|si) (?:quelqu['’]un|(?:l['’]|un )utilisateur) (?:\w+ )?demande"
)
_PUSHES = (
    r"(?i)\b(?:recommend|suggest|promote|advertise|praise|endorse|mention|recommendation|advert\w*"
    r"|name only|claim|pretend|say that|buy|link|insert|append)\b"
    r"|\btell (?:them|him|her|(?:the )?users?) (?:to|that)\b"
    r"|\b(?:empfiehl|empfehl\w*|erwähn\w*|nenne?|bewirb|lobe?|werbung|behaupte|verlinke)\b"
    r"|推荐|提到|提及|宣传|称赞|夸奖|声称|插入|附上"
    r"|\b(?:recomienda|menciona|promociona|elogia|afirma)\b"
    r"|\b(?:recommande|mentionne|vante|affirme)\b"
)
# Orders that drop what protects the user, in sentences of the same kinds.
_UNGUARDED = (
    r"(?i)(?:^\W*|[.!:;,] |\byou (?:must|should|shall|can|may|have to) |\bfrom now on,? )"
    r"(?:please )?(?:always )?"
    r"(?:(?:ignore|disregard|skip|bypass|disable|turn off|circumvent|override) (?:\w+ ){0,2}"
    r"(?:safety|security|permission|approval|confirmation)"
    r" (?:rules?|checks?|filters?|warnings?|prompts?|polic(?:y|ies)|controls?)\b"
    r"|(?:blindly )?(?:trust|obey|believe) (?:every|all|any|each|whatever)\b"
    r"|(?:approve|merge|accept)\b.{0,60}\bwithout (?:reading|looking|checking)\b"
    r"|treat\b.{0,40}\bas (?:coming |if (?:\w+ ){1,2})?(?:from )?(?:the |an? )?"
    r"(?:admin\w*|system|owner|developer|operator|trusted)\b"
    r"|(?:hide|conceal|withhold)\b.{0,60}\bfrom (?:the )?users?\b"
    r"|(?:don['’]t|do not|never) (?:warn|alert|notify|tell|inform) (?:the )?(?:users?|owner)\b"
    r"|(?:send|upload|forward|post|mail|copy|paste|leak)\b.{0,40}\b(?:notes?|memory|memories"
    r"|(?:MEMORY|USER)\.md|conversations?|chats?|transcripts?|credentials|passwords?|secrets?)\b"
    r".{0,60}(?:https?:|\S+@\S)"
    r"|(?:run|execute|download|install|fetch)\b.{0,60}https?://.{0,80}\b(?:each|every|session)\b)"
    r"|\b(?:each|every|before|start of)\b.{0,20}\b(?:session|prompt|answer)s?\b.{0,10}"
    r"\b(?:run|execute|download|install|fetch)\b.{0,60}https?:"
    r"|\byou (?:no longer|don['’]t|do not|never) (?:need|require|have to ask for|wait for)"
    r" (?:\w+ )?(?:permission|approval|confirmation)\b"
    r"|^\W*(?:ignoriere?|überspringe?|umgehe|missachte|deaktiviere) .{0,12}"
    r"(?:sicherheits\w+|freigaben|warnungen)\b"
    r"|\bdu (?:darfst|sollst|musst|kannst)\b.{0,60}\bohne (?:rückfrage|nachfrage|freigabe"
    r"|bestätigung|zu fragen)\b"
    r"|^\W*(?:vertraue?|glaube|gehorche) (?:allen?|jede[mr]|allem)\b"
    r"|^\W*verschweige?\b|\b(?:warne?|informiere?) (?:den|dem) (?:nutzer|benutzer)\w* (?:nicht"
    r"|nie)\b"
    r"|^\W*(?:schicke?|sende|lade|kopiere?|leite)\b.{0,30}\b(?:notizen|gespräche?|passwörter"
    r"|schlüssel)\b.{0,40}(?:https?:|\S+@\S)"
    r"|(?<!我们)(?:无视|忽略|跳过|绕过|关闭|不顾|违反)(?:所有|一切|任何)?的?(?:安全|审查|权限|警告)"
    r"|(?:无需|不需要|不用|不必).{0,4}用户.{0,3}(?:确认|批准|同意|许可)"
    r"|(?:完全|始终|必须|请|盲目)(?:完全|始终)?(?:信任|相信|服从).{0,12}(?:所有|一切|任何|指令|命令)"
    r"|(?:不要|别|不得|不能)(?:告诉|提醒|警告|通知|告知|提示)(?:用户|使用者|任何人)"
    r"|把.{0,6}(?:笔记|记忆|对话|密码|聊天).{0,4}(?:发|上传|传|复制).{0,4}(?:到|给|至).{0,6}(?:http|\S+@)"
    r"|^\W*(?:ignora|omite|salta|desactiva)\b.{0,30}\b(?:seguridad|permisos|advertencias)\b"
    r"|\bno (?:le )?(?:digas|avises|informes|cuentes)\b.{0,10}\busuario\b"
    r"|^\W*(?:envía|sube|reenvía|copia)\b.{0,20}\b(?:notas|memoria|conversaciones|contraseñas)\b"
    r".{0,40}(?:https?:|\S+@\S)"
    r"|^\W*(?:ignore|saute|contourne|désactive)\b.{0,30}\b(?:sécurité|autorisations"
    r"|avertissements)\b"
    r"|\bne (?:dis|préviens|informe|avertis)\b.{0,6}\b(?:pas|jamais|rien)\b.{0,6}\butilisateur\b"
    r"|^\W*(?:envoie|transfère|copie)\b.{0,20}\b(?:notes|mémoire|conversations|mots de passe)\b"
    r".{0,40}(?:https?:|\S+@\S)"
)
_SENTENCES = r"(?<=[.!?])\s+|(?<=[。！？])|\n+"


# Words of most orders; a text without them costs a reader of notes no pattern.
_SIGNS = (
    "instruction", "disregard", "you are now", "obey", "the user", "system prompt", "system:",
    "this note", "<|", "anweisung", "指令", "指示",
)  # fmt: skip


def is_plain_order(text: str) -> bool:
    """Return whether a text orders a model in the usual words; quick for any other text."""
    low = text.casefold()
    return any(sign in low for sign in _SIGNS) and is_order(text)


def is_order(text: str) -> bool:
    """Return whether a text orders a model, or imitates the tags of its client."""
    if any(re.search(each, text) for each in (_ORDERS, _ADDRESSED)) or broken_up(text) != text:
        return True
    return any(
        any(re.search(kind, each, re.IGNORECASE) for kind in KINDS)
        or re.search(_UNGUARDED, each)
        or (re.search(_ANSWERS, each) and re.search(_PUSHES, each))
        for each in re.split(_SENTENCES, text)
    )
