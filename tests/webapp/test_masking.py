"""Secrets are kept, and not shown."""

from __future__ import annotations

import pytest

from webapp.masking import MASK, holds_secrets, looks_secret, mask, open_env, secrets_of


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


MARKED = {
    "env": {"WORD": "w-1", "EPOCHS": "3"},
    "secret_env": ["WORD"],
    "rdzv_conf": {"password": "pw", "user": "u"},
}


def test_a_variable_that_is_marked_is_masked_whatever_its_name() -> None:
    masked = mask({"spec": MARKED})["spec"]
    assert masked["env"] == {"WORD": MASK, "EPOCHS": "3"}
    assert mask(masked) == masked


def test_secrets_are_what_masking_changes_and_no_more() -> None:
    assert secrets_of(MARKED) == {"env": {"WORD": "w-1"}, "rdzv_conf": {"password": "pw"}}
    assert secrets_of({"env": {"API_TOKEN": "", "EPOCHS": "3"}}) == {}
    assert open_env(MARKED) == open_env(mask(MARKED)) == {"EPOCHS": "3"}


def test_a_spec_holds_secrets_whether_they_are_masked_yet_or_not() -> None:
    assert holds_secrets(MARKED)
    assert holds_secrets(mask(MARKED))
    assert not holds_secrets({"env": {"EPOCHS": "3"}, "rdzv_conf": {"user": "u"}})
