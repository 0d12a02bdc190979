"""Start memcli as its console script does, with the encoder of the tests registered.

python tests/launch.py COMMAND ...
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # Not the folder of the tests, which has modules with the names of others.
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    from memcli.cli.main import main
    from tests.hashing import register

    register()
    main()
