"""Say what the lines of a text would be worth to the memory, as the gate is set."""

from __future__ import annotations

from memcli.api.neighbours import Nearby
from memcli.checking import TYPE_CHECKING
from memcli.errors import ConfigError
from memcli.record import Record
from memcli.remember.gate import GateSettings, Judged, judge
from memcli.remember.worth import GateWeights
from memcli.secrets.finding import redacted

if TYPE_CHECKING:
    from memcli.api.opened import OpenedWorkspace
    from memcli.errors import Reason
    from memcli.remember.gate import WasGiven

_SAYING = ("paragraph", "item", "quote")  # blocks that say something


class Weighed(Record):
    """A paragraph or item of a text, and what the gate says of it."""

    start_line: int  # from 1; both ends are included
    end_line: int
    text: str
    judged: Judged


def weigh(
    memory: OpenedWorkspace, text: str, *, place: tuple[str, str] | None = None
) -> tuple[list[Weighed], tuple[Reason, ...]]:
    """Score each paragraph and item of a text as `remember` would; nothing is written.

    `place` is its (source, path) if it is a document of the memory, so that it is not compared with
    itself. The second value says what could not be compared.
    """
    from memcli.markdown.parse import parse
    from memcli.markdown.units import units, with_speaker

    settings, nearby = gate_settings(memory, is_gated=True, was_given=None), Nearby(memory)
    parsed = parse(text)
    found = []
    for block in parsed.blocks:
        if block.kind not in _SAYING:
            continue
        for unit in units(block, parsed.lines):
            line = with_speaker(unit)
            others = [n for n in nearby.of(line) if (n.source, n.path) != place]
            judged = judge(line, others, settings)
            first, last = unit.numbers[0], unit.numbers[-1]
            found.append(Weighed(first, last, as_told(memory, line), judged))
    return found, nearby.notices


def gate_settings(
    memory: OpenedWorkspace, *, is_gated: bool, was_given: WasGiven | None
) -> GateSettings:
    """Read what the gate goes by; `is_gated` refuses what is worth little in any case."""
    from memcli.remember.gate import LEAST_WORTH

    config = memory.config
    weights = GateWeights(*(config(f"gating.{name}") for name in GateWeights._fields))
    if abs(sum(weights) - 1.0) > 1e-6:
        raise ConfigError(
            f"gating.novelty, gating.specificity and gating.kind must sum to 1, not"
            f" {sum(weights):g}",
            hint="memcli config gating",
        )
    least = config("gate.least") or (LEAST_WORTH if is_gated else 0.0)
    return GateSettings(weights, least, was_given)


def as_told(memory: OpenedWorkspace, text: str) -> str:
    """Redact a text for output."""
    return redacted(text) if memory.config("secrets") == "redact" else text
