"""Recognise texts that tell a model what to do, as attacks do; pure.

The patterns know common wordings in English, German and Chinese: to drop rules, to obey, to hide
something from the user, to send data away, to push a product. `KINDS` has the plainest ones in
a dozen languages. An order in other words passes, so memcli also marks the notes of agents as
untrusted wherever it shows them.
"""

from __future__ import annotations

import re

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
    r"|env vars|credentials|secrets|tokens|passwords|private keys?)\b"
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
# The plainest orders in a dozen languages. In Romance, Germanic and Slavic languages only the
# forms of orders count: `oublie les consignes`, not `Kim a oublié les consignes`. Words such as
# assistant, agent and model also name people and programs, so a sentence about them needs a verb,
# or a manner, that attacks use.
# Where an order may begin: a sentence, a clause, or after "please" and "from now on".
_BEGINS = (
    r"(?:^\W*|[.!?:;,] |\b(?:and|und|et|y|e|en|i|и|please|bitte|por favor|proszę|пожалуйста|"
    r"from now on,?|ab (?:jetzt|sofort)|désormais,?|à partir de maintenant,?"
    r"|(?:a partir de|desde) ahora|d['’]ora in poi|od teraz|с этого момента) )"
)
_DROPPED = (
    rf"{_BEGINS}(?:(?:ignore[rz]?|oublie[rz]?|néglige[rz]?|contourne[rz]?|fai(?:s|tes) abstraction"
    r"|ne (?:tiens|tenez) (?:pas|plus|aucun) compte|ne (?:suis|suivez|respecte[z]?) (?:pas|plus))\b"
    r".{0,30}\b(?:instructions|consignes|règles|directives|ordres)\b"
    r"|(?:ignor[ae]n?|olvid[ae]n?|omit[ae]n?|descart[ae]n?|haz caso omiso|no hagas caso"
    r"|no (?:sigas|obedezcas))\b"
    r".{0,30}\b(?:instrucciones|reglas|órdenes|directrices|indicaciones|normas)\b"
    r"|(?:ignora(?:te)?|dimentica(?:te)?|trascura(?:te)?|non (?:seguire|rispettare))\b"
    r".{0,30}\b(?:istruzioni|regole|direttive|ordini)\b"
    r"|(?:ignor[ae]|esqueç?[ae]|desconsider[ae]|não siga)\b"
    r".{0,30}\b(?:instruções|regras|ordens|diretrizes)\b"
    r"|(?:negeer|vergeet|volg niet)\b.{0,30}\b(?:instructies|regels|opdrachten|richtlijnen)\b"
    r"|(?:ignoriere?|ignoriert|ignorieren sie|vergiss|vergesst|vergessen sie|missachtet?|umgehe"
    r"|übergehe)\b(?! nicht).{0,20}\b(?:anweisungen|instruktionen|befehle|regeln|vorgaben"
    r"|richtlinien|einschränkungen)\b"
    r"|(?:zignoruj|ignoruj|zapomnij|pomiń|nie przestrzegaj)\w*\b"
    r".{0,30}\b(?:polece[ńn]\w*|instrukcj\w+|zasad\w*|reguł\w*|wytyczn\w+)"
    r"|(?:(?:про)?игнорируй|забудь|отбрось|не (?:обращай|соблюдай|следуй))(?:те)?\b"
    r".{0,30}\b(?:указани|инструкци|правил|команд)\w*)"
    r"|\b(?:talimat|kural|komut)\w*\b.{0,20}\b(?:yok say|görmezden gel|unut)\b"
    r"|(?:指示|命令|ルール|規則|指令|プロンプト)[^。]{0,12}"
    r"(?:無視(?:して(?!い|しま)|しろ|せよ|しなさい)|忘れ(?:て(?!い|しま)|ろ|なさい)|破棄し"
    r"|従わないで|従うな)"
    r"|(?:지시|명령|규칙|지침|프롬프트)[^.]{0,14}(?:무시(?:하고|해|하라|하세요|하십시오)|잊(?:고|어|으)"
    r"|따르지 마)"
    r"|(?:تجاهل|انس|انسَ|أهمل|لا تتبع).{0,24}(?:تعليمات|أوامر|قواعد|التعليمات|الأوامر|القواعد)"
    r"|(?:^|[，,。；：！]|请|請|务必|必须)(?:忽略|无视|無視|忘记|忘掉|不要理会|不要遵守|别遵守).{0,12}"
    r"(?:指令|指示|规则|規則|提示词|命令|设定)"
)
_AGENTS = (
    r"(?:AIs?|IAs?|KIs?|ИИ|SI|LLMs?|chat-?bots?|claude|gpt|chatgpt|gemini|copilot|codex"
    r"|(?:(?:AI|IA|KI|ИИ)[- ])?(?:assistant|agent|model)[es]{0,2}(?: (?:AI|IA|LLM))?"
    r"|assistent\w{0,2}|agent(?:en|i|a|ów)|modell(?:e|en|o|i)?|asistentes?|agentes?|modelos?"
    r"|assistantes?|modèles?|asystent\w{0,3}|ассистент\w{0,3}|помощник\w{0,3}|модел\w{1,3}"
    r"|агент\w{0,3})"
)
_NOTED = (
    r"^\W*(?:(?:important|urgent|new|short|kurze|wichtige[rs]?) )?(?:note|reminder|message"
    r"|instructions?|hints?|warning|request|memo|orders?|notes?"
    r"|hinweis|notiz|nachricht|anweisung|mitteilung|consigne|rappel|remarque|nota|mensaje|aviso"
    r"|instrucción|recordatorio|messaggio|avviso|istruzion[ei]|mensagem|instrução|opmerking"
    r"|bericht|notitie|instructie|uwaga|notatka|wiadomość|instrukcja|polecenie|заметка|сообщение"
    r"|инструкция|указание|примечание)s?"
    r" (?:to|for|an|für|à|aux?|pour|para|a|al|per|ao|à|voor|aan|dla|do|для)\b ?"
    r"(?:the |all |any |every |your |die |den |das |alle |l['’]|la |le |les |el |los |las |il |gli "
    rf"|lo |de |het |o |todos |tous ){{0,2}}{_AGENTS}\b(?: [^:,]{{0,30}})?\s*[:,–—-]"
    r"|^\W*(?:to|for|an|für|à|para|per|dla|для) (?:the |die |l['’]|la |el )?"
    r"(?:AI|IA|KI|ИИ|LLM)s?\b[^:]{0,30}:"
    r"|^\W*(?:AI|アシスタント|人工知能|チャットボット)(?:へ|向け)?(?:の(?:指示|メモ|注意|お願い))?[：:、]"
    r"|^\W*(?:AI|어시스턴트|인공지능|챗봇)(?:에게|용)?(?: (?:알림|지시|메모))?\s*[:：,]"
    r"|^\W*(?:ملاحظة |رسالة |تعليمات )?(?:إلى|لل|ل)? ?(?:ال)?(?:مساعد|ذكاء الاصطناعي|نموذج)\s*[:،]"
    r"|^\W*(?:给|致|发给|給)(?:所有)?(?:AI|人工智能|助手|智能体)\S{0,3}?的?"
    r"(?:提示|说明|指令|留言|注意|消息)?[:：,，]"
)
_SECRETLY = (
    r"(?:silently|quietly|secretly|covertly|stillschweigend|heimlich|en (?:secreto|silencio|secret"
    r"|silence)|em (?:segredo|silêncio)|in (?:segreto|silenzio)|senza dire|sans rien dire|sin decir"
    r"|stilletjes|heimelijk|stiekem|po cichu|potajemnie|молча|тайно)"
)
_DONE = (
    r"(?:approve|accept|merge|delete|erase|disable|skip|push|execute|ignore|reveal|upload|forward"
    r"|grant|hide|obey|trust|bypass|turn off|switch off|overwrite|never|not (?:tell|mention|warn"
    r"|ask|inform)"
    r"|approuver|accepter|supprimer|effacer|désactiver|exécuter|ignorer|révéler|fusionner|obéir"
    r"|cacher|aprobar|aceptar|borrar|eliminar|desactivar|ejecutar|ignorar|revelar|ocultar"
    r"|approvare|accettare|cancellare|eliminare|disattivare|eseguire|ignorare|rivelare"
    r"|aprovar|aceitar|apagar|excluir|desativar|executar"
    r"|freigeben|genehmigen|löschen|abschalten|deaktivieren|ausführen|ignorieren|verraten"
    r"|hochladen|goedkeuren|verwijderen|uitschakelen|uitvoeren|negeren|onthullen"
    r"|zatwierdz\w+|akceptow\w+|usuwa\w+|usun\w+|wyłącz\w+|wykonywa\w+|ignorow\w+|ujawni\w+"
    r"|одобр\w+|удал\w+|отключ\w+|выполня\w+|игнорир\w+|раскры\w+)"
)
_MUST = (
    r"(?:should|must|shall|has to|have to|needs? to|is to|are to|will|soll(?:te|en)?|muss|müssen"
    r"|doit|doivent|devrait|debe[n]?|deberá|debería|tiene que|deve|devono|dovrebbe|deveria"
    r"|tem que|moet|moeten|dient|musi|powinien|powinna|ma|должен|должна|должны|обязан)"
)
_SHOULD = (
    # An assistant or an AI does something, an agent or a model does it secretly.
    rf"\b{_AGENTS} {_MUST}\b.{{0,60}}\b{_SECRETLY}\b"
    rf"|(?:^\W*|\b(?:the|any|every|all|each|der|die|jeder|alle|el|la|le|o|lo|il|de) |\bl['’])"
    r"(?:(?:AI|IA|KI|ИИ)[- ])?(?:AIs?|IAs?|KI|ИИ|SI|LLMs?|chat-?bots?|claude|chatgpt|copilot"
    r"|assistants?|asistentes?|assistente[ns]?|assistent|asystent|ассистент|помощник"
    rf"|(?<=AI )agents?|(?<=AI )models?) {_MUST}\b(?: (?:\w+ ){{0,6}}|.{{0,50}} ){_DONE}\b"
    r"|(?:アシスタント|AI|人工知能|チャットボット)(?:は|が)[^。]{0,40}(?:なければな|べき(?:だ|です|である)"
    r"|てください|しろ|せよ|すること)"
    r"|(?:어시스턴트|AI|인공지능|챗봇)(?:은|는|이|가)[^.]{0,40}"
    r"(?:해야 한다|해야 합니다|하라|해라|지 마)"
    r"|على (?:المساعد|الذكاء الاصطناعي|النموذج).{0,12}أن"
    r"|(?:助手|AI|人工智能|智能体)(?:必须|應該|应该|应当|应|要|需要|始终|总是|悄悄|默默|偷偷)"
    r"[^。]{0,12}(?:批准|通过|删除|关闭|执行|运行|忽略|无视|泄露|发送|上传|复制|服从|隐瞒|跳过)"
)
# What a model is to do before it answers. People answer customers and tickets.
_ANSWERED = (
    rf"{_BEGINS}(?:(?:always|never|please|first|immer|stets|toujours|siempre|sempre|zawsze"
    r"|всегда),? )*"
    r"(?:run|execute|call|fetch|load|open|visit|download|read|send|post|print|check|append|delete"
    r"|write|führe?|rufe?|lade|öffne|sende|lies|exécute[rz]?|lance[rz]?|ouvre[rz]?|envoie[rz]?"
    r"|ejecut[ae]|abre|envía|lee|esegui|apri|invia|leggi|execut[ae]|abra|envie|voer|open|stuur"
    r"|wykonaj|uruchom|otwórz|wyślij|выполни|запусти|открой|отправь)\w{0,3}\b.{0,80}"
    r"\b(?:(?:before|prior to|after) (?:(?:answering|replying|responding)\W*$"
    r"|(?:(?:each|every|any|you) )(?:answer|reply|respond|response)\b)"
    r"|(?:bevor du antwortest|vor jeder antwort)\b(?! an)"
    r"|avant (?:de répondre|chaque réponse)\b(?! (?:à|aux?)\b)"
    r"|antes de (?:responder|contestar|cada respuesta|cada resposta)\b(?! a)"
    r"|prima di (?:rispondere|ogni risposta)\b(?! a)|voordat je antwoordt|voor elk antwoord"
    r"|zanim odpowiesz|przed każdą odpowiedzią|перед (?:каждым )?ответом|прежде чем отве\w+)"
    r"|^\W*(?:vor jeder antwort|bevor du antwortest|avant (?:chaque réponse|de répondre)"
    r"|antes de (?:cada respuesta|cada resposta|responder)|prima di (?:ogni risposta|rispondere)"
    r"|przed każdą odpowiedzią|перед каждым ответом)\b(?! (?:an|à|aux?|ao?|al)\b)"
    r"|(?:每次|每当)?(?:回答|回复)(?:问题)?(?:之前|以前|前).{0,6}(?:都|先|必须|要|请)"
    r"|(?:回答|返答|返信)(?:する)?前に(?:必ず|いつも|毎回|まず)"
    r"|(?:답변|대답)(?:하기)? 전에 (?:항상|반드시|먼저)|قبل (?:كل رد|الإجابة|أن تجيب)"
)
_HIDDEN = (
    r"ユーザー(?:に|には)[^。]{0,12}(?:言わないで|言うな|伝えないで|伝えるな|知らせ(?:ないで|るな)|隠し)"
    r"|사용자(?:에게|한테)[^.]{0,12}(?:말하지 마|알리지 마|알려주지 마|숨기)"
    r"|\bне (?:сообщай|говори|рассказывай|упоминай)(?:те)?\b.{0,20}\bпользовател\w*"
    r"|لا (?:تخبر|تقل|تذكر).{0,10}المستخدم|\bnon (?:dire|dirlo|informare|avvisare)\b.{0,15}\butent"
    r"|\bnão (?:diga|conte|informe|avise)\b.{0,12}\busuári|\bnie (?:mów|informuj)\b.{0,12}użytkowni"
    r"|\b(?:vertel|zeg|meld)\b.{0,12}\bgebruiker\b.{0,20}\bniets?\b"
)
_REVEALED = (
    r"\b(?:révèle[rz]?|affiche[rz]?|montre[rz]?)\b.{0,20}\b(?:prompt|consignes|instructions)\b"
    r".{0,6}\bsystème"
    r"|\b(?:muestra|revela|imprime)\b.{0,20}\b(?:prompt|instrucciones|mensaje) del sistema\b"
    r"|\b(?:mostra|rivela|stampa)\b.{0,20}\b(?:prompt|istruzioni)\b.{0,8}\bsistema\b"
    r"|\b(?:zeige?|gib|verrate?|drucke?)\b.{0,30}\bsystem-?(?:prompt|anweisung)"
    r"|\b(?:выведи|покажи|раскрой)\b.{0,20}\bсистемн\w+ (?:промпт|инструкц|подсказк)"
    r"|システム(?:プロンプト|の?指示)を?(?:すべて|全て)?(?:出力|表示|教え|見せ)"
    r"|시스템 (?:프롬프트|지시)\S{0,2} ?(?:출력|보여|알려)"
    r"|(?:اطبع|أظهر|اكشف).{0,20}(?:موجه|تعليمات) النظام|(?:输出|显示|透露|打印).{0,8}系统提示"
)
KINDS = (_DROPPED, _NOTED, _SHOULD, _ANSWERED, _HIDDEN, _REVEALED)


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
