"""``HOST[:PORT]`` read and written: one rule for spec, hub, node agent and runner. Pure."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

C10D_PORT = 29400
STATIC_PORT = 29500
ETCD_PORT = 2379
"""torchrun's own, where the port is left out."""


@dataclass(frozen=True)
class Endpoint:
    host: str
    """A name or an address; IPv6 without its brackets, with its zone if it has one."""
    port: int

    def __str__(self) -> str:
        return join_endpoint(self.host, self.port)


def join_endpoint(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parse_endpoint(text: str, default_port: int) -> Endpoint:
    """Read ``HOST``, ``HOST:PORT``, ``[ADDRESS]`` or ``[ADDRESS]:PORT``.

    Raises:
        ValueError: it is none of these, or could be read in two ways; says what to write instead.
    """
    host, port = _split(text.strip(), default_port)
    if host and not host.isspace() and port.isdecimal() and 0 <= int(port) < 65536:
        return Endpoint(host, int(port))
    raise ValueError(f"{text!r} is no endpoint. Write HOST or HOST:PORT, such as node-a:{default_port}.")


def _split(text: str, default_port: int) -> tuple[str, str]:
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        is_whole = bracket and (not rest or rest.startswith(":"))
        return host, (rest[1:] if rest else str(default_port)) if is_whole else "?"
    if text.count(":") > 1:
        raise ValueError(_say_ambiguous(text, default_port))
    host, colon, port = text.partition(":")
    return host, port if colon else str(default_port)


def _say_ambiguous(text: str, default_port: int) -> str:
    """The colon before a port cannot be told from those of the address."""
    address, _, port = text.rpartition(":")
    readings = [(text, str(default_port)), (address, port), (f"{address}:", port)]
    forms = [f"[{host}]:{port}" for host, port in readings if _is_address(host) and port.isdecimal()]
    return f"{text!r} can be read in more than one way. Write {' or '.join(forms) or '[ADDRESS]:PORT'}."


def _is_address(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return ":" not in text.partition("%")[2]
