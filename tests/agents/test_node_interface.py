"""Workers speak over the interface that has the node's address, unless somebody names another one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.node.interface import socket_variables
from agents.node.spawn import job_environment
from tests.agents.node_harness import start_command


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost"])
def test_the_interface_with_the_nodes_address_is_named_to_gloo_and_nccl(address: str) -> None:
    assert socket_variables(address) == {"GLOO_SOCKET_IFNAME": "lo", "NCCL_SOCKET_IFNAME": "=lo"}


@pytest.mark.parametrize("address", ["203.0.113.9", "no-such-machine.invalid"])
def test_where_no_interface_has_the_address_nothing_is_named(address: str) -> None:
    assert socket_variables(address) == {}


def test_the_agents_environment_wins_over_the_address_and_the_jobs_over_both() -> None:
    message = start_command("node-a", env={"GLOO_SOCKET_IFNAME": "ib0"}).message
    found = job_environment({"GLOO_SOCKET_IFNAME": "eth1", "NCCL_SOCKET_IFNAME": "eth2"}, message)
    assert (found["GLOO_SOCKET_IFNAME"], found["NCCL_SOCKET_IFNAME"]) == ("ib0", "eth2")
    plain = replace(message, spec=replace(message.spec, env={}))
    assert job_environment({}, plain)["GLOO_SOCKET_IFNAME"] == "lo"
