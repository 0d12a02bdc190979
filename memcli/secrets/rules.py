"""The patterns of secrets: a table of the prefixes that issuers use; only data.

There is no rule for text that merely looks random: hashes of commits, ids and digests are not
secret, and notes are full of them. A rule recognises a secret by its prefix, by the name that it is
assigned to or by its place in a URL. So each begins with a literal, which memcli looks for before
any pattern. Every quantifier has a bound, so the time grows only with the length of the text.
"""

from __future__ import annotations

from memcli.record import Record


class Rule(Record):
    """How one kind of secret is known."""

    name: str
    # The pattern begins with one of them; case matters.
    literals: tuple[str, ...]
    # The group `secret` if there is one, else the whole match.
    pattern: str
    example: str  # a text with a secret that was never issued
    harmless: str  # a similar text without one
    origin: str  # the source of the shape


_GITLEAKS = "gitleaks 8.30"
_OWN = "written for memcli"
# Pieces of the examples, so that scanners do not report this file as a leak.
_LETTERS = "q8ZrT2mVx7Kd" + "Lw4Hs9Bn3Yf" + "Gc6Jp5Rt1Ea" + "Uv0Ok8Xi2Wz" + "Dq7Nb4Mh6Cy"
_DIGITS = "4917305826" + "1749203856"
_HEX = (
    "9f3c07ab6d" + "e2418b5c70" + "da96e1f42b" + "8370cd5e1a" + "f6429b08d7" + "3e1c5a90b4" + "2d7f"
)
_CAPITALS = "Q7ZRT2MVX5" + "KDLW4HS3BN" + "6YFGCJPUEA"
_LONG = _LETTERS * 6

_NAMED = r"[\"']?[ \t]{0,4}(?:=>|:=|=|:)[ \t]{0,4}[\"'`]?"

