"""Start memcli so that Ctrl-C is quiet from the first moment: all else is imported after that."""

import os
import signal


def main() -> None:
    """Run the process: the console script."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # nohup ignores it
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(130))
    from memcli.cli.main import main as run

    run()
