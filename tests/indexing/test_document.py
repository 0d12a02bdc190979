"""What a document says of itself: its days, what it is about, and who wrote it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.config.sources import BUILT_IN_KINDS
from memcli.indexing.document import DETAIL_CHARS, build_document, parse_or_skip
from memcli.markdown.segments import embedded_text, segment_hash
from memcli.types import Document, FileStat, FileText, Skip, Source, Turn
from tests.support import make_limits

OWN = Source("memory", "/notes", ("**/*.md",))
WEB = OWN._replace(source_kind="web", trust="untrusted")
FEBRUARY = ("2026-02-28", "2026-02-01")


def made(text: str, path: str = "a.md", source: Source = OWN) -> Document:
    stat = FileStat(source.name, path, len(text), 0, 0, 0)
    return build_document(FileText(stat, b"h" * 32, text, False), source, make_limits())


def days(document: Document) -> list[tuple[str | None, str | None]]:
    return [(chunk.date, chunk.first_day) for chunk in document.chunks]


def test_what_the_text_of_a_stranger_sets_off_is_told_in_short() -> None:
    def fail() -> Document:
        raise ValueError("x" * 999)

    found = parse_or_skip("memory", "a.md", fail)
    assert isinstance(found, Skip)
    assert found.detail == f"ValueError: {'x' * 999}"[:DETAIL_CHARS]


def test_a_note_of_a_week_or_a_month_is_a_log_that_its_last_day_ages() -> None:
    month = made("The pool.\n", "memory/2026-02.md")
    assert (month.date, month.first_day) == FEBRUARY
    assert (month.kind, month.scope) == ("log", "session")
    assert days(month) == [FEBRUARY]
    week = made("The pool.\n", "memory/2026-W07.md")
    assert days(week) == [("2026-02-15", "2026-02-09")]
    day = made("The pool.\n", "memory/2026_02_10.md")
    assert days(day) == [("2026-02-10", None)]


def test_a_heading_within_a_span_dates_its_section_and_one_beyond_it_does_not() -> None:
    headings = ("2026-02-10", "2026-W07", "2026-W09", "2025-02")
    text = "top\n" + "".join(f"\n## {heading}\n\ntext\n" for heading in headings)
    assert days(made(text, "memory/2026-02.md")) == [
        FEBRUARY,
        ("2026-02-10", None),
        ("2026-02-15", "2026-02-09"),
        FEBRUARY,
        FEBRUARY,
    ]
    assert days(made(text, "memory/2026-02-10.md")) == [("2026-02-10", None)] * 5
    assert days(made(text, "MEMORY.md"))[3:] == [
        ("2026-03-01", "2026-02-23"),
        ("2025-02-28", "2025-02-01"),
    ]


STAMPED = "modified: 2026-03-01T09:30:00Z\ncreated: 2026-01-05"


def test_a_page_with_a_date_is_a_log_unless_it_says_that_it_is_a_note() -> None:
    dated = "date: 2026-02-10\nkind: note"
    document = made(f"---\n{dated}\n---\nThe pool.\n", "pool.md")
    assert (document.date, document.kind, document.scope) == ("2026-02-10", "note", "global")
    logs = (
        ("pool.md", "kind: log", ""),
        ("2026-02-10.md", "", ""),
        ("02-10-2026.md", "", ""),  # of which only the front matter says what day it is
        ("pool.md", "", "## 2026-02-11\n"),
    )
    for path, kind, heading in logs:
        text = f"---\ndate: 2026-02-10\n{kind}\n---\n{heading}\nThe pool.\n"
        assert made(text, path).kind == "log"
    person = made("---\ndate: 2026-02-10\n---\n# Wei\n\nBorn on 3 May.\n", "people/wei.md")
    assert (person.kind, person.date) == ("note", "2026-02-10")


def test_a_stamp_dates_a_note_that_stays_a_note() -> None:
    document = made(f"---\n{STAMPED}\n---\nThe pool.\n\n## 2026-02-10\n\nThe pump.\n")
    assert (document.date, document.kind, document.scope) == ("2026-03-01", "note", "global")
    assert days(document) == [("2026-03-01", None), ("2026-02-10", None)]
    assert made(f"---\n{STAMPED}\n---\nx\n", "memory/2026-02-10.md").date == "2026-02-10"
    created = OWN._replace(date_keys=("created", "modified"))
    assert made(f"---\n{STAMPED}\n---\nx\n", source=created).date == "2026-01-05"
    evergreen = OWN._replace(evergreen=("a.md",))
    assert days(made(f"---\n{STAMPED}\n---\nx\n", source=evergreen)) == [(None, None)]


def embedded(document: Document, *contexts: str) -> bool:
    """Tell that the parts of each chunk are embedded behind a context line, chunk by chunk."""
    return [part.hash for chunk in document.chunks for part in chunk.segments] == [
        segment_hash(embedded_text(context, part.prefix, chunk.text[part.start : part.end]))
        for context, chunk in zip(contexts, document.chunks, strict=True)
        for part in chunk.segments
    ]


def test_what_is_embedded_names_the_days_and_no_stamp() -> None:
    text = "The pool.\n\n## Pump\n\nThe pump.\n"
    assert embedded(made(text), "a", "a > Pump")
    assert embedded(made(f"---\n{STAMPED}\n---\n{text}"), "a", "a > Pump")
    assert embedded(made(text, "memory/2026_02_10.md"), *(
        "2026_02_10 (2026-02-10)", "2026_02_10 > Pump (2026-02-10)",
    ))  # fmt: skip
    titled = f"---\ntitle: Log\n---\n{text}"
    assert embedded(made(titled, "memory/2026-02.md"), "Log (2026-02)", "Log > Pump (2026-02)")
    assert embedded(made(titled, "memory/2026-W07.md"), "Log (2026-W07)", "Log > Pump (2026-W07)")
    assert embedded(made(text, "memory/2026-W07.md"), "2026-W07", "2026-W07 > Pump")


def test_a_description_joins_what_is_embedded() -> None:
    text = "---\ntitle: Pool\ndate: 2026-02-10\ndescription: {}\n---\nThe pump.\n"
    assert embedded(made(text.format("Who sells seals")), "Pool (2026-02-10): Who sells seals")
    assert embedded(made(text.format(">\n  who\n  sells")), "Pool (2026-02-10): who sells")
    for nothing in ("''", "' '", "7", "[Who]", "{who: me}", "true", "Poo"):
        assert embedded(made(text.format(nothing)), "Pool (2026-02-10)"), nothing
    assert embedded(made(text.format("seal " * 9_000)), f"Pool (2026-02-10): {'seal ' * 31}seal")


@given(st.sampled_from(["東", "한", "😀 ", "(", "x", "ﷺ", "é", "a b "]), st.integers(1, 300))
def test_whatever_the_description_every_part_fits_the_model(mark: str, times: int) -> None:
    limits = make_limits()
    document = made(f"---\ntitle: {'t' * 200}\ndescription: '{mark * times}'\n---\n{mark * 900}\n")
    for chunk in document.chunks:
        for part in chunk.segments:
            body = chunk.text[part.start : part.end]
            lines = (f"{'t' * 200}: {' '.join((mark * times).split())[:160].rstrip()}", "t" * 200)
            forms = [embedded_text(line, part.prefix, body) for line in (*lines, "t" * 36)]
            (form,) = {form for form in forms if segment_hash(form) == part.hash}
            assert limits.count(form) <= limits.part_max


@pytest.mark.parametrize(
    ("source", "said", "kind", "trust"),
    [
        (OWN, "title: x", "operator", "trusted"),
        (OWN, "source_kind: operator", "operator", "trusted"),
        (OWN, "source_kind: system", "system", "trusted"),
        (OWN, "source_kind: web", "web", "untrusted"),
        (OWN, "source_kind: import", "import", "untrusted"),
        (OWN, "source_kind: tool\ntrust: trusted", "tool", "untrusted"),
        (OWN, "source_kind: operator\ntrust: untrusted", "operator", "untrusted"),
        (OWN, "source_kind: Web", "operator", "trusted"),
        (OWN, "source_kind: [web]", "operator", "trusted"),
        (OWN, "source_kind: {web: 1}", "operator", "trusted"),
        (OWN, "source_kind: 7", "operator", "trusted"),
        (WEB, "title: x", "web", "untrusted"),
        (WEB, "source_kind: operator\ntrust: trusted", "web", "untrusted"),
        (WEB, "source_kind: system", "web", "untrusted"),
        (WEB, "source_kind: tool", "tool", "untrusted"),
        (OWN._replace(trust="untrusted"), "source_kind: system", "operator", "untrusted"),
        # Trusted by the user's own configuration, which what comes from elsewhere is not.
        (WEB._replace(trust="trusted"), "source_kind: web", "web", "trusted"),
        (WEB._replace(trust="trusted"), "source_kind: tool", "tool", "untrusted"),
        (WEB._replace(trust="trusted"), "source_kind: operator", "web", "trusted"),
    ],
)
def test_front_matter_lowers_trust_and_never_raises_it(
    source: Source, said: str, kind: str, trust: str
) -> None:
    document = made(f"---\n{said}\nalways: true\n---\nRule.\n", source=source)
    assert (document.source_kind, document.trust) == (kind, trust)
    assert document.always == (trust == "trusted")


def test_what_always_stands_in_the_context_is_not_soft_too() -> None:
    for front, expected in (
        ("soft: true", (False, True)),
        ("soft: true\nalways: true", (True, False)),
        ("always: true", (True, False)),
    ):
        document = made(f"---\n{front}\n---\nRule.\n")
        assert (document.always, document.soft) == expected


@pytest.mark.parametrize("trust", ["trusted", "untrusted"])
@pytest.mark.parametrize("scope", ["private", "user"])
def test_only_to_be_told_of_less_may_front_matter_choose_its_scope(trust: str, scope: str) -> None:
    document = made(f"---\ntrust: {trust}\nscope: {scope}\n---\nRule.\n")
    is_obeyed = trust == "trusted" or scope == "private"
    assert (document.scope == scope) == is_obeyed


def test_what_front_matter_calls_a_tools_is_a_tools_turn() -> None:
    document = made("---\nsource_kind: tool\nspeaker: Kate\n---\nDry.\n")
    assert document.chunks[0].turns == (Turn(5, 5, "tool"),)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("DECISIONS/queue.md", "decision"),
        ("memory/DECISIONS/queue.md", "decision"),
        ("memory/team/DECISIONS/2026/queue.md", "decision"),
        ("memory/DECISIONS.md", "note"),
        ("memory/MY-DECISIONS/queue.md", "note"),
        ("memory/TECH_NOTES/SPEC-1.md", "spec"),
        ("TECH_NOTES/2026-02-10.md", "note"),
        ("memory/team/TECH_NOTES/2026-02-10.md", "note"),
        ("ROADMAP.md", "roadmap"),
        ("memory/team/ROADMAP-2026.md", "roadmap"),
        ("SPEC.md", "spec"),
        ("memory/deep/er/api-SPEC-2.md", "spec"),
        ("PRD.md", "spec"),
        ("memory/PRD-pool.md", "spec"),
        ("memory/2026-02-10.md", "log"),
    ],
)
def test_names_tell_the_kind_at_any_depth(path: str, kind: str) -> None:
    assert made("x\n", path, OWN._replace(kinds=BUILT_IN_KINDS)).kind == kind
