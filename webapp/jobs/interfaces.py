"""What practice warns of where a job of several nodes names no network interface: which one is taken then."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.wire.interfaces import AUTO, VARIABLES, Interface, choose
from agents.wire.spec import JobSpec
from webapp.fleet.models import Node, NodeState

from .torchrun_schemas import WarningOut
from .words import count

_INSIDE = {"loopback": "over which no other node is reached", "bridge": "a bridge inside of that machine"}
_NO_WAY = frozenset({*_INSIDE, "tunnel"})
"""Sorts of interfaces that are hardly meant for training."""


@dataclass(frozen=True)
class Net:
    """What one node told of its interfaces when its node agent started."""

    node: str
    machine: str
    address: str
    """Under which the other nodes reach it."""
    interfaces: tuple[Interface, ...]


def read_nets(names: Sequence[str]) -> list[Net]:
    """Of the nodes that may be meant. ``names`` empty: all that are not lost."""
    nodes = Node.objects.filter(name__in=names) if names else Node.objects.exclude(state=NodeState.LOST)
    return [_net(name, facts) for name, facts in nodes.values_list("name", "facts")]


def _net(node: str, facts: Mapping[str, Any]) -> Net:
    addresses = facts.get("addresses") or [""]
    told = tuple(_interface(one) for one in facts.get("interfaces", ()))
    return Net(node, str(facts.get("boot_id") or node), str(addresses[0]), told)


def _interface(told: Mapping[str, Any]) -> Interface:
    return Interface(
        name=str(told.get("name", "")),
        addresses=tuple(told.get("addresses", ())),
        is_up=bool(told.get("is_up", True)),
        sort=str(told.get("sort", "device")),
        speed_mbps=told.get("speed_mbps"),
    )


def warn_of_interfaces(spec: JobSpec, nets: Sequence[Net]) -> WarningOut | None:
    """The first of what is odd, and on how many nodes. On one machine alone any interface does."""
    if len({net.machine for net in nets}) < 2 or all(spec.env.get(name) for name in VARIABLES):
        return None
    odd = [says for net in nets for says in _say_odd(net)]
    if not odd:
        return None
    more = f" So it is on {count(len(odd) - 1, 'more node')}." if len(odd) > 1 else ""
    return WarningOut(
        field="interface",
        message=f"Without interface, NCCL and gloo take the one with a node's address. {odd[0]}{more}",
        what_to_do="Write which, such as ib0, or a network such as 10.0.0.0/16; auto is the node's address.",
    )


def _say_odd(net: Net) -> Iterator[str]:
    """A sentence at most. Of an older node agent, or of a name for an address, nothing is known."""
    if not net.interfaces or not _is_numeric(net.address):
        return
    taken = next(iter(choose(AUTO, net.interfaces, {net.address})), None)
    others = [one for one in net.interfaces if _could_be_meant(one) and one.name != taken]
    if taken is None:
        yield f"{net.node} has none with {net.address}, so NCCL takes the first it finds, such as docker0."
        return
    mine = next(one for one in net.interfaces if one.name == taken)
    if mine.sort in _INSIDE:
        yield f"On {net.node} that is {taken}, {_INSIDE[mine.sort]}."
    elif others:
        fastest = max(others, key=lambda one: one.speed_mbps or 0)
        yield f"On {net.node} that is {_shown(mine)}, and there is {_shown(fastest)} as well."


def _could_be_meant(one: Interface) -> bool:
    return one.is_up and bool(one.addresses) and one.sort not in _NO_WAY


def _shown(one: Interface) -> str:
    return f"{one.name} ({one.speed_mbps / 1000:g} Gbit/s)" if one.speed_mbps else one.name


def _is_numeric(address: str) -> bool:
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return False
    return True
