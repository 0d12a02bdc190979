"""When the order of the same words tells another fact, and when it is only another wording."""

from __future__ import annotations

import pytest

from memcli.language.facts import differs, facets_of
from memcli.language.word_order import MOST_TOKENS, exchanged, is_moved


def _exchanged(a: str, b: str) -> tuple[str, ...]:
    return exchanged(facets_of(a).tokens, facets_of(b).tokens)


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ("the cat chased the dog", "the dog chased the cat", ("cat", "chased", "dog")),
        ("from 40 to 60 slots", "from 60 to 40 slots", ("40", "to", "60")),
        ("3 replicas, 5 shards", "5 replicas, 3 shards", ("3", "replicas", "5")),
        ("old is faster than new", "new is faster than old", ("old", "faster", "new")),
        ("Der Hund jagt den Igel", "Der Igel jagt den Hund", ("hund", "jagt", "igel")),
        ("猫追着狗跑", "狗追着猫跑", ("猫", "追", "狗")),
        ("从周二改到周四", "从周四改到周二", ("二", "改", "四")),
    ],
)
def test_two_words_that_change_places_around_a_third_are_named(
    one: str, other: str, told: tuple[str, ...]
) -> None:
    assert _exchanged(one, other) == told
    assert differs(facets_of(one), facets_of(other)) == (
        f"the words in another order: {', '.join(told)}"
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("maria plays the cello on wednesdays", "on wednesdays maria plays the cello"),
        ("milk and coffee", "coffee and milk"),
        ("the cause was a missing index", "a missing index was the cause"),
        ("Die Heizung wird im Mai abgeschaltet", "Im Mai wird die Heizung abgeschaltet"),
        ("Der Dienst läuft um 03:00", "Um 03:00 läuft der Dienst"),
        ("小王负责支付系统", "支付系统由小王负责"),
    ],
)
def test_what_is_put_in_front_or_takes_its_preposition_along_says_the_same(
    one: str, other: str
) -> None:
    assert _exchanged(one, other) == ()


def test_the_order_of_a_long_line_is_not_looked_at() -> None:
    words = [f"w{at}x" for at in range(MOST_TOKENS + 1)]
    assert exchanged(words, words[::-1]) == ()
    assert exchanged(words[:-1], words[-2::-1]) == ("w0x", "w1x", "w2x")


def _is_moved(a: str, b: str) -> bool:
    return is_moved(facets_of(a).tokens, facets_of(b).tokens)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("小王负责支付系统。", "支付系统由小王负责。"),
        ("测试服务器在上海机房。", "上海机房有测试服务器。"),
        ("妈妈对花生过敏。", "妈妈对花生是过敏的。"),
        ("每周二上午十点部署生产环境。", "生产环境每周二上午十点部署。"),
        ("备份每天凌晨两点运行，保存三十天。", "每天凌晨两点运行备份，保存三十天。"),
        ("不确定的时候要说明。", "不确定时要说明。"),
        ("因为丢了两次消息，决定放弃 Redis。", "决定放弃 Redis，因为丢了两次消息。"),
        ("这只小狗很怕打雷。", "小狗很怕打雷。"),
    ],
)
def test_chinese_with_a_piece_in_front_or_without_its_particles_is_the_same(
    one: str, other: str
) -> None:
    assert _is_moved(one, other)
    assert _is_moved(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("妈妈对花生过敏。", "妈妈对花生酱过敏。"),
        ("小王负责新人培训组。", "小王由新人培训组负责。"),
        ("上海公司是北京总部的客户。", "北京总部是上海公司的客户。"),
        ("周五测试部署环境。", "周五部署测试环境。"),
        ("备用钥匙在前台抽屉里。", "前台抽屉里在备用钥匙。"),
        ("先测试，后合并分支。", "后合并分支，先测试。"),
        ("用户只要简短的回答。", "用户要简短的回答。"),
        ("订单服务调用支付服务。", "支付服务调用订单服务。"),
        ("Redis 16", "16 Redis"),
    ],
)
def test_chinese_that_may_say_another_thing_is_not(one: str, other: str) -> None:
    assert not _is_moved(one, other)
    assert not _is_moved(other, one)
