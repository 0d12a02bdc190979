"""Read what a user names: a document, a citation, `path#heading` or a record ref.

Every printed name can be read back (`types.shown`, `types.cite`, `About.ref`, `workspace.names`). A
name that begins with a source and a colon belongs to that source. A name that begins with `./` or
`../` is a path from the current folder. Any other name belongs to the workspace; only if the
workspace has no such document may it be a path from here, or a document of another source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from memcli.checking import TYPE_CHECKING, Any
from memcli.errors import NotFoundError, quote
from memcli.record import Record
from memcli.types import MEMORY_SOURCE, Excerpt, FileText, Skip, cite, shown, split_name

if TYPE_CHECKING:
    from memcli.indexing.planning import Settings
    from memcli.store.port import Store
    from memcli.store.union import UnionStore

# `a.md:3-9`, several places as in `a.md:3,7-9`, and the forms of other programs: `a.md#L3-L9`.
_RUN = "[0-9]{1,9}(?:-L?[0-9]{1,9})?"
_LINES = re.compile(rf"(?P<path>.+)(?::L?|#L)(?P<lines>{_RUN}(?:, ?{_RUN})*)", re.DOTALL)
MOST_BEFORE = 20  # documents among which memcli looks for the newest log before some days
_AROUND = " \t\r\n`[]()<>\"'"  # characters that text may have around a citation


class Target(Record):
    """The document, lines or heading that a target names."""

    source: str
    path: str
    anchor: str | None = None
    first: int | None = None
    last: int | None = None

    @property
    def document(self) -> tuple[str, str]:
        """Return source and path of the document."""
        return self.source, self.path

    @property
    def name(self) -> str:
        """Return the printed name of the document."""
        return shown(*self.document)

    @property
    def text(self) -> str:
        """Write the target so that it can be read back."""
        if self.anchor is not None:
            return f"{self.source}:{self.path}#{self.anchor}"
        if self.first is None or self.last is None:
            return self.name
        return cite(self.source, self.path, self.first, self.last)


def resolve(target: str, settings: Settings, here: str | None = None) -> Target:
    """Find the document of a target; NotFoundError if no source would index it.

    Relative paths start at `here`; without it they start at the workspace, or are absolute.
    """
    roots = {source.name: source.root for source in settings.sources}

    def from_here(name: str) -> list[tuple[str, str]]:
        from memcli.workspace.names import documents_at

        return documents_at(here, name, roots)

    return listed(target, _readings(target, roots, from_here), settings)


def listed(target: str, readings: list[Target], settings: Settings) -> Target:
    """Return the first reading that is a document; NotFoundError as from `resolve`."""
    from memcli.indexing.planning import listing_of

    listing = listing_of(settings)
    known = {(file.source, file.path) for file in listing.files}
    skipped = {(skip.source, skip.path): skip for skip in listing.skips}
    if document := _first_known(readings, known):
        return document
    for reading in readings:
        if reading.document in skipped:
            skip = skipped[reading.document]
            from memcli.indexing.notices import skipped as message_of

            why = f"{skip.reason} ({skip.detail})" if skip.detail else skip.reason
            hint = message_of(skip).hint or "memcli ls"
            raise NotFoundError(f"{reading.name} is not a document: {why}", hint=hint)
    if listing.unlisted:
        hidden = listing.unlisted[0]
        folder = shown(hidden.source, hidden.path or ".")
        raise NotFoundError(
            f"{target} was not found, and {folder} cannot be listed: {hidden.detail}",
            hint="memcli ls",
        )
    if folder := _folder(readings, known):
        raise NotFoundError(
            f"{folder} is a folder, not a document", hint=f"memcli ls {quote(folder)}"
        )
    name = target or "without a name"
    raise NotFoundError(f"there is no document {name}", hint=_nearest(target, readings, known))


def _folder(readings: list[Target], known: Collection[tuple[str, str]]) -> str:
    """Return the first reading that is a folder with documents, as for `ls`; "" if none is."""
    for reading in readings:
        path = reading.path.rstrip("/")
        if path and any(s == reading.source and p.startswith(f"{path}/") for s, p in known):
            return shown(reading.source, path)
    return ""


def _first_known(readings: list[Target], known: Collection[tuple[str, str]]) -> Target | None:
    """Find a document by its name, by another form of it, or by a file name that only one has.

    A keyboard writes one character where some file systems and programs store two, and a terminal
    shows a line end or an escape character as a sign. A summary and a link name a file without its
    folder and its suffix.
    """
    for reading in readings:
        if reading.document in known:
            return reading
    from unicodedata import normalize

    from memcli.render.sanitize import visible_line

    def form(path: str) -> str:
        return normalize("NFC", visible_line(path))

    forms: dict[tuple[str, str], list[str]] = {}
    for source, path in known:
        name = path.rpartition("/")[2]
        for each in {path, name, name.removesuffix(".md")}:
            forms.setdefault((source, form(each)), []).append(path)
    for reading in readings:
        matches = forms.get((reading.source, form(reading.path)), [])
        if len(matches) == 1:
            return reading._replace(path=matches[0])
    return None


def _readings(
    target: str,
    sources: Collection[str],
    from_here: Callable[[str], Sequence[tuple[str, str]]] = lambda name: (),
) -> list[Target]:
    """List what a target may mean: a whole name, one with lines, one with an anchor.

    The name of a document ends in a Markdown suffix; lines or an anchor follow it. A bare path
    belongs to the workspace, or else starts here, or else belongs to the first other source that
    has it. Characters around a citation are first read as part of the name, then left out.
    """
    written = dict.fromkeys((target, bare(target)))
    return [each for name in written for each in _readings_as_written(name, sources, from_here)]


def bare(target: str) -> str:
    """Remove what text has around a citation, also the rest of a link."""
    return target.rpartition("](")[2].strip(_AROUND) or target


def _readings_as_written(
    target: str, sources: Collection[str], from_here: Callable[[str], Sequence[tuple[str, str]]]
) -> list[Target]:
    source, rest = split_name(target, sources)
    if not rest.strip("-0123456789"):  # lines of a document whose name is like that of a source
        source, rest = MEMORY_SOURCE, target
    path = rest.removeprefix("./")
    named = _forms(source, path)
    if rest != target:  # the name has a source
        return named
    here = [
        [form._replace(source=at[0], path=at[1]) for at in from_here(form.path)] for form in named
    ]
    if path != rest:
        return [
            each for form, readings in zip(named, here, strict=True) for each in (*readings, form)
        ]
    others = [name for name in sources if name != source]
    return [
        *(each for form, readings in zip(named, here, strict=True) for each in (form, *readings)),
        *(each._replace(source=name) for name in others for each in named),
    ]


def _forms(source: str, path: str) -> list[Target]:
    """Read a path as a whole name, and perhaps as a name with lines or an anchor."""
    forms = [Target(source, path)]
    lines = _LINES.fullmatch(path)
    if lines:
        numbers = [int(each) for each in re.findall("[0-9]+", lines["lines"])]
        if "," in lines["lines"]:  # from the first to the last of them
            numbers.sort()
        forms.append(Target(source, lines["path"], None, numbers[0], numbers[-1]))
    head, sign, anchor = path.rpartition("#")
    if sign:
        forms.append(Target(source, head, anchor))
    return forms


def _nearest(target: str, readings: list[Target], known: Collection[tuple[str, str]]) -> str:
    """Return a command that prints this path of another source, or the most similar document."""
    from memcli.config.keys import similar

    def stem(path: str) -> str:  # folders and suffixes make every name similar
        return path.rpartition("/")[2].removesuffix(".md")

    documents = sorted(known)
    near = [
        reading._replace(source=source).text
        for reading in readings
        for source, path in documents
        if path == reading.path
    ]
    stems = {stem(path) for _, path in known}
    own = stem(readings[-1].path)
    full = re.sub(r"\b\d\b", r"0\g<0>", own)  # 2026-8-3 is 2026-08-03
    if not near and (name := full if full in stems else similar(own, stems)):
        names = [shown(*document) for document in documents if stem(document[1]) == name]
        near = [similar(target, names) or names[0]]
    return f"memcli get {quote(near[0])}" if near else "memcli ls"


def read(target: Target, settings: Settings) -> FileText:
    """Read the document; NotFoundError if it cannot be read."""
    from memcli.indexing import planning

    file = planning.read(settings, *target.document)
    if isinstance(file, Skip):
        raise NotFoundError(
            f"{target.name} cannot be read: {file.detail or file.reason}", hint="memcli ls"
        )
    return file


def lines_of(target: Target, file: FileText, settings: Settings) -> tuple[int, int]:
    """Return the first and last line of a target, from 1; the whole file if it names none."""
    if target.anchor is not None:
        return _anchor_lines(target, file, settings)
    lines = file.text.removesuffix("\n").count("\n") + 1
    first = 1 if target.first is None else target.first
    if not 1 <= first <= max(1, lines):
        raise beyond(target.name, first, lines)
    return first, lines if target.last is None else target.last


def beyond(name: str, line: int, lines: int) -> NotFoundError:
    """Return the error for lines after the end of a document."""
    has = "1 line" if lines == 1 else f"{lines} lines"
    text = f"{name} has {has}, and no line {line}" if line else "line numbers start at 1"
    return NotFoundError(text, hint=f"memcli get {quote(name)}")


def _anchor_lines(target: Target, file: FileText, settings: Settings) -> tuple[int, int]:
    """Find a chunk by its anchor, or everything below a heading by its name."""
    from memcli.indexing.planning import make_document

    document = make_document(settings, file)
    if isinstance(document, Skip):
        raise NotFoundError(
            f"{target.name} has no headings to find: it is {document.reason} ({document.detail})",
            hint=f"memcli get {quote(target.name)}",
        )
    anchor = target.anchor or ""
    exact = [chunk for chunk in document.chunks if chunk.anchor == anchor]
    below = [
        chunk
        for chunk in document.chunks
        if any(name.casefold() == anchor.casefold() for name in chunk.heading_path)
    ]
    chunks = exact or below
    if not chunks:
        raise NotFoundError(
            f"{target.name} has no heading or anchor {anchor!r}",
            hint=f"memcli get {quote(target.name)}",
        )
    return chunks[0].start_line, chunks[-1].end_line


def stored_document(store: Store, target: str) -> tuple[Target, FileText]:
    """Find a stored document, and rebuild its text from the stored chunks.

    Lines outside chunks, such as front matter, are empty.
    """
    import json

    from memcli.store.records import Scope

    with store.snapshot() as snapshot:
        readings = _readings(target, json.loads(snapshot.facts.sources or "{}"))
        chunks = snapshot.excerpts_of([each.document for each in readings], Scope())
        stored = {(chunk.about.source, chunk.about.path) for chunk in chunks}
        document = next((each for each in readings if each.document in stored), None)
        if document is None:  # a document without text, another spelling, or no document
            known = snapshot.known()
            readings = _readings(target, sorted({source for source, _ in known}))
            document = _first_known(readings, known)
            if document is None:
                hint = _nearest(target, readings, known)
                raise NotFoundError(f"there is no document {target}", hint=hint)
            chunks = snapshot.excerpts_of([document.document], Scope())
    return document, _text_of(document.document, chunks)


def stored_logs(
    store: Store | UnionStore, first: str, last: str
) -> Iterator[tuple[tuple[str, str], Mapping[str, Any], FileText]]:
    """Yield the dated documents of some days with their front matter and stored text.

    If there are none, yield the newest ones before, without their text.
    """
    import json

    from memcli.store.records import First, Scope
    from memcli.types import Filters

    with store.snapshot() as snapshot:
        of_days = Scope(Filters(since=first, until=last))
        listed = snapshot.documents(of_days)
        chunks: dict[tuple[str, str], list[Excerpt]] = {}
        for chunk in snapshot.excerpts_of([(each.source, each.path) for each in listed], Scope()):
            chunks.setdefault(chunk.about.document, []).append(chunk)
        if not listed:
            before = Scope(Filters(until=last))
            listed = snapshot.documents(before, First(MOST_BEFORE, "newest"))
        for each in listed:
            key = each.source, each.path
            yield key, json.loads(each.front_matter), _text_of(key, chunks.get(key, ()))


def is_stored_as_private(store: Store, file: FileText) -> bool:
    """Return whether a document, or a source of a summary, is private to its workspace."""
    from memcli.store.documents import with_chunks
    from memcli.store.qualified_names import resting_on
    from memcli.store.records import Scope
    from memcli.types import PRIVATE, Filters, is_memory

    source, path = file.stat.source, file.stat.path
    with store.snapshot() as snapshot:
        documents = with_chunks(snapshot.documents(Scope(Filters(scopes=(PRIVATE,)))))
        if any((each.source, each.path) == (source, path) for each in documents):
            return True
        logs = (each.path for each in documents if is_memory(each.source))
        return is_memory(source) and path in resting_on(logs, snapshot.supports())


def _text_of(key: tuple[str, str], chunks: Sequence[Excerpt]) -> FileText:
    from memcli.types import FileStat

    lines: dict[int, str] = {}
    for chunk in chunks:
        if chunk.about.document == key:
            first = chunk.about.start_line
            lines |= dict(enumerate(chunk.text.split("\n"), start=first))
    text = "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))
    return FileText(FileStat(*key, 0, 0, 0, 0), b"", text, damaged=False)
