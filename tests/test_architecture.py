"""Who may import whom, how large a piece may grow, and who may touch the outside world."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from memcli.types import AS_OF, EMPTY, FAILED, NOT_INDEXED, OUT_OF_DATE, REMOTE, UP_TO_DATE
from tests.support import loaded_by

PACKAGE = Path(__file__).parents[1] / "memcli"
# A package imports what stands in rows below its own, and itself.
ROWS = (
    "cli",
    "agents hook mcp",
    "api",
    "lint",
    "context bench remember",
    "render compaction",
    "search indexing history",
    "store",
    "config",
    "embedding markdown workspace",
    "dates",
    "language",
    "threads",
    "types errors secrets system",
    "record digests",
    "checking",
)
MOST_LINES = 60  # of a function, without its signature and its docstring
MOST_PARAMETERS, MOST_POSITIONAL = 8, 5
# What only the store of SQLite says.
SQLITE = r"(?i:sqlite)|apsw|fts5|\bMATCH\b|-wal\b|\browid\b|vec0|user_version|\bmeta\("
SQLITE_AT = ("memcli.store.sqlite", "memcli.store.open", "memcli.store.tokens")
# A clock of SQL: the time comes from the caller.
SQL_CLOCKS = r"unixepoch|julianday|CURRENT_(?:TIME|DATE)|\('now'"
# No part of the name of a module, a class, a function, a parameter or a field: participles that
# do not say what a thing is, and words with a better one in `help contributing`.
UNWANTED = {
    "found", "told", "said", "given", "held", "kept", "asked", "sought", "looked", "happening",
    "standing", "untold", "anew", "wired", "wiring", "distant", "wanted",
    "leg", "legs", "lexical", "dense", "hit", "hits", "receipt", "receipts", "preset", "presets",
    "skin", "crowd", "reach",
}  # fmt: skip
# Not for a local name: it says what happened to the value, not what it is.
UNWANTED_LOCALS = {"found", "told", "said", "heard", "given", "held", "kept", "asked", "wanted"}
KNOWN_NAMES = {"NotFoundError"}  # as in other libraries
# Asks which system it runs on. `launch` is a program of its own, `speed` one for POSIX only, and
# `here` passes the name on.
OF_A_SYSTEM = r"sys\.platform\b(?!`)|os\.name\b|(?:has|get)attr\(os|import (?:fcntl|msvcrt)|O_NOF"
SYSTEM_AT = {"memcli.system", "memcli.cli.launch", "memcli.cli.commands.bench_command",
             "memcli.cli.commands.agents_command"}  # fmt: skip
Import = tuple[str, str]  # (module that imports, module that is imported)


@cache
def _modules() -> tuple[Path, ...]:
    return tuple(sorted(PACKAGE.rglob("*.py")))


def _name(file: Path) -> str:
    name = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
    return name.removesuffix(".__init__")


@cache
def _trees() -> tuple[tuple[str, ast.Module], ...]:
    return tuple((_name(file), ast.parse(file.read_text("utf-8"))) for file in _modules())


@cache
def _imports() -> tuple[Import, ...]:
    """List what modules import, wherever it stands; of our own, a module by its full name."""
    return tuple(_found_imports())


def _found_imports() -> Iterator[Import]:
    own = {_name(file) for file in _modules()}
    for importer, tree in _trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from ((importer, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{importer} imports relatively"
                named = [f"{node.module}.{alias.name}" for alias in node.names]
                yield from ((importer, n if n in own else node.module or "") for n in named)


def _room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def _row(room: str) -> int:
    return next(at for at, rooms in enumerate(ROWS) if room in rooms.split())


def _users_of(*libraries: str) -> set[str]:
    return {importer for importer, imported in _imports() if imported.split(".")[0] in libraries}


def test_packages_import_only_what_stands_below_them() -> None:
    pairs = {
        (_room(importer), _room(imported))
        for importer, imported in _imports()
        if _room(importer) not in ("", "__main__") and imported.startswith("memcli.")
    }
    assert {(a, b) for a, b in pairs if a != b and _row(a) >= _row(b)} == set()


def test_no_command_leads_back_to_what_runs_it() -> None:
    """The program imports commands by their names; one that imported it would close a circle."""
    names = {_name(file) for file in _modules()}
    reached = {name for name in names if name.startswith("memcli.cli.commands.")}
    edges = list(_edges(names))
    before: set[str] = set()
    while reached != before:
        before = set(reached)
        reached |= {imported for importer, imported in edges if importer in reached}
    assert reached.isdisjoint({f"memcli.cli.{m}" for m in ("main", "typer_program", "generate")})


def _edges(names: set[str]) -> Iterator[Import]:
    """List the imports between modules of memcli, those of a module from its package included."""
    for importer, tree in _trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                found = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
                yield from ((importer, str(name)) for name in found & names)


def test_records_are_of_the_kind_that_costs_nothing_to_define() -> None:
    """`typing.NamedTuple` compiles its constructor at every start; only `record` names it."""
    importers = {
        importer
        for importer, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "typing"
        if any(alias.name == "NamedTuple" for alias in node.names)
    }
    assert importers == {"memcli.record"}


def test_every_package_stands_in_a_row() -> None:
    rooms = {room for row in ROWS for room in row.split()}
    found = {_room(_name(file)) for file in _modules()} - {"", "__main__"}
    assert found - rooms == set()
    assert rooms - found == set()


def test_no_files_import_one_another_in_a_circle() -> None:
    """What an editor alone reads counts: who changes one file of a circle has to know them all."""
    graph: dict[str, set[str]] = {_name(file): set() for file in _modules()}
    for importer, imported in _imports():
        if imported in graph:
            graph[importer].add(imported)
    assert _circle(graph) == []


def _circle(graph: Mapping[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def _functions(name: str, tree: ast.AST) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        inside = name
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inside = f"{name}.{node.name}"
        if isinstance(node, ast.FunctionDef):
            yield inside, node
        yield from _functions(inside, node)


def _every_function() -> Iterator[tuple[str, ast.FunctionDef]]:
    for name, tree in _trees():
        yield from _functions(name, tree)


def _lines(function: ast.FunctionDef) -> int:
    """Count the lines behind the signature and the docstring."""
    has_docstring = ast.get_docstring(function, clean=False) is not None
    body = function.body[1:] if has_docstring else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_functions_stay_short() -> None:
    long = {name for name, function in _every_function() if _lines(function) > MOST_LINES}
    assert long == set()


def test_functions_take_few_parameters() -> None:
    many = set()
    for name, function in _every_function():
        listed = [*function.args.posonlyargs, *function.args.args]
        positional = [a for a in listed if a.arg not in ("self", "cls")]
        total = len(positional) + len(function.args.kwonlyargs)
        if total > MOST_PARAMETERS or len(positional) > MOST_POSITIONAL:
            many.add(name)
    assert many == set()


def test_only_the_store_of_sqlite_speaks_of_sqlite() -> None:
    said = {
        (_name(file), word)
        for file in _modules()
        if not _name(file).startswith(SQLITE_AT)
        for word in re.findall(SQLITE, file.read_text("utf-8"))
    }
    assert said == set()


def test_one_module_knows_what_differs_between_systems() -> None:
    asking = {_name(file) for file in _modules() if re.search(OF_A_SYSTEM, file.read_text("utf-8"))}
    assert asking == SYSTEM_AT


def test_the_shared_store_is_known_to_what_opens_it_alone() -> None:
    importers = {
        importer
        for importer, imported in _imports()
        if imported.startswith("memcli.store.postgres")
        and not importer.startswith("memcli.store.postgres")
    }
    assert importers == {"memcli.store.open", "memcli.api.shared"}
    assert _users_of("psycopg", "psycopg_binary") == set()  # libpq is what it brings


def test_no_clock_of_sql_is_asked() -> None:
    asking = {_name(f) for f in _modules() if re.search(SQL_CLOCKS, f.read_text("utf-8"))}
    assert asking == set()


@pytest.mark.parametrize(
    ("libraries", "rooms"),
    [
        pytest.param("typer rich click", "cli render", id="command line"),
        pytest.param("onnxruntime tokenizers", "embedding", id="model runtime"),
        pytest.param("mcp mcp_types anyio", "mcp", id="SDK of the protocol"),
    ],
)
def test_a_library_stays_in_its_packages(libraries: str, rooms: str) -> None:
    users = {_room(module) for module in _users_of(*libraries.split())}
    assert users
    assert users <= {*rooms.split()}


def test_sql_stays_in_the_store() -> None:
    users = _users_of("apsw", "sqlite3", "sqlite_vec")
    assert {user.rpartition(".")[0] for user in users} == {"memcli.store.sqlite"}


def _names(tree: ast.AST) -> Iterator[str]:
    """List what a module names, in full however it was imported: `time.time`, `print`."""
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                first = each.name.split(".")[0]
                known[each.asname or first] = each.name if each.asname else first
        elif isinstance(node, ast.ImportFrom):
            known |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
            yield from known.values()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            head, dot, rest = ast.unparse(node).partition(".")
            yield known.get(head, head) + dot + rest


@pytest.mark.parametrize(
    "code",
    [
        "import time; time.time()",
        "import time as t; t.time()",
        "from time import time; time()",
        "from time import time as now",
        "def f():\n    from time import time",
        "import time\nclock = time.time",
    ],
)
def test_a_clock_is_seen_however_it_is_imported(code: str) -> None:
    assert "time.time" in set(_names(ast.parse(code)))


def _modules_that_name(*names: str) -> set[str]:
    return {module for module, named in _named().items() if not named.isdisjoint(names)}


@cache
def _named() -> dict[str, frozenset[str]]:
    return {module: frozenset(_names(tree)) for module, tree in _trees()}


def test_only_config_and_cli_read_the_environment() -> None:
    rooms = {_room(m) for m in _modules_that_name("os.environ", "os.environb", "os.getenv")}
    assert rooms <= {"config", "api", "cli"}


def test_only_the_memory_reads_the_clock() -> None:
    days = ("datetime.datetime.now", "datetime.datetime.today", "datetime.date.today")
    wall = ("time.time", "time.time_ns", *days)
    assert _modules_that_name(*wall) == {"memcli.api.workspace"}
    intervals = {"memcli.api.workspace", "memcli.cli.launch"}
    assert _modules_that_name("time.monotonic", "time.perf_counter") <= intervals


def test_only_cli_prints_and_exits() -> None:
    speaking = ("print", "sys.exit", "os._exit", "exit", "sys.stdout", "sys.stderr")
    assert {_room(module) for module in _modules_that_name(*speaking)} == {"cli"}


def test_a_state_of_an_index_is_compared_by_its_name() -> None:
    """`memcli.types` names them once: a word that is spelt wrong elsewhere would never be equal."""
    words = {AS_OF, EMPTY, FAILED, UP_TO_DATE, NOT_INDEXED, REMOTE, OUT_OF_DATE}
    spelt = {
        module
        for module, tree in _trees()
        if module.split(".")[1:2] != ["agents"]
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith("state")
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and part.value in words
    }
    assert spelt - {"memcli.cli.agents_output"} == set()


def test_no_two_classes_share_a_name() -> None:
    """A name that is looked for leads to one class, and an import says which."""
    names = [
        node.name
        for _, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]
    twice = {name for name in names if names.count(name) > 1}
    assert twice == set()


def _declared(tree: ast.Module) -> Iterator[str]:
    """List the names of classes, functions, parameters, and fields of classes and objects."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        if isinstance(node, ast.ClassDef):
            yield from (ast.unparse(e.target) for e in node.body if isinstance(e, ast.AnnAssign))
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def test_no_name_has_an_unwanted_word() -> None:
    names = {
        (module, name)
        for module, tree in _trees()
        for name in (module.rpartition(".")[2], *_declared(tree))
        if UNWANTED & {word.lower() for word in re.findall(r"[A-Z]?[a-z]+", name)}
    }
    assert {(module, name) for module, name in names if name not in KNOWN_NAMES} == set()


