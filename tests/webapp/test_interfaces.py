"""What a launch says of the network interfaces over which its nodes will speak."""

from __future__ import annotations

from typing import Any

import pytest

from agents.wire.interfaces import Interface
from tests.webapp.api_client import Api
from tests.webapp.factories import make_node

ETH = Interface(name="eth0", addresses=("10.0.0.2",), speed_mbps=1_000)
IB = Interface(name="ib0", addresses=("10.1.0.2",), speed_mbps=200_000)
DOWN = Interface(name="ib1", is_up=False)
DOCKER = Interface(name="docker0", addresses=("172.17.0.1",), sort="bridge")


def node(name: str, *interfaces: Interface, address: str = "10.0.0.2") -> None:
    told = [vars(one) for one in interfaces]
    make_node(name, addresses=[address], boot_id=name, interfaces=told)


def told(operator: Api, **fields: Any) -> list[str]:
    form = {"script": "/srv/train.py", "nnodes": "2", **fields}
    body = operator.post("/api/jobs/check", form).body
    return [one["message"] for one in body["warnings"] if one["field"] == "interface"]


@pytest.mark.parametrize(
    ("interfaces", "address", "says"),
    [
        (
            (ETH, IB, DOCKER),
            "10.0.0.2",
            "On node-1 that is eth0 (1 Gbit/s), and there is ib0 (200 Gbit/s)",
        ),
        ((ETH, DOCKER), "172.17.0.1", "On node-1 that is docker0, a bridge inside of that machine."),
        ((ETH, DOCKER), "203.0.113.9", "node-1 has none with 203.0.113.9, so NCCL takes the first it finds"),
    ],
)
def test_where_nothing_is_chosen_it_is_told_what_is_odd_about_what_will_be_taken(
    operator: Api, interfaces: tuple[Interface, ...], address: str, says: str
) -> None:
    node("node-1", *interfaces, address=address)
    node("node-2", *interfaces, address=address)
    (message,) = told(operator)
    assert says in message
    assert message.endswith("So it is on 1 more node.")
    assert told(operator, interface="auto") == []
    assert told(operator, nnodes="1") == []


def test_one_interface_that_leads_out_of_each_node_is_nothing_to_warn_of(operator: Api) -> None:
    node("node-1", ETH, DOCKER, DOWN)
    node("node-2", ETH, DOCKER)
    make_node("node-old", boot_id="another")
    assert told(operator) == []


def test_only_the_nodes_that_are_named_are_looked_at(operator: Api) -> None:
    for name in ("node-1", "node-2"):
        node(name, ETH)
    node("node-3", ETH, IB)
    assert told(operator, node_names=["node-1", "node-2"]) == []
    assert "On node-3" in told(operator)[0]


def test_the_effective_settings_say_which_interfaces_hold_and_what_wins_over_them(operator: Api) -> None:
    form = {"script": "/srv/train.py", "interface": "ib", "env": {"NCCL_SOCKET_IFNAME": "eth0"}}
    settings = operator.post("/api/jobs/check", form).body["effective"]
    found = {one["name"]: (one["value"], one["why"]) for one in settings}
    assert found["interface"] == ("ib", "from the spec")
    assert found["NCCL_SOCKET_IFNAME"] == ("eth0", "from env, before interface")
    assert "GLOO_SOCKET_IFNAME" not in found
