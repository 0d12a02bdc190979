"""Write answers as versioned JSON objects."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from memcli.checking import TYPE_CHECKING, Any
from memcli.language.tokens import estimate
from memcli.markdown.segments import digest
from memcli.render.sanitize import escaped
from memcli.search.confidence import LOW
from memcli.search.passages import Passage
from memcli.types import FAILED, MEMORY_SOURCE, UP_TO_DATE, About, lines_of, split_source

if TYPE_CHECKING:
    from memcli.config.settings import Config
    from memcli.dates.find import DateSpan
    from memcli.errors import Reason
    from memcli.indexing.freshness import Freshness
    from memcli.search.pipeline import Answer
    from memcli.search.summaries import ExpandedLines


DIGITS = 3  # of a value that is rounded, by default
_ROUNDED = ("confidence", "cosine", "coverage")
# The keys of a passage in `result`.
RESULT_KEYS = (*Passage._fields, "file")
# Keys that few programs need.
_RARE = ("rank", "ref", "heading_path", "title", "score", "text_hash", "tokens", "kind",
         "source_kind", "scope", "speakers", "speaker_match")  # fmt: skip
# Keys of a passage that are left out if there is nothing to say.
_OPTIONAL = ("workspace", "date_from", "duplicates", "corrected_by", "cut", "speakers",
             "speaker_match")  # fmt: skip
_OF_LINES = ("start_line", "end_line", "citation", "snippet")  # what neighbours differ in
_OF_NEWER = ("line", "citation", "date", "text")  # of a line that corrects another
_RARE_OF_ANSWER = ("query", "now", "named_speakers", "speaker_match", "budget", "tokens")
_OF_DATE = ("order", "read", "excluded")  # keys of a date, if there is something to say
_NOT_OF_RELATED = ("confidence", "trace")
RELATED_KEYS = (*(k for k in RESULT_KEYS if k not in _NOT_OF_RELATED), "cosine", "coverage")


def few(record: Mapping[str, Any], *, is_in: bool = False) -> dict[str, Any]:
    """Return a `result` or a part of a context without rare keys, defaults and what the path says.

    If the reader named the folder of the workspace, its paths are in it (`is_in`).
    """
    is_known = is_in and record["source"] == MEMORY_SOURCE
    file = record.get("file") if is_known else record["path"]
    usual = {"source": MEMORY_SOURCE, "trust": "trusted", "file": file}
    left = {
        key: value
        for key, value in record.items()
        if key == "snippet" or (key not in _RARE and usual.get(key, "") != value)
    }
    if left["date"] is None or left["date"] in left["path"]:
        del left["date"]
    for key in _ROUNDED:
        if left.get(key) is not None:
            left[key] = round(left[key], DIGITS)
    if newer := left.get("corrected_by"):
        left["corrected_by"] = [
            {key: each[key] for key in _OF_NEWER if key in each} for each in newer
        ]
    return left


def _without_repeats(
    result: Mapping[str, Any], results: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Leave out the texts of newer lines that the answer contains, and dates that paths contain."""
    left = dict(result)
    if newer := result.get("corrected_by"):
        shown = {
            (each.get("path"), line.strip())
            for each in results
            for line in each.get("snippet", "").split("\n")
        }
        left["corrected_by"] = [
            {
                key: value
                for key, value in each.items()
                if not (key == "date" and value in each["citation"])
                if key != "text" or (each["citation"].rpartition(":")[0], value) not in shown
            }
            for each in newer
        ]
    return left


def _cite(record: dict[str, Any], end: int) -> None:
    """Let the lines of a record end here, and cite them."""
    place, lines = record["citation"].rpartition(":")[0], lines_of(record["start_line"], end)
    record |= {"end_line": end, "citation": f"{place}:{lines}"}


