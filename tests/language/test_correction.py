"""Corrections on labelled notes in English, German and Chinese.

The weights were fitted to `pairs`, `tuned`, `fresh`, `more` and `voices`; the others are only
counted. The missed lines of `heldout` led to rules.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.language.correction import corrects
from tests.benchmarks.corrections import rows_of


def is_corrected(texts: list[str]) -> bool:
    """Tell whether every line but the last is corrected by a later one."""
    return all(
        any(corrects(newer, older) > 0 for newer in texts[at:])
        for at, older in enumerate(texts[:-1], start=1)
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pairs", {"change": (41, 47), "plain": (47, 47), "holds": (0, 50)}),
        ("tuned", {"change": (117, 124), "holds": (1, 76), "plain": (23, 24)}),
        ("fresh", {"change": (11, 12), "plain": (12, 12), "holds": (0, 12)}),
        ("more", {"change": (55, 62), "plain": (19, 21), "holds": (0, 108)}),
        ("voices", {"change": (86, 127), "plain": (52, 63), "holds": (0, 102)}),
        ("unseen", {"change": (22, 24), "plain": (19, 21), "holds": (0, 31)}),
        ("blind", {"change": (24, 24), "plain": (17, 17), "holds": (0, 22)}),
        ("heldout", {"change": (49, 72), "plain": (41, 48), "holds": (0, 72)}),
    ],
)
def test_current_lines_correct_older_ones_and_near_misses_correct_nothing(
    name: str, expected: dict[str, tuple[int, int]]
) -> None:
    found: dict[str, list[bool]] = {kind: [] for kind in expected}
    for row in rows_of(name):
        found[row["kind"]].append(is_corrected([text for _, text in row["notes"]]))
    assert {kind: (sum(each), len(each)) for kind, each in found.items()} == expected


@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        ("The pool size is 20.", "Assistant: The pool size is 40 now.", False),
        ("My manager is Colin.", "New manager since Monday: Priya.", True),
        ("Mein Chef ist Karl.", "Neuer Chef: Anna.", True),
        ("The office moved to Berlin.", "The office moved from Berlin to Hamburg.", True),
        ("The deploy is on Thursday.", "Sprint 4 is over. March deploys moved to Friday.", True),
        ("The pool ticket costs $10.", "The pool ticket is now for 3 days.", False),
        ("备份保留7天。", "备份改到8点。", False),
    ],
)
def test_only_a_value_of_the_same_kind_and_speaker_corrects(
    older: str, newer: str, *, expected: bool
) -> None:
    assert (corrects(newer, older) > 0) is expected


def test_pairs_of_logs_to_which_nothing_was_fitted() -> None:
    table = Path(__file__).parents[2] / "fixtures/gate/superseded.tsv"
    rows = [line.split("\t") for line in table.read_text("utf-8").splitlines()[1:]]
    for kind, expected in (("corrected", 20), ("contradicted", 20), ("related", 0)):
        labelled = [corrects(newer, older) > 0 for label, older, newer in rows if label == kind]
        assert (sum(labelled), len(labelled)) == (expected, 20)


def test_what_states_nothing_and_what_only_greets_is_not_corrected() -> None:
    for older, newer in (
        ("How do we move the tables?", "We moved the tables to the other disk instead."),
        ("Assistant: Of course!", "Assistant: Certainly!"),
        ("Long time no see!", "Long time no chat!"),
        ("Feel free to ask about geometry.", "If you have any more questions, feel free to ask."),
        ("Anna is my cousin, her birthday is 12 May.", "Anna is my cousin, her city is Graz."),
        ("worker: renders and prints shipping labels.", "worker: Jun watches the queue depth"),
    ):
        assert corrects(newer, older) == 0, newer


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I take 50 mg of zinc.", "The doctor lowered the zinc to 25 mg."),
        ("Tags are named area/name.", "Tag names follow number-name rather than area/name."),
        ("Tom lives in a flat in Bristol.", "Tom moved to Cardiff in March."),
        ("**Kit** (D2:9): I run in Brooks", "**Kit** (D9:1): I no longer run in Brooks."),
        ("I always fly Norwegian.", "Not flying Norwegian any more."),
        ("I eat meat twice a week.", "I never eat meat these days."),
        ("小区停车费每月二百元。", "小区停车费每月二百五十元。"),
        ("Probe ist montags um 19 Uhr.", "Die Probe wurde auf Mittwoch 20 Uhr verlegt."),
        ("The choir rehearses in the parish hall.", "The choir rehearses in the school gym."),
        ("I take the tram.", "I no longer take the tram, let's cycle instead."),
        ("Guests pay 12 euros.", "We had to raise it: guests pay 15 euros instead of 12 now."),
        ("Vitamin d: 1000 units daily", "Vitamin D: 2000 units daily"),
        ("We meet in room b at 8", "We meet in room B at 9"),
        ("plan a costs 10 euros", "Plan A costs 12 euros now"),
        ("The monthly fee is 12 EUR.", "The monthly fee: 15 EUR."),
        ("The release manager is Tom.", "The new release manager is Ann."),
        ("Tom is the release manager.", "Ann is the new release manager."),
        ("Release manager: Tom", "Our new release manager is Ann."),
        ("Our dentist is Dr. Lowe.", "The new dentist is Dr. Park."),
        ("Our landlord is Mr. Finch.", "We have a new landlord, Mrs. Patel."),
        ("The wifi password is tulip77.", "The new wifi password is maple12."),
        ("Der Hausmeister ist Herr Krug.", "Der neue Hausmeister ist Frau Voss."),
        ("Unser Zahnarzt ist Dr. Kern.", "Unser neuer Zahnarzt ist Dr. Weiß."),
        ("We meet on Mondays at 9 instead of Fridays.", "We meet on Tuesdays at 9."),
        ("Logs are kept 90 days from today instead of 14.", "Logs are kept for 30 days."),
        ("Der Kurs ist montags statt freitags.", "Der Kurs ist dienstags."),
        ("我们的房东是王先生。", "我们的新房东是李女士。"),
        ("项目经理是张伟。", "新任项目经理是李娜。"),
        ("Die Bäckerei ist montags geschlossen.", "Die Bäckerei ist dienstags geschlossen."),
        ("Friseur: montags geschlossen", "Friseur: dienstags geschlossen"),
        ("Die Monatskarte kostet 49 Euro.", "Monatskarte: 58 Euro."),
        ("Our contact at the print shop is Ann.", "Contact at the print shop: Jo, ext. 12."),
        ("A full run takes about 12 minutes.", "A full run takes roughly 19 minutes."),
        ("Fabian is our keeper.", "Our keeper is Danilo."),
        ("猫粮放在阳台。", "猫粮在厨房。"),
        ("The offsite budget is 12 euros.", "Finance trimmed the offsite budget to 9 euros."),
        ("Thermostat im Bad steht auf 23 Grad.", "Thermostat im Bad auf 21 Grad heruntergedreht."),
        (
            "- Hourly rate: 62 francs, travel included.",
            "From August the hourly rate is 68 francs instead of 62. Letters go out this week.",
        ),
        (
            "Events are kept for 30 days, then deleted by the nightly job at 02:00.",
            "Events are kept for 90 days now instead of 30; support needs older events.",
        ),
        (
            "Ingrid delivered the first mock-ups; the accent colour is teal.",
            "The accent colour is now indigo instead of teal.",
        ),
        ("The spare key hangs by the door.", "Spare key lies in the kitchen drawer."),
        ("Der Anhänger steht im Hof.", "Anhänger parkt in der Garage."),
        ("Each member pays 30 euros.", "45 euros each member pays."),
        ("Gesellen haben 26 Tage Urlaub.", "Gesellen haben 28 Tage Urlaub."),
        ("**Bo** (D1:1): I live in Gdansk", "**Bo** (D9:1): I live in Poznan"),
        ("Use the blue spray when needed.", "Swapped the blue spray for the green one."),
        ("The flag is off in production.", "Flipped the flag on in production."),
        ("The rota is in Berlin time.", "Switched the rota from Berlin time to UTC."),
        ("Tickets go to Yusra.", "Yusra's gone to sales, tickets go to Bo."),
        ("Dad takes 5 mg amlodipine.", "Cardiologist ramped up dad's amlodipine to 10 mg."),
        ("The snack fund is 14 euros.", "The snack fund is 19 euros."),
        ("The shop closes at 17:00.", "The shop closes at 16:00 since Easter, no longer at 17:00."),
        ("Retry limit for `sync()` is 5.", "Retry limit of `sync()` lowered to `3`."),
        ("Retry limit `RETRY_MAX` is 5.", "Retry limit `RETRY_MAX` is 3 now, no longer 5."),
        ("The pool fee for kids is 12 euros.", "The pool fee is cancelled for kids."),
        ("The sauna opens at 9.", "The sauna is closed for repairs."),
        ("We meet in the library.", "We moved out of the library for good."),
        ("Deploys go out on Fridays.", "Deploys no longer go out on Fridays except hotfixes."),
        ("泳池门票12元。", "泳池门票改为8元，已核对。"),
        ("客服负责人是李雷。", "客服对口负责人改为王芳。"),
        ("CI runs on Jenkins.", "CI runs on GitHub Actions instead of Jenkins for cost."),
        ("We use MySQL in production.", "We switched from MySQL to Postgres for reliability."),
        ("We use MySQL.", "We use Postgres instead of MySQL for storage."),
        ("I play for Arsenal.", "I now play for Chelsea instead of Arsenal."),
        ("The team meets on Mondays.", "The team meets for breakfast on Fridays now."),
        ("Rent is 900.", "Rent is 980 for the flat."),
        ("My dose is 10 mg.", "My dose is now 20 mg for the blood pressure."),
        ("Das Limit ist 20 MB.", "Das Limit ist jetzt 50 MB für das Projekt."),
        ("Node 18 is required.", "Node 20 is required now."),
        ("Haus 2 hat einen Aufzug.", "Haus 2 hat keinen Aufzug mehr."),
        ("Adults pay 12 euros.", "Adults now pay 14 euros instead of 12, children still 6."),
        ("Car insurance is 40 a month.", "Car insurance went up to 520 a year."),
        ("I train at PureGym.", "I used to train at PureGym, now I go to the Boulderhaus."),
        ("We heat with a gas boiler.", "The gas boiler was replaced with a heat pump."),
        ("One pill of iron a day.", "Iron was raised to two pills a day."),
        ("三班班主任是李老师。", "三班班主任换成王老师。"),
    ],
)
def test_amounts_new_names_homes_and_habits_are_corrected(older: str, newer: str) -> None:
    assert corrects(newer, older) > 0


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The trip to the zoo was canceled.", "The trip to the park was canceled due to rain."),
        (
            "Routes are hard to test.",
            "Can you help me to replace the routes that are hard to test?",
        ),
        ("Bins go out on Tuesdays.", "Paper is collected on the first Monday."),
        ("**Ann** (D1:1): My team is red.", "**Ben** (D2:1): My team is blue."),
        ("- [ ] the cache is off", "- [x] the cache is on"),
        ("- **Ann** (D1:1): My team is red.", "- **Ben** (D2:1): My team is blue."),
        ("- **Ann** (D1:1): Absolutely!", "- **Ann** (D2:7): Certainly!"),
        ("Deploys go out on Tuesdays.", "No deploys on Tuesday 24 December, moved the on-call."),
        ("Standup is at 9.", "This week the standup is at 10 instead of 9."),
        ("The shop closes at 17:00.", "The shop closes at 13:00 on Christmas Eve."),
        ("Der Bäcker öffnet um 6 Uhr.", "An Himmelfahrt öffnet der Bäcker um 8 Uhr."),
        ("食堂十一点半开饭。", "国庆那天食堂十二点开饭。"),
        ("Sitters get 12 an hour.", "Sitters get 20 an hour on this one evening, just that once."),
        ("The image uses Python 3.10.", "Bo suggested that the image uses Python 3.12."),
        ("订单库是 PG 14。", "打算把订单库升级到 PG 17。"),
        ("Warehouse: notice 3 months", "Warehouse: rent 900 a month"),
        ("The piano is black.", "The piano stands in the hall."),
        ("Ann owes Bob 30 euros.", "Bob owes Ann 20 euros."),
        ("My eye test is on 6 April.", "Rob's eye test is on 9 April."),
        ("The boat has a sail from Loft.", "The boat got a second sail from Loft."),
        ("Team A uses Kotlin.", "Team B switched from Kotlin to Flutter."),
        ("Kim is allergic to cats.", "Kim's sister is no longer allergic to cats."),
        ("Tom is an engineer at Acme.", "Priya is the new engineer at Acme."),
        ("My daughter is Mia.", "Our new daughter is Lea."),
        ("Unsere Filiale ist Bonn.", "Unsere neue Filiale ist Köln."),
        ("```Retry limit is 5.", "Retry limit is 3 now, no longer 5."),
        ("订单服务部署在上海。", "用户服务不再部署在上海。"),
        ("The office opens at 8:00.", "The office has a new lamp."),
        ("The red team meets in room 4.", "The blue team no longer meets in room 4."),
        ("Feel free to ask about geometry.", "Now, let's move on to geometry."),
        (
            "**Ann** (D1:1): See you tomorrow, Kit!",
            "**Ann** (D2:9): Now I'm off, see you tomorrow.",
        ),
        (
            "**Ann** (D1:1): Have a lovely day and let us talk again tomorrow!",
            "**Ann** (D2:9): See you tomorrow and have a lovely day!",
        ),
        (
            "**Kit** (D1:5): I'm more into reading and fantasy novels.",
            "**Kit** (D9:2): I'm currently reading a fantasy novel called The Heron.",
        ),
        (
            "I'll definitely check it out.",
            "I'll let you know how it turns out when I make it.",
        ),
        ("舅妈在广州上班呢。", "舅妈在广州巨筑建筑公司上班。"),
        ("The gateway listens on port 8080.", "The gateway was upgraded to version 3."),
        ("Biscuit is a beagle.", "Biscuit moved to the sofa."),
        ("My manager is Colin.", "Colin moved the team dinner to Thursday."),
        ("My bike stands in the cellar.", "Jo's bike now stands in the cellar too."),
        ("The ferry to Arran leaves at 9:45.", "The ferry from Arran was cancelled."),
        ("It closes at 18:00 on weekdays.", "It closes at 20:00 on Saturdays now."),
        ("cluster a has 40 nodes", "cluster b has 64 nodes now"),
        ("plan b costs 10 euros", "Plan A costs 12 euros now"),
        ("The pool has 10 connections.", "The pool has 10 connections."),
        ("We meet on Mondays.", "We meet on Mondays and also on Fridays."),
        ("Tomas fixed OPS-417.", "Tomas no longer fixed OPS-423."),
        ("The printer is in the hall.", "The new printer is a Brother."),
        ("The car is red.", "The new car is at the garage."),
        ("The manager is nice.", "The new manager is strict."),
        ("The release manager is Tom.", "The new release manager for docs is Ann."),
        ("The office manager is Tom.", "The new manager is Ann."),
        ("My colleague is Tom.", "My new colleague is Ann."),
        ("Unser Hund ist lieb.", "Unser neuer Hund ist frech."),
        ("我们的房东是王先生。", "新房东说明天来。"),
        ("我的同事是小王。", "我的新同事是小李。"),
        ("My sister is Ann.", "Ann is my friend."),
        ("Tom takes 5 mg of iron.", "Tom takes 20 mg of zinc."),
        ("The worker pins numpy.", "The worker no longer pins pandas."),
        ("**Bo** (D1:1): I live in Gdansk", "**Bo** (D9:1): I live in a flat"),
        ("Dienstags ist Yoga.", "Montags ist Pilates."),
        ("The fee for the pool is 12 euros.", "The pool fee is cancelled for kids."),
        ("The fee for the pool is 12 euros.", "The pool fee is waived for children under 12."),
        ("The fee for the pool is 12 euros.", "For students, the pool fee is cancelled."),
        ("The fee for the pool is 12 euros.", "The pool fee is cancelled except for adults."),
        ("The upload limit is 20 MB.", "The upload limit is 50 MB for the design team."),
        ("The upload limit is 20 MB.", "The upload limit is 50 MB for security guards."),
        ("We use Jira.", "We use Linear instead of Jira for bugs."),
        ("We use Jira for users.", "We use Linear instead of Jira for new users."),
        ("We use Jira.", "We no longer use Jira for the billing project."),
        ("The trial for users is 30 days.", "The trial was cut to 14 days for new users."),
        ("Sessions are kept in Redis.", "We stopped keeping sessions in Redis for guests."),
        ("Der Eintritt ins Bad kostet 5 Euro.", "Der Eintritt ins Bad entfällt für Kinder."),
        ("Der Eintritt ins Bad kostet 5 Euro.", "Der Eintritt ins Bad kostet 3 Euro für Schüler."),
        ("泳池门票12元。", "泳池门票仅对新用户降到8元。"),
        ("泳池门票12元。", "泳池门票改为8元，仅限会员。"),
        ("cache-01 has 16 GB.", "cache-02 was upgraded to 32 GB."),
        ("Cohort 7 gets pellets.", "Cohort 9 was switched from pellets to chow."),
        ("Gruppe 2 probt im Saal.", "Gruppe 3 probt jetzt im Keller statt im Saal."),
        ("Haus 2 hat einen Aufzug.", "Haus 3 hat keinen Aufzug mehr."),
        ("Freibad: Kinder zahlen 2,50.", "Freibad: Erwachsene zahlen 5,00."),
        ("Museum: adults 14", "Museum: children 7"),
        ("Our team sits on floor 3.", "Their team moved to floor 5."),
        ("Free accounts have 3 projects.", "Paid accounts now have 50 projects instead of 20."),
        ("Unser Parkplatz ist Nummer 12.", "Ihr Parkplatz ist jetzt Nummer 14."),
        ("Pro costs $29 per month.", "Pro costs $290 if billed yearly."),
        ("Das Abo kostet 9 Euro im Monat.", "Das Abo kostet 90 Euro bei jährlicher Zahlung."),
        ("Rent is 980.", "Rent is paid to Mrs. Quill now."),
        ("Nora is a nurse at Pax.", "Nora used to be a teacher before she became a nurse."),
        (
            "The van goes to Moss Garage.",
            "Moss Garage don't sell tyres, we put new ones on the van.",
        ),
        ("Standup is run by Ann.", "Ann had to go home, so Bo ran Tuesday's standup instead."),
        ("Payroll is done by Ilse.", "While Ilse is on parental leave, Tom does the payroll."),
        ("Our contact at the bank is Ann.", "Ann is on leave until 12 May; call Bo at the bank."),
        ("The phone is with Bea.", "The phone is with Rui this weekend, back to Bea on Monday."),
        ("The boiler heats both flats.", "The boiler was switched off for two hours on Monday."),
        ("瑜伽课在社区中心二楼，周三晚。", "今晚的瑜伽课搬到草坪上，二楼被借去开会。"),
        ("例会由小陈主持。", "小陈昨天请假，例会换成老周主持。"),
        ("Dr. Hume makes house calls.", "We discussed dropping Dr. Hume's house calls."),
        ("Payroll runs on Gusto.", "Dropping Gusto for payroll: no decision yet."),
        ("Die Kantine hat freitags Fisch.", "Der Fisch wird abgeschafft, ist aber noch offen."),
        ("周会在周一上午。", "周一上午的周会取消与否，没定。"),
        ("", "fox"),
    ],
)
def test_events_questions_other_speakers_and_tasks_correct_nothing(older: str, newer: str) -> None:
    assert corrects(newer, older) == 0
