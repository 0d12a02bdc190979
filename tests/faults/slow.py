"""Where the disk is slow, others come in at any step of a command.

At each step of one command another one runs from beginning to end. Both have to do what they do
alone, or say that the index is in use and what to do about it, and neither waits for longer than
it may: SQLite sleeps by the disk, where no time passes.
"""

from __future__ import annotations

from collections.abc import Iterator

from memcli.errors import ExitCode
from memcli.store.sqlite.driver import BUSY_TIMEOUT_MS
from tests.commands import typed
from tests.faults.trial import Trial
from tests.faults.verbs import NOW
from tests.store.damage import results

LONGEST_SECONDS = BUSY_TIMEOUT_MS / 1000
READING = (f"search pool --json --no-sync {NOW}", "status")
WRITING = ("index --wait 0", f"search pool --json {NOW}")
# What is done, and what others do meanwhile.
SLOW = {
    "index": (*READING, *WRITING),
    "edit": (*READING, *WRITING),
    "full": (*READING, *WRITING),
    "migrate": READING,
    "prune": READING,
    "remote edit": READING,
    "remote full": READING,
    "search": (*READING, *WRITING),
    "remember": (*READING, "index --wait 0"),
}
REFUSED = (ExitCode.BUSY, ExitCode.NO_INDEX)


def problems(trial: Trial, line: str, number: int) -> Iterator[str]:
    """Run a line before the n-th step of a verb, and give what should not be."""
    disk, met = trial.disk, list[tuple[int, str, str]]()

    def meanwhile() -> None:
        met.append(typed(f"{line} -w {trial.base / 'ws'}"))

    trial.reset()
    disk.meanwhile(number, meanwhile)
    code, _, err = trial.run(trial.verb.line)
    slept = disk.slept_seconds
    disk.arm(None)
    if code != ExitCode.OK:
        yield f"exit {code}: {err.strip()[:300]}"
    if slept > 2 * LONGEST_SECONDS:
        yield f"{line}: {slept:.1f} s were waited"
    ((code, out, also),) = met
    if code not in (ExitCode.OK, *REFUSED) or "locked" in err + also or "Traceback" in err + also:
        yield f"{line}: exit {code}: {err.strip()[:300]} {also.strip()[:300]}"
    elif code != ExitCode.OK and not ("\nTry: " in also or '"hint": "' in also):
        yield f"{line}: exit {code} without the next command: {also.strip()[:300]}"
    elif code == ExitCode.OK and "--json" in line and not (results(out) or also):
        yield f"{line}: nothing is found, and nothing said of it"
    yield from trial.unmended()
