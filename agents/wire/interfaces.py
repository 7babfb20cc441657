"""Network interfaces of nodes, and which of them a job's ``interface`` asks for. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

AUTO = "auto"
VARIABLES = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME")
_NAMES = re.compile(r"^\^?=?[^\s/,=^]{1,15}(,[^\s/,=^]{1,15})*$")
_ADVICE = (
    "Write a name such as eth0, how names begin such as ib, ^ before those to leave out, a network such as "
    "10.0.0.0/16, or auto for the one that has the node's address."
)


@dataclass(frozen=True, kw_only=True)
class Interface:
    """One of a node, as it is there."""

    name: str
    addresses: tuple[str, ...] = ()
    """Without link-local ones, which lead to no other node."""
    is_up: bool = True
    sort: str = "device"
    """``device``, ``loopback``, ``bond``, ``bridge``, ``tunnel``, or ``virtual``: no device is behind it."""
    speed_mbps: int | None = None
    """None: the kernel does not say."""


def why_not_interface(wanted: str | None) -> str:
    """What is wrong with a job's ``interface``, and what to write instead. Empty: nothing."""
    if wanted is None or _NAMES.match(wanted) or _network_of(wanted) is not None:
        return ""
    return f"interface is {wanted!r}. {_ADVICE}"


def choose(wanted: str, present: Sequence[Interface], own: Collection[str]) -> tuple[str, ...]:
    """Names of those that are meant, the one with an address of ``own`` first. Empty: none fits.

    ``own``: the addresses under which the other nodes reach this one.
    """

    def is_own(one: Interface) -> bool:
        return any(address in own for address in one.addresses)

    if wanted == AUTO:
        return tuple(one.name for one in present if is_own(one))[:1]
    is_meant = _reader(wanted, {one.name for one in present})
    fitting = [one for one in present if one.is_up and one.addresses and is_meant(one)]
    return tuple(one.name for one in sorted(fitting, key=lambda one: not is_own(one)))


def variables_for(names: Sequence[str]) -> dict[str, str]:
    """What tells gloo and NCCL those interfaces. Of several gloo gets the first: its peers need as many."""
    # With "=" NCCL takes these names alone, not all that begin so.
    return {"GLOO_SOCKET_IFNAME": names[0], "NCCL_SOCKET_IFNAME": f"={','.join(names)}"} if names else {}


def _reader(wanted: str, names: Collection[str]) -> Callable[[Interface], bool]:
    network = _network_of(wanted)
    if network is not None:
        return lambda one: any(ipaddress.ip_address(address) in network for address in one.addresses)
    is_not, is_whole = wanted.startswith("^"), wanted.lstrip("^").startswith("=")
    words = wanted.lstrip("^=").split(",")

    def is_named(one: Interface) -> bool:
        """A name that is there in full means that one alone. Else NCCL's rule: all that begin so."""
        return one.name in words or any(
            one.name.startswith(word) and one.sort != "loopback"
            for word in words
            if not is_whole and (is_not or word not in names)
        )

    return lambda one: not is_named(one) and one.sort != "loopback" if is_not else is_named(one)


def _network_of(wanted: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(wanted, strict=False) if "/" in wanted else None
    except ValueError:
        return None
