"""Installs memcli in agents: where their settings are, what it writes, and how it removes that.

Texts are edited by pure functions, and only `disk` and `state` touch files; the home folder, the
environment and the platform are arguments.
"""

from __future__ import annotations


class UnfitError(Exception):
    """A file cannot be edited; the message follows its name: "is not UTF-8"."""
