"""Check a workspace for bad content, document by document, without changing it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import date
from functools import partial

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
from memcli.types import MEMORY_SOURCE, FileText, Skip, shown
from memcli.workspace.globs import matcher

if TYPE_CHECKING:
    from memcli.api.workspace import Workspace


class LintReport(Record):
    """The problems in the files."""

    documents: int  # documents that were read
    findings: tuple[Finding, ...]
    skipped: tuple[Reason, ...]  # files that could not be checked
    replaced: tuple[Reason, ...]  # files that were checked, but not as they are

    @property
    def json_omits(self) -> tuple[str, ...]:
        """Name the fields that JSON leaves out."""
        return ("replaced",)


def lint(workspace: Workspace, today: date) -> LintReport:
    """Check the files on disk, without the index; `today` decides which tasks are old.

    The findings of each document come first, then those about several documents.
    """
    workspace.need_files()
    # Rules see the secrets; each document redacts its own.
    settings = workspace.index_settings()._replace(redacts=False)
    listing = plan(settings, {}).listing
    passed = [unlisted(each) for each in listing.unlisted]
    passed += [skipped(each) for each in listing.skips if each.reason in BY_BYTES]
    names = [(file.source, file.path) for file in listing.files]
    roots = {source.name: source.root for source in settings.sources}
    links = Links(roots, names, lambda s, path: os.path.lexists(os.path.join(roots[s], path)))
    across = (Duplicates(), Contradictions(), Tasks(today.isoformat()), links)
    replaced: list[Reason] = []
    findings: list[Finding] = []
    documents = 0
    for file in listing.files:
        content = read(settings, file.source, file.path)
        if not isinstance(content, Skip) and content.damaged:
            replaced.append(replaced_bytes(shown(file.source, file.path)))
        document = content if isinstance(content, Skip) else _inspected(content, settings)
        if isinstance(document, Skip):
            passed.append(not_read(document))
            continue
        documents += 1
        findings += document_findings(document)
        for rule in across:
            rule.take(document)
    every = (each for rule in across for each in rule.findings())
    # A link and the words around it may name the same newer line.
    once = {(each.code, each.at, each.others or each.message): each for each in every}
    findings += sorted(once.values(), key=order)
    findings += _summaries(workspace.index_settings(), names)
    for reason in unmatched(settings.sources, lambda: names):
        findings.append(Finding(UNMATCHED_GLOB, None, reason.text))
    return LintReport(documents, tuple(findings), tuple(passed), tuple(replaced))


def _inspected(file: FileText, settings: Settings) -> LintDocument | Skip:
    place, source = (file.stat.source, file.stat.path), settings.source(file.stat.source)
    is_evergreen = bool(source.evergreen) and matcher(source.evergreen)(file.stat.path)
    make = partial(
        inspect, *place, file.text, date_keys=source.date_keys, is_evergreen=is_evergreen
    )
    return parse_or_skip(*place, make)


def _summaries(settings: Settings, names: list[tuple[str, str]]) -> Iterator[Finding]:
    paths = [path for source, path in names if source == MEMORY_SOURCE]
    if not any(map(is_place, paths)):
        return
    from memcli.compaction.folder import summaries_among
    from memcli.compaction.summaries import problems

    for problem in problems(summaries_among(settings, paths)):
        spot = Location(MEMORY_SOURCE, problem.path)
        yield Finding(INVALID_SUMMARY, spot, f"{problem.kind.replace('_', ' ')}: {problem.detail}")
