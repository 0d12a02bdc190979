"""Damage every cell and every page of a small index and show what commands make of it.

Every EVERY-th case whose name holds NAME is tried, from the FIRST on, which counts from 0; so
damage 4 0 to damage 4 3 try each once. Findings are grouped by command, exit code and message, each
with the first damage that led there.
"""

from __future__ import annotations

import os
import tempfile
import time
from argparse import Namespace
from collections import Counter
from pathlib import Path

from tests.benchmarks.figures import option
from tests.commands import typed
from tests.hashing import register
from tests.store.damage import AFTER, Finding, cases, findings, make_index, results

OPTIONS = (
    option("every", nargs="?", type=int, default=1),
    option("first", nargs="?", type=int, default=0),
    option("name", nargs="?", default=""),
)


def main(options: Namespace) -> None:
    register()
    os.environ["MEMCLI_EMBEDDING_ENCODER"] = "hashing"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CONFIG_HOME"] = os.environ["XDG_CACHE_HOME"] = folder
        root = Path(folder) / "ws"
        store = make_index(root)
        right = results(typed(f"{AFTER} -w {root}")[1])
        named = [damage for damage in cases(store) if options.name in damage.name]
        wanted = named[options.first :: options.every]
        seen: dict[tuple[str, int, str], Finding] = {}
        count, tried, bad, began = Counter[tuple[str, int, str]](), 0, 0, time.monotonic()
        for damage in wanted:
            found = findings(damage, store, root, right)
            if found is None:
                continue
            tried, bad = tried + 1, bad + bool(found)
            for each in found:
                message = each.told.split("\n")[0].replace(store, "STORE")[:110]
                kind = (each.command, each.code, message)
                count[kind] += 1
                seen.setdefault(kind, each)
        print(
            f"{tried} of {len(wanted)} cases were possible, {time.monotonic() - began:.0f} s,"
            f" {bad} with findings"
        )
        for kind, number in count.most_common():
            print(f"{number:5} {kind[0]:<24}{kind[1]:>4}  {kind[2]}  e.g. {seen[kind].damage}")
