"""The socket of an attempt's store: bound here, so that its port is known before anything is started.

It does not listen yet. Until the keeper serves it, whoever connects is refused and tries again later,
instead of hanging in a queue without an answer.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
from dataclasses import replace

from ..wire.endpoint import C10D_PORT, join_endpoint, parse_endpoint
from ..wire.spec import StartMessage
from .outcome import Refused


def bind_store(message: StartMessage) -> tuple[StartMessage, socket.socket]:
    """The message with the endpoint as it really is, and a socket bound to that one address.

    Port 0 becomes a free one.

    Raises:
        Refused: this node has no such address, or the port is taken.
    """
    at, store = bind_at(message.endpoint, message.local_addr, message.node)
    return replace(message, endpoint=at), store


def bind_at(endpoint_text: str, local_addr: str, node: str) -> tuple[str, socket.socket]:
    """The endpoint as it really is, and a socket bound to it. Raises ``Refused``, as above."""
    try:
        endpoint = parse_endpoint(endpoint_text, C10D_PORT)
    except ValueError as error:
        raise Refused(f"The rendezvous endpoint cannot be used. {error}") from error
    host = _host(endpoint.host, local_addr)
    try:
        store = _bind(host, endpoint.port)
    except OSError as error:
        raise Refused(_say_why(error, node, host, endpoint.port)) from error
    return join_endpoint(host, store.getsockname()[1]), store


def _host(host: str, local_addr: str) -> str:
    """Many machines know their own name as a loopback address, under which no other node reaches them."""
    is_name = _addresses(host) != {host}
    return local_addr if is_name and _is_loopback(host) and not _is_loopback(local_addr) else host


def _is_loopback(host: str) -> bool:
    found = _addresses(host)
    return bool(found) and all(ipaddress.ip_address(address).is_loopback for address in found)


def _addresses(host: str) -> set[str]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return set()
    return {str(where[0]).partition("%")[0] for *_, where in found}


def _bind(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    store = socket.socket(family, kind, protocol)
    try:
        _bind_alone(store, where)
    except OSError:
        store.close()
        raise
    return store


def _bind_alone(store: socket.socket, where: tuple[object, ...]) -> None:
    """SO_REUSEADDR only where an earlier store's connections still fade away there.

    Two sockets that both have it, and do not listen yet, could share a port.
    """
    try:
        store.bind(where)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        store.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        store.bind(where)


def _say_why(error: OSError, node: str, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} of {host} is taken on {node}, so the rendezvous store cannot listen there. "
            "Stop what uses it, or choose another rdzv_endpoint."
        )
    if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
        return (
            f"{node} cannot keep the rendezvous store at {host}: {error.strerror}. Start its node agent with "
            "an --address that belongs to this machine, or choose another rdzv_endpoint."
        )
    return f"{node} cannot keep the rendezvous store at {join_endpoint(host, port)}: {error.strerror}."
