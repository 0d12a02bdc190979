"""Change one place of the code at a time, and see whether a test of its room fails.

    pip install coverage                      # in the environment of memcli
    python -m tests.mutants [--seed N] [--count N] [--skip N] [PACKAGE...]

A mutant is a place in a module of the packages with one operator, bound, number, condition or
statement changed, or one word of SQL; `--count` of them are drawn by `--seed` from seven packages,
`--skip` leaves out the first of the draw, and PACKAGE judges of the drawn those of some. It is
killed by the tests that touch its line (of a constant: the lines that name it), in a copy of the
tree: those of its room, then those of the others and of api, cli, embedding and remember, of each
the fastest and then of each file in turn, up to `--seconds` of processor time a time; properties
take few examples. What is drawn depends on the changed line alone, so that other changes of the
code leave it. Printed are those that nothing killed, but for those that `equivalent.tsv` beside
this file says change nothing, and why: a file of path, changed line and reason.

`--map FILE` keeps between runs which test touches which line; `--tests` names the tests to run
instead of the rooms, `--at PATH:LINE` the only places to change, and `--idle` changes nothing:
what is killed then is killed by a test that is not sure.

Kept here since mutmut leaves out what stands outside of functions (bounds, SQL, settings), and
cosmic-ray starts all tests of a room anew for every mutant.
"""
