"""Secrets are known by their prefixes, and nothing of one is left of a text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.secrets.finding import find_secrets, redacted
from memcli.secrets.rules import RULES, Rule
from tests.benchmarks.secrets import UNKNOWN, lines
from tests.secrets.examples import EXAMPLES, HARMLESS, IDS

KEY = "ghp_" + "q8ZrT2mVx7KdLw4Hs9Bn3YfGc6Jp5Rt1EaUv"


@pytest.mark.parametrize(("rule", "example"), EXAMPLES, ids=IDS)
def test_a_rule_knows_its_example_from_its_literal_on(rule: Rule, example: str) -> None:
    assert [secret.kind for secret in find_secrets(example)] == [rule.name]
    assert f"[secret: {rule.name}]" in redacted(example)
    at = next(example.find(each) for each in rule.literals if each in example)
    assert find_secrets(example[at:]), "the pattern begins before the literal"


@pytest.mark.parametrize(
    "text",
    [
        *HARMLESS,
        "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----", "AKIAIOSFODNN7EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "GITHUB_TOKEN=${GITHUB_TOKEN}",
        "const key = import.meta.env.VITE_STRIPE_KEY",
        "postgres://app:${DB_PASSWORD}@db.internal/app",
        "postgres://postgres:postgres@localhost:5432/test",
        "see https://example.com:8443/a@b for more", "mailto://nobody:@example.com",
        "http://user123:pass567@www.example.com:8081/foo", "postgres://app:pass567@db.example/app",
        "commit 9f3c07ab6de2418b5c70da96e1f42b8370cd5e1a fixed it",
        "sha256:9f3c07ab6de2418b5c70da96e1f42b8370cd5e1af6429b08d73e1c5a90b42d7f",
        "the password is in the safe, the token in the vault", "密码在保险箱里",
        "id 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "-----BEGIN CERTIFICATE-----\n" + "MIIB" * 16 + "\n" + "AAAB" * 16 + "\n",
    ],
)  # fmt: skip
def test_examples_variables_and_hashes_are_no_secrets(text: str) -> None:
    assert redacted(text) == text


def test_keys_in_notes_are_known_and_what_looks_like_one_is_not() -> None:
    """As for a secret that has no prefix: the help says that no rule knows it."""
    found = [line for line in lines(seed=0) if line.label != UNKNOWN]
    assert len(found) > 140
    assert [line for line in found if not line.is_right] == []
    assert {line.label for line in found} >= {rule.name for rule in RULES} - {
        "aws-bedrock-key", "cloudflare-key", "1password-token", "private-key",
    }  # fmt: skip


def test_a_secret_goes_whole_and_the_words_around_it_stay() -> None:
    (secret,) = find_secrets(f"push with {KEY} from CI")
    assert (secret.kind, secret.start, secret.end) == ("github-token", 10, 10 + len(KEY))
    assert len(secret.fingerprint) == 6
    assert secret.fingerprint not in KEY
    assert redacted(f"a {KEY}, b {KEY}.") == "a [secret: github-token], b [secret: github-token]."
    text = "postgres://app:hunter2x@db.internal:5432/app"
    assert redacted(text) == "postgres://app:[secret: url-password]@db.internal:5432/app"


def test_a_key_of_many_lines_goes_whole_also_without_its_first_line() -> None:
    body = "\n".join("q8ZrT2mVx7KdLw4H" * 4 for _ in range(20))
    text = (
        f"before\n-----BEGIN RSA PRIVATE KEY-----\n{body}\nab==\n-----END RSA PRIVATE KEY-----\nz"
    )
    shown = redacted(text)
    assert "q8Zr" not in shown
    assert "ab==" not in shown
    assert shown.count("\n") == text.count("\n")
    assert shown.endswith("\nz")
    assert redacted(f"{body}\nab==\n-----END PRIVATE KEY-----").startswith("[secret: encoded-key]")


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_neighbour_hides_a_secret(before: str, after: str) -> None:
    """Only a letter or digit of the same word could make it another one."""
    shown = redacted(f"{before} {KEY} {after}")
    assert KEY not in shown
    assert "[secret: github-token]" in shown


@pytest.mark.nightly
@pytest.mark.parametrize("unit", ["ghp_", "://", "eyJ", "-----BEGIN PRIVATE KEY-----", "key=sk-"])
def test_the_time_grows_with_the_length_alone(unit: str) -> None:
    """Twice the text takes about twice as long, however often a rule begins in it."""

    def seconds(length: int) -> float:
        text = (unit * (length // len(unit) + 1))[:length]
        begun = time.process_time()
        find_secrets(text)
        return time.process_time() - begun

    short = min(seconds(1 << 17) for _ in range(3))
    assert min(seconds(1 << 19) for _ in range(2)) < 12 * max(short, 0.01)


def test_a_file_of_the_greatest_size_takes_seconds() -> None:
    line = (
        "- 14:03 the pool of api-7 ran dry at 09:12, see https://wiki.internal/pool and OPS-417\n"
    )
    text = (line * ((8 << 20) // len(line))) + KEY
    begun = time.process_time()
    assert [secret.kind for secret in find_secrets(text)] == ["github-token"]
    assert time.process_time() - begun < 5
