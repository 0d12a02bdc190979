"""A text with a secret for each rule, and texts that only look like one."""

from __future__ import annotations

import re

from memcli.secrets.finding import find_secrets
from memcli.secrets.rules import RULES, Rule
from tests.benchmarks.secrets import lines

# Pieces, so that scanners do not report this file as a leak.
_LETTERS = "q8ZrT2mVx7KdLw4Hs9Bn3YfGc6Jp5Rt1EaUv0Ok8Xi2WzDq7Nb4Mh6Cy" * 5
_HEX = "9f3c07ab6de2418b5c70da96e1f42b83" * 6
# Of the kinds that no labelled line contains.
_UNLABELLED = (
    f"ABSK{_LETTERS[:120]}",
    f"v1.0-{_HEX[:24]}-{_HEX[:146]}",
    f"ops_eyJ{_LETTERS[:260]}",
    f"-----BEGIN PRIVATE KEY-----\n{_LETTERS[:64]}\n{_LETTERS[7:71]}\n-----END PRIVATE KEY-----",
)
HARMLESS = (
    """
tokens begin with ghp_ or gho_|github_pat_ is the newer prefix|glpat-short|ABSK is its prefix
GR1348941 is a runner's prefix|aws_secret_access_key = ${AWS_SECRET_ACCESS_KEY}|AIza and 35 more
GOCSPX-abc|ya29. begins an access token|sk-ant-api03-...|sk-proj-is-a-prefix|the sk-learn pipeline
sk-or-v1-abc|gsk_rename()|xai-sdk|pplx-70b-online|hf_hub_download|r8_small|xoxb-|xapp-1-dev
https://hooks.slack.com/services/ is the place|https://discord.com/api/webhooks/ID/TOKEN
telegram: 12:30|sk_live_KEY|whsec_ is the prefix|sq0atp-x|shpat_token|SG.1 and SG.2|key-value
mailchimp: off|xkeysib-|SKU 4711|npm_config_cache|pypi-AgE|rubygems_version|dckr_pat_|dop_v1_abc
HRKU-AA|fm2_|v1.0-beta|Q8Q~|AccountKey=...|dapipeline|hvs.token|x.atlasv1.y|pul-up|dp.pt.
pscale_pw_x|sbp_project|glc_get()|sntryu_|NRAK-1|lin_api_v2|ntn_page|path.to.a.file|ATATT3|PMAK-1
figd_x|ops_eyJ|AGE-SECRET-KEY-1|eyJ is base64 of {"|Bearer token-of-the-running-service
Authorization: Basic auth|postgres://app:${PGPASSWORD}@db
""".strip()
    .replace("\n", "|")
    .split("|")
)


def _example_of(rule: Rule) -> str:
    texts = (*(line.text for line in lines(seed=0) if line.label == rule.name), *_UNLABELLED)
    return next(t for t in texts if re.search(rule.pattern, t) and len(find_secrets(t)) == 1)


EXAMPLES = [(rule, _example_of(rule)) for rule in RULES]
IDS = [f"{rule.name}-{at}" for at, rule in enumerate(RULES)]
