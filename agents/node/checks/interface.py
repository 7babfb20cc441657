"""Whether the network interfaces that NCCL and gloo are told to use are there."""

from __future__ import annotations

import os
import socket

from ...wire.checks import CheckNode, Finding

_NAMES = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME")


def check(request: CheckNode, node: str) -> list[Finding]:
    """What the job sets, or else the node agent's own environment."""
    environ = os.environ | request.env
    told = {name: environ[name] for name in _NAMES if environ.get(name)}
    present = [name for _, name in socket.if_nameindex()]
    missing = {name: value for name, value in told.items() if not _finds(name, value, present)}
    if missing:
        whys = " and ".join(f"{name} is {value}" for name, value in missing.items())
        says = f"{whys}, and {node} has no such interface: it has {', '.join(sorted(present))}."
        what = "Name one of these, or leave it out: the interface of the node's address is taken then."
        return [Finding(check="interface", verdict="fail", says=says, what_to_do=what)]
    says = f"{_listed(told)} found." if told else "The interface of the node's address is taken."
    return [Finding(check="interface", verdict="ok", says=says)]


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
    return " and ".join(f"{name}={value}" for name, value in told.items()) + (
        " is" if len(told) == 1 else " are"
    )
