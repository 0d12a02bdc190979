"""The one refusal of this room: a file or a text that is left as it is."""

from __future__ import annotations


class UnfitError(Exception):
    """A file cannot be edited; the message follows its name: "is not UTF-8"."""
