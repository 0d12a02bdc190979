"""Links that lead nowhere, and those by which a newer note corrects an older one; pure.

A link may name a file, relative to its own or to the root of its source, or as `[[wiki links]]` do
a title, a file name or an alias. So a link is judged when every document has been seen. What leads
out of all sources is not judged, nor what no file could be named: a variable, a pattern.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import accumulate

from memcli.context.hops import Link, candidates, name
from memcli.language.change import revokes_link
from memcli.language.salience import DECISION, RULE, why_kept
from memcli.lint.findings import BROKEN_LINK, CONTRADICTION, Finding, Location
from memcli.lint.inspected import Inspected
from memcli.markdown.comments import visible
from memcli.markdown.links import link_targets, related_targets
from memcli.record import Record
from memcli.workspace.globs import composed
from memcli.workspace.ignore import is_markdown

DocumentName = tuple[str, str]  # (source, path)
_CODE = re.compile(r"(?<!`)`{1,3}(?!`)[^`\n]{1,500}+`{1,3}")
# Variables, patterns, examples (path/to/file), what a generator of sites puts a text in place of,
# and how agents address a reply: [[reply_to_current]], [[reply_to: 12]], [[audio_as_voice]].
_NO_NAME = re.compile(
    r"[{}$<>*\\\"'=|]|\.\.\.|^@|^_?toc_?$|^reply_to(?:_current$|\s*:)|^audio_as_voice$"
    r"|(?<![a-z])(?:path[_/-]to|your)[_/-]",
    re.IGNORECASE,
)
# Numbers of footnotes, and days: a link to one may well stand before its log is written.
_NUMBER = re.compile(r"[\s\d.-]*")
_DECIDED = (DECISION, RULE)
FEWEST_LOST = 4  # links into a folder that is not there, which are one finding
_PAGE = ".html"  # which a generator makes of a document
_INDEXES = ("index.md", "README.md", "_index.md")  # of a folder that a link names


class AuthoredLink(Record):
    """A link, where it stands, and the line around it."""

    link: Link
    at: Location
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
        self._documents = {(source, _folded(path)): path for source, path in documents}
        self._dates: dict[DocumentName, str] = {}
        self._decisions: dict[DocumentName, Location] = {}  # the first of each, or its first line
        self._names: set[str] = set()
        self._folders: set[DocumentName] = set()
        for source, path in documents:
            self._folders |= {(source, f) for f in accumulate(path.split("/")[:-1], posixpath.join)}
            stem = _folded(path.rpartition(".")[0])
            self._names |= {stem, stem.rpartition("/")[2]}
        # What no path is, or what may correct an older document.
        self._kept: list[tuple[AuthoredLink, DocumentName | None]] = []

    def take(self, document: Inspected) -> None:
        """Keep the links of a document that are to be judged."""
        if document.date:
            name = document.source, document.path
            self._dates[name] = document.date
            for saying in document.sayings:
                if why_kept(saying.text) in _DECIDED:
                    self._decisions.setdefault(name, saying.at)
        self._names |= set(_names_of(document))
        if document.is_summary:
            return
        for told in _links(document):
            target = self._target(told.link)
            if target is None or (told.date and revokes_link(told.line, told.link.target)):
                self._kept.append((told, target))

    def findings(self) -> Iterator[Finding]:
        """Judge them."""
        lost: defaultdict[str | None, list[AuthoredLink]] = defaultdict(list)
        for told, target in self._kept:
            if target is None:
                if not self._is_known(told.link):
                    lost[self._lost_folder(told.link)].append(told)
                continue
            older = self._dates.get(target)
            if older and told.date and older < told.date:
                spot = self._decisions.get(target, Location(*target, 1, 1))
                yield Finding(CONTRADICTION, spot, "a newer note corrects it", (told.at,))
        for folder, links in lost.items():
            if folder and len(links) >= FEWEST_LOST:
                what = f"the folder {folder} is not there, which {len(links)} links lead into"
                others = tuple(told.at for told in links[1:])
                yield Finding(BROKEN_LINK, links[0].at, what, others)
            else:
                for told in links:
                    yield Finding(BROKEN_LINK, told.at, f"{told.link.target} is not there")

    def _lost_folder(self, link: Link) -> str | None:
        """Give the outermost folder that is missing on the way to what a link names."""
        source, path = candidates(link, self._roots)[0]
        for folder in accumulate(path.split("/")[:-1], posixpath.join):
            if (source, folder) not in self._folders and not self._exists(source, folder):
                return folder
        return None

    def _target(self, link: Link) -> DocumentName | None:
        """Find the document or file that a link names by its path; None where there is none."""
        for source, path in candidates(link, self._roots):
            pages = (f"{path.removesuffix(_PAGE)}{each}" for each in (".md", "/README.md"))
            below = (posixpath.join(path, index) for index in _INDEXES)
            for each in (path, *below, *(pages if path.endswith(_PAGE) else ())):
                if (found := self._documents.get((source, _folded(each)))) is not None:
                    return source, found
            if self._exists(source, path):
                return source, path
        return None

    def _is_known(self, link: Link) -> bool:
        if _NUMBER.fullmatch(link.target) or self._is_outside(link):
            return True
        wanted = _folded(name(link))
        return wanted in self._names or wanted.rpartition(".md")[0] in self._names

    def _is_outside(self, link: Link) -> bool:
        """Tell that it leads out of all sources, or that it is a route of a site."""
        if link.target.startswith("/") and not is_markdown(name(link)):
            return True
        return not candidates(link, self._roots)


def _folded(text: str) -> str:
    """Write names alike that a file system may take for one: by case, and by their accents."""
    return composed(text).casefold()


def _names_of(document: Inspected) -> Iterator[str]:
    """Give the names that a wiki link may call a document by besides that of its file."""
    metadata = document.metadata
    for key in ("title", "name", "aliases", "alias", "id"):
        value = metadata.get(key)
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, str):
                yield _folded(each.strip())
    heading = next((b.title for b in document.blocks if b.kind == "heading"), "")
    if heading:
        yield _folded(heading)


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
    spot = Location(document.source, document.path, number, number)
    link = Link(document.source, document.path, target, 0.0, spot.citation)
    return AuthoredLink(link, spot, document.lines[number - 1], document.date)
