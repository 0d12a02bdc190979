"""Find the words by which a text says that something changed; pure. English, German, Chinese.

There are four kinds of such words:

gone        something has ended: `cancelled`, `nicht mehr`, `停用`
not         what follows has ended, if an older line states it: `not`, `statt`, `不是`
now         something begins: `as of`, `künftig`, `改为`
amount      an amount or a time changes: `raised`, `verschoben`, `推迟`

`revokes` finds such words next to a link to an older document.

The words are tables, because a search must not wait until patterns are compiled.
"""

from __future__ import annotations

from memcli.record import Record

GONE, NOT, NOW, AMOUNT = "gone", "not", "now", "amount"

# Phrases of at most three words. An asterisk marks the beginning of words.
_PHRASES = {
    GONE: """
    no longer, not any more, not anymore, anymore, any more, any longer, no more, instead of,
    rather than, in place of, replac*, supersed*, obsolete, deprecat*, reverted, cancel*, dropped,
    we drop, will drop, dropping, given up, gave up, gives up, gave away, is gone, are gone,
    discontinu*, s gone to, phased out, retired, stopped, left, closed, closes down, shut down,
    scrap*, scratch, ditch*, got rid of, quit, quitting, sold, cut out, pulled, is out, are out,
    is off, are off, out of business, was removed, were removed, removed the, uninstalled,
    archived, moved off, moved away, moved from, goes from, went from, changed from, switched
    from, migrated off, handed, hands over, is history, formerly, used to, terminated, dissolved,
    ceased, suspended, swapped out, traded in, ended, rolled back, overturned, revoked, withdrawn,
    forget, abandon*, expired, ran out, resigned, stepped down, stepping down, emigrated, passed
    away, died, sold up, bankrupt, out of service, out of order, out of use, out of stock,
    overbooked, blocked, broke up, split up, broke down, is broken, is dead, are dead, dried up,
    banned, prohibited, lifted, abolished, repealed, waived, decommissioned, switched off, turned
    off, disabled, demolished, shut, fired, dismissed, laid off, gave notice, given notice,
    dropped out, called off, fell through, lapsed, used up, off limits, wore out, worn out, stays
    off, stay off, got tired, tired of, sick of, done with, goodbye to, swapped, traded, on leave,
    on sabbatical, out sick, parental leave, maternity leave, too expensive, clashed, does not
    apply, stop using, stop doing, stopped using, cancels, retires, retiring, is leaving, has
    left, quits, outgrew, outgrown, unsubscribed, threw out, thrown out, gave back, parted ways,
    moved out, axed, shelved, vetoed, in favor of, in favour of, bye bye, farewell, for good,
    unavailable, not available, ends, phasing out, sunset, end of life, shuts, shutting, went
    bust, burned down, burnt down, was stolen, got stolen, let go, has gone, overruled, outdated,
    no use, put an end, kicked out, swaps, swapping, switches from, moves from, statt, anstatt,
    anstelle von, nicht mehr, ersetzt, gekündigt, abgeschafft, fällt aus, fallen aus, verkauft,
    aufgehört, aufgegeben, rausgeworfen, weg von, abgeschaltet, zugemacht, geschlossen, in rente,
    im ruhestand, abgesagt, entfällt, gestrichen, beendet, abgelöst, eingestellt, umgestiegen,
    zieht weg, zieht aus, ausgezogen, weggezogen, zurückgetreten, ausgelaufen, läuft aus, außer
    betrieb, aufgelöst, gewechselt, umgestellt, abgemeldet, gibt es nicht, gesperrt, verboten,
    untersagt, defekt, kaputt, schrott, insolvent, pleite, verstorben, gestorben, elternzeit,
    pausiert, ausgeschieden, abgegeben, abgerissen, aufgebraucht, ist trocken, ist leer, ist raus,
    bin raus, entlassen, gefeuert, hört auf, hören auf, macht dicht, macht zu, nie schluss mit,
    vorbei, storniert, widerrufen, nicht länger, kündigt, statt bisher, liefert nicht, hat
    abgesagt, ausrangiert, entsorgt, weggeworfen, zurückgegeben, fällt weg, fallen weg,
    weggefallen, verschenkt, getrennt von, ausgetreten, ausgemustert, abbestellt, auslaufend,
    nicht verfügbar, hinfällig, überholt, passé, ist geschichte, ist weg, ist alle, fliegt raus,
    abgelaufen, ausgetauscht, anders als bisher, gibt s nicht, hung up, stood down, stands down,
    bowed out, gone off, went off, walked out, ripped out, chucked, went under, upped sticks,
    backed out, rid of, voted out, ousted, binned, tossed, dumped, unplugged, folded, its doors,
    passed on, packed in, sacked, made way, do away, done away, in its place, taken its place,
    took its place, was deleted, lapse, fell apart, parted company, is past it, goes off, moved on
    from, dichtgemacht, an den nagel, weitergereicht, zur ruhe, handtuch geworfen, nich mehr,
    nimmer, hingeschmissen, eingestampft, verabschiedet, ausgestiegen, verschrottet, gelöscht, weg
    ist, an die stelle, an seine stelle, an ihre stelle, rausgeflogen""",
    NOT: """
    not, isn t, aren t, doesn t, don t, won t, never, nobody, from, nicht, kein, keine, keinen,
    statt, anstelle von, von, vom, durch""",
    NOW: """
    transferred, relocated, taken over, swapped, succeeded, effective from, now, these days,
    nowadays, currently, as of, from now on, from today, starting, going forward, instead, took
    over, takes over, took on, handed, reassigned, has changed, have changed, changed it is,
    changes to, changed to, changed, changed my mind, changed our mind, changed our minds,
    switched, switch to, switching to, flipped, moved, move to, moving to, migrated, migrating,
    renamed, upgraded, downgraded, went back, back to, will be, enough, from january, from
    february, from march, from april, from may, from june, from july, from august, from september,
    from october, from november, from december, jetzt, nun, künftig, zukünftig, inzwischen,
    mittlerweile, neuerdings, stattdessen, ab, wechselt, wechseln, zieht um, ziehen um, wechselte,
    sondern, gewechselt, umgezogen, umgestellt, übernimmt, übernommen, übergeben, umbenannt,
    geändert, angehoben, aktualisiert, fortan, seitdem, ab sofort, von nun an, bis auf weiteres,
    übergangsweise, wieder, nur noch, bloß noch, gewählt, ernannt, umgesetzt, verlagert, wandert,
    gewandert, geht an, geht über, läuft über, laufen über, bisher, became, becomes, voted in,
    elected, appointed, signed with, renegotiated, reconfigured, until further notice, from here
    on, after all, new rule, change of plan, correction, scratch that, henceforth, hereafter,
    onwards, onward, with effect, since yesterday, since last, since the, over from, taking over,
    promoted to, turned into, opted for, settled on, went with, going with, decided on, converted
    to, updated to, set to, amended, rebranded, merged into, brand new, successor, corrected me,
    turns out, final decision, korrektur, nachtrag, doch nicht, nunmehr, seither, von jetzt an,
    neuer stand, nachfolger, nachfolgerin, heißt jetzt, umgebucht, getauscht, eingetauscht,
    umentschieden, entschieden für, löst ab, tritt an, seit gestern, seit der, seit dem, wurde zu,
    wird zum, wird zur, rückt nach, switches to, moves to, relocates, ported to, rewritten in,
    went over to, went for, as from, in future, stands in, standing in, fills in, filling in,
    covers for, covering for, immediate effect, zieht nach, zieht in, wechseln zu, vertritt,
    springt ein, vertretung, dafür jetzt, vorgezogen, tauscht, landed on, weaned, new home, fell
    to, falls to, stepped in, steps in, took the reins, inherits, inherited, passed to, passes to,
    exchanged, rebuilt, decamped, resettled, made the switch, from then on, since then, ever
    since, cut over, standardised on, standardized on, repointed, rerouted, reshuffled, swapping,
    comes to, officially, untergekommen, ausgewichen, eingesprungen, migriert, springt für,
    portiert, nu, drum""",
    AMOUNT: """
    bumped, raised, lowered, increased, decreased, reduced, extended, shortened, cut to, up to,
    down to, up from, down from, went up, went down, goes up, goes down, rose to, fell to,
    doubled, halved, postponed, rescheduled, pushed back, pushed to, push back, brought forward,
    delayed, shifted, moved, rose, hiked, cut, stretched, relaxed, tightened, widened, shrank,
    grew, put back, put off, moved back, moved up, back to, forward to, goes from, go from, went
    from, adjusted, revised, trimmed, slashed, upped, topped up, tripled, more joined, halve,
    halving, raise, raises, slipped to, slips to, slipping to, pushed out, rises to, falls to,
    drops to, dropped to, jumped to, erhöht, gesenkt, verlängert, verkürzt, gestiegen, gesunken,
    teurer, billiger, verschoben, vorverlegt, verlegt, angehoben, steigt, sinkt, heraufgesetzt,
    herabgesetzt, hochgesetzt, angepasst, verschiebt, aufgestockt, gekürzt, reduziert, verdoppelt,
    halbiert, rauf auf, runter auf, hoch auf, erhöhen, senken, klettert auf, vorgezogen,
    aufgeschoben, ausgeweitet, ausgedehnt, rutscht auf, heruntergedreht, hochgedreht, shoved, slid
    to, put up, nudged, dialled back, dialed back, cut down, cut back, scaled back, scaled up,
    scaled down, ramped up, cranked, talked down, bump, capped at, climbed, crept up, stepped up,
    eased, loosened, beefed up, draufgepackt, runtergenommen, hochgenommen, runtergesetzt,
    raufgesetzt, hochgeschraubt, runtergeschraubt, zurückgefahren""",
}
_CHINESE = {
    GONE: """
    停止 终止 结束 淘汰 关闭 离开 跳槽 不再 取代 代替 取消 停用 不用了 放弃 戒 退掉 退了
    辞职 离职 退租 拆了 停了 戒了 卖掉 送人 送走 不做了 没空 调去 调走 调岗 到期 关门 倒闭
    卖了 废弃 下线 撤销 已经不 退休 没有了 关了 弃用 停产 停售 停运 停业 作废 退订 解约
    注销 拆除 报废 失效 退出 闭店 分手 搬离 丢了 扔了 坏了 取缔 禁止 停课 停掉 停播 卸任
    不续 没续 关停 已停 不干了 转行 过期 没熬过 解散 收回 移除 迁走 下架 不能再 关张 断了
    拆迁 停办 散了""",
    NOT: """
    不是 从""",
    NOW: """
    接手 转给 接替 接管 转为 转用 改换 迁到 迁至 移到 换成 换到 换了 搬到 搬家 搬走 迁移到
    迁移 升级到 从今天起 现在 目前 以后 统一 转到 转学 交接给 移交 交给 改为 改成 改用 改由
    改到 改在 改交 改给 改放 改去 改坐 改喝 改吃 改走 改发 改存 改住 改回 改找 改跟 改让
    改请 改叫 改买 改订 改穿 改看 改学 改练 改做 改开 改骑 改睡 改约 更换 换为 换去 换回
    换人 挪到 挪至 调整为 调成 升任 晋升 新来的 接班 顶替 转岗 自此 从此 从今 即日起 往后
    如今 后来 变更为 变为 变成 更正 纠正 改签 改期 换工作 换新 改名 更名 上任 接任 代班
    暂代 搬去 搬进 起改 起由 下周起 下月起 今年起 切到 切换到 切换至 顶上 挪去 承担 托管
    牵头 接棒 接过 轮到 重新 统统 搬出 一律""",
    AMOUNT: """
    就行 就够 最近 增至 减至 提高 上涨 提高到 降低到 推迟 延期 推后 提前 涨到 降到 降为
    升为 增加到 减少到 调整 调到 扩容 上调 下调 缩短 延长 涨了 涨价 降价 减到 加到 升到
    压缩到 放宽到 提前到 放到 调高 调低 要交 加码 翻倍 减半""",
}
_FAR = 8  # characters from `不` to `了`
_NEGATIONS = frozenset(["never", "not", "t"])
NEW = frozenset(["new", "neu", "neue", "neuer", "neues"])  # if a clause begins with it
_WORDS = 3  # in the longest phrase
_SPACED = str.maketrans(dict.fromkeys("\n\t*_.,;:!?()[]\"'`-–—", " "))


