"""The network interfaces of this machine, and those that the workers of a job speak over.

Left to themselves, gloo takes what the host's name stands for, which is loopback on many machines, and NCCL
the first interface it finds; neither need be where the other nodes are. So a job gets the one that has the
node's address, or those that it asks for.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..wire.interfaces import AUTO, VARIABLES, Interface, choose, variables_for
from ..wire.spec import StartMessage

_NET = Path("/sys/class/net")
_MARKS = {"bridge": "bridge", "bonding": "bond", "tun_flags": "tunnel", "device": "device"}
"""What the kernel has in an interface's folder, and what it is then. The first that is there counts."""
_LINK_LOCAL = ("169.254.", "fe80:")
MOST = 64


def find_interfaces() -> tuple[Interface, ...]:
    """In order of name. Virtual ones without an address are left out: a host of containers has many."""
    import psutil  # here, as it is needed once for each runner

    stats = psutil.net_if_stats()
    found = [
        Interface(
            name=name,
            addresses=tuple(_addresses_of(told)),
            is_up=name not in stats or stats[name].isup,
            sort=_sort_of(name),
            speed_mbps=_speed_of(name),
        )
        for name, told in sorted(psutil.net_if_addrs().items())
    ]
    return tuple(one for one in found if one.addresses or one.sort in ("device", "bond"))[:MOST]


def _addresses_of(told: Iterable[Any]) -> Iterator[str]:
    for one in told:
        if one.family in (socket.AF_INET, socket.AF_INET6) and not one.address.startswith(_LINK_LOCAL):
            yield str(one.address).partition("%")[0]


def _sort_of(name: str) -> str:
    folder = _NET / name
    if name == "lo":
        return "loopback"
    return next((sort for mark, sort in _MARKS.items() if (folder / mark).exists()), "virtual")


def _speed_of(name: str) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        speed = int((_NET / name / "speed").read_text())
        return speed if speed > 0 else None
    return None  # it is down, or has none, as loopback


def socket_variables(address: str, wanted: str = AUTO) -> dict[str, str]:
    """What tells gloo and NCCL the interfaces. Nothing where none here is meant."""
    return variables_for(choose(wanted, find_interfaces(), numeric(address)))


def asked_variables(message: StartMessage) -> dict[str, str]:
    """The same where the job asks for interfaces."""
    wanted = message.spec.interface
    return socket_variables(message.local_addr, wanted) if wanted else {}


def why_none(wanted: str | None, env: dict[str, str], address: str, node: str) -> str:
    """Why workers cannot speak over what the job asks for. Empty: they can, or it names them itself."""
    if wanted is None or all(env.get(name) for name in VARIABLES):
        return ""
    present = find_interfaces()
    if choose(wanted, present, numeric(address)):
        return ""
    fits = f"has its address {address}" if wanted == AUTO else "that is up and has an address fits"
    there = ", ".join(_shown(one) for one in present) or "none"
    return f"interface is {wanted}, and no network interface of {node} {fits}: there is {there}."


def _shown(one: Interface) -> str:
    told = [*one.addresses, *([] if one.is_up else ["down"])]
    return f"{one.name} ({', '.join(told) or 'no address'})"


def numeric(address: str) -> set[str]:
    """The addresses that a name stands for."""
    try:
        found = socket.getaddrinfo(address, None, type=socket.SOCK_STREAM)
    except OSError:
        return {address}
    return {str(where[0]).partition("%")[0] for *_, where in found}
