"""The options of a search: the settings, and those of the profile if the user has set none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from memcli.checking import TYPE_CHECKING, Any
from memcli.config.settings import DEFAULT_ORIGIN, Config, check_sum
from memcli.record import Record
from memcli.search.focus import WIDTH, Width
from memcli.search.fusion import Weights
from memcli.search.ranked import RankedPassage
from memcli.search.stages import SWITCH_OF, SWITCHES
from memcli.types import Filters

if TYPE_CHECKING:
    from memcli.embedding.models import Calibration
    from memcli.search.published_profiles import Convex, TwoPass
    from memcli.search.rerank import Reranker

    Observer = Callable[[str, Sequence[RankedPassage]], None]  # gets a stage and its passages
    # A stage, and the function that turns passages into passages.
    StageStep = tuple[str, Callable[[Sequence[RankedPassage]], Sequence[RankedPassage]]]


# With a budget, the tokens are the limit; as many passages as focus examines.
BUDGET_LIMIT = 100
LIMIT_OF_SEVERAL = 20  # passages, if the question asks for several things and no limit is set
# Settings whose names are those of their options.
NAMED_SETTINGS = (
    "mode", "fusion", "half_life_days", "decay_floor", "mmr_lambda", "mmr_min", "min_score",
    "quality_weight",
)  # fmt: skip


class InternalOptions(Record):
    """Options for callers inside memcli; no user can set them."""

    width: Width = WIDTH
    demands_phrases: bool = True  # passages must contain what the query quotes, if any chunk does
    outside: frozenset[int] = frozenset()  # chunks that are shown already: not candidates
    also: frozenset[str] = frozenset()  # stages that are on in addition to those of the profile
    without: frozenset[str] = frozenset()  # stages that are off, to measure them


class SearchOptions(Record):
    """The options of a search."""

    limit: int
    free: int  # passages that a budget includes however far they are from the question
    mode: str  # hybrid | keyword | semantic
    profile: Profile
    encoder: str  # its name in the configuration
    fusion: str  # scaled | weighted | rrf
    weights: Weights
    universe: int
    half_life_days: float
    decay_floor: float
    mmr_lambda: float
    mmr_min: float
    min_score: float
    budget: int | None
    whole: bool  # chunks in one piece instead of the lines that answer
    filters: Filters
    repairs: bool = True  # search for corrections of words that no chunk contains
    sort: str = "score"  # score | date | newest: the order of what is shown
    worthwhile: bool = False  # show only passages worth reading
    one_line: bool = False  # one line of each passage, over the whole memory
    miss_tokens: int | None = None  # with `worthwhile`: what a failed search costs, or None
    of_several: bool = False  # a statement after a question for several things: another wording
    limit_of_several: int = 0  # if a question asks for several things; 0: `limit`
    by_turn: bool = False  # with `worthwhile`, each turn of a conversation is a separate passage
    reranker: Reranker | None = None  # reads the best passages once more
    calibrations: Mapping[str, Calibration] = MappingProxyType({})  # the user's, by fingerprint
    formula: Convex | TwoPass | None = None  # of the profile, with its constants
    quality_weight: float = 0.5  # see `summaries`
    inner: InternalOptions = InternalOptions()

    @property
    def filled(self) -> int | None:
        """Return the budget that is filled; one that only bounds the answer is applied later."""
        return None if self.worthwhile else self.budget

    def has(self, name: str) -> bool:
        """Return whether a stage of `stages.TABLE`, or a part of one, is on."""
        switch = SWITCH_OF[name]
        is_on = switch in self.profile.stages or switch in self.inner.also
        return not switch or (is_on and switch not in self.inner.without)


def options_of(
    config: Config,
    *,
    filters: Filters,
    budget: int | None = None,
    whole: bool = False,
    fill: bool = True,
    sort: str = "score",
    worthwhile: bool = False,
    one_line: bool = False,
) -> SearchOptions:
    """Read the search settings; those of the profile apply where the user has set none.

    With `worthwhile`, a budget bounds the answer. Any other answer fills its budget: with
    `fill` and no limit set, it has as many passages as fit, and so does a list.
    """
    profile = PROFILES[config("search.profile")]

    def setting(name: str) -> Any:  # noqa: ANN401
        is_set = config.values[name].origin != DEFAULT_ORIGIN
        return config(name) if is_set else profile.settings.get(name, config(name))

    limit, universe = setting("search.limit"), setting("search.universe")
    free = limit
    worthwhile = worthwhile and not (whole or one_line)
    fills = one_line or (fill and budget is not None and not worthwhile)
    is_default = config.values["search.limit"].origin == DEFAULT_ORIGIN
    if fills and is_default:
        limit = BUDGET_LIMIT
    weights = Weights(setting("search.semantic_weight"), setting("search.keyword_weight"))
    check_sum("search.semantic_weight and search.keyword_weight", weights, "search")
    if profile.by_limit:
        universe = limit * setting("search.candidate_multiplier")
    return SearchOptions(
        limit=limit,
        limit_of_several=LIMIT_OF_SEVERAL if worthwhile and is_default else 0,
        free=free,
        profile=profile,
        encoder=config("embedding.encoder"),
        weights=weights,
        universe=universe,
        budget=budget,
        whole=whole,
        filters=filters,
        repairs=config("search.repair"),
        sort=sort,
        worthwhile=worthwhile,
        one_line=one_line,
        formula=_formula(profile, config),
        **{name: setting(f"search.{name}") for name in NAMED_SETTINGS},
    )


def _formula(profile: Profile, config: Config) -> Convex | TwoPass | None:
    if not profile.formula:
        return None
    from memcli.search.published_profiles import Convex, TwoPass

    return Convex.read(config) if profile.formula == "convex" else TwoPass.read(config)


class Profile(Record):
    """A way to rank."""

    settings: Mapping[str, float | int | str]  # used if the user has not set them
    stages: frozenset[str]  # of `stages.SWITCHES`
    by_limit: bool  # its candidates are limit * search.candidate_multiplier per retriever
    threshold_on_score: bool  # search.min_score judges the fused score, not the confidence
    formula: str = ""  # of stage `score`: convex | two-pass


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "default": Profile({}, frozenset(SWITCHES) - {"score", "spread", "cut"}, False, False),
        "classic": Profile(
            {
                "search.fusion": "weighted",
                "search.semantic_weight": 0.7,
                "search.keyword_weight": 0.3,
                "search.limit": 6,
                "search.half_life_days": 30.0,
                "search.decay_floor": 0.0,
                "search.mmr_lambda": 0.7,
                "search.min_score": 0.35,
            },
            frozenset(("decay", "mmr", "cut")),
            True,
            True,
        ),
        "convex": Profile({}, frozenset(("score", "cut")), False, False, "convex"),
        "two-pass": Profile(
            {"search.limit": 8}, frozenset(("score", "cut")), False, False, "two-pass"
        ),
    }
)


def unobserved(stage: str, passages: Sequence[RankedPassage]) -> None:
    """Ignore a stage: the observer of a search without an observer."""


def run_stages(
    steps: Iterable[StageStep],
    passages: Sequence[RankedPassage],
    options: SearchOptions,
    observe: Observer,
) -> Sequence[RankedPassage]:
    """Pass passages through those steps whose stages are on."""
    for stage, step in steps:
        if options.has(stage):
            passages = step(passages)
            observe(stage, passages)
    return passages
