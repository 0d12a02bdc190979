"""The stages of a search, in their order: the one table of their names.

Profiles and the bench switch stages by these names. The trace of a passage, observers, `--why-not`
and the bench's report of losses use them, and `memcli help ranking` explains them. A name with a
dot is a part of a stage that can be switched by itself.
"""

from __future__ import annotations

from memcli.record import Record


class Stage(Record):
    """A stage, or a part of one that can be switched by itself."""

    name: str
    does: str  # as a sentence without its subject
    # Why lines are missing after it, with the fields of `why_not.match`; "": it loses nothing.
    lost: str = ""
    # The name by which profiles and the bench switch it, if it is not its own: that of the stage
    # which it prepares, or "" if it always runs.
    switch: str | None = None


TABLE = (
    Stage(
        "recall",
        "takes the best `search.universe` chunks of keyword search (BM25) and of semantic search "
        "(cosine) and, for a chunk that only one of them found, computes the missing score",
        "neither retriever ranks it among its best {universe}, or a filter or quoted phrase "
        "excludes it",
        switch="",
    ),
    Stage("recall.repair", "corrects a word that does not occur in the notes (`--exact`: never)"),
    Stage("fuse", "adds both scores, by weight", switch=""),
    Stage(
        "fuse.fertility",
        "gives keywords more weight if the model reads the query badly: other languages, "
        "identifiers",
    ),
    Stage("fuse.coverage", "gives keywords less weight if no chunk contains many of them"),
    Stage(
        "fuse.documents", "in documents that are not conversations, slightly prefers long segments"
    ),
    Stage(
        "fuse.speaker",
        "gives an assistant's lines less weight if the question is in the first person",
        switch="speaker",
    ),
    Stage(
        "candidates",
        "keeps the best chunks for the next stages; if the query names a date, up to half of them "
        "are of that date",
        "it ranked {before}, and only {pool} chunks get a closer look",
        switch="focus",
    ),
    Stage(
        "focus",
        "cuts each chunk down to the lines that answer (`--full` keeps it whole)",
        "no passage of its chunk contains it, such as a separate heading, or it lacks what is "
        "quoted",
    ),
    Stage(
        "rerank",
        "with `--rerank` or `search.rerank`, rereads the 20 best passages together with the query",
    ),
    Stage(
        "speaker",
        "trims other people's lines if the question names a speaker, and applies `--by`",
        "no line of its passage is by `--by`",
    ),
    Stage(
        "score",
        "in the profiles `convex` and `two-pass`, scores by another formula",
        "it ranked {before}, and the profile keeps fewer",
    ),
    Stage(
        "date",
        "ranks passages higher if they are near a date in the query, and the newest ones if the "
        "query says `latest`",
        "the question is only a date, and this is not of that time",
    ),
    Stage("quality", "ranks a summary lower if it keeps less of its sources", switch=""),
    Stage(
        "decay", "off by default; lowers the score of older notes, never below `search.decay_floor`"
    ),
    Stage(
        "threshold",
        "computes the confidence. `--min-score N` removes passages with a confidence (in "
        "`classic`: a score) below N. `--sort` removes passages that match much less than the "
        "best one. Literal matches stay",
        "its {judged} is below search.min_score, {min_score:g}",
        switch="",
    ),
    Stage(
        "newer",
        "moves a newer note above the older note that it corrects, and for a question about the "
        "present also a newer answer above an older one about the same thing",
    ),
    Stage(
        "language",
        "puts a page in the language of the question before its translations (`de/hooks.md`)",
    ),
    Stage(
        "spread",
        "with `--expand`, keeps one passage per summary and document",
        "it ranked {before}, behind another passage of the same summary",
    ),
    Stage(
        "mmr",
        "ranks passages lower if they repeat better ones; passes on the best `--limit` + 10",
        "it ranked {before}; --limit is {limit} and search.mmr_min {mmr_min:g}",
    ),
    Stage("mmr.fold", "folds near-duplicates into one", "folded into {into}, which says the same"),
    Stage(
        "join",
        "merges passages that touch in the file, if they are adjacent in rank or score alike",
    ),
    Stage(
        "cut",
        "in all profiles except the default, cuts a chunk to whole lines of at most 700 characters "
        "(`--full` keeps it whole)",
        "it is outside the 700 characters that the profile shows of its chunk",
    ),
    Stage(
        "budget",
        "of the first `--limit` passages, keeps those worth reading (with `--more`, all) until "
        "`--budget` is full, and shortens the last one to fit",
        "it ranked {before}, and {cause}; {more} shows it",
        switch="",
    ),
)
STAGES = tuple(row.name for row in TABLE if "." not in row.name)
SWITCHES = tuple(row.name for row in TABLE if row.switch is None)
LOST = {row.name: row.lost for row in TABLE}
SWITCH_OF = {row.name: row.name if row.switch is None else row.switch for row in TABLE}
