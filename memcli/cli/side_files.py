"""Files beside the memory (receipts, questions, reports): read, and never written into it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from memcli.cli.context import Context
from memcli.errors import UsageError

# Settings that an answer depends on.
SETTINGS = ("search.", "embedding.", "chunk.")


def read_text(path: str, hint: str) -> str:
    """Read a file of the bench; UsageError says why it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"{path} cannot be read: {why}", hint=hint) from None


def write_text(path: str, text: str, context: Context, *, mode: str = "w") -> None:
    """Write a file of the bench, but never into the memory that it measures."""
    refuse_memory(path, context)
    folder = os.path.dirname(path)
    try:
        if folder:
            os.makedirs(folder, exist_ok=True)
        with open(path, mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        if mode == "x" and isinstance(error, FileExistsError):
            raise UsageError(
                f"{path} exists and is not written over", hint="name another file with --out"
            ) from None
        raise UsageError(
            f"{path} cannot be written: {error.strerror}", hint="name a file in another folder"
        ) from None


def refuse_memory(path: str, context: Context) -> None:
    """Refuse a file that discovery would take for a document."""
    from memcli.workspace.ignore import load_rules

    real = os.path.realpath(path)
    for source in context.config.sources:
        root = os.path.realpath(source.root)
        if not real.startswith(root.rstrip(os.sep) + os.sep):
            continue
        inside = os.path.relpath(real, root).replace(os.sep, "/")
        if load_rules(source).accepts(inside):
            raise UsageError(
                f"{path} would become part of the memory that is measured",
                hint="name a file outside it, or one in .memcli/",
            )


def settings_of(context: Context, *also: str) -> Mapping[str, Any]:
    """Give the settings that an answer depends on; `also` names beginnings of more."""
    values, wanted = context.config.values, (*SETTINGS, *also)
    return {name: values[name].value for name in sorted(values) if name.startswith(wanted)}
