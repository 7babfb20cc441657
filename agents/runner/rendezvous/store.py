"""The stores of an attempt: the one its runners meet in, and a fresh one for each round."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from datetime import timedelta

from ..endpoint import port_of
from ..torch_hooks import TCPStore

PROBE_S = 5
"""Seconds without traffic after which the kernel asks whether the other end is still there."""


def host_store(host: str, listen_fd: int, timeout_s: float) -> TCPStore:
    """Serve a store on a listening socket, which it takes over."""
    return TCPStore(
        host,
        port_of(listen_fd),
        is_master=True,
        wait_for_workers=False,
        timeout=timedelta(seconds=timeout_s),
        master_listen_fd=listen_fd,
    )


def connect_store(host: str, port: int, timeout_s: float) -> TCPStore:
    """A client that is told of a host which has vanished without a word after ``timeout_s``."""
    store = TCPStore(
        host, port, is_master=False, wait_for_workers=False, timeout=timedelta(seconds=timeout_s)
    )
    # torch's own timeouts end in waiting for the host's consent, and TCP alone would try for a quarter
    # of an hour.
    for connection in _connections_to(port):
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(timeout_s * 1000))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, PROBE_S)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, PROBE_S)
    return store


def _connections_to(port: int) -> Iterator[socket.socket]:
    """Second handles on this process's connections to that port: torch does not give its own away."""
    for fd in map(int, os.listdir("/proc/self/fd")):
        try:
            if not stat.S_ISSOCK(os.fstat(fd).st_mode):
                continue
            connection = socket.socket(fileno=os.dup(fd))
        except OSError:
            continue
        if _peer_port(connection) == port:
            yield connection
        else:
            connection.close()


def _peer_port(connection: socket.socket) -> int | None:
    try:
        return int(connection.getpeername()[1]) if connection.type == socket.SOCK_STREAM else None
    except (OSError, IndexError, ValueError, TypeError):
        return None
