"""Check a workspace for bad content, document by document, without changing it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import date

from memcli.checking import TYPE_CHECKING
from memcli.errors import Reason
from memcli.indexing.document import parse_or_skip
from memcli.indexing.notices import not_read, replaced_bytes, skipped, unlisted, unmatched
from memcli.indexing.planning import BY_BYTES, Settings, plan, read
from memcli.lint.document import LintDocument, inspect
from memcli.lint.duplicates import Duplicates
from memcli.lint.findings import INVALID_SUMMARY, UNMATCHED_GLOB, Finding, Location, order
from memcli.lint.links import Links
from memcli.lint.rules import Contradictions, Tasks, document_findings
from memcli.markdown.lineage import is_place
from memcli.record import Record
from memcli.types import MEMORY_SOURCE, FileStat, Skip, shown
from memcli.workspace.globs import matcher

if TYPE_CHECKING:
    from memcli.api.workspace import Workspace


class LintReport(Record):
    """The problems in the files."""

    documents: int  # documents that were read
    findings: tuple[Finding, ...]
    skipped: tuple[Reason, ...]  # files that could not be checked


def lint(workspace: Workspace, today: date) -> LintReport:
    """Check the files on disk, without the index; `today` decides which tasks are old."""
    workspace.need_files()
    look = Inspection(workspace, today)
    findings = tuple(look.findings())
    return LintReport(look.documents, findings, tuple(look.passed))


class Inspection:
    """One check of the files on disk, without the index."""

    def __init__(self, workspace: Workspace, today: date) -> None:
        """Take the workspaces, and the day that decides which tasks are old."""
        self._workspace, self._today = workspace, today.isoformat()
        self.documents = 0
        self.passed: list[Reason] = []  # files that could not be checked
        self.replaced: list[Reason] = []  # files that were checked, but not as they are

    def findings(self) -> Iterator[Finding]:
        """Yield the findings of each document as it is read, then those about several documents."""
        workspace = self._workspace
        # Rules see the secrets; each document redacts its own.
        settings = workspace.index_settings()._replace(redacts=False)
        listing = plan(settings, {}).listing
        self.passed += map(unlisted, listing.unlisted)
        self.passed += [skipped(each) for each in listing.skips if each.reason in BY_BYTES]
        names = [(file.source, file.path) for file in listing.files]
        roots = {source.name: source.root for source in settings.sources}
        links = Links(roots, names, lambda s, path: os.path.lexists(os.path.join(roots[s], path)))
        across = (Duplicates(), Contradictions(), Tasks(self._today), links)
        for file in listing.files:
            document = self._inspected(file, settings)
            if document is None:
                continue
            self.documents += 1
            yield from document_findings(document)
            for rule in across:
                rule.take(document)
        yield from sorted((each for rule in across for each in rule.findings()), key=order)
        yield from _summaries(workspace.index_settings(), names)
        for reason in unmatched(settings.sources, lambda: names):
            yield Finding(UNMATCHED_GLOB, None, reason.text)

    def _inspected(self, file: FileStat, settings: Settings) -> LintDocument | None:
        content = read(settings, file.source, file.path)
        if isinstance(content, Skip):
            self.passed.append(not_read(content))
            return None
        if content.damaged:
            self.replaced.append(replaced_bytes(shown(file.source, file.path)))
        source, text = settings.source(file.source), content.text
        is_evergreen = bool(source.evergreen) and matcher(source.evergreen)(file.path)
        made = parse_or_skip(
            file.source,
            file.path,
            lambda: inspect(
                file.source, file.path, text, date_keys=source.date_keys, is_evergreen=is_evergreen
            ),
        )
        if isinstance(made, Skip):
            self.passed.append(not_read(made))
            return None
        return made


def _summaries(settings: Settings, names: list[tuple[str, str]]) -> Iterator[Finding]:
    paths = [path for source, path in names if source == MEMORY_SOURCE]
    if not any(map(is_place, paths)):
        return
    from memcli.compaction.folder import summaries_among
    from memcli.compaction.summaries import problems

    for problem in problems(summaries_among(settings, paths)):
        spot = Location(MEMORY_SOURCE, problem.path)
        yield Finding(INVALID_SUMMARY, spot, f"{problem.kind.replace('_', ' ')}: {problem.detail}")
