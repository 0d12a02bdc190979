"""The invariants of a context hold over any memory, any shares and any budget."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.context.assemble import (
    AssembledContext,
    FixedParts,
    RetrievedPassages,
    Sharing,
    assemble,
    fix,
    tokens,
)
from memcli.context.hops import Following, Link, LinkedPassage, hops, strong
from memcli.context.parts import ALWAYS, PASSAGES, RECENT, SOFT, joined, make_part, markdown, whole
from memcli.context.retrieve import with_hops
from memcli.errors import BudgetError
from memcli.language.tokens import estimate
from memcli.types import Excerpt
from tests.records import make_excerpt

LINES = st.text(
    st.sampled_from("abc xyz#`~<>!-=|[]()é東京поезд‮\t"), min_size=1, max_size=90
).filter(lambda line: "<!--" not in line and line.strip() != "")
TEXTS = st.lists(LINES, min_size=1, max_size=12).map("\n".join)
SHARES = st.tuples(*[st.floats(0, 1 / 3)] * 3)
BUDGETS = st.one_of(st.integers(1, 400), st.integers(1, 4000), st.integers(1, 100_000))


def document(path: str, texts: Sequence[str], first_id: int) -> list[Excerpt]:
    """Make the chunks of a document, a blank line between two of them."""
    chunks, line, byte = [], 1, 0
    for at, text in enumerate(texts):
        count, size = text.count("\n"), len(text.encode())
        chunks.append(
            make_excerpt(
                chunk_id=first_id + at, path=path, heading_path=("Title", f"Section {at}"),
                title="Title", start_line=line, end_line=line + count, start_byte=byte,
                end_byte=byte + size, text=text, ordinal=at,
            )
        )  # fmt: skip
        line, byte = line + count + 2, byte + size + 2
    return chunks


@st.composite
def memories(draw: st.DrawFn) -> dict[str, list[list[Excerpt]]]:
    memory: dict[str, list[list[Excerpt]]] = {}
    next_id = 1
    for section in (ALWAYS, SOFT, RECENT, PASSAGES):
        memory[section] = []
        for at in range(draw(st.integers(0, 3))):
            texts = draw(st.lists(TEXTS, min_size=1, max_size=4))
            memory[section].append(document(f"{section}/{at}.md", texts, next_id))
            next_id += len(texts)
    return memory


def made(
    memory: dict[str, list[list[Excerpt]]], wanted: Sharing
) -> tuple[FixedParts, AssembledContext, list[Excerpt]]:
    soft = [chunk for chunks in memory[SOFT] for chunk in chunks]
    logs = [chunk for chunks in memory[RECENT] for chunk in chunks]
    records = [(whole(chunk),) for chunk in reversed(logs)]
    fixed = fix(memory[ALWAYS], soft, records, wanted)
    everything = [chunk for section in memory.values() for chunks in section for chunk in chunks]
    # Retrieval may offer what is shown already, and twice.
    ranked = [make_part(PASSAGES, chunk, score=1 / (1 + n)) for n, chunk in enumerate(everything)]
    return fixed, assemble(fixed, RetrievedPassages([*ranked, *ranked[:2]]), wanted), everything


@given(memories(), BUDGETS, st.integers(0, 4), SHARES, st.booleans())
def test_the_invariants_of_a_context(
    memory: dict[str, list[list[Excerpt]]],
    budget: int,
    tail: int,
    shares: tuple[float, float, float],
    has_question: bool,
) -> None:
    wanted = Sharing(budget, tail, *shares, has_question=has_question)
    logs = [chunk for chunks in memory[RECENT] for chunk in chunks]
    rules = [part for chunks in memory[ALWAYS] for part in joined(ALWAYS, map(whole, chunks))]
    least = 0 if has_question else min(tail, len(logs))
    base = joined(RECENT, map(whole, logs[len(logs) - least :]))
    needed = tokens([*rules, *base])
    if needed > budget:
        with pytest.raises(BudgetError, match=f"of {budget}"):
            made(memory, wanted)
        return
    fixed, block, everything = made(memory, wanted)
    by_section = {s: [p for p in block.parts if p.section == s] for s in memory}
    shown = [chunk for part in block.parts for chunk in part.chunk_ids]

    # The budget is kept, by the very text that is printed.
    assert estimate(markdown(block.parts)) <= block.tokens <= budget
    # I1 is there whole, each line of it.
    assert by_section[ALWAYS] == rules
    for chunks, part in zip(memory[ALWAYS], rules, strict=True):
        assert part.text == "\n\n".join(chunk.text for chunk in chunks).strip("\n")
    # A partition: nothing is shown twice, and what is not shown is left out by name.
    left = [chunk for part in block.left_out for chunk in part.chunk_ids]
    spans = [span for part in block.parts for span in part.spans]
    for span, other in combinations(spans, 2):
        if span.chunk.about.chunk_id == other.chunk.about.chunk_id:
            assert span.end <= other.start or other.end <= span.start
    assert sorted({*shown, *left}) == [chunk.about.chunk_id for chunk in everything]
    # I2 is cut only to a prefix, to the line, within its share.
    soft = [chunk.about.chunk_id for chunks in memory[SOFT] for chunk in chunks]
    kept = [chunk for part in by_section[SOFT] for chunk in part.chunk_ids]
    assert kept == soft[: len(kept)]
    assert sum(part.cost for part in by_section[SOFT]) <= shares[1] * budget + 1e-6
    # The tail is a suffix of the logs, as they stand, with at least the records asked for.
    recent = [chunk for part in by_section[RECENT] for chunk in part.chunk_ids]
    assert recent == [chunk.about.chunk_id for chunk in logs[len(logs) - len(recent) :]]
    assert len(recent) >= least
    assert len(recent) <= tail or not has_question
    assert tail or not recent
    text = "".join(part.text for part in by_section[RECENT])
    assert all(chunk.text.strip("\n") in text for chunk in logs[len(logs) - len(recent) :])
    # More than the base tail, and with a question any, only within its share.
    if len(recent) > least:
        assert sum(part.cost for part in by_section[RECENT]) <= shares[2] * budget + 1e-6
    # What is found is shown in the order of its rank.
    scores = [part.score or 0.0 for part in by_section[PASSAGES]]
    assert scores == sorted(scores, reverse=True)
    # The sections are in order, and what answers a question comes first.
    order = [part.section for part in block.parts]
    last = (ALWAYS, SOFT, RECENT)
    assert order == sorted(
        order, key=((PASSAGES, *last) if has_question else (*last, PASSAGES)).index
    )
    assert fixed.parts == tuple(part for part in block.parts if part.section != PASSAGES)


@given(memories(), st.integers(1, 3000))
def test_the_best_of_what_is_found_come_before_all_others(
    memory: dict[str, list[list[Excerpt]]], budget: int
) -> None:
    memory = {**memory, ALWAYS: [], SOFT: [], RECENT: []}
    block = made(memory, Sharing(budget, 0, 0.3, 0.1, 0.2))[1]
    for left in block.left_out:
        better = [part for part in block.parts if (part.score or 0) > (left.score or 0)]
        assert tokens([*better, left]) > budget


LINKS = st.lists(
    st.builds(
        Link,
        st.just("memory"),
        st.sampled_from(["a.md", "b.md", "c.md"]),
        st.sampled_from(["a.md", "b.md", "c.md", "nowhere.md"]),
        st.floats(0, 1),
        st.sampled_from(["a.md:1-2", "b.md:1-2"]),
    ),
    max_size=12,
)


@given(LINKS, st.sets(st.integers(1, 3)))
def test_hops_end_after_one_step_and_reach_nothing_that_is_taken(
    links: list[Link], taken: set[int]
) -> None:
    chunks = {
        name: document(name, ["x"], n)[0] for n, name in enumerate(["a.md", "b.md", "c.md"], 1)
    }
    asked = []

    def target_of(link: Link) -> Excerpt | None:
        asked.append(link)
        return chunks.get(link.target)

    how = Following({})
    found = hops(links, target_of, taken, how)
    assert len(asked) == len(strong(links, how)) <= len(links)
    assert {hop.excerpt.about.chunk_id for hop in found} & taken == set()
    assert len({hop.excerpt.about.chunk_id for hop in found}) == len(found)
    for hop in found:
        best = max(x.score for x in links if x.target == hop.excerpt.about.path)
        assert hop.score == how.eta * best > how.theta


@given(st.lists(st.floats(0, 1), max_size=20), st.lists(st.floats(0, 1), max_size=4), st.data())
def test_a_target_comes_whole_before_what_scores_less(
    scores: list[float], hopped: list[float], data: st.DataObject
) -> None:
    found = [
        make_part(PASSAGES, document(f"{n}.md", ["x\ny"], n)[0], window=(0, 1), score=score)
        for n, score in enumerate(scores)
    ]
    via = found[0].excerpt.about.citation if found else "p.md:1"
    numbers = st.lists(st.integers(0, 30), min_size=len(hopped), max_size=len(hopped), unique=True)
    linked = [
        LinkedPassage(document(f"{n}.md", ["x\ny"], n)[0], score, via)
        for n, score in zip(data.draw(numbers), hopped, strict=True)
    ]
    ranked = with_hops(found, linked)
    # The others keep their order, and nobody is lost or doubled.
    assert [part for part in ranked if part.via is None] == [p for p in found if p in ranked]
    chunks = [part.chunk_ids for part in ranked]
    assert len(set(chunks)) == len(chunks)
    assert set(chunks) == {
        *(part.chunk_ids for part in found), *((hop.excerpt.about.chunk_id,) for hop in linked)
    }  # fmt: skip
    own = {part.chunk_ids: part.score or 0.0 for part in found}
    for hop in linked:
        at = chunks.index((hop.excerpt.about.chunk_id,))
        part = ranked[at]
        if own.get(part.chunk_ids, -1.0) >= hop.score:
            assert part in found
            continue
        assert (part.score, part.text, part.via) == (hop.score, "x\ny", via)
        is_behind = bool(found) and found[0] in ranked
        before = ranked[: ranked.index(found[0]) + 1] if is_behind else []
        assert at >= len(before)
        assert all((p.score or 0.0) >= hop.score for p in ranked[len(before) : at] if not p.via)
