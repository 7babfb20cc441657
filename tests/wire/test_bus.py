"""Addresses of Redis: what is understood, what is refused, and that no refusal shows a password."""

from __future__ import annotations

import pytest

from agents.wire.bus import check_url, read_watched, server_of
from webapp.brokers import broker_options, broker_url, layer_host

WATCHED = "sentinel://anna:w%40rd@s1:26380,s2,[::1]:26382/main/3?sentinel_password=other"


def test_one_server_is_what_redis_itself_understands() -> None:
    url = "redis://:word@bus:6380/1"
    check_url(url)
    assert read_watched(url) is None
    assert server_of(url) == ("bus", 6380)
    assert server_of("redis://bus") == ("bus", 6379)
    assert server_of("unix:///run/redis.sock") is None


def test_sentinels_are_named_with_the_master_and_both_passwords() -> None:
    watched = read_watched(WATCHED)
    assert watched is not None
    assert watched.sentinels == (("s1", 26380), ("s2", 26379), ("::1", 26382))
    assert (watched.master, watched.db) == ("main", 3)
    assert watched.credentials == {"username": "anna", "password": "w@rd"}
    assert watched.sentinel_credentials == {"password": "other"}
    assert server_of(WATCHED) == ("s1", 26380)


def test_celery_and_channels_are_told_the_same() -> None:
    url = "sentinel://:w%40rd@s1:1,s2:2/main/3"
    assert broker_url(url) == "sentinel://:w%40rd@s1:1/3;sentinel://:w%40rd@s2:2/3"
    assert broker_options(url)["master_name"] == "main"
    host = layer_host(url)
    assert (host["sentinels"], host["master_name"], host["db"]) == ([("s1", 1), ("s2", 2)], "main", 3)
    assert host["password"] == "w@rd"
    plain = "redis://:word@bus:1/0"
    assert (broker_url(plain), broker_options(plain), layer_host(plain)["address"]) == (plain, {}, plain)


@pytest.mark.parametrize(
    "url",
    [
        "localhost:6379",
        "http://:hidden@bus",
        "sentinel://:hidden@s1:26379",
        "sentinel:///main",
        "sentinel://:hidden@s1:26379/main/first",
        "sentinel://:hidden@s1:99999/main",
        "sentinel://s1,,s2/main",
    ],
)
def test_what_makes_no_sense_is_refused_without_showing_the_password(url: str) -> None:
    with pytest.raises(ValueError, match=r"HOST:PORT") as refused:
        check_url(url)
    assert "hidden" not in str(refused.value)
