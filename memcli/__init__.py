"""Search over Markdown memory workspaces, from the command line, from Python, and offline."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from memcli.api.memory import Memory as Memory
    from memcli.api.remote import open_remote as open_shared
    from memcli.api.remote import open_tenant as open_tenant

__version__ = "0.2.0"
__all__ = ["Memory", "__version__", "open_shared", "open_tenant"]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Load what is asked for: the command line pays nothing for it."""
    if name == "Memory":
        from memcli.api.memory import Memory

        return Memory
    if name == "open_shared":
        from memcli.api.remote import open_remote

        return open_remote
    if name == "open_tenant":
        from memcli.api.remote import open_tenant

        return open_tenant
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
