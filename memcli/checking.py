"""Whether a checker of types reads the code: what `typing` says too, at the cost of loading it."""

from __future__ import annotations

TYPE_CHECKING = False  # a checker takes it for true
