"""Run memcli until it has put so many files in their places, and kill it before the next one.

python tests/agents/killed.py NUMBER PROGRAM agents ...
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])
    left = int(sys.argv[1])

    def counted(function: Callable[..., None]) -> Callable[..., None]:
        def call(path: Any, *others: Any, **named: Any) -> None:
            global left
            if function is not os_remove or BEGUN not in str(path):
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1
            function(path, *others, **named)

        return call

    os_remove = os.remove
    os.replace, os.remove = counted(os.replace), counted(os.remove)
    from memcli.cli.main import main
    from memcli.workspace.atomic_write import BEGUN

    sys.argv = sys.argv[2:]
    main()
