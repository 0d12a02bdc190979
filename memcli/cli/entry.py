"""Start memcli so that Ctrl-C is quiet from the first moment: all else is imported after that."""

# The module `signal` is this one with enums, which take longer to import than all that is here.
import _signal  # type: ignore[import-not-found]
import os


def main() -> None:
    """Run the process: the console script."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:  # nohup ignores it
        _signal.signal(_signal.SIGINT, lambda number, frame: os._exit(130))
    from memcli.cli.main import main as run

    run()
