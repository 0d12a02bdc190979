"""Every setting: its name, type, default, bounds, meaning and flag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memcli.checking import Any
from memcli.embedding import encoders
from memcli.record import Record

FLAG_ORIGIN = "flag"  # of a value from the command line


class Key(Record):
    """One setting: its name, type, default, choices and meaning."""

    name: str
    type: type
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    added: Sequence[str] = ()  # further choices that only the user's own settings can name
    low: float | None = None
    high: float | None = None
    flag: str = ""  # the option that overrides it
    user_only: bool = False
    user_choices: tuple[str, ...] = ()  # choices that a workspace's file cannot make
    besides: str = ""  # in words: values accepted besides the choices
    pattern: str = ""  # a regular expression for `besides`
    synonyms: tuple[tuple[str, str], ...] = ()  # (other name, choice)

    @property
    def variable(self) -> str:
        """Name the environment variable: search.limit is MEMCLI_SEARCH_LIMIT."""
        special = {"store.path": "MEMCLI_STORE"}
        return special.get(self.name, "MEMCLI_" + self.name.upper().replace(".", "_"))


# Only printable ASCII, so that no template can end the escape sequence around it.
_LINK = r"(?=.*\{path\})[A-Za-z][A-Za-z0-9+.-]*:(?:[!-z|~]|\{(?:path|line|host)\})*"

KEYS: tuple[Key, ...] = (
    Key("secrets", str, "redact", "What to do with keys and tokens in notes: redact them, warn,"
        " or show them (off).", choices=("redact", "warn", "off"), user_choices=("warn", "off")),
    Key("capture", str, "off", "Where hooks save facts of a session: memory/inbox.md (inbox), the"
        " notes of agents (direct) or nowhere.", choices=("off", "inbox", "direct"),
        user_only=True),
    Key("store.path", str, "", "Path of the index file. Empty: in your cache folder.",
        user_only=True),
    Key("store.url", str, "", "Server of the shared index: postgresql://HOST/NAME. See: memcli"
        " help shared-index.", user_only=True),
    Key("store.tenant", str, "", "Tenant whose workspaces --everywhere searches. Empty: all that"
        " you may read.", user_only=True),
    Key("files.scope", str, "folder", "Files that are searched: all Markdown in the folder, or only"
        " MEMORY.md, USER.md and memory/.", choices=("folder", "memory")),
    Key("files.agent_memories", list, [], "Agent memories that are searched too. See: memcli help"
        " agent-memory.", user_only=True, flag="--with"),
    Key("files.include", list, [], "More globs to search, with files.scope = memory."),
    Key("files.exclude", list, [], "Globs that are not searched, in gitignore syntax."),
    Key("files.evergreen", list, [], "Globs of documents whose date is not used."),
    Key("files.always", list, [], "Globs of documents that every context includes in full."),
    Key("files.soft", list, [], "Globs of documents that a context includes if they fit."),
    Key("files.max_bytes", int, 8 * 1024 * 1024, "Larger files are skipped.", low=1),
    Key("files.follow_symlinks", bool, False, "Follow symbolic links that stay inside their"
        " source."),
    Key("chunk.tokens", int, 400, "Maximum tokens of a chunk (estimated).", low=32, high=2000),
    Key("chunk.overlap", int, 0, "Tokens of the previous chunk that a chunk repeats.",
        low=0, high=1000),
    Key("embedding.encoder", str, "auto", "Model that turns text into vectors. auto: by the"
        " language of most notes.",
        choices=encoders.PUBLIC, added=encoders.ADDED, user_choices=encoders.USER_ONLY,
        flag="--encoder"),
    Key("embedding.fallback", list, [], "Models to use if embedding.encoder cannot be used.",
        choices=encoders.PUBLIC, added=encoders.ADDED, user_only=True),
    Key("embedding.threads", int, 0, "Segments that index embeds at the same time. 0: one per"
        " processor, or 4 requests to an endpoint.", low=0, high=64),
    Key("onnx.folder", str, "", "Folder with model.onnx and tokenizer.json.", user_only=True),
    Key("onnx.pooling", str, "mean", "How token vectors become one vector. model: the model does"
        " it.", choices=("mean", "cls", "model"), user_only=True),
    Key("onnx.query_prefix", str, "", "Text that the model needs before a query.", user_only=True),
    Key("onnx.passage_prefix", str, "", "Text that the model needs before a passage.",
        user_only=True),
    Key("onnx.max_tokens", int, 256, "Maximum tokens of a text. Longer texts are split.",
        low=16, high=32768, user_only=True),
    Key("onnx.matryoshka", int, 0, "Components of a first search, for Matryoshka models. 0: all"
        " components at once.", low=0, high=16384, user_only=True),
    Key("openai.url", str, "", "An OpenAI-compatible endpoint, such as http://127.0.0.1:11434/v1.",
        user_only=True),
    Key("openai.model", str, "", "Name of the model on the server.", user_only=True),
    Key("openai.key_variable", str, "", "Environment variable with the API key. Empty: no key.",
        user_only=True),
    Key("openai.dimension", int, 0, "Number of components of the vectors.",
        low=0, high=16384, user_only=True),
    Key("openai.query_prefix", str, "", "Text that the model needs before a query.",
        user_only=True),
    Key("openai.passage_prefix", str, "", "Text that the model needs before a passage.",
        user_only=True),
    Key("openai.max_tokens", int, 512, "Maximum tokens of a text. Longer texts are split.",
        low=16, high=32768, user_only=True),
    Key("openai.matryoshka", int, 0, "Components of a first search, for Matryoshka models. 0: all"
        " components at once.", low=0, high=16384, user_only=True),
    Key("openai.timeout_seconds", float, 30.0, "Seconds to wait for an answer. A search waits at"
        " most 10.", low=0.1, high=600, user_only=True),
    Key("matryoshka.first", float, 1.0, "If the best cosine of the first components is above"
        " this, the first search is the answer. 1: never.", low=0, high=1),
    Key("matryoshka.second", float, 1.0, "The same for 256 components.", low=0, high=1),
    Key("search.limit", int, 10, "Number of passages.", low=1, high=100, flag="--limit"),
    Key("search.mode", str, "hybrid", "Search by keyword, by meaning or both.",
        choices=("hybrid", "keyword", "semantic"),
        synonyms=(("lexical", "keyword"), ("dense", "semantic")), flag="--mode"),
    Key("search.profile", str, "default", "Set of ranking rules. See: memcli help ranking.",
        choices=("default", "classic", "convex", "two-pass"), flag="--profile"),
    Key("search.fusion", str, "scaled", "How keyword and semantic scores are combined.",
        choices=("scaled", "weighted", "rrf"), flag="--fusion"),
    Key("search.semantic_weight", float, 0.6, "Weight of semantic search.", low=0, high=1),
    Key("search.keyword_weight", float, 0.4, "Weight of keyword search.", low=0, high=1),
    Key("search.universe", int, 200, "Candidates per retriever: chunks of keyword search,"
        " segments of semantic search.", low=1, high=1000),
    Key("search.candidate_multiplier", int, 4, "Candidates per retriever, times the limit"
        " (classic).", low=1, high=20),
    Key("search.half_life_days", float, 30.0, "Days after which the weight of a date has halved.",
        low=0.01),
    Key("search.decay_floor", float, 1.0, "Minimum weight of an old date.", low=0, high=1),
    Key("search.mmr_lambda", float, 0.8, "1 ranks only by relevance, 0 only by novelty.",
        low=0, high=1),
    Key("search.mmr_min", float, -1.0, "Stop when relevance and novelty fall below this.",
        low=-1, high=1),
    Key("search.min_score", float, 0.0, "Minimum confidence of a passage.", low=0, high=1,
        flag="--min-score"),
    Key("search.date_order", str, "mdy", "How 7/12/2023 is read: mdy is 12 July, dmy 7 December.",
        choices=("mdy", "dmy")),
    Key("search.repair", bool, True, "Correct words that no note contains. Off with --exact."),
    Key("search.follow_up", bool, True,
        "Over MCP and --stdin, read he, there and that day by the last two questions."),
    Key("search.rerank", str, "none", "How the 20 best passages are ranked again.",
        choices=("none", "tokens", "onnx", "endpoint"), user_choices=("onnx", "endpoint"),
        flag="--rerank"),
    Key("search.view", str, "all", "Logs and summaries: all, active (without summarised lines) or"
        " raw (without summaries).", choices=("active", "all", "raw"), flag="--view"),
    Key("search.quality_weight", float, 0.5, "Penalty of a summary that covers little of its"
        " lines.", low=0, high=1),
    Key("convex.alpha", float, 0.7, "Profile convex: weight of semantic search. The three sum to"
        " 1.", low=0, high=1),
    Key("convex.beta", float, 0.2, "Weight of recency.", low=0, high=1),
    Key("convex.gamma", float, 0.1, "Weight of scope.", low=0, high=1),
    Key("convex.decay_session", float, 1e-4, "Decay of logs per second.", low=0, high=1),
    Key("convex.decay_user", float, 1e-5, "The same for notes about the user.", low=0, high=1),
    Key("convex.decay_global", float, 2e-6, "The same for all other notes.", low=0, high=1),
    Key("convex.scope_session", float, 1.0, "Weight of the scope of a log.", low=0, high=1),
    Key("convex.scope_user", float, 0.6, "The same for notes about the user.", low=0, high=1),
    Key("convex.scope_global", float, 0.3, "The same for all other notes.", low=0, high=1),
    Key("passes.first", int, 16, "Profile two-pass: passages per retriever in the first pass.",
        low=1, high=100),
    Key("passes.second", int, 8, "Passages that the second pass keeps.", low=1, high=100),
    Key("passes.theta", float, 0.2, "Minimum cosine of the first pass.", low=0, high=1),
    Key("passes.kappa", float, 0.3, "Weight of key words.", low=0, high=100),
    Key("authority.recency", float, 0.5, "Weight of recency, for two-pass and for a context"
        " without a query. The three sum to 1.", low=0, high=1),
    Key("authority.frequency", float, 0.2, "Weight of use, if it is counted.", low=0, high=1),
    Key("authority.authored", float, 0.3, "Weight of `authority` in front matter.", low=0, high=1),
    Key("authority.half_life_days", float, 30.0, "Days after which recency has halved.", low=0.01),
    Key("access.count", bool, False, "Count the documents of get and search --used, for authority.",
        user_only=True),
    Key("rerank.seconds", float, 5.0, "Seconds that a search waits for reranking.",
        low=0.1, high=600, user_only=True),
    Key("rerank.folder", str, "", "Folder of a cross-encoder: model.onnx and tokenizer.json.",
        user_only=True),
    Key("rerank.max_tokens", int, 512, "Maximum tokens of query and passage. Longer pairs are cut.",
        low=16, high=32768, user_only=True),
    Key("rerank.url", str, "", "A server with POST URL/rerank, such as http://127.0.0.1:8080/v1.",
        user_only=True),
    Key("rerank.model", str, "", "Name of the model. A server with one model needs none.",
        user_only=True),
    Key("rerank.key_variable", str, "", "Environment variable with the API key. Empty: no key.",
        user_only=True),
    Key("expand.tokens", int, 1500, "Maximum tokens of source lines that --expand adds.", low=0),
    Key("context.budget", int, 2000, "Maximum tokens of a context, with fences and citations.",
        low=1, flag="--budget"),
    Key("context.tail", int, 1, "Number of newest entries in every context. 0: none.", low=0,
        flag="--tail"),
    Key("context.always_share", float, 0.3, "Share of the budget for files marked `always`. Above"
        " it, memcli warns.", low=0, high=1),
    Key("context.soft_share", float, 0.1, "Share of the budget for files marked `soft`.",
        low=0, high=1),
    Key("context.preference_share", float, 0.15, "Share of the budget for instructions and"
        " preferences that touch the question's subject.", low=0, high=1),
    Key("context.tail_share", float, 0.2, "Share of the budget for more of the newest entries.",
        low=0, high=1),
    Key("context.hop_eta", float, 0.5, "Share of a passage's score that its links get.",
        low=0, high=1),
    Key("context.hop_theta", float, 0.15, "Links with a lower score are not followed.",
        low=0, high=1),
    Key("compact.tail_days", int, 30, "Days before the newest entry that are never summarised.",
        low=0, high=36500, flag="--tail-days"),
    Key("compact.tail_entries", int, 5, "Newest entries that are never summarised, at least.",
        low=0, flag="--tail"),
    Key("compact.cluster", int, 8, "Entries per summary.", low=2, high=1000, flag="--cluster"),
    Key("compact.ratio", float, 0.35, "Length of a summary, as a share of its lines.",
        low=0.01, high=0.9, flag="--ratio"),
    Key("compact.context_tokens", int, 200, "Tokens of the previous summary that are not repeated.",
        low=0),
    Key("compact.command", list, [], "Program that writes summaries, with its arguments.",
        user_only=True),
    Key("compact.folder", str, "", "Folder of a model, for --summarizer onnx. See: memcli help"
        " compact.", user_only=True),
    Key("compact.prompt", str, "summarize: ", "Text before the lines. {text} marks their place if"
        " more text follows.", user_only=True),
    Key("compact.reads", int, 512, "Maximum tokens that the model reads at once.",
        low=16, high=32768, user_only=True),
    Key("compact.writes", int, 128, "Maximum tokens that the model writes.",
        low=1, high=4096, user_only=True),
    Key("gate.least", float, 0.0, "Minimum score of a note for `remember`. 0: any.", low=0, high=1),
    Key("gating.novelty", float, 0.3, "Weight of how new a note is. The three sum to 1.",
        low=0, high=1),
    Key("gating.specificity", float, 0.3, "Weight of names, numbers and dates in a note.",
        low=0, high=1),
    Key("gating.kind", float, 0.4, "Weight of the kind: rule, decision, promise or fact.",
        low=0, high=1),
    Key("sync.on_search", bool, True, "Index changed files before a search."),
    Key("sync.seconds", float, 2.0, "Seconds that a search reads changed files.", low=0, high=3600),
    Key("sync.segments", int, 200, "Maximum segments that a search embeds by itself.", low=0),
    Key("sync.first", int, 2000, "Maximum files that a search indexes by itself at first.", low=0),
    Key("watch.debounce_ms", int, 1500, "Milliseconds that index --watch waits after a change.",
        low=0, high=3_600_000, flag="--debounce"),
    Key("watch.threads", int, 1, "Segments that index --watch embeds at the same time.",
        low=0, high=64),
    Key("watch.interval_minutes", float, 10.0, "Minutes between full scans of index --watch. 0:"
        " none.", low=0, high=10_000, flag="--interval"),
    Key("terminal.hyperlink", str, "file", "Target of the links of citations on a terminal.",
        choices=("file", "vscode", "cursor", "zed", "kitty", "none"), user_only=True,
        besides="a URL with {path} in it, and {line} and {host}", pattern=_LINK),
)  # fmt: skip
BY_NAME: Mapping[str, Key] = {key.name: key for key in KEYS}
FLAGS: Mapping[str, str] = {key.name: key.flag for key in KEYS if key.flag}


LEAST_SIMILAR = 0.61  # of a name that may be meant: 0 to 1, of difflib


def similar(name: str, names: Iterable[str]) -> str:
    """Return the nearest of the allowed names; "" if none is near."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, [*names], n=1, cutoff=LEAST_SIMILAR)), "")


def suggestion(name: str, names: Sequence[str]) -> str:
    """Name the nearest of the allowed names, if one is near."""
    near = similar(name, names)
    return f"; did you mean {near}?" if near else ""


def nearest(name: str, names: Sequence[str]) -> str:
    """Return the nearest of the allowed names, or the first if none is near."""
    return similar(name, names) or names[0]
