"""The patterns of secrets: a table of the prefixes that issuers use; only data.

There is no rule for text that merely looks random: hashes of commits, ids and digests are not
secret, and notes are full of them. A rule recognises a secret by its prefix, by the name that it is
assigned to or by its place in a URL. So each begins with a literal, which memcli looks for before
any pattern. Every quantifier has a bound, so the time grows only with the length of the text. Most
shapes are those of gitleaks 8.30.
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


_NAMED = r"[\"']?[ \t]{0,4}(?:=>|:=|=|:)[ \t]{0,4}[\"'`]?"

RULES: tuple[Rule, ...] = (
    Rule("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
         r"gh[pousr]_[0-9A-Za-z]{36,255}"),
    Rule("github-token", ("github_pat_",), r"github_pat_\w{22,255}"),
    Rule("gitlab-token", ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-",
                          "glimt-", "glagent-", "gloas-", "glffct-"),
         r"gl[a-z]{2,6}-[\w-]{20,300}(?:\.[0-9a-z]{9})?"),
    Rule("gitlab-token", ("GR1348941",), r"GR1348941[\w-]{20,64}"),
    Rule("aws-access-key", ("AKIA", "ASIA", "ABIA", "ACCA"),
         r"A[KSBC][IC]A[A-Z2-7]{16}(?![A-Z0-9])"),
    Rule("aws-secret-key", ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "secretAccessKey",
                            "SecretAccessKey"),
         rf"\w{{15,21}}{_NAMED}(?P<secret>[A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+])"),
    Rule("aws-bedrock-key", ("ABSK",), r"ABSK[A-Za-z0-9+/]{109,269}={0,2}"),
    Rule("google-api-key", ("AIza",), r"AIza[\w-]{35}"),
    Rule("google-oauth-secret", ("GOCSPX-",), r"GOCSPX-[\w-]{28}"),
    Rule("google-oauth-token", ("ya29.",), r"ya29\.[\w-]{30,1000}"),
    Rule("anthropic-key", ("sk-ant-",), r"sk-ant-[a-z]{2,10}[0-9]{2}-[\w-]{80,200}"),
    Rule("openai-key", ("sk-proj-", "sk-svcacct-", "sk-admin-"), r"sk-[a-z]{4,7}-[\w-]{40,250}"),
    Rule("openai-key", ("sk-",), r"sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}"),
    Rule("openrouter-key", ("sk-or-v1-",), r"sk-or-v1-[0-9a-f]{64}"),
    Rule("groq-key", ("gsk_",), r"gsk_[A-Za-z0-9]{48,60}"),
    Rule("xai-key", ("xai-",), r"xai-[A-Za-z0-9]{70,90}"),
    Rule("perplexity-key", ("pplx-",), r"pplx-[A-Za-z0-9]{48}"),
    Rule("huggingface-token", ("hf_", "api_org_"), r"(?:hf_|api_org_)[A-Za-z]{34}(?![A-Za-z0-9])"),
    Rule("replicate-token", ("r8_",), r"r8_[A-Za-z0-9]{37}"),
    Rule("slack-token", ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxe.xox"),
         r"xox[a-z](?:\.xox[bp])?-[0-9A-Za-z-]{16,250}"),
    Rule("slack-token", ("xapp-",), r"xapp-[0-9]-[A-Z0-9]{5,20}-[0-9]{8,20}-[a-z0-9]{32,100}"),
    Rule("slack-webhook", ("hooks.slack.com/",),
         r"hooks\.slack\.com/(?P<secret>(?:services|workflows|triggers)/[A-Za-z0-9+/]{40,60})"),
    Rule("discord-webhook", ("discord.com/api/webhooks/", "discordapp.com/api/webhooks/"),
         r"discord(?:app)?\.com/api/webhooks/[0-9]{15,22}/(?P<secret>[\w-]{50,100})"),
    Rule("telegram-token", ("telegram", "Telegram", "TELEGRAM"),
         r"\w{8,30}[\w -]{0,20}(?:=|:|\bis)[ \t]{0,4}[\"'`]?"
         r"(?P<secret>[0-9]{8,12}:A[\w-]{34})(?![\w-])"),
    Rule("stripe-key", ("sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"),
         r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,200}"),
    Rule("stripe-webhook-secret", ("whsec_",), r"whsec_[A-Za-z0-9+/]{32,64}"),
    Rule("square-token", ("sq0atp-", "sq0csp-"), r"sq0[ac][ts]p-[\w-]{22,60}"),
    Rule("shopify-token", ("shpat_", "shpca_", "shppa_", "shpss_"),
         r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    Rule("sendgrid-token", ("SG.",), r"SG\.[\w-]{16,32}\.[\w-]{32,64}"),
    Rule("mailgun-key", ("key-",), r"key-[0-9a-f]{32}(?![0-9a-z])"),
    Rule("mailchimp-key", ("mailchimp", "Mailchimp", "MAILCHIMP"),
         rf"\w{{9,30}}{_NAMED}(?P<secret>[0-9a-f]{{32}}-us[0-9]{{1,2}})"),
    Rule("brevo-key", ("xkeysib-",), r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    Rule("twilio-key", ("SK",), r"SK[0-9a-f]{32}(?![0-9A-Za-z])"),
    Rule("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    Rule("pypi-token", ("pypi-AgE",), r"pypi-AgE[\w-]{50,1000}"),
    Rule("rubygems-token", ("rubygems_",), r"rubygems_[0-9a-f]{48}"),
    Rule("docker-token", ("dckr_pat_", "dckr_oat_"), r"dckr_[po]at_[\w-]{27,64}"),
    Rule("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"do[por]_v1_[0-9a-f]{64}"),
    Rule("heroku-key", ("HRKU-",), r"HRKU-[\w-]{36,64}"),
    Rule("fly-token", ("fo1_", "fm1a_", "fm1r_", "fm2_"), r"f[om][12][ar]?_[\w+/-]{43,1000}={0,3}"),
    Rule("cloudflare-key", ("v1.0-",), r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    Rule("azure-client-secret", ("8Q~", "7Q~"), r"[78]Q~[\w.~-]{31,34}(?![\w~-])"),
    Rule("azure-storage-key", ("AccountKey=",),
         r"AccountKey=(?P<secret>[A-Za-z0-9+/]{80,90}={0,2})"),
    Rule("databricks-token", ("dapi",), r"dapi[0-9a-f]{32}(?:-[0-9])?(?![0-9A-Za-z])"),
    Rule("vault-token", ("hvs.", "hvb."), r"hv[sb]\.[\w-]{24,300}"),
    Rule("terraform-token", (".atlasv1.",), r"\.atlasv1\.[\w=-]{60,70}"),
    Rule("pulumi-token", ("pul-",), r"pul-[0-9a-f]{40}(?![0-9a-z])"),
    Rule("doppler-token", ("dp.pt.", "dp.st.", "dp.sa."), r"dp\.[ps][tsa]\.[\w.-]{40,80}"),
    Rule("planetscale-token", ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
         r"pscale_(?:tkn|pw|oauth)_[\w=.-]{32,64}"),
    Rule("supabase-key", ("sbp_", "sb_secret_"), r"(?:sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,64})"),
    Rule("grafana-token", ("glsa_", "glc_"),
         r"(?:glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}"
         r"|glc_[A-Za-z0-9+/]{32,400}={0,3})"),
    Rule("sentry-token", ("sntrys_", "sntryu_"), r"sntry(?:u_[0-9a-f]{64}|s_[\w+/=-]{60,500})"),
    Rule("new-relic-key", ("NRAK-", "NRII-"), r"NR(?:AK-[A-Z0-9]{27}|II-[\w-]{32})"),
    Rule("linear-key", ("lin_api_", "lin_oauth_"), r"lin_(?:api|oauth)_[A-Za-z0-9]{40,64}"),
    Rule("notion-token", ("ntn_",), r"ntn_[0-9]{11}[A-Za-z0-9]{35}"),
    Rule("airtable-token", ("pat",), r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    Rule("atlassian-token", ("ATATT3", "ATCTT3"), r"AT[AC]TT3[\w=-]{60,250}"),
    Rule("postman-key", ("PMAK-",), r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    Rule("figma-token", ("figd_",), r"figd_[\w-]{40,64}"),
    Rule("1password-token", ("ops_eyJ",), r"ops_eyJ[A-Za-z0-9+/]{100,2000}={0,3}"),
    Rule("age-key", ("AGE-SECRET-KEY-1",),
         r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    Rule("private-key", ("-----BEGIN ",),
         r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
         r"(?P<secret>(?:(?:\s|\\[nr]|[>|\"'`,+]){0,40}+(?:[A-Za-z-]{4,20}: [^\n]{1,200}"
         r"|[A-Za-z0-9+/=]{1,200}+(?=\s|\\|[\"'`,]|-----|$))){1,2000}+)"),
    Rule("jwt", ("eyJ",), r"eyJ[\w-]{8,300}+\.eyJ[\w-]{8,4000}+(?:\.[\w-]{0,1000})?"),
    Rule("bearer-token", ("Bearer ", "bearer "),
         r"[Bb]earer (?P<secret>(?=[\w.~+/=-]{0,200}[0-9])[\w.~+/=-]{24,1000})"),
    Rule("basic-auth", ("Authorization: Basic ", "authorization: Basic "),
         r"[Aa]uthorization: Basic (?P<secret>[A-Za-z0-9+/]{8,500}={0,2})"),
    Rule("url-password", ("://",),
         r"://[^\s:/@\"'`<>()\[\]{}$%]{0,64}+:(?P<secret>[^\s/@\"'`<>()\[\]{}$%*]{3,128}+)"
         # URLs of hosts that are reserved for documentation (RFC 2606) contain no secrets.
         r"@(?!(?:[\w-]{1,63}\.){0,4}example(?:\.(?:com|net|org|edu))?(?![\w.-]))[\w.-]"),
)  # fmt: skip
