"""Every setting there is: its name, type, default, bounds, meaning and flag."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.embedding import encoders
from memcli.record import Record

if TYPE_CHECKING:
    from typing import Any


class Key(Record):
    """One setting: its name, type, default, choices and meaning."""

    name: str
    type: type
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    added: Sequence[str] = ()  # further choices, which only the user's own settings can make
    low: float | None = None
    high: float | None = None
    user_only: bool = False
    user_choices: tuple[str, ...] = ()  # choices that a workspace's file cannot make
    besides: str = ""  # what else than a choice it takes, in words
    pattern: str = ""  # of `besides`, a regular expression
    synonyms: tuple[tuple[str, str], ...] = ()  # choices, each with the one that it means

    @property
    def variable(self) -> str:
        """Name the environment variable: search.limit is MEMCLI_SEARCH_LIMIT."""
        special = {"store.path": "MEMCLI_STORE"}
        return special.get(self.name, "MEMCLI_" + self.name.upper().replace(".", "_"))


# Only printable ASCII, so that no template ends the escape sequence that it stands in.
_LINK = r"(?=.*\{path\})[A-Za-z][A-Za-z0-9+.-]*:(?:[!-z|~]|\{(?:path|line|host)\})*"

KEYS: tuple[Key, ...] = (
    Key("secrets", str, "redact", "Keys and tokens in notes: never read (redact), said (warn), or"
        " shown as all else (off).", choices=("redact", "warn", "off"),
        user_choices=("warn", "off")),
    Key("store.path", str, "", "The index file; empty means the user's cache folder.",
        user_only=True),
    Key("store.url", str, "", "A shared index on a server, for folders that are attached to it:"
        " postgresql://HOST/NAME; see: memcli help shared-index.", user_only=True),
    Key("store.tenant", str, "", "Whose workspaces of the shared store --everywhere asks; empty"
        " means all that you may read.", user_only=True),
    Key("files.scope", str, "folder", "What of the workspace is searched: all Markdown in the"
        " folder, or MEMORY.md, USER.md and memory/ alone.", choices=("folder", "memory")),
    Key("files.presets", list, [], "Memories of other programs that are searched too; see: memcli"
        " help agent-memory.", user_only=True),
    Key("files.include", list, [], "More globs of the default source; for files.scope = memory."),
    Key("files.exclude", list, [], "Globs that are left out, in gitignore syntax."),
    Key("files.evergreen", list, [], "Globs of documents whose date is not used."),
    Key("files.always", list, [], "Globs of documents that every context holds whole."),
    Key("files.soft", list, [], "Globs of documents that a context holds while there is room."),
    Key("files.max_bytes", int, 8 * 1024 * 1024, "Larger files are skipped.", low=1),
    Key("files.follow_symlinks", bool, False, "Follow links that stay inside their source."),
    Key("chunk.tokens", int, 400, "Most tokens of a chunk, as estimated.", low=32, high=2000),
    Key("chunk.overlap", int, 0, "Tokens a chunk repeats of the one before.", low=0, high=1000),
    Key("embedding.encoder", str, "bundled", "What turns text into vectors.",
        choices=encoders.PUBLIC, added=encoders.ADDED, user_choices=encoders.USER_ONLY),
    Key("embedding.fallback", list, [], "Encoders that stand in where it cannot be used.",
        choices=encoders.PUBLIC, added=encoders.ADDED, user_only=True),
    Key("embedding.threads", int, 0, "Texts that index embeds at the same time; 0: one on each"
        " processor it may use, or 4 requests to an endpoint.", low=0, high=64),
    Key("onnx.folder", str, "", "Folder with model.onnx and tokenizer.json.", user_only=True),
    Key("onnx.pooling", str, "mean", "How token vectors become one; model: it does so itself.",
        choices=("mean", "cls", "model"), user_only=True),
    Key("onnx.query_prefix", str, "", "What the model wants before a query.", user_only=True),
    Key("onnx.passage_prefix", str, "", "What the model wants before a text.", user_only=True),
    Key("onnx.max_tokens", int, 256, "Longest text; longer ones are embedded in pieces.",
        low=16, high=32768, user_only=True),
    Key("onnx.matryoshka", int, 0, "First components that are searched by first, for models trained"
        " so; 0: all at once.",
        low=0, high=16384, user_only=True),
    Key("openai.url", str, "", "An OpenAI-compatible endpoint, such as http://127.0.0.1:11434/v1.",
        user_only=True),
    Key("openai.model", str, "", "The model's name there.", user_only=True),
    Key("openai.key_variable", str, "", "Environment variable that holds the key; empty: no key.",
        user_only=True),
    Key("openai.dimension", int, 0, "Components of the model's vectors.",
        low=0, high=16384, user_only=True),
    Key("openai.query_prefix", str, "", "What the model wants before a query.", user_only=True),
    Key("openai.passage_prefix", str, "", "What the model wants before a text.", user_only=True),
    Key("openai.max_tokens", int, 512, "Longest text; longer ones are embedded in pieces.",
        low=16, high=32768, user_only=True),
    Key("openai.matryoshka", int, 0, "First components that are searched by first, for models"
        " trained so; 0: all at once.",
        low=0, high=16384, user_only=True),
    Key("openai.timeout_seconds", float, 30.0, "Wait for an answer; a search waits 10 at most.",
        low=0.1, high=600, user_only=True),
    Key("matryoshka.first", float, 1.0, "Best cosine of the first components above which what they"
        " find is the answer; 1: never.", low=0, high=1),
    Key("matryoshka.second", float, 1.0, "The same of 256 components, behind fewer.",
        low=0, high=1),
    Key("search.limit", int, 10, "Passages shown.", low=1, high=100),
    Key("search.mode", str, "hybrid", "Search by keyword, by meaning or both.",
        choices=("hybrid", "keyword", "semantic", "lexical", "dense"),
        synonyms=(("keyword", "lexical"), ("semantic", "dense"))),
    Key("search.profile", str, "default", "A set of ranking rules; see: memcli help ranking.",
        choices=("default", "classic", "convex", "two-pass")),
    Key("search.fusion", str, "scaled", "How the legs are joined.",
        choices=("scaled", "weighted", "rrf")),
    Key("search.vector_weight", float, 0.6, "Weight of the cosine.", low=0, high=1),
    Key("search.text_weight", float, 0.4, "Weight of BM25.", low=0, high=1),
    Key("search.universe", int, 200, "Candidates a leg: chunks by words, texts by"
        " meaning.", low=1, high=1000),
    Key("search.candidate_multiplier", int, 4, "Candidates a leg, times the limit (classic).",
        low=1, high=20),
    Key("search.half_life_days", float, 30.0, "Age at which decay has halved.", low=0.01),
    Key("search.decay_floor", float, 1.0, "What decay never goes below.", low=0, high=1),
    Key("search.mmr_lambda", float, 0.8, "1 ranks by relevance alone, 0 by novelty alone.",
        low=0, high=1),
    Key("search.mmr_min", float, -1.0, "Stop where relevance and novelty fall below.",
        low=-1, high=1),
    Key("search.min_score", float, 0.0, "Least confidence of a passage.", low=0, high=1),
    Key("search.date_order", str, "mdy", "How 7/12/2023 is read: mdy is 12 July, dmy 7 December.",
        choices=("mdy", "dmy")),
    Key("search.repair", bool, True, "Respell words that nothing holds; off with --exact."),
    Key("search.rerank", str, "none", "What reads the 20 best passages once more.",
        choices=("none", "tokens", "onnx", "endpoint"), user_choices=("onnx", "endpoint")),
    Key("search.view", str, "all", "Which documents are searched; active leaves out compacted"
        " lines, raw leaves out summaries.", choices=("active", "all", "raw")),
    Key("search.quality_weight", float, 0.5, "What a summary loses that says nothing of its lines.",
        low=0, high=1),
    Key("convex.alpha", float, 0.7, "Profile convex: weight of meaning; the three sum to 1.",
        low=0, high=1),
    Key("convex.beta", float, 0.2, "Weight of recency.", low=0, high=1),
    Key("convex.gamma", float, 0.1, "Weight of scope.", low=0, high=1),
    Key("convex.decay_session", float, 1e-4, "Lambda a second, of logs.", low=0, high=1),
    Key("convex.decay_user", float, 1e-5, "The same of what is about the user.", low=0, high=1),
    Key("convex.decay_global", float, 2e-6, "The same of all else.", low=0, high=1),
    Key("convex.scope_session", float, 1.0, "What a log is worth for its scope.", low=0, high=1),
    Key("convex.scope_user", float, 0.6, "The same of what is about the user.", low=0, high=1),
    Key("convex.scope_global", float, 0.3, "The same of all else.", low=0, high=1),
    Key("passes.first", int, 16, "Profile two-pass: passages a leg that the first pass takes.",
        low=1, high=100),
    Key("passes.second", int, 8, "Passages that the second pass keeps.", low=1, high=100),
    Key("passes.theta", float, 0.2, "Least cosine of the first pass.", low=0, high=1),
    Key("passes.kappa", float, 0.3, "Weight of key words.", low=0, high=100),
    Key("authority.recency", float, 0.5, "Weight of recency in the authority of two-pass and of a"
        " context without a query; the three sum to 1.", low=0, high=1),
    Key("authority.frequency", float, 0.2, "Weight of use, where it is counted.", low=0, high=1),
    Key("authority.authored", float, 0.3, "Weight of `authority` in front matter.",
        low=0, high=1),
    Key("authority.half_life_days", float, 30.0, "Age at which its recency has halved.",
        low=0.01),
    Key("access.count", bool, False, "Count what get reads and search --used names, for authority.",
        user_only=True),
    Key("rerank.seconds", float, 5.0, "A search waits no longer for what ranks anew.",
        low=0.1, high=600, user_only=True),
    Key("rerank.folder", str, "", "Folder of a cross-encoder: model.onnx and tokenizer.json.",
        user_only=True),
    Key("rerank.max_tokens", int, 512, "Longest pair of query and passage; longer ones are cut.",
        low=16, high=32768, user_only=True),
    Key("rerank.url", str, "", "A server with POST URL/rerank, such as http://127.0.0.1:8080/v1.",
        user_only=True),
    Key("rerank.model", str, "", "The model's name there; a server of one model needs none.",
        user_only=True),
    Key("rerank.key_variable", str, "", "Environment variable that holds the key; empty: no key.",
        user_only=True),
    Key("expand.tokens", int, 1500, "Tokens of raw lines that --expand adds.", low=0),
    Key("context.budget", int, 2000, "Tokens of a context, fences and citations included.", low=1),
    Key("context.tail", int, 1, "Newest records that every context holds; 0: none.", low=0),
    Key("context.always_share", float, 0.3, "Share of the budget that files marked always should"
        " not exceed; a warning.", low=0, high=1),
    Key("context.soft_share", float, 0.1, "Share of the budget for files marked soft.",
        low=0, high=1),
    Key("context.preference_share", float, 0.15, "Share of the budget for instructions and"
        " preferences that touch the question's subject.", low=0, high=1),
    Key("context.tail_share", float, 0.2, "The newest records go further back within this share.",
        low=0, high=1),
    Key("context.hop_eta", float, 0.5, "What a link hands on of the score of its passage.",
        low=0, high=1),
    Key("context.hop_theta", float, 0.15, "Links that would hand on no more are not followed.",
        low=0, high=1),
    Key("compact.tail_records", int, 20, "Newest records that are never compacted.", low=0),
    Key("compact.tail_tokens", int, 4000, "The tail goes further back within these tokens.", low=0),
    Key("compact.cluster", int, 8, "Records a summary.", low=2, high=1000),
    Key("compact.ratio", float, 0.25, "Tokens of a summary over those of its lines.",
        low=0.01, high=0.9),
    Key("compact.context_tokens", int, 200, "Tokens of the summary before that are not told again.",
        low=0),
    Key("compact.command", list, [], "A program that summarises, and its arguments.",
        user_only=True),
    Key("compact.folder", str, "", "Folder of a model that summarises, for --summarizer onnx; see:"
        " memcli help compact.", user_only=True),
    Key("compact.prompt", str, "summarize: ", "What the model reads before the lines; {text} stands"
        " for them where more follows.", user_only=True),
    Key("compact.reads", int, 512, "Most tokens that the model reads at once.",
        low=16, high=32768, user_only=True),
    Key("compact.writes", int, 128, "Most tokens that it writes of them.",
        low=1, high=4096, user_only=True),
    Key("gate.least", float, 0.0, "A note has to be worth so much to be remembered; 0: anything.",
        low=0, high=1),
    Key("gating.novelty", float, 0.3, "Weight of how new a note is; the three sum to 1.",
        low=0, high=1),
    Key("gating.specificity", float, 0.3, "Weight of its names, numbers and dates.",
        low=0, high=1),
    Key("gating.kind", float, 0.4, "Weight of what it is: a rule, a decision, a promise, a fact.",
        low=0, high=1),
    Key("sync.on_search", bool, True, "Bring in changed files before a search."),
    Key("sync.seconds", float, 2.0, "A search reads changed files for so long.",
        low=0, high=3600),
    Key("sync.parts", int, 200, "Texts a search embeds, where no more of them wait.", low=0),
    Key("sync.first", int, 2000, "Most files a search indexes from nothing.", low=0),
    Key("watch.debounce_ms", int, 1500, "Quiet after a change before index --watch acts.",
        low=0, high=3_600_000),
    Key("watch.threads", int, 1, "The same for index --watch, which leaves the machine to others.",
        low=0, high=64),
    Key("watch.interval_minutes", float, 10.0, "Time between full looks of index --watch; 0: none.",
        low=0, high=10_000),
    Key("terminal.hyperlink", str, "file", "What the citations on a terminal link to.",
        choices=("file", "vscode", "cursor", "zed", "kitty", "none"), user_only=True,
        besides="a URL with {path} in it, and {line} and {host}", pattern=_LINK),
)  # fmt: skip
BY_NAME: Mapping[str, Key] = {key.name: key for key in KEYS}
FLAGS: Mapping[str, str] = {
    "files.presets": "--with",
    "embedding.encoder": "--encoder",
    "search.limit": "--limit",
    "search.mode": "--mode",
    "search.fusion": "--fusion",
    "search.profile": "--profile",
    "search.min_score": "--min-score",
    "search.rerank": "--rerank",
    "search.view": "--view",
    "context.budget": "--budget",
    "context.tail": "--tail",
    "compact.tail_records": "--tail",
    "compact.tail_tokens": "--tail-tokens",
    "compact.cluster": "--cluster",
    "compact.ratio": "--ratio",
    "watch.debounce_ms": "--debounce",
    "watch.interval_minutes": "--interval",
}
