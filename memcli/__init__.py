"""Search over Markdown memory workspaces, from the command line, from Python, and offline."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memcli.api.memory import Memory as Memory

__version__ = "0.2.0"
__all__ = ["Memory", "__version__"]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Load `Memory` when it is asked for: the command line pays nothing for it."""
    if name == "Memory":
        from memcli.api.memory import Memory

        return Memory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
