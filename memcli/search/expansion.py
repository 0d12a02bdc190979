"""Search summaries first, then the raw lines behind those that were found.

The lines behind every summary among the ranked passages can be added, shown or not, so they do not
depend on the limit. Tokens that they leave go to matching lines behind the other summaries, because
a summary cannot contain every word of its lines. No score of the first search changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from memcli.checking import TYPE_CHECKING
from memcli.language.tokens import estimate
from memcli.search.budget import fit_budget
from memcli.search.federation import ModelGroup, merge_answers, search_each
from memcli.search.focus import Width
from memcli.search.options import InternalOptions, SearchOptions
from memcli.search.pipeline import MMR_POOL, Answer
from memcli.search.ranked import RankedPassage
from memcli.search.summaries import ExpandedLines, attach, behind, path_of
from memcli.search.validity import leaves as raw_lines

if TYPE_CHECKING:
    from memcli.search.question import Question
    from memcli.store.port import Snapshot

# Narrow passages: within so many tokens more of them, from more places. On LoCoMo conversations 26
# and 30 recall within 2,000 tokens is .876 with 1, .86 with 2 or 3.
PASSAGE_LINES = 1
# Lines below this share of the best added score do not answer: there it removes 13 of 18 passages
# and a fifth of the tokens, for .004 of recall.
ASKED = 0.6


def search_expanded(
    snapshot: Snapshot,
    groups: Sequence[ModelGroup],
    question: Question,
    options: SearchOptions,
    *,
    tokens: int,
) -> tuple[Answer, list[ExpandedLines]]:
    """Answer a question, and add up to `tokens` of the source lines of summaries, best first.

    With a budget, the added lines get what the passages leave of it. `groups` are the workspaces of
    the snapshot by the model of their vectors.
    """
    spread = InternalOptions(also=frozenset(("spread",)))
    wide = options._replace(limit=MMR_POOL, budget=None, worthwhile=False, inner=spread)
    answers = search_each(groups, question, wide)
    answer = merge_answers(answers, options=wide)
    fitting, dropped, _ = fit_budget(answer.passages[: options.limit], budget=options.budget)
    shown = answer._replace(passages=tuple(fitting), omitted_over_budget=dropped)
    if options.budget is not None:
        tokens = min(tokens, options.budget - sum(estimate(passage.text) for passage in fitting))
    summaries = [passage for passage in answer.passages if passage.about.is_summary]
    leaves = raw_lines(snapshot.supports())
    near = {
        line for passage in summaries for line in behind(passage, leaves[path_of(passage.about)])
    }
    far = {line for path in leaves for line in leaves[path]} - near
    added: list[RankedPassage] = []
    least = [0.0] * len(groups)  # scores of two models cannot be compared
    for lines in (near, far):
        left = tokens - sum(estimate(passage.text) for passage in added)
        if not lines or left < 1:
            continue
        narrow = options._replace(
            limit=MMR_POOL,
            budget=None,
            min_score=0.0,
            sort="score",
            worthwhile=False,
            reranker=None,
            inner=InternalOptions(width=Width(PASSAGE_LINES)),
            filters=options.filters._replace(
                view="raw", within=tuple(sorted(lines)), paths=(), kinds=(), headings=()
            ),
        )
        answers = search_each(groups, question, narrow)
        least = [
            known or ASKED * max((passage.score for passage in answer.passages), default=0.0)
            for known, answer in zip(least, answers, strict=True)
        ]
        per_question = [
            answer._replace(
                passages=tuple(passage for passage in answer.passages if passage.score >= bound)
            )
            for bound, answer in zip(least, answers, strict=True)
        ]
        passages = merge_answers(per_question, options=narrow).passages
        added += fit_budget(_unseen(passages, [*fitting, *added]), budget=left)[0]
    return shown, attach(added, summaries, leaves)


def _unseen(
    passages: Sequence[RankedPassage], shown: Sequence[RankedPassage]
) -> list[RankedPassage]:
    """Leave out passages that share a line with a passage that is shown."""
    places = [(each.about.document, each.start_line, each.end_line) for each in shown]
    return [each for each in passages if not any(each.touches(*place) for place in places)]
