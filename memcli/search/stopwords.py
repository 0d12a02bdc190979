"""The words a query can do without, by language; it leaves the decision to `query`."""

from __future__ import annotations

_ENGLISH = """
    a about after again all also am an and any are aren't as at be because been before being
    both but by can can't cannot could couldn't did didn't do does doesn't doing don't during
    each either else etc ever for from had hadn't has hasn't have haven't having he her here hers
    herself him himself his how however i i'd i'll i'm i've if in into is isn't it its itself
    just let's may me might more most must my myself neither nor not of off on once only or
    other our ours ourselves please s shall she should shouldn't since so some such tell than that
    the their theirs them themselves then there these they they'd they'll they're they've this
    those though through to too until upon us very was wasn't we we'd we'll we're we've were
    weren't what when where whether which while who whom whose why will with within without
    won't would wouldn't you you'd you'll you're you've your yours yourself
"""
ENGLISH = frozenset(_ENGLISH.split())

# Of other search boxes; here they are words that ask for nothing.
OPERATORS = frozenset(("AND", "OR", "NOT"))

_GERMAN = """
    aber alle als also am an auch auf aus bei beim bin bis bitte bist da damit dann das dass dein
    dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch du durch ein
    eine einem einen einer eines er es euch euer für gegen gibt hab habe haben hast hat hatte
    hatten ich ihm ihn ihnen ihr ihre im in ins ist ja kann kannst kein keine können man mein
    meine mich mir mit muss nach nein nicht noch nur ob oder ohne sein seine seit sich sie sind
    so soll sollte über um und uns unser unter viel vom von vor wann war waren warum was weil
    welche welchem welchen welcher welches wem wen wenn wer werde werden weshalb wie wieder
    wieso will wir wird wirst wo wobei womit worauf wurde wurden zu zum zur zwischen
"""
GERMAN = frozenset(_GERMAN.split())

# Words that no other language here uses: one of them makes a query German, and only then do
# the German words count, because `die`, `war`, `man` and `hat` mean something in English.
_GERMAN_SIGNS = """
    auf beim bist das dass dem der dich dies dieser dieses du ein eine einem einen einer für
    gibt habe haben ich ihn ihr im ist kann können mein meine mich mir mit muss nach nicht noch
    oder sich sind über und uns unser vom von wann warum weil welche welchen welcher welches
    wenn wer werden wie wir wird wo wurde zu zum zur zwischen
"""
GERMAN_SIGNS = frozenset(_GERMAN_SIGNS.split())

# Question and function words that cut a Chinese run into what is asked for; the longest first.
# Left out: characters that are as often part of a content word (在 in 存在, 和 in 和平).
# 的 and 了 stay inside 目的, 的确, 的士, 了解.
CHINESE = (
    "为什么|為什麼|有没有|有沒有|是不是|什么时候|什麼時候|什么|什麼|怎么样|怎麼樣|怎么|怎麼|怎样|怎樣"
    "|如何|哪里|哪裡|哪儿|哪些|哪个|哪個|哪位|哪|多少|几个|幾個|是否|请问|請問|可以|我们|我們|你们|你們"
    "|他们|他們|她们|她們|我|你|您|他|她|它|谁|誰|吗|嗎|呢|吧|啊|是|(?<!目)的(?![确確士])|了(?!解)"
)
# Beside a date they ask for all there is of it.
_ANYTHING = """
    happened happen happens note notes entry entries record records log logs session sessions
    passiert passierte notiz notizen eintrag einträge 发生 發生 记录 記錄 笔记 筆記 日记 記録 メモ
    日記
"""
ANYTHING = frozenset(_ANYTHING.split())
