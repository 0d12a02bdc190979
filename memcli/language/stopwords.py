"""The words that a query does not need, by language; `query` decides whether to drop them."""

from __future__ import annotations

from collections.abc import Iterable


def table(words: str) -> frozenset[str]:
    """Make a table from words separated by spaces."""
    return frozenset(words.split())


ENGLISH = table("""
    a about after again all also am an and any are aren't as at be because been before being
    both but by can can't cannot could couldn't did didn't do does doesn't doing don't during
    each either else etc ever for from had hadn't has hasn't have haven't having he her here
    hers herself him himself his how however i i'd i'll i'm i've if in into is isn't it its
    itself just let's ll may me might more most must my myself neither nor not of off on once
    only or other our ours ourselves please re s shall she should shouldn't since so some such
    tell than that the their theirs them themselves then there these they they'd they'll they're
    they've this those though through to too until upon us ve very was wasn't we we'd we'll
    we're we've were weren't what when where whether which while who whom whose why will with
    within without won't would wouldn't you you'd you'll you're you've your yours yourself
""")

# Operators of other search engines; here they are ordinary words.
OPERATORS = frozenset(("AND", "OR", "NOT"))

GERMAN = table("""
    aber alle als also am an auch auf aus bei beim bin bis bitte bist da damit dann das dass dein
    dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch du durch ein
    eine einem einen einer eines er es euch euer für gegen gibt hab habe haben hast hat hatte
    hatten ich ihm ihn ihnen ihr ihre im in ins ist ja kann kannst kein keine können man mein
    meine mich mir mit muss nach nein nicht noch nur ob oder ohne sein seine seit sich sie sind
    so soll sollte über um und uns unser unter viel vom von vor wann war waren warum was weil
    welche welchem welchen welcher welches wem wen wenn wer werde werden weshalb wie wieder
    wieso will wir wird wirst wo wobei womit worauf wurde wurden zu zum zur zwischen
""")

# English and German.
ARTICLES = table("the a an der die das dem den des ein eine einem einen einer")
WEEKDAYS = table("""
    monday tuesday wednesday thursday friday saturday sunday
    montag dienstag mittwoch donnerstag freitag samstag sonntag
""")
GERMAN_MONTHS = table("""
    januar februar märz april mai juni juli august september oktober november
    dezember
""")
MONTH_NAMES = GERMAN_MONTHS | table("""
    january february march april may june july august september october november
    december
""")

# Words that no other language here uses. One of them makes a query German. Only then do the German
# words count, because `die`, `war`, `man` and `hat` mean something in English.
GERMAN_SIGNS = table("""
    auf beim bist das dass dem der dich dies dieser dieses du ein eine einem einen einer für
    gibt habe haben ich ihn ihr im ist kann können mein meine mich mir mit muss nach nicht noch
    oder sich sind über und uns unser vom von wann warum weil welche welchen welcher welches
    wenn wer werden wie wir wird wo wurde zu zum zur zwischen
""")

SPANISH = table("""
    a al algo ante bajo como cómo con cual cuál cuales cuáles cuando cuándo cuanta cuánta cuantas
    cuántas cuanto cuánto cuantos cuántos de del desde donde dónde durante e el él ella ellas ellos
    en entre era eran eres es esa esas ese eso esos esta está están estas este esto estos fue
    fueron ha había habían han hasta hay la las le les lo los me mi mis muy ni no nos o os para
    pero por porque que qué quien quién quienes quiénes se según ser si sí sin sobre son soy su sus
    también te tu tus un una unas unos y ya yo
""")
# One of these makes a query Spanish; `el`, `los` and `para` occur in names, `no` is English.
SPANISH_SIGNS = table("""
    cómo cual cuál cuales cuáles cuando cuándo cuanta cuánta cuantas cuántas cuanto cuánto cuantos
    cuántos donde dónde está están fue fueron que qué quien quién quienes quiénes según
""")

# Function words of French, Italian and Portuguese that are not English words.
_ROMANCE_SIGNS = table("""
    ao aos até avec che chi como comme comment dans della delle des di dont du e é elle est
    et être foi il ils já je la le les mais não nel notre nous onde où para pela pelo per perché
    porque pour pourquoi qual quais quand quando que quel quelle quelles quels quem qui quoi são
    sono sur um uma une vos vous él el los las del una por con
""")
_SIGNS = GERMAN_SIGNS | SPANISH_SIGNS | _ROMANCE_SIGNS - ENGLISH


def is_foreign(words: Iterable[str]) -> bool:
    """Return whether a question is in another language of Latin script, by its function words."""
    low = [word.lower() for word in words]
    return sum(map(_SIGNS.__contains__, low)) > sum(map(ENGLISH.__contains__, low))


