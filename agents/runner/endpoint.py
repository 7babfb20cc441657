"""Where the stores of an attempt listen and are reached. Standard library only, for use before torch."""

from __future__ import annotations

import errno
import os
import socket
import time
from collections.abc import Callable

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


def join_endpoint(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def listen(host: str, port: int) -> int:
    """A listening socket's file descriptor, on that address, or on all where it is not one of this machine's.

    Raises:
        StoreError: the port is taken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128).detach()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise StoreError(
                f"Port {port} of {host} is taken, so the rendezvous store cannot listen there. "
                "Stop what uses it, or choose another rdzv_endpoint."
            ) from error
    try:
        return socket.create_server(("", port), backlog=128).detach()
    except OSError as error:
        raise StoreError(f"The rendezvous store cannot listen on port {port} of {host}: {error}.") from error


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