def joined(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Make one record of those that continue each other and differ in nothing else.

    A heading that repeats the name of its file is left out.
    """
    made: list[dict[str, Any]] = []
    for record in records:
        lines, start = record["snippet"].split("\n"), record["start_line"]
        text = next((at for at, line in enumerate(lines) if at and line.strip()), 0)
        name = record["path"].rpartition("/")[2].rpartition(".")[0]
        is_title = lines[0][:1] == "#" and lines[0].lstrip("# ") == name
        # A snippet without a comment of the passage has fewer lines.
        if is_title and text > 1 and start + len(lines) - 1 == record["end_line"]:
            record |= {"snippet": "\n".join(lines[text:]), "start_line": start + text}
            _cite(record, record["end_line"])
        last: dict[str, Any] = made[-1] if made else {"end_line": -1}
        same = {**record, **{key: last.get(key) for key in _OF_LINES}}
        if last["end_line"] + 1 == record["start_line"] and last == same and "cut" not in last:
            last["snippet"] += f"\n{record['snippet']}"
            _cite(last, record["end_line"])
        else:
            made.append(record)
    return made


def few_of_answer(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of an answer or a context without rare keys and usual values.

    A key is left out too if the results say the same.
    """
    none = ("omitted_over_budget", "omitted", "tokens_saved")
    usual: dict[str, Any] = {"dates": [], "warnings": [], **dict.fromkeys(none, 0)}
    if record.get("results"):
        usual |= {"match_reason": reason(LOW), "weaker": record.get("weaker")}
    left = {
        key: value
        for key, value in record.items()
        if key not in _RARE_OF_ANSWER and usual.get(key, "") != value
    }
    if all(each["ran"] and each.get("embedded", each["total"]) == each["total"]
           for each in (left["retrievers"] or {}).values()):  # fmt: skip
        del left["retrievers"]
    if results := left.get("results"):
        left["results"] = [_without_repeats(each, results) for each in results]
    freshness = {key: value for key, value in left.pop("freshness").items() if value != 0}
    if freshness != {"state": UP_TO_DATE}:
        left["freshness"] = freshness
    return left


def dumps(record: Mapping[str, Any]) -> str:
    """Write a JSON value on one line, with control characters escaped."""
    return escaped(json.dumps(record, ensure_ascii=False, separators=(",", ":")))


def result(passage: Passage, file: str | None, *, full: bool, explain: bool) -> dict[str, Any]:
    """Describe one passage as `memcli.search/1` does; `file` is its path from here."""
    record = {**passage._asdict(), "file": file}
    if not full:
        del record["text"]
    for key in _OPTIONAL:
        if record[key] is None or record[key] is False or record[key] == ():
            del record[key]
    if explain:
        record["trace"] = [
            {"stage": step.stage, "score": step.score, **dict(step.inputs)}
            for step in passage.trace
        ]
    else:
        del record["trace"]
    return record


def lines(expanded: ExpandedLines, file: str | None) -> dict[str, Any]:
    """Describe source lines of a summary; `file` is the path of their document from here."""
    passage = expanded.passage
    return {
        "summary": expanded.summary,
        "path": passage.about.path,
        **source_of(passage.about.source),
        "start_line": passage.start_line,
        "end_line": passage.end_line,
        **date_of(passage.about),
        "citation": passage.citation,
        "text": passage.text,
        "text_hash": digest(passage.text).hex(),
        "tokens": estimate(passage.text),
        "file": file,
    }


def date_of(about: About) -> dict[str, str | None]:
    """Return the date, and for a span also its first day."""
    return {"date": about.date, **({"date_from": about.first_day} if about.first_day else {})}


def match_reasons(answer: Answer) -> dict[str, Any]:
    """Explain a weak match, and the basis of the confidence."""
    fields = {"match_reason": answer.match_reason, "uncalibrated": answer.uncalibrated}
    return {name: reason(each) for name, each in fields.items() if each}


def speaker_match(answer: Answer) -> dict[str, Any]:
    """Describe the speakers whom the question names, and their share of the match."""
    if answer.speaker_match is None:
        return {}
    return {"named_speakers": list(answer.named_speakers), "speaker_match": answer.speaker_match}


def repairs(answer: Answer) -> dict[str, Any]:
    """List the words that were replaced in the query, if any."""
    return {"repairs": [each._asdict() for each in answer.repaired]} if answer.repaired else {}


def reranked(answer: Answer) -> dict[str, Any]:
    """Describe the reranking, or why there was none, if it is configured."""
    rerank = answer.reranked
    if rerank is None:
        return {}
    read = {"by": rerank.by, "ran": rerank.ran, "read": rerank.read}
    return {"rerank": {**read, **_reason(rerank.reason)}}


def dates_of(dates: Sequence[DateSpan]) -> list[dict[str, Any]]:
    """Describe the dates of a question."""
    return [
        {"text": each.text, "start": each.start, "end": each.end}
        | {key: value for key in _OF_DATE if (value := getattr(each, key))}
        for each in dates
    ]


def freshness_of(of: Freshness) -> dict[str, Any]:
    """Describe whether the index is up to date, and why not."""
    missing = {"missing": of.missing} if of.missing else {}
    return {"state": of.state, "pending": of.pending, **missing, **_reason(of.reason)}


def implicit_sources(config: Config) -> dict[str, Any]:
    """Describe the sources of a folder that is not a workspace."""
    if config.is_marked:
        return {}
    return {
        "implicit_sources": [{"source": each.name, "path": each.root} for each in config.sources]
    }


def freshness_fields(freshness: Freshness) -> dict[str, Any]:
    """Describe whether the index is up to date, and each of several, the primary one first."""
    workspaces = [_workspace(each) for each in freshness.workspaces]
    fields = {"freshness": freshness_of(freshness)}
    return {**fields, "workspaces": workspaces} if workspaces else fields


def _workspace(each: Freshness) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": each.name, "path": each.folder, "primary": each.is_own}
    if each.state == FAILED:
        return {**fields, "error": reason(each.reason) if each.reason else {}}
    return {**fields, "freshness": freshness_of(each)}


def source_of(source: str) -> dict[str, Any]:
    """Name a source, and its workspace if there are several."""
    workspace, own = split_source(source)
    return {**({"workspace": workspace} if workspace else {}), "source": own}


def retrievers(answer: Answer) -> dict[str, Any]:
    """Describe which retrievers ran, and why one did not."""
    keyword, semantic = (
        {"ran": each.ran, **_reason(each.reason), "embedded": each.embedded, "total": each.total}
        for each in (answer.keyword, answer.semantic)
    )
    del keyword["embedded"]
    return {"keyword": keyword, "semantic": semantic}


def reason(cause: Reason) -> dict[str, str]:
    """Describe a reason as an object."""
    return {"code": cause.code, **_reason(cause)}


def _reason(reason: Reason | None) -> dict[str, str]:
    """Return the fields `reason` and `hint`, if there are any."""
    if reason is None:
        return {}
    return {"reason": reason.text, **({"hint": reason.hint} if reason.hint else {})}
