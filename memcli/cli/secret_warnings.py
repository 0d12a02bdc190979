"""Say which secrets an answer holds, where the setting `secrets` is `warn`: never the secret."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memcli.cli.skin import Skin


def warn_of_secrets(skin: Skin, shown: Iterable[tuple[str, str]]) -> None:
    """Name kind, place and fingerprint of each secret in texts that are shown with a citation."""
    from memcli.secrets.finding import find_secrets

    for citation, text in shown:
        for secret in find_secrets(text):
            told = f"{secret.kind} ({secret.fingerprint})"
            skin.terminal.warn(f"{citation} contains a secret: {told}")
