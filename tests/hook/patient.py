"""Start `memcli hook` with a limit that no busy machine reaches, for tests of what it answers.

python tests/hook/patient.py hook ...
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])
    from memcli.cli import hook_reply
    from memcli.cli.main import main

    hook_reply.LIMIT_SECONDS = 600.0
    main()
