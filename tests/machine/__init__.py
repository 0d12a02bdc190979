"""Every call to the file system fails once, in every way it can, under each command that writes.

    python -m tests.machine [VERB...] [--every N] [--fault NAME...]

prints for each verb how many positions there are, how many faults were tried, and what broke.
"""
