"""Secrets are kept, and not shown."""

from __future__ import annotations

import pytest

from webapp.masking import MASK, looks_secret, mask


@pytest.mark.parametrize(
    "name",
    ["WANDB_API_KEY", "hf_token", "DB_PASSWORD", "PASSWD", "SENTRY_DSN", "HTTP_AUTH", "COOKIE", "APIKEY"],
)
def test_names_that_look_secret(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize("name", ["TOKENIZERS_PARALLELISM", "EPOCHS", "AUTHOR", "KEYS_PER_NODE", "PATH"])
def test_names_that_do_not(name: str) -> None:
    assert not looks_secret(name)


def test_environments_are_masked_however_deep_they_lie() -> None:
    body = {"message": {"spec": {"env": {"API_KEY": "k", "EPOCHS": "3"}}, "nodes": ["a"]}}
    assert mask(body) == {"message": {"spec": {"env": {"API_KEY": MASK, "EPOCHS": "3"}}, "nodes": ["a"]}}


def test_a_password_in_an_address_is_masked() -> None:
    masked = mask({"env": {"STORE": "s3://user:word@host/x"}})
    assert masked == {"env": {"STORE": f"s3://user:{MASK}@host/x"}}
