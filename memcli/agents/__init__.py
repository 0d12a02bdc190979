"""Wires memcli into agents: what they keep where, what is written there, and how it is taken back.

Texts are edited purely, and only `disk` and `state` touch files; the home folder, the environment
and the platform come from the caller.
"""
