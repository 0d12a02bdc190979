"""Name the filter because of which an answer is empty."""

from __future__ import annotations

import json
from shlex import quote

from memcli.checking import TYPE_CHECKING
from memcli.errors import Reason
from memcli.store.documents import with_chunks
from memcli.store.records import Scope
from memcli.types import Filters, Where

if TYPE_CHECKING:
    from memcli.store.port import Snapshot

MOST_VALUES = 8  # of a key, named at most


def blocking_filter(snapshot: Snapshot, filters: Filters) -> Reason | None:
    """Name the first filter that no document passes, or say that none passes all of them.

    None if documents pass: then the question found nothing. The value of a filter that has a key is
    not repeated.
    """
    from memcli.secrets.finding import redacted

    reason = _first(snapshot, filters)
    return reason._replace(text=redacted(reason.text)) if reason else None


def _first(snapshot: Snapshot, filters: Filters) -> Reason | None:
    if _pass(snapshot, filters):
        return None
    dates = Filters(since=filters.since, until=filters.until, undated=filters.undated)
    if not _pass(snapshot, dates):
        return _of_dates(snapshot, filters)
    if not _pass(snapshot, Filters(paths=filters.paths)):
        files = {path for path in filters.paths if ":" not in path} or set(filters.paths)
        named = [path for path in filters.paths if path in files]
        named = [path for path in named if path.removesuffix("/") not in files - {path}]
        wider = tuple(f"{path}*{end}" for path in filters.paths for end in ("", "/"))
        is_start = len(named) == 1 and _pass(snapshot, Filters(paths=wider))
        hint = f"the same with --path {quote(f'{named[0]}*')}" if is_start else "memcli ls"
        return Reason("filter", f"no path matches {' or '.join(named)}", hint)
    for name, values, only, hint in (
        ("source", filters.sources, Filters(sources=filters.sources), "memcli ls --count source"),
        ("kind", filters.kinds, Filters(kinds=filters.kinds), "memcli ls --count kind"),
        ("scope", filters.scopes, Filters(scopes=filters.scopes), ""),
        ("trust", filters.trusts, Filters(trusts=filters.trusts), ""),
        ("heading", filters.headings, Filters(headings=filters.headings), ""),
    ):
        if not _pass(snapshot, only):
            text = f"no document has the {name} {' or '.join(values)}"
            return Reason("filter", text, hint or f"the same without --{name}")
    return _of_front_matter(snapshot, filters) or Reason(
        "filter", "no document passes all of these filters together"
    )


def _pass(snapshot: Snapshot, filters: Filters) -> bool:
    """Return whether any text passes some filters."""
    return bool(with_chunks(snapshot.documents(Scope(filters))))


def _of_front_matter(snapshot: Snapshot, filters: Filters) -> Reason | None:
    """Name the first tag or condition that no document meets, and the values that exist."""
    for tag in filters.tags:
        if not _pass(snapshot, Filters(tags=(tag,))):
            hint = "memcli ls --count tag" if _values(snapshot, "tags") else "memcli ls"
            return Reason("filter", f"no document has the tag {tag}", hint)
    for where in filters.where:
        if _pass(snapshot, Filters(where=(where,))):
            continue
        values = _values(snapshot, where.key)
        if not values:
            text = f"no document has a value for {where.key} in its front matter"
            hint = "memcli ls --count key" if _pairs(snapshot, Filters()) else "memcli ls"
            return Reason("filter", text, hint)
        if where.negated or where.value is None:
            return Reason("filter", f"no document meets the condition {where}")
        more = f" and {len(values) - MOST_VALUES} more" if len(values) > MOST_VALUES else ""
        there = f"{', '.join(values[:MOST_VALUES])}{more}"
        return Reason("filter", f"no document has {where}; its values are {there}")
    return None


def _pairs(snapshot: Snapshot, filters: Filters) -> set[tuple[str, object]]:
    """List the keys in the front matter of some documents, each with each of its values."""
    from memcli.markdown.properties import properties

    matter = {document.front_matter for document in snapshot.documents(Scope(filters))}
    return {pair for each in matter for pair in properties(json.loads(each))}


def _values(snapshot: Snapshot, key: str) -> list[str]:
    """List the values of a key."""
    from memcli.markdown.properties import key_of

    pairs, name = _pairs(snapshot, Filters(where=(Where(key),))), key_of(key)
    return sorted({str(v) for own, v in pairs if own == name or own.startswith(f"{name}.")})


def _of_dates(snapshot: Snapshot, filters: Filters) -> Reason:
    """Report an empty span of days, and the documents without a day."""
    since, until = filters.since, filters.until
    if since == until:
        text = f"there is no record of {since}"
    elif since and until:
        text = f"there is no record from {since} to {until}"
    else:
        text = f"there is no record {f'from {since} on' if since else f'up to {until}'}"
    undated = sum(each.date is None for each in with_chunks(snapshot.documents(Scope())))
    if not undated or filters.undated:
        return Reason("filter", text)
    documents = "1 undated document is" if undated == 1 else f"{undated} undated documents are"
    return Reason("filter", f"{text}; {documents} left out", "the same with --undated")
