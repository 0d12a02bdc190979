"""Who may import whom, who may touch the outside world, and what a start may load."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "memcli"
# A package imports what stands in rows below its own, and itself.
ROWS = (
    ("cli",),
    ("api",),
    ("context", "bench"),
    ("render", "compaction"),
    ("search", "indexing"),
    ("store",),
    ("config",),
    ("embedding", "markdown", "workspace"),
    ("types", "errors"),
)
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
    return parts[1] if len(parts) > 1 else ""


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
    wrong = {(a, b) for a, b in pairs if a != b and _row(a) >= _row(b)}
    assert wrong == set()


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
    assert found <= rooms
    assert rooms - found == set()


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
    rooms = {_room(m) for m in _modules_that_name("os.environ", "os.getenv")}
    assert rooms <= {"config", "api", "cli"}


def test_only_the_memory_reads_the_clock() -> None:
    wall = ("time.time", "time.time_ns", "datetime.now", "datetime.today", "date.today")
    assert _modules_that_name(*wall) == {"memcli.api.opened"}
    intervals = {"memcli.api.opened", "memcli.cli.launch"}
    assert _modules_that_name("time.monotonic", "time.perf_counter") <= intervals


def test_only_cli_prints_and_exits() -> None:
    speaking = ("print()", "sys.exit", "os._exit", "exit()", "sys.stdout", "sys.stderr")
    assert {_room(module) for module in _modules_that_name(*speaking)} == {"cli"}


def test_no_two_classes_share_a_name() -> None:
    """A name that is looked for leads to one class, and an import says which."""
    names = [
        node.name
        for file in _modules()
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    twice = {name for name in names if names.count(name) > 1}
    assert twice == set()


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
