"""Why a connection by TLS came to nothing, in words that say what to do.

The reasons are OpenSSL's and ours: nothing that a server says of itself is repeated.
"""

from __future__ import annotations

import ssl

from memcli.embedding.server import Server
from memcli.errors import RetrieverError

_CLOCK = "look at the clock of this machine; if it is right, have the certificate renewed"
_NAME = "set {table}.url to the name that the certificate is for"
_AUTHORITY = "if you know who signed it: export SSL_CERT_FILE=AUTHORITY.pem"
# By X509_V_ERR_*: what is wrong with a certificate, and what helps.
_WRONG = {
    9: ("its certificate is not valid yet", _CLOCK),
    10: ("its certificate has expired", _CLOCK),
    18: ("its certificate is self-signed", _AUTHORITY),
    19: ("no authority known here has signed its certificate", _AUTHORITY),
    20: ("no authority known here has signed its certificate", _AUTHORITY),
    21: ("no authority known here has signed its certificate", _AUTHORITY),
    62: ("its certificate is for another host", _NAME),
    64: ("its certificate is for another host", _NAME),
}
# OpenSSL's names, by version, for an answer that is not TLS.
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL")


def distrusted(error: ssl.SSLError, netloc: str, server: Server) -> RetrieverError:
    """Say what is wrong with a server, or with the connection to it."""
    if isinstance(error, ssl.SSLCertVerificationError):
        said, hint = _WRONG.get(error.verify_code, (error.verify_message, _AUTHORITY))
        return RetrieverError(
            f"{netloc} cannot be trusted: {said}", hint=hint.format(table=server.table)
        )
    reason = getattr(error, "reason", None) or "the connection ends"
    if reason in _NO_TLS:
        return RetrieverError(
            f"{netloc} cannot be reached: it does not speak TLS",
            hint=f"write http:// in {server.table}.url, if that server is on this machine",
        )
    return RetrieverError(
        f"{netloc} cannot be reached: TLS fails: {reason.replace('_', ' ').lower()}",
        hint=f"look at {server.table}.url, or try again: {server.again}",
    )