class Cue(Record):
    """The place of words of change: `words[first:end]`, or `text[first:end]` in Chinese."""

    kind: str
    first: int
    end: int


def _by_phrase() -> dict[str, tuple[str, ...]]:
    kinds: dict[str, tuple[str, ...]] = {}
    for kind, phrases in _PHRASES.items():
        for phrase in " ".join(phrases.split()).split(", "):
            kinds[phrase] = (*kinds.get(phrase, ()), kind)
    return kinds


_KINDS = _by_phrase()
_BEGINNINGS = tuple(f" {each[:-1]}" for each in _KINDS if each.endswith("*"))
_FIRST_WORDS = frozenset(each.split()[0] for each in _KINDS)
_SIGNS = tuple((kind, sign) for kind, signs in _CHINESE.items() for sign in signs.split())


def cues(text: str) -> list[Cue]:
    """Find the words of change in a text that `spaced` has written, in order."""
    words = text.split()
    result = [Cue(NOW, 0, 1)] if words and words[0] in NEW else []
    if "mehr" in words and not {"kein", "keine", "keinen", "nicht", "nie"}.isdisjoint(words):
        at = words.index("mehr")
        result.append(Cue(GONE, at, at + 1))
    for beginning in filter(text.__contains__, _BEGINNINGS):
        at = text[: text.index(beginning)].count(" ")
        result.append(Cue(GONE, at, at + 1))
    for word in _FIRST_WORDS.intersection(words):
        first = -1
        for _ in range(words.count(word)):
            first = words.index(word, first + 1)
            for end in range(first + 1, first + 1 + _WORDS):
                phrase = " ".join(words[first:end])
                for kind in _KINDS.get(phrase, ()):
                    result.append(Cue(kind, first, end))
    if result and not _NEGATIONS.isdisjoint(words):  # `I never give up` is not a change
        result = [
            each for each in result if words[each.first - 1] not in _NEGATIONS or not each.first
        ]
    return sorted(result)


