"""Measure memcli by hand: `python -m tests.benchmarks NAME [OPTION ...]`.

NAME is a module of this folder; `NAME --help` says what it measures. With `--write PAGE.md`, the
figures take their place in a page (`figures.py`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from memcli.errors import UsageError
from tests.benchmarks import figures

HERE = Path(__file__).parent
NAMES = sorted({file.stem for file in HERE.glob("[a-z]*.py")} - {"figures"})


def main(arguments: Sequence[str]) -> None:
    """Run the benchmark that is named."""
    if not arguments or arguments[0] not in NAMES:
        raise SystemExit(f"{__doc__}\nNames: {', '.join(NAMES)}")
    name, *rest = arguments
    benchmark = import_module(f"tests.benchmarks.{name}")
    parser = argparse.ArgumentParser(
        prog=f"python -m tests.benchmarks {name}",
        description=benchmark.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for names, settings in benchmark.OPTIONS:
        parser.add_argument(*names, **settings)
    parser.add_argument("--write", type=Path, metavar="PAGE.md", help="put the figures there")
    options = parser.parse_args(rest)
    with tempfile.TemporaryDirectory() as temporary:
        if hasattr(options, "stores"):  # of indexes, which the next run may use again
            options.stores = (options.stores or Path(temporary)).resolve()
            options.stores.mkdir(parents=True, exist_ok=True)
        try:
            measured = benchmark.main(options)
        except UsageError as error:
            raise SystemExit(error.message) from error
    if measured:
        print(measured)
    if options.write:
        kinds = [f" --{kind}" for kind in getattr(benchmark, "KINDS", ()) if getattr(options, kind)]
        figures.write(options.write, name + "".join(kinds[:1]), measured, arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
