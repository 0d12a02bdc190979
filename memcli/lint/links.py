"""Links that lead nowhere, and those by which a newer note corrects an older one; pure.

A link may name a file, relative to its own or to the root of its source, or as `[[wiki links]]` do
a title, a file name or an alias. So a link is judged when every document has been seen. What leads
out of all sources is not judged, nor what no file could be named: a variable, a pattern.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping

from memcli.context.hops import Link, candidates, name
from memcli.lint.findings import BROKEN_LINK, CONTRADICTION, Finding, FoundAt
from memcli.lint.inspected import Inspected
from memcli.markdown.comments import visible
from memcli.markdown.links import link_targets, related_targets
from memcli.record import Record
from memcli.search.newer import speaks_of_change
from memcli.workspace.ignore import is_markdown

DocumentName = tuple[str, str]  # (source, path)
_CODE = re.compile(r"(?<!`)`{1,3}(?!`)[^`\n]{1,500}+`{1,3}")
# Variables, patterns, numbers of footnotes, and what a generator of sites puts a text in place of.
_NO_NAME = re.compile(r"[{}$<>*\\\"'=|]|\.\.\.|^[\s\d.-]*$|^@|^_?toc_?$", re.IGNORECASE)
_PAGE = ".html"  # which a generator makes of a document
_INDEXES = ("index.md", "README.md", "_index.md")  # of a folder that a link names


class AuthoredLink(Record):
    """A link, where it stands, and the line around it."""

    link: Link
    at: FoundAt
    line: str
    date: str | None  # of the document


class Links:
    """Takes in one document after the other, and judges all links at the end."""

    def __init__(
        self,
        roots: Mapping[str, str],
        documents: Collection[DocumentName],
        exists: Callable[[str, str], bool],
    ) -> None:
        """Take the roots of the sources, what is listed, and what tells that another file is there.

        `exists` is asked for (source, path) inside a source alone.
        """
        self._roots, self._exists = roots, exists
        self._documents = {(source, path.casefold()): path for source, path in documents}
        self._dates: dict[DocumentName, str] = {}
        self._names: set[str] = set()
        for _, path in documents:
            stem = path.rpartition(".")[0].casefold()
            self._names |= {stem, stem.rpartition("/")[2]}
        # What no path is, or what may correct an older document.
        self._kept: list[tuple[AuthoredLink, DocumentName | None]] = []

    def take(self, document: Inspected) -> None:
        """Keep the links of a document that are to be judged."""
        if document.date:
            self._dates[document.source, document.path] = document.date
        self._names |= set(_names_of(document))
        if document.is_summary:
            return
        for told in _links(document):
            target = self._target(told.link)
            if target is None or (told.date and speaks_of_change(told.line)):
                self._kept.append((told, target))

    def findings(self) -> Iterator[Finding]:
        """Judge them."""
        for told, target in self._kept:
            if target is None:
                if not self._is_name(told.link) and not self._is_outside(told.link):
                    yield Finding(BROKEN_LINK, told.at, f"{told.link.target} is not there")
                continue
            older = self._dates.get(target)
            if older and told.date and older < told.date:
                spot = FoundAt(*target)
                yield Finding(CONTRADICTION, spot, "a newer note corrects it", (told.at,))

    def _target(self, link: Link) -> DocumentName | None:
        """Find the document or file that a link names by its path; None where there is none."""
        for source, path in candidates(link, self._roots):
            pages = (f"{path.removesuffix(_PAGE)}{each}" for each in (".md", "/README.md"))
            below = (posixpath.join(path, index) for index in _INDEXES)
            for each in (path, *below, *(pages if path.endswith(_PAGE) else ())):
                if (found := self._documents.get((source, each.casefold()))) is not None:
                    return source, found
            if self._exists(source, path):
                return source, path
        return None

    def _is_name(self, link: Link) -> bool:
        wanted = name(link).casefold()
        return wanted in self._names or wanted.rpartition(".md")[0] in self._names

    def _is_outside(self, link: Link) -> bool:
        """Tell that it leads out of all sources, or that it is a route of a site."""
        if link.target.startswith("/") and not is_markdown(name(link)):
            return True
        return not candidates(link, self._roots)


def _names_of(document: Inspected) -> Iterator[str]:
    """Give the names that a wiki link may call a document by besides that of its file."""
    metadata = document.metadata
    for key in ("title", "name", "aliases", "alias", "id"):
        value = metadata.get(key)
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, str):
                yield each.strip().casefold()
    heading = next((b.title for b in document.blocks if b.kind == "heading"), "")
    if heading:
        yield heading.casefold()


def _links(document: Inspected) -> Iterator[AuthoredLink]:
    for target in related_targets(document.metadata):
        lines = enumerate(document.lines, start=1)
        number = next((at for at, line in lines if target in line), 1)
        yield _told(document, target, number)
    for block in document.blocks:
        if block.kind in ("fence", "html"):
            continue
        for number in range(block.start, block.end):
            line = document.lines[number]
            if number in document.code:
                continue
            if "](" not in line and "[[" not in line:
                continue
            for target in link_targets(_CODE.sub(" ", visible(line))):
                if not _NO_NAME.search(target):
                    yield _told(document, target, number + 1)


def _told(document: Inspected, target: str, number: int) -> AuthoredLink:
    spot = FoundAt(document.source, document.path, number, number)
    link = Link(document.source, document.path, target, 0.0, spot.citation)
    return AuthoredLink(link, spot, document.lines[number - 1], document.date)
