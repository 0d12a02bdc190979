"""The session settings that both ways into the runtime share, so that their vectors agree.

It needs no runtime; `runtime` and `onnx_c_api` each pass these settings on in their own way.
"""

from __future__ import annotations

import os

from memcli import system
from memcli.checking import TYPE_CHECKING
from memcli.errors import MORE_MEMORY, RetrieverError
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.embedding.models import ModelFile

# Levels of the runtime: the graphs are fused already, so nothing needs rewriting, except
# that x64quantprecision is itself a rewriting of level 2.
_NO_REWRITING, _EXTENDED, _ALL = 0, 2, 99
FATAL = 4  # log severity; a failure is raised, not printed

# Bytes of address space that each way needs in addition to its model. Below 110 MB the library
# sometimes failed, because the heap of its thread and the search share the process. The package
# with numpy took 96 MB, and its BLAS 42 MB per processor.
QUICK_ROOM = 128 << 20
PACKAGE_ROOM, ROOM_A_PROCESSOR = 112 << 20, 45 << 20

CPU_INFO = "/proc/cpuinfo"
_CPU_INFO_PART = 1 << 13  # the first processor's lines, about 2 kB

# With one of these, the CPU sums 8-bit products in 32 bits. Other x86 kernels saturate at
# 16 bits (cosine 0.99 to the right vector) unless set to keep the precision, which costs
# 40-70 % more time where it is not needed.
_EXACT_FLAGS = frozenset((b"avx512_vnni", b"avx_vnni"))


class SessionSettings(Record):
    """The settings of a session."""

    level: int  # of graph rewriting
    entries: tuple[tuple[str, str], ...]  # configuration keys of the runtime


_NO_SPINNING = ("session.intra_op.allow_spinning", "0")
ANY_MODEL = SessionSettings(_ALL, (_NO_SPINNING,))  # for a graph that others have made


def silence() -> None:
    """Keep the runtime from connecting to anything. Call this before you load it.

    Otherwise a runtime such as 1.31 reports its use to its makers: at its start it writes a file to
    TMPDIR, and some seconds later it connects.
    """
    os.putenv("ORT_DISABLE_TELEMETRY", "1")


def memory_shortage(needed: int) -> str:
    """Return why a model cannot get that many bytes of memory, or ""."""
    left = system.memory_left()
    if left is None or left >= needed:
        return ""
    return f"the model takes {needed >> 20} MB of memory, and the limit leaves {left >> 20}"


def require_room(model: int) -> None:
    """Raise RetrieverError if memory is too small for the package and a model of `model` bytes."""
    if why := memory_shortage(PACKAGE_ROOM + ROOM_A_PROCESSOR * (os.cpu_count() or 1) + model):
        raise RetrieverError(why, hint=MORE_MEMORY)


def sums_exactly() -> bool:
    """Return whether this CPU surely sums 8-bit products exactly.

    Only Linux reports it cheaply. Elsewhere the answer is no, which is always right, but slow on
    some x86 processors. On other processors the setting has no effect.
    """
    return not _EXACT_FLAGS.isdisjoint(cpu_flags())


def cpu_flags() -> frozenset[bytes]:
    """Return what an x86 processor can do, as Linux reports it; nothing elsewhere."""
    try:
        with open(CPU_INFO, "rb", buffering=0) as file:
            lines = file.read(_CPU_INFO_PART).splitlines()
    except OSError:
        return frozenset()
    return frozenset(next((line for line in lines if line.startswith(b"flags")), b"").split())


def settings(located: ModelFile) -> SessionSettings:
    """Return the settings for a model."""
    # The runtime refuses a link that leaves the folder it was given.
    path = os.path.realpath(located.path)
    if os.path.basename(path) != os.path.basename(located.path):
        path = located.path
    entries = (
        ("session.model_external_initializers_file_folder_path", os.path.dirname(path)),
        _NO_SPINNING,
    )
    if sums_exactly():
        return SessionSettings(_NO_REWRITING, entries)
    return SessionSettings(_EXTENDED, (*entries, ("session.x64quantprecision", "1")))
