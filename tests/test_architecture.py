"""Who may import whom, who may touch the outside world, and what a start may load."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "memcli"
ROWS = (
    ("cli",),
    ("indexing", "search", "compaction", "context", "bench"),
    ("workspace", "markdown", "embedding", "store", "render", "config"),
    ("types", "errors"),
)
# Parts of config, split for its length.
ROOM_OF = {"source_blocks": "config", "config_keys": "config"}
# (importer, imported): why, where the rows alone would forbid it.
ALLOWED = {
    ("bench", "search"): "the bench asks through the pipeline of search",
    ("context", "search"): "what a question asks for is found by the pipeline of search",
    ("compaction", "search"): "what a summary leaves out is named without stop words",
    ("compaction", "indexing"): "what is a log and what a summary, the indexer decides",
    ("store", "markdown"): "the store counts and hashes as the chunker does",
    ("render", "search"): "what is shown is a hit",
    ("render", "indexing"): "what is shown is how fresh the answer is",
    ("render", "markdown"): "a shown passage has the hash and the tokens of its lines",
    ("config", "embedding"): "which encoders can be named, their table says",
    ("config", "workspace"): "the default source is found, not configured",
}
Import = tuple[str, str]  # (module that imports, module that is imported)


def _modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def _name(file: Path) -> str:
    return ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)


def _imports() -> Iterator[Import]:
    for file in _modules():
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((_name(file), alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{_name(file)} imports relatively"
                yield _name(file), node.module or ""


def _room(module: str) -> str:
    parts = module.split(".")
    room = parts[1] if len(parts) > 1 else ""
    return ROOM_OF.get(room, room)


def _row(room: str) -> int:
    return next(at for at, rooms in enumerate(ROWS) if room in rooms)


def _users_of(*libraries: str) -> set[str]:
    return {importer for importer, imported in _imports() if imported.split(".")[0] in libraries}


def test_packages_import_only_what_stands_below_them() -> None:
    pairs = {
        (_room(importer), _room(imported))
        for importer, imported in _imports()
        if imported.startswith("memcli.") and _room(importer) not in ("", "__main__", "__init__")
    }
    wrong = {
        pair
        for pair in pairs
        if pair[0] != pair[1] and pair not in ALLOWED and _row(pair[0]) >= _row(pair[1])
    }
    assert wrong == set()
    assert set(ALLOWED) - pairs == set(), "these exceptions are not needed"


def test_no_command_leads_back_to_what_runs_it() -> None:
    """The program imports commands by their names; one that imported it would close a circle."""
    names = {_name(file) for file in _modules()}
    reached = {name for name in names if name.startswith("memcli.cli.commands.")}
    edges = list(_edges(names))
    before: set[str] = set()
    while reached != before:
        before = set(reached)
        reached |= {imported for importer, imported in edges if importer in reached}
    assert reached.isdisjoint({"memcli.cli.main", "memcli.cli.generate"})


def _edges(names: set[str]) -> Iterator[Import]:
    """List the imports between modules of memcli, those of a module from its package included."""
    for file in _modules():
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                found = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
                yield from ((_name(file), str(name)) for name in found & names)


def test_every_package_stands_in_a_row() -> None:
    rooms = {room for row in ROWS for room in row}
    found = {_room(_name(file)) for file in _modules()} - {"__init__", "__main__"}
    assert found == rooms


def test_command_line_libraries_stay_in_cli_and_render() -> None:
    assert {_room(module) for module in _users_of("typer", "rich", "click")} <= {"cli", "render"}


def test_sql_stays_in_the_store() -> None:
    assert {_room(module) for module in _users_of("apsw", "sqlite3", "sqlite_vec")} == {"store"}


def test_the_model_runtime_stays_in_embedding() -> None:
    assert {_room(module) for module in _users_of("onnxruntime", "tokenizers")} == {"embedding"}


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield f"{node.func.id}()"


def _modules_that_name(*names: str) -> set[str]:
    found = set()
    for file in _modules():
        if not set(names).isdisjoint(_names(ast.parse(file.read_text("utf-8")))):
            found.add(_name(file))
    return found


def test_only_config_and_cli_read_the_environment() -> None:
    assert {_room(m) for m in _modules_that_name("os.environ", "os.getenv")} <= {"config", "cli"}


def test_only_the_context_reads_the_clock() -> None:
    wall = ("time.time", "time.time_ns", "datetime.now", "datetime.today", "date.today")
    assert _modules_that_name(*wall) == {"memcli.cli.context"}
    intervals = {"memcli.cli.context", "memcli.cli.launch"}
    assert _modules_that_name("time.monotonic", "time.perf_counter") <= intervals


def test_only_cli_prints_and_exits() -> None:
    speaking = ("print()", "sys.exit", "os._exit", "exit()", "sys.stdout", "sys.stderr")
    assert {_room(module) for module in _modules_that_name(*speaking)} == {"cli"}


def test_modules_stay_short() -> None:
    lengths = {_name(f): len(f.read_text("utf-8").splitlines()) for f in _modules()}
    assert {name: length for name, length in lengths.items() if length > 300} == {}


def _loaded(*arguments: str, **environ: str) -> set[str]:
    """Run memcli in a process of its own and give the top-level modules it has loaded."""
    program = (
        "import sys\n"
        "from memcli.cli.main import run\n"
        f"code = run({list(arguments)!r})\n"
        "names = {name.split('.')[0] for name in sys.modules}\n"
        "names |= set(sys.modules) & {'importlib.metadata'}\n"
        "sys.stderr.write('loaded:' + ' '.join(sorted(names)))\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.rpartition("loaded:")[2].split())


def test_top_help_loads_no_library() -> None:
    heavy = {"typer", "numpy", "onnxruntime", "apsw", "rich", "markdown_it", "tokenizers"}
    assert _loaded("--help") & heavy == set()


# Typer imports pathlib itself, so it stands in no list.
KEYWORDS_NEVER = {
    "numpy", "onnxruntime", "tokenizers", "rich", "markdown_it", "yaml", "pathspec", "watchdog",
    "pydantic", "asyncio", "importlib.metadata", "dateutil", "tomllib",
}  # fmt: skip


def test_a_keyword_search_loads_no_model_and_no_parser(workspaces: Path) -> None:
    folder = str(workspaces / "engineer")
    _loaded("index", "-q", "-w", folder, MEMCLI_EMBEDDING_ENCODER="none")
    search = ("search", "pool", "-w", folder, "--mode", "lexical")
    assert _loaded(*search, "--no-sync") & KEYWORDS_NEVER == set()
    assert _loaded(*search) & KEYWORDS_NEVER == set()


def test_a_bench_command_loads_no_chart_library_and_no_other_command() -> None:
    assert _loaded("bench", "quality", "--help") & {"pygal", "numpy", "apsw"} == set()


def test_a_hybrid_search_of_a_fresh_index_needs_no_numpy(workspaces: Path) -> None:
    folder = str(workspaces / "engineer")
    _loaded("index", "-q", "-w", folder)
    loaded = _loaded("search", "why did the pool run dry", "--require-dense", "-w", folder)
    assert loaded & {"numpy", "onnxruntime", "tokenizers", "rich", "markdown_it", "yaml"} == set()
