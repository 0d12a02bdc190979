"""The constants that `memcli bench calibrate` has fitted, per model.

One JSON file next to the user's configuration, never in a workspace, which may come with a clone:
{"schema": "memcli.calibrations/1", "models": {FINGERPRINT: {"bias": ..., ...}}}. It does not belong
to an index, so a rebuilt index gives the same answers. Models that are not in the file have the
constants that memcli ships.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from math import isfinite

from memcli.embedding.models import Calibration
from memcli.errors import ConfigError

SCHEMA = "memcli.calibrations/1"
MOST_CHARS = 1_000_000


def read(path: str) -> dict[str, Calibration]:
    """Read all constants, by fingerprint; ConfigError if the file has anything else."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(MOST_CHARS + 1)
        record = json.loads(text) if len(text) <= MOST_CHARS else {}
        if record["schema"] != SCHEMA:
            raise ValueError(record["schema"])
        return {fingerprint: _constants(each) for fingerprint, each in record["models"].items()}
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}", hint=f"chmod u+r {path}"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ConfigError(
            f"{path} is not a file of memcli bench calibrate",
            hint="delete it, then run memcli bench calibrate",
        ) from None


def write(path: str, fitted: Mapping[str, Calibration]) -> None:
    """Add constants to the file in one atomic write; ConfigError if that fails."""
    models = {**(read(path) if os.path.exists(path) else {}), **fitted}
    record = {
        "schema": SCHEMA,
        "models": {name: each._asdict() for name, each in sorted(models.items())},
    }
    from memcli.workspace.atomic_write import write_whole

    try:
        write_whole(path, json.dumps(record, indent=1) + "\n")
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror}", hint=f"chmod u+w {os.path.dirname(path)}"
        ) from None


def _constants(record: Mapping[str, object]) -> Calibration:
    numbers = {name: float(str(record[name])) for name in Calibration._fields}
    if not all(map(isfinite, numbers.values())):
        raise ValueError("no finite number")
    return Calibration(**numbers)
