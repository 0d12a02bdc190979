from __future__ import annotations

import pytest

from memcli.remember.admission import stated_secret

PASSWORDS = """
password: hunter2xyz
the wifi password is Tr0ub4dor&3
Das Kennwort für den Tresor lautet Eule1987
The Netflix password was changed to Blue-Heron-77.
root password on db1 is CorrectHorse99
user admin password Qwerty12345
api key = abcd1234efgh
密码是abc12345
"""
CODES = """
My PIN is 4711
The door code is 5512#
The alarm code of the office is 9931.
The safe combination is 12-44-07
"""
HARMLESS = """
the password for staging is in 1Password
We reset the password of Dana on Friday
The password is required.
The password is ${DB_PASSWORD}.
password: <your password>
password = request.json["password"]
Password policy: rotate every 90 days
The token expires after 3600 seconds.
The token budget is 2000.
The access token is a JWT signed with RS256.
The error code is 1234.
The pin is connected to GPIO17.
The secret of the recipe is 3 eggs.
密码需要每90天更换
"""


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (text, kind)
        for kind, texts in (("password", PASSWORDS), ("code", CODES), ("", HARMLESS))
        for text in texts.strip().split("\n")
    ],
)
def test_a_stated_value_is_a_secret(text: str, kind: str) -> None:
    assert stated_secret(text) == kind
