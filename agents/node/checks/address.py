"""Whether the address that this node announces is one under which other machines can find it."""

from __future__ import annotations

import ipaddress
import socket

from ...wire.checks import CheckNode, Finding, Verdict

_ANNOUNCE = "Start the node agent with an --address under which the other nodes reach this machine."


def check(request: CheckNode, node: str) -> list[Finding]:
    address = request.local_addr
    try:
        found = _resolve(address)
    except OSError as error:
        says = f"{node} announces {address}, which it cannot resolve itself: {error.strerror}."
        return [_finding("fail", says, _ANNOUNCE)]
    if _is_loopback(found) and len(request.nodes) > 1 and not request.is_one_machine:
        says = f"{node} announces {address}, which is loopback: no other machine reaches it under that."
        return [_finding("fail", says, _ANNOUNCE)]
    if not _is_own(found):
        says = f"{node} announces {address}, which no network interface of this machine has."
        return [_finding("warn", says, f"{_ANNOUNCE} Behind a translated address, ports must be passed on.")]
    return [_finding("ok", f"{node} announces {address}.")]


def _resolve(address: str) -> list[str]:
    found = socket.getaddrinfo(address, None, type=socket.SOCK_STREAM)
    return sorted({str(where[0]).partition("%")[0] for *_, where in found})


def _is_loopback(addresses: list[str]) -> bool:
    return all(ipaddress.ip_address(address).is_loopback for address in addresses)


def _is_own(addresses: list[str]) -> bool:
    """Whether something could be bound to any of them here."""
    for address in addresses:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.bind((address, 0))
                return True
        except OSError:
            continue
    return False


def _finding(verdict: Verdict, says: str, what_to_do: str = "") -> Finding:
    return Finding(check="address", verdict=verdict, says=says, what_to_do=what_to_do)
