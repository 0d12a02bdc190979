"""Find the newer lines that correct the passages of an answer.

The newer lines come from what the search recalled, and from chunks that share words with the
passages (only `near` reads the store). Filters by date limit both, so they show what was true then.
Filters by place, such as `--path`, do not.
`language.correction` decides whether one line corrects another; this module finds the pairs. A
passage corrects a whole older document if it names it and contains a word of change, or if its
front matter names it under `supersedes`. If it names a part, as in `the decision of
[[2025-03-03]]`, it corrects only lines and sections that share a word with it or with the lines
around it; if none does, the whole document.

Lines are compared when you ask a question, and only those near the answer. A stored table of pairs
would save at most 20 to 44 % of the CPU of a warm keyword search. But each changed file makes rows
of it invalid, because the rarest words of a line decide what it is compared with.

A newer line marks an older one if it corrects that line with a likelihood of SURE, or if a question
about now has it as its newer answer (`correction.corrects_answer`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import chain, pairwise, zip_longest

from memcli.checking import TYPE_CHECKING
from memcli.language.terms import content
from memcli.language.words import index_term
from memcli.search.claims import STEM, SURE, Claim, Claims, claims_of, has_change, stems_of
from memcli.search.mmr import token_set
from memcli.search.ranked import Correction, Quotation, RankedPassage
from memcli.search.summaries import first_day, is_later
from memcli.types import About, Term, TermQuery, Where, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memcli.store.port import Snapshot
    from memcli.store.records import Key, Scope
    from memcli.types import Turn

    Turns = Mapping[int, Sequence[Turn]]  # by chunk id

POOL = 60  # candidates; a fixed number, so that --limit changes nothing
NEAR_CHUNKS = 12
LOOKED_UP = 32  # words
MOST_WORDS = 16  # used to look up newer lines
CORRECTS = "(corrects "  # begins the citation of a corrected line
_OLD_VALUE = (
    r"\([^)]*\)|\b(?:from|von|vom)\s+\S+"
    r"|(?:\b(?:no longer|instead of|nicht mehr|statt)"
    r"|,\s(?:was|not|before|formerly|previously|war|nicht|vorher|bisher|früher))"
    r"(?: [a-zäöü]+){0,2}\s+\S+"
)


def near(snapshot: Snapshot, passages: Iterable[Quotation], scope: Scope) -> list[Quotation]:
    """Look up what may correct dated passages, whatever the question was.

    Return the chunks that contain the rarest long words of the passages, and the beginnings of the
    documents whose front matter names what they replace. They may be in any place: of the filters,
    only those by date, source, scope and trust count.
    """
    scope = scope._replace(
        filters=scope.filters._replace(paths=(), kinds=(), headings=(), tags=(), where=(), by=())
    )
    dated = [each.text for each in passages if each.about.date or each.about.document_date]
    if not dated:
        return []
    longest_first = (sorted(content(text), key=lambda word: (-len(word), word)) for text in dated)
    in_turns = zip_longest(*longest_first)
    words = list(dict.fromkeys(filter(None, chain.from_iterable(in_turns))))
    terms = [Term(word) for word in words[:LOOKED_UP]]
    counts = zip(snapshot.frequencies(terms), terms, strict=True) if terms else ()
    shared = [word for _, word in sorted(each for each in counts if each[0] > 1)]
    query = TermQuery(any=tuple(shared[:MOST_WORDS]))
    like = _chunks_with(snapshot, query, NEAR_CHUNKS, scope)
    return [*like, *_superseding(snapshot, scope)]


def linking(snapshot: Snapshot, documents: Iterable[Key], scope: Scope) -> list[Quotation]:
    """Look up chunks with links, or citations of corrected lines, that name some documents."""
    names = dict.fromkeys(_name(path)[1] for _, path in documents)
    query = TermQuery(any=tuple(filter(None, map(index_term, names))))
    like = _chunks_with(snapshot, query, NEAR_CHUNKS * len(query.any), scope)
    return [each for each in like if _is_linking(each.text) or CORRECTS in each.text]


def _chunks_with(snapshot: Snapshot, query: TermQuery, limit: int, scope: Scope) -> list[Quotation]:
    chunk_ids = [each.chunk_id for each in snapshot.by_keyword(query, limit, scope)]
    chunks = snapshot.excerpts(chunk_ids) if chunk_ids else {}
    return [Quotation(each.about, each.text) for each in map(chunks.get, chunk_ids) if each]


def _superseding(snapshot: Snapshot, scope: Scope) -> Iterator[Quotation]:
    """Yield the beginning of each document whose front matter names what it replaces."""
    filters = scope.filters._replace(where=(Where("supersedes"),))
    listed = snapshot.documents(scope._replace(filters=filters))
    if not listed:
        return
    import json

    from memcli.markdown.links import related_targets

    names = {
        (each.source, each.path): related_targets(json.loads(each.front_matter), "supersedes")
        for each in listed
    }
    first = {e.about.document: e for e in reversed(snapshot.excerpts_of(sorted(names), scope))}
    for document, chunk in sorted(first.items()):
        paths = (target.partition("#")[0] for target in names[document])
        stems = (path.rpartition("/")[2].removesuffix(".md").casefold() for path in paths)
        yield Quotation(chunk.about, chunk.text, tuple(stems))


def with_corrections(passages: Sequence[RankedPassage], newer: Corrections) -> list[RankedPassage]:
    """Add to each passage the newer lines that correct it."""
    return [passage._replace(corrected_by=newer.of(lines_of(passage))) for passage in passages]


def differing(newer: Corrections, passage: RankedPassage, question: str) -> Correction | None:
    """Return the line that would correct an undated passage if that were older.

    memcli does not mark an undated line as corrected, because its age is unknown. If the line
    already has the new value, it was written later.
    """
    about = passage.about
    if about.date or about.document_date or passage.corrected_by:
        return None
    undated, words = lines_of(passage), stems_of(question)
    old = undated._replace(about=undated.about._replace(date=date.min.isoformat()))
    most = newer.most_like(undated, words)
    return next(
        (
            later[-1]
            for line, _, later in newer.by_line(old, words=words)
            if line in most and _has_other_value(later[-1].text, most[line])
        ),
        None,
    )


def _has_other_value(newer: str, older: str) -> bool:
    """Return whether an older line lacks the last number of a newer one, or else its other words.

    An old value in the newer line does not count: `from 15 to 17` or `17, no longer 15`.
    """
    new, old = (re.findall(r"[\w:.,]*\d", re.sub(_OLD_VALUE, "", each)) for each in (newer, older))
    if new and old:
        return new[-1].lstrip("0") not in {each.lstrip("0") for each in old}
    added, gone = token_set(newer) - token_set(older), token_set(older) - token_set(newer)
    return bool(gone) and any(stems_of(word) and not has_change(word) for word in added)


def corrections_of(
    snapshot: Snapshot,
    passages: Sequence[RankedPassage],
    pool: Sequence[RankedPassage],
    scope: Scope,
) -> Corrections:
    """Collect lines that may correct passages: from these, the top of a pool, and `near`."""
    quotations = list(map(lines_of, passages))
    also = near(snapshot, quotations, scope)
    return corrections(snapshot, [*also, *map(chunk_of, [*passages, *pool[:POOL]])], quotations)


def corrections(
    snapshot: Snapshot,
    pool: Sequence[Quotation],
    passages: Sequence[Quotation],
    known: Mapping[Key, Sequence[Quotation]] = {},
) -> Corrections:
    """Prepare the lines of some chunks as corrections of passages.

    Read the speakers, and all chunks of the documents that a link may replace in part, except
    `known` ones.
    """
    ids = dict.fromkeys(each.about.chunk_id for each in chain(pool, passages))
    lines = snapshot.lines_of(list(ids)) if snapshot.speakers() else {}
    links = "\n".join(each.text for each in pool if _is_linking(each.text))
    linked = {each.about.document for each in passages if _name(each.about.path)[1] in links}
    documents = {document: list(known[document]) for document in linked if document in known}
    if unread := sorted(linked - documents.keys()):
        from memcli.store.records import Scope  # few questions need it

        for chunk in snapshot.excerpts_of(unread, Scope()):
            chunks = documents.setdefault(chunk.about.document, [])
            chunks.append(Quotation(chunk.about, chunk.text))
    turns = {chunk: own.turns for chunk, own in lines.items() if own.turns}
    return Corrections(pool, turns, documents)


def _is_linking(text: str) -> bool:
    return "[[" in text or "](" in text


def _name(path: str) -> tuple[str, str]:
    """Return the file name of a document, with and without its ending."""
    name = path.rpartition("/")[2]
    return name, name.removesuffix(".md")


def chunk_of(passage: RankedPassage) -> Quotation:
    """Return the whole chunk of a passage."""
    return Quotation(passage.about, passage.candidate.text)


def lines_of(passage: RankedPassage) -> Quotation:
    """Return the lines that a passage shows."""
    return Quotation(passage.about._replace(start_line=passage.start_line), passage.text)


class Corrections:
    """The lines of some chunks that correct passages."""

    def __init__(
        self,
        pool: Iterable[Quotation],
        turns: Turns,
        documents: Mapping[Key, Sequence[Quotation]] | None = None,
    ) -> None:
        """Read the chunks whose lines may correct others; undated ones correct nothing.

        `documents` are the chunks of older documents, of which a link may replace a part.
        """
        self.turns, self._documents = turns, documents or {}
        self.question = ""  # about now: a line may correct another as its answer
        dated = [each for each in pool if each.about.date]
        self._chunks = {each.about.chunk_id: each for each in dated}
        self._linking = [c for c in dated if c.supersedes or _is_linking(c.text)]
        self._pool = [
            (chunk, claim)
            for chunk in self._chunks.values()
            for claim in self._lines(chunk, chunk.about.heading_path)
        ]
        self._claims = Claims([claim for _, claim in self._pool])
        self._explicit = [
            (cited, chunk, claim)
            for chunk in self._chunks.values()
            if CORRECTS in chunk.text
            for claim in self._lines(chunk)
            if (cited := _cited(chunk, claim))
        ]

    def above(
        self, passage: Quotation, least: Mapping[int, float], words: frozenset[str] = frozenset()
    ) -> list[Correction]:
        """Return the lines that may come before a passage, newest first, with all of each chain."""
        groups = self.by_line(passage, least, words)
        lines = (each for _, *later in groups for each in chain(*later))
        return sorted(set(lines), key=lambda each: (*_newest(each), each.chunk_id), reverse=True)

    def of(self, passage: Quotation, words: frozenset[str] = frozenset()) -> tuple[Correction, ...]:
        """Return the lines that correct lines of a passage, newest first; as in `by_line`.

        If a correction is corrected, return the end of the chain. An undated passage is corrected
        only by lines that cite it or say that its value has ended.
        """
        pairs, is_long = self.pairs(passage, words), passage.text.strip().count("\n") > 0
        of_all = {newer for line, newer in pairs if not line * is_long}
        lines = {newer._replace(line=0 if newer in of_all else line): None for line, newer in pairs}
        return tuple(sorted(lines, key=_newest, reverse=True))

    def pairs(
        self, passage: Quotation, words: frozenset[str] = frozenset()
    ) -> list[tuple[int, Correction]]:
        """Return all corrected lines of a passage, each with the end of its chain; as in `by_line`.

        A heading is left out if a line of the same file corrects the passage too.
        """
        pairs = [(line, later[-1]) for line, _, later in self.by_line(passage, words=words)]
        newer = {each for _, each in pairs}
        if len(newer) < 2:
            return pairs
        stated = {each for each in newer if not self._is_heading(each)}
        documents = {each.document for each in stated}
        return [e for e in pairs if e[1] in stated or e[1].document not in documents]

    def by_line(
        self,
        passage: Quotation,
        least: Mapping[int, float] = {},
        words: frozenset[str] = frozenset(),
    ) -> Iterator[tuple[int, Sequence[Correction], Sequence[Correction]]]:
        """Yield the corrected lines of a passage that contain enough of some words.

        Each comes with the lines that correct it and the chain of corrections from the newest one.
        Line 0 means the whole document. `least` is the likelihood that lines of some chunks need;
        the others need SURE.
        """
        about = passage.about
        if not self._pool:
            return
        lines, most = self._stated(passage, words)
        direct = list[tuple[int, list[Correction]]]()
        for claim in lines:
            shared = claim.stems & words
            if 2 * len(shared) < most:
                continue
            newer = self._correcting(about, claim.text, least)
            about_it = (each for each in newer if is_about(each.text, claim.text, words))
            direct.append(
                (about.start_line + claim.first, [*self._naming(about, claim), *about_it])
            )
        for line, corrections in (*direct, *self._rows(passage), self._revoking(passage)):
            if corrections:
                later = self._chain(max(corrections, key=_newest), about.chunk_id)
                yield line, corrections, later

    def most_like(self, passage: Quotation, words: frozenset[str]) -> dict[int, str]:
        """Return the lines of a passage with the most of some words, by their numbers."""
        lines, most = self._stated(passage, words)
        first = passage.about.start_line
        return {first + e.first: e.text for e in lines if len(e.stems & words) == most}

    def _stated(self, passage: Quotation, words: frozenset[str]) -> tuple[list[Claim], int]:
        """Return the claims of a passage, and how many of some words one has at most."""
        claims = [claim for claim in self._lines(passage) if not claim.is_heading]
        return claims, max((len(claim.stems & words) for claim in claims), default=0)

    def _rows(self, passage: Quotation) -> Iterator[tuple[int, list[Correction]]]:
        """Yield the rows of tables with the lines that cite them; no other line corrects a row."""
        for at, text in enumerate(passage.text.split("\n") if self._explicit else ()):
            if text.startswith("|"):
                row = Claim(at, at, text)
                yield passage.about.start_line + at, self._naming(passage.about, row)

    def _is_heading(self, line: Correction) -> bool:
        return any(
            claim.is_heading and claim.text.strip() == line.text
            for chunk, claim in self._pool
            if chunk.about.chunk_id == line.chunk_id
        )

    def correct_all(self, passage: Quotation) -> bool:
        """Return whether newer lines correct every line of a passage."""
        stated = [claim.text for claim in self._lines(passage) if not claim.is_heading]
        return bool(stated) and all(self._correcting(passage.about, each) for each in stated)

    def _lines(self, lines: Quotation, headings: Sequence[str] = ()) -> tuple[Claim, ...]:
        about = lines.about
        turns = self.turns.get(about.chunk_id, ())
        first = about.start_line
        speakers = tuple((t.start_line - first, t.end_line - first, t.speaker) for t in turns)
        return claims_of(lines.text, headings, speakers)

    def _chain(self, first: Correction, chunk: int) -> list[Correction]:
        """Follow a chain of corrections to its newest line."""
        lines, seen = [first], {chunk, first.chunk_id}
        while later := self._later(lines[-1]):
            newest = max(later, key=_newest)
            if newest.chunk_id in seen:
                break
            seen.add(newest.chunk_id)
            lines.append(newest)
        return lines

    def _correcting(
        self, older: About, text: str, least: Mapping[int, float] = {}
    ) -> list[Correction]:
        """List the lines that correct a line."""

        def may(place: int) -> bool:
            chunk, claim = self._pool[place]
            if older.date or older.document_date:
                return is_newer(chunk, older)
            is_trusted = chunk.about.trust == "trusted" or older.trust != "trusted"
            return is_trusted and _ends(claim.text, text)

        claims = self._claims.correcting(
            text,
            may,
            lambda place: least.get(self._pool[place][0].about.chunk_id, SURE),
            self.question,
        )
        return [_correction(*self._pool[claim]) for claim in claims]

    def _later(self, line: Correction) -> list[Correction]:
        about = self._chunks[line.chunk_id].about
        first, last = line.start_line - about.start_line, line.end_line - about.start_line
        named = self._naming(about, Claim(first, last, line.text))
        return [*named, *self._correcting(about, line.text)]

    def _naming(self, older: About, claim: Claim) -> list[Correction]:
        """List the lines that cite a line as the one they correct, or later correct the same."""
        if not self._explicit:
            return []
        first, last = older.start_line + claim.first, older.start_line + claim.last
        name, here = shown(older.source, older.path), (older.document, first)
        own = (lines for lines, chunk, newer in self._explicit if _place(chunk, newer) == here)
        of_same = next(own, None)  # what the line itself corrects
        return [
            _correction(chunk, newer)
            for lines, chunk, newer in self._explicit
            for path, start, end in (lines,)
            if (start <= last and first <= end and (name == path or name.endswith(f":{path}")))
            or (lines == of_same and _order(chunk, newer) > (older.date or "", older.path, first))
            if (chunk.about.date or "") >= (older.date or older.document_date or "")
            if _place(chunk, newer) != here
        ]

    def _revoking(self, passage: Quotation) -> tuple[int, list[Correction]]:
        """Return the line that a link takes back, 0 for all, and the line with the link, if any."""
        from memcli.language.change import revokes

        older = passage.about
        name, stem = _name(older.path)
        for chunk in self._linking:
            is_named = stem.casefold() in chunk.supersedes
            if not (is_named or stem in chunk.text) or chunk.about.document == older.document:
                continue
            at = (0, False) if is_named else revokes(chunk.text, name)
            if at is not None and is_newer(chunk, older):
                number, is_part = at
                claim = Claim(number, number, chunk.text.split("\n")[number])
                line = self._about_part(passage, chunk, number) if is_part else 0
                if line is not None:
                    return line, [_correction(chunk, claim)]
        return 0, []

    def _about_part(self, passage: Quotation, newer: Quotation, number: int) -> int | None:
        """Return the first line about what a line of a newer text replaces, 0 if all are.

        None means that only other chunks of the document are about it. If none is about it or
        about the lines around it, the whole document is replaced: 0.
        """
        lines = newer.text.split("\n")
        first = next((at + 1 for at in range(number, -1, -1) if not lines[at].strip()), 0)
        last = next((at for at in range(number, len(lines)) if not lines[at].strip()), len(lines))
        document = (passage, *self._documents.get(passage.about.document, ()))
        for texts in ((lines[number], *newer.about.heading_path), lines[first:last]):
            if any(any(self._about(each, texts).values()) for each in document):
                matches = self._about(passage, texts)
                stated = next((line for line, match in matches.items() if match), None)
                return 0 if matches and all(matches.values()) else stated
        return 0

    def _about(self, older: Quotation, texts: Sequence[str]) -> dict[int, bool]:
        """Return for each line whether it or the heading above shares a word with some texts."""
        from memcli.language.compared_line import is_thing, read_line

        words = [term for each in texts for term in read_line(each).content if is_thing(term)]

        def is_about(text: str) -> bool:
            return any(map(read_line(text).has, words))

        is_below = is_about("".join(older.about.heading_path[-1:]))
        matches = dict[int, bool]()
        for claim in self._lines(older):
            if claim.is_heading:
                is_below = is_about(claim.text)
            else:
                matches[older.about.start_line + claim.first] = is_below or is_about(claim.text)
        return matches


def _ends(newer: str, undated: str) -> bool:
    """Return whether a line says that a value of an undated line has ended: `68 instead of 62`."""
    if not (ended := set(_ended(newer))):  # most lines
        return False
    values = ended.intersection(map(_bare, undated.split())).difference(_ended(undated))
    return not all(map(str.islower, values))


def _ended(text: str) -> Iterator[str]:
    """Yield the words that may be a value which a line says has ended."""
    words = [*map(_bare, text.split()), "", "", "", ""]
    for at, (one, other) in enumerate(pairwise(words[:-4])):
        pair = f"{one} {other}".casefold()
        if pair in ("instead of", "no longer", "nicht mehr"):
            yield from words[at + 2 : at + 5]
        elif one.casefold() == "statt":
            yield from words[at + 1 : at + 4]
        elif one.casefold() in ("from", "von") and words[at + 2] in ("to", "auf", "nach"):
            yield other


def _bare(word: str) -> str:
    return word.strip(".,;:!?()`*")


def is_about(newer: str, older: str, words: frozenset[str], *, is_same: bool = False) -> bool:
    """Return whether a newer line is about what a question shares with an older one.

    A question with a number is not about another: `pipeline 6`. If the newer line lacks other words
    of the question, it must contain another thing or number of the older line, have a likelihood
    of SURE, or be about the same by other evidence (`is_same`).
    """
    from memcli.language.compared_line import is_name, is_thing, read_line
    from memcli.language.correction import likelihood
    from memcli.language.evidence import HAN_GRAMMAR

    new, old = read_line(newer), read_line(older)
    missing, known = [], False
    for term in old.content:
        is_shared = new.has(term)
        if term[:STEM] not in words:
            is_known = is_name(term) or term.strip("0").isdigit()
            known = known or (is_shared and is_known)
        elif not is_shared and (is_thing(term) or not term.isalpha()) and not HAN_GRAMMAR & {*term}:
            missing.append(term)
    is_same = is_same or known or not missing or likelihood(newer, older) > SURE
    return is_same and all(map(str.isalpha, missing))


def _newest(line: Correction) -> tuple[str, int]:
    return line.date, line.start_line


def _order(chunk: Quotation, claim: Claim) -> tuple[str, str, int]:
    """Return what orders lines by age: the date, and in a file the line."""
    return chunk.about.date or "", chunk.about.path, chunk.about.start_line + claim.first


def _cited(chunk: Quotation, claim: Claim) -> tuple[str, int, int] | None:
    """Return the lines that a line corrects, if its author (owner or agent) may state that."""
    from memcli.markdown.links import corrected_lines

    may_say = chunk.about.trust == "trusted" or chunk.about.source_kind == "agent"
    return corrected_lines(claim.text) if may_say else None


def _place(chunk: Quotation, claim: Claim) -> tuple[Key, int]:
    """Return the document and the first line of a claim."""
    return chunk.about.document, chunk.about.start_line + claim.first


def _correction(chunk: Quotation, claim: Claim) -> Correction:
    """Describe a line that corrects another; a line of a summary is cited where its log has it."""
    about, text = chunk.about, claim.text.strip()
    first, last = about.start_line + claim.first, about.start_line + claim.last
    newer = Correction(
        about.chunk_id, about.source, about.path, first, last, about.date or "", text
    )  # fmt: skip
    if not about.is_summary or claim.is_heading:
        return newer
    from memcli.markdown.lineage import cited_lines

    for number, cite in cited_lines(chunk.text, about.heading_path):
        if claim.first < number <= claim.last + 1:
            return newer._replace(
                path=cite.path, start_line=cite.first, end_line=cite.last,
                date=first_day(cite.path) or newer.date, text=cite.text,
            )  # fmt: skip
    return newer


def is_newer(newer: Quotation, older: About) -> bool:
    """Return whether a passage has a later date than another, and may correct it."""
    about, theirs = newer.about, older.date or older.document_date
    if about.trust != "trusted" and older.trust == "trusted":
        return False
    if about.is_summary:
        return is_later(newer, older)
    if about.date is None or theirs is None:
        return False
    return theirs < (about.first_day or min(about.date, about.document_date or about.date))
