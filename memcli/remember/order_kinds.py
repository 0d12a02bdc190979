"""Patterns of orders to a model by their kind, each in several languages; only data.

In Romance, Germanic and Slavic languages only the forms of orders count: `oublie les consignes`,
not `Kim a oublié les consignes`. Words such as assistant, agent and model also name people and
programs. So a sentence about them needs a verb, or a manner, that attacks use.
"""

from __future__ import annotations

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
_MODELS = (
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
    rf"|lo |de |het |o |todos |tous ){{0,2}}{_MODELS}\b(?: [^:,]{{0,30}})?\s*[:,–—-]"
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
    rf"\b{_MODELS} {_MUST}\b.{{0,60}}\b{_SECRETLY}\b"
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