def chinese_cues(text: str) -> list[Cue]:
    """Find the words of change in a Chinese text."""
    result = [
        Cue(kind, at, at + len(sign)) for kind, sign in _SIGNS if (at := text.find(sign)) >= 0
    ]
    end = text.rfind("了")
    for sign in ("不", "送给"):  # as in `不去健身房了`, `吉他送给邻居了`; a gift alone ends nothing
        if 0 <= (at := text.find(sign)) < end <= at + _FAR:
            result.append(Cue(GONE, at, at + len(sign)))
    return result


def speaks_of_change(text: str) -> bool:
    """Return whether a text states that something has changed."""
    return not _kinds(text) <= {NOT}


def names_new_value(text: str) -> bool:
    """Return whether a text states that something begins, or calls something new."""
    return NOW in _kinds(text) or not NEW.isdisjoint(spaced(text).split())


def _kinds(text: str) -> set[str]:
    words = spaced(text)
    marks = cues(words)
    if not words.isascii():
        marks += chinese_cues(words)
    return {each.kind for each in marks}


def spaced(text: str) -> str:
    """Write the words of a text in lower case, with a space before and after each."""
    return f" {' '.join(text.lower().translate(_SPACED).split())} "


NEAR_A_LINK = 80  # characters before and after a link that may describe it


