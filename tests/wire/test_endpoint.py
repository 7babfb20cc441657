"""How an endpoint is read: one meaning, or a refusal that gives the right form."""

from __future__ import annotations

import pytest

from agents.wire.endpoint import Endpoint, join_endpoint, parse_endpoint


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("node-a", "node-a", 29400),
        ("node-a:2000", "node-a", 2000),
        (" 10.0.0.1:1 ", "10.0.0.1", 1),
        ("[::1]", "::1", 29400),
        ("[::1]:2000", "::1", 2000),
        ("[fe80::1%eth0]:3", "fe80::1%eth0", 3),
    ],
)
def test_the_port_is_torchruns_where_it_is_left_out(text: str, host: str, port: int) -> None:
    assert parse_endpoint(text, 29400) == Endpoint(host, port)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("::1", "Write [::1]:29400 or [::]:1."),
        ("::1:29400", "Write [::1]:29400."),
        ("fe80::1:2940", "Write [fe80::1:2940]:29400 or [fe80::1]:2940."),
        ("fe80::1%eth0:5", "Write [fe80::1%eth0]:5."),
        ("1:2:3", "Write [ADDRESS]:PORT."),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused_with_the_right_form(text: str, right: str) -> None:
    with pytest.raises(ValueError, match="more than one way") as caught:
        parse_endpoint(text, 29400)
    assert str(caught.value).endswith(right)


@pytest.mark.parametrize(
    "text", ["", ":29400", "node-a:", "node-a:x", "node-a:70000", "[::1", "[::1]x", "[]:1"]
)
def test_what_is_no_endpoint_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="Write HOST or HOST:PORT, such as node-a:29400"):
        parse_endpoint(text, 29400)


def test_an_address_is_written_with_brackets() -> None:
    assert (join_endpoint("::1", 5), join_endpoint("node-a", 5)) == ("[::1]:5", "node-a:5")
    assert str(parse_endpoint("[::1]", 7)) == "[::1]:7"
