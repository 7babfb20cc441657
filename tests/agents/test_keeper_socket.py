"""Where an attempt's store may listen: on the one address that others know its node by, or not at all."""

from __future__ import annotations

import socket
from dataclasses import replace

import pytest

from agents.node.outcome import Refused
from agents.node.store_socket import bind_store
from agents.wire.spec import StartMessage
from tests.agents.node_harness import start_command


def message(endpoint: str, local_addr: str = "127.0.0.1") -> StartMessage:
    return replace(start_command("node-a").message, endpoint=endpoint, local_addr=local_addr)


@pytest.mark.parametrize(("host", "address"), [("127.0.0.1", "127.0.0.1"), ("[::1]", "::1")])
def test_port_0_becomes_a_free_one_of_that_address(host: str, address: str) -> None:
    bound, store = bind_store(message(f"{host}:0"))
    with store:
        assert store.getsockname()[0] == address
        assert bound.endpoint == f"{host}:{store.getsockname()[1]}"


def test_nobody_gets_in_before_the_keeper_listens() -> None:
    _, store = bind_store(message("127.0.0.1:0"))
    with store, pytest.raises(ConnectionRefusedError):
        socket.create_connection(store.getsockname(), timeout=5)


def test_a_taken_port_is_refused_in_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Refused, match=f"Port {port} of 127.0.0.1 is taken on node-a"):
            bind_store(message(f"127.0.0.1:{port}"))


def test_a_port_that_another_keeper_does_not_listen_on_yet_is_taken_too() -> None:
    bound, store = bind_store(message("127.0.0.1:0"))
    with store, pytest.raises(Refused, match="is taken on node-a"):
        bind_store(message(bound.endpoint))


def test_the_port_of_a_store_that_was_lost_is_free_at_once() -> None:
    """Although the kernel still knows connections to it."""
    with socket.create_server(("127.0.0.1", 0)) as earlier:
        port = earlier.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port), timeout=5)
        earlier.accept()[0].close()
        client.close()
    bound, store = bind_store(message(f"127.0.0.1:{port}"))
    with store:
        assert bound.endpoint == f"127.0.0.1:{port}"


@pytest.mark.parametrize("host", ["203.0.113.9", "no-such-machine.invalid"])
def test_an_address_that_is_not_the_nodes_is_refused_in_words(host: str) -> None:
    with pytest.raises(Refused, match=f"node-a cannot keep the rendezvous store at {host}"):
        bind_store(message(f"{host}:0"))


def test_a_name_that_means_loopback_here_is_replaced_by_the_nodes_address() -> None:
    bound, store = bind_store(message("localhost:0", local_addr="127.0.0.1"))
    with store:
        assert bound.endpoint.startswith("localhost:")
    with pytest.raises(Refused, match=r"at 203\.0\.113\.9"):
        bind_store(message("localhost:0", local_addr="203.0.113.9"))
