"""What is said once for a workspace and not at every command, remembered in the user's cache.

It stands there and not in the index, which may be read by many and written by somebody else.
"""

from __future__ import annotations

import os

from memcli.checking import TYPE_CHECKING
from memcli.config.settings import folder_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def is_news(what: str, workspace: str, environ: Mapping[str, str]) -> bool:
    """Tell that something has not been said yet, and remember that it is now.

    Where nothing can be remembered it is news each time.
    """
    folder = folder_of(workspace, environ)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.close(os.open(os.path.join(folder, f"told-{what}"), os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    except OSError:
        return True
    return True
