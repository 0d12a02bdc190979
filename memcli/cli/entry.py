"""Start memcli so that Ctrl-C is quiet from the first moment; everything else is imported later."""

# `_signal` without the enums of `signal`, whose import takes longer than the rest of this file.
import _signal  # type: ignore[import-not-found]
import os


def main() -> None:
    """Run the process: the console script."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:  # nohup ignores it already
        _signal.signal(_signal.SIGINT, lambda number, frame: os._exit(130))
    from memcli.cli.main import main as run

    run()