RULES: tuple[Rule, ...] = (
    Rule("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[0-9A-Za-z]{36,255}",
         f"push with ghp_{_LETTERS[:36]} from CI", "tokens begin with ghp_ or gho_", _GITLEAKS),
    Rule("github-token", ("github_pat_",), r"github_pat_\w{22,255}",
         f"GITHUB_TOKEN=github_pat_{_LONG[:82]}", "github_pat_ is the newer prefix", _GITLEAKS),
    Rule("gitlab-token",
         ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-", "glimt-", "glagent-",
          "gloas-", "glffct-"),
         r"gl[a-z]{2,6}-[\w-]{20,300}(?:\.[0-9a-z]{9})?",
         f"glpat-{_LETTERS[:20]}", "glpat-short", _GITLEAKS),
    Rule("gitlab-token", ("GR1348941",), r"GR1348941[\w-]{20,64}",
         f"register with GR1348941{_LETTERS[:20]}", "GR1348941 is a runner's prefix", _GITLEAKS),
    Rule("aws-access-key", ("AKIA", "ASIA", "ABIA", "ACCA"),
         r"A[KSBC][IC]A[A-Z2-7]{16}(?![A-Z0-9])",
         f"key AKIA{_CAPITALS[:16]}", "AKIAIOSFODNN7EXAMPLE", _GITLEAKS),
    Rule("aws-secret-key",
         ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "secretAccessKey", "SecretAccessKey"),
         rf"\w{{15,21}}{_NAMED}(?P<secret>[A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+])",
         f"aws_secret_access_key = {_LETTERS[:40]}",
         "aws_secret_access_key = ${AWS_SECRET_ACCESS_KEY}", _OWN),
    Rule("aws-bedrock-key", ("ABSK",), r"ABSK[A-Za-z0-9+/]{109,269}={0,2}",
         f"ABSK{_LONG[:120]}", "ABSK is its prefix", _GITLEAKS),
    Rule("google-api-key", ("AIza",), r"AIza[\w-]{35}",
         f"maps: AIza{_LETTERS[:35]}", "AIza and 35 more", _GITLEAKS),
    Rule("google-oauth-secret", ("GOCSPX-",), r"GOCSPX-[\w-]{28}",
         f"client GOCSPX-{_LETTERS[:28]}", "GOCSPX-abc", _OWN),
    Rule("google-oauth-token", ("ya29.",), r"ya29\.[\w-]{30,1000}",
         f"ya29.{_LETTERS[:50]}", "ya29. begins an access token", _OWN),
    Rule("anthropic-key", ("sk-ant-",), r"sk-ant-[a-z]{2,10}[0-9]{2}-[\w-]{80,200}",
         f"ANTHROPIC_API_KEY=sk-ant-api03-{_LONG[:93]}AA", "sk-ant-api03-...", _GITLEAKS),
    Rule("openai-key", ("sk-proj-", "sk-svcacct-", "sk-admin-"), r"sk-[a-z]{4,7}-[\w-]{40,250}",
         f"sk-proj-{_LONG[:74]}", "sk-proj-is-a-prefix", _GITLEAKS),
    Rule("openai-key", ("sk-",), r"sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}",
         f"sk-{_LETTERS[:20]}T3BlbkFJ{_LETTERS[20:40]}", "the sk-learn pipeline", _GITLEAKS),
    Rule("openrouter-key", ("sk-or-v1-",), r"sk-or-v1-[0-9a-f]{64}",
         f"sk-or-v1-{_HEX}", "sk-or-v1-abc", _OWN),
    Rule("groq-key", ("gsk_",), r"gsk_[A-Za-z0-9]{48,60}",
         f"gsk_{_LETTERS[:52]}", "gsk_rename()", _OWN),
    Rule("xai-key", ("xai-",), r"xai-[A-Za-z0-9]{70,90}",
         f"xai-{_LONG[:80]}", "xai-sdk", _OWN),
    Rule("perplexity-key", ("pplx-",), r"pplx-[A-Za-z0-9]{48}",
         f"pplx-{_LETTERS[:48]}", "pplx-70b-online", _GITLEAKS),
    Rule("huggingface-token", ("hf_", "api_org_"), r"(?:hf_|api_org_)[A-Za-z]{34}(?![A-Za-z0-9])",
         f"hf_{'qZrTmVxKdLwHsBnYf' * 2}", "hf_hub_download", _GITLEAKS),
    Rule("replicate-token", ("r8_",), r"r8_[A-Za-z0-9]{37}",
         f"r8_{_LETTERS[:37]}", "r8_small", _OWN),
    Rule("slack-token", ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxe.xox"),
         r"xox[a-z](?:\.xox[bp])?-[0-9A-Za-z-]{16,250}",
         f"xoxb-{_DIGITS[:12]}-{_DIGITS[:12]}-{_LETTERS[:24]}", "xoxb-", _GITLEAKS),
    Rule("slack-token", ("xapp-",), r"xapp-[0-9]-[A-Z0-9]{5,20}-[0-9]{8,20}-[a-z0-9]{32,100}",
         f"xapp-1-A{_CAPITALS[:10]}-{_DIGITS[:13]}-{_HEX}", "xapp-1-dev", _GITLEAKS),
    Rule("slack-webhook", ("hooks.slack.com/",),
         r"hooks\.slack\.com/(?P<secret>(?:services|workflows|triggers)/[A-Za-z0-9+/]{40,60})",
         f"https://hooks.slack.com/services/T{_CAPITALS[:8]}/B{_CAPITALS[:8]}/{_LETTERS[:24]}",
         "https://hooks.slack.com/services/ is the place", _GITLEAKS),
    Rule("discord-webhook", ("discord.com/api/webhooks/", "discordapp.com/api/webhooks/"),
         r"discord(?:app)?\.com/api/webhooks/[0-9]{15,22}/(?P<secret>[\w-]{50,100})",
         f"https://discord.com/api/webhooks/{_DIGITS[:18]}/{_LONG[:68]}",
         "https://discord.com/api/webhooks/ID/TOKEN", _OWN),
    Rule("telegram-token", ("telegram", "Telegram", "TELEGRAM"),
         r"\w{8,30}[\w -]{0,20}(?:=|:|\bis)[ \t]{0,4}[\"'`]?"
         r"(?P<secret>[0-9]{8,12}:A[\w-]{34})(?![\w-])",
         f"TELEGRAM_BOT_TOKEN={_DIGITS[:10]}:A{_LETTERS[:34]}", "telegram: 12:30", _GITLEAKS),
    Rule("stripe-key",
         ("sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"),
         r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,200}",
         f"stripe sk_live_{_LETTERS[:24]}", "sk_live_KEY", _GITLEAKS),
    Rule("stripe-webhook-secret", ("whsec_",), r"whsec_[A-Za-z0-9+/]{32,64}",
         f"whsec_{_LETTERS[:32]}", "whsec_ is the prefix", _OWN),
    Rule("square-token", ("sq0atp-", "sq0csp-"), r"sq0[ac][ts]p-[\w-]{22,60}",
         f"sq0atp-{_LETTERS[:22]}", "sq0atp-x", _GITLEAKS),
    Rule("shopify-token", ("shpat_", "shpca_", "shppa_", "shpss_"),
         r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}",
         f"shpat_{_HEX[:32]}", "shpat_token", _GITLEAKS),
    Rule("sendgrid-token", ("SG.",), r"SG\.[\w-]{16,32}\.[\w-]{32,64}",
         f"SG.{_LETTERS[:22]}.{_LETTERS[:43]}", "SG.1 and SG.2", _GITLEAKS),
    Rule("mailgun-key", ("key-",), r"key-[0-9a-f]{32}(?![0-9a-z])",
         f"mailgun key-{_HEX[:32]}", "key-value", _GITLEAKS),
    Rule("mailchimp-key", ("mailchimp", "Mailchimp", "MAILCHIMP"),
         rf"\w{{9,30}}{_NAMED}(?P<secret>[0-9a-f]{{32}}-us[0-9]{{1,2}})",
         f"MAILCHIMP_KEY={_HEX[:32]}-us14", "mailchimp: off", _GITLEAKS),
    Rule("brevo-key", ("xkeysib-",), r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}",
         f"xkeysib-{_HEX}-{_LETTERS[:16]}", "xkeysib-", _GITLEAKS),
    Rule("twilio-key", ("SK",), r"SK[0-9a-f]{32}(?![0-9A-Za-z])",
         f"SK{_HEX[:32]}", "SKU 4711", _GITLEAKS),
    Rule("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])",
         f"//registry.npmjs.org/:_authToken=npm_{_LETTERS[:36]}", "npm_config_cache", _GITLEAKS),
    Rule("pypi-token", ("pypi-AgE",), r"pypi-AgE[\w-]{50,1000}",
         f"pypi-AgEIcHlwaS5vcmc{_LONG[:80]}", "pypi-AgE", _GITLEAKS),
    Rule("rubygems-token", ("rubygems_",), r"rubygems_[0-9a-f]{48}",
         f"rubygems_{_HEX[:48]}", "rubygems_version", _GITLEAKS),
    Rule("docker-token", ("dckr_pat_", "dckr_oat_"), r"dckr_[po]at_[\w-]{27,64}",
         f"dckr_pat_{_LETTERS[:27]}", "dckr_pat_", _OWN),
    Rule("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"do[por]_v1_[0-9a-f]{64}",
         f"dop_v1_{_HEX}", "dop_v1_abc", _GITLEAKS),
    Rule("heroku-key", ("HRKU-",), r"HRKU-[\w-]{36,64}",
         f"HRKU-AA{_LETTERS[:55]}abc", "HRKU-AA", _GITLEAKS),
    Rule("fly-token", ("fo1_", "fm1a_", "fm1r_", "fm2_"), r"f[om][12][ar]?_[\w+/-]{43,1000}={0,3}",
         f"fo1_{_LETTERS[:43]}", "fm2_", _GITLEAKS),
    Rule("cloudflare-key", ("v1.0-",), r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}",
         f"v1.0-{_HEX[:24]}-{(_HEX * 3)[:146]}", "v1.0-beta", _GITLEAKS),
    Rule("azure-client-secret", ("8Q~", "7Q~"), r"[78]Q~[\w.~-]{31,34}(?![\w~-])",
         f"abc8Q~{_LETTERS[:31]}", "Q8Q~", _GITLEAKS),
    Rule("azure-storage-key", ("AccountKey=",),
         r"AccountKey=(?P<secret>[A-Za-z0-9+/]{80,90}={0,2})",
         f"AccountName=x;AccountKey={_LONG[:86]}==", "AccountKey=...", _OWN),
    Rule("databricks-token", ("dapi",), r"dapi[0-9a-f]{32}(?:-[0-9])?(?![0-9A-Za-z])",
         f"dapi{_HEX[:32]}", "dapipeline", _GITLEAKS),
    Rule("vault-token", ("hvs.", "hvb."), r"hv[sb]\.[\w-]{24,300}",
         f"VAULT_TOKEN=hvs.{_LONG[:95]}", "hvs.token", _GITLEAKS),
    Rule("terraform-token", (".atlasv1.",), r"\.atlasv1\.[\w=-]{60,70}",
         f"{_LETTERS[:14]}.atlasv1.{_LONG[:64]}", "x.atlasv1.y", _GITLEAKS),
    Rule("pulumi-token", ("pul-",), r"pul-[0-9a-f]{40}(?![0-9a-z])",
         f"pul-{_HEX[:40]}", "pul-up", _GITLEAKS),
    Rule("doppler-token", ("dp.pt.", "dp.st.", "dp.sa."), r"dp\.[ps][tsa]\.[\w.-]{40,80}",
         f"dp.pt.{_LETTERS[:43]}", "dp.pt.", _GITLEAKS),
    Rule("planetscale-token", ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
         r"pscale_(?:tkn|pw|oauth)_[\w=.-]{32,64}",
         f"pscale_pw_{_LETTERS[:43]}", "pscale_pw_x", _GITLEAKS),
    Rule("supabase-key", ("sbp_", "sb_secret_"), r"(?:sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,64})",
         f"sbp_{_HEX[:40]}", "sbp_project", _OWN),
    Rule("grafana-token", ("glsa_", "glc_"), r"(?:glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}"
         r"|glc_[A-Za-z0-9+/]{32,400}={0,3})",
         f"glsa_{_LETTERS[:32]}_{_HEX[:8]}", "glc_get()", _GITLEAKS),
    Rule("sentry-token", ("sntrys_", "sntryu_"), r"sntry(?:u_[0-9a-f]{64}|s_[\w+/=-]{60,500})",
         f"sntryu_{_HEX}", "sntryu_", _GITLEAKS),
    Rule("new-relic-key", ("NRAK-", "NRII-"), r"NR(?:AK-[A-Z0-9]{27}|II-[\w-]{32})",
         f"NRAK-{_CAPITALS[:27]}", "NRAK-1", _GITLEAKS),
    Rule("linear-key", ("lin_api_", "lin_oauth_"), r"lin_(?:api|oauth)_[A-Za-z0-9]{40,64}",
         f"lin_api_{_LETTERS[:40]}", "lin_api_v2", _GITLEAKS),
    Rule("notion-token", ("ntn_",), r"ntn_[0-9]{11}[A-Za-z0-9]{35}",
         f"ntn_{_DIGITS[:11]}{_LETTERS[:35]}", "ntn_page", _GITLEAKS),
    Rule("airtable-token", ("pat",), r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}",
         f"pat{_LETTERS[:14]}.{_HEX}", "path.to.a.file", _GITLEAKS),
    Rule("atlassian-token", ("ATATT3", "ATCTT3"), r"AT[AC]TT3[\w=-]{60,250}",
         f"ATATT3{_LONG[:186]}", "ATATT3", _GITLEAKS),
    Rule("postman-key", ("PMAK-",), r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
         f"PMAK-{_HEX[:24]}-{_HEX[:34]}", "PMAK-1", _GITLEAKS),
    Rule("figma-token", ("figd_",), r"figd_[\w-]{40,64}",
         f"figd_{_LETTERS[:43]}", "figd_x", _OWN),
    Rule("1password-token", ("ops_eyJ",), r"ops_eyJ[A-Za-z0-9+/]{100,2000}={0,3}",
         f"ops_eyJ{_LONG[:260]}", "ops_eyJ", _GITLEAKS),
    Rule("age-key", ("AGE-SECRET-KEY-1",),
         r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}",
         f"AGE-SECRET-KEY-1{'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L' * 2}"[:74], "AGE-SECRET-KEY-1",
         _GITLEAKS),
    Rule("private-key", ("-----BEGIN ",),
         r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
         r"(?P<secret>(?:(?:\s|\\[nr]|[>|\"'`,+]){0,40}+(?:[A-Za-z-]{4,20}: [^\n]{1,200}"
         r"|[A-Za-z0-9+/=]{1,200}+(?=\s|\\|[\"'`,]|-----|$))){1,2000}+)",
         f"-----BEGIN PRIVATE KEY-----\n{_LONG[:64]}\n{_LONG[7:71]}\n-----END PRIVATE KEY-----",
         "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----", _GITLEAKS),
    Rule("jwt", ("eyJ",), r"eyJ[\w-]{8,300}+\.eyJ[\w-]{8,4000}+(?:\.[\w-]{0,1000})?",
         f"eyJ{_LETTERS[:20]}.eyJ{_LETTERS[:40]}.{_LETTERS[:43]}", "eyJ is base64 of {\"",
         _GITLEAKS),
    Rule("bearer-token", ("Bearer ", "bearer "),
         r"[Bb]earer (?P<secret>(?=[\w.~+/=-]{0,200}[0-9])[\w.~+/=-]{24,1000})",
         f"Authorization: Bearer {_LETTERS[:40]}", "Bearer token-of-the-running-service", _OWN),
    Rule("basic-auth", ("Authorization: Basic ", "authorization: Basic "),
         r"[Aa]uthorization: Basic (?P<secret>[A-Za-z0-9+/]{8,500}={0,2})",
         f"Authorization: Basic {_LETTERS[:24]}==", "Authorization: Basic auth", _GITLEAKS),
    Rule("url-password", ("://",),
         r"://[^\s:/@\"'`<>()\[\]{}$%]{0,64}+:(?P<secret>[^\s/@\"'`<>()\[\]{}$%*]{3,128}+)"
         # URLs of hosts that are reserved for documentation (RFC 2606) contain no secrets.
         r"@(?!(?:[\w-]{1,63}\.){0,4}example(?:\.(?:com|net|org|edu))?(?![\w.-]))[\w.-]",
         f"postgres://app:{_LETTERS[:12]}@db.internal:5432/app", "postgres://app:${PGPASSWORD}@db",
         _OWN),
)  # fmt: skip