def _beginnings(words: str) -> tuple[str, ...]:
    return tuple(f" {each.strip()}" for each in words.split(","))


# Beginnings of words before and after a link to a replaced document.
_REVOKES = _beginnings(
    "replaces, replaced, replacing, supersed, overrul, overrid, corrects, corrected, correcting,"
    " revok, withdr, instead of, no longer, not any more, not anymore, ersetzt, widerr, korrigiert,"
    " statt, anstelle, nicht mehr"
)
_OF_A_PART = ("of", "in", "from", "von", "vom", "aus", "im")  # directly before the link
_NO_PART = ("", "as", "that", "it", "wie", "instead")  # before these: `no longer as in [[1]]`
_HAN_REVOKES_LINK = ("取代", "代替", "替代", "更正", "推翻", "不再", "作废")
_IS_REVOKED = _beginnings(
    "no longer, not any more, not anymore, replaced by, superseded, obsolete, outdated, overruled,"
    " revoked, withdrawn, nicht mehr, überholt, ersetzt durch, widerrufen"
)
_HAN_IS_REVOKED = ("不再", "作废", "过时", "已被")


def revokes(text: str, name: str) -> tuple[int, bool] | None:
    """Return the line of a text, from 0, that says a linked document is replaced.

    Also return whether it names a part: `This replaces the decision of [[2025-03-03]].`
    """
    stem = name.removesuffix(".md")
    wiki = (f"{opened}{stem}{end}" for opened in ("[[", "/") for end in ("]]", "#", "|"))
    links = (*wiki, f"/{name})", f"({name})", f"({name}#", f"/{name}#")
    for number, line in enumerate(text.split("\n")):
        if link := next((it for it in links if it in line and revokes_link(line, it)), ""):
            before = line.partition(link)[0]
            of = before.rpartition("[")[0] if link.startswith(("/", "(")) else before
            words = ["", "", *of.rstrip("[").split()]
            return number, words[-1] in _OF_A_PART and words[-2] not in _NO_PART
    return None


def revokes_link(line: str, link: str) -> bool:
    """Return whether the clause around a link says that the linked document is replaced."""
    before, is_in, behind = line.partition(link)
    if not is_in:
        return False
    before, behind = (spaced(_sentences(each)[at]) for each, at in (
        (before[-NEAR_A_LINK:], -1), (behind[:NEAR_A_LINK], 0)
    ))  # fmt: skip
    return any(each in before for each in (*_REVOKES, *_HAN_REVOKES_LINK)) or any(
        each in behind for each in (*_IS_REVOKED, *_HAN_IS_REVOKED)
    )


def _sentences(text: str) -> list[str]:
    for end in "!?;":
        text = text.replace(f"{end} ", ". ")
    for end in "！？；":
        text = text.replace(end, "。")
    return text.replace("。", ". ").split(". ")
