"""Which lines are instructions and preferences, and whose."""

from __future__ import annotations

import time

import pytest

from memcli.markdown.parse import parse
from memcli.markdown.preferences import begun_within, preferences_of
from memcli.markdown.turns import turns_of, within

CHAT = "User: {}\n\nAssistant: I prefer tea. Always ask.\n"


def found(text: str) -> list[str]:
    parsed = parse(text)
    runs = preferences_of(parsed, turns_of(parsed))
    return ["\n".join(parsed.lines[first - 1 : last]) for first, last in runs]


@pytest.mark.parametrize(
    "said",
    [
        "Always use bullet points when I ask about lists.", "Thanks! Please never send me a table.",
        "From now on, metric units.", "I really prefer trains to planes, can you find me one?",
        "I'd rather walk.", "My preference is a window seat.", "I hate cilantro.",
        "I'm allergic to nuts, what should I cook?", "Please call me Ilse.",
        "I want you to always cite the source.", "Keep in mind that I work mornings only.",
        "Bitte immer auf Deutsch antworten.", "Ich bevorzuge kurze Antworten.",
        "Por favor, siempre responde en español.", "Je préfère le train.", "以后请用中文回答。",
        "我更喜欢坐火车。", "請務必附上出處。", "これからは日本語でお願いします。",
    ],
)  # fmt: skip
def test_a_user_says_how_things_are_wanted(said: str) -> None:
    assert found(CHAT.format(said)) == [f"User: {said}"]


@pytest.mark.parametrize(
    "said",
    [
        "Always wanted to see the sea.", "Never been there!", "We never met, did we?",
        "Call me when the train is in.", "What would you prefer?",
        "The pool always runs dry in May.", "Which one do you like more?", "我昨天去了图书馆。",
    ],
)  # fmt: skip
def test_what_only_looks_like_it(said: str) -> None:
    assert found(CHAT.format(said)) == []


def test_orders_in_notes_are_notes() -> None:
    note = (
        "# Notes\n\n- Always run the checks.\n- I prefer spaces.\n- The user wants short answers.\n"
    )
    assert found(note) == ["- I prefer spaces.\n- The user wants short answers."]


def test_a_sentence_is_given_with_all_its_lines() -> None:
    text = CHAT.format("It rains. I prefer\nto walk in the\nmorning. Then tea.")
    assert found(text) == ["User: It rains. I prefer\nto walk in the\nmorning. Then tea."]


def test_code_and_headings_are_passed_over() -> None:
    assert found("# I prefer tea\n\n```text\nI prefer tea.\n```\n") == []


def test_a_chunk_has_what_begins_in_it() -> None:
    runs = ((2, 3), (5, 8), (9, 9))
    assert begun_within(runs, 1, 6) == ((2, 3), (5, 6))
    assert begun_within(runs, 7, 9) == ((9, 9),)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "unit", ["I prefer it ", "I prefer it\n", "User: I prefer it.\n\nAssistant: ok\n\n"]
)
def test_the_time_grows_with_the_length_alone(unit: str) -> None:
    """Four times the text takes some four times as long: nothing is sought from the start anew."""

    def seconds(times: int) -> float:
        parsed = parse(unit * times)
        turns = turns_of(parsed)
        begun = time.process_time()
        runs = preferences_of(parsed, turns)
        for line in range(1, len(parsed.lines), 20):
            begun_within(runs, line, line + 19)
            within(turns, line, line + 19)
        return time.process_time() - begun

    short = min(seconds(2_000) for _ in range(3))
    assert min(seconds(8_000) for _ in range(2)) < 9 * max(short, 0.01)


@pytest.mark.parametrize(
    "said",
    [
        "We usually prefer tea.", "I'd really rather walk.", "My preferences are below.",
        "The user wants short answers.", "I can't stand noise.", "I do not like it when it rains.",
        "I am a vegan.", "Call me Ilse.", "Ich hätte lieber Tee.", "Mir ist Tee lieber.",
        "Nennt mich Ilse.", "ICH HASSE LÄRM.", "Prefiero té.", "Preferiría té.", "Llámame Ilse.",
        "Je préfère le thé.", "Appelle-moi Ilse.", "我更喜欢茶", "请称呼我王", "用户偏好茶",
        "お茶のほうがいい", "イルゼと呼んで",
    ],
)  # fmt: skip
def test_a_note_says_so_in_each_language(said: str) -> None:
    assert found(f"# Notes\n\n{said}\n") == [said]