# Languages in scripts of their own, which are not confused with another language.
OTHER_SCRIPTS = table("""
    а без бы был была были было быть в вам вас во вот все всё вы где да для до его ее её ей если
    есть еще ещё же за зачем и из или им их к как какая какие каким каких какого какое какой каком
    какую кем когда кого ком кому которая которое которой которые который которых кто куда ли меня
    мне мной мое моё моего моей мои моих мой мою моя мы на над нам нами нас наш наша наше наши не
    него нее неё нет ни них но о об он она они оно от откуда по под почему при про с своей свой
    свою себе себя сколько со так такое там тебе тебя то того тоже только ты у уже чего чей чем чему
    что чтобы чьи чья эта эти это этого этой этом этот эту я года году г

    ما ماذا من متى أين اين كيف لماذا هل أي اي أية كم في على علي إلى الى عن مع هذا هذه ذلك تلك التي
    الذي الذين هو هي هم أنا انا نحن أنت انت أن ان إن كان كانت يكون تكون لا لم لن قد لقد ثم أو او و
    يا بين عند حتى إذا اذا لي لك له لها لنا وما وهل ومن ومتى وأين وكيف فيه فيها منه منها عنه عنها

    מה מי איפה היכן מתי למה מדוע איך כיצד כמה איזה איזו אילו של את על עם זה זאת זו הוא היא הם אני
    אנחנו לא גם או אם כי היה הייתה יש אין

    क्या कौन कब कहाँ कहां क्यों कैसे कैसा कैसी कितना कितने कितनी किस किसने किसका है हैं था थे थी का की
    के में से को पर ने और यह वह मैं मेरा मेरी मेरे

    누구 누가 언제 어디 어디서 어디에 어디에서 무엇 무엇을 무엇이 무엇인가요 뭐 뭐가
    뭘 뭐야 왜 어떻게 얼마 얼마나 몇 어떤 어느 무슨 있나요 있어요 있습니까 인가요 입니까
    했나요 했어요 했습니까 되나요
    나는 내가 나의 내 우리 그 이
    은 는 가 을 를 에 에는 의 도 부터 까지
""")

# Question and function words, the longest first. They cut a text without spaces into its content.
# Left out: characters that are as often part of a content word (在 in 存在, 和 in 和平).
# 的, 了 and 也 stay inside 目的, 的确, 的士, 了解, 也许.
CHINESE = (
    "为什么|為什麼|有没有|有沒有|是不是|什么时候|什麼時候|什么|什麼|怎么样|怎麼樣|怎么|怎麼|怎样|怎樣"
    "|如何|哪里|哪裡|哪儿|哪些|哪个|哪個|哪位|哪|多少|几个|幾個|是否|请问|請問|可以|我们|我們|你们|你們"
    "|他们|他們|她们|她們|我|你|您|他|她|它|谁|誰|吗|嗎|呢|吧|啊|是|(?<!目)的(?![确確士])|了(?!解)"
    "|很|也(?!许|許)"
)
# Characters without content if a cut leaves them as single characters.
CHINESE_ALONE = frozenset("在有对對但真還还由也都就很总總说說嗯可样樣好让讓做被把从從和与與到给給")
# Particles, cut only if no hiragana is next to them: elsewhere they are endings of verbs.
JAPANESE = (
    "ありますか|ましたか|でしたか|ですか|ますか|について|を"
    "|[はがにでのへとも]?(?:どこ|いつ|だれ|誰|なぜ|何[年月日時回度人個]?|どの|どんな|いくら)[はがにでのへとも]?"
    "|(?<=[々ァ-ヺー一-鿿])(?:には|では|とは|から|まで|[はがにでのへとも])(?=[ァ-ヺ一-鿿]|$)"
)
# A vowel or a tone after the last consonant makes another word: ไหม้ and ไหม.
THAI = (
    "(?:คืออะไร|อะไร|ที่ไหน|เมื่อไหร่|เมื่อไร|เมื่อใด|ทำไม|อย่างไร|ยังไง|เท่าไหร่|เท่าไร|เท่าใด|หรือไม่|หรือเปล่า"
    "|ใคร|ไหม|ไหน|กี่)(?![\u0e31\u0e33-\u0e3a\u0e47-\u0e4e])"
)
# Korean particles after a noun; particles of one character only if two characters remain.
KOREAN = (
    "(?<=[가-힣])(?:에서는|에서|에게서|에게|한테|으로|까지|부터|이랑|처럼|보다)$"
    "|(?<=[가-힣]{2})(?:은|는|이|가|을|를|에|의|와|과|도|만|로)$"
)
# Next to a date these words ask for everything about it.
ANYTHING = table("""
    happened happen happens note notes entry entries record records log logs session sessions
    passiert passierte notiz notizen eintrag einträge 发生 發生 记录 記錄 笔记 筆記 日记 記録 メモ
    日記
""")

# A line of only these words has no content.
FILLERS = table("todo tbd tba wip fixme ok okay thx thank thanks")
