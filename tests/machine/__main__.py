"""Try every fault at every position, and print what each verb came to."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from tests import machine
from tests.hashing import register
from tests.machine.file_system import FAULTS
from tests.machine.tries import Finding, Trial
from tests.machine.verbs import VERBS


def main() -> int:
    """Run what is named, or all; exit 1 where anything was found."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.machine",
        description=machine.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("verbs", nargs="*", metavar="VERB")
    parser.add_argument("--every", type=int, default=1, help="Try one in so many.")
    parser.add_argument("--fault", nargs="+", default=FAULTS, choices=FAULTS)
    given = parser.parse_args()
    register()
    is_sound = True
    for verb in VERBS:
        if given.verbs and verb.name not in given.verbs:
            continue
        with tempfile.TemporaryDirectory(prefix="memcli-machine-") as folder:
            began = time.process_time()
            trial = Trial(verb, Path(folder).resolve())
            tried, found = 0, list[Finding]()
            for number, fault in trial.faults(given.fault, given.every):
                tried += 1
                found += trial.findings(number, fault)
            taken = time.process_time() - began
            print(  # noqa: T201
                f"{verb.name}: {len(trial.calls)} positions, {tried} faults,"
                f" {len(found)} findings, {taken:.0f} s",
                flush=True,
            )
            for each in found:
                where = f"{each.call.name} {each.call.path}"
                print(f"  {each.number} {where} {each.fault}: {each.what}", flush=True)  # noqa: T201
            is_sound = is_sound and not found
    return 0 if is_sound else 1


if __name__ == "__main__":
    raise SystemExit(main())