def test_no_local_name_is_a_participle_without_a_noun() -> None:
    names = {
        (module, node.id)
        for module, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    assert {(module, name) for module, name in names if name in UNWANTED_LOCALS} == set()


def _loaded(*arguments: str, **environ: str) -> set[str]:
    """Run memcli in a process of its own and give the top-level modules that it has loaded."""
    code = f"from memcli.cli.main import run\nassert run({arguments}) == 0"
    loaded = loaded_by(code, **environ)
    return {name.split(".")[0] for name in loaded} | loaded & {"importlib.metadata"}


def test_top_help_loads_no_library() -> None:
    heavy = {"typer", "numpy", "onnxruntime", "apsw", "rich", "markdown_it", "tokenizers"}
    assert _loaded("--help") & heavy == set()


PLAIN_NEVER = {
    "typer", "click", "rich", "numpy", "onnxruntime", "tokenizers", "markdown_it", "yaml",
    "pathspec", "watchdog", "pydantic", "asyncio", "importlib.metadata", "dateutil", "tomllib",
    "pathlib", "typing", "inspect", "ast", "dataclasses", "subprocess", "urllib", "signal",
    "shutil", "tempfile", "threading", "sqlite3", "mcp", "anyio",
}  # fmt: skip


@pytest.mark.parametrize(
    "line",
    ["search pool --mode keyword --no-sync", "search pool --mode keyword -n5 --json", "status",
     "index", "ls --limit=3", "get MEMORY.md", "related MEMORY.md:1 --mode keyword"],
)  # fmt: skip
def test_a_plain_command_loads_no_parser_no_model_and_no_typer(workspaces: Path, line: str) -> None:
    folder = str(workspaces / "engineer")
    _loaded("index", "-q", "-w", folder, MEMCLI_EMBEDDING_ENCODER="none")
    loaded = _loaded(*line.split(), "-w", folder, MEMCLI_EMBEDDING_ENCODER="none")
    assert loaded & PLAIN_NEVER == set()


def test_the_help_of_a_bench_command_loads_no_chart_library() -> None:
    assert _loaded("bench", "quality", "--help") & {"pygal", "numpy", "apsw"} == set()


def test_a_hybrid_search_of_a_fresh_index_needs_no_numpy(workspaces: Path) -> None:
    folder = str(workspaces / "engineer")
    _loaded("index", "-q", "-w", folder)
    loaded = _loaded("search", "why did the pool run dry", "--require-semantic", "-w", folder)
    # From 3.14 on, ctypes imports it, by way of sysconfig.
    of_ctypes = {"threading"} if sys.version_info >= (3, 14) else set()
    assert loaded & PLAIN_NEVER - of_ctypes == set()
