"""The network interface that the workers of a node speak over: the one that has the node's address.

Left to themselves, gloo takes what the host's name stands for, which is loopback on many machines, and NCCL
the first interface it finds; neither need be where the other nodes are.
"""

from __future__ import annotations

import socket


def socket_variables(address: str) -> dict[str, str]:
    """What tells gloo and NCCL the interface of that address. Nothing where no interface here has it."""
    name = _interface_with(address)
    # With "=" NCCL takes that name alone, not all that begin so.
    return {} if name is None else {"GLOO_SOCKET_IFNAME": name, "NCCL_SOCKET_IFNAME": f"={name}"}


def _interface_with(address: str) -> str | None:
    import psutil  # here, as it is needed once for each runner

    wanted = _numeric(address)
    for name, found in psutil.net_if_addrs().items():
        if any(one.address.partition("%")[0] in wanted for one in found):
            return name
    return None


def _numeric(address: str) -> set[str]:
    try:
        found = socket.getaddrinfo(address, None, type=socket.SOCK_STREAM)
    except OSError:
        return {address}
    return {str(where[0]).partition("%")[0] for *_, where in found}
