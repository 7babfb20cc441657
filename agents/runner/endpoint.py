"""Where the stores of an attempt listen and are reached. Standard library only, for use before torch."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable

from ..wire.endpoint import join_endpoint as join_endpoint

CONNECT_RETRY_S = 0.1
CONNECT_S = 5.0
"""How long one try to connect may take."""


class StoreError(Exception):
    """The attempt's store cannot be hosted or reached. The text is for the operator."""


def split_endpoint(endpoint: str) -> tuple[str, int]:
    """``HOST:PORT`` or ``[ADDRESS]:PORT`` as host and port."""
    host, _, port = endpoint.rpartition(":")
    if not host or not port.isdigit():
        raise StoreError(
            f"The rendezvous endpoint is {endpoint!r}. Write HOST:PORT, or [ADDRESS]:PORT for IPv6."
        )
    return host.strip("[]"), int(port)


def listen(address: str) -> int:
    """A file descriptor that listens on a free port of that address, which is one of this machine's, alone.

    Raises:
        StoreError: it is none of this machine's.
    """
    try:
        family, _, _, _, where = socket.getaddrinfo(address, 0, type=socket.SOCK_STREAM)[0]
        return socket.create_server((str(where[0]), 0), family=family, backlog=1024).detach()
    except OSError as error:
        raise StoreError(
            f"The store of a round cannot listen on {address}: {error.strerror}. Start the node agent with "
            "an --address that belongs to this machine."
        ) from error


def is_gone(host: str, port: int) -> bool:
    """Whether the machine itself says that nobody listens there. Silence says nothing of the kind."""
    try:
        socket.create_connection((host, port), timeout=CONNECT_S).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


def port_of(listen_fd: int) -> int:
    with socket.socket(fileno=os.dup(listen_fd)) as listener:
        return int(listener.getsockname()[1])


def wait_reachable(host: str, port: int, timeout_s: float, pause: Callable[[float], None]) -> None:
    """Wait until somebody listens there.

    Raises:
        StoreError: nobody did in time.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            socket.create_connection((host, port), timeout=min(CONNECT_S, timeout_s)).close()
            return
        except OSError as error:
            problem = str(error)
        if time.monotonic() > deadline:
            raise StoreError(
                f"The rendezvous store at {join_endpoint(host, port)} could not be reached within "
                f"{timeout_s:.0f} s: {problem}. See whether its node runs and its port is open."
            )
        pause(CONNECT_RETRY_S)
