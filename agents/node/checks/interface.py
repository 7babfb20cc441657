"""Whether the network interfaces that NCCL and gloo are told to use are there."""

from __future__ import annotations

import os
import socket

from ...wire.checks import CheckNode, Finding, Verdict
from ...wire.interfaces import VARIABLES
from ..interface import socket_variables, why_none

_ANY = "Name one of these, or leave it out: the interface of the node's address is taken then."


def check(request: CheckNode, node: str) -> list[Finding]:
    """What the job names by variables, or by interface, or else the node agent's own environment."""
    if why := why_none(request.interface, request.env, request.local_addr, node):
        return [_finding("fail", why, "Name one that every node has, or leave interface out.")]
    asked = socket_variables(request.local_addr, request.interface) if request.interface else {}
    environ = os.environ | asked | request.env
    told = {name: environ[name] for name in VARIABLES if environ.get(name)}
    present = [name for _, name in socket.if_nameindex()]
    missing = {name: value for name, value in told.items() if not _finds(name, value, present)}
    if missing:
        says = f"{_listed(missing)}, and {node} has no such interface: it has {', '.join(sorted(present))}."
        return [_finding("fail", says, _ANY)]
    return [_finding("ok", f"{_listed(told)}, which is there." if told else _default(request.local_addr))]


def _default(address: str) -> str:
    taken = socket_variables(address).get("GLOO_SOCKET_IFNAME")
    if taken is None:
        return f"No interface has the address {address}, so NCCL and gloo pick for themselves."
    return f"The interface of the node's address is taken, {taken}."


def _finding(verdict: Verdict, says: str, what_to_do: str = "") -> Finding:
    return Finding(check="interface", verdict=verdict, says=says, what_to_do=what_to_do)


def _finds(variable: str, value: str, present: list[str]) -> bool:
    """NCCL takes beginnings of names, ``=`` for whole ones and ``^`` for all others; gloo whole names."""
    if variable.startswith("GLOO"):
        return all(name.strip() in present for name in value.split(","))
    is_whole, is_not = value.lstrip("^").startswith("="), value.startswith("^")
    names = [name for name in value.lstrip("^=").split(",") if name]

    def is_meant(name: str) -> bool:
        return any(name == one if is_whole else name.startswith(one) for one in names)

    return any(is_meant(name) != is_not for name in present)


def _listed(told: dict[str, str]) -> str:
    return " and ".join(f"{name} is {value}" for name, value in told.items())
