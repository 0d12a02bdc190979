"""Find broken links, and links with which a newer note corrects an older one; pure.

A link names a file, relative to its own folder or to the root of its source. A `[[wiki link]]` may
also name a title or an alias, so links are checked when all documents are known. memcli ignores
links to places outside all sources, and text that cannot be a file name (a variable, a pattern).
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import accumulate

from memcli.context.hops import Link, candidates, name
from memcli.language.change import revokes_link
from memcli.language.salience import DECISION, RULE, keep_reason
from memcli.lint.document import LintDocument
from memcli.lint.findings import BROKEN_LINK, CONTRADICTION, Finding, Location
from memcli.markdown.comments import visible
from memcli.markdown.links import link_targets, related_targets
from memcli.record import Record
from memcli.workspace.globs import composed
from memcli.workspace.ignore import is_markdown

DocumentName = tuple[str, str]  # (source, path)
_CODE = re.compile(r"(?<!`)`{1,3}(?!`)[^`\n]{1,500}+`{1,3}")
# Variables, patterns, examples (path/to/file), placeholders of site generators, and the way in
# which agents address a reply: [[reply_to_current]], [[reply_to: 12]], [[audio_as_voice]].
_NO_NAME = re.compile(
    r"[{}$<>*\\\"'=|]|\.\.\.|^@|^_?toc_?$|^reply_to(?:_current$|\s*:)|^audio_as_voice$"
    r"|(?<![a-z])(?:path[_/-]to|your)[_/-]",
    re.IGNORECASE,
)
# Footnote numbers, and days: people link to a day before its log exists.
_NUMBER = re.compile(r"[\s\d.-]*")
_DECIDED = (DECISION, RULE)
FEWEST_LOST = 4  # so many links into one missing folder are one finding
_PAGE = ".html"  # a site generator makes this from a document
_INDEXES = ("index.md", "README.md", "_index.md")  # the documents that a link to a folder means


class AuthoredLink(Record):
    """A link, its place, and its line."""

    link: Link
    at: Location
    line: str
    date: str | None  # of the document


class Links:
    """Collects the links of all documents, and checks them at the end."""

    def __init__(
        self,
        roots: Mapping[str, str],
        documents: Collection[DocumentName],
        exists: Callable[[str, str], bool],
    ) -> None:
        """Take the roots of the sources by name, and all documents.

        `exists(source, path)` returns whether a source contains another file or folder.
        """
        self._roots, self._exists = roots, exists
        self._documents = {(source, _folded(path)): path for source, path in documents}
        self._dates: dict[DocumentName, str] = {}
        self._decisions: dict[DocumentName, Location] = {}  # the first decision of each document
        self._names: set[str] = set()
        self._folders: set[DocumentName] = set()
        for source, path in documents:
            self._folders |= {(source, f) for f in accumulate(path.split("/")[:-1], posixpath.join)}
            stem = _folded(path.rpartition(".")[0])
            self._names |= {stem, stem.rpartition("/")[2]}
        # Links without a target, and links that may correct an older document.
        self._links: list[tuple[AuthoredLink, DocumentName | None]] = []

    def take(self, document: LintDocument) -> None:
        """Collect the links of a document."""
        if document.date:
            name = document.source, document.path
            self._dates[name] = document.date
            for statement in document.statements:
                if keep_reason(statement.text) in _DECIDED:
                    self._decisions.setdefault(name, statement.at)
        self._names |= set(_names_of(document))
        if document.is_summary:
            return
        for link in _links(document):
            target = self._target(link.link)
            if target is None or (link.date and revokes_link(link.line, link.link.target)):
                self._links.append((link, target))

    def findings(self) -> Iterator[Finding]:
        """Yield the findings."""
        lost: defaultdict[str | None, list[AuthoredLink]] = defaultdict(list)
        for link, target in self._links:
            if target is None:
                if not self._is_known(link.link):
                    lost[self._lost_folder(link.link)].append(link)
                continue
            older = self._dates.get(target)
            if older and link.date and older < link.date:
                spot = self._decisions.get(target, Location(*target, 1, 1))
                yield Finding(CONTRADICTION, spot, "a newer note corrects it", (link.at,))
        for folder, links in lost.items():
            if folder and len(links) >= FEWEST_LOST:
                what = f"the folder {folder} does not exist, but {len(links)} links lead into it"
                others = tuple(link.at for link in links[1:])
                yield Finding(BROKEN_LINK, links[0].at, what, others)
            else:
                for link in links:
                    yield Finding(BROKEN_LINK, link.at, f"{link.link.target} does not exist")

    def _lost_folder(self, link: Link) -> str | None:
        """Return the outermost missing folder in the path of a link."""
        source, path = candidates(link, self._roots)[0]
        for folder in accumulate(path.split("/")[:-1], posixpath.join):
            if (source, folder) not in self._folders and not self._exists(source, folder):
                return folder
        return None

    def _target(self, link: Link) -> DocumentName | None:
        """Return the document or file that a link names by its path, or None."""
        for source, path in candidates(link, self._roots):
            pages = (f"{path.removesuffix(_PAGE)}{each}" for each in (".md", "/README.md"))
            below = (posixpath.join(path, index) for index in _INDEXES)
            for each in (path, *below, *(pages if path.endswith(_PAGE) else ())):
                if (target := self._documents.get((source, _folded(each)))) is not None:
                    return source, target
            if self._exists(source, path):
                return source, path
        return None

    def _is_known(self, link: Link) -> bool:
        """Return whether it names a document, no file, or something outside of all sources."""
        is_route = link.target.startswith("/") and not is_markdown(name(link))  # of a web site
        if is_route or _NUMBER.fullmatch(link.target) or not candidates(link, self._roots):
            return True
        key = _folded(name(link))
        return key in self._names or key.rpartition(".md")[0] in self._names


def _folded(text: str) -> str:
    """Return a name without the differences in case and accents that file systems ignore."""
    return composed(text).casefold()


def _names_of(document: LintDocument) -> Iterator[str]:
    """Yield the names by which a wiki link may call a document, except its file name."""
    metadata = document.metadata
    for key in ("title", "name", "aliases", "alias", "id"):
        value = metadata.get(key)
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, str):
                yield _folded(each.strip())
    heading = next((b.title for b in document.blocks if b.kind == "heading"), "")
    if heading:
        yield _folded(heading)


def _links(document: LintDocument) -> Iterator[AuthoredLink]:
    for target in related_targets(document.metadata):
        lines = enumerate(document.lines, start=1)
        number = next((at for at, line in lines if target in line), 1)
        yield _authored(document, target, number)
    for block in document.blocks:
        if block.kind in ("fence", "html"):
            continue
        for number in range(block.start, block.end):
            line = document.lines[number]
            if number in document.code or ("](" not in line and "[[" not in line):
                continue
            for target in link_targets(_CODE.sub(" ", visible(line))):
                if not _NO_NAME.search(target):
                    yield _authored(document, target, number + 1)


def _authored(document: LintDocument, target: str, number: int) -> AuthoredLink:
    spot = Location(document.source, document.path, number, number)
    link = Link(document.source, document.path, target, 0.0, spot.citation)
    return AuthoredLink(link, spot, document.lines[number - 1], document.date)
