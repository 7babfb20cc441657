"""Where the store is and how rendezvous is set: read exactly, or refused with what to write."""

from __future__ import annotations

import os
import socket
import time

import pytest

from agents.runner.endpoint import (
    StoreError,
    is_gone,
    join_endpoint,
    listen,
    port_of,
    split_endpoint,
    wait_reachable,
)


@pytest.mark.parametrize(
    ("endpoint", "place"),
    [
        ("node-a:29400", ("node-a", 29400)),
        ("10.0.0.2:0", ("10.0.0.2", 0)),
        ("[::1]:4000", ("::1", 4000)),
        ("[fe80::1%lo]:4000", ("fe80::1%lo", 4000)),
    ],
)
def test_an_endpoint_is_host_and_port(endpoint: str, place: tuple[str, int]) -> None:
    assert split_endpoint(endpoint) == place
    assert join_endpoint(*place) == endpoint


@pytest.mark.parametrize("endpoint", ["", "node-a", "node-a:", ":29400", "node-a:http"])
def test_what_is_no_endpoint_is_refused(endpoint: str) -> None:
    with pytest.raises(StoreError, match="Write HOST:PORT"):
        split_endpoint(endpoint)


def test_a_round_s_store_listens_on_its_address_alone() -> None:
    listen_fd = listen("127.0.0.2")
    wait_reachable("127.0.0.2", port_of(listen_fd), 5.0, time.sleep)
    assert is_gone("127.0.0.1", port_of(listen_fd))
    os.close(listen_fd)
    with pytest.raises(StoreError, match=r"cannot listen on 192\.0\.2\.7"):
        listen("192.0.2.7")


def test_a_store_that_nobody_hosts_is_not_waited_for_for_ever() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(StoreError, match="could not be reached within 0 s"):
        wait_reachable("127.0.0.1", port, 0.2, time.sleep)
