"""Workers speak over the interface that has the node's address, unless somebody names another one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.node.interface import find_interfaces, socket_variables
from agents.node.spawn import job_environment
from tests.agents.node_harness import Agent, Hub, start_command


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


def test_what_a_job_asks_for_wins_over_the_agents_environment_and_its_own_variables_over_that() -> None:
    message = start_command("node-a", interface="127.0.0.0/8", env={"NCCL_SOCKET_IFNAME": "ib0"}).message
    found = job_environment({"GLOO_SOCKET_IFNAME": "eth1"}, message)
    assert (found["GLOO_SOCKET_IFNAME"], found["NCCL_SOCKET_IFNAME"]) == ("lo", "ib0")


def test_a_node_tells_its_interfaces_with_loopback_as_what_it_is() -> None:
    (loopback,) = [one for one in find_interfaces() if one.name == "lo"]
    assert (loopback.sort, loopback.is_up, loopback.speed_mbps) == ("loopback", True, None)
    assert "127.0.0.1" in loopback.addresses


def test_a_start_without_such_an_interface_is_refused_with_those_that_are_there(
    agent: Agent, hub: Hub
) -> None:
    ended = hub.carry_out(start_command(agent.name, interface="ib9"))
    assert ended["outcome"] == "refused"
    assert f"interface is ib9, and no network interface of {agent.name} that is up" in ended["reason"]
    assert "lo (127.0.0.1" in ended["reason"]
    assert ended["reason"].endswith("Name one that every node has, or leave interface out.")
