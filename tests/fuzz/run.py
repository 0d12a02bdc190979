"""Feed a target what coverage leads to, until an error, a hang or the end of the time.

    pip install atheris                       # in an environment beside memcli's
    python -m tests.fuzz.run markdown 600 FOLDER... [-- -rss_limit_mb=1024]

FOLDER... hold seeds, such as fixtures/workspaces; what is found lies in `fuzz/TARGET/` of the
current folder, and libFuzzer's options follow `--`. A run over the bound of time is an error.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from pathlib import Path

MAX_LENGTH = 20_000  # bytes of one input
# Bound of time: what starting costs, and what a megabyte may take with coverage counted.
START_SECONDS, SECONDS_A_MEGABYTE = 1.0, 60.0


def main() -> None:
    """Run one target; the first error ends the process."""
    arguments, _, options = (" ".join(sys.argv[1:]) + " -- ").partition(" -- ")
    name, seconds, *seeds = arguments.split()
    atheris = importlib.import_module("atheris")  # no dependency of memcli
    with atheris.instrument_imports(include=["memcli", "markdown_it", "yaml"]):
        target = importlib.import_module("tests.fuzz.targets").TARGETS[name]

    def bounded(data: bytes) -> None:
        began = time.process_time()
        target(data)
        taken = time.process_time() - began
        limit = START_SECONDS + SECONDS_A_MEGABYTE * len(data) / 1e6
        assert taken <= limit, f"{taken:.1f} s for {len(data)} bytes"

    folder = Path("fuzz") / name
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    _collect([Path(seed) for seed in seeds], corpus)
    atheris.Setup(
        [
            sys.argv[0], str(corpus), f"-max_total_time={seconds}", f"-max_len={MAX_LENGTH}",
            f"-artifact_prefix={folder}{os.sep}", "-timeout=60", "-print_final_stats=1",
            *options.split(" -- ")[0].split(),
        ],
        bounded,
    )  # fmt: skip
    atheris.Fuzz()


def _collect(seeds: list[Path], corpus: Path) -> None:
    """Copy the seeds, cut to the greatest length, since a corpus is one flat folder."""
    files = sorted(f for seed in seeds for f in seed.rglob("*") if f.is_file())
    for number, file in enumerate(files):
        (corpus / f"seed-{number}").write_bytes(file.read_bytes()[:MAX_LENGTH])


if __name__ == "__main__":
    main()
