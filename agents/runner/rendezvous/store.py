"""The stores of an attempt: the one its runners meet in, and a fresh one for each round."""

from __future__ import annotations

from datetime import timedelta

from torch._C._distributed_c10d import TCPStore

from ..endpoint import port_of


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
    return TCPStore(host, port, is_master=False, wait_for_workers=False, timeout=timedelta(seconds=timeout_s))
